//! Who waits for a check and for how many others, and whose bot it is.

use std::fs;
use std::path::Path;
use std::thread::sleep;
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::hangs::HANGS;
use crate::served::{GREEDY, RANDOM, Served, WRONG};
use crate::{TWO, served};

const FOUR: &str = "name,id\nAnna Adams,s1\nBen Bell,s2\nCem Can,s3\nDora Doe,s4\n";

/// With so much time to start that a bot may wait for a file.
fn patient(students: &str) -> Served {
    let folder = tempfile::tempdir().expect("a folder");
    fs::write(folder.path().join("students.csv"), students).expect("a file");
    let more = ["--students", "students.csv", "--start-time", "3600s"];
    Served::in_folder(folder, &more)
}

/// Answers once there is this file.
fn waiting_for(file: &Path) -> String {
    let wait = format!("while [ ! -e '{}' ]; do sleep 0.05; done", file.display());
    format!("#!/bin/sh\n{wait}\nexec \"$REFEREE_BIN\" bot random\n")
}

fn page(class: &Served, token: &str) -> String {
    class.get("/me", token).text()
}

/// The order is that in which they came, whatever their names; what is decided meanwhile does not wait.
#[test]
fn who_waits_is_told_for_how_many() {
    let class = patient(FOUR);
    let [anna, ben, cem, dora, teacher] =
        ["Anna Adams", "Ben Bell", "Cem Can", "Dora Doe", "(teacher)"].map(|name| class.link(name));
    let go = class.path("go");
    class.hand_in(&cem, "bot.sh", &waiting_for(&go));
    class.until(&cem, 1, &["checking"]);
    for (token, text) in [(&dora, GREEDY), (&ben, RANDOM), (&anna, RANDOM)] {
        let text = format!("{text}# {token}\n");
        assert_eq!(class.hand_in(token, "bot.sh", &text).status, 202);
    }
    for (token, ahead) in [(&dora, 1), (&ben, 2), (&anna, 3)] {
        let page = page(&class, token);
        assert!(page.contains(&format!("waiting, {ahead} ahead")), "{page}");
    }
    let of_class = class.get("/class", &teacher).text();
    assert!(
        of_class.contains("4 submissions in the queue"),
        "{of_class}"
    );
    let deadline = "action=deadline&deadline=2030-01-01T00%3A00Z";
    assert_eq!(
        class.post("/class/decisions", &teacher, deadline).status,
        200
    );
    assert_eq!(class.submission(&cem, 1)["state"], "checking");
    fs::write(&go, "").expect("a file");
    // Who came last has waited until all before were checked.
    class.until(&anna, 1, &["checking", "playing", "done"]);
    for token in [&cem, &dora, &ben] {
        let state = class.submission(token, 1)["state"].clone();
        assert_ne!(state, "waiting", "{state}");
        assert_ne!(state, "checking", "{state}");
    }
}

/// Anna and Dora replace their own versions, and Emil that of his team-mate Ben; the bots of the others keep the check busy.
const SEVEN: &str = "name,id,team\nAnna Adams,s1,\nBen Bell,s2,Owls\nCem Can,s3,\nDora Doe,s4,\nEmil Eck,s5,Owls\nFinn Frey,s6,\nGina Gray,s7,\n";

/// It waits for nothing, but where the newer one is refused.
#[test]
fn a_version_that_was_replaced_before_its_check_is_told_by_which() {
    let class = patient(SEVEN);
    let [anna, ben, cem, dora, emil, finn, gina] = [
        "Anna Adams",
        "Ben Bell",
        "Cem Can",
        "Dora Doe",
        "Emil Eck",
        "Finn Frey",
        "Gina Gray",
    ]
    .map(|name| class.link(name));
    let teacher = class.link("(teacher)");
    let hand_in = |token: &str, text: &str| {
        let text = format!("{text}# {token}\n");
        assert_eq!(class.hand_in(token, "bot.sh", &text).status, 202);
    };
    let [first, second, third] = ["first", "second", "third"].map(|name| class.path(name));
    hand_in(&cem, &waiting_for(&first));
    class.until(&cem, 1, &["checking"]);
    hand_in(&finn, &waiting_for(&second));
    hand_in(&gina, &waiting_for(&third));
    for token in [&anna, &dora, &ben] {
        hand_in(token, RANDOM);
    }
    fs::write(&first, "").expect("a file");
    // What came is taken in before the next one is checked.
    class.until(&finn, 1, &["checking"]);
    for (token, text) in [(&anna, GREEDY), (&dora, WRONG), (&emil, GREEDY)] {
        hand_in(token, text);
    }
    fs::write(&second, "").expect("a file");
    class.until(&gina, 1, &["checking"]);
    for (token, by) in [(&anna, Some(2)), (&dora, Some(2)), (&ben, None)] {
        let replaced = class.submission(token, 1);
        assert_eq!(replaced["state"], "replaced", "{replaced}");
        assert_eq!(replaced["replaced_by"], serde_json::json!(by), "{replaced}");
    }
    let [of_anna, of_ben] = [&anna, &ben].map(|token| page(&class, token));
    assert!(of_anna.contains("replaced by version 2"), "{of_anna}");
    assert!(of_anna.contains("waiting, 1 ahead"), "{of_anna}");
    assert!(!of_anna.contains("waiting, 0 ahead"), "{of_anna}");
    assert!(of_ben.contains("replaced by a newer version"), "{of_ben}");
    let teachers = class.get("/students/Anna-Adams", &teacher).text();
    assert!(teachers.contains("replaced by version 2"), "{teachers}");
    let of_class = class.get("/class", &teacher).text();
    let newest = "version 1: replaced by a newer version";
    assert!(of_class.contains(newest), "{of_class}");
    fs::write(&third, "").expect("a file");
    class.until(&anna, 2, &["playing", "done"]);
    assert_eq!(class.submission(&anna, 1)["state"], "replaced");
    class.until(&dora, 2, &["refused"]);
    let plays = class.until(&dora, 1, &["playing", "done"]);
    assert_eq!(plays["plays"], true, "{plays}");
    assert_eq!(plays["replaced_by"], Value::Null, "{plays}");
}

#[test]
fn the_page_that_is_shown_is_marked_in_its_navigation() {
    let class = patient(FOUR);
    let [anna, teacher] = ["Anna Adams", "(teacher)"].map(|name| class.link(name));
    for (path, token) in [("/", ""), ("/me", &*anna), ("/class", &teacher)] {
        let page = class.get(path, token).text();
        assert_eq!(page.matches("aria-current=\"page\"").count(), 1, "{page}");
        let link = format!("href=\"{path}\" aria-current=\"page\"");
        assert!(page.contains(&link), "{page}");
    }
}

#[test]
fn a_team_has_one_bot_which_each_of_them_sees() {
    let class = Served::start("name,id,team\nAnna Adams,s1,Owls\nBen Bell,s2,Owls\nCem Can,s3,\n");
    let [anna, ben, cem] = ["Anna Adams", "Ben Bell", "Cem Can"].map(|name| class.link(name));
    class.hand_in(&anna, "bot.sh", RANDOM);
    class.hand_in(&cem, "bot.sh", GREEDY);
    class.until(&anna, 1, &["done"]);
    class.until(&cem, 1, &["done"]);
    let of_ben = page(&class, &ben);
    assert!(
        of_ben.contains("The bot of Anna Adams, Ben Bell."),
        "{of_ben}"
    );
    assert!(of_ben.contains("Place "), "{of_ben}");
    assert_eq!(class.get("/me/games", &ben).status, 200);
    let friendly = class.post("/tables", &ben, "bot=Cem+Can&kind=friendly");
    assert_eq!(friendly.status, 202, "{friendly:?}");
}

/// It is checked once, and each of them sees what was found.
#[test]
fn the_same_files_of_a_team_mate_are_refused_with_the_same_reason() {
    let class = Served::start("name,id,team\nAnna Adams,s1,Owls\nBen Bell,s2,Owls\n");
    let [anna, ben, teacher] = ["Anna Adams", "Ben Bell", "(teacher)"].map(|name| class.link(name));
    class.hand_in(&anna, "bot.sh", WRONG);
    let of_anna = class.until(&anna, 1, &["refused"]);
    assert_eq!(of_anna["check"]["fit"], false, "{of_anna}");
    class.hand_in(&ben, "bot.sh", WRONG);
    let of_ben = class.until(&ben, 1, &["refused"]);
    assert_eq!(of_ben["check"], of_anna["check"]);
    let is_told = |class: &Served| {
        let teachers = class.get("/students/Ben-Bell", &teacher).text();
        for page in [page(class, &ben), teachers] {
            assert!(page.contains("Fix first"), "{page}");
            assert!(page.contains("hello"), "{page}");
        }
    };
    is_told(&class);
    is_told(&Served::in_folder(class.stop(), &[]));
}

/// The command keeps the reason, and not the whole check.
#[test]
fn the_same_files_as_by_the_command_are_refused_with_the_same_reason() {
    let folder = tempfile::tempdir().expect("a folder");
    fs::write(folder.path().join("students.csv"), FOUR).expect("a file");
    for (name, text) in [
        ("Anna Adams_1", WRONG),
        ("Ben Bell_2", GREEDY),
        ("Cem Can_3", RANDOM),
    ] {
        let from = format!("from/{name}_assignsubmission_file_");
        let from = folder.path().join(from);
        fs::create_dir_all(&from).expect("a folder");
        fs::write(from.join("bot.sh"), text).expect("a file");
    }
    served::referee(folder.path(), &COMMAND);
    let class = Served::in_folder(folder, &[]);
    let anna = class.link("Anna Adams");
    class.hand_in(&anna, "bot.sh", WRONG);
    let refused = class.until(&anna, 1, &["refused"]);
    let why = refused["check"]["refused"].as_str().unwrap_or_default();
    assert!(why.contains("hello"), "{refused}");
    let page = page(&class, &anna);
    assert!(page.contains("hello"), "{page}");
}

#[rustfmt::skip]
const COMMAND: [&str; 12] = [
    "league", "term", "--from", "from", "--students", "students.csv", "--sandbox", "none", "--pairs", "1", "--seed", "3",
];

/// A term that was begun by the command is served, and no student hands in again.
#[test]
fn what_came_by_the_command_is_seen_by_its_authors() {
    let folder = tempfile::tempdir().expect("a folder");
    fs::write(folder.path().join("students.csv"), TWO).expect("a file");
    let from = folder.path().join("from");
    for (name, text) in [("Anna Adams_1", RANDOM), ("Ben Bell_2", GREEDY)] {
        let own = from.join(format!("{name}_assignsubmission_file_"));
        fs::create_dir_all(&own).expect("a folder");
        fs::write(own.join("bot.sh"), text).expect("a file");
    }
    served::referee(folder.path(), &COMMAND);
    let class = Served::in_folder(folder, &[]);
    let (anna, teacher) = (class.link("Anna Adams"), class.link("(teacher)"));
    let of_anna = page(&class, &anna);
    assert!(of_anna.contains("Place "), "{of_anna}");
    assert!(of_anna.contains("by another way"), "{of_anna}");
    let of_class = class.get("/class", &teacher).text();
    assert!(!of_class.contains("nothing yet"), "{of_class}");
    // The first by the web takes its place.
    class.hand_in(&anna, "bot.sh", &format!("{GREEDY}# Mine.\n"));
    assert_eq!(class.until(&anna, 1, &["done"])["plays"], true);
}

/// Why it was refused is for its author, and the teacher.
#[test]
fn what_is_wrong_with_a_bot_is_not_public() {
    let class = Served::start(FOUR);
    let [anna, ben, cem, teacher] =
        ["Anna Adams", "Ben Bell", "Cem Can", "(teacher)"].map(|name| class.link(name));
    class.hand_in(&anna, "bot.sh", RANDOM);
    class.hand_in(&ben, "bot.sh", GREEDY);
    let wrong = WRONG.replace("while", "echo my-secret-words >&2\nwhile");
    class.hand_in(&cem, "bot.sh", &wrong);
    class.until(&cem, 1, &["refused"]);
    class.until(&ben, 1, &["done"]);
    let why = class.submission(&cem, 1).to_string();
    assert!(why.contains("hello"), "{why}");
    let of_class = class.get("/class", &teacher).text();
    assert!(of_class.contains("hello"), "{of_class}");
    let begun = Instant::now();
    loop {
        let standings = class.get("/standings.json", "").json();
        if standings["did_not_enter"][0]["name"] == "Cem Can" {
            break;
        }
        assert!(begun.elapsed() < HANGS, "{standings}");
        sleep(Duration::from_millis(50));
    }
    for (path, token) in [
        ("/standings.json", ""),
        ("/", ""),
        ("/games", ""),
        ("/me", &*anna),
    ] {
        let text = class.get(path, token).text();
        // The page of the games has the words of its script.
        let of_script = ["hello", "See it again"]
            .into_iter()
            .filter(|_| path != "/games");
        for words in ["my-secret-words", "term/bots"]
            .into_iter()
            .chain(of_script)
        {
            assert!(!text.contains(words), "{path}: {words}: {text}");
        }
    }
}
