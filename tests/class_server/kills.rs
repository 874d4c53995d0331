//! The server is killed at any moment: nothing that was acknowledged is lost, and nothing that was finished is repeated.

use std::collections::BTreeMap;
use std::fs;
use std::thread::sleep;
use std::time::Duration;

use crate::served::{GREEDY, RANDOM, Served, referee};
use crate::table;

const FOUR: &str = "name,id\nAnna Adams,s1\nBen Bell,s2\nCem Cole,s3\nDana Dahl,s4\n";

const NAMES: [&str; 4] = ["Anna Adams", "Ben Bell", "Cem Cole", "Dana Dahl"];

/// As often as `REFEREE_KILLS` says; each time somewhat later after what was sent.
fn kills() -> usize {
    let given = std::env::var("REFEREE_KILLS").ok();
    given.and_then(|text| text.parse().ok()).unwrap_or(6)
}

#[test]
fn a_killed_server_loses_nothing_that_it_acknowledged() {
    let mut class = Served::start(FOUR);
    let mut acknowledged: BTreeMap<&str, u64> = BTreeMap::new();
    let mut finished = BTreeMap::new();
    for kill in 0..kills() {
        for (place, name) in NAMES.into_iter().enumerate() {
            // Each hands in every other time: an hour has so many of a student.
            if !(kill + place).is_multiple_of(2) {
                continue;
            }
            let text = if kill.is_multiple_of(4) {
                RANDOM
            } else {
                GREEDY
            };
            let reply = class.hand_in(&class.link(name), "bot.sh", &format!("{text}# {kill}\n"));
            match reply.status {
                202 => {
                    let version = reply.json()["version"].as_u64().expect("a number");
                    acknowledged.insert(name, version);
                }
                // One waits, or an hour has its number of them.
                429 => {}
                _ => panic!("{reply:?}"),
            }
        }
        sleep(Duration::from_millis(kill as u64 * 397 % 2900));
        let folder = class.kill();
        for (id, line) in games(folder.path()) {
            let known = finished.entry(id).or_insert_with(|| line.clone());
            assert_eq!(*known, line, "a finished game was played again");
        }
        class = Served::in_folder(folder, &["--students", "students.csv"]);
        for (name, version) in &acknowledged {
            let link = class.link(name);
            for number in 1..=*version {
                assert_eq!(class.submission(&link, number)["version"], number, "{name}");
            }
        }
    }
    for (name, version) in &acknowledged {
        class.until(&class.link(name), *version, &["done", "refused"]);
    }
    let shown = class.get("/standings.json", "").json();
    let folder = class.stop();
    let printed = referee(folder.path(), &["standings", "term", "--format", "json"]);
    let printed = serde_json::from_str(&printed).expect("JSON");
    assert_eq!(table(&shown), table(&printed));
    let again = referee(folder.path(), &["league", "term", "--sandbox", "none"]);
    let last = again.lines().last().unwrap_or_default();
    assert_eq!(last, "0 new games, 12 kept", "{again}");
}

/// The lines of finished games, by versions, who begins and the start: of this plan and of those before.
fn games(folder: &std::path::Path) -> Vec<(String, String)> {
    let text = fs::read_to_string(folder.join("term/archive.jsonl")).unwrap_or_default();
    let complete = text.lines().filter(|line| line.ends_with('}'));
    let games = complete.filter_map(|line| {
        let game: serde_json::Value = serde_json::from_str(line).ok()?;
        let key = format!("{} {} {}", game["versions"], game["first"], game["start"]);
        Some((key, format!("{} {}", game["turns"], game["started"])))
    });
    games.collect()
}
