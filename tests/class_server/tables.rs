//! Games that do not count: a person against a bot, and friendly games.

use std::fs;
use std::io::{BufRead as _, BufReader, Write as _};
use std::net::TcpStream;
use std::thread::sleep;
use std::time::{Duration, Instant};

use referee::game::registry;
use serde_json::Value;

use crate::TWO;
use crate::hangs::HANGS;
use crate::served::{GREEDY, RANDOM, Served, command};

/// A class of two bots whose games are played.
fn class() -> Served {
    let class = Served::start(TWO);
    class.hand_in(&class.link("Anna Adams"), "bot.sh", RANDOM);
    let ben = class.link("Ben Bell");
    class.hand_in(&ben, "bot.sh", GREEDY);
    class.until(&ben, 1, &["done"]);
    class
}

/// Who watches a table, or another page.
pub(crate) struct Watcher(BufReader<TcpStream>);

impl Watcher {
    pub(crate) fn at(class: &Served, path: &str) -> Self {
        let mut stream = TcpStream::connect(class.address).expect("a connection");
        stream.set_read_timeout(Some(HANGS)).expect("a timeout");
        let head = format!("GET {path} HTTP/1.1\r\nHost: {}\r\n\r\n", class.host);
        stream.write_all(head.as_bytes()).expect("a request");
        Self(BufReader::new(stream))
    }

    /// Of the next event of this kind.
    pub(crate) fn next(&mut self, kind: &str) -> Value {
        let (expected, mut is_next) = (format!("event: {kind}"), false);
        loop {
            let mut line = String::new();
            let read = self.0.read_line(&mut line).expect("an event in time");
            assert!(read > 0, "the stream is over before an event {kind}");
            match line.trim_end().strip_prefix("data: ") {
                Some(data) if is_next => return serde_json::from_str(data).expect("JSON"),
                Some(_) => is_next = false,
                None => is_next |= line.trim_end() == expected,
            }
        }
    }

    /// What is said of the first of these states.
    fn until(&mut self, states: &[&str]) -> Value {
        loop {
            let now = self.next("state");
            if states.contains(&now["state"].as_str().expect("a state")) {
                return now;
            }
        }
    }
}

/// Asked for until it is given: there is a while between two tables.
fn seated(class: &Served, token: &str, bot: &str, kind: &str) -> Value {
    let begun = Instant::now();
    loop {
        let reply = ask_for(class, token, bot, kind);
        if reply.status == 202 {
            return reply.json();
        }
        assert_eq!(reply.status, 429, "{reply:?}");
        assert!(begun.elapsed() < HANGS, "{reply:?}");
        sleep(Duration::from_millis(100));
    }
}

fn ask_for(class: &Served, token: &str, bot: &str, kind: &str) -> crate::http::Reply {
    class.post("/tables", token, &format!("bot={bot}&kind={kind}"))
}

#[test]
fn a_friendly_game_is_shown_and_does_not_count() {
    let class = class();
    let anna = class.link("Anna Adams");
    let games = fs::read_to_string(class.path("term/games.jsonl")).expect("games");
    // Without the columns of the analysis, which goes on meanwhile.
    let standings = || crate::table(&class.get("/standings.json", "").json());
    let before = standings();
    let reply = ask_for(&class, &anna, "Ben+Bell", "friendly");
    assert_eq!(reply.status, 202, "{reply:?}");
    assert_eq!(reply.json()["url"], "/tables/1/#stage");
    let mut watcher = Watcher::at(&class, "/tables/1/events");
    watcher.until(&["finished"]);
    // Visitors are offered games once the teacher lets them play.
    let front = || class.get("/", "").text().contains("Play against Ben Bell");
    assert!(!front());
    let teacher = class.link("(teacher)");
    let open = class.post("/class/decisions", &teacher, "action=open-tables");
    assert_eq!(open.status, 200, "{open:?}");
    assert!(front());
    let page = class.get("/tables/1/", "");
    assert_eq!(page.status, 200);
    assert!(page.text().contains("Anna Adams vs Ben Bell"));
    // Two games, of which each bot began one.
    let entries = Watcher::at(&class, "/tables/1/events").next("entries");
    assert!(entries.to_string().contains("Ben Bell"), "{entries}");
    let now = fs::read_to_string(class.path("term/games.jsonl")).expect("games");
    assert_eq!(now, games);
    assert_eq!(standings(), before);
}

/// Answers by the rules, as the page does, until the game is over.
#[test]
fn a_person_plays_against_a_bot() {
    let class = class();
    let anna = class.link("Anna Adams");
    let reply = ask_for(&class, &anna, "Ben+Bell", "person").json();
    let url = reply["url"].as_str().expect("an address").to_owned();
    let (page, secret) = url.split_once("#play=").expect("a secret");
    let rules = registry::of_record("quarto", "standard", None).expect("rules");
    let mut watcher = Watcher::at(&class, &format!("{page}events?stage"));
    let answer = |secret: &str, body: &str| {
        let path = format!("{page}answer/{secret}");
        class.send(&path, "", "text/plain", body.as_bytes()).status
    };
    let mut made = 0;
    loop {
        let table = watcher.next("tables")[1]["tables"][0].clone();
        if table["to"].is_null() && table["n"].as_u64() > Some(0) {
            break;
        }
        let is_mine = table["to"].is_number() && table["to"] == table["me"];
        if !is_mine || table["n"].as_u64() < Some(made) {
            continue;
        }
        let mut game = rules
            .start_from(table["s"].as_str().expect("a start"))
            .expect("a start");
        for turn in table["m"].as_array().expect("turns") {
            let turn = turn.as_str().expect("a turn");
            game.play(turn, &mut String::new()).expect("a legal turn");
        }
        let turn = game.turns().next().expect("a turn").text;
        let body = format!("{}\n{turn}\n", game.request());
        assert_eq!(answer("0", &body), 403);
        assert_eq!(answer(secret, "another\nanswer\n"), 409);
        // It may be asked in a moment.
        while answer(secret, &body) == 409 {
            sleep(Duration::from_millis(10));
        }
        made = table["n"].as_u64().expect("a number") + 1;
    }
    // Another table leaves this one.
    seated(&class, &anna, "Ben+Bell", "friendly");
    assert_eq!(watcher.until(&["ended"])["why"], "left");
    let log = fs::read_to_string(class.path("class.log")).expect("a log");
    assert!(log.contains("/answer/"), "the request is logged: {log}");
    assert!(!log.contains(secret), "the log has the secret");
}

#[test]
fn who_may_ask_for_what() {
    let class = Served::start(TWO);
    let [anna, ben, teacher] = ["Anna Adams", "Ben Bell", "(teacher)"].map(|name| class.link(name));
    class.hand_in(&anna, "bot.sh", RANDOM);
    class.until(&anna, 1, &["playing"]);
    let ask = |token: &str, bot: &str, kind: &str| ask_for(&class, token, bot, kind).status;
    for (token, bot, kind, status) in [
        ("", "Anna+Adams", "person", 401),
        (&*ben, "Anna+Adams", "friendly", 422),
        (&ben, "Ben+Bell", "person", 422),
        (&ben, "Cem", "person", 422),
        (&ben, "Anna+Adams", "other", 422),
        (&anna, "Anna+Adams", "friendly", 422),
        (&teacher, "Anna+Adams", "friendly", 422),
        (&anna, "Anna+Adams", "person", 202),
        (&ben, "Anna+Adams", "person", 202),
        (&teacher, "Anna+Adams", "person", 202),
    ] {
        assert_eq!(ask(token, bot, kind), status, "{token} {bot} {kind}");
    }
    // From the page of a bot.
    let shown = |token: &str, bot: &str| class.get(&format!("/tables/new?bot={bot}"), token);
    for (token, bot, status) in [
        ("", "Anna+Adams", 401),
        (&*ben, "Anna%20Adams", 200),
        (&teacher, "Anna+Adams", 200),
        (&ben, "Ben+Bell", 422),
        (&ben, "Cem", 422),
    ] {
        assert_eq!(shown(token, bot).status, status, "{token} {bot}");
    }
    assert_eq!(class.get("/tables/new", &ben).status, 400);
    let decide =
        |action: &str| class.post("/class/decisions", &teacher, &format!("action={action}"));
    assert_eq!(decide("open-tables").status, 200);
    assert_eq!(ask("", "Anna+Adams", "person"), 202);
    let page = shown("", "Anna+Adams");
    assert!(
        page.text()
            .contains("aria-label=\"Play against Anna Adams\""),
        "{page:?}"
    );
    assert_eq!(decide("close-tables").status, 200);
    assert_eq!(ask("", "Anna+Adams", "person"), 401);
    assert_eq!(class.get("/tables/99/", "").status, 404);
}

/// Until the front page says that the final has been played.
fn until_played(class: &Served) {
    let begun = Instant::now();
    while !class.get("/", "").text().contains("It has been played") {
        assert!(begun.elapsed() < HANGS);
        sleep(Duration::from_millis(50));
    }
}

#[test]
fn a_final_is_announced_and_played_on_the_stage() {
    let class = class();
    let teacher = class.link("(teacher)");
    let decide = |form: &str| class.post("/class/decisions", &teacher, form);
    assert_eq!(decide("action=play").status, 422, "not announced");
    assert_eq!(class.get("/final/", "").status, 404);
    let announced = decide("action=announce&format=knockout&pairs=2");
    assert_eq!(announced.status, 200, "{announced:?}");
    let statement = announced.json()["done"]
        .as_str()
        .expect("a sentence")
        .to_owned();
    assert!(statement.starts_with("final of 2 bots, "), "{statement}");
    assert_eq!(decide("action=announce").status, 422, "announced before");
    assert!(class.get("/", "").text().contains(&statement));
    // The server has the folder, in which a command would play it.
    let beside = command(class.folder(), &["league", "final", "term"]).output();
    let beside = beside.expect("a run");
    let said = String::from_utf8_lossy(&beside.stderr);
    assert_eq!(beside.status.code(), Some(2), "{said}");
    assert!(said.contains("`referee league serve`, process "), "{said}");
    let mut watcher = Watcher::at(&class, "/final/events?stage");
    assert_eq!(decide("action=play").status, 200);
    watcher.until(&["finished"]);
    until_played(&class);
    assert_eq!(decide("action=play").status, 422, "played before");
    let log = fs::read_to_string(class.path("term/log.jsonl")).expect("a log");
    for action in ["announced", "begins", "played"] {
        assert!(log.contains(action), "{action}: {log}");
    }
    let folder = class.stop();
    let games = folder.path().join("term/final/games.jsonl");
    let games = fs::read_to_string(games).expect("games");
    assert_eq!(games.lines().count(), 4);
    // The command finds nothing that is left to play, and says the same.
    let output = command(folder.path(), &["league", "final", "term"]).output();
    let output = output.expect("a run");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(said.contains(&statement), "{said}");
    assert!(said.contains("resuming after 4 of 4 games"), "{said}");
    // A server that is started again shows it.
    let class = Served::in_folder(folder, &[]);
    until_played(&class);
    // With its bracket.
    let figures = Watcher::at(&class, "/final/events").next("figures");
    let figures = figures.to_string();
    assert!(figures.contains("\"champion\":"), "{figures}");
    assert!(!figures.contains("\"champion\":null"), "{figures}");
}

/// The games of the class come first.
#[test]
fn a_table_waits_for_the_games_of_the_class() {
    let class = Served::start(TWO);
    let [anna, ben] = ["Anna Adams", "Ben Bell"].map(|name| class.link(name));
    class.hand_in(&anna, "bot.sh", SLOW);
    class.hand_in(&ben, "bot.sh", SLOW);
    class.until(&ben, 1, &["playing"]);
    assert_eq!(ask_for(&class, &anna, "Ben+Bell", "friendly").status, 202);
    let mut watcher = Watcher::at(&class, "/tables/1/events");
    watcher.until(&["playing", "finished"]);
    let games = class.submission(&ben, 1)["games"].clone();
    assert_eq!(games, serde_json::json!({"played": 2, "of": 2}));
}

/// A bot of which each turn takes a while.
const SLOW: &str = "#!/bin/sh\n\"$REFEREE_BIN\" bot random | while read -r line; do sleep 0.2; echo \"$line\"; done\n";

/// What the class will not play any more keeps no table waiting.
#[test]
fn a_table_begins_where_an_opponent_was_withdrawn() {
    let class = Served::start(TWO);
    let [anna, ben, teacher] = ["Anna Adams", "Ben Bell", "(teacher)"].map(|name| class.link(name));
    class.hand_in(&anna, "bot.sh", SLOW);
    class.hand_in(&ben, "bot.sh", SLOW);
    class.until(&ben, 1, &["playing"]);
    let withdrawn = class.post("/class/decisions", &teacher, "action=withdraw&of=Ben+Bell");
    assert_eq!(withdrawn.status, 200, "{withdrawn:?}");
    let table = seated(&class, &ben, "Anna+Adams", "person");
    let url = table["url"].as_str().expect("an address");
    let (page, _) = url.split_once('#').expect("a fragment");
    Watcher::at(&class, &format!("{page}events")).until(&["playing"]);
}

#[test]
fn a_table_is_left_by_its_host_alone() {
    let class = class();
    let [anna, ben] = ["Anna Adams", "Ben Bell"].map(|name| class.link(name));
    let table = seated(&class, &anna, "Ben+Bell", "person");
    let leave = |token: &str| {
        let path = format!("/tables/{}/leave", table["table"]);
        class.post(&path, token, "").status
    };
    assert_eq!([leave(""), leave(&ben), leave(&anna)], [401, 404, 200]);
    let page = format!("/tables/{}/events", table["table"]);
    let now = Watcher::at(&class, &page).until(&["ended"]);
    assert_eq!(now["why"], "left");
}

/// What was sent before it is announced takes part.
#[test]
fn who_has_handed_in_before_is_in_the_final() {
    let class = Served::start(&format!("{TWO}Cem Can,s3\nDora Doe,s4\n"));
    let [anna, ben, cem, dora, teacher] =
        ["Anna Adams", "Ben Bell", "Cem Can", "Dora Doe", "(teacher)"].map(|name| class.link(name));
    class.hand_in(&anna, "bot.sh", RANDOM);
    class.hand_in(&ben, "bot.sh", GREEDY);
    class.until(&ben, 1, &["done"]);
    // While one is checked, another one waits.
    class.hand_in(&dora, "bot.sh", SLOW);
    class.until(&dora, 1, &["checking"]);
    let sent = class.hand_in(&cem, "bot.sh", &format!("{RANDOM}# Another.\n"));
    assert_eq!(sent.status, 202);
    let begun = Instant::now();
    let announced = loop {
        let reply = class.post("/class/decisions", &teacher, "action=announce");
        if reply.status == 200 {
            break reply.json()["done"].to_string();
        }
        let said = reply.text();
        assert!(said.contains("still to be checked"), "{said}");
        assert!(begun.elapsed() < HANGS);
        sleep(Duration::from_millis(50));
    };
    assert!(announced.contains("final of 4 bots, "), "{announced}");
}
