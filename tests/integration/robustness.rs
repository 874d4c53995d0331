//! No fault is blamed on the wrong bot, nothing that exists is overwritten, and what goes wrong
//! around the referee ends in a sentence.

use std::ffi::OsStr;
use std::fs::{self, File};
use std::os::unix::ffi::OsStrExt as _;

use referee::tournament::plan::Plan;

use crate::common::files::executable;
use crate::common::{Referee, Run, bots, runs_with_set};

/// Checks that nothing was played, and that the error has these parts.
#[track_caller]
fn refused(run: &Run, parts: &[&str]) {
    assert_eq!(run.code, Some(2), "{run}");
    assert_eq!(run.stdout, "", "{run}");
    for part in parts {
        assert!(run.stderr.contains(part), "`{part}` is missing\n{run}");
    }
}

#[track_caller]
fn reason(run: &Run) -> String {
    assert_eq!(run.code, Some(0), "{run}");
    let result = &run.records()[0]["result"];
    assert_eq!(result["by"], 0, "{run}");
    result["reason"].as_str().expect("a word").to_owned()
}

// Two lines for one question

#[test]
fn a_second_line_is_extra_output_whatever_the_opponent_does() {
    for mode in ["at-once", "later", "line"] {
        let bot = format!("./twice.sh {mode}");
        // One answers before the second line is there, one long after it.
        for opponent in ["builtin:random", "./waits.sh"] {
            let run = Referee::new(["--seed", "1", "--first", "1", &bot, opponent])
                .recorded()
                .run();
            assert_eq!(reason(&run), "extra-output", "{mode} {opponent} {run}");
        }
    }
}

#[test]
fn a_second_line_makes_the_same_record_whatever_the_opponent_does() {
    let result = |opponent: &str| {
        let run = Referee::new(["--seed", "1", "--first", "1", "./twice.sh later", opponent])
            .recorded()
            .run();
        let record = run.records().remove(0);
        (record["turns"].clone(), record["result"].clone())
    };
    let quick = result("builtin:random");
    // It draws the same random numbers.
    let slow = result("./waits.sh");
    assert_eq!(quick.1["detail"], slow.1["detail"]);
    assert_eq!(quick.1["answer"], slow.1["answer"]);
    assert_eq!(
        quick.0.as_array().expect("turns").len(),
        slow.0.as_array().expect("turns").len()
    );
}

#[test]
fn one_wrong_line_is_no_second_line() {
    for (answers, expected) in [
        (r"./script.sh '- A\n' '- A\n'", "illegal-move"),
        (r"./script.sh '- A\n' 'a\n'", "malformed"),
    ] {
        let run = Referee::new(["--seed", "1", "--first", "1", answers, "builtin:random"])
            .recorded()
            .run();
        assert_eq!(reason(&run), expected, "{run}");
    }
}

// First lines

#[cfg(target_os = "linux")]
#[test]
fn a_first_line_that_the_system_reads_as_one_word() {
    let place = tempfile::tempdir().expect("a directory");
    let file = |name: &str, first: &str| {
        executable(
            &place.path().join(name),
            format!("{first}\nread -r x\n"),
            0o755,
        );
    };
    for (name, first, fix) in [
        ("two", "#!/usr/bin/env sh -u", "#!/usr/bin/env -S sh -u"),
        ("tab", "#! /usr/bin/env\tsh\t-u ", "#!/usr/bin/env -S sh"),
        ("set", "#!/usr/bin/env A=1 sh", "#!/usr/bin/env -S A=1 sh"),
        ("flag", "#!/usr/bin/env -i sh", "#!/usr/bin/env -S -i sh"),
    ] {
        file(name, first);
        let run = Referee::new([&format!("./{name}"), "builtin:random"])
            .directory(place.path())
            .run();
        refused(&run, &["as one word", fix]);
        let run = Referee::new(["check", &format!("./{name}")])
            .directory(place.path())
            .run();
        assert_ne!(run.code, Some(0), "{run}");
        assert!(run.stderr.contains("as one word"), "{run}");
    }
    for (name, first) in [
        ("split", "#!/usr/bin/env -S sh -u"),
        ("split-glued", "#!/usr/bin/env -vS sh -u"),
        ("one", "#!/usr/bin/env sh"),
        ("no-env", "#!/bin/sh -u"),
    ] {
        file(name, first);
        let run = Referee::new(["--seed", "1", &format!("./{name}"), "builtin:random"])
            .directory(place.path())
            .run();
        assert_eq!(run.code, Some(0), "{run}");
    }
}

// Piece sets that only the referee could read

fn dutch() -> Vec<u8> {
    fs::read(bots().join("../../sets/dutch.csv")).expect("a set")
}

#[test]
fn a_piece_set_from_a_pipe_or_a_file_with_an_odd_name() {
    let set = dutch();
    let place = tempfile::tempdir().expect("a directory");
    let odd = place.path().join(OsStr::from_bytes(b"odd-\xff"));
    fs::create_dir(&odd).expect("a directory");
    let odd = odd.join("set.csv");
    fs::write(&odd, &set).expect("a file");
    let bot = "./keeps-pieces.sh";
    let of_match = || Referee::new(["--seed", "1", bot, "builtin:random", "--pieces"]).recorded();
    let of_check = || Referee::new(["check", bot, "--pieces"]);
    for new in [&of_match as &dyn Fn() -> Referee, &of_check] {
        for run in runs_with_set(new, &odd, &set) {
            assert_eq!(run.code, Some(0), "{run}");
            if run.records().is_empty() {
                continue;
            }
            assert_eq!(run.file("pieces").as_bytes(), set, "{run}");
            assert_ne!(run.records()[0]["result"]["reason"], "exited", "{run}");
        }
    }
    // The name of a file that everybody can read stays.
    let plain = place.path().join("set.csv");
    fs::write(&plain, &set).expect("a file");
    let run = of_match().args([&plain]).run();
    assert_eq!(run.code, Some(0), "{run}");
}

#[test]
fn no_directory_for_temporary_files() {
    // A bot could not be told such a name, so the set is copied.
    let place = tempfile::tempdir().expect("a directory");
    let odd = place.path().join(OsStr::from_bytes(b"\xff.csv"));
    fs::copy("sets/dutch.csv", &odd).expect("a copy");
    let run = Referee::new(["check", "builtin:random", "--pieces"])
        .args([odd])
        .env("TMPDIR", "/nosuch/directory")
        .run();
    assert_eq!(run.code, Some(2), "{run}");
    assert!(run.stderr.contains("/nosuch/directory"), "{run}");
    assert!(run.stderr.contains("set TMPDIR"), "{run}");
}

// Files that exist

#[test]
fn a_report_replaces_nothing_but_a_report() {
    let place = tempfile::tempdir().expect("a directory");
    let at = |name: &str| place.path().join(name);
    fs::write(at("notes.txt"), "mine\n").expect("a file");
    executable(
        &at("bot"),
        "#!/bin/sh\nexec \"$REFEREE_BIN\" bot random\n",
        0o755,
    );
    let plays = |report: &str| {
        Referee::new(["--seed", "1", "./bot", "builtin:random", "--report", report])
            .directory(place.path())
    };
    refused(
        &plays("notes.txt").run(),
        &["--report notes.txt", "not a page"],
    );
    refused(&plays("bot").run(), &["--report bot", "not a page"]);
    refused(&plays(".").run(), &["--report .", "directory"]);
    refused(
        &plays("nosuch/page.html").run(),
        &["nosuch: there is no such file or directory"],
    );
    for record in ["games", "./games", "new/../games"] {
        fs::create_dir_all(at("new")).expect("a directory");
        let run = plays("games").args(["--record", record]).run();
        refused(&run, &["--report games", "replace the records"]);
    }
    assert_eq!(fs::read(at("notes.txt")).expect("a file"), b"mine\n");
    for _ in 0..2 {
        let run = plays("page.html").run();
        assert_eq!(run.code, Some(0), "{run}");
    }
    File::create(at("empty.html")).expect("a file");
    let run = plays("empty.html").run();
    assert_eq!(run.code, Some(0), "{run}");
}

#[test]
fn records_are_not_added_to_a_foreign_file() {
    for text in ["a line\nand half", "a line\n"] {
        let place = tempfile::tempdir().expect("a directory");
        let path = place.path().join("notes.txt");
        fs::write(&path, text).expect("a file");
        let run = Referee::new(["--seed", "1", "builtin:random", "builtin:random"])
            .args([OsStr::new("--record"), path.as_os_str()])
            .run();
        refused(&run, &["notes.txt: it is not a file of records"]);
        assert_eq!(fs::read_to_string(&path).expect("a file"), text);
        assert_eq!(fs::read_dir(place.path()).expect("a directory").count(), 1);
    }
}

#[test]
fn a_lock_may_last_a_moment_longer() {
    let place = tempfile::tempdir().expect("a directory");
    let path = place.path().join("games.jsonl");
    let file = File::create(&path).expect("a file");
    file.lock().expect("a lock");
    let mut running = Referee::new(["--seed", "1", "builtin:random", "builtin:random"])
        .args([OsStr::new("--record"), path.as_os_str()])
        .start();
    let opened = format!("/proc/{}/fd", running.id());
    running.wait_until(|_| {
        let open = fs::read_dir(&opened).into_iter().flatten().flatten();
        open.into_iter()
            .any(|fd| fs::read_link(fd.path()).is_ok_and(|to| to == path))
    });
    drop(file);
    let run = running.finish();
    assert_eq!(run.code, Some(0), "{run}");
}

// What is shown

#[test]
fn letters_that_look_like_others_are_escaped() {
    // `6 A` with a no-break space, and full-width digits and letters.
    for (answer, shown) in [
        (r"-\0302\0240A\n", r"`-\u{a0}A`"),
        (r"- \0357\0274\0241\n", r"`- \u{ff21}`"),
    ] {
        let bot = shell_words::join(["./script.sh", answer]);
        let run = Referee::new(["--seed", "1", "--first", "1", &bot, "builtin:random"])
            .recorded()
            .run();
        reason(&run);
        assert!(run.stderr.contains(shown), "{run}");
    }
}

#[test]
fn the_score_of_one_game_of_many() {
    let place = tempfile::tempdir().expect("a directory");
    let text = fs::read(bots().join("vanishes.sh")).expect("a bot");
    executable(&place.path().join("vanishes.sh"), text, 0o755);
    let run = Referee::new(["--seed", "1", "-n", "3", "--restart"])
        .args(["./vanishes.sh", "builtin:random"])
        .directory(place.path())
        .run();
    assert_eq!(run.code, Some(2), "{run}");
    assert!(run.last_line().starts_with("Score: "), "{run}");
    assert!(run.last_line().ends_with(" in 1 game)."), "{run}");
    assert!(run.stderr.contains("cannot start vanishes.sh"), "{run}");
}

#[cfg(target_os = "linux")]
#[test]
fn a_match_goes_on_when_nothing_can_be_written_to_stderr() {
    let run = Referee::new(["--seed", "1", "-n", "2", "./ends.sh", "builtin:random"])
        .recorded()
        .shell("exec \"$0\" \"$@\" 2>/dev/full")
        .run();
    assert_eq!(run.code, Some(0), "{run}");
    assert_eq!(run.records().len(), 2, "{run}");
    assert!(run.last_line().starts_with("Score: "), "{run}");
}

#[test]
fn blank_lines_after_records() {
    let run = Referee::new(["--seed", "1", "-n", "2", "builtin:random", "builtin:random"])
        .recorded()
        .run();
    let path = run.scratch().join(crate::common::RECORDS);
    let text = fs::read_to_string(&path).expect("records");
    fs::write(&path, format!("{text}\n\n")).expect("a file");
    let again = Referee::new([OsStr::new("replay"), path.as_os_str()]).run();
    assert_eq!(again.code, Some(0), "{again}");
    assert!(
        again
            .stderr
            .contains("2 games checked: all follow the rules"),
        "{again}"
    );
}

// Limits

#[test]
fn too_few_files_may_be_open() {
    for limit in [6, 7, 8, 10, 12] {
        let run = Referee::new(["--seed", "1", "builtin:random", "builtin:random"])
            .shell(format!("ulimit -n {limit}; exec \"$0\" \"$@\""))
            .run();
        assert_eq!(run.code, Some(1), "{run}");
        assert!(run.stderr.contains("raise the limit (ulimit -n "), "{run}");
    }
    let run = Referee::new(["--seed", "1", "builtin:random", "builtin:random"])
        .shell("ulimit -n 64; exec \"$0\" \"$@\"")
        .run();
    assert_eq!(run.code, Some(0), "{run}");
}

#[test]
fn a_record_beyond_the_largest_size_of_a_file() {
    let run = Referee::new([
        "--seed",
        "1",
        "-n",
        "20",
        "builtin:random",
        "builtin:random",
    ])
    .recorded()
    .shell("ulimit -f 2; exec \"$0\" \"$@\"")
    .run();
    assert_eq!(run.code, Some(1), "{run}");
    assert!(
        run.stderr
            .contains("cannot write the record: the file would be larger than is allowed"),
        "{run}"
    );
    // Whole lines only.
    let text = run.file(crate::common::RECORDS);
    assert!(text.is_empty() || text.ends_with('\n'), "{run}");
    run.records();
}

#[test]
fn a_plan_whose_rounds_do_not_follow_each_other_is_refused() {
    let directory = tempfile::tempdir().expect("a directory");
    let run = |line: &str| {
        Referee::new(line.split(' '))
            .directory(directory.path())
            .run()
    };
    run("tournament --sandbox none --no-check --pairs 1 --out t builtin:random builtin:greedy");
    let file = directory.path().join("t/plan.json");
    let mut plan = Plan::from_json(&fs::read(&file).expect("a plan")).expect("a plan");
    for first in [0, 7, u64::MAX] {
        plan.rounds[0].first_pair = first;
        fs::write(&file, plan.to_json().expect("a plan")).expect("a file");
        for command in [
            "standings t",
            "report t",
            "shard run t",
            "tournament --sandbox none --out t",
        ] {
            let run = run(command);
            assert!(
                run.code == Some(2) && run.stderr.contains("t/plan.json: it has been changed"),
                "{first} {run}"
            );
        }
    }
}
