//! A league: only what is new is played, and the result is that of a league that played everything at once.

use std::fs;
use std::path::PathBuf;
use std::thread;
use std::time::Duration;

use serde_json::Value;

use crate::classroom::{Class, GREEDY, RANDOM, WRONG};
use crate::common::{self, Referee, Run};

/// The folder of a teacher.
struct Teacher(Class);

impl Teacher {
    /// With submissions of these students.
    fn of(students: &[(&str, &str)]) -> Self {
        let teacher = Self(Class::of(&[]));
        for (name, text) in students {
            teacher.hand_in(name, text);
        }
        teacher
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path(name)
    }

    fn hand_in(&self, name: &str, text: &str) {
        self.0.write(&format!("submissions/{name}/bot.sh"), text);
    }

    fn league(&self, name: &str, more: &[&str]) -> Referee {
        let options = [
            "league",
            name,
            "--sandbox",
            "none",
            "--seed",
            "3",
            "--pairs",
            "1",
        ];
        self.0.referee(&[&options, more].concat())
    }

    fn update(&self, name: &str) -> Run {
        let run = self.league(name, &["--from", "submissions"]).run();
        assert_eq!(run.code, Some(0), "{run}");
        run
    }

    /// What has to be the same whenever and wherever games were played: their ids, bots, turns and results.
    fn games(&self, name: &str) -> Vec<[Value; 4]> {
        let text = self.0.read(&format!("{name}/games.jsonl"));
        common::schema::PLAN.check(&self.0.json(&format!("{name}/plan.json")));
        let mut games: Vec<[Value; 4]> = common::records(&text)
            .into_iter()
            .map(|game| {
                let names = [0, 1].map(|bot| game["bots"][bot]["name"].clone());
                let names = Value::from(names.to_vec());
                [
                    game["id"].clone(),
                    names,
                    game["turns"].clone(),
                    game["result"].clone(),
                ]
            })
            .collect();
        games.sort_by_key(|game| game[0].as_str().map(str::to_owned));
        games
    }

    fn csv(&self, league: &str) -> Vec<Vec<String>> {
        let path = self.path(league).join("students.csv");
        let mut reader = csv::Reader::from_path(path).expect("a table");
        let rows = reader.records().map(|row| row.expect("a row"));
        rows.map(|row| row.iter().map(str::to_owned).collect())
            .collect()
    }
}

#[test]
fn only_new_games_are_played_and_the_result_is_the_same() {
    let teacher = Teacher::of(&[
        ("anna", RANDOM),
        ("ben", GREEDY),
        ("cem", RANDOM),
        ("dana", GREEDY),
    ]);
    assert_eq!(teacher.update("term").last_line(), "12 new games, 0 kept");
    assert_eq!(teacher.update("term").last_line(), "0 new games, 12 kept");
    teacher.hand_in("ben", &format!("{RANDOM}# better\n"));
    assert_eq!(teacher.update("term").last_line(), "6 new games, 6 kept");
    teacher.hand_in("a new one", GREEDY);
    assert_eq!(teacher.update("term").last_line(), "8 new games, 12 kept");
    teacher.update("fresh");
    assert_eq!(teacher.games("term"), teacher.games("fresh"));
    let table = |league: &str| fs::read(teacher.path(league).join("crosstable.csv"));
    assert_eq!(
        table("term").expect("a table"),
        table("fresh").expect("a table")
    );
    // An older version comes back: its games are known.
    teacher.hand_in("ben", GREEDY);
    assert_eq!(teacher.update("term").last_line(), "2 new games, 18 kept");
}

#[test]
fn who_hands_in_something_broken_plays_with_the_version_before() {
    let teacher = Teacher::of(&[("anna", RANDOM), ("ben", GREEDY), ("cem", WRONG)]);
    let run = teacher.update("term");
    assert_eq!(run.last_line(), "2 new games, 0 kept");
    assert!(run.stdout.contains("did not enter: cem: "), "{run}");
    teacher.hand_in("anna", WRONG);
    let run = teacher.update("term");
    assert_eq!(run.last_line(), "0 new games, 2 kept");
    let rows = teacher.csv("term");
    let [anna, ben, cem] = &rows[..] else {
        panic!("{rows:?}")
    };
    assert!(
        anna[1] != anna[2] && anna[5].contains("`hello`"),
        "{anna:?}"
    );
    assert!(ben[1] == ben[2] && ben[5].is_empty(), "{ben:?}");
    assert!(cem[1].is_empty() && cem[5].contains("`hello`"), "{cem:?}");
}

#[test]
fn nothing_is_lost_when_the_referee_is_killed() {
    let teacher = Teacher::of(&[("anna", RANDOM), ("ben", GREEDY), ("cem", RANDOM)]);
    for round in 0..6 {
        teacher.hand_in("anna", &format!("{RANDOM}# {round}\n"));
        let started = teacher.league("term", &["--from", "submissions"]).start();
        thread::sleep(Duration::from_millis(40 * round));
        // As by `kill -9`.
        drop(started);
    }
    teacher.update("term");
    teacher.update("fresh");
    assert_eq!(teacher.games("term"), teacher.games("fresh"));
}

#[test]
fn settings_hold_for_all_term() {
    let teacher = Teacher::of(&[("anna", RANDOM), ("ben", GREEDY)]);
    let settings = [
        "--from",
        "submissions",
        "--move-time",
        "3s",
        "--env",
        "COURSE=1",
    ];
    let run = teacher.league("term", &settings).run();
    assert_eq!(run.code, Some(0), "{run}");
    teacher.hand_in("cem", RANDOM);
    assert_eq!(teacher.update("term").last_line(), "4 new games, 2 kept");
    let plan = teacher.0.json("term/plan.json");
    assert_eq!(plan["sandbox"]["env"][0], "COURSE=1", "{plan}");
    for bot in 0..3 {
        assert_eq!(plan["bots"][bot]["limits"]["move_time"], 3.0, "{plan}");
    }
}

#[test]
fn settings_that_make_games_incomparable_are_refused() {
    let teacher = Teacher::of(&[("anna", RANDOM), ("ben", GREEDY)]);
    teacher.update("term");
    let run = teacher.league("term", &["--move-time", "3s"]).run();
    assert_eq!(run.code, Some(2), "{run}");
    assert!(
        run.stderr.contains("the time limits are other ones"),
        "{run}"
    );
    let run = teacher.league("term", &["--format", "swiss"]).run();
    assert_eq!(run.code, Some(2), "{run}");
    assert!(run.stderr.contains("--format is for tournaments"), "{run}");
    let run = teacher.league("another", &[]).run();
    assert_eq!(run.code, Some(2), "{run}");
    assert!(run.stderr.contains("--from FOLDER"), "{run}");
}
