//! `referee tournament`: who plays whom, what is written, and that it goes on after any end.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;

use crate::common::files::{copy_program, executable};
use crate::common::{self, Referee, Run};
use rand::rngs::SmallRng;
use rand::{RngExt as _, SeedableRng as _};
use serde_json::Value;

/// A place for tournaments.
struct Place(tempfile::TempDir);

impl Place {
    fn new() -> Self {
        Self(tempfile::tempdir().expect("a directory"))
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    /// A tournament in the folder of this name.
    fn tournament(&self, name: &str, arguments: &[&str]) -> Referee {
        let out = self.path(name).to_string_lossy().into_owned();
        // The bots of most tests need more than a sandbox gives them.
        Referee::new(["tournament"])
            .args(arguments)
            .args(["--out", &out])
            .args(["--sandbox", "none"])
    }

    fn play(&self, name: &str, arguments: &[&str]) -> Run {
        let run = self.tournament(name, arguments).run();
        assert_eq!(run.code, Some(0), "{run}");
        let plan = serde_json::from_str(&self.read(&format!("{name}/plan.json")));
        common::schema::PLAN.check(&plan.expect("a plan"));
        run
    }

    fn read(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).unwrap_or_default()
    }

    /// The records of a tournament.
    fn records(&self, name: &str) -> Vec<Value> {
        records(&self.path(name))
    }
}

fn records(folder: &Path) -> Vec<Value> {
    let text = fs::read_to_string(folder.join("games.jsonl")).unwrap_or_default();
    common::records(&text)
}

/// The records by id, without what clocks say.
fn but_for_clocks(records: Vec<Value>) -> BTreeMap<String, Value> {
    let mut set = BTreeMap::new();
    for mut record in records {
        let id = record["id"].as_str().expect("an id").to_owned();
        let fields = record.as_object_mut().expect("an object");
        fields.remove("times_ms");
        fields.remove("started");
        fields.remove("usage");
        let twice = set.insert(id.clone(), record);
        assert!(twice.is_none(), "{id} occurs twice");
    }
    set
}

const THREE: [&str; 3] = ["builtin:greedy", "builtin:random", "builtin:random"];

#[test]
fn a_round_robin() {
    let place = Place::new();
    let run = place.play(
        "t",
        &[&THREE[..], &["--pairs", "4", "--seed", "7"]].concat(),
    );
    let games = place.records("t");
    assert_eq!(games.len(), 3 * 4 * 2);
    // Both games of a pair start from the same board, with the seats swapped.
    let set = but_for_clocks(games);
    for pair in 1..=12 {
        let [a, b] = ["a", "b"].map(|half| &set[&format!("p{pair:06}{half}")]);
        assert_eq!(a["start"], b["start"]);
        assert_eq!(a["bots"], b["bots"]);
        assert_eq!((&a["first"], &b["first"]), (&0.into(), &1.into()));
        let placed = a["start"].as_str().unwrap().replace('.', "").len();
        assert_eq!(placed, 4);
    }
    assert!(!run.stdout.contains("distinct games"), "{run}");
    assert!(run.stderr.contains("referee: 24 games in "), "{run}");
    let winner = "builtin:greedy wins the tournament.\n";
    assert!(run.stdout.ends_with(winner), "{run}");
    for file in [
        "plan.json",
        "standings.csv",
        "standings.json",
        "crosstable.csv",
        "times.csv",
    ] {
        assert!(!place.read(&format!("t/{file}")).is_empty(), "{file}");
    }
    let replayed = Referee::new(["replay"])
        .args([place.path("t/games.jsonl")])
        .run();
    assert_eq!(replayed.code, Some(0), "{replayed}");
    // The same figures from the records alone, and times besides.
    let standings = Referee::new(["standings", "--format", "csv"])
        .args([place.path("t/games.jsonl")])
        .run();
    let files = ["standings", "times"].map(|name| place.read(&format!("t/{name}.csv")));
    for (row, (untimed, times)) in standings
        .stdout
        .lines()
        .zip(files[0].lines().zip(files[1].lines()))
    {
        let (figures, forfeits) = untimed.rsplit_once(',').expect("columns");
        let (_, times) = times.split_once(',').expect("columns");
        assert_eq!(row, format!("{figures},{times},{forfeits}"));
    }
}

#[test]
fn the_same_seed_gives_the_same_games_however_many_at_once() {
    let place = Place::new();
    // One bot crashes now and then, one never answers and is benched.
    let bots = [
        "builtin:greedy",
        "builtin:random",
        "./never-starts.sh",
        "builtin:random",
    ];
    let common = [
        "--no-check",
        "--pairs",
        "3",
        "--seed",
        "5",
        "--bench-after",
        "4",
    ];
    // More at the same time than there are cores, too.
    let sets = ["1", "4", "16"].map(|jobs| {
        let run = place.play(jobs, &[&bots[..], &common, &["-j", jobs]].concat());
        assert!(run.stderr.contains("is benched"), "{run}");
        but_for_clocks(place.records(jobs))
    });
    assert_eq!(sets[0], sets[1]);
    assert_eq!(sets[0], sets[2]);
    let not_played = sets[0].values().filter(|record| {
        let detail = record["result"]["detail"].as_str().unwrap_or_default();
        detail.starts_with("not played: it forfeited 4 games in a row")
    });
    // Of the 18 games of the bot that never answers, four were played.
    assert_eq!(not_played.count(), 14);
}

/// Five bots that exit at once win every other game by the forfeits of the others. One has a bye, and then opponents that
/// are benched.
#[test]
fn a_bot_that_never_answers_is_benched_whatever_its_points() {
    let place = Place::new();
    let bots = ["./never-starts.sh"; 5];
    for format in ["swiss", "round-robin"] {
        let common = ["--no-check", "--pairs", "2", "--seed", "5", "--bench-after"];
        let sets = ["1", "4"].map(|jobs| {
            let name = format!("{format} {jobs}");
            let options = ["2", "-j", jobs, "--format", format];
            let run = place.play(&name, &[&bots[..], &common, &options].concat());
            assert_eq!(run.stderr.matches("is benched").count(), 5, "{run}");
            let nobody = "The tournament has no winner: no bot made a turn in any game.\n";
            assert!(run.stdout.ends_with(nobody), "{run}");
            let silent = "made no turn in any game; games won are others' forfeits";
            assert_eq!(run.stderr.matches(silent).count(), 1, "{run}");
            but_for_clocks(place.records(&name))
        });
        assert_eq!(sets[0], sets[1]);
        let played = sets[0]
            .values()
            .filter(|record| record["result"]["played"] != false);
        // The first four, and the fifth with one that is benched.
        assert_eq!(played.count(), 2 * 2 * 2 + 2 * 2, "{format}");
    }
    // The bye of the first round was one; those after it are of bots that are benched.
    let rows = table(&place, "swiss 1");
    let figures = |field: &str| -> Vec<f64> {
        let figures = rows
            .iter()
            .map(|row| row[field].as_f64().expect("a number"));
        figures.collect()
    };
    assert!((figures("byes").iter().sum::<f64>() - 3.0).abs() < 1e-9);
    assert!((figures("bye_points").iter().sum::<f64>() - 4.0).abs() < 1e-9);
}

/// A bracket leaves one over, and a bye may put one first.
#[test]
fn a_bot_that_made_no_turn_does_not_win() {
    let place = Place::new();
    let common = ["--no-check", "--pairs", "1", "--seed", "5", "--format"];
    let dead = ["./never-starts.sh"; 3];
    let run = place.play("knockout", &[&dead[..], &common, &["knockout"]].concat());
    let nobody = "The tournament has no winner: no bot made a turn in any game.\n";
    assert!(run.stdout.ends_with(nobody), "{run}");
    let rows = table(&place, "knockout");
    let reached: Vec<&str> = rows
        .iter()
        .filter_map(|row| row["reached"].as_str())
        .collect();
    assert_eq!(reached, ["finalist", "finalist", "semi-finalist"]);

    let three = ["builtin:greedy", "builtin:greedy", "./never-starts.sh"];
    let swiss = ["swiss", "--rounds", "1"];
    let run = place.play("swiss", &[&three[..], &common, &swiss].concat());
    let first = "The tournament has no winner: never-starts.sh, first in the table, made no turn in any game.\n";
    assert!(run.stdout.ends_with(first), "{run}");
    assert!(!run.stdout.contains("wins the tournament"), "{run}");
}

#[test]
fn another_seed_gives_other_games() {
    let place = Place::new();
    let sets = ["1", "2"].map(|seed| {
        place.play(
            seed,
            &[
                "builtin:random",
                "builtin:random",
                "--pairs",
                "2",
                "--seed",
                seed,
            ],
        );
        but_for_clocks(place.records(seed))
    });
    assert_ne!(sets[0]["p000001a"]["start"], sets[1]["p000001a"]["start"]);
}

/// Again and again the referee is killed at a random moment and started again; twice a hundred times in `.ci/run`.
#[test]
fn kill_9_at_random_moments_loses_nothing() {
    let place = Place::new();
    let mut rng = SmallRng::seed_from_u64(9);
    let wanted = if std::env::var_os("CI").is_some() {
        100
    } else {
        30
    };
    let mut kills = 0;
    let mut tournaments = 0;
    let mut widest = Duration::from_millis(20);
    while kills < wanted {
        tournaments += 1;
        let seed = tournaments.to_string();
        let arguments = [
            &THREE[..],
            &["--pairs", "5", "-j", "2", "--no-check", "--seed", &seed],
        ];
        let arguments = arguments.concat();
        let undisturbed = place.play("undisturbed", &arguments);
        let expected = but_for_clocks(place.records("undisturbed"));
        let expected_table = place.read("undisturbed/standings.json");
        fs::remove_dir_all(place.path("undisturbed")).expect("it is there");
        // Kills fall anywhere from before the first game to after the last.
        widest = widest.max(undisturbed.elapsed / 3);
        loop {
            let before = place.records_so_far("killed");
            let mut running = place.tournament("killed", &arguments).start();
            std::thread::sleep(widest.mul_f64(rng.random_range(0.0..1.0)));
            let killed = running.is_running();
            if killed {
                running.signal("KILL");
                kills += 1;
            }
            let run = running.finish();
            assert!(killed || run.code == Some(0), "{run}");
            // What was on the disk stays there, byte for byte.
            let after = place.records_so_far("killed");
            assert!(after.starts_with(&before), "{run}");
            if run.code == Some(0) {
                break;
            }
        }
        assert_eq!(but_for_clocks(place.records("killed")), expected);
        assert_eq!(place.read("killed/standings.json"), expected_table);
        fs::remove_dir_all(place.path("killed")).expect("it is there");
    }
}

impl Place {
    /// The complete lines of a journal.
    fn records_so_far(&self, name: &str) -> String {
        let text = self.read(&format!("{name}/games.jsonl"));
        let end = text.rfind('\n').map_or(0, |newline| newline + 1);
        text[..end].to_owned()
    }
}

#[test]
fn a_journal_that_was_cut_is_running() {
    let place = Place::new();
    let arguments = [&THREE[..2], &["--pairs", "3", "--seed", "3"]].concat();
    place.play("t", &arguments);
    let whole = place.read("t/games.jsonl");
    let expected = but_for_clocks(place.records("t"));
    // Behind a line, in a line, after the first game of a pair, before everything.
    let lines: Vec<usize> = whole.match_indices('\n').map(|(at, _)| at + 1).collect();
    for length in [
        lines[0],
        lines[0] + 40,
        lines[1],
        lines[2] - 1,
        lines[4],
        0,
        1,
    ] {
        fs::write(place.path("t/games.jsonl"), &whole[..length]).expect("a file");
        let run = place.play("t", &[]);
        assert_eq!(
            but_for_clocks(place.records("t")),
            expected,
            "{length}: {run}"
        );
    }
    assert!(place.path("t/games.jsonl.cut").exists());
}

#[test]
fn journals_that_are_not_right() {
    let place = Place::new();
    let arguments = [&THREE[..2], &["--pairs", "2", "--seed", "3"]].concat();
    place.play("t", &arguments);
    let whole = place.read("t/games.jsonl");
    let lines: Vec<&str> = whole.lines().collect();
    let other = lines[1].replace("builtin:greedy", "somebody");
    let elsewhere = lines[1].replace("p00000", "p99999");
    let moved = lines[1]
        .replace("\"start\":\"", "\"start\":\".")
        .replacen(".\"", "\"", 1);
    for (second, expected) in [
        ("{\"v\":1", "games.jsonl:2: "),
        ("no json", "games.jsonl:2: "),
        (lines[0], "games.jsonl:2: the game p000001a occurs twice"),
        (
            &other,
            "in the plan builtin:greedy and builtin:random play the game",
        ),
        (&elsewhere, "is not in the plan"),
        (&moved, "starts from another board"),
    ] {
        let text = format!("{}\n{second}\n{}\n", lines[0], lines[2]);
        fs::write(place.path("t/games.jsonl"), &text).expect("a file");
        let run = place.tournament("t", &[]).run();
        assert_eq!(run.code, Some(2), "{second}: {run}");
        assert!(run.stderr.contains(expected), "{expected}: {run}");
        assert_eq!(place.read("t/games.jsonl"), text, "nothing is touched");
    }
}

#[test]
fn another_tournament_in_the_folder() {
    let place = Place::new();
    copy_program(&common::bots().join("script.sh"), &place.path("bot.sh"));
    let bot = place.path("bot.sh").to_string_lossy().into_owned();
    let run = |more: &[&str]| {
        let arguments = [
            &["builtin:random", "builtin:greedy", &bot, "--no-check"],
            more,
        ]
        .concat();
        place.tournament("t", &arguments).run()
    };
    let first = run(&["--pairs", "1", "--seed", "3"]);
    assert_eq!(first.code, Some(0), "{first}");
    // The same again has nothing left to do.
    let again = run(&[]);
    assert_eq!(again.code, Some(0), "{again}");
    assert_eq!(again.stdout, first.stdout);
    for (more, expected) in [
        (
            &["--pairs", "2"][..],
            "the number of pairs was 1 and is now 2",
        ),
        (&["--seed", "4"], "the seed was 3 and is now 4"),
        (
            &["--format", "swiss"],
            "the format was round-robin and is now swiss",
        ),
        (&["--move-time", "1s"], "bot.sh has other limits"),
        (
            &["--rules", "squares"],
            "the rules was standard and is now squares",
        ),
        (
            &["--opening-plies", "2"],
            "plies of an opening was 4 and is now 2",
        ),
        (&["builtin:random"], "builtin:random#2 was not there"),
    ] {
        let other = run(more);
        assert_eq!(other.code, Some(2), "{other}");
        assert!(other.stderr.contains(expected), "{expected}: {other}");
    }
    let mut text = fs::read_to_string(&bot).expect("the bot");
    text.push_str("# changed\n");
    fs::write(&bot, text).expect("the bot");
    for changed in [run(&[]), place.tournament("t", &[]).run()] {
        assert_eq!(changed.code, Some(2), "{changed}");
        assert!(
            changed.stderr.contains("bot.sh has been changed"),
            "{changed}"
        );
    }
    let plan = place
        .read("t/plan.json")
        .replace("\"seed\": 3", "\"seed\": 8");
    fs::write(place.path("t/plan.json"), plan).expect("the plan");
    let changed = run(&[]);
    assert_eq!(changed.code, Some(2), "{changed}");
    assert!(
        changed.stderr.contains("it has been changed: its hash is"),
        "{changed}"
    );
    assert!(!changed.stderr.contains("sha256"), "{changed}");
}

#[test]
fn two_at_once_in_one_folder() {
    let place = Place::new();
    let waits = [
        "./waits.sh",
        "builtin:random",
        "--no-check",
        "--move-time",
        "20s",
    ];
    let mut first = place.tournament("t", &waits).start();
    first.wait_until(|_| place.path("t/plan.json").exists());
    let second = place.tournament("t", &waits).run();
    assert_eq!(second.code, Some(2), "{second}");
    assert!(
        second
            .stderr
            .contains("another referee is playing this tournament"),
        "{second}"
    );
    // Signals that arrive together are one.
    while first.is_running() {
        first.signal("INT");
        thread::sleep(Duration::from_millis(50));
    }
    let first = first.finish();
    assert_eq!(first.code, Some(130), "{first}");
}

#[test]
fn resuming_from_another_directory() {
    let place = Place::new();
    // Its path is relative: it is found from here only.
    let arguments = [
        "./steady.sh",
        "builtin:random",
        "--pairs",
        "1",
        "--no-check",
    ];
    place.play("t", &arguments);
    let elsewhere = place.path("elsewhere");
    fs::create_dir(&elsewhere).expect("a directory");
    let run = place.tournament("t", &[]).directory(&elsewhere).run();
    assert_eq!(run.code, Some(2), "{run}");
    let bots = crate::common::bots();
    let begun = format!("this tournament was begun in {}", bots.display());
    assert!(run.stderr.contains(&begun), "{run}");
    let folder = place.path("t").to_string_lossy().into_owned();
    let grade = Referee::new(["grade", &folder, "--sandbox", "none"]);
    let grade = grade.directory(&elsewhere).run();
    assert_eq!(grade.code, Some(2), "{grade}");
    assert!(grade.stderr.contains(&begun), "{grade}");
}

#[test]
fn ctrl_c_finishes_the_games_in_hand() {
    let place = Place::new();
    let arguments = [
        "./slow-answers.sh",
        "builtin:random",
        "--seed",
        "1",
        "--no-check",
        "--pairs",
        "50",
    ];
    let mut running = place.tournament("t", &arguments).start();
    running.wait_until(|_| !place.records_so_far("t").is_empty());
    running.signal("INT");
    let run = running.finish();
    assert_eq!(run.code, Some(130), "{run}");
    assert!(run.stderr.contains("finishing the current games"), "{run}");
    let folder = place.path("t").display().to_string();
    let folder = referee::bot::shell::quoted(&folder);
    let command = format!("to resume: referee tournament --out {folder}");
    // And that it was interrupted is not said once more.
    let last = format!("referee: stopped; {command}\n");
    assert!(run.stderr.ends_with(&last), "{run}");
    let games = place.records("t");
    assert!(games.len() < 100, "{run}");
    // It goes on where it was.
    let page = place.path("page.html");
    let page = page.to_str().expect("a name");
    let more = [
        "--report",
        page,
        "--analyse",
        "--time-per-move",
        "100ms",
        "--jobs",
        "1",
    ];
    let mut running = place.tournament("t", &more).start();
    running.wait_until(|_| place.records_so_far("t").lines().count() > games.len());
    running.signal("TERM");
    let run = running.finish();
    // The hint has what the plan has not.
    let hint = format!("{command} --jobs 1 --analyse --time-per-move 0.1s, with --report or");
    assert!(run.stderr.contains(&hint), "{run}");
    assert!(
        run.stderr
            .contains(&format!("resuming after {} of 100", games.len())),
        "{run}"
    );
}

/// What ended it is said, not that its page could not be written either.
#[test]
fn a_page_hides_no_other_failure() {
    let place = Place::new();
    fs::create_dir(place.path("pages")).expect("a folder");
    let page = place.path("pages/page.html");
    let page = page.to_str().expect("a name");
    let bots = ["./slow-answers.sh", "builtin:random"];
    let options = [
        "--seed",
        "1",
        "--no-check",
        "--pairs",
        "3",
        "--report",
        page,
    ];
    let mut running = place
        .tournament("t", &[&bots[..], &options].concat())
        .start();
    running.wait_until(|_| !place.records_so_far("t").is_empty());
    fs::create_dir(place.path("t/standings.csv")).expect("a folder");
    fs::remove_dir(place.path("pages")).expect("a folder");
    let run = running.finish();
    assert!(run.stderr.contains("standings.csv"), "{run}");
    assert!(!run.stderr.contains("page.html"), "{run}");
}

#[test]
fn the_entry_check() {
    let place = Place::new();
    let bots = [
        "builtin:greedy",
        "builtin:random",
        "./prints-nothing.sh",
        "./not-there.py",
    ];
    let quick = ["--move-time", "500ms", "--start-time", "3s", "--pairs", "1"];
    let run = place.play("t", &[&bots[..], &quick].concat());
    assert!(
        run.stderr
            .contains("prints-nothing.sh does not enter: timeout: it was asked"),
        "{run}"
    );
    assert!(
        run.stderr
            .contains("not-there.py does not enter: cannot start"),
        "{run}"
    );
    assert!(
        run.stderr.contains("2 of 4 bots passed the entry check"),
        "{run}"
    );
    // Why is said once, in parts.
    let name = "did not enter: prints-nothing.sh";
    assert!(run.stdout.contains(&format!("{name}\n")), "{run}");
    let standings = Referee::new(["standings", &place.path("t").to_string_lossy()]).run();
    for part in ["\n    Fix: ", "\n    See it again: printf "] {
        assert!(
            run.stderr.contains(part) && !run.stdout.contains(part),
            "{run}"
        );
        assert!(standings.stdout.contains(part), "{standings}");
    }
    assert!(
        standings.stdout.contains(&format!("{name}: timeout: ")),
        "{standings}"
    );
    assert_eq!(place.records("t").len(), 2);
    // Going on asks nobody again.
    let again = place.play("t", &[&bots[..], &quick].concat());
    assert_eq!(again.stdout, run.stdout);
}

/// The same program under two names; with other arguments it is another bot.
#[test]
fn identical_entrants_are_named() {
    let place = Place::new();
    for (student, program) in [
        ("anna/bot.sh", "exec \"$REFEREE_BIN\" bot greedy"),
        ("ben/mine.sh", "exec \"$REFEREE_BIN\" bot greedy"),
        ("carla/bot.sh", "exec \"$REFEREE_BIN\" bot random"),
    ] {
        let file = place.path(&format!("class/{student}"));
        fs::create_dir_all(file.parent().expect("a folder")).expect("a folder");
        fs::write(&file, format!("#!/bin/sh\n{program}\n")).expect("a file");
    }
    let class = place.path("class").to_string_lossy().into_owned();
    let other = format!("sh {class}/anna/bot.sh --fast");
    let run = place.play(
        "t",
        &[&class, &other, "--pairs", "1", "--seed", "1", "--no-check"],
    );
    assert!(
        run.stderr
            .contains("warning: anna and ben are the same program; each of them plays\n"),
        "{run}"
    );
    assert_eq!(
        run.stderr.matches("are the same program").count(),
        1,
        "{run}"
    );
    assert_eq!(place.records("t").len(), 4 * 3, "{run}");
}

#[test]
fn formats() {
    let place = Place::new();
    let four = [
        "builtin:greedy",
        "builtin:random",
        "builtin:random",
        "builtin:greedy",
    ];
    for (format, games) in [
        ("gauntlet", 3 * 4),
        ("swiss", 2 * 2 * 4),
        ("knockout", 3 * 4),
    ] {
        let run = place.play(
            format,
            &[
                &four[..],
                &["--pairs", "2", "--seed", "2", "--format", format],
            ]
            .concat(),
        );
        assert_eq!(place.records(format).len(), games, "{run}");
        if format == "knockout" {
            assert!(run.stdout.ends_with("wins the tournament.\n"), "{run}");
            assert!(run.stdout.contains("round 2 of 2"), "{run}");
        }
        // Going on finds everything done, whatever the rounds were.
        assert_eq!(place.play(format, &[]).stdout, run.stdout);
        // Without the last game, just that one is played again.
        let expected = but_for_clocks(place.records(format));
        let text = place.read(&format!("{format}/games.jsonl"));
        let cut = text.trim_end().rfind('\n').expect("lines") + 1;
        fs::write(place.path(&format!("{format}/games.jsonl")), &text[..cut]).expect("a file");
        place.play(format, &[]);
        assert_eq!(but_for_clocks(place.records(format)), expected);
    }
}

/// How often each two bots have met, by two games of one opening each; matches of no more than two bots.
fn meetings(games: &BTreeMap<String, Value>) -> BTreeMap<[String; 2], usize> {
    let mut met = BTreeMap::new();
    for (id, game) in games {
        let mut names = [0, 1].map(|side| game["bots"][side]["name"].as_str().unwrap().to_owned());
        names.sort();
        *met.entry(names).or_default() += 1;
        let other = id[..id.len() - 1].to_owned() + if id.ends_with('a') { "b" } else { "a" };
        assert_eq!(games[&other]["start"], game["start"], "{id}");
        assert_ne!(games[&other]["first"], game["first"], "{id}");
    }
    for games in met.values_mut() {
        *games /= 2;
    }
    met
}

/// Whom an odd field of seven meets in each format; and killed three times, the same files come of it to the last byte.
#[test]
fn seven_bots_meet_as_each_format_says_however_often_it_is_killed() {
    let place = Place::new();
    let greedy = ["builtin:greedy"; 2];
    let random = ["builtin:random"; 5];
    // How many meetings there are, of how many each bot has one, and the fewest and the most of a bot.
    for (format, count, of_each) in [
        (&["round-robin"][..], 21, [6, 6]),
        (&["gauntlet"], 6, [1, 6]),
        (&["swiss", "--rounds", "4"], 12, [3, 4]),
        (&["knockout"], 6, [1, 3]),
        (&["groups+knockout", "--groups", "2"], 12, [2, 5]),
    ] {
        let options = ["--no-check", "--pairs", "1", "--seed", "4", "--format"];
        let arguments = [&greedy[..], &random, &options, format].concat();
        place.play("undisturbed", &arguments);
        let expected = but_for_clocks(place.records("undisturbed"));
        let met = meetings(&expected);
        assert_eq!(met.values().sum::<usize>(), count, "{format:?}: {met:?}");
        // No two meet again, but in a bracket after the groups.
        if !format[0].starts_with("groups") {
            assert!(met.values().all(|&times| times == 1), "{format:?}: {met:?}");
        }
        let mut of_bots = BTreeMap::<&str, usize>::new();
        for (names, times) in &met {
            for name in names {
                *of_bots.entry(name).or_default() += times;
            }
        }
        assert_eq!(of_bots.len(), 7, "{format:?}");
        let [fewest, most] =
            [of_bots.values().min(), of_bots.values().max()].map(|of| *of.unwrap());
        let [low, high] = of_each;
        assert!(fewest >= low && most <= high, "{format:?}: {of_bots:?}");
        if format[0] == "swiss" {
            // One bye a round, and none twice.
            assert_eq!(of_bots.values().filter(|&&times| times == 3).count(), 4);
        }
        for kill in 1..=3 {
            let mut running = place.tournament("killed", &arguments).start();
            let so_far = || place.records_so_far("killed").lines().count();
            // On a quick machine it may end before.
            while so_far() < kill * expected.len() / 4 && running.is_running() {
                thread::sleep(Duration::from_millis(1));
            }
            running.signal("KILL");
            running.finish();
        }
        place.play("killed", &arguments);
        assert_eq!(
            but_for_clocks(place.records("killed")),
            expected,
            "{format:?}"
        );
        for file in ["standings.csv", "standings.json", "crosstable.csv"] {
            let [killed, undisturbed] =
                ["killed", "undisturbed"].map(|name| place.read(&format!("{name}/{file}")));
            assert_eq!(killed, undisturbed, "{format:?} {file}");
        }
        for name in ["killed", "undisturbed"] {
            fs::remove_dir_all(place.path(name)).expect("it is there");
        }
    }
}

/// Bots that are equal in every criterion win together; nobody wins a gauntlet.
#[test]
fn who_wins_is_said() {
    let place = Place::new();
    let equal = [
        "./drawn.sh",
        "./drawn.sh",
        "--no-check",
        "--opening-plies",
        "0",
    ];
    let run = place.play("equal", &[&equal[..], &["--pairs", "1"]].concat());
    let both = "drawn.sh#1 and drawn.sh#2 share first place.\n";
    assert!(run.stdout.ends_with(both), "{run}");
    assert_eq!(run.stdout.matches("\n1=  drawn.sh#").count(), 2, "{run}");
    let gauntlet = ["--pairs", "1", "--seed", "3", "--format", "gauntlet"];
    let run = place.play("gauntlet", &[&THREE[..], &gauntlet].concat());
    assert!(!run.stdout.contains("wins"), "{run}");
}

/// The rows of a folder's table, as JSON.
fn table(place: &Place, name: &str) -> Vec<Value> {
    let text = place.read(&format!("{name}/standings.json"));
    let table: Value = serde_json::from_str(&text).expect("JSON");
    table["standings"].as_array().expect("a list").clone()
}

#[test]
fn a_knockout_has_a_champion() {
    let place = Place::new();
    // The best seed loses its semi-final: the others reach more with fewer points.
    let five = [
        "builtin:random",
        "builtin:random",
        "builtin:greedy",
        "builtin:random",
        "builtin:greedy",
    ];
    let arguments = [
        &five[..],
        &["--pairs", "2", "--seed", "5", "--format", "knockout"],
    ]
    .concat();
    let run = place.play("cup", &arguments);
    let rows = table(&place, "cup");
    let of = |field: &str| -> Vec<Value> { rows.iter().map(|row| row[field].clone()).collect() };
    assert_eq!(of("rank"), [1, 2, 3, 3, 5].map(Value::from), "{run}");
    assert_eq!(
        of("reached"),
        [
            "champion",
            "finalist",
            "semi-finalist",
            "semi-finalist",
            "quarter-finalist"
        ]
        .map(Value::from)
    );
    let champion = rows[0]["name"].as_str().expect("a name");
    assert!(
        run.stdout
            .ends_with(&format!("{champion} wins the tournament.\n")),
        "{run}"
    );
    assert!(
        run.stdout.contains(
            "order: place in the bracket, shared by bots that go out in the same round\n"
        ),
        "{run}"
    );
}

/// A record's points by bot, for a recount.
fn half_points(games: &[&Value], bots: [&str; 2]) -> [u64; 2] {
    let mut points = [0; 2];
    for game in games {
        let names = [0, 1].map(|side| game["bots"][side]["name"].as_str().expect("a name"));
        let winner = game["result"]["winner"].as_u64();
        let winner = winner.map(|winner| names[usize::try_from(winner).expect("0 or 1")]);
        for (made, bot) in points.iter_mut().zip(bots) {
            *made += winner.map_or(1, |winner| 2 * u64::from(winner == bot));
        }
    }
    points
}

/// What is printed of the matches: in the table before are times.
fn bracket(run: &Run) -> String {
    let told = run.stdout.split_once("\nseeds: ");
    told.expect("a bracket").1.to_owned()
}

/// The winners of a knockout with tie-break games, from its records and the order of the bots alone.
fn recounted(
    records: &BTreeMap<String, Value>,
    seeds: &[String],
    most: usize,
) -> (Vec<String>, usize) {
    let mut tied = 0;
    let mut winners = Vec::new();
    let mut met: Vec<[&str; 2]> = Vec::new();
    for record in records.values() {
        let names = [0, 1].map(|side| record["bots"][side]["name"].as_str().expect("a name"));
        if !met.contains(&names) {
            met.push(names);
        }
    }
    for bots in met {
        let of: Vec<&Value> = records
            .values()
            .filter(|game| [0, 1].map(|side| game["bots"][side]["name"].as_str()) == bots.map(Some))
            .collect();
        let (extra, games): (Vec<&Value>, Vec<&Value>) =
            of.iter().partition(|game| game["tie_break"] == true);
        let (points, in_extra) = (half_points(&games, bots), half_points(&extra, bots));
        assert_eq!(extra.is_empty(), points[0] != points[1], "{bots:?}");
        // They end with the first pair after which one leads.
        assert!(
            extra.len() <= most && extra.len().is_multiple_of(2),
            "{bots:?}"
        );
        for pairs in 1..extra.len() / 2 {
            let [one, other] = half_points(&extra[..2 * pairs], bots);
            assert_eq!(one, other, "{bots:?}");
        }
        if in_extra[0] == in_extra[1] && !extra.is_empty() {
            assert_eq!(extra.len(), most, "{bots:?}");
        }
        tied += usize::from(!extra.is_empty());
        let by_seed = |bot: &str| seeds.iter().rev().position(|seed| seed == bot);
        let key = |side: usize| (points[side], in_extra[side], by_seed(bots[side]));
        winners.push(bots[usize::from(key(1) > key(0))].to_owned());
    }
    (winners, tied)
}

/// Whatever the number of jobs, and however often it is killed, the same extra games are played, and decide.
#[test]
fn tie_break_games_decide_tied_matches() {
    let place = Place::new();
    let bots = ["builtin:random"; 8];
    let options = "--no-check --pairs 1 --format knockout --tie-break-games 4";
    let options: Vec<&str> = options.split(' ').collect();
    let mut tied = 0;
    for seed in ["1", "2", "3"] {
        let arguments = [&bots[..], &options, &["--seed", seed]].concat();
        let runs = ["1", "4"].map(|jobs| {
            let name = format!("{seed} {jobs}");
            let run = place.play(&name, &[&arguments[..], &["-j", jobs]].concat());
            let games = but_for_clocks(place.records(&name));
            let table = place.read(&format!("{name}/standings.json"));
            (bracket(&run), games, table)
        });
        assert!(runs[0] == runs[1], "{}\n{}", runs[0].0, runs[1].0);
        let name = format!("{seed} 1");
        // Of a plan with all rounds, games are missing, the last in the middle of its line.
        let whole = place.read(&format!("{name}/games.jsonl"));
        let journal = place.path(&format!("{name}/games.jsonl"));
        fs::write(&journal, &whole[..whole.len() / 2]).expect("a file");
        let resumed = place.play(&name, &[]);
        assert_eq!(bracket(&resumed), runs[0].0);
        assert!(but_for_clocks(place.records(&name)) == runs[0].1);
        // Killed again and again, with as many rounds in the plan as had begun.
        let mut pause = Duration::from_millis(20);
        let last = loop {
            let running = place.tournament("killed", &arguments).start();
            thread::sleep(pause);
            pause = pause * 5 / 4;
            running.signal("KILL");
            let run = running.finish();
            if run.code == Some(0) {
                break run;
            }
        };
        assert_eq!(bracket(&last), runs[0].0);
        assert!(but_for_clocks(place.records("killed")) == runs[0].1);
        fs::remove_dir_all(place.path("killed")).expect("it is there");
        let plan: Value = serde_json::from_str(&place.read(&format!("{name}/plan.json"))).unwrap();
        let seeds = plan["bots"].as_array().expect("bots").iter();
        let seeds: Vec<String> = seeds
            .map(|bot| bot["name"].as_str().unwrap().to_owned())
            .collect();
        let (winners, of_these) = recounted(&runs[0].1, &seeds, 4);
        tied += of_these;
        assert_eq!(
            runs[0].0.matches(" tie-break games").count(),
            of_these,
            "{}",
            runs[0].0
        );
        for winner in &winners {
            let advances = format!(": {winner} advances");
            let count = winners.iter().filter(|other| *other == winner).count();
            assert_eq!(runs[0].0.matches(&advances).count(), count, "{}", runs[0].0);
        }
        let of_openings = plan["openings"].as_array().expect("openings").len();
        assert_eq!(of_openings, 3 * (1 + 2));
    }
    assert!(tied >= 3, "{tied}");
    let refused = place
        .tournament("no", &[&THREE[..], &["--tie-break-games", "3"]].concat())
        .run();
    assert_eq!(refused.code, Some(2), "{refused}");
    assert!(
        refused.stderr.contains("expected an even number"),
        "{refused}"
    );
    let refused = place
        .tournament("no", &[&THREE[..], &["--tie-break-games", "2"]].concat())
        .run();
    assert!(
        refused.stderr.contains("is for --format knockout"),
        "{refused}"
    );
}

/// B beat C, with which it shares the points of the group and those among the three that are tied.
#[test]
fn groups_compare_those_still_tied_again() {
    let place = Place::new();
    let game = "./games/duel.sh AB:A BA:A AC:A CA:C BC:B AD:D BD:B DB:B CD:C DC:C";
    let bots = ["A", "C", "B", "D"].map(|name| format!("./says.sh {name}"));
    let bots = bots.each_ref().map(String::as_str);
    let options =
        "--format groups+knockout --groups 1 --pairs 1 --seed 1 --no-check --opening-plies 0";
    let options: Vec<&str> = options.split(' ').collect();
    let run = place.play("cup", &[&bots[..], &options, &["--game", game]].concat());
    let (_, group) = run.stdout.split_once("\ngroup A\n").expect("a group");
    let names = ["A", "B", "C", "D"].map(|name| group.find(&format!("says.sh {name} ")));
    assert!(names.is_sorted(), "{run}");
    let reached = table(&place, "cup");
    let reached = reached.iter().map(|row| [&row["name"], &row["reached"]]);
    let third = ["says.sh C", "3rd in group A"].map(Value::from);
    assert!(
        reached.into_iter().any(|row| row == third.each_ref()),
        "{run}"
    );
}

/// Bots that always draw: the bound is reached, and the better seed is the champion.
#[test]
fn tie_break_games_have_a_bound() {
    let place = Place::new();
    let bots = ["./drawn.sh"; 3];
    let options =
        "--no-check --pairs 1 --opening-plies 0 --seed 1 --format knockout --tie-break-games 4";
    let options: Vec<&str> = options.split(' ').collect();
    let run = place.play("cup", &[&bots[..], &options].concat());
    let told =
        "1–1  drawn.sh#2, then 2–2 in 4 tie-break games: drawn.sh#1 advances as the better seed";
    assert!(run.stdout.contains(told), "{run}");
    assert!(
        run.stdout.ends_with("drawn.sh#1 wins the tournament.\n"),
        "{run}"
    );
    assert_eq!(place.records("cup").len(), 2 * (2 + 4));
    // Tie-break games are part of their match: each opponent's points count once.
    let rows = table(&place, "cup");
    let number = |row: &Value, field: &str| row[field].as_f64().expect("a number");
    let of = |field: &str| -> Vec<f64> { rows.iter().map(|row| number(row, field)).collect() };
    let close = |found: Vec<f64>, expected: [f64; 3]| {
        let mut pairs = found.iter().zip(expected);
        pairs.all(|(a, b)| (a - b).abs() < 1e-9)
    };
    assert!(close(of("points"), [3.0, 6.0, 3.0]), "{rows:?}");
    assert!(close(of("buchholz"), [6.0, 6.0, 6.0]), "{rows:?}");
    assert!(close(of("buchholz_cut_1"), [0.0, 3.0, 0.0]), "{rows:?}");
}

#[test]
fn groups_and_play_offs() {
    let place = Place::new();
    let mut bots = vec!["builtin:random"; 5];
    bots.insert(3, "builtin:greedy");
    let more = [
        "--pairs",
        "2",
        "--seed",
        "4",
        "--format",
        "groups+knockout",
        "--groups",
        "2",
    ];
    let arguments = [&bots[..], &more].concat();
    let run = place.play("cup", &arguments);
    // Two groups of three, then two semi-finals and a final.
    assert_eq!(place.records("cup").len(), (2 * 3 + 3) * 4, "{run}");
    let rows = table(&place, "cup");
    let ranks: Vec<_> = rows
        .iter()
        .map(|row| row["rank"].as_u64().expect("a rank"))
        .collect();
    assert_eq!(ranks, [1, 2, 3, 3, 5, 5], "{run}");
    let reached: Vec<_> = rows
        .iter()
        .map(|row| row["reached"].as_str().expect("words"))
        .collect();
    assert_eq!(reached[0], "champion");
    assert_eq!(reached[4..], ["3rd in group A", "3rd in group B"]);
    // The bracket is drawn, and ends with the champion.
    let champion = rows[0]["name"].as_str().expect("a name");
    assert!(run.stdout.contains(&format!("├─ {champion}\n")), "{run}");
    assert!(run.stdout.contains("round 5 of 5"), "{run}");
    // The tables of the groups come before it; two of each go on.
    let (groups, _) = run.stdout.split_once("\nseeds: ").expect("a bracket");
    let (_, groups) = groups.split_once("\ngroup A\n").expect("groups");
    let (first, second) = groups.split_once("\ngroup B\n").expect("two groups");
    for group in [first, second] {
        assert_eq!(group.matches("builtin:").count(), 3, "{run}");
        assert_eq!(group.matches(" advances\n").count(), 2, "{run}");
    }
    assert!(
        run.stdout
            .ends_with(&format!("{champion} wins the tournament.\n")),
        "{run}"
    );
    // Going on finds everything done; killed in the play-offs, it plays the same games again.
    assert_eq!(place.play("cup", &[]).stdout, run.stdout);
    let expected = but_for_clocks(place.records("cup"));
    let text = place.read("cup/games.jsonl");
    let kept: Vec<&str> = text.lines().take(26).collect();
    fs::write(place.path("cup/games.jsonl"), kept.join("\n") + "\n").expect("a file");
    place.play("cup", &[]);
    assert_eq!(but_for_clocks(place.records("cup")), expected);
    // Matches that end in a tie are decided by the seeds of the play-offs, everywhere alike.
    for seed in ["3", "6", "7"] {
        let more = [
            "--pairs",
            "1",
            "--seed",
            seed,
            "--format",
            "groups+knockout",
            "--no-check",
        ];
        let seven = ["builtin:greedy"; 7];
        let run = place.play(seed, &[&seven[..], &more].concat());
        let champion = &table(&place, seed)[0];
        assert_eq!(champion["reached"], "champion");
        let champion = champion["name"].as_str().expect("a name");
        assert!(
            run.stdout
                .ends_with(&format!("{champion} wins the tournament.\n")),
            "{run}"
        );
        assert!(
            run.stdout.contains(&format!(": {champion} advances")),
            "{run}"
        );
        assert!(run.stdout.contains(&format!("├─ {champion}\n")), "{run}");
    }
    let wrong = place
        .tournament("wrong", &[&bots[..], &["--groups", "2"]].concat())
        .run();
    assert!(
        wrong
            .stderr
            .contains("--groups is for --format groups+knockout"),
        "{wrong}"
    );
}

#[test]
fn a_swiss_table_counts_byes() {
    let place = Place::new();
    let five = [
        "builtin:greedy",
        "builtin:random",
        "builtin:random",
        "builtin:random",
        "builtin:greedy",
    ];
    let arguments = [
        &five[..],
        &[
            "--pairs", "1", "--seed", "3", "--format", "swiss", "--rounds", "3",
        ],
    ]
    .concat();
    let run = place.play("swiss", &arguments);
    let rows = table(&place, "swiss");
    let number = |row: &Value, field: &str| row[field].as_f64().expect("a number");
    let points: Vec<f64> = rows.iter().map(|row| number(row, "points")).collect();
    assert!(points.is_sorted_by(|a, b| a >= b), "{points:?}");
    assert!(
        (points.iter().sum::<f64>() - 18.0).abs() < 1e-9,
        "{points:?}"
    );
    assert!((rows.iter().map(|row| number(row, "byes")).sum::<f64>() - 3.0).abs() < 1e-9);
    for row in &rows {
        let of_games = number(row, "wins") + number(row, "draws") / 2.0;
        assert!((number(row, "points") - of_games - 2.0 * number(row, "byes")).abs() < 1e-9);
    }
    assert!(
        run.stdout.contains("points, those for byes included"),
        "{run}"
    );
    assert!(run.stdout.contains("BH-C1"), "{run}");
    // Versions of bots have the byes of their bots.
    let by_version = Referee::new(["standings", "--by", "version", "--format", "json"])
        .args([place.path("swiss")])
        .run();
    let versions: Value = serde_json::from_str(&by_version.stdout).expect("JSON");
    let versions = versions["standings"].as_array().expect("a list");
    let figures = |rows: &[Value]| -> BTreeMap<String, [Value; 2]> {
        let figures = rows.iter().map(|row| {
            let name = row["name"].as_str().expect("a name");
            let name = name.split('@').next().unwrap_or_default();
            (
                name.to_owned(),
                ["points", "byes"].map(|field| row[field].clone()),
            )
        });
        figures.collect()
    };
    assert_eq!(figures(versions), figures(&rows), "{by_version}");
    assert_eq!(versions.len(), rows.len());
}

/// Tie-breaks computed anew from the plan and the records, round by round.
#[test]
fn a_swiss_table_with_benched_bots() {
    let place = Place::new();
    let works = ["builtin:greedy", "builtin:random", "builtin:random"];
    let (one, two) = (
        ["./never-starts.sh", "builtin:greedy"],
        ["./never-starts.sh"; 2],
    );
    // One benched bot sits out; of two the other one is met by a bot that plays.
    for (bots, least) in [(one, [0, 2]), (two, [2, 2])] {
        let bots = [&works[..], &bots].concat();
        let options = "--pairs 1 --seed 3 --format swiss --rounds 4 --bench-after 2 --no-check";
        let options: Vec<&str> = options.split(' ').collect();
        let name = format!("swiss {}", least[0]);
        place.play(&name, &[&bots[..], &options].concat());
        let (rounds, found) = swiss_rounds(&place, &name);
        assert!(found >= least, "{found:?}");
        let score = |name: &str| -> f64 { rounds[name].iter().map(|round| round.1).sum() };
        for row in table(&place, &name) {
            let name = row["name"].as_str().expect("a name");
            let opponents = rounds[name].iter().map(|(opponent, points, is_benched)| {
                let opponent = score(opponent.as_deref().unwrap_or(name));
                (opponent, points, is_benched)
            });
            let opponents: Vec<_> = opponents.collect();
            let buchholz: f64 = opponents.iter().map(|round| round.0).sum();
            let berger: f64 = opponents.iter().map(|round| round.0 * round.1).sum();
            let any_benched = opponents.iter().any(|round| *round.2);
            let cut = opponents.iter().filter(|round| *round.2 || !any_benched);
            let cut = cut.map(|round| round.0).fold(f64::INFINITY, f64::min);
            let expected = [score(name), buchholz, buchholz - cut, berger];
            let fields = ["points", "buchholz", "buchholz_cut_1", "sonneborn_berger"];
            let found = fields.map(|field| row[field].as_f64().expect("a number"));
            assert_eq!(
                found.map(f64::to_bits),
                expected.map(f64::to_bits),
                "{name}: {found:?} {:?}",
                rounds[name]
            );
        }
    }
}

/// By bot, for each round: the opponent (none: it did not play), the points, and whether the bot itself was benched.
type SwissRounds = BTreeMap<String, Vec<(Option<String>, f64, bool)>>;

/// From the plan and the records; how many meetings were not played, and how many benched bots sat out.
fn swiss_rounds(place: &Place, folder: &str) -> (SwissRounds, [u32; 2]) {
    let plan: Value =
        serde_json::from_str(&place.read(&format!("{folder}/plan.json"))).expect("a plan");
    let name = |id: &Value| {
        let id = usize::try_from(id.as_u64().expect("a number")).expect("an index");
        plan["bots"][id]["name"]
            .as_str()
            .expect("a name")
            .to_owned()
    };
    let mut rounds = SwissRounds::new();
    let games = but_for_clocks(place.records(folder));
    let mut found = [0; 2];
    // These bots forfeit every game in which they are asked, and are benched after two.
    let mut forfeits = BTreeMap::<String, u32>::new();
    for round in plan["rounds"].as_array().expect("rounds") {
        let before = forfeits.clone();
        let first = round["first_pair"].as_u64().expect("a number");
        for (number, pairing) in (first..).zip(round["pairings"].as_array().expect("pairings")) {
            let two = ["a", "b"].map(|half| &games[&format!("p{number:06}{half}")]["result"]);
            let is_unplayed = two.iter().all(|game| game["played"] == false);
            found[0] += u32::from(is_unplayed);
            let names = [name(&pairing["a"]), name(&pairing["b"])];
            for side in [0, 1] {
                let made = two.map(|game| match game["winner"].as_u64() {
                    None => 0.5,
                    Some(winner) => f64::from(u32::from(winner == side as u64)),
                });
                let opponent = (!is_unplayed).then(|| names[1 - side].clone());
                let by = two.iter().filter(|game| game["by"] == side).count();
                let is_benched = is_unplayed && by > 0;
                *forfeits.entry(names[side].clone()).or_default() +=
                    u32::try_from(by).expect("few");
                let of = rounds.entry(names[side].clone()).or_default();
                of.push((opponent, made.iter().sum(), is_benched));
            }
        }
        for bye in round["byes"].as_array().expect("byes") {
            let is_benched = before
                .get(&name(bye))
                .is_some_and(|&forfeits| forfeits >= 2);
            found[1] += u32::from(is_benched);
            let points = if is_benched { 0.0 } else { 2.0 };
            rounds
                .entry(name(bye))
                .or_default()
                .push((None, points, is_benched));
        }
    }
    (rounds, found)
}

#[test]
fn a_sequential_test() {
    let place = Place::new();
    let run = place.play(
        "t",
        &[
            "builtin:greedy",
            "builtin:random",
            "--sprt",
            "0,50",
            "--seed",
            "1",
            "-j",
            "3",
        ],
    );
    assert!(
        run.stdout
            .contains("SPRT of builtin:greedy against builtin:random: H1 accepted: a difference of 50 Elo rather than 0; "),
        "{run}"
    );
    let first = but_for_clocks(place.records("t"));
    place.play(
        "u",
        &[
            "builtin:greedy",
            "builtin:random",
            "--sprt",
            "0,50",
            "--seed",
            "1",
            "-j",
            "1",
        ],
    );
    assert_eq!(but_for_clocks(place.records("u")), first);
    // It is over, and going on says the same.
    assert_eq!(place.play("t", &[]).stdout, run.stdout);
    let three = place
        .tournament("v", &[&THREE[..], &["--sprt", "0,50"]].concat())
        .run();
    assert_eq!(three.code, Some(2), "{three}");
    assert!(three.stderr.contains("--sprt compares two bots"), "{three}");
}

#[test]
fn a_file_says_everything() {
    let place = Place::new();
    fs::create_dir(place.path("conf")).expect("a folder");
    fs::create_dir(place.path("conf/home")).expect("a folder");
    let bot = "#!/bin/sh\nexec \"$REFEREE_BIN\" bot \"$(cat strategy)$TAIL\"\n";
    fs::write(place.path("conf/bot.sh"), bot).expect("a bot");
    fs::write(place.path("conf/home/strategy"), "ran").expect("a file");
    fs::write(
        place.path("conf/tournament.toml"),
        r#"
            format = "round-robin"
            pairs = 2
            seed = 11
            move-time = "5s"
            restart = "game"

            [[bots]]
            name = "the random one"
            command = ["sh", "bot.sh"]
            directory = "home"
            environment = { TAIL = "dom" }
            start-time = "20s"

            [[bots]]
            command = "builtin:greedy"
            directory = "none-is-needed"
        "#,
    )
    .expect("a file");
    let config = place
        .path("conf/tournament.toml")
        .to_string_lossy()
        .into_owned();
    let run = place.play("t", &["--config", &config]);
    let games = place.records("t");
    assert_eq!(games.len(), 4, "{run}");
    assert_eq!(games[0]["seed"], 11);
    let names = games[0]["bots"].as_array().expect("bots").iter();
    let names: Vec<_> = names
        .map(|bot| bot["name"].as_str().unwrap_or_default())
        .collect();
    assert_eq!(names, ["the random one", "builtin:greedy"]);
    let plan: Value = serde_json::from_str(&place.read("t/plan.json")).expect("a plan");
    assert_eq!(plan["bots"][0]["limits"]["start_time"], 20.0);
    assert_eq!(plan["bots"][0]["limits"]["move_time"], 5.0);
    assert_eq!(plan["bots"][1]["limits"]["start_time"], 10.0);

    for (text, expected) in [
        ("pears = 2", "tournament.toml:1: unknown option `pears`"),
        (
            "[sandbox]\nkind = \"none\"",
            "tournament.toml:1: there are no sections such as [sandbox]",
        ),
        (
            "format = \"ladder\"",
            "[possible values: round-robin, gauntlet, swiss, knockout",
        ),
        ("move-time = \"soon\"", "expected a time such as 2s"),
        ("pairs = ", "tournament.toml"),
        // Relative to the file, as every path.
        (
            "game = \"./bot.sh\"\nbots = [{ command = \"builtin:a\" }, { command = \"builtin:b\" }]",
            "conf/./bot.sh",
        ),
    ] {
        fs::write(place.path("conf/tournament.toml"), text).expect("a file");
        let run = place.tournament("x", &["--config", &config]).run();
        assert_eq!(run.code, Some(2), "{run}");
        assert!(run.stderr.contains(expected), "{expected}: {run}");
    }
}

/// Several folders are a bot each where each has one program, whatever else is in them.
#[test]
fn several_folders_are_several_bots() {
    let place = Place::new();
    let bot = "#!/bin/sh\nexec \"$REFEREE_BIN\" bot random\n";
    for (file, mode) in [
        ("s/anna/bot.sh", 0o755),
        ("s/anna/lib/helper.sh", 0o755),
        ("s/ben/mine.sh", 0o755),
        ("s/ben/lib/helper.sh", 0o755),
    ] {
        let file = place.path(file);
        fs::create_dir_all(file.parent().expect("a folder")).expect("a folder");
        executable(&file, bot, mode);
    }
    let folders = ["s/anna", "s/ben"].map(|folder| place.path(folder).display().to_string());
    let [anna, ben] = &folders;
    let run = place.play("t", &[anna, ben, "builtin:random", "--pairs", "1"]);
    let plan: Value = serde_json::from_str(&place.read("t/plan.json")).expect("a plan");
    let bots = plan["bots"].as_array().expect("bots");
    let names: Vec<_> = bots.iter().map(|bot| bot["name"].as_str()).collect();
    let expected = ["anna", "ben", "builtin:random"].map(Some);
    assert_eq!(names, expected, "{run}");
}

#[test]
fn a_folder_of_bots() {
    let place = Place::new();
    let bot = "#!/bin/sh\nexec \"$REFEREE_BIN\" bot random\n";
    for name in [
        "class/anna.sh",
        "class/ben.sh",
        "class/chris/solution.sh",
        "class/dora/first.sh",
        "class/dora/second.sh",
        "class/emil/project/solution.sh",
        "class/empty/notes.txt",
        "class/README.md",
        "class/.hidden.sh",
    ] {
        let path = place.path(name);
        fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
        fs::write(path, bot).expect("a file");
    }
    let class = place.path("class").to_string_lossy().into_owned();
    let run = place.play("t", &[&class, "--pairs", "1"]);
    let plan: Value = serde_json::from_str(&place.read("t/plan.json")).expect("a plan");
    let names: Vec<_> = plan["bots"]
        .as_array()
        .expect("bots")
        .iter()
        .map(|bot| &bot["name"])
        .collect();
    assert_eq!(names, ["anna.sh", "ben.sh", "chris", "emil"]);
    assert!(run.stderr.contains("README.md"), "{run}");
    let refused = [
        "class/empty: there is no program in this folder\n    Fix: put one into it",
        "class/dora: there are several programs in this folder: first.sh, second.sh\n    Fix: call the one that counts main or bot, or name it",
    ];
    for words in refused {
        assert!(run.stderr.contains(words), "{words}: {run}");
    }
}

/// Folders name bots when the files' names do not tell them apart, and when a folder is all that was given.
#[test]
fn bots_are_named_by_their_folders() {
    let place = Place::new();
    let bot = "#!/bin/sh\nexec \"$REFEREE_BIN\" bot random\n";
    for name in ["anna/bot.sh", "ben/bot.sh", "carla/main.sh"] {
        let path = place.path(name);
        fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
        fs::write(path, bot).expect("a file");
    }
    let path = |name: &str| place.path(name).to_string_lossy().into_owned();
    let bots = [path("anna/bot.sh"), path("ben/bot.sh"), path("carla")];
    let mut arguments: Vec<&str> = bots.iter().map(String::as_str).collect();
    arguments.extend(["--pairs", "1"]);
    place.play("t", &arguments);
    let plan: Value = serde_json::from_str(&place.read("t/plan.json")).expect("a plan");
    let names = [0, 1, 2].map(|index| plan["bots"][index]["name"].clone());
    assert_eq!(names, ["anna", "ben", "carla"]);
    let run = Referee::new([&bots[0], &bots[1], "--json"]).run();
    let record = run.printed_records().remove(0);
    assert_eq!(record["bots"][0]["name"], "anna", "{run}");
    assert_eq!(record["bots"][1]["name"], "ben", "{run}");
}

#[test]
fn names_are_no_paths() {
    let place = Place::new();
    let config = place.path("t.toml");
    let long = "x".repeat(300);
    fs::write(
        &config,
        format!(
            r#"
            [[bots]]
            name = "../../escape"
            command = "./script.sh '!out of place\\n'"
            [[bots]]
            name = "/"
            command = "./script.sh '!also\\n'"
            [[bots]]
            name = "{long}"
            command = "builtin:random"
            [[bots]]
            name = "=cmd()"
            command = "builtin:random"
            "#
        ),
    )
    .expect("a file");
    let config = config.to_string_lossy().into_owned();
    let run = place.play("t", &["--config", &config, "--no-check", "--pairs", "1"]);
    let mut found: Vec<_> = fs::read_dir(place.path("t/bots"))
        .expect("logs")
        .map(|entry| {
            entry
                .expect("an entry")
                .file_name()
                .into_string()
                .expect("a name")
        })
        .collect();
    found.sort();
    assert_eq!(found, ["bot", "escape"], "{run}");
    let written = place.read("t/bots/escape/stderr.written");
    assert!(
        written
            .lines()
            .all(|line| line.starts_with('p') && line.ends_with(" out of place")),
        "{written}"
    );
    assert!(place.read("t/crosstable.csv").contains("'=cmd()"), "{run}");
}

#[test]
fn bots_that_repeat_themselves() {
    let place = Place::new();
    let still = [
        "./never-starts.sh",
        "./never-starts.sh",
        "--no-check",
        "--opening-plies",
        "0",
        "--pairs",
        "5",
    ];
    let run = place.play("forfeits", &still);
    assert!(!run.stdout.contains("distinct games"), "{run}");
    let greedy = "../../players/greedy.py";
    if which("python3") {
        let arguments = [
            greedy,
            greedy,
            "--opening-plies",
            "0",
            "--pairs",
            "5",
            "--seed",
            "1",
        ];
        let run = place.play("t", &arguments);
        let few = run.stdout.contains("distinct games");
        assert_eq!(few, run.stderr.contains("repeat themselves"), "{run}");
    }
}

fn which(program: &str) -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).any(|folder| folder.join(program).exists())
}

#[test]
fn openings_of_a_file() {
    let place = Place::new();
    fs::write(
        place.path("openings"),
        "A...............\nAB..............\n",
    )
    .expect("a file");
    let file = place.path("openings").to_string_lossy().into_owned();
    let common = [
        "builtin:random",
        "builtin:random",
        "--pairs",
        "3",
        "--openings",
    ];
    place.play("t", &[&common[..], &[&file]].concat());
    let starts: Vec<_> = but_for_clocks(place.records("t"))
        .into_values()
        .step_by(2)
        .map(|record| record["start"].as_str().expect("a board").to_owned())
        .collect();
    assert_eq!(
        starts,
        ["A...............", "AB..............", "A..............."]
    );
    fs::write(
        place.path("openings"),
        "A...............\nA?..............\n",
    )
    .expect("a file");
    fs::write(place.path("openings"), "A..\n").expect("a file");
    let wrong = place
        .tournament("u", &[&common[..], &[&file]].concat())
        .run();
    assert_eq!(wrong.code, Some(2), "{wrong}");
    assert!(wrong.stderr.contains("line 1"), "{wrong}");
}

#[test]
fn four_in_a_row() {
    let place = Place::new();
    let run = place.play(
        "t",
        &[
            "builtin:random",
            "builtin:greedy",
            "--game",
            "four-in-a-row",
            "--pairs",
            "2",
        ],
    );
    let games = place.records("t");
    assert!(
        games.iter().all(|game| game["game"] == "four-in-a-row"),
        "{run}"
    );
    assert_eq!(place.play("t", &[]).stdout, run.stdout);
}

#[test]
fn a_piece_set_of_ones_own() {
    let place = Place::new();
    let set = concat!(env!("CARGO_MANIFEST_DIR"), "/sets/dutch.csv");
    let run = place.play(
        "t",
        &[
            "builtin:random",
            "builtin:greedy",
            "--pieces",
            set,
            "--pairs",
            "1",
        ],
    );
    let games = place.records("t");
    assert!(
        games[0]["pieces"]
            .as_str()
            .is_some_and(|csv| csv.starts_with("stuk")),
        "{run}"
    );
    assert_eq!(place.play("t", &[]).stdout, run.stdout);
}

/// A full disk: the file may not grow beyond a few kilobytes.
#[test]
fn a_disk_that_is_full() {
    let place = Place::new();
    let arguments = [&THREE[..], &["--pairs", "20", "--seed", "6", "-j", "2"]].concat();
    place.play("whole", &arguments);
    let expected = but_for_clocks(place.records("whole"));
    let run = place
        .tournament("t", &arguments)
        .shell("trap '' XFSZ; ulimit -f 20; exec \"$0\" \"$@\"")
        .run();
    assert_eq!(run.code, Some(1), "{run}");
    assert!(run.stderr.contains("games.jsonl: cannot write"), "{run}");
    assert!(
        run.stderr.contains("to resume: referee tournament --out"),
        "{run}"
    );
    let before = place.records_so_far("t");
    assert!(!before.is_empty(), "{run}");
    // With room again it goes on, and nothing is lost or glued together.
    place.play("t", &[]);
    assert!(place.read("t/games.jsonl").starts_with(&before));
    assert_eq!(but_for_clocks(place.records("t")), expected);
}

/// The referee is stopped while a bot thinks, until its time is over: the bot had answered.
#[test]
fn a_clock_that_ran_out_while_the_referee_stood_still() {
    let place = Place::new();
    let bots = ["./slow-answers.sh", "./slow-answers.sh"];
    let limits = [
        "--no-check",
        "--pairs",
        "1",
        "--seed",
        "4",
        "--move-time",
        "900ms",
    ];
    let mut running = place
        .tournament("t", &[&bots[..], &limits].concat())
        .start();
    let asked = place.path("t/plan.json");
    running.wait_until(|scratch| {
        asked.exists() && fs::metadata(scratch.join("asked")).is_ok_and(|meta| meta.len() > 6)
    });
    running.signal("STOP");
    std::thread::sleep(Duration::from_millis(1500));
    running.signal("CONT");
    let run = running.finish();
    assert_eq!(run.code, Some(0), "{run}");
    assert!(
        run.stderr.contains("the game is void and is played again"),
        "{run}"
    );
    let games = place.records("t");
    assert_eq!(games.len(), 2, "{run}");
    assert!(
        games.iter().all(|game| game["result"]["by"].is_null()),
        "{run}"
    );
    assert!(
        games.iter().any(|game| game["voids"].as_u64() == Some(1)),
        "{run}"
    );
}

/// The referee is stopped during the entry check, until the bots' time is over: they had answered.
#[test]
fn an_entry_check_during_which_the_referee_stood_still() {
    let place = Place::new();
    let bots = ["./slow-answers.sh 30", "./slow-answers.sh 30"];
    let limits = ["--pairs", "1", "--seed", "4", "--move-time", "900ms"];
    let mut running = place
        .tournament("t", &[&bots[..], &limits].concat())
        .start();
    running
        .wait_until(|scratch| fs::metadata(scratch.join("asked")).is_ok_and(|meta| meta.len() > 6));
    assert!(!place.path("t/plan.json").exists());
    running.signal("STOP");
    std::thread::sleep(Duration::from_millis(1500));
    running.signal("CONT");
    let run = running.finish();
    assert_eq!(run.code, Some(0), "{run}");
    assert_eq!(place.records("t").len(), 2, "{run}");
}

#[test]
fn wrong_usage() {
    let place = Place::new();
    let run = Referee::new(["tournament"]).run();
    assert_eq!(run.code, Some(2), "{run}");
    assert!(run.stderr.contains("there are no bots"), "{run}");
    for (arguments, expected) in [
        (&["builtin:random"][..], "needs two bots, and one can enter"),
        (
            &["human", "builtin:random"],
            "people do not enter tournaments",
        ),
        (
            &["builtin:random", "builtin:random", "--pairs", "0"],
            "--pairs",
        ),
        (
            &["builtin:random", "builtin:random", "--sprt", "5"],
            "two or four numbers",
        ),
        (
            &["builtin:random", "builtin:random", "--sprt", "9,5"],
            "elo0 < elo1",
        ),
        (
            &["builtin:random", "builtin:random", "--opening-plies", "16"],
            "choose fewer",
        ),
        (
            &[
                "builtin:random",
                "builtin:random",
                "--format",
                "knockout",
                "--rounds",
                "2",
            ],
            "leave --rounds out",
        ),
        (
            &[
                "builtin:random",
                "builtin:random",
                "--config",
                "nothing.toml",
            ],
            "nothing.toml",
        ),
        (&[], "no tournament to resume"),
    ] {
        let run = place.tournament("t", arguments).run();
        assert_eq!(run.code, Some(2), "{arguments:?}: {run}");
        assert!(run.stderr.contains(expected), "{expected}: {run}");
        assert!(!place.path("t").exists(), "nothing is left of it: {run}");
    }
}

#[test]
fn blank_lines_among_records_are_ignored() {
    let place = Place::new();
    let bots = ["builtin:random", "builtin:greedy"];
    place.play(
        "whole",
        &[&bots[..], &["--pairs", "1", "--no-check"]].concat(),
    );
    let journal = place.path("whole").join("games.jsonl");
    let add = |path: &Path| {
        let mut text = fs::read_to_string(path).expect("records");
        text.push_str("\n \t\r\n\n");
        fs::write(path, text).expect("a file");
    };
    add(&journal);
    let copy = place.path("copy.jsonl");
    fs::copy(&journal, &copy).expect("a copy");
    let page = place.path("page.html");
    for command in ["standings", "report", "analyse", "replay"] {
        let run = Referee::new([command]).args([&copy]);
        let run = match command {
            "report" => run.args(["-o"]).args([&page]).run(),
            "analyse" => run.args(["--time-per-move", "10ms"]).run(),
            _ => run.run(),
        };
        assert_eq!(run.code, Some(0), "{command}: {run}");
    }
    // What is appended to such a file makes them blank lines between records.
    let run = Referee::new(["--record"]).args([&copy]).args(bots).run();
    assert_eq!(run.code, Some(0), "{run}");
    let run = Referee::new(["replay", "--quiet"]).args([&copy]).run();
    assert_eq!(run.code, Some(0), "{run}");
    place.play("whole", &[]);
    assert_eq!(place.records("whole").len(), 2);
    // Parts of a tournament.
    let parts = place.path("parts");
    let out = ["--out".as_ref(), parts.as_os_str()];
    let run = Referee::new([
        "shard",
        "plan",
        "--sandbox",
        "none",
        "--pairs",
        "2",
        "--no-check",
    ])
    .args(bots)
    .args(out)
    .run();
    assert_eq!(run.code, Some(0), "{run}");
    for shard in ["1/2", "2/2"] {
        let run = Referee::new(["shard", "run"])
            .args([&parts])
            .args(["--shard", shard])
            .run();
        assert_eq!(run.code, Some(0), "{run}");
    }
    add(&parts.join("shards/1-of-2.jsonl"));
    let run = Referee::new(["shard", "merge"]).args([&parts]).run();
    assert_eq!(run.code, Some(0), "{run}");
    assert_eq!(records(&parts).len(), 4);
}

#[test]
fn a_tournament_that_is_too_large_is_refused_at_once() {
    let place = Place::new();
    let bots = ["builtin:random", "builtin:greedy"];
    for (options, parts) in [
        (
            &["--rounds", "100000"][..],
            ["--rounds 100000", "10000 rounds at most"],
        ),
        (
            &["--pairs", "100000000"],
            ["100000000 pairs", "10000000 at most"],
        ),
        (
            &["--rounds", "10000", "--pairs", "4294967295"],
            ["42949672950000 pairs", "fewer --rounds or --pairs"],
        ),
    ] {
        let arguments = [&bots[..], options, &["--no-check"]].concat();
        let run = place.tournament("large", &arguments).run();
        assert_eq!(run.code, Some(2), "{run}");
        for part in parts {
            assert!(run.stderr.contains(part), "`{part}` is missing\n{run}");
        }
        assert!(!place.path("large").exists());
    }
}

#[test]
fn a_tournament_without_a_limit_for_a_move() {
    let place = Place::new();
    let two = ["builtin:random", "builtin:greedy"];
    let run = place.play(
        "t",
        &[&two[..], &["--move-time", "none", "--pairs", "1"]].concat(),
    );
    let plan: Value = serde_json::from_str(&place.read("t/plan.json")).expect("a plan");
    for bot in [0, 1] {
        assert_eq!(
            plan["bots"][bot]["limits"]["move_time"],
            Value::Null,
            "{run}"
        );
    }
    // Resumed, it has the limits that were planned.
    place.play("t", &[]);

    let config = place.path("none.toml");
    let words = "move-time = \"none\"\npairs = 1\nbots = [\
        { command = \"builtin:random\", move-time = \"3s\" }, { command = \"builtin:greedy\" }]\n";
    fs::write(&config, words).expect("a file");
    place.play("own", &["--config", &config.to_string_lossy()]);
    let plan: Value = serde_json::from_str(&place.read("own/plan.json")).expect("a plan");
    assert_eq!(plan["bots"][0]["limits"]["move_time"], 3.0);
    assert_eq!(plan["bots"][1]["limits"]["move_time"], Value::Null);
}

#[test]
fn what_the_referee_writes_beside_a_bot_does_not_change_it() {
    let place = Place::new();
    for bot in ["anna", "ben"] {
        fs::create_dir(place.path(bot)).expect("a directory");
        let file = place.path(bot).join("bot.sh");
        copy_program(&common::bots().join("script.sh"), &file);
    }
    let bots = ["anna/bot.sh", "ben/bot.sh"].map(|bot| place.path(bot).display().to_string());
    let own = |name: &str| place.path(name).display().to_string();
    let run = |out: &str, more: &[&str]| {
        let bots = [bots[0].as_str(), &bots[1]];
        let arguments = [&bots[..], &["--pairs", "1", "--no-check"], more].concat();
        place.tournament(out, &arguments).run()
    };
    // What cannot be told from a bot's own files is refused before anything is played.
    {
        let refused = run("anna", &[]);
        assert_eq!(refused.code, Some(2), "{refused}");
        let sentence = format!("--out {}", own("anna"));
        assert!(refused.stderr.contains(&sentence), "{refused}");
        assert!(refused.stderr.contains("anna's own"), "{refused}");
        assert!(
            !place.path("anna").join("games.jsonl").exists(),
            "{refused}"
        );
    }
    // A page is no file of the bot's, nor is a folder of a tournament.
    let page = own("anna/page.html");
    for out in ["out", "anna/games"] {
        for more in [&["--report", &page][..], &[]] {
            let played = run(out, more);
            assert_eq!(played.code, Some(0), "{played}");
        }
    }
    assert!(Path::new(&page).exists());
    // A record that is new since the tournament began is not the bot's, though a bot may play by one that was there.
    let record = own("anna/record.jsonl");
    let game = Referee::new([&bots[0], &bots[1]]).args(["--record", &record, "--sandbox", "none"]);
    let game = game.run();
    assert!(Path::new(&record).exists(), "{game}");
    let resumed = run("out", &[]);
    assert_eq!(resumed.code, Some(0), "{resumed}");
    assert!(
        resumed
            .stderr
            .contains("not counted without --accept-changes: record.jsonl"),
        "{resumed}"
    );
}
