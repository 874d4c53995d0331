//! Matches as people run them: real processes, through the built program. Results, seeds,
//! records, clocks, what is shown, and how a match ends before its end.
//!
//! What bots do wrong is in `faults.rs`, what cannot be started in `tests/starting.rs`.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;
use std::thread;
use std::time::Duration;

use crate::common::{self, RECORDS, Referee, Run, Running};
use serde_json::{Value, json};

const RANDOM: [&str; 2] = ["builtin:random", "builtin:random"];

const ENGLISH: &str = "../../sets/english.csv";
const DUTCH: &str = "../../sets/dutch.csv";

/// A match of the built-in random player against itself.
fn random(seed: u64) -> Referee {
    Referee::new(["--seed", &seed.to_string()]).args(RANDOM)
}

/// `script.sh` with these answers, each a line.
fn script(answers: &[&str]) -> String {
    let answers = answers.iter().map(|answer| format!(r"{answer}\n"));
    shell_words::join(["./script.sh".to_owned()].into_iter().chain(answers))
}

/// A match between two scripts, BOT1 begins.
fn scripts(one: &[&str], two: &[&str]) -> Referee {
    Referee::new(["--seed", "1", "--first", "1", "--name1", "anna"])
        .args(["--name2", "bob", &script(one), &script(two)])
        .recorded()
}

#[track_caller]
fn succeeded(run: &Run) {
    assert_eq!(run.code, Some(0), "{run}");
}

/// Checks that nothing was played, and what was said.
#[track_caller]
fn refused(run: &Run, parts: &[&str]) {
    assert_eq!(run.code, Some(2), "{run}");
    assert_eq!(run.stdout, "", "{run}");
    assert!(run.stderr.ends_with('\n'), "{run}");
    for part in parts {
        assert!(run.stderr.contains(part), "`{part}` is missing\n{run}");
    }
}

/// The records of a run, without what depends on the time of day and the machine.
fn timeless(run: &Run) -> Vec<Value> {
    let mut records = run.records();
    for record in &mut records {
        let fields = record.as_object_mut().expect("an object");
        fields.remove("times_ms").expect("times");
        fields.remove("started").expect("a time");
        fields.remove("usage");
    }
    records
}

/// Who began, in each game.
fn firsts(run: &Run) -> Vec<u64> {
    let records = run.records();
    let first = |record: &Value| record["first"].as_u64().expect("an index");
    records.iter().map(first).collect()
}

#[track_caller]
fn only(run: &Run) -> Value {
    let [record] = &run.records()[..] else {
        panic!("not one record\n{run}");
    };
    record.clone()
}

/// Checks all records of a run against the rules.
#[track_caller]
fn replays(run: &Run) {
    let replay = Referee::new(["replay", "--quiet"])
        .args([run.scratch().join(RECORDS)])
        .run();
    assert_eq!(replay.code, Some(0), "{replay}\n{run}");
    assert_eq!(replay.stdout, "", "{replay}");
}

// Results

#[test]
fn the_result_is_the_last_line() {
    let run = scripts(&["- A", "2 C", "4 -"], &["1 B", "3 D"]).run();
    succeeded(&run);
    assert_eq!(run.stdout, "anna wins: H1 square, H1 hollow.\n", "{run}");
    let record = only(&run);
    assert_eq!(record["turns"], json!(["- A", "1 B", "2 C", "3 D", "4 -"]));
    assert_eq!(
        record["result"],
        json!({"winner": 0, "reason": "quarto", "lines": [["H1", "square"], ["H1", "hollow"]]})
    );
    replays(&run);
    // Also with everything that can be shown before it.
    let run = scripts(&["- A", "2 C", "4 -"], &["1 B", "3 D"])
        .args(["-vv"])
        .run();
    assert_eq!(run.last_line(), "anna wins: H1 square, H1 hollow.", "{run}");
}

#[test]
fn one_placement_completes_two_lines() {
    // The gift may be missing, and is ignored whatever it is.
    for answer in ["15", "15 A", "15 -", "15 N", "15 Z", "15 quarto!"] {
        let run = scripts(&["- A"], &[answer])
            .args(["--start", "N.B...JO.FDLME.G"])
            .run();
        succeeded(&run);
        assert_eq!(run.stdout, "bob wins: H4 big, V3 square.\n", "{run}");
        let record = only(&run);
        assert_eq!(record["start"], "N.B...JO.FDLME.G", "{run}");
        assert_eq!(record["turns"], json!(["- A", "15 -"]), "{run}");
        assert_eq!(record["result"]["winner"], 1, "{run}");
        replays(&run);
    }
}

#[test]
fn a_draw() {
    let run = Referee::new(["--seed", "1", "./drawn.sh", "./drawn.sh"])
        .recorded()
        .run();
    succeeded(&run);
    assert_eq!(run.stdout, "Draw.\n", "{run}");
    assert_eq!(run.stderr, "", "{run}");
    let record = only(&run);
    assert_eq!(
        record["result"],
        json!({"winner": null, "reason": "draw", "lines": []})
    );
    assert_eq!(record["turns"][16], "16 -", "{run}");
    replays(&run);
}

#[test]
fn a_forfeit() {
    let run = scripts(&["- A", "1 C"], &["1 B"]).run();
    succeeded(&run);
    let line = "bob wins: anna forfeits (illegal-move).\n";
    assert_eq!(run.stdout, line, "{run}");
    replays(&run);
}

#[test]
fn several_games() {
    let run = Referee::new(["--seed", "1", "-n", "3", "./drawn.sh", "./drawn.sh"])
        .recorded()
        .run();
    succeeded(&run);
    assert_eq!(
        run.stdout,
        "Draw.\nDraw.\nDraw.\n\
         Elo difference: drawn.sh#1 0 (-840 to 840, 95%).\n\
         Moving first: drawn.sh#1 0.5 of 1, drawn.sh#2 1 of 2.\n\
         Forfeits: none.\n\
         Score: drawn.sh#1 1.5 - 1.5 drawn.sh#2 (0 wins, 3 draws, 0 losses in 3 games).\n",
        "{run}"
    );
    replays(&run);

    let run = random(5).args(["--games", "40"]).recorded().run();
    succeeded(&run);
    let lines: Vec<&str> = run.stdout.lines().collect();
    assert_eq!(lines.len(), 44, "{run}");
    let mut counts = [0, 0, 0];
    for (line, record) in lines.iter().zip(run.records()) {
        let (outcome, start) = match record["result"]["winner"].as_u64() {
            Some(0) => (0, "builtin:random#1 wins: "),
            Some(_) => (2, "builtin:random#2 wins: "),
            None => (1, "Draw."),
        };
        counts[outcome] += 1;
        assert!(line.starts_with(start) && line.ends_with('.'), "{run}");
    }
    let [wins, draws, losses] = counts;
    let counts = format!("({wins} wins, {draws} draws, {losses} losses in 40 games).");
    assert!(run.last_line().starts_with("Score: builtin:random#1 "));
    assert!(run.last_line().ends_with(&counts), "{counts}\n{run}");
    let ids: BTreeSet<String> = run.records().iter().map(|r| r["id"].to_string()).collect();
    assert_eq!(ids.len(), 40, "{run}");
}

// Who begins

/// The referee is stopped while a bot thinks, until its time is over: the bot had answered.
#[test]
fn a_clock_that_ran_out_while_the_referee_stood_still() {
    let bots = ["./slow-answers.sh", "./slow-answers.sh"];
    let options = ["--seed", "4", "--move-time", "900ms"];
    let referee = Referee::new([&bots[..], &options].concat()).recorded();
    let mut running = referee.start();
    running
        .wait_until(|scratch| fs::metadata(scratch.join("asked")).is_ok_and(|meta| meta.len() > 6));
    running.signal("STOP");
    thread::sleep(Duration::from_millis(1500));
    running.signal("CONT");
    let run = running.finish();
    succeeded(&run);
    assert!(
        run.stderr.contains("the game is void and is played again"),
        "{run}"
    );
    let record = only(&run);
    assert!(record["voids"].as_u64() >= Some(1), "{run}");
    assert!(record["result"].get("by").is_none(), "{run}");
    replays(&run);
}

#[test]
fn who_begins_alternates() {
    for (first, expected) in [("1", [0, 1, 0, 1, 0]), ("2", [1, 0, 1, 0, 1])] {
        for restart in [&[][..], &["--restart"]] {
            let run = random(1)
                .args(["-n", "5", "--first", first])
                .args(restart)
                .recorded()
                .run();
            succeeded(&run);
            assert_eq!(firsts(&run), expected, "{run}");
        }
    }
}

#[test]
fn the_lot_depends_on_the_seed_only() {
    let mut drawn = BTreeSet::new();
    for seed in 0..8 {
        let lot = |more: &[&str]| firsts(&random(seed).args(more).recorded().run());
        let usual = lot(&[]);
        assert_eq!(lot(&["--first", "random"]), usual, "seed {seed}");
        let other = lot(&["-n", "3", "--restart", "--rules", "squares"]);
        assert_eq!(other[0], usual[0], "seed {seed}");
        assert_eq!(other, [usual[0], 1 - usual[0], usual[0]], "seed {seed}");
        let seed = seed.to_string();
        let bots = Referee::new(["--seed", &seed, "./drawn.sh", "builtin:greedy"]);
        assert_eq!(firsts(&bots.recorded().run()), usual, "seed {seed}");
        drawn.insert(usual[0]);
    }
    assert_eq!(drawn, BTreeSet::from([0, 1]));
}

#[test]
fn in_four_in_a_row_bot1_begins() {
    let mut drawn = BTreeSet::new();
    for seed in 0..8 {
        let four = || random(seed).args(["--game", "four-in-a-row"]).recorded();
        assert_eq!(firsts(&four().run()), [0]);
        assert_eq!(firsts(&four().args(["--first", "2"]).run()), [1]);
        drawn.extend(firsts(&four().args(["--first", "random"]).run()));
    }
    assert_eq!(drawn, BTreeSet::from([0, 1]));
}

#[test]
fn four_in_a_row() {
    let run = random(3)
        .args(["--game", "four-in-a-row", "-n", "20"])
        .recorded()
        .run();
    succeeded(&run);
    let columns: Vec<String> = (1..=7).map(|column| column.to_string()).collect();
    for (i, record) in run.records().iter().enumerate() {
        assert_eq!(record["game"], "four-in-a-row", "{run}");
        assert_eq!(record["first"], i % 2, "{run}");
        for turn in record["turns"].as_array().expect("turns") {
            let turn = turn.as_str().expect("a turn");
            assert!(columns.iter().any(|column| column == turn), "{run}");
        }
    }
    replays(&run);
}

// Seeds

#[test]
fn a_seed_repeats_a_match() {
    for restart in [&[][..], &["--restart"]] {
        let play = |seed| {
            random(seed)
                .args(["-n", "6"])
                .args(restart)
                .recorded()
                .run()
        };
        let (one, again, other) = (play(7), play(7), play(8));
        succeeded(&one);
        assert_eq!(timeless(&one), timeless(&again), "{one}\n{again}");
        assert_eq!(one.stdout, again.stdout);
        let turns = |run: &Run| run.records().iter().map(|r| r["turns"].clone()).collect();
        let (one, other): (Vec<Value>, Vec<Value>) = (turns(&one), turns(&other));
        assert_ne!(one, other);
        // No two games of a match are the same, and no two of the matches.
        let games: BTreeSet<String> = one.iter().chain(&other).map(Value::to_string).collect();
        assert_eq!(games.len(), 12);
    }
}

#[test]
fn a_drawn_seed_is_told_and_repeats_the_match() {
    let play = |seed: &[&str]| {
        Referee::new(RANDOM)
            .args(["-n", "3"])
            .args(seed)
            .recorded()
            .run()
    };
    let run = play(&[]);
    succeeded(&run);
    let seed = run.stderr.strip_prefix("referee: seed ").map(str::trim_end);
    let seed = seed.unwrap_or_else(|| panic!("no seed\n{run}"));
    assert_eq!(run.records()[0]["seed"].to_string(), seed, "{run}");
    let again = play(&["--seed", seed]);
    assert_eq!(again.stderr, "", "{again}");
    assert_eq!(timeless(&run), timeless(&again), "{run}\n{again}");
    // Two draws of 32 bits hardly ever meet.
    assert_ne!(run.stderr, play(&[]).stderr);
}

// Many games

/// What a process holds at a moment.
#[derive(Clone, Copy, Debug, Default)]
struct Holds {
    /// Its own memory, in KiB: without the pages of the program's file, of which the system
    /// keeps more or fewer as it likes.
    memory: u64,
    files: usize,
    children: usize,
}

impl Holds {
    /// `None` when the process is gone.
    #[cfg(target_os = "linux")]
    fn look(pid: u32) -> Option<Self> {
        let process = Path::new("/proc").join(pid.to_string());
        let status = fs::read_to_string(process.join("status")).ok()?;
        let memory = status
            .lines()
            .find_map(|line| line.strip_prefix("RssAnon:"))?;
        let children = process.join("task").join(pid.to_string()).join("children");
        Some(Self {
            memory: memory.trim().trim_end_matches(" kB").parse().ok()?,
            files: fs::read_dir(process.join("fd")).ok()?.count(),
            // Zombies are children, too.
            children: fs::read_to_string(children).ok()?.split(' ').count() - 1,
        })
    }

    fn max(self, other: Self) -> Self {
        Self {
            memory: self.memory.max(other.memory),
            files: self.files.max(other.files),
            children: self.children.max(other.children),
        }
    }
}

/// The most that it holds in the first third of its games, but for the first tenth, and in the
/// last half.
#[cfg(target_os = "linux")]
fn held(running: &mut Running, games: usize) -> [Holds; 2] {
    let records = running.scratch().join(RECORDS);
    let mut held = [Holds::default(); 2];
    // A line of the record file is about this long.
    let size = |games: usize| 500 * games as u64;
    while running.is_running() {
        let written = fs::metadata(&records).map_or(0, |file| file.len());
        if let Some(holds) = Holds::look(running.id()) {
            if (size(games / 10)..size(games / 3)).contains(&written) {
                held[0] = held[0].max(holds);
            } else if written > size(games / 2) {
                held[1] = held[1].max(holds);
            }
        }
        std::thread::sleep(Duration::from_millis(2));
    }
    held
}

/// Checks that nothing grows over a match of so many games.
#[cfg(target_os = "linux")]
#[track_caller]
fn holds_no_more(held: [Holds; 2]) {
    let [early, late] = held;
    assert!(early.memory > 0 && late.memory > 0, "not seen: {held:?}");
    // A single KiB a game would be 10 MB.
    assert!(late.memory <= early.memory + 1024, "{held:?}");
    assert!(late.files <= early.files + 6, "{held:?}");
    // The bots, and what ends them if the referee is killed.
    assert!(early.children <= 3 && late.children <= 3, "{held:?}");
}

/// Without optimization a second match of that many games takes too long.
const AGAIN: usize = if cfg!(debug_assertions) {
    1_000
} else {
    10_000
};

/// The same as [`timeless`], but without reading the JSON.
fn timeless_lines(run: &Run) -> Vec<String> {
    let timeless = |line: &str| {
        let (turns, rest) = line.split_once(r#","times_ms":"#)?;
        let (_, result) = rest.split_once(r#","result":"#)?;
        let (result, _) = result.split_once(r#","started":"#)?;
        Some(format!("{turns} {result}"))
    };
    let records = run.file(RECORDS);
    let lines = records
        .lines()
        .map(|line| timeless(line).expect("a record"));
    lines.collect()
}

#[test]
fn a_match_of_thousands_of_games() {
    let play = |games: usize| {
        random(2026)
            .args(["-n", &games.to_string()])
            .recorded()
            .start()
    };
    let mut running = play(3_000);
    #[cfg(target_os = "linux")]
    holds_no_more(held(&mut running, 3_000));
    let _ = running.is_running();
    let run = running.finish();
    succeeded(&run);
    assert_eq!(run.stdout.lines().count(), 3_004);
    replays(&run);
    let records = timeless_lines(&run);
    assert_eq!(records.len(), 3_000);
    let again = timeless_lines(&play(AGAIN).finish());
    assert_eq!(again.len(), AGAIN);
    // Not `assert_eq`, whose message would be megabytes.
    assert!(records[..AGAIN] == again, "another match by the same seed");
}

#[test]
fn fresh_processes_for_every_game() {
    let play = || random(2026).args(["-n", "150", "--restart"]).recorded();
    let mut running = play().start();
    #[cfg(target_os = "linux")]
    holds_no_more(held(&mut running, 150));
    let _ = running.is_running();
    let run = running.finish();
    succeeded(&run);
    assert_eq!(run.records().len(), 150);
    replays(&run);
}

#[test]
fn restart_starts_fresh_processes() {
    for (options, starts) in [(&[][..], 1), (&["--restart"], 4)] {
        let run = Referee::new(["--seed", "1", "-n", "4"])
            .args(["./environment.sh bot", "builtin:random"])
            .args(options)
            .run();
        succeeded(&run);
        assert_eq!(run.file("pids").lines().count(), starts, "{run}");
    }
}

// Records

fn keys(value: &Value) -> Vec<&str> {
    let object = value.as_object().expect("an object");
    object.keys().map(String::as_str).collect()
}

/// Checks a record's fields, their order and their types.
#[track_caller]
fn is_a_record(record: &Value, pieces: bool) {
    let mut expected = vec![
        "v", "game", "rules", "id", "bots", "first", "seed", "start", "pieces", "turns",
        "times_ms", "result", "started",
    ];
    // What the bots used is known on Linux only, and nothing when they did not play.
    let detail = record["result"]["detail"].as_str().unwrap_or_default();
    if cfg!(all(target_os = "linux", not(portable))) && !detail.starts_with("not played") {
        expected.push("usage");
    }
    if !detail.starts_with("not played") {
        expected.push("processes");
    }
    expected.retain(|&key| pieces || key != "pieces");
    assert_eq!(keys(record), expected, "{record}");
    assert_eq!(record["v"], 1, "{record}");
    for text in ["game", "rules", "id", "start", "started"] {
        assert!(record[text].is_string(), "{text}: {record}");
    }
    assert!(record["seed"].is_u64(), "{record}");
    let started = record["started"].as_str().expect("a time");
    let parsed: Result<jiff::Timestamp, _> = started.parse();
    assert!(parsed.is_ok() && started.len() == 20, "{record}");
    assert!(started.ends_with('Z'), "{record}");
    let bots = record["bots"].as_array().expect("bots");
    assert_eq!(bots.len(), 2, "{record}");
    for bot in bots {
        assert_eq!(keys(bot), ["name", "command"], "{record}");
        assert!(bot["name"].is_string(), "{record}");
        let words = bot["command"].as_array().expect("words");
        assert!(words.iter().all(Value::is_string), "{record}");
    }
    let turns = record["turns"].as_array().expect("turns");
    assert!(turns.iter().all(Value::is_string), "{record}");
    let times = record["times_ms"].as_array().expect("times");
    assert_eq!(times.len(), turns.len(), "{record}");
    for time in times {
        assert!(time.as_f64().is_some_and(|ms| ms >= 0.0), "{record}");
    }
    let result = &record["result"];
    let forfeit = [
        "winner", "reason", "lines", "by", "answer", "detail", "stderr", "played",
    ];
    let fields = match (result.get("by"), result.get("played")) {
        (None, _) => 3,
        (Some(_), None) => 7,
        // Only a game that is not played says so.
        (Some(_), Some(played)) => {
            assert_eq!(played, false, "{record}");
            8
        }
    };
    let expected = &forfeit[..fields];
    assert_eq!(keys(result), expected, "{record}");
    assert!(result["reason"].is_string(), "{record}");
    assert!(result["lines"].is_array(), "{record}");
    if fields > 3 {
        assert!(result["by"].is_u64(), "{record}");
        for text in ["answer", "detail", "stderr"] {
            assert!(result[text].is_string(), "{text}: {record}");
        }
    }
}

#[test]
fn json_prints_records_and_nothing_else() {
    for options in [
        &["--json"][..],
        &["--json", "-vv"],
        &["--json", "-n", "5"],
        &["--json", "--game", "four-in-a-row"],
        &["--json", "--pieces", ENGLISH],
        &["--json", "--rules", "squares"],
    ] {
        let run = random(1).args(options).recorded().run();
        succeeded(&run);
        // What is printed is what is written.
        assert_eq!(run.stdout, run.file(RECORDS), "{run}");
        for record in run.printed_records() {
            is_a_record(&record, false);
        }
    }
    let run = scripts(&["- A", "1 C"], &["1 B"]).args(["--json"]).run();
    assert_eq!(run.stdout, run.file(RECORDS), "{run}");
    is_a_record(&run.printed_records()[0], false);
    assert_eq!(run.printed_records()[0]["result"]["by"], 0, "{run}");
}

#[test]
fn the_words_of_a_record() {
    let run = scripts(&["- A", "2 C", "4 -"], &["1 B", "3 D"])
        .args(["--json", "--rules", "squares"])
        .run();
    let mut record = only(&run);
    assert!(record["id"].as_str().is_some_and(|id| !id.is_empty()));
    for field in ["times_ms", "started", "id", "usage"] {
        record.as_object_mut().expect("an object").remove(field);
    }
    assert_eq!(
        record,
        json!({
            "v": 1,
            "game": "quarto",
            "rules": "squares",
            "bots": [
                {"name": "anna", "command": ["./script.sh", r"- A\n", r"2 C\n", r"4 -\n"]},
                {"name": "bob", "command": ["./script.sh", r"1 B\n", r"3 D\n"]},
            ],
            "first": 0,
            "seed": 1,
            "start": "................",
            "turns": ["- A", "1 B", "2 C", "3 D", "4 -"],
            "result": {
                "winner": 0,
                "reason": "quarto",
                "lines": [["H1", "square"], ["H1", "hollow"]],
            },
            "processes": [
                {"seed": 744_800_165, "move_time": 10.0},
                {"seed": 1_492_244_497, "move_time": 10.0},
            ],
        })
    );
}

#[test]
fn a_record_holds_its_piece_set() {
    let run = random(1).args(["--pieces", DUTCH]).recorded().run();
    succeeded(&run);
    let record = only(&run);
    is_a_record(&record, true);
    let csv = fs::read_to_string(common::bots().join(DUTCH)).expect("the set");
    assert_eq!(record["pieces"], csv, "{run}");
    replays(&run);
    // It explains itself: the set's words are in the result.
    let words: Vec<&str> = csv.split([',', '\n']).collect();
    let won = record["result"]["lines"][0][1].as_str().expect("a word");
    assert!(words.contains(&won), "{run}");
    // The built-in set's file is the built-in set.
    let run = random(1).args(["--pieces", ENGLISH]).recorded().run();
    assert_eq!(only(&run).get("pieces"), None, "{run}");
}

#[test]
fn records_are_appended() {
    let directory = tempfile::tempdir().expect("a directory");
    let file = directory.path().join("games.jsonl");
    let play = |seed: u64, games: &str| {
        let run = random(seed)
            .args(["-n", games, "--record"])
            .args([&file])
            .run();
        succeeded(&run);
        run
    };
    play(1, "2");
    let before = fs::read_to_string(&file).expect("records");
    play(2, "3");
    let after = fs::read_to_string(&file).expect("records");
    assert!(after.starts_with(&before));
    assert_eq!(after.lines().count(), 5);

    // A crash leaves half a line. It is kept, but not glued to the next record.
    for (half, all_cut) in [
        (r#"{"v":1,"ga"#, "{\"v\":1,\"ga\n"),
        ("x", "{\"v\":1,\"ga\nx\n"),
    ] {
        let before = fs::read_to_string(&file).expect("records");
        fs::write(&file, format!("{before}{half}")).expect("written");
        let run = play(3, "1");
        assert!(run.stderr.contains("games.jsonl.cut"), "{run}");
        let after = fs::read_to_string(&file).expect("records");
        let added = after.strip_prefix(&before).expect("what was there");
        assert_eq!(added.lines().count(), 1, "{added}");
        let cut = directory.path().join("games.jsonl.cut");
        assert_eq!(fs::read_to_string(cut).expect("the rest"), all_cut);
    }
    let replay = Referee::new(["replay", "-q"]).args([&file]).run();
    assert_eq!(replay.stderr, "7 games checked: all follow the rules\n");

    // Nothing but half a line.
    fs::write(&file, "{").expect("written");
    play(4, "1");
    assert_eq!(
        fs::read_to_string(&file).expect("records").lines().count(),
        1
    );
}

#[test]
fn a_record_file_that_cannot_be_opened() {
    for path in ["/nonexistent/games.jsonl", "."] {
        let run = random(1).args(["--record", path]).run();
        refused(&run, &[&format!("referee: {path}: ")]);
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk() {
    let run = random(1).args(["--record", "/dev/full"]).run();
    assert_eq!(run.code, Some(1), "{run}");
    let sentence = "referee: /dev/full: cannot write the record: no space is left on the disk";
    assert!(run.stderr.starts_with(sentence), "{run}");
    assert_eq!(run.stderr.lines().count(), 1, "{run}");
    assert_eq!(run.stdout, "", "{run}");
}

/// The disk becomes full in the middle of a line: what is there stays whole.
#[test]
fn a_disk_that_becomes_full() {
    let limit = "trap '' XFSZ; ulimit -f 3; exec \"$0\" \"$@\"";
    let run = random(1).args(["-n", "50"]).shell(limit).recorded().run();
    assert_eq!(run.code, Some(1), "{run}");
    let sentence = "records.jsonl: cannot write the record: ";
    assert!(run.stderr.contains(sentence), "{run}");
    let records = run.file(RECORDS);
    assert!(records.ends_with("}\n"), "{run}");
    // Each result that was printed is of a game that is recorded.
    assert_eq!(run.stdout.lines().count(), run.records().len(), "{run}");
    replays(&run);
}

// What bots are told

/// What a bot called `name` found in its environment.
fn environment(run: &Run, name: &str) -> BTreeMap<String, String> {
    let found = run.file(&format!("environment-{name}"));
    let pairs = found.lines().filter_map(|line| line.split_once('='));
    pairs
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
        .filter(|(name, _)| name != "REFEREE_BIN")
        .collect()
}

#[test]
fn the_environment() {
    let play = |options: &[&str]| {
        let run = Referee::new(["--seed", "1", "./environment.sh 1", "./environment.sh 2"])
            .args(options)
            .run();
        succeeded(&run);
        let [one, two] = ["1", "2"].map(|bot| environment(&run, bot));
        let differ: Vec<&String> = one.keys().filter(|key| one[*key] != two[*key]).collect();
        assert_eq!(differ, ["REFEREE_SEED"], "{run}");
        for bot in [&one, &two] {
            let seed: i64 = bot["REFEREE_SEED"].parse().expect("a number");
            assert!((0..1 << 31).contains(&seed), "{seed}");
        }
        one
    };
    let names =
        |found: &BTreeMap<String, String>| -> Vec<String> { found.keys().cloned().collect() };
    let usual = [
        "REFEREE_GAME",
        "REFEREE_MOVE_TIME",
        "REFEREE_RULES",
        "REFEREE_SEED",
    ];

    let found = play(&[]);
    assert_eq!(names(&found), usual);
    let without = play(&["--move-time", "none"]);
    assert_eq!(names(&without), [usual[0], usual[2], usual[3]]);
    assert_eq!(found["REFEREE_GAME"], "quarto");
    assert_eq!(found["REFEREE_RULES"], "standard");
    assert_eq!(found["REFEREE_MOVE_TIME"], "10");

    let found = play(&[
        "--rules",
        "squares",
        "--move-time",
        "1500ms",
        "--pieces",
        ENGLISH,
    ]);
    assert_eq!(names(&found), usual);
    assert_eq!(found["REFEREE_RULES"], "squares");
    assert_eq!(found["REFEREE_MOVE_TIME"], "1.5");

    let found = play(&["--game", "four-in-a-row"]);
    assert_eq!(names(&found), usual);
    assert_eq!(found["REFEREE_GAME"], "four-in-a-row");

    let found = play(&["--pieces", DUTCH]);
    let path = Path::new(&found["REFEREE_PIECES"]);
    assert!(path.is_absolute(), "{}", path.display());
    let dutch = fs::read(common::bots().join(DUTCH)).expect("the set");
    assert_eq!(fs::read(path).expect("the set"), dutch);
    assert_eq!(names(&found).len(), usual.len() + 1);
}

#[test]
fn seeds_of_bots() {
    let seed = |options: &[&str]| {
        let run = Referee::new(["./environment.sh 1", "builtin:random"])
            .args(options)
            .run();
        environment(&run, "1")
            .remove("REFEREE_SEED")
            .expect("a seed")
    };
    let usual = seed(&["--seed", "9"]);
    assert_eq!(seed(&["--seed", "9"]), usual);
    assert_eq!(seed(&["--seed", "9", "--first", "1"]), usual);
    assert_eq!(seed(&["--seed", "9", "--first", "2"]), usual);
    assert_ne!(seed(&["--seed", "10"]), usual);
    // A fresh process for another game has another one. The last one is seen.
    assert_ne!(seed(&["--seed", "9", "-n", "2", "--restart"]), usual);
}

/// Elsewhere there is no such clock.
#[cfg(all(target_os = "linux", not(portable)))]
#[test]
fn a_clock_of_processor_time_needs_a_limit() {
    let play = |options: &[&str]| random(1).args(["--clock", "cpu"]).args(options).run();
    let run = play(&["--move-time", "none"]);
    assert_eq!(run.code, Some(2), "{run}");
    let sentence = "--clock cpu measures CPU time against a limit";
    assert!(run.stderr.contains(sentence), "{run}");
    succeeded(&play(&["--move-time", "none", "--game-time", "1m"]));
}

/// What the referee was given itself means nothing to its bots.
#[test]
fn the_referees_own_environment() {
    let run = random(1)
        .env("REFEREE_GAME", "four-in-a-row")
        .env("REFEREE_RULES", "squares")
        .env("REFEREE_SEED", "x")
        .env("REFEREE_MOVE_TIME", "x")
        .recorded()
        .run();
    assert_eq!(
        timeless(&run),
        timeless(&random(1).recorded().run()),
        "{run}"
    );
}

#[test]
fn the_referees_own_piece_set() {
    let run = Referee::new(["--seed", "1", "./environment.sh 1", "builtin:random"])
        .env("REFEREE_PIECES", "/nonexistent.csv")
        .recorded()
        .run();
    assert_eq!(environment(&run, "1").get("REFEREE_PIECES"), None, "{run}");
    assert_eq!(only(&run)["result"].get("by"), None, "{run}");
}

// Editions of the game

#[test]
fn a_prepared_board() {
    let run = random(1)
        .args(["--start", "A.......P.......", "-n", "4"])
        .recorded()
        .run();
    succeeded(&run);
    for record in run.records() {
        assert_eq!(record["start"], "A.......P.......", "{run}");
        // Then the first one only gives, as ever.
        let opening = record["turns"][0].as_str().expect("a turn");
        assert!(opening.starts_with("- "), "{run}");
    }
    replays(&run);
    for (board, problem) in [
        ("", "found 0"),
        ("ABC", "found 3"),
        ("A................", "found 17"),
        ("AA..............", "the piece A stands on cells 1 and 2"),
        ("ABCD............", "a quarto already, H1 square"),
        ("...Z............", "cell 4 holds `Z`"),
        ("---------------A", "cell 1 holds `-`"),
        ("IONGCABMHEDJPLKF", "no cell is free"),
    ] {
        let run = random(1).args(["--start", board]).run();
        refused(&run, &[&format!("--start `{board}`: "), problem]);
    }
    // It is a board of the game and of the set that are played.
    let run = random(1)
        .args(["--game", "four-in-a-row", "--start", "................"])
        .run();
    refused(&run, &["--start `................`: ", "42"]);
    let run = random(1)
        .args(["--rules", "squares", "--start", "AB..CD.........."])
        .run();
    refused(&run, &["a quarto already, S1"]);
    succeeded(&random(1).args(["--start", "AB..CD.........."]).run());
}

#[test]
fn a_piece_in_hand_at_the_start() {
    for rules in ["standard", "squares"] {
        let play = || {
            let start = ["--start", "A..B............ C", "-n", "4", "--first", "1"];
            let referee = random(1).args(["--rules", rules]).args(start);
            referee.args(["-vv", "--restart"]).recorded().run()
        };
        let run = play();
        succeeded(&run);
        assert!(
            run.stdout
                .contains("  -> builtin:random#1: A..B............ C\n"),
            "{run}"
        );
        for (record, first) in run.records().iter().zip([0, 1, 0, 1]) {
            common::schema::RECORD.check(record);
            assert_eq!(record["start"], "A..B............ C", "{run}");
            // Whoever begins places it.
            assert_eq!(record["first"], first, "{run}");
            let opening = record["turns"][0].as_str().expect("a turn");
            assert!(!opening.starts_with('-'), "{run}");
        }
        replays(&run);
        assert_eq!(timeless(&run), timeless(&play()), "{run}");
    }
    // It can win at once, and be the last piece.
    let run = scripts(&["4"], &[])
        .args(["--start", "ABC............. D"])
        .run();
    assert_eq!(run.last_line(), "anna wins: H1 square, H1 hollow.", "{run}");
    // Nothing in hand is a board, and is recorded as one.
    let none = ["--start", "A..B............ -"];
    let run = random(1).args(none).recorded().run();
    assert_eq!(only(&run)["start"], "A..B............", "{run}");
    for (start, problem) in [
        (
            "A..B............ A",
            "the piece A is in hand, but it stands on cell 1",
        ),
        (
            "A..B............ Z",
            "`Z` is in hand, which is not a piece of this set",
        ),
        ("A..B............ .", "`.` is in hand, which is not a piece"),
        (
            "A..B............ CD",
            "`CD` is in hand, which is not a piece of this set; expected a piece or `-`",
        ),
        (
            "A..B............ C D",
            "`C D` is in hand, which is not a piece",
        ),
        ("A..B............ ", "`` is in hand, which is not a piece"),
        ("A..B........... C", "found 15"),
        ("ABCD............ E", "a quarto already, H1 square"),
        ("AA.............. E", "the piece A stands on cells 1 and 2"),
        ("IONGCABMHEDJPLKF -", "no cell is free"),
    ] {
        let run = random(1).args(["--start", start]).run();
        refused(&run, &[&format!("--start `{start}`: "), problem]);
    }
}

#[test]
fn squares_count_by_the_rules_squares_only() {
    let play = |rules: &str| {
        scripts(&["- A", "2 C", "6"], &["1 B", "5 D"])
            .args(["--rules", rules])
            .run()
    };
    let run = play("squares");
    assert_eq!(run.stdout, "anna wins: S1 square, S1 hollow.\n", "{run}");
    replays(&run);
    // By the other rules the game goes on, and a gift is due.
    let run = play("standard");
    assert_eq!(
        run.stdout, "bob wins: anna forfeits (malformed).\n",
        "{run}"
    );
}

#[test]
fn another_piece_set() {
    let run = scripts(&["- A", "2 C", "4"], &["1 B", "3 D"])
        .args(["--pieces", DUTCH])
        .run();
    assert_eq!(run.stdout, "anna wins: H1 vierkant, H1 hol.\n", "{run}");
    replays(&run);
    refused(
        &random(1).args(["--pieces", "no-such.csv"]).run(),
        &["referee: no-such.csv: ", "; check the spelling"],
    );
    refused(&random(1).args(["--pieces", "."]).run(), &["referee: .: "]);
    refused(
        &random(1).args(["--pieces", "script.sh"]).run(),
        &["referee: script.sh: line 1, column "],
    );
}

#[test]
fn a_set_that_only_suits_drawings() {
    let csv = fs::read_to_string(common::bots().join(ENGLISH)).expect("the set");
    for symbol in [".", "-"] {
        let directory = tempfile::tempdir().expect("a directory");
        let file = directory.path().join("set.csv");
        fs::write(&file, csv.replace("\nC,", &format!("\n{symbol},"))).expect("written");
        let run = random(1).args(["--pieces"]).args([&file]).run();
        refused(
            &run,
            &[
                "set.csv: line 4, column 1: ",
                &format!("'{symbol}' cannot stand for a piece"),
            ],
        );
        let board = Referee::new(["pieces", "--pieces"]).args([&file]).run();
        succeeded(&board);
    }
}

// Clocks

#[test]
fn a_game_clock() {
    let play = |clock: &[&str]| {
        Referee::new([
            "--seed",
            "1",
            "--first",
            "2",
            "./drawn.sh 0.1",
            "./drawn.sh",
        ])
        .args(clock)
        .recorded()
        .run()
    };
    // 8 answers of 0.1 s
    let run = play(&["--game-time", "350ms"]);
    succeeded(&run);
    let result = &only(&run)["result"];
    assert_eq!(result["reason"], "timeout", "{run}");
    assert_eq!(result["by"], 0, "{run}");
    assert!(run.stderr.contains("left on its clock"), "{run}");
    let turns = only(&run)["turns"].as_array().map(Vec::len);
    // The first answer may take as long as a start.
    assert!((2..=9).contains(&turns.expect("turns")), "{run}");
    replays(&run);

    let run = play(&["--game-time", "5s", "--increment", "10s"]);
    assert_eq!(run.stdout, "Draw.\n", "{run}");
}

#[test]
fn a_clock_that_gets_increments() {
    // 9 answers of 0.1 s are more than the clock holds at the beginning.
    let run = Referee::new([
        "--seed",
        "1",
        "--first",
        "1",
        "./drawn.sh 0.1",
        "./drawn.sh",
    ])
    .args(["--game-time", "700ms", "--increment", "700ms"])
    .run();
    assert_eq!(run.stdout, "Draw.\n", "{run}");
}

#[test]
fn the_start_is_not_on_the_clock() {
    let run = Referee::new(["--seed", "1", "./slow-start.sh", "builtin:random"])
        .args(["--game-time", "1s", "--start-time", "10s"])
        .recorded()
        .run();
    succeeded(&run);
    assert_eq!(only(&run)["result"].get("by"), None, "{run}");
    assert!(run.elapsed > Duration::from_millis(1200), "{run}");
}

#[test]
fn a_clock_is_for_a_game() {
    // Each of the games takes half of what the clock holds.
    let run = Referee::new(["--seed", "1", "-n", "3", "./drawn.sh 0.01", "./drawn.sh"])
        .args(["--game-time", "1s"])
        .args(["--start", "IONGCABMHEDJ...."])
        .run();
    assert_eq!(run.stdout.matches("Draw.\n").count(), 3, "{run}");
}

// Names

#[test]
fn names() {
    for (bots, names) in [
        (RANDOM, ["builtin:random#1", "builtin:random#2"]),
        (
            ["builtin:greedy", "builtin:random"],
            ["builtin:greedy", "builtin:random"],
        ),
        (["./drawn.sh", "drawn.sh"], ["drawn.sh#1", "drawn.sh#2"]),
        (["sh ./drawn.sh 0", "./crlf.sh"], ["drawn.sh", "crlf.sh"]),
        (
            ["'./drawn.sh' '0'", "builtin:random"],
            ["drawn.sh", "builtin:random"],
        ),
    ] {
        let run = Referee::new(["--seed", "1"]).args(bots).recorded().run();
        succeeded(&run);
        let record = only(&run);
        assert_eq!(record["bots"][0]["name"], names[0], "{run}");
        assert_eq!(record["bots"][1]["name"], names[1], "{run}");
    }
}

// What is shown

#[test]
fn every_turn_is_shown() {
    let run = scripts(&["- A", "2 C", "4 -"], &["1 B", "3 D"])
        .args(["-v"])
        .run();
    succeeded(&run);
    let lines: Vec<&str> = run.stdout.lines().collect();
    assert_eq!(lines[0], "anna against bob, anna begins", "{run}");
    for turn in [
        " 1. anna gives A  ",
        " 2. bob places A on 1, gives B  ",
        " 3. anna places B on 2, gives C  ",
        " 4. bob places C on 3, gives D  ",
        " 5. anna places D on 4  ",
    ] {
        let line = lines.iter().position(|line| line.starts_with(turn));
        let line = line.unwrap_or_else(|| panic!("no `{turn}`\n{run}"));
        assert!(lines[line].ends_with(" ms"), "{run}");
        assert!(lines[line + 1].starts_with("    V1  V2  V3  V4"), "{run}");
    }
    let heads = lines.iter().filter(|line| line.contains("V1  V2")).count();
    assert_eq!(heads, 5, "{run}");
    assert!(run.stdout.contains("\nH1 |[A]|[B]|[C]|[D]|"), "{run}");
    assert!(run.stdout.contains("in hand: D small blue square hollow"));
    assert!(!run.stdout.contains("->"), "{run}");
    assert_eq!(run.stderr, "", "{run}");
}

#[test]
fn every_line_is_shown() {
    let run = scripts(&["- A", "2 C", "4 -"], &[" 01\tB", "3 D"])
        .args(["-vv"])
        .run();
    succeeded(&run);
    for line in [
        "  -> anna: ................ -\n",
        "  <- anna: - A (",
        "  -> bob: ................ A\n",
        // As it came
        r"  <- bob:  01\tB (",
        "  -> anna: A............... B\n",
        "  <- anna: 2 C (",
        "  -> anna: ABC............. D\n",
        "  <- anna: 4 - (",
    ] {
        assert!(run.stdout.contains(line), "no `{line}`\n{run}");
    }
    assert!(
        run.stdout.contains("\n 2. bob places A on 1, gives B  "),
        "{run}"
    );
}

#[test]
fn several_games_have_headings() {
    let run = Referee::new(["-v", "-n", "2", "--seed", "1", "--first", "2"])
        .args(["./drawn.sh", "builtin:random"])
        .args(["--start", "IONGCABMHEDJ...."])
        .run();
    succeeded(&run);
    for (heading, begins) in [("Game 1", "builtin:random"), ("Game 2", "drawn.sh")] {
        let heading = format!("{heading}: drawn.sh against builtin:random, {begins} begins\n");
        // Then the prepared board.
        let drawn = format!("{heading}    V1  V2  V3  V4");
        assert!(run.stdout.contains(&drawn), "no `{heading}`\n{run}");
    }
    assert!(run.last_line().starts_with("Score: "), "{run}");
}

/// A bot that writes this to its stderr, with `%b` escapes, and then plays on.
fn says(text: &str) -> String {
    script(&["- A", "2 C", "4 -"]).replacen("./script.sh", &format!("./script.sh '!{text}'"), 1)
}

#[test]
fn stderr_of_bots_is_shown_with_their_names() {
    let text = r"\0033[31mred\0033[0m\nand\0007 a bell\r\n\0342\0200\0256back\n\0377\nno newline";
    let play = |options: &[&str]| {
        Referee::new(["--seed", "1", "--first", "1"])
            .args([&says(text), &script(&["1 B", "3 D"])])
            .args(["--name1", "anna", "--name2", "bob"])
            .args(options)
            .run()
    };
    let run = play(&["-v"]);
    succeeded(&run);
    assert_eq!(
        run.stderr,
        "anna| \\x1b[31mred\\x1b[0m\n\
         anna| and\\x07 a bell\n\
         anna| \\u{202e}back\n\
         anna| \\xff\n\
         anna| no newline\n",
        "{run}"
    );
    // It is nobody's business otherwise.
    assert_eq!(play(&[]).stderr, "");
}

/// Everything that the program shows, to a pipe.
#[test]
fn no_colour_unless_on_a_terminal() {
    for variables in [&[][..], &[("NO_COLOR", "1")], &[("COLORTERM", "truecolor")]] {
        let colourful = |run: Referee| {
            let run = variables
                .iter()
                .fold(run.env("TERM", "xterm-256color"), |run, (name, value)| {
                    run.env(name, value)
                });
            let run = run.run();
            let escape = |text: &str| text.contains('\u{1b}');
            assert!(!escape(&run.stdout) && !escape(&run.stderr), "{run}");
            assert!(!run.stdout.is_empty() || !run.stderr.is_empty(), "{run}");
            run
        };
        colourful(random(1).args(["-vv", "-n", "2"]));
        colourful(random(1).args(["-vv", "--json"]));
        colourful(random(1).args(["--game", "four-in-a-row", "-v"]));
        colourful(scripts(&["- A", "1 C"], &["1 B"]).args(["-v"]));
        colourful(Referee::new([says(r"\0033[31m"), "./never-starts.sh".into()]).args(["-v"]));
        colourful(random(1).args(["--no-such-option"]));
        colourful(Referee::new(["--help"]));
        colourful(Referee::new(["board", "ABCD............"]));
        colourful(Referee::new(["pieces"]));
        colourful(Referee::new(["replay", "no-such-file"]));
        let run = random(1).recorded().run();
        let file = run.scratch().join(RECORDS);
        let replay = Referee::new(["replay"]).args([&file]);
        assert!(colourful(replay).stdout.contains("V1  V2"));
    }
}

#[test]
fn no_colour_in_log_lines() {
    let run = random(1).args(["--log", "debug"]).run();
    assert!(!run.stderr.contains('\u{1b}'), "{run}");
    assert!(run.stderr.contains("started"), "{run}");
    let directory = tempfile::tempdir().expect("a directory");
    let file = directory.path().join("games.jsonl");
    fs::write(&file, "{").expect("written");
    let run = random(1).args(["--record"]).args([&file]).run();
    assert!(!run.stderr.contains('\u{1b}'), "{run}");
}

// Ends before the end

/// Checks a match that was interrupted: status, and that all lines are whole.
#[track_caller]
fn interrupted(run: &Run) {
    assert_eq!(run.code, Some(130), "{run}");
    assert!(run.stderr.ends_with("referee: interrupted\n"), "{run}");
    assert!(!run.stdout.contains("Score"), "{run}");
    assert!(
        run.stdout.is_empty() || run.stdout.ends_with(".\n"),
        "{run}"
    );
    let records = run.file(RECORDS);
    assert!(records.is_empty() || records.ends_with("}\n"), "{run}");
    let results = run.stdout.lines().count();
    assert_eq!(results, run.records().len(), "{run}");
    replays(run);
}

/// Also what its children use, in its own turns; what else it does in the opponent's is little.
#[cfg(all(target_os = "linux", not(portable)))]
#[test]
fn what_bots_use_is_told() {
    let run = Referee::new(["./works.sh", "./slow-answers.sh", "--seed", "1", "--json"]).run();
    succeeded(&run);
    let records = run.printed_records();
    let used = |bot: usize, what: &str| records[0]["usage"][bot][what].as_f64().expect("a number");
    let turns = records[0]["turns"].as_array().expect("turns").len() / 2;
    assert!(turns >= 3, "{run}");
    // A hundred thousand steps of a shell take more than 5 ms on any machine.
    let all = used(0, "cpu_ms");
    assert!(
        all >= 5.0 * f64::from(u32::try_from(turns).expect("a few")),
        "{run}"
    );
    // What its shell did while it started may have been the opponent's turn.
    assert!(used(0, "cpu_other_ms") < all / 2.0, "{run}");
    assert!(used(0, "memory_kb") > 0.0, "{run}");
    assert!(used(1, "memory_kb") > 0.0, "{run}");
}

/// What it uses until its time is up is of its own turn.
#[cfg(all(target_os = "linux", not(portable)))]
#[test]
fn a_turn_without_an_answer_is_not_the_opponents() {
    let run = Referee::new(["./computes.sh", "builtin:random", "--first", "1"])
        .args(["--seed", "1", "--json", "--move-time", "500ms"])
        .args(["--start-time", "0s"])
        .run();
    succeeded(&run);
    let record = &run.printed_records()[0];
    let used = |what: &str| record["usage"][0][what].as_f64().expect("a number");
    assert_eq!(record["result"]["reason"], "timeout", "{run}");
    assert!(used("cpu_ms") >= 100.0, "{run}");
    assert!(used("cpu_other_ms") < used("cpu_ms") / 2.0, "{run}");
}

/// A process that is kept does not pay for the game before.
#[cfg(all(target_os = "linux", not(portable)))]
#[test]
fn what_bots_use_is_counted_by_the_game() {
    let run = Referee::new(["./computes-at-first.sh", "builtin:random", "-n", "2"])
        .args(["--seed", "1", "--json"])
        .run();
    succeeded(&run);
    let used = |game: usize| {
        let record = &run.printed_records()[game];
        record["usage"][0]["cpu_ms"].as_f64().expect("a number")
    };
    assert!(used(1) < used(0) / 2.0, "{run}");
}

fn has_records(count: usize) -> impl Fn(&Path) -> bool {
    move |scratch: &Path| {
        let records = fs::read_to_string(scratch.join(RECORDS)).unwrap_or_default();
        records.matches('\n').count() >= count
    }
}

#[test]
fn an_interrupted_match() {
    for signal in ["INT", "TERM", "HUP"] {
        for restart in [&[][..], &["--restart"]] {
            let mut running = random(1)
                .args(["-n", "1000000"])
                .args(restart)
                .recorded()
                .start();
            running.wait_until(has_records(20));
            running.signal(signal);
            let run = running.finish();
            interrupted(&run);
            assert!(run.records().len() >= 20, "{run}");
        }
    }
}

#[test]
fn an_interrupted_match_shown() {
    let mut running = random(1).args(["-n", "1000000", "-vv"]).recorded().start();
    running.wait_until(has_records(5));
    running.signal("INT");
    let run = running.finish();
    assert_eq!(run.code, Some(130), "{run}");
    assert!(run.stdout.ends_with('\n'), "{run}");
    replays(&run);
}

/// The bot hangs, has a child, and ignores all requests to end.
#[test]
fn an_interrupted_match_with_a_bot_that_hangs() {
    for bots in [
        ["./lingers.sh hangs", "builtin:random"],
        ["builtin:random", "./lingers.sh hangs"],
        ["./lingers.sh hangs", "./ignores-term.sh"],
    ] {
        for signal in ["INT", "TERM"] {
            let mut running = Referee::new(["--seed", "1", "--move-time", "3600s"])
                .args(bots)
                .recorded()
                .start();
            running.wait_until(|scratch| scratch.join("lingers").exists());
            running.signal(signal);
            let run = running.finish();
            interrupted(&run);
        }
    }
}

/// Somebody is impatient while a bot is given time to end by itself.
#[test]
fn an_interrupt_between_two_games() {
    let mut running = Referee::new(["--seed", "1", "-n", "100", "--restart"])
        .args(["./lingers.sh", "builtin:random"])
        .recorded()
        .start();
    running.wait_until(|scratch| scratch.join("lingers").exists());
    running.signal("INT");
    running.signal("INT");
    let run = running.finish();
    interrupted(&run);
    assert_eq!(run.records().len(), 1, "{run}");
}

/// Well-behaved bots end by themselves, as their input ends. [`Running::finish`] looks.
#[test]
fn a_referee_that_is_killed() {
    for bots in [RANDOM, ["./drawn.sh", "./crlf.sh"]] {
        let mut running = Referee::new(["--seed", "1", "-n", "1000000"])
            .args(bots)
            .recorded()
            .start();
        running.wait_until(has_records(3));
        running.signal("KILL");
        let run = running.finish();
        assert_eq!(run.code, None, "{run}");
        // The next run cuts off what is not whole.
        let file = run.scratch().join(RECORDS);
        succeeded(&random(1).args(["--record"]).args([&file]).run());
        replays(&run);
    }
}

#[test]
fn nobody_reads_the_results() {
    for options in [&[][..], &["-vv"], &["--json"], &["--restart"]] {
        let run = random(1)
            .args(["-n", "1000000"])
            .args(options)
            .shell("{ \"$0\" \"$@\"; echo $? >\"$SCRATCH/status\"; } | head -n 1")
            .run();
        assert_eq!(run.stdout.lines().count(), 1, "{run}");
        assert_eq!(run.file("status"), "0\n", "{run}");
        // With `--json` the turns are shown on stderr.
        assert_eq!(run.stderr, "", "{run}");
    }
}

#[cfg(target_os = "linux")]
#[test]
fn results_that_cannot_be_written() {
    for options in [&[][..], &["-v"], &["--json"]] {
        let run = random(1)
            .args(options)
            .shell("exec \"$0\" \"$@\" >/dev/full")
            .run();
        assert_eq!(run.code, Some(1), "{run}");
        let sentence = "no space is left on the disk";
        assert!(run.stderr.starts_with("referee: "), "{run}");
        assert!(run.stderr.contains(sentence), "{run}");
        assert_eq!(run.stderr.lines().count(), 1, "{run}");
    }
}

#[cfg(target_os = "linux")]
#[test]
fn warnings_that_cannot_be_written() {
    // The seed is told, and what a bot writes.
    for bot in ["builtin:random", "./floods-stderr.sh"] {
        for redirection in [">/dev/full", ">&-"] {
            let run = Referee::new(["-v", bot, "./drawn.sh"])
                .shell(format!("exec \"$0\" \"$@\" 2{redirection}"))
                .run();
            assert_ne!(run.code, Some(101), "{redirection} {run}");
            assert!(run.code.is_some(), "{redirection} {run}");
        }
    }
}

// Benches

#[test]
fn a_benched_bot() {
    for restart in [&[][..], &["--restart"]] {
        let run = Referee::new(["--seed", "1", "--first", "1", "-n", "7"])
            .args(["builtin:random", "./never-starts.sh"])
            .args(restart)
            .recorded()
            .run();
        succeeded(&run);
        assert_eq!(run.file("starts").lines().count(), 3, "{run}");
        let line = "builtin:random wins: never-starts.sh forfeits (exited).\n";
        let score =
            "Score: builtin:random 7 - 0 never-starts.sh (7 wins, 0 draws, 0 losses in 7 games).\n";
        let unplayed = "builtin:random wins: never-starts.sh was benched, and it was not played.\n";
        let lines = line.repeat(3) + &unplayed.repeat(4);
        assert!(run.stdout.starts_with(&lines), "{run}");
        let forfeits = "\nForfeits: never-starts.sh benched 4, exited 3.\n";
        assert!(run.stdout.ends_with(&format!("{forfeits}{score}")), "{run}");
        assert_eq!(run.stderr.matches("is benched").count(), 1, "{run}");
        assert!(run.stderr.contains("the remaining 4 games"), "{run}");
        assert_eq!(firsts(&run), [0, 1, 0, 1, 0, 1, 0], "{run}");
        for record in run.records() {
            is_a_record(&record, false);
        }
        replays(&run);
    }
}

/// After the last game nothing is left that it could be kept from.
#[test]
fn a_bot_that_never_starts_is_not_benched_after_the_last_game() {
    let run = Referee::new(["--seed", "1", "--first", "1", "-n", "3"])
        .args(["builtin:random", "./never-starts.sh"])
        .run();
    succeeded(&run);
    assert_eq!(run.file("starts").lines().count(), 3, "{run}");
    assert!(!run.stderr.contains("is benched"), "{run}");
}

// Replays

#[test]
fn a_replay_shows_games() {
    let run = random(4).args(["-n", "3", "-v"]).recorded().run();
    let file = run.scratch().join(RECORDS);
    let replay = |options: &[&str]| Referee::new(["replay"]).args([&file]).args(options).run();
    let all = replay(&[]);
    succeeded(&all);
    assert_eq!(
        all.stderr, "3 games checked: all follow the rules\n--number N shows one\n",
        "{all}"
    );
    let first = "   1  4-1  builtin:random#1 against builtin:random#2: builtin:random#";
    assert!(all.stdout.starts_with(first), "{all}");
    assert_eq!(all.stdout.lines().count(), 3, "{all}");
    let second = replay(&["--number", "2"]);
    succeeded(&second);
    assert_eq!(second.stderr, "1 game checked: all follow the rules\n");
    assert!(second.stdout.starts_with("Game 2: "), "{second}");
    let result = run.stdout.lines().filter(|line| line.contains("wins: "));
    let mut shown = String::new();
    for (result, game) in result.zip(["1", "2", "3"]) {
        let replayed = replay(&["--number", game]).stdout;
        assert_eq!(replayed.trim_end().lines().next_back(), Some(result));
        shown += &replayed;
    }
    // All that was shown during the match, but for times that are rounded and the score.
    let turns = |text: &str| -> Vec<String> {
        let sums = [
            "Elo difference: ",
            "Moving first: ",
            "Forfeits: ",
            "Score: ",
        ];
        let is_sum = |line: &&str| sums.iter().any(|sum| line.starts_with(sum));
        let shown = text.lines().filter(|line| !is_sum(line));
        let shown = shown.filter(|line| !line.is_empty());
        shown
            .map(|line| line.split_once(".  ").map_or(line, |(start, _)| start))
            .map(|line| {
                line.rsplit_once("  ")
                    .filter(|(_, end)| end.ends_with(" ms"))
                    .map_or(line, |(start, _)| start)
                    .to_owned()
            })
            .collect()
    };
    assert_eq!(turns(&shown), turns(&run.stdout), "{run}");
}

#[test]
fn a_replay_of_no_such_game() {
    let run = random(4).args(["-n", "3"]).recorded().run();
    let file = run.scratch().join(RECORDS);
    let replay = |options: &[&str]| Referee::new(["replay"]).args([&file]).args(options).run();
    refused(
        &replay(&["--number", "4"]),
        &["there is no game 4; the file has 3"],
    );
    for game in ["0", "1.5", "two"] {
        refused(&replay(&["--number", game]), &["--number"]);
    }
    refused(
        &Referee::new(["replay", "no-such-file"]).run(),
        &["referee: no-such-file: ", "; check the spelling"],
    );
    refused(&Referee::new(["replay", "."]).run(), &["referee: .: "]);
    refused(&Referee::new(["replay"]).run(), &["<FILE>"]);
}

#[test]
fn a_replay_of_a_damaged_file() {
    let run = random(4).args(["-n", "3"]).recorded().run();
    let file = run.scratch().join(RECORDS);
    let good = run.file(RECORDS);
    let lines: Vec<&str> = good.lines().collect();
    let with = |second: &str| {
        let text = format!("{}\n{second}\n{}\n", lines[0], lines[2]);
        fs::write(&file, text).expect("written");
        let replay = Referee::new(["replay", "--quiet"]).args([&file]).run();
        refused(&replay, &["records.jsonl:2: ", "1 of 3 games"]);
        let errors = replay.stderr.lines().count();
        assert_eq!(errors, 2, "{replay}");
        replay
    };
    let second: Value = serde_json::from_str(lines[1]).expect("a record");
    let changed = |change: &dyn Fn(&mut Value)| {
        let mut record = second.clone();
        change(&mut record);
        with(&record.to_string())
    };
    let id = second["id"].as_str().expect("an id");
    let replay = changed(&|record| record["turns"][2] = json!("17 A"));
    let place = format!(":2: game {id}: turn 3: `17 A`: there is no cell 17");
    assert!(replay.stderr.contains(&place), "{replay}");
    let replay = changed(&|record| {
        let winner = 1 - record["result"]["winner"].as_u64().expect("a winner");
        record["result"]["winner"] = json!(winner);
    });
    let place = format!(":2: game {id}: the winner is ");
    assert!(replay.stderr.contains(&place), "{replay}");
    let replay = changed(&|record| record["game"] = json!("chess"));
    assert!(replay.stderr.contains("the game `chess` is unknown"));
    let replay = changed(&|record| record["v"] = json!(2));
    assert!(replay.stderr.contains("version 2"), "{replay}");
    // Not JSON, and half of it
    for line in ["hello", "[1]", &lines[1][..50]] {
        let replay = with(line);
        assert!(
            replay.stderr.contains("; expected one record per line"),
            "{replay}"
        );
    }
    // With only the damaged game asked for, or only a good one.
    let replay = |game: &str| {
        let replay = Referee::new(["replay", "-q", "--number", game]).args([&file]);
        replay.run().code
    };
    assert_eq!(
        [replay("1"), replay("2"), replay("3")],
        [Some(0), Some(2), Some(0)]
    );
}

// Wrong usage

#[test]
fn wrong_options() {
    for (options, part) in [
        (&["-n", "0"][..], "--games"),
        (&["-n", "-1"], "-1"),
        (&["-n", "many"], "--games"),
        (&["--seed", "one"], "--seed"),
        (&["--seed", "1.5"], "--seed"),
        (&["--first", "3"], "[possible values: 1, 2, random]"),
        (&["--rules", "mine"], "[possible values: standard, squares]"),
        (&["--game", "go"], "quarto, four-in-a-row"),
        (&["--move-time", "0s"], "expected a time greater than zero"),
        (&["--move-time", "soon"], "such as 2s, 500ms"),
        (&["--move-time", ""], "such as 2s, 500ms"),
        (&["--move-time=-1s"], "such as 2s, 500ms"),
        (&["--start-time", "2 apples"], "such as 2s, 500ms"),
        (&["--game-time", "0"], "expected a time greater than zero"),
        (&["--game-time", "nan"], "such as 2s, 500ms"),
        (&["--increment", "1s"], "--game-time"),
        (&["--increment", "x", "--game-time", "1s"], "such as 2s"),
        (&["--no-such-option"], "--no-such-option"),
        (&["--record"], "--record"),
    ] {
        let run = Referee::new(RANDOM).args(options).run();
        refused(&run, &[part]);
        assert!(!run.stderr.contains("panicked"), "{run}");
    }
    for options in [&["--start-time", "0s"], &["--move-time", "1m 30s"]] {
        succeeded(&random(1).args(options).run());
    }
}

#[test]
fn wrong_bots() {
    refused(
        &Referee::new::<&str>([]).run(),
        &["<BOT1>\n  <BOT2>", "Usage: referee <BOT1> <BOT2>"],
    );
    refused(
        &Referee::new(["builtin:random"]).run(),
        &["required arguments were not provided:\n  <BOT2>"],
    );
    refused(&Referee::new(["a", "b", "c"]).run(), &["c"]);
    refused(
        &Referee::new(["builtin:random", "builtin:clever"]).run(),
        &[
            "cannot start builtin:clever: there is no such built-in strategy; \
             the built-in ones are builtin:random, builtin:greedy",
        ],
    );
    refused(
        &Referee::new(["random", "builtin:random"]).run(),
        &["there is no such file; did you mean builtin:random?"],
    );
    // Nothing is written before the bots are known.
    let directory = tempfile::tempdir().expect("a directory");
    let file = directory.path().join("games.jsonl");
    let run = Referee::new(["--record"])
        .args([&file])
        .args(["builtin:random", "no-such-bot"])
        .run();
    refused(&run, &["cannot start no-such-bot"]);
    assert!(!file.exists(), "{run}");
}

/// A record says with what each process was started, and since which game it has played.
#[test]
fn records_have_the_processes() {
    let play = |options: &[&str]| {
        let bots = ["./environment.sh 1", "./environment.sh 2"];
        let referee = Referee::new(["--seed", "5", "-n", "3"]).args(bots);
        referee.args(options).recorded().run()
    };
    let run = play(&[]);
    let records = run.records();
    for (bot, name) in ["1", "2"].into_iter().enumerate() {
        let own = environment(&run, name);
        for record in &records {
            let process = &record["processes"][bot];
            assert_eq!(process["seed"].to_string(), own["REFEREE_SEED"], "{run}");
            assert_eq!(process["move_time"], 10.0, "{run}");
        }
        let since = records
            .iter()
            .map(|record| &record["processes"][bot]["since"]);
        let since: Vec<_> = since.collect();
        assert_eq!(since, [&Value::Null, &json!("5-1"), &json!("5-1")], "{run}");
    }
    let run = play(&["--restart", "--move-time", "none"]);
    for record in run.records() {
        let process = &record["processes"][0];
        assert_eq!(
            [&process["since"], &process["move_time"]],
            [&Value::Null; 2],
            "{run}"
        );
    }
}
