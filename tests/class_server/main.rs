//! A class that hands in by the web, by real HTTP against the built program.

mod decisions;
#[path = "../common/hangs.rs"]
mod hangs;
mod hostile;
mod http;
mod kills;
mod proxy;
mod queue;
mod served;
mod tables;

use std::fs;

use serde_json::Value;

use self::http::{Reply, boundary, upload};
use self::served::{GREEDY, RANDOM, Served, WRONG, referee};

const TWO: &str = "name,id\nAnna Adams,s1\nBen Bell,s2\n";

/// What the league's table says of each bot: its place, points and games.
fn table(json: &Value) -> Vec<Value> {
    let fields = ["rank", "name", "points", "games"];
    let places = json["standings"].as_array().or(json.as_array());
    let places = places.expect("places");
    let of = |place: &Value| fields.map(|field| place[field].clone()).to_vec().into();
    places.iter().map(of).collect()
}

#[test]
fn a_class_hands_in_and_the_command_adds_no_game() {
    let class = Served::start(TWO);
    let (anna, ben) = (class.link("Anna Adams"), class.link("Ben Bell"));
    let reply = class.hand_in(&anna, "bot.sh", RANDOM);
    assert_eq!(reply.status, 202, "{reply:?}");
    assert_eq!(reply.json()["version"], 1);
    assert_eq!(reply.json()["url"], "/submissions/1");
    // A broken one, and a fixed one.
    assert_eq!(class.hand_in(&ben, "bot.sh", WRONG).status, 202);
    let refused = class.until(&ben, 1, &["refused"]);
    assert_eq!(refused["check"]["fit"], false, "{refused}");
    let first = &refused["check"]["fix_first"];
    assert!(
        first["fix"].as_str().is_some_and(|fix| !fix.is_empty()),
        "{refused}"
    );
    assert_eq!(class.hand_in(&ben, "bot.sh", GREEDY).json()["version"], 2);
    let done = class.until(&ben, 2, &["done"]);
    assert_eq!(done["games"], serde_json::json!({"played": 2, "of": 2}));
    assert_eq!(done["check"]["fit"], true);
    let shown = class.get("/standings.json", "").json();
    let folder = class.stop();
    let printed = referee(folder.path(), &["standings", "term", "--format", "json"]);
    assert_eq!(
        table(&shown),
        table(&serde_json::from_str(&printed).expect("JSON"))
    );
    let again = referee(folder.path(), &["league", "term", "--sandbox", "none"]);
    assert!(again.ends_with("0 new games, 2 kept\n"), "{again}");
}

/// While a check takes long, and others hand in.
#[test]
fn no_version_plays_before_it_is_checked() {
    let class = Served::start("name,id\nAnna Adams,s1\nBen Bell,s2\nCem Can,s3\n");
    let [anna, ben, cem] = ["Anna Adams", "Ben Bell", "Cem Can"].map(|name| class.link(name));
    class.hand_in(&anna, "bot.sh", GREEDY);
    class.hand_in(&ben, "bot.sh", RANDOM);
    class.until(&ben, 1, &["done"]);
    let slow = format!("#!/bin/sh\nsleep 16\n{WRONG}");
    class.hand_in(&anna, "bot.sh", &slow);
    class.until(&anna, 2, &["checking"]);
    // One that has to be built, too.
    class.hand_in(&ben, "bot.sh", WRONG);
    let manifest = "program = \"bot\"\nbuild = \"cp bot.txt bot && chmod +x bot\"\n";
    let body = upload(&[("referee.toml", manifest), ("bot.txt", RANDOM)]);
    class.send("/submissions", &cem, &boundary(), &body);
    class.until(&anna, 2, &["refused"]);
    class.until(&ben, 2, &["refused"]);
    class.until(&cem, 1, &["done"]);
    assert_eq!(class.submission(&ben, 1)["plays"], true);
    let games = fs::read_to_string(class.path("term/games.jsonl")).expect("games");
    assert!(!games.contains("\"by\":"), "{games}");
    let log = fs::read_to_string(class.path("out.log")).expect("a log");
    assert!(!log.contains("has to be built first"), "{log}");
}

#[test]
fn versions_are_kept_and_made_current_again() {
    let class = Served::start(TWO);
    let anna = class.link("Anna Adams");
    class.hand_in(&anna, "bot.sh", RANDOM);
    class.until(&anna, 1, &["playing"]);
    class.hand_in(&anna, "bot.sh", GREEDY);
    class.until(&anna, 2, &["playing"]);
    let file = class.get("/submissions/1/files", &anna);
    assert_eq!(file.text(), RANDOM);
    let again = class.post("/submissions/1/again", &anna, "");
    assert_eq!(again.json()["version"], 3, "{again:?}");
    let now = class.until(&anna, 3, &["playing"]);
    assert_eq!(now["plays"], true);
    assert_eq!(class.submission(&anna, 2)["plays"], false);
}

#[test]
fn a_link_becomes_a_cookie_and_a_clean_address() {
    let class = Served::start(TWO);
    let anna = class.link("Anna Adams");
    let reply = class.get(&format!("/in/{anna}"), "");
    assert_eq!((reply.status, reply.header("location")), (303, Some("/me")));
    let cookie = reply.header("set-cookie").expect("a cookie");
    for part in ["HttpOnly", "SameSite=Strict", "Path=/"] {
        assert!(cookie.contains(part), "{cookie}");
    }
    let own = cookie.split(';').next().expect("its value");
    let page = class.ask(
        &format!("GET /me HTTP/1.1\r\nAccept: text/html\r\nCookie: {own}\r\n"),
        b"",
    );
    assert_eq!(page.status, 200);
    assert!(page.text().contains("Hand in"));
    assert_eq!(page.header("referrer-policy"), Some("same-origin"));
    for file in ["term/server/links.json", "out.log", "class.log"] {
        let text = fs::read_to_string(class.path(file)).expect("a file");
        assert!(!text.contains(&anna), "{file} has the secret");
    }
    let log = fs::read_to_string(class.path("class.log")).expect("a log");
    assert!(log.contains("/in/"), "the request is logged: {log}");
}

#[test]
fn a_teacher_decides_and_each_decision_is_logged() {
    let class = Served::start(TWO);
    let (anna, teacher) = (class.link("Anna Adams"), class.link("(teacher)"));
    class.hand_in(&anna, "bot.sh", RANDOM);
    class.until(&anna, 1, &["playing"]);
    let decide = |form: &str| class.post("/class/decisions", &teacher, form);
    for (form, status) in [
        ("action=withdraw&of=Anna+Adams&why=copied", 200),
        ("action=restore&of=Anna+Adams", 200),
        ("action=withdraw&of=Nobody", 422),
        ("action=withdraw", 422),
        ("action=replay&of=p1a", 422),
        ("action=deadline&deadline=2020-01-01T00%3A00Z", 200),
        ("action=deadline&deadline=soon", 422),
        ("action=deadline&deadline=none", 200),
        ("action=fly", 422),
        ("action=freeze", 200),
    ] {
        let reply = decide(form);
        assert_eq!(reply.status, status, "{form}: {reply:?}");
    }
    assert_eq!(class.hand_in(&anna, "bot.sh", GREEDY).status, 409, "frozen");
    assert_eq!(decide("action=thaw").status, 200);
    assert_eq!(class.hand_in(&anna, "bot.sh", GREEDY).status, 202);
    let log = fs::read_to_string(class.path("term/log.jsonl")).expect("a log");
    for action in ["withdrawn", "restored", "frozen", "open again"] {
        assert!(log.contains(action), "{action}: {log}");
    }
    assert_eq!(
        class
            .post("/class/decisions", &anna, "action=freeze")
            .status,
        403
    );
}

#[test]
fn a_new_link_replaces_the_one_before() {
    let class = Served::start(TWO);
    let (anna, teacher) = (class.link("Anna Adams"), class.link("(teacher)"));
    class.hand_in(&anna, "bot.sh", RANDOM);
    class.until(&anna, 1, &["playing"]);
    let page = class.get("/class", &teacher).text();
    let (_, after) = page.split_once("/students/").expect("her page");
    let key: String = after.chars().take_while(|&c| c != '"').collect();
    let renew = format!("/students/{key}/link");
    assert_eq!(class.post(&renew, &anna, "").status, 403);
    let told = class.post(&renew, &teacher, "");
    assert_eq!(told.status, 200, "{told:?}");
    let text = told.text();
    let (_, after) = text.split_once("/in/").expect("a link");
    let new: String = after
        .chars()
        .take_while(char::is_ascii_alphanumeric)
        .collect();
    assert_eq!(class.get("/submissions/1", &anna).status, 401);
    assert_eq!(class.get("/submissions/1", &new).status, 200);
    let begun = std::time::Instant::now();
    let log = || fs::read_to_string(class.path("term/log.jsonl")).unwrap_or_default();
    while !log().contains("link of Anna Adams") {
        assert!(begun.elapsed() < hangs::HANGS, "{}", log());
        std::thread::sleep(std::time::Duration::from_millis(50));
    }
    assert!(!log().contains(&new), "the log has the secret");
}

/// A class of two bots whose games are played; the links of Anna Adams, Ben Bell and the teacher.
fn played_class() -> (Served, [String; 3]) {
    let class = Served::start(TWO);
    let links = ["Anna Adams", "Ben Bell", "(teacher)"].map(|name| class.link(name));
    class.hand_in(&links[0], "bot.sh", RANDOM);
    class.hand_in(&links[1], "bot.sh", GREEDY);
    class.until(&links[1], 1, &["done"]);
    class.until(&links[0], 1, &["done"]);
    (class, links)
}

/// What the teacher's page offers to keep, whole.
#[test]
fn a_teacher_downloads_what_there_is() {
    let (class, [anna, ben, teacher]) = played_class();
    let of_term =
        |name: &str| fs::read_to_string(class.path(&format!("term/{name}"))).expect("a file");
    for name in ["students.csv", "games.jsonl"] {
        let path = format!("/class/{name}");
        assert_eq!(class.get(&path, &anna).status, 403, "{path}");
        let reply = class.get(&path, &teacher);
        assert_eq!(reply.status, 200, "{path}: {reply:?}");
        assert_eq!(reply.text(), of_term(name), "{path}");
    }
    assert_eq!(class.get("/class/submissions.tar.gz", &ben).status, 403);
    let archive = class.get("/class/submissions.tar.gz", &teacher);
    let unpacked = flate2::read::GzDecoder::new(&archive.body[..]);
    let mut files = tar::Archive::new(unpacked);
    let mut texts = Vec::new();
    for entry in files.entries().expect("an archive") {
        let mut text = String::new();
        std::io::Read::read_to_string(&mut entry.expect("an entry"), &mut text).expect("a text");
        texts.push(text);
    }
    for text in [RANDOM, GREEDY] {
        assert!(texts.iter().any(|other| other == text), "{texts:?}");
    }
    // As a game is played again.
    let games = of_term("games.jsonl");
    let id =
        serde_json::from_str::<Value>(games.lines().next().expect("a game")).expect("JSON")["id"]
            .clone();
    let form = format!(
        "action=replay&of={}&why=a+fire+alarm",
        id.as_str().expect("an id")
    );
    let replayed = class.post("/class/decisions", &teacher, &form);
    assert_eq!(replayed.status, 200, "{replayed:?}");
    let begun = std::time::Instant::now();
    while of_term("games.jsonl").lines().count() < 2 || of_term("games.jsonl") == games {
        assert!(begun.elapsed() < hangs::HANGS);
        std::thread::sleep(std::time::Duration::from_millis(50));
    }
    assert!(of_term("log.jsonl").contains("a fire alarm"));
}

/// So that students see which turns decided their games; new games wait for no analysis.
#[test]
fn games_are_analysed_while_none_is_played() {
    let class = Served::start(TWO);
    let [anna, ben] = ["Anna Adams", "Ben Bell"].map(|name| class.link(name));
    class.hand_in(&anna, "bot.sh", RANDOM);
    class.hand_in(&ben, "bot.sh", GREEDY);
    class.until(&ben, 1, &["done"]);
    class.hand_in(&anna, "bot.sh", &format!("{RANDOM}# Another.\n"));
    class.until(&anna, 2, &["done"]);
    let lines = |name: &str| {
        let text = fs::read_to_string(class.path(&format!("term/{name}"))).unwrap_or_default();
        text.lines().count()
    };
    let begun = std::time::Instant::now();
    while lines("games.jsonl") == 0 || lines("analysis.jsonl") < lines("games.jsonl") {
        assert!(begun.elapsed() < hangs::HANGS);
        std::thread::sleep(std::time::Duration::from_millis(50));
    }
    let games = class.get("/me/games", &ben);
    assert_eq!(games.status, 200);
    let shown = class.get("/standings.json", "").json();
    let folder = class.stop();
    let printed = referee(folder.path(), &["standings", "term", "--format", "json"]);
    let printed: Value = serde_json::from_str(&printed).expect("JSON");
    assert_eq!(table(&shown), table(&printed));
    // What a fault of the disk has left of the file stops no game: it is made anew.
    let file = folder.path().join("term/analysis.jsonl");
    let text = fs::read_to_string(&file).expect("a file");
    let (_, rest) = text.split_once('\n').expect("lines");
    fs::write(&file, format!("{{\"damaged\n{rest}")).expect("a file");
    let class = Served::in_folder(folder, &[]);
    class.hand_in(&ben, "bot.sh", &format!("{GREEDY}# Another.\n"));
    assert_eq!(class.until(&ben, 2, &["done"])["plays"], true);
    let aside = class.path("term/analysis.unreadable");
    fs::remove_file(aside).expect("it is put aside");
    // Also where the plan changes meanwhile.
    fs::write(class.path("term/analysis.jsonl"), "{\"damaged\n").expect("a file");
    class.hand_in(&ben, "bot.sh", &format!("{GREEDY}# A third.\n"));
    assert_eq!(class.until(&ben, 3, &["done"])["plays"], true);
}

/// As people pack a folder on their machine.
#[test]
fn an_archive_is_a_submission() {
    let class = Served::start(TWO);
    let anna = class.link("Anna Adams");
    let mut packed = zip::ZipWriter::new(std::io::Cursor::new(Vec::new()));
    for (name, text) in [("mine/bot.sh", GREEDY), ("mine/data/book.txt", "x")] {
        let options = zip::write::SimpleFileOptions::default().unix_permissions(0o755);
        packed.start_file(name, options).expect("a file");
        std::io::Write::write_all(&mut packed, text.as_bytes()).expect("a text");
    }
    let zip = packed.finish().expect("an archive").into_inner();
    let body = upload(&[("mine.zip", zip)]);
    let reply = class.send("/submissions", &anna, &boundary(), &body);
    assert_eq!(reply.status, 202, "{reply:?}");
    let done = class.until(&anna, 1, &["playing", "refused"]);
    assert_eq!(done["state"], "playing", "{done}");
}

#[test]
fn a_second_referee_is_told_who_holds_the_league() {
    let class = Served::start(TWO);
    let run = common_run(
        &class,
        &["league", "serve", "term", "--listen", "127.0.0.1:0"],
    );
    assert!(run.contains("`referee league serve`, process "), "{run}");
}

fn common_run(class: &Served, arguments: &[&str]) -> String {
    let output = served::command(class.folder(), arguments)
        .output()
        .expect("a run");
    assert_eq!(output.status.code(), Some(2));
    String::from_utf8_lossy(&output.stderr).into_owned()
}

#[test]
fn who_knows_the_code_joins_once() {
    let class = Served::open("green-owl");
    let told = fs::read_to_string(class.path("out.log")).expect("a log");
    assert!(told.contains("this code is short"), "{told}");
    let join = |name: &str, code: &str| {
        let form = format!("name={name}&code={code}");
        class.post("/join", "", &form)
    };
    assert_eq!(join("Dana", "red-owl").status, 403);
    let joined = join("Dana", "green-owl");
    assert_eq!(joined.status, 200, "{joined:?}");
    let cookie = joined.header("set-cookie").expect("a cookie");
    let token = cookie
        .split([';', '='])
        .nth(1)
        .expect("a secret")
        .to_owned();
    assert!(joined.text().contains(&token), "the link is shown");
    assert_eq!(class.hand_in(&token, "bot.sh", RANDOM).status, 202);
    assert_eq!(join("dana", "green-owl").status, 409);
    assert_eq!(join("%20", "green-owl").status, 422);
}

#[test]
fn a_folder_and_several_files_are_one_submission() {
    let class = Served::start(TWO);
    let anna = class.link("Anna Adams");
    let body = upload(&[("bot/bot.sh", GREEDY), ("bot/data/book.txt", "x")]);
    let reply = class.send("/submissions", &anna, &boundary(), &body);
    assert_eq!(reply.status, 202, "{reply:?}");
    let done = class.until(&anna, 1, &["playing", "refused"]);
    assert_eq!(done["state"], "playing", "{done}");
    let archive = class.get("/submissions/1/files", &anna);
    assert_eq!(archive.header("content-type"), Some("application/gzip"));
    assert_eq!(archive.body.get(..2), Some(&[0x1f, 0x8b][..]));
}

#[test]
fn one_upload_waits_and_the_next_is_told_when() {
    let class = Served::start(TWO);
    let anna = class.link("Anna Adams");
    let replies: Vec<Reply> = (0..3)
        .map(|_| class.hand_in(&anna, "bot.sh", RANDOM))
        .collect();
    for reply in &replies {
        assert!([202, 429].contains(&reply.status), "{reply:?}");
        if reply.status == 429 {
            let after = reply
                .header("retry-after")
                .and_then(|after| after.parse().ok());
            assert!(after.is_some_and(|after: u64| after > 0));
        }
    }
    assert_eq!(replies[0].status, 202);
}
