//! A term of a class: six weeks of submissions in six languages, as Moodle's archives, with everything that students
//! and teachers do, and a referee that is killed again and again.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{Cursor, Write as _};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;

use libtest_mimic::{Failed, Trial};
use rand::rngs::StdRng;
use rand::{RngExt as _, SeedableRng as _};
use serde_json::Value;
use tempfile::TempDir;
use zip::DateTime;
use zip::ZipWriter;
use zip::write::SimpleFileOptions;

use crate::common::{Referee, Run, records};
use crate::requirements::{program, unavailable};

/// How often the referee is killed over the term.
const KILLS: usize = 50;

/// The weeks of the term, as days from the first of January 2026.
const WEEKS: [u8; 6] = [9, 16, 23, 30, 37, 44];

/// The first week with a list of students, and with a later deadline.
const LISTED: usize = 4;

/// A day after the first deadline: the first of February.
const LATE: u8 = 32;

/// Of everybody, in the fifth week and in the sixth.
const LISTS: [&str; 2] = [
    "name,id,team\nAnna Adams,a,\nBen Brown,b,\nCem Can,c,\nDana Diaz,d,\nEve Evans,e,\nFinn Fox,f,\nGul Gok,g,\nMissing Mo,m,\n",
    "name,id,team\nAnna Adams,a,\nBen Brown,b,\nCem Can,c,owls\nDana Diaz-Ruiz,d,\nEve Evans-Ott,e,\nFinn Fox,f,\n\
     Gül Gök,g,\nMissing Mo,m,\nTom Tal,t,owls\n",
];

/// What is in the newest submission of each student: the files, and the day, from the first of January, on which it was handed
/// in.
type Class = BTreeMap<&'static str, (u8, Vec<(String, Vec<u8>)>)>;

/// A player that is shipped.
fn player(name: &str) -> Vec<u8> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("players")
        .join(name);
    fs::read(&path).unwrap_or_default()
}

/// The same with a remark of its own: another version, and another bot than those of others.
fn version(name: &str, remark: &str) -> Vec<(String, Vec<u8>)> {
    let sign = match name.rsplit('.').next() {
        Some("c" | "cpp" | "java" | "js") => "//",
        _ => "#",
    };
    let mut text = player(name);
    text.extend(format!("\n{sign} {remark}\n").bytes());
    vec![(name.to_owned(), text)]
}

fn file(name: &str, text: &str) -> Vec<(String, Vec<u8>)> {
    vec![(name.to_owned(), text.as_bytes().to_vec())]
}

fn noon(day: u8) -> Result<DateTime, Failed> {
    let (month, day) = if day < LATE {
        (1, day)
    } else {
        (2, day + 1 - LATE)
    };
    Ok(DateTime::from_date_and_time(2026, month, day, 12, 0, 0)?)
}

fn zipped(files: &[(String, Vec<u8>)], day: u8) -> Result<Vec<u8>, Failed> {
    let mut zip = ZipWriter::new(Cursor::default());
    let time = noon(day)?;
    for (name, content) in files {
        zip.start_file(name, SimpleFileOptions::default().last_modified_time(time))?;
        zip.write_all(content)?;
    }
    Ok(zip.finish()?.into_inner())
}

/// What the class hands in during a week, on top of what was there. Returns how many bots have changed, of those that can
/// play then.
fn hand_in(week: usize, class: &mut Class) -> Result<(), Failed> {
    let day = WEEKS[week];
    let mut put = |name: &'static str, files: Vec<(String, Vec<u8>)>| {
        class.insert(name, (day, files));
    };
    match week {
        0 => {
            // Six languages.
            put("Anna Adams_101", version("random.py", "Anna"));
            put("Ben Brown_102", version("random.c", "Ben"));
            put("Cem Can_103", version("random.cpp", "Cem"));
            put("Dana Diaz_104", version("random.js", "Dana"));
            put("Eve Evans_105", version("random.pl", "Eve"));
            put("Finn Fox_106", version("random.sh", "Finn"));
            put("Gül Gök_107", version("greedy.py", "Gül"));
            // Two of one name.
            put("Max Muster_108", version("safe.py", "Max"));
            put("Max Muster_109", version("wins.py", "the other Max"));
            // Its own archive, in a folder.
            let inner = version("greedy.py", "Hana");
            let inner = [("my bot/bot.py".to_owned(), inner[0].1.clone())];
            put(
                "Hana Hadi_110",
                vec![("bot.zip".to_owned(), zipped(&inner, day)?)],
            );
            // Broken, hostile, empty.
            put(
                "Ida Ivens_111",
                file("bot.c", "int main(void) { return nothing; }\n"),
            );
            put(
                "Jan Jung_112",
                file("bot.py", "#!/usr/bin/env python3\nprint('hello')\n"),
            );
            let evil = [("../../evil.py".to_owned(), player("random.py"))];
            put(
                "Kai Kohl_113",
                vec![("bot.zip".to_owned(), zipped(&evil, day)?)],
            );
            put("Lea Lang_114", vec![]);
            put("Mia Maas_115", file("bot.rar", "Rar!"));
            put(
                "Noa Nagy_116",
                file("bot.sh", "#!/bin/sh\nwhile :; do :; done\n"),
            );
        }
        1 => {
            put("Anna Adams_101", version("greedy.py", "Anna 2"));
            put("Ida Ivens_111", version("random.c", "Ida 2"));
            // Worse than before: the version before goes on playing.
            put(
                "Ben Brown_102",
                file("bot.c", "int main(void) { return nothing; }\n"),
            );
            put("Ola Olsen_117", version("random.rb", "Ola"));
            put("Pia Pohl_118", version("random.py", "Pia"));
        }
        2 => {
            // Renamed, and nothing else.
            let renamed = version("random.js", "Dana");
            put(
                "Dana Diaz_104",
                vec![("My Bot.js".to_owned(), renamed[0].1.clone())],
            );
            put("Jan Jung_112", version("safe.py", "Jan 2"));
            put("Quin Quist_119", version("wins.py", "Quin"));
            put("Rob Rohr_120", version("greedy.py", "Rob"));
        }
        4 => {
            // Another name in the download alone, and another program for two.
            if let Some(of_eve) = class.remove("Eve Evans_105") {
                class.insert("Eve Evans-Ott_105", of_eve);
            }
            for name in ["Uli Uhl_123", "Vera Volk_124"] {
                class.insert(name, (day, version("wins.py", "copied")));
            }
        }
        5 => {
            class.remove("Cem Can_103");
            class.insert(
                "Tom Tal_122",
                (day, version("greedy.py", "the owls, by the partner")),
            );
        }
        _ => {
            put("Finn Fox_106", version("greedy.py", "Finn 2"));
            // As it was in the first week.
            put("Anna Adams_101", version("random.py", "Anna"));
            put("Lea Lang_114", version("random.py", "Lea"));
            let late = version("greedy.py", "Pia, too late");
            class.insert("Pia Pohl_118", (LATE, late));
            let late = version("greedy.py", "Sam, too late");
            class.insert("Sam Sohn_121", (LATE, late));
        }
    }
    Ok(())
}

/// What Moodle makes of it.
fn download(class: &Class, to: &Path) -> Result<(), Failed> {
    let mut zip = ZipWriter::new(File::create(to)?);
    for (student, (day, files)) in class {
        let time = noon(*day)?;
        let options = SimpleFileOptions::default().last_modified_time(time);
        zip.add_directory(format!("{student}_assignsubmission_file_"), options)?;
        for (name, content) in files {
            zip.start_file(format!("{student}_assignsubmission_file_/{name}"), options)?;
            zip.write_all(content)?;
        }
    }
    zip.finish()?;
    Ok(())
}

struct Teacher(TempDir);

impl Teacher {
    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn league(&self, folder: &str, week: usize) -> Referee {
        let deadline = if week < LISTED {
            "2026-01-31"
        } else {
            "2026-02-14"
        };
        let listed = ["--students", "list.csv"];
        let listed = if week < LISTED { &[][..] } else { &listed[..] };
        Referee::new([
            "league",
            folder,
            "--from",
            "submissions.zip",
            "--pairs",
            "1",
        ])
        .args(["--seed", "1", "--jobs", "2", "--deadline", deadline])
        .args(listed)
        .args(["--move-time", "2s", "--start-time", "3s"])
        .directory(self.0.path())
    }

    /// Of the games what does not depend on clocks and on when they were played.
    fn games(&self, folder: &str) -> Result<Vec<String>, Failed> {
        let text = fs::read_to_string(self.path(folder).join("games.jsonl"))?;
        let mut games: Vec<String> = records(&text)
            .into_iter()
            .map(|game| {
                let names = [0, 1].map(|bot| game["bots"][bot]["name"].clone());
                let all = [&game["id"], &game["start"], &game["turns"], &game["result"]];
                format!("{names:?} {}", Value::from(all.map(Value::clone).to_vec()))
            })
            .collect();
        games.sort();
        Ok(games)
    }

    /// Who plays: names and versions.
    fn playing(&self, folder: &str) -> Result<BTreeMap<String, String>, Failed> {
        let plan = fs::read_to_string(self.path(folder).join("plan.json"))?;
        let plan: Value = serde_json::from_str(&plan)?;
        let bots = plan["bots"].as_array().ok_or("no bots")?.iter();
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        Ok(bots
            .map(|bot| (text(&bot["name"]), text(&bot["version"])))
            .collect())
    }
}

/// The games of `now` that were not played by `before`: two for each pairing of a new version. Names may change.
fn new_games(before: &BTreeMap<String, String>, now: &BTreeMap<String, String>) -> usize {
    let kept = now
        .values()
        .filter(|version| before.values().any(|known| known == *version))
        .count();
    now.len() * (now.len() - 1) - kept * kept.saturating_sub(1)
}

fn holds(condition: bool, run: &Run) -> Result<(), Failed> {
    if condition {
        Ok(())
    } else {
        Err(run.to_string().into())
    }
}

fn a_term_is_played() -> Result<(), Failed> {
    let teacher = Teacher(tempfile::tempdir()?);
    let mut random = StdRng::seed_from_u64(1);
    let mut class = Class::new();
    let mut before = BTreeMap::new();
    let mut all: BTreeMap<String, String> = BTreeMap::new();
    for week in 0..WEEKS.len() {
        hand_in(week, &mut class)?;
        download(&class, &teacher.path("submissions.zip"))?;
        if let Some(list) = week.checked_sub(LISTED).and_then(|list| LISTS.get(list)) {
            fs::write(teacher.path("list.csv"), list)?;
        }
        let kills = KILLS / WEEKS.len() + usize::from(week < KILLS % WEEKS.len());
        for _ in 0..kills {
            let running = teacher.league("term", week).start();
            thread::sleep(Duration::from_millis(random.random_range(0..1_500)));
            // As by `kill -9`.
            drop(running);
        }
        let run = teacher.league("term", week).run();
        holds(run.code == Some(0), &run)?;
        let now = teacher.playing("term")?;
        // A league that was not interrupted, with the same submissions, and one that plays this week alone.
        let quiet = teacher.league("quiet", week).run();
        holds(quiet.code == Some(0), &quiet)?;
        let most = new_games(&before, &now);
        // Versions that came back have met all but the new ones.
        let least = new_games(&all, &now);
        let played: usize = quiet
            .last_line()
            .split(' ')
            .next()
            .and_then(|count| count.parse().ok())
            .ok_or("no summary")?;
        holds((least..=most).contains(&played), &quiet)?;
        let kept = now.len() * (now.len() - 1) - played;
        holds(
            quiet.last_line() == format!("{played} new games, {kept} kept"),
            &quiet,
        )?;
        if teacher.playing("quiet")? != now || teacher.games("quiet")? != teacher.games("term")? {
            return Err(format!("week {week}: being killed has changed something").into());
        }
        all.extend(
            now.values()
                .map(|version| (version.clone(), version.clone())),
        );
        before = now;
        if week + 1 == LISTED {
            everybody_is_there(&teacher, &before)?;
            same_as_at_once(&teacher, class.clone(), &before)?;
        }
    }
    people_are_themselves(&teacher, &before)?;
    decisions_hold(&teacher, &before)?;
    everybody_has_a_page(&teacher)
}

/// After the last week, with its list.
fn people_are_themselves(
    teacher: &Teacher,
    playing: &BTreeMap<String, String>,
) -> Result<(), Failed> {
    for (now, before) in [
        ("owls", "Cem Can"),
        ("Dana Diaz-Ruiz", "Dana Diaz"),
        ("Eve Evans-Ott", "Eve Evans"),
        ("Gül Gök", ""),
    ] {
        if !playing.contains_key(now) || playing.contains_key(before) {
            return Err(format!("{now}: {playing:?}").into());
        }
    }
    let table = fs::read_to_string(teacher.path("term/students.csv"))?;
    let rows = table.lines().count();
    if !table.starts_with("\u{feff}name,") || rows != 1 + 24 {
        return Err(format!("{rows} rows:\n{table}").into());
    }
    for words in [
        "\nMissing Mo,,,,0,nothing was handed in",
        ",Vera Volk,\n",
        "not in the list",
    ] {
        if !table.contains(words) {
            return Err(format!("{words:?} is not in\n{table}").into());
        }
    }
    Ok(())
}

/// A bot is withdrawn and brought back, and a game played again, in both leagues.
fn decisions_hold(teacher: &Teacher, playing: &BTreeMap<String, String>) -> Result<(), Failed> {
    let games = teacher.games("term")?;
    let decide = |words: &[&str]| -> Result<(), Failed> {
        let run = Referee::new([&["league"], words].concat())
            .directory(teacher.0.path())
            .run();
        holds(run.code == Some(0), &run)
    };
    let update = |played: usize, kept: usize| -> Result<(), Failed> {
        let run = teacher.league("term", WEEKS.len() - 1).run();
        let new = if played == 1 { "game" } else { "games" };
        holds(
            run.last_line() == format!("{played} new {new}, {kept} kept"),
            &run,
        )
    };
    let n = playing.len();
    decide(&["withdraw", "term", "Rob Rohr", "--why", "copied"])?;
    update(0, (n - 1) * (n - 2))?;
    decide(&["restore", "term", "Rob Rohr"])?;
    update(0, n * (n - 1))?;
    let text = fs::read_to_string(teacher.path("term/games.jsonl"))?;
    let first = records(&text).swap_remove(0);
    let id = first["id"].as_str().ok_or("an id")?;
    decide(&["replay-game", "term", id, "--why", "a dispute"])?;
    update(1, n * (n - 1) - 1)?;
    let log = fs::read_to_string(teacher.path("term/log.jsonl"))?;
    for action in ["renamed", "withdrawn", "restored", "played again"] {
        if !log.contains(&format!("\"{action}\"")) {
            return Err(format!("{action} is not in\n{log}").into());
        }
    }
    if teacher.games("term")? == games {
        Ok(())
    } else {
        Err("decisions have changed other games".into())
    }
}

fn everybody_has_a_page(teacher: &Teacher) -> Result<(), Failed> {
    let run = Referee::new(["report", "term", "--each", "pages"])
        .directory(teacher.0.path())
        .run();
    holds(run.code == Some(0), &run)?;
    for name in ["Gül-Gök", "Kai-Kohl", "owls", "Noa-Nagy", "Max-Muster-109"] {
        let page = fs::read_to_string(teacher.path("pages").join(format!("{name}.html")))?;
        if page.contains("term/bots") || !page.contains("<h2>Fix first</h2>") {
            return Err(format!("{name}: {page}").into());
        }
    }
    Ok(())
}

/// At the end of the term.
fn everybody_is_there(teacher: &Teacher, playing: &BTreeMap<String, String>) -> Result<(), Failed> {
    let names: Vec<&str> = playing.keys().map(String::as_str).collect();
    let expected = [
        "Anna Adams",
        "Ben Brown",
        "Cem Can",
        "Dana Diaz",
        "Eve Evans",
        "Finn Fox",
        "Gül Gök",
        "Hana Hadi",
        "Ida Ivens",
        "Jan Jung",
        "Lea Lang",
        "Max Muster (108)",
        "Max Muster (109)",
        "Ola Olsen",
        "Pia Pohl",
        "Quin Quist",
        "Rob Rohr",
    ];
    if names != expected {
        return Err(format!("{names:?}").into());
    }
    let table = fs::read_to_string(teacher.path("term/students.csv"))?;
    for words in [
        "Ben Brown,",
        "bot.c cannot be built",
        "Kai Kohl,,,,0,",
        "hand in a .zip",
        "Noa Nagy,",
        ",1,it was handed in too late: 2026-02-01T12:00:00Z",
    ] {
        if !table.contains(words) {
            return Err(format!("{words:?} is not in\n{table}").into());
        }
    }
    Ok(())
}

/// The table is that of a tournament of all versions that play, byte for byte.
fn same_as_at_once(
    teacher: &Teacher,
    mut class: Class,
    playing: &BTreeMap<String, String>,
) -> Result<(), Failed> {
    let of_ben = version("random.c", "Ben");
    class.insert("Ben Brown_102", (WEEKS[0], of_ben));
    let of_pia = version("random.py", "Pia");
    class.insert("Pia Pohl_118", (WEEKS[1], of_pia));
    download(&class, &teacher.path("submissions.zip"))?;
    let fresh = teacher.league("fresh", 0).run();
    holds(fresh.code == Some(0), &fresh)?;
    holds(teacher.playing("fresh")? == *playing, &fresh)?;
    for name in ["standings.csv", "crosstable.csv"] {
        // Why somebody did not enter has the folder's name in it.
        let of = |folder: &str| -> Result<Vec<String>, Failed> {
            let text = fs::read_to_string(teacher.path(folder).join(name))?;
            let ranked = text.lines().filter(|line| !line.starts_with(','));
            let moved = text.split(['\n', ',']).position(|cell| cell == "moved");
            // Who has moved since the week before is said in the table of a league only.
            let cells = ranked.map(|line| {
                let mut cells: Vec<&str> = line.split(',').collect();
                if let Some(moved) = moved {
                    cells.remove(moved);
                }
                cells.join(",")
            });
            Ok(cells.collect())
        };
        if of("fresh")? != of("term")? {
            return Err(format!(
                "{name} is not that of a single tournament:\n{:#?}\n{:#?}",
                of("fresh")?,
                of("term")?
            )
            .into());
        }
    }
    Ok(())
}

pub(crate) fn trials() -> Vec<Trial> {
    let name = "term::a term is played";
    for (command, package) in [
        ("python3", "python3"),
        ("gcc", "gcc"),
        ("g++", "g++"),
        ("node", "nodejs"),
        ("perl", "perl"),
        ("ruby", "ruby"),
    ] {
        if program(command, &[]).is_none() {
            return vec![unavailable(name, command, package)];
        }
    }
    vec![Trial::test(name, a_term_is_played)]
}
