//! What the teacher decides by a button or by a command: each button has one, and both leave the same behind.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;
use std::thread::sleep;
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::hangs::HANGS;
use crate::served::{RANDOM, Served, command, referee};
use crate::{TWO, played_class};

/// The table of buttons in docs/class-server.md.
fn documented() -> BTreeMap<String, String> {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/class-server.md");
    let text = fs::read_to_string(file).expect("a document");
    let (_, table) = text
        .split_once("| button | command |\n|---|---|\n")
        .expect("a table");
    let rows = table.lines().take_while(|line| line.starts_with('|'));
    let row = |line: &str| {
        let cells: Vec<&str> = line.trim_matches('|').split('|').map(str::trim).collect();
        (cells[0].to_owned(), cells[1].to_owned())
    };
    rows.map(row).collect()
}

/// The texts between each of these beginnings of a tag and the next tag.
fn texts<'a>(page: &'a str, tag: &str) -> impl Iterator<Item = String> + use<'a> {
    let tags: Vec<&str> = page.split(tag).skip(1).collect();
    tags.into_iter().map(|rest| {
        let (_, text) = rest.split_once('>').expect("a tag");
        let (text, _) = text.split_once('<').expect("the next one");
        text.to_owned()
    })
}

/// What the teacher can press on a page: its buttons, and its links to files.
fn pressed(page: &str) -> BTreeSet<String> {
    let downloads = page.split_once("id=\"downloads\"").map(|(_, rest)| {
        let (section, _) = rest.split_once("</section>").expect("its end");
        texts(section, "<a ")
    });
    let files = texts(page, "<a ").filter(|text| text == "download");
    let buttons = texts(page, "<button ");
    buttons
        .chain(files)
        .chain(downloads.into_iter().flatten())
        .collect()
}

#[test]
fn every_button_of_the_teacher_has_a_command() {
    let (class, [_, _, teacher]) = played_class();
    let table = class.post("/tables", &teacher, "bot=Anna+Adams&kind=person");
    assert_eq!(table.status, 202, "{table:?}");
    let pages = ["/class", "/students/Anna-Adams"].map(|path| class.get(path, &teacher).text());
    let shown = pressed(&pages.concat());
    assert!(shown.len() > 15, "{shown:?}");
    let documented = documented();
    let told: BTreeSet<String> = documented.keys().cloned().collect();
    assert_eq!(shown, told);
    for (button, cell) in &documented {
        // Only a server that runs has what it is about.
        if cell.starts_with("none: ") {
            continue;
        }
        let code = cell.split('`').nth(1).expect("a command");
        let Some(words) = code.strip_prefix("referee ") else {
            let path = code.replace("STUDENT", "Anna-Adams").replace("NUMBER", "1");
            assert!(class.path(&path).exists(), "{button}: {code}");
            continue;
        };
        let (name, _) = words.split_once(" term").expect("a folder");
        let arguments: Vec<&str> = name.split(' ').chain(["--help"]).collect();
        let help = referee(class.folder(), &arguments);
        let usage = format!("Usage: referee {name} [");
        assert!(help.contains(&usage), "{button}: {help}");
        for option in words.split(' ').filter(|word| word.starts_with("--")) {
            assert!(help.contains(option), "{button}: {option}: {help}");
        }
    }
}

/// What the page sends, and the command.
const DECISIONS: [(&str, &[&str]); 8] = [
    (
        "action=withdraw&of=Anna+Adams&why=copied",
        &["withdraw", "term", "Anna Adams", "--why", "copied"],
    ),
    (
        "action=restore&of=Anna+Adams",
        &["restore", "term", "Anna Adams"],
    ),
    (
        "action=deadline&deadline=2030-01-01T00%3A00Z",
        &["deadline", "term", "2030-01-01T00:00Z"],
    ),
    (
        "action=deadline&deadline=none",
        &["deadline", "term", "none"],
    ),
    ("action=freeze", &["freeze", "term"]),
    ("action=thaw", &["freeze", "term", "off"]),
    ("action=open-tables", &["open-tables", "term"]),
    ("action=close-tables", &["open-tables", "term", "off"]),
];

const NEW_LINK: [&str; 4] = ["league", "new-link", "term", "s1"];

/// What is in the log, but for the times.
fn log(folder: &Path) -> Vec<[String; 3]> {
    let text = fs::read_to_string(folder.join("term/log.jsonl")).unwrap_or_default();
    let entry = |line: &str| {
        let entry: Value = serde_json::from_str(line).expect("JSON");
        ["action", "of", "why"].map(|field| entry[field].as_str().unwrap_or_default().to_owned())
    };
    text.lines().map(entry).collect()
}

/// What a command says that is refused.
fn refused(folder: &Path, arguments: &[&str]) -> String {
    let output = command(folder, arguments).output().expect("a run");
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(2), "{arguments:?}: {said}");
    said
}

#[test]
fn a_command_writes_the_line_of_its_button() {
    let class = Served::start(TWO);
    let (anna, teacher) = (class.link("Anna Adams"), class.link("(teacher)"));
    class.hand_in(&anna, "bot.sh", RANDOM);
    class.until(&anna, 1, &["playing"]);
    for (form, words) in DECISIONS {
        // While a server has the folder, the command says so, and changes nothing.
        let before = log(class.folder());
        let said = refused(class.folder(), &[&["league"], words].concat());
        let holder = "another referee is working on this league: `referee league serve`, process ";
        assert!(said.contains(holder), "{words:?}: {said}");
        assert_eq!(log(class.folder()), before, "{words:?}");
        let reply = class.post("/class/decisions", &teacher, form);
        assert_eq!(reply.status, 200, "{form}: {reply:?}");
    }
    assert!(refused(class.folder(), &NEW_LINK).contains("`referee league serve`, process "));
    let renewed = class.post("/students/Anna-Adams/link", &teacher, "");
    assert_eq!(renewed.status, 200, "{renewed:?}");
    let (begun, lines) = (Instant::now(), DECISIONS.len() + 1);
    while log(class.folder()).len() < lines {
        assert!(begun.elapsed() < HANGS);
        sleep(Duration::from_millis(50));
    }
    let folder = class.stop();
    for (_, words) in DECISIONS {
        referee(folder.path(), &[&["league"], words].concat());
    }
    referee(folder.path(), &NEW_LINK);
    let log = log(folder.path());
    let (of_page, of_commands) = log.split_at(lines);
    assert_eq!(of_page, of_commands);
}

#[test]
fn a_server_goes_by_what_a_command_has_decided() {
    let class = Served::start(TWO);
    let (ben, base) = (class.link("Ben Bell"), format!("http://{}", class.address));
    let folder = class.stop();
    for words in ["freeze", "open-tables"] {
        referee(folder.path(), &["league", words, "term"]);
    }
    let anna = referee(folder.path(), &NEW_LINK);
    let (origin, anna) = anna.trim().split_once("/in/").expect("a link");
    assert_eq!(origin, base);
    let class = Served::in_folder(folder, &[]);
    let teacher = class.link("(teacher)");
    // A handout that is still there has no link that opens nothing.
    let handout = fs::read_to_string(class.path("term/links.csv")).expect("links");
    assert!(!handout.contains("Anna Adams"), "{handout}");
    for link in [anna, &ben] {
        assert_eq!(class.get("/me", link).status, 200);
        assert_eq!(class.hand_in(link, "bot.sh", RANDOM).status, 409);
    }
    let page = class.get("/class", &teacher).text();
    for words in [
        "Frozen: no submission is taken.",
        "Everybody may play against the bots.",
    ] {
        assert!(page.contains(words), "{words}: {page}");
    }
    let folder = class.stop();
    referee(folder.path(), &["league", "freeze", "term", "off"]);
    let class = Served::in_folder(folder, &[]);
    assert_eq!(class.hand_in(anna, "bot.sh", RANDOM).status, 202);
}

#[test]
fn a_link_is_replaced_only_of_a_student_who_is_meant() {
    let class = Served::start("name,id\nAnna Adams,s1\nJan Jones,s2\nJan Jones,s3\n");
    let folder = class.stop();
    let links = folder.path().join("term/server/links.json");
    let kept = fs::read_to_string(&links).expect("links");
    let of = |student: &str| refused(folder.path(), &["league", "new-link", "term", student]);
    for (student, expected) in [
        ("Dora Doe", "no student of this class has this name"),
        ("Jan Jones", "this may be s2 or s3; give one of them"),
        ("(teacher)", "no student of this class has this name"),
    ] {
        let said = of(student);
        assert!(said.contains(expected), "{said}");
    }
    assert_eq!(fs::read_to_string(&links).expect("links"), kept);
    fs::remove_file(&links).expect("a file");
    assert!(of("s1").contains("first: referee league serve term"));
    let said = refused(folder.path(), &["league", "new-link", "nothing", "s1"]);
    assert!(
        said.contains("nothing: there is no league in this folder"),
        "{said}"
    );
    assert_eq!(log(folder.path()), [[""; 3]; 0]);
}
