//! A person who plays at the live page: what a page may send, and what becomes of it.

use std::fs;
use std::io::Read as _;
use std::net::SocketAddr;
use std::sync::Arc;
use std::thread::sleep;
use std::time::Duration;

use referee::game::{Game, Ruleset, registry};
use serde_json::{Value, json};

use super::serve::{Listener, answer, ask, until_said};
use super::stage::next;
use crate::common::{Referee, Run, Running};

/// A match whose person is at the page.
struct Desk {
    running: Running,
    address: SocketAddr,
    secret: String,
    watcher: Listener,
    rules: Arc<dyn Ruleset>,
    /// What was said last of the game that is played.
    table: Value,
}

impl Desk {
    fn of(arguments: &[&str], game: &str) -> Self {
        let referee = Referee::new(["--seed", "1", "--first", "1", "--game", game])
            .args(arguments)
            .args(["human", "builtin:random"])
            .recorded();
        let (running, address) = until_said(referee, "play at http://");
        let said = fs::read_to_string(running.scratch().join("said")).unwrap();
        let (_, secret) = said.split_once("/#play=").unwrap();
        Self {
            secret: secret.lines().next().unwrap().to_owned(),
            watcher: Listener::at(address, "/events?stage", ""),
            rules: registry::of_record(game, "standard", None).unwrap(),
            table: Value::Null,
            running,
            address,
        }
    }

    /// Waits until something holds of the game.
    fn until(&mut self, holds: impl Fn(&Value) -> bool) {
        while !holds(&self.table) {
            self.table = next(&mut self.watcher, "tables")[1]["tables"][0].clone();
        }
    }

    /// The game when the person is to move, after this many turns or more.
    fn question(&mut self, turns: u64) -> Box<dyn Game> {
        self.until(|table| {
            let is_mine = table["to"].is_number() && table["to"] == table["me"];
            is_mine && table["n"].as_u64() >= Some(turns)
        });
        let mut game = self
            .rules
            .start_from(self.table["s"].as_str().unwrap())
            .unwrap();
        for turn in self.table["m"].as_array().unwrap() {
            game.play(turn.as_str().unwrap(), &mut String::new())
                .unwrap();
        }
        game
    }

    fn post(&self, secret: &str, headers: &str, body: &str) -> String {
        post(self.address, secret, headers, body)
    }

    fn answer(&self, question: &str, answer: &str) -> String {
        self.post(&self.secret, "", &format!("{question}\n{answer}\n"))
    }

    fn is_taken(&self, question: &str, answer: &str) {
        assert_eq!(self.answer(question, answer), "200", "{question}");
    }

    fn end(mut self) -> Run {
        let said = self.running.scratch().join("said");
        let has_ended = || fs::read_to_string(&said).is_ok_and(|said| said.contains("stays at"));
        self.running.wait_until(|_| has_ended());
        self.running.signal("INT");
        self.running.finish()
    }
}

/// The status of the answer.
fn post(address: SocketAddr, secret: &str, headers: &str, body: &str) -> String {
    let head = format!(
        "POST /answer/{secret} HTTP/1.1\r\nConnection: close\r\nHost: {address}\r\nContent-Length: {}\r\n{headers}\r\n{body}",
        body.len()
    );
    let mut text = String::new();
    ask(address, &head).read_to_string(&mut text).unwrap();
    text.get(9..12).unwrap_or_default().to_owned()
}

#[test]
fn a_game_is_played_by_answers_of_the_protocol() {
    for name in ["quarto", "four-in-a-row"] {
        let mut desk = Desk::of(&["-n", "2"], name);
        for number in 0..2 {
            let mut turns = 0;
            loop {
                let game = desk.question(turns);
                let (question, answer) = (game.request(), game.turns().next().unwrap().text);
                let body = format!("{question}\n{answer}\n");
                let origin = format!("Origin: http://{}\r\n", desk.address);
                let evil = "Origin: http://evil.example\r\n";
                if turns < 2 {
                    assert_eq!(desk.post("0", "", &body), "403");
                    assert_eq!(desk.post(&desk.secret, evil, &body), "403");
                    let long = "x".repeat(2000);
                    for body in ["", "\n\n\n", &question, &format!("{body}more\n"), &long] {
                        assert_eq!(desk.post(&desk.secret, &origin, body), "400", "{body}");
                    }
                    assert_eq!(desk.answer("another question", &answer), "409");
                }
                desk.is_taken(&question, &answer);
                // The second of two answers is not taken, also if the opponent has answered in between.
                assert_eq!(desk.answer(&question, &answer), "409");
                turns = desk.table["n"].as_u64().unwrap() + 1;
                desk.until(|table| {
                    table["to"].is_null()
                        || table["to"] == table["me"] && table["n"].as_u64() > Some(turns)
                });
                if desk.table["to"].is_null() {
                    break;
                }
            }
            if number == 0 {
                desk.is_taken("again", "");
                let id = desk.table["id"].clone();
                desk.until(|table| table["id"] != id);
            }
        }
        let run = desk.end();
        let records = run.records();
        assert_eq!(records.len(), 2, "{run}");
        for record in &records {
            assert_eq!(record["bots"][0]["command"], json!(["human"]), "{run}");
            assert_ne!(record["result"]["lines"], json!(null), "{run}");
        }
        assert!(!run.file("said").contains("type help"), "{run}");
    }
}

/// Two people have the link of one seat, and answer at the same moment: one of them is heard, and the other is told.
#[test]
fn of_two_people_at_one_seat_one_is_heard() {
    let mut desk = Desk::of(&[], "quarto");
    let question = desk.question(0).request();
    let answers = ["- A", "- B"];
    let mut told = Vec::new();
    // The question may be asked in a moment only.
    for _ in 0..100 {
        let (address, secret) = (desk.address, &*desk.secret);
        let bodies = answers.map(|answer| format!("{question}\n{answer}\n"));
        told = std::thread::scope(|scope| {
            let ask = |body: String| scope.spawn(move || post(address, secret, "", &body));
            let posts = bodies.map(ask);
            posts.map(|post| post.join().unwrap()).to_vec()
        });
        if told != ["409", "409"] {
            break;
        }
        sleep(Duration::from_millis(10));
    }
    let heard = told.iter().position(|status| status == "200").unwrap();
    assert_eq!(told[1 - heard], "409");
    desk.until(|table| table["n"].as_u64() >= Some(1));
    assert_eq!(desk.table["m"][0], answers[heard]);
    desk.running.signal("INT");
    desk.running.finish();
}

#[test]
fn an_illegal_answer_loses_as_that_of_a_bot_does() {
    let mut desk = Desk::of(&["-n", "2"], "quarto");
    let question = desk.question(0).request();
    desk.is_taken(&question, "17 \u{1b}[31m");
    // The match goes on when the person wants it to.
    desk.is_taken("again", "");
    let question = desk.question(1).request();
    desk.is_taken(&question, "hello");
    let run = desk.end();
    for record in run.records() {
        assert_eq!(record["result"]["reason"], "malformed", "{run}");
        assert_eq!(record["result"]["by"], 0, "{run}");
    }
    assert_eq!(run.records().len(), 2, "{run}");
    assert!(!run.stdout.contains('\u{1b}'), "{run}");
}

#[test]
fn a_late_answer_is_not_taken() {
    let mut desk = Desk::of(&["--move-time", "300ms"], "quarto");
    desk.until(|table| table["id"].is_string() && table["to"].is_null());
    let question = desk.rules.start().request();
    assert_eq!(desk.answer(&question, "- A"), "409");
    let run = desk.end();
    assert_eq!(run.records()[0]["result"]["reason"], "timeout", "{run}");
}

#[test]
fn nobody_plays_at_a_page_that_is_only_watched() {
    let referee =
        Referee::new(["-n", "2000", "--seed", "1"]).args(["builtin:greedy", "builtin:random"]);
    let (running, address) = until_said(referee, "watch at http://");
    let headers = "Host: 127.0.0.1:1\r\nContent-Length: 0\r\n";
    for path in ["/answer/", "/answer/00000000000000000000000000000000"] {
        let said = answer(address, &format!("POST {path}"), headers);
        assert!(said.starts_with("HTTP/1.1 403 "), "{said}");
    }
    running.signal("INT");
    running.finish();
}

#[test]
fn ctrl_c_ends_a_match_whose_person_does_not_answer() {
    let mut desk = Desk::of(&[], "quarto");
    desk.question(0);
    desk.running.signal("INT");
    let run = desk.running.finish();
    assert_eq!(run.code, Some(130), "{run}");
}
