//! The stage: the games being played, sent to those who watch them, and to nobody else; many watchers; frames.

use std::io::Read as _;
use std::net::{SocketAddr, TcpStream};
use std::process::Command;
use std::time::Instant;

use serde_json::{Value, json};

use super::serve::{LOCAL, Listener, PATIENCE, answer, ask, until_said};
use crate::common::Referee;

/// A tournament of four bots that take half a second an answer, two games at once.
fn slow_cup() -> Referee {
    let referee = Referee::new(["tournament", "--seed", "1", "--pairs", "1", "--jobs", "2"]);
    let folder = referee.scratch().join("cup");
    referee
        .args([std::path::Path::new("--out"), &folder])
        .args(["--sandbox", "none", "--no-check", "--opening-plies", "0"])
        .args(["./drawn.sh 0.4", "./drawn.sh 0.5", "./drawn.sh 0.6"])
}

/// The next event of this kind.
pub(super) fn next(listener: &mut Listener, kind: &str) -> Value {
    let mut events = std::iter::from_fn(|| listener.next());
    let found = events.find(|event| event.kind == kind);
    found.expect("another event").data
}

/// What is said of the games being played until this holds for one of the tables.
fn until(listener: &mut Listener, holds: impl Fn(&Value) -> bool) -> Value {
    loop {
        let tables = next(listener, "tables");
        let found = tables[1]["tables"]
            .as_array()
            .unwrap()
            .iter()
            .find(|table| holds(table));
        if let Some(found) = found {
            return found.clone();
        }
    }
}

#[test]
fn moves_are_sent_as_they_are_made_to_those_who_watch_the_stage() {
    let (running, address) = until_said(slow_cup(), "watch at http://");
    let mut watcher = Listener::at(address, "/events?stage", "");
    let mut reader = Listener::at(address, "/events", "");
    let edition = next(&mut watcher, "edition");
    assert_eq!(edition[0], "quarto");
    assert_eq!(edition[2], Value::Null);
    let first = until(&mut watcher, |table| table["n"].as_u64() >= Some(1));
    let turns = first["m"].as_array().unwrap().clone();
    assert_eq!(turns.len() as u64, first["n"].as_u64().unwrap());
    assert!(turns[0].as_str().unwrap().starts_with("- "), "{first}");
    assert_eq!(first["limit"], json!([10_000, 10_000]));
    assert_ne!(first["by"], first["to"]);
    let is_same = |table: &Value| table["id"] == first["id"] && table["n"] != first["n"];
    let later = until(&mut watcher, is_same);
    let more = later["m"].as_array().unwrap();
    assert_eq!(more[..turns.len()], turns[..]);
    assert!(
        later["last"][usize::from(later["by"] == 1)].as_u64() >= Some(300),
        "{later}"
    );
    // Two games at once, and the number of all.
    let both = next(&mut watcher, "tables");
    assert_eq!(both[1]["expected"], 6);
    let tables = both[1]["tables"].as_array().unwrap();
    assert_eq!(tables.len(), 2);
    // Who comes late sees all turns so far, and a page without the stage is sent none.
    let mut late = Listener::at(address, "/events?stage", "");
    let seen = until(&mut late, |table| {
        table["id"] == later["id"] || table["n"].as_u64() > Some(0)
    });
    assert_eq!(
        seen["m"].as_array().unwrap().len() as u64,
        seen["n"].as_u64().unwrap()
    );
    running.signal("TERM");
    running.signal("TERM");
    while let Some(event) = reader.next() {
        assert!(
            !["tables", "edition"].contains(&event.kind.as_str()),
            "{event:?}"
        );
    }
    running.finish();
}

#[test]
fn a_game_that_is_a_program_is_drawn_by_it() {
    // In C: Rust needs a compiler for it to link with, but no interpreter.
    let folder = tempfile::tempdir().unwrap();
    let game = folder.path().join("tic-tac-toe");
    let source = concat!(env!("CARGO_MANIFEST_DIR"), "/games/tic-tac-toe.c");
    let compiled = Command::new("cc")
        .arg("-o")
        .args([&*game, source.as_ref()])
        .status();
    assert!(compiled.is_ok_and(|status| status.success()));
    let referee = Referee::new(["--sandbox", "none", "-n", "2000", "--seed", "1"])
        .args(["builtin:random", "builtin:random", "--game"])
        .args([game]);
    let (running, address) = until_said(referee, "watch at http://");
    let mut watcher = Listener::at(address, "/events?stage", "");
    let table = until(&mut watcher, |table| table["d"]["c"].is_array());
    assert_eq!(table["d"]["c"].as_array().unwrap().len(), 3, "{table}");
    assert!(table["m"].as_array().unwrap().len() <= 1, "{table}");
    running.signal("TERM");
    running.finish();
}

#[test]
fn five_hundred_watch_from_one_address_and_some_do_not_read() {
    let referee = Referee::new(["-n", "100000000", "--seed", "1"]);
    let (running, address) = until_said(
        referee.args(["./drawn.sh 0.1", "builtin:random"]),
        "watch at http://",
    );
    let request = format!("GET /events?stage HTTP/1.1\r\n{LOCAL}\r\n");
    let mut watchers: Vec<TcpStream> = (0..500).map(|_| ask(address, &request)).collect();
    // Each of them is sent games and moves; what they are sent meanwhile waits for none of the others. Every tenth does
    // not read at all.
    for watcher in watchers.iter_mut().skip(1).step_by(10) {
        let mut text = Vec::new();
        let mut part = [0; 4096];
        // The games before come first.
        let until = Instant::now() + PATIENCE;
        while !contains(&text, b"event: tables") {
            let read = watcher.read(&mut part).unwrap();
            assert!(
                read > 0 && Instant::now() < until,
                "{}",
                String::from_utf8_lossy(&text)
            );
            text.extend_from_slice(&part[..read]);
        }
    }
    // There is room for others, who are served at once.
    let page = answer(address, "GET /", LOCAL);
    assert!(page.starts_with("HTTP/1.1 200 OK"), "{page}");
    running.signal("INT");
    assert_eq!(running.finish().code, Some(130));
}

fn contains(text: &[u8], what: &[u8]) -> bool {
    text.windows(what.len()).any(|part| part == what)
}

/// The header of the page of a tournament with these options.
fn header(options: &[&str]) -> String {
    let referee = Referee::new(["-n", "100000000", "--seed", "1"]).args(options);
    let referee = referee.args(["builtin:greedy", "builtin:random"]);
    let (running, address): (_, SocketAddr) = until_said(referee, "watch at http://");
    let mut page = answer(address, "GET /", LOCAL);
    page.truncate(page.find("\r\n\r\n").unwrap());
    running.signal("INT");
    running.finish();
    page
}

#[test]
fn the_page_is_framed_where_the_organiser_allows_it() {
    let refused = header(&[]);
    assert!(refused.contains("frame-ancestors 'none'"), "{refused}");
    assert!(refused.contains("x-frame-options: DENY"), "{refused}");
    let framed = header(&["--live-frame", "https://moodle.example.org"]);
    assert!(
        framed.contains("; frame-ancestors https://moodle.example.org\r\n"),
        "{framed}"
    );
    assert!(!framed.contains("x-frame-options"), "{framed}");
    for (origin, expected) in [
        (
            "https://moodle.example.org/course",
            "a host and perhaps a port, such as",
        ),
        ("moodle.example.org", "expected http:// or https://"),
        ("*", "expected http:// or https://"),
    ] {
        let run = Referee::new(["--live=0", "--live-frame", origin])
            .args(["builtin:greedy", "builtin:random"])
            .run();
        assert_eq!(run.code, Some(2), "{run}");
        assert!(run.stderr.contains(expected), "{run}");
    }
    let run = Referee::new(["--live-frame", "https://moodle.example.org"])
        .args(["builtin:greedy", "builtin:random"])
        .run();
    assert_eq!(run.code, Some(2), "{run}");
    assert!(run.stderr.contains("--live[=<ADDR>]"), "{run}");
}
