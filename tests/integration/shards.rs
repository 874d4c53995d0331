//! A tournament in parts: planned, played shard by shard, and put together again.

use std::fs;
use std::path::PathBuf;

use serde_json::Value;

use crate::common::{self, Referee, Run};
use referee::record::journal::Journal;

struct Place(tempfile::TempDir);

/// One of them is broken.
const BOTS: [&str; 4] = [
    "builtin:greedy",
    "builtin:random",
    "./never-starts.sh",
    "builtin:random",
];

const OPTIONS: [&str; 9] = [
    "--no-check",
    "--pairs",
    "5",
    "--seed",
    "8",
    "--bench-after",
    "0",
    "--sandbox",
    "none",
];

impl Place {
    fn new() -> Self {
        Self(tempfile::tempdir().expect("a directory"))
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn text(&self, name: &str) -> String {
        self.path(name).to_string_lossy().into_owned()
    }

    fn read(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).unwrap_or_default()
    }

    fn command(&self, command: &str, name: &str, arguments: &[&str]) -> Run {
        let out = self.text(name);
        let referee = match command {
            "run" | "merge" => Referee::new(["shard", command, &out]).args(arguments),
            "plan" => Referee::new(["shard", command, "--out", &out]).args(arguments),
            _ => Referee::new([command, "--out", &out]).args(arguments),
        };
        referee.run()
    }

    fn good(&self, command: &str, name: &str, arguments: &[&str]) -> Run {
        let run = self.command(command, name, arguments);
        assert_eq!(run.code, Some(0), "{run}");
        run
    }

    fn bad(&self, command: &str, name: &str, arguments: &[&str], expected: &str) {
        let run = self.command(command, name, arguments);
        assert_eq!(run.code, Some(2), "{run}");
        assert!(run.stderr.contains(expected), "{expected}: {run}");
        // A hash helps nobody to find out what to do.
        let words = run.stderr.split(|c: char| !c.is_ascii_alphanumeric());
        assert!(words.map(str::len).all(|length| length < 64), "{run}");
    }

    /// The records, sorted, without what clocks say.
    fn records(&self, name: &str) -> Vec<String> {
        let plan = serde_json::from_str(&self.read(&format!("{name}/plan.json")));
        common::schema::PLAN.check(&plan.expect("a plan"));
        let games = self.read(&format!("{name}/games.jsonl"));
        let mut records: Vec<String> = common::records(&games)
            .into_iter()
            .map(|mut record| {
                let fields = record.as_object_mut().expect("an object");
                for clock in ["times_ms", "started", "usage"] {
                    fields.remove(clock);
                }
                record.to_string()
            })
            .collect();
        records.sort();
        records
    }

    fn planned(&self, name: &str) {
        self.good("plan", name, &[&BOTS[..], &OPTIONS].concat());
    }
}

const TABLES: [&str; 3] = ["standings.csv", "standings.json", "crosstable.csv"];

#[test]
fn the_parts_make_the_whole() {
    let place = Place::new();
    place.good("tournament", "whole", &[&BOTS[..], &OPTIONS].concat());
    place.planned("parts");
    assert_eq!(place.read("parts/games.jsonl"), "");
    // Whatever the order, and however many games at the same time.
    for (shard, jobs) in [("3/4", "1"), ("1/4", "3"), ("4/4", "2"), ("2/4", "1")] {
        place.good("run", "parts", &["--shard", shard, "-j", jobs]);
    }
    let merged = place.good("merge", "parts", &[]);
    assert_eq!(place.records("parts"), place.records("whole"), "{merged}");
    for table in TABLES {
        let [parts, whole] = ["parts", "whole"].map(|name| place.read(&format!("{name}/{table}")));
        assert_eq!(parts, whole, "{table}");
    }
    assert!(
        merged.stderr.contains("60 games, 0 lost on time"),
        "{merged}"
    );
    // Once more gives the same, and so does the whole in one part.
    place.good("merge", "parts", &[]);
    assert_eq!(place.records("parts"), place.records("whole"));
    place.planned("one");
    place.good("run", "one", &[]);
    place.good("merge", "one", &[]);
    assert_eq!(place.records("one"), place.records("whole"));
}

#[test]
fn a_shard_that_was_killed_is_running() {
    let place = Place::new();
    place.planned("whole");
    place.good("run", "whole", &["--shard", "1/2"]);
    let expected = place.read("whole/shards/1-of-2.jsonl").lines().count();
    // A busy machine may let it end before this looks: then once more.
    let killed = (0..20).any(|round| {
        let name = format!("t{round}");
        place.planned(&name);
        let starts = killed_until_it_ends(&place, &name);
        let text = place.read(&format!("{name}/shards/1-of-2.jsonl"));
        assert_eq!(text.lines().count(), expected);
        // A header for every start.
        let headers = place.read(&format!("{name}/shards/1-of-2.header"));
        assert_eq!(headers.lines().count(), starts);
        starts > 1
    });
    assert!(killed, "it always ended first");
}

/// Plays the first of two shards, with a kill every few games; how often it was started.
fn killed_until_it_ends(place: &Place, name: &str) -> usize {
    let out = place.text(name);
    let journal = place.path(&format!("{name}/shards/1-of-2.jsonl"));
    let games = || fs::read_to_string(&journal).map_or(0, |text| text.lines().count());
    for starts in 1..100 {
        let before = games();
        let mut running = Referee::new(["shard", "run", &out, "--shard", "1/2"]).start();
        while running.is_running() && games() < before + 7 {
            std::thread::sleep(std::time::Duration::from_millis(1));
        }
        if running.is_running() {
            running.signal("KILL");
        }
        if running.finish().code == Some(0) {
            return starts;
        }
    }
    panic!("it never ends");
}

#[test]
fn a_shard_that_another_referee_plays_is_waited_for() {
    let place = Place::new();
    place.planned("t");
    let out = place.text("t");
    place.good("run", "t", &["--shard", "1/2"]);
    let games = place.read("t/shards/1-of-2.jsonl");
    // Somebody holds the journal, and lost the second half of it.
    let journal = place.path("t/shards/1-of-2.jsonl");
    let holder = fs::File::options()
        .append(true)
        .open(&journal)
        .expect("a file");
    holder.try_lock().expect("nobody has it");
    let half: usize = games.lines().take(16).map(|line| line.len() + 1).sum();
    holder.set_len(half as u64).expect("it is cut");
    let busy = "another referee is playing this";
    place.bad("run", "t", &["--shard", "1/2"], busy);
    place.bad("run", "t", &["--shard", "1/2", "--wait", "700ms"], busy);
    let told = place.path("told");
    let mut waiting = Referee::new(["shard", "run", &out, "--shard", "1/2", "--wait", "1h"])
        .stderr(fs::File::create(&told).expect("a file"))
        .start();
    let is_told = |_: &std::path::Path| {
        let told = fs::read_to_string(&told).expect("a text");
        told.contains("waiting for it")
    };
    waiting.wait_until(is_told);
    assert!(waiting.is_running());
    assert_eq!(fs::metadata(&journal).expect("a file").len(), half as u64);
    drop(holder);
    let run = waiting.finish();
    assert_eq!(run.code, Some(0), "{run}");
    let count = place.read("t/shards/1-of-2.jsonl").lines().count();
    assert_eq!(count, games.lines().count());
}

#[test]
fn forfeits_on_time_are_listed_by_machine() {
    let place = Place::new();
    let options = [
        "./steady.sh",
        "builtin:random",
        "--no-check",
        "--pairs",
        "3",
        "--move-time",
        "10ms",
        "--start-time",
        "10ms",
        "--bench-after",
        "0",
        "--sandbox",
        "none",
    ];
    place.good("plan", "t", &options);
    for shard in ["1/3", "2/3", "3/3"] {
        place.good("run", "t", &["--shard", shard, "-j", "1"]);
    }
    let header = "t/shards/2-of-3.header";
    let mut said: Value = serde_json::from_str(&place.read(header)).expect("a header");
    let model = said["cpu"].as_str().expect("a model").to_owned();
    let here = said["host"].as_str().expect("a name").to_owned();
    said["host"] = "elsewhere".into();
    fs::write(place.path(header), format!("{said}\n")).expect("a file");
    let merged = place.good("merge", "t", &[]);
    for (host, games) in [("elsewhere", 2), (here.as_str(), 4)] {
        // The other bot can lose on time, too, when this machine is busy: it is a forfeit, too.
        let line = format!("referee: {host} ({model}): {games} games, {games} lost on time");
        assert!(merged.stderr.contains(&line), "{line}: {merged}");
    }
}

#[test]
fn what_does_not_fit_together() {
    let place = Place::new();
    place.planned("t");
    place.bad("merge", "t", &[], "there are no shards");
    place.bad("run", "t", &["--shard", "4/3"], "expected I/N");
    place.bad("run", "nowhere", &[], "no tournament to resume");
    place.bad("merge", "nowhere", &[], "there is no plan.json");
    place.good("run", "t", &["--shard", "1/2"]);
    place.bad(
        "merge",
        "t",
        &[],
        "30 of 60 games are missing, the first is p000016a; play it with: referee shard run",
    );
    let folder = place.path("t").to_string_lossy().into_owned();
    let command = format!(
        "referee shard run {} --shard 2/2",
        shell_words::quote(&folder)
    );
    place.bad("merge", "t", &[], &command);
    place.good("run", "t", &["--shard", "2/2"]);

    // The same games again, cut differently: doubles, which are the same.
    place.good("run", "t", &["--shard", "1/3"]);
    let merged = place.good("merge", "t", &[]);
    assert!(
        merged
            .stderr
            .contains("20 games were found twice, identical,"),
        "{merged}"
    );

    // A double that differs.
    let file = "t/shards/1-of-3.jsonl";
    let good = place.read(file);
    let winner = good.replacen("\"winner\":0", "\"winner\":1", 1);
    assert_ne!(winner, good);
    fs::write(place.path(file), winner).expect("a file");
    place.bad("merge", "t", &[], "1-of-3.jsonl:");
    place.bad("merge", "t", &[], "1-of-2.jsonl:");
    // A damaged line, and a game of another tournament.
    for (line, expected) in [
        ("{\"v\":1,\"id\":\n", "1-of-3.jsonl:21: "),
        (
            &good
                .lines()
                .next()
                .expect("a line")
                .replace("\"seed\":8", "\"seed\":9"),
            "its seed is 9",
        ),
    ] {
        fs::write(place.path(file), format!("{good}{}\n", line.trim_end())).expect("a file");
        place.bad("merge", "t", &[], expected);
    }
    fs::remove_file(place.path("t/shards/1-of-3.header")).expect("it is there");
    place.bad(
        "merge",
        "t",
        &[],
        "1-of-3.header, which records the plan and the bots, is missing",
    );
    // As a start that was refused leaves it: there is nothing in it.
    fs::write(place.path(file), "").expect("a file");
    place.good("merge", "t", &[]);
    fs::remove_file(place.path(file)).expect("it is there");

    // Other bots, another plan.
    let header = "t/shards/2-of-2.header";
    let good = place.read(header);
    let start = good.find("never-starts.sh\":\"").expect("a bot") + "never-starts.sh\":\"".len();
    let mut other = good.clone();
    other.replace_range(start..start + 4, "beef");
    fs::write(place.path(header), other).expect("a file");
    place.bad(
        "merge",
        "t",
        &[],
        "never-starts.sh was another program there",
    );
    fs::write(place.path(header), good.replace("sha256:", "sha256:0")).expect("a file");
    place.bad("merge", "t", &[], "it belongs to another plan");
    fs::write(place.path(header), good).expect("a file");
    place.good("merge", "t", &[]);
}

#[test]
fn a_merge_replaces_no_other_games_and_clears_up_after_killed_ones() {
    let place = Place::new();
    place.planned("t");
    place.good("run", "t", &["--shard", "1/1"]);
    // As a merge leaves it that is killed.
    fs::write(place.path("t/.new-games.jsonl-aBcDeF"), "half a journal").expect("a file");
    fs::write(place.path("t/.new-aBcDeF"), "of an earlier version").expect("a file");
    place.good("merge", "t", &[]);
    let hidden = fs::read_dir(place.path("t"))
        .expect("a folder")
        .filter_map(|entry| {
            let name = entry.expect("an entry").file_name();
            name.to_string_lossy().starts_with(".new-").then_some(name)
        });
    assert_eq!(hidden.collect::<Vec<_>>(), Vec::<std::ffi::OsString>::new());
    // Merging again is no change, but other games are not replaced.
    let merged = place.read("t/games.jsonl");
    place.good("merge", "t", &[]);
    let (first, rest) = merged.split_once('\n').expect("lines");
    let other = first.replacen("\"turns\":[\"", "\"turns\":[\"- A\",\"", 1);
    assert_ne!(other, first);
    let other = format!("{other}\n{rest}");
    fs::write(place.path("t/games.jsonl"), &other).expect("a file");
    place.bad("merge", "t", &[], "games.jsonl:1 differ");
    assert_eq!(place.read("t/games.jsonl"), other);
}

#[test]
fn round_by_round() {
    let place = Place::new();
    for format in ["swiss", "knockout"] {
        let options = [
            "--pairs",
            "2",
            "--seed",
            "2",
            "--format",
            format,
            "--sandbox",
            "none",
        ];
        let bots = [
            "builtin:greedy",
            "builtin:random",
            "builtin:random",
            "builtin:greedy",
            "builtin:random",
        ];
        let whole = format!("{format}-whole");
        place.good("tournament", &whole, &[&bots[..], &options].concat());
        place.good("plan", format, &[&bots[..], &options].concat());
        for round in 1..=3 {
            place.bad(
                "plan",
                format,
                &["--next"],
                "games planned so far have been played",
            );
            for shard in ["1/2", "2/2"] {
                place.good("run", format, &["--shard", shard]);
            }
            let merged = place.good("merge", format, &[]);
            if round < 3 {
                assert!(
                    merged
                        .stderr
                        .contains("the next: referee shard plan --next"),
                    "{merged}"
                );
                place.good("plan", format, &["--next"]);
            }
        }
        place.bad("plan", format, &["--next"], "the tournament is over");
        assert_eq!(place.records(format), place.records(&whole));
        for table in TABLES {
            let [parts, whole] =
                [format, &whole].map(|name| place.read(&format!("{name}/{table}")));
            assert_eq!(parts, whole, "{table}");
        }
    }
}

#[test]
fn the_shard_of_a_scheduler() {
    let place = Place::new();
    place.planned("t");
    let out = place.text("t");
    let slurm = Referee::new(["shard", "run", &out, "--shard", "auto"])
        .env("SLURM_ARRAY_TASK_ID", "2")
        .env("SLURM_ARRAY_TASK_COUNT", "3")
        .run();
    assert_eq!(slurm.code, Some(0), "{slurm}");
    assert!(place.path("t/shards/2-of-3.jsonl").exists());
    place.bad(
        "run",
        "t",
        &["--shard", "auto/3"],
        "expected I/N, such as 3/8",
    );
    place.bad(
        "run",
        "t",
        &["--shard", "auto"],
        "auto needs SLURM_ARRAY_TASK_ID",
    );
}

#[test]
fn a_sequential_test_is_played_in_one_part() {
    let place = Place::new();
    let options = [
        "builtin:greedy",
        "builtin:random",
        "--sprt",
        "0,50",
        "--sandbox",
        "none",
    ];
    place.good("plan", "t", &options);
    place.bad("run", "t", &["--shard", "1/2"], "cannot be played in parts");
}

/// What the journal holds may change until it is locked.
#[test]
fn a_journal_that_is_being_written_is_not_merged() {
    let place = Place::new();
    place.planned("t");
    let out = place.text("t");
    let run = Referee::new(["shard", "run", &out, "--shard", "1/2"]).run();
    assert_eq!(run.code, Some(0), "{run}");
    let locked = Journal::open(&place.path("t/games.jsonl")).expect("a journal");
    place.bad("merge", "t", &[], "another referee is playing");
    drop(locked);
    place.bad("merge", "t", &[], "games are missing");
}
