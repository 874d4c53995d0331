//! The log: what is in it, where it goes, and that it disturbs nothing.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::thread;
use std::time::Duration;

use serde_json::Value;

use crate::common::files::executable;
use crate::common::{Referee, Run, signals};
use referee::log_target;

const DOC: &str = include_str!("../../docs/log.md");

/// A short match that `builtin:greedy` wins, in the scratch directory.
fn short_match() -> Referee {
    let referee = Referee::new(["--seed", "7", "--first", "1"]);
    let scratch = referee.scratch().to_owned();
    referee.directory(scratch)
}

fn opponents(referee: Referee) -> Referee {
    referee.args(["builtin:greedy", "builtin:random"])
}

/// The events of a log in JSON.
fn events(log: &str) -> Vec<Value> {
    let event = |line| serde_json::from_str(line).unwrap_or_else(|e| panic!("{e}: {line}"));
    log.lines().map(event).collect()
}

fn message(event: &Value) -> &str {
    event["fields"]["message"].as_str().expect("a message")
}

/// The blocks of the page that begin with this label.
fn blocks(label: &str) -> Vec<&'static str> {
    let fence = format!("```{label}\n");
    DOC.split(fence.as_str())
        .skip(1)
        .map(|rest| rest.split("```\n").next().expect("the block's end"))
        .collect()
}

/// A line as the page shows it: without its time, its process ids, and what all lines have.
fn shortened(line: &str, program: &str) -> String {
    const GAME: &str = r#"game="7-1" index=0 seed=7 bot1="stuck.sh" bot2="builtin:greedy""#;
    let (time, rest) = line.split_once(' ').expect("a time");
    assert_time(time);
    let rest = rest
        .trim_start()
        .replace(GAME, "…")
        .replace(program, "referee");
    let rest = match rest.split_once("before, in ") {
        Some((before, after)) => {
            let end = after.find('"').expect("the end of the sentence");
            format!("{before}before, in …{}", &after[end..])
        }
        None => rest,
    };
    let words = rest.split(' ').map(|word| match word.split_once('=') {
        Some((name, _)) if name.ends_with("_ms") || ["pid", "memory_kb"].contains(&name) => {
            format!("{name}=…")
        }
        _ => word.to_owned(),
    });
    words.collect::<Vec<_>>().join(" ")
}

/// RFC 3339 in UTC, with microseconds.
#[track_caller]
fn assert_time(text: &str) {
    let shape: String = text
        .chars()
        .map(|c| if c.is_ascii_digit() { '0' } else { c })
        .collect();
    assert_eq!(shape, "0000-00-00T00:00:00.000000Z", "{text}");
}

#[test]
fn nothing_is_logged_by_default() {
    let run = opponents(short_match()).run();
    assert_eq!(run.code, Some(0), "{run}");
    assert_eq!(run.stderr, "");
    let run = opponents(short_match().args(["--log-file", "log"])).run();
    assert_eq!(run.stderr, "", "{run}");
    assert!(!run.file("log").contains("referee::wire"), "{run}");
}

/// The command, its output and every line of the log are those of docs/log.md.
#[test]
fn the_forfeit_of_the_page_is_what_happens() {
    let page = blocks("console")[0];
    let (command, shown) = page.split_once('\n').expect("a command");
    let command = command.strip_prefix("$ referee ").expect("a command");
    let script = blocks("sh ignore")
        .into_iter()
        .find(|text| text.starts_with("#!"));
    let play = || {
        let referee = Referee::new(shell_words::split(command).expect("words"));
        let scratch = referee.scratch().to_owned();
        executable(&scratch.join("stuck.sh"), script.expect("a script"), 0o755);
        referee.directory(scratch).run()
    };
    // On a busy machine the bot may wait for a CPU, or take longer to end, and the log says so.
    let undisturbed = |run: &Run| {
        let log = run.file("match.log");
        let signs = [
            "void: ",
            "deadline extended",
            "waited for a CPU",
            "sending SIGKILL",
        ];
        !signs.iter().any(|sign| log.contains(sign))
    };
    let run = (0..20).map(|_| play()).find(undisturbed);
    let run = run.expect("a quiet moment");
    assert_eq!(run.code, Some(0), "{run}");
    // The time of the answer before differs from run to run.
    let untimed = |text: &str| match text.split_once("before, in ") {
        Some((before, after)) => {
            let rest = after.split_once(".\n").map_or("", |(_, rest)| rest);
            format!("{before}{rest}")
        }
        None => text.to_owned(),
    };
    let printed = format!("{}{}", run.stdout, run.stderr);
    assert_eq!(untimed(&printed), untimed(shown), "{run}");
    let program = env!("CARGO_BIN_EXE_referee");
    let log = run.file("match.log");
    let found: Vec<String> = log.lines().map(|line| shortened(line, program)).collect();
    let expected: Vec<&str> = blocks("log").into_iter().flat_map(str::lines).collect();
    for (found, expected) in found.iter().zip(&expected) {
        assert_eq!(found, expected);
    }
    assert_eq!(found.len(), expected.len(), "{log}");
}

/// Each row of the page's table of causes that a script can bring about.
#[test]
fn the_log_tells_whose_fault_a_timeout_was() {
    let found = |bot: &str| {
        let run = short_match()
            .directory(crate::common::bots())
            .args(["--move-time", "200ms", "--start-time", "1800ms"])
            .args(["--log-format", "json", "--log", "info", bot])
            .args(["builtin:random"])
            .shell("exec \"$0\" \"$@\" --log-file \"$SCRATCH/log\"")
            .run();
        let events = events(&run.file("log"));
        let ran_out = events.iter().find(|event| message(event) == "time ran out");
        let ran_out = ran_out.unwrap_or_else(|| panic!("no time ran out\n{run}"));
        assert_eq!(ran_out["target"], log_target::CLOCK);
        assert_eq!(ran_out["fields"]["limit_ms"], 2000.0, "{ran_out}");
        let used = events.iter().find(|event| {
            message(event) == "used in this game" && event["span"]["bot"] == ran_out["span"]["bot"]
        });
        let cpu_ms = used.map_or(0.0, |used| used["fields"]["cpu_ms"].as_f64().unwrap_or(0.0));
        (ran_out["fields"]["found"].clone(), cpu_ms)
    };
    assert_eq!(found("./computes.sh").0, "computing");
    let (state, cpu_ms) = found("./never-reads.sh");
    assert_eq!(state, "not reading");
    assert!(cpu_ms < 1000.0, "{cpu_ms}");
    assert_eq!(found("./stops-itself.sh").0, "stopped");
    assert_eq!(found("./prints-nothing.sh").0, "waiting");
}

/// A match whose referee is stopped for longer than the limit while a bot has a question; its log is in JSON.
fn stopped_while_a_bot_thinks(more: &[&str]) -> Run {
    let mut running = short_match()
        .directory(crate::common::bots())
        .args(["--move-time", "500ms", "--log-format", "json"])
        .args(more)
        .args(["--log", "info", "./slow-answers.sh", "builtin:random"])
        .shell("exec \"$0\" \"$@\" --log-file \"$SCRATCH/log\"")
        .start();
    let asked = |scratch: &Path| fs::read_to_string(scratch.join("asked")).unwrap_or_default();
    running.wait_until(|scratch| asked(scratch).len() >= 2);
    running.signal("STOP");
    thread::sleep(Duration::from_millis(1500));
    running.signal("CONT");
    running.finish()
}

/// The last rows: a referee that did not run when the answer came.
#[test]
fn the_log_tells_that_the_referee_was_stopped() {
    let run = stopped_while_a_bot_thinks(&[]);
    let events = events(&run.file("log"));
    // On a crowded machine others may have run out of time before, and all of this time may be in doubt.
    let is_of_stop = |event: &Value| {
        message(event) == "time ran out"
            && event["fields"]["found"] == "late answer"
            && event["fields"]["unwatched_ms"].as_f64() > Some(5.0)
    };
    assert!(events.iter().any(is_of_stop), "{run}\n{events:#?}");
    let voids = events
        .iter()
        .filter(|event| message(event).starts_with("void: "));
    let mut whys = voids.filter_map(|void| void["fields"]["why"].as_str());
    assert!(whys.any(|why| why.contains("not running for")), "{run}");
}

/// With a clock of CPU time the answer counts: the bot has used little of it.
#[cfg(target_os = "linux")]
#[test]
fn a_stopped_referee_takes_no_processor_time_of_a_bot() {
    let run = stopped_while_a_bot_thinks(&["--clock", "cpu"]);
    for event in events(&run.file("log")) {
        let message = message(&event);
        assert!(
            message != "time ran out" && !message.starts_with("void: "),
            "{run}"
        );
    }
}

#[test]
fn a_line_of_json_has_the_ids_of_its_record() {
    let run = opponents(short_match().recorded().args(["--log", "trace"]))
        .args(["--log-file", "log", "--log-format", "json"])
        .run();
    let events = events(&run.file("log"));
    let record = &run.records()[0];
    let of_game = |event: &&Value| event["span"]["game"] == record["id"];
    let asked = events.iter().filter(of_game);
    let asked = asked.filter(|event| message(event) == "answered");
    assert_eq!(asked.count(), record["turns"].as_array().unwrap().len());
    let wire = events
        .iter()
        .find(|event| event["target"] == log_target::WIRE);
    let mut wire = wire.expect("a line").clone();
    assert_time(wire["timestamp"].as_str().unwrap());
    for (of, name) in [("", "timestamp"), ("span", "pid")] {
        let object = if of.is_empty() {
            &mut wire
        } else {
            &mut wire[of]
        };
        object[name] = Value::from("…");
    }
    insta::assert_snapshot!(serde_json::to_string_pretty(&wire).unwrap(), @r#"
    {
      "fields": {
        "message": "asked",
        "line": "................ -"
      },
      "level": "TRACE",
      "span": {
        "bot": "builtin:greedy",
        "bot1": "builtin:greedy",
        "bot2": "builtin:random",
        "game": "7-1",
        "index": 0,
        "name": "bot",
        "pid": "…",
        "seed": 7
      },
      "target": "referee::wire",
      "timestamp": "…"
    }
    "#);
}

/// The log of a match that a shell script plays which does `first`, and `at_end` when its input ends.
fn log_of_script(first: &str, at_end: &str) -> Vec<Value> {
    let referee = short_match().args(["--log", "debug", "--log-file", "log"]);
    let script = format!("#!/bin/sh\n{first}\n\"$REFEREE_BIN\" bot random\n{at_end}\n");
    executable(&referee.scratch().join("bot"), script, 0o755);
    let referee = referee.args(["--log-format", "json", "./bot", "builtin:random"]);
    let run = referee.run();
    assert_eq!(run.code, Some(0), "{run}");
    events(&run.file("log"))
}

#[test]
fn the_log_has_what_ends_a_bot() {
    let signals = |first: &str| -> Vec<(String, f64)> {
        let events = log_of_script(first, "while :; do sleep 1; done");
        let sent = events
            .iter()
            .filter(|event| message(event).starts_with("sending "));
        let waited = |event: &Value| event["fields"]["waited_ms"].as_f64().expect("a time");
        sent.map(|event| (message(event).to_owned(), waited(event)))
            .collect()
    };
    let signal = |name: &str, waited: f64| (format!("sending {name}"), waited);
    assert_eq!(
        signals("trap '' TERM"),
        [signal("SIGTERM", 2000.0), signal("SIGKILL", 250.0)]
    );
    // One that ends when it is asked to is not killed, if it gets to it in time.
    let asked = [signal("SIGTERM", 2000.0)];
    assert!((0..5).any(|_| signals("") == asked));
}

#[test]
fn the_log_has_how_a_bot_was_started() {
    let events = log_of_script("", "exit 7");
    let signal = |event: &Value| message(event).starts_with("sending ");
    // One that ends by itself is not asked to, if it gets to it in time.
    let ends = |events: &[Value]| !events.iter().any(signal);
    assert!(ends(&events) || (0..5).any(|_| ends(&log_of_script("", "exit 7"))));
    let starting = events.iter().find(|event| message(event) == "starting");
    let fields = &starting.expect("a start")["fields"];
    let started = events.iter().find(|event| message(event) == "started");
    let pid = started.expect("a process")["span"]["pid"].as_u64();
    assert!(pid.is_some_and(|pid| pid > 1), "{started:?}");
    let environment = fields["environment"].as_str().expect("variables");
    for variable in ["\"REFEREE_GAME=quarto\"", "\"REFEREE_SEED="] {
        assert!(environment.contains(variable), "{fields}");
    }
    let command = fields["command"].as_str().expect("a command");
    assert!(command.ends_with("/bot\"]"), "{fields}");
    let messages: Vec<&str> = events.iter().map(message).collect();
    assert!(
        messages.contains(&"it ended with exit status 7"),
        "{messages:?}"
    );
}

#[test]
fn a_filter_by_target_shows_the_conversation_only() {
    for form in ["option", "variable"] {
        let filter = format!("{}=trace", log_target::WIRE);
        let referee = opponents(short_match().recorded());
        let run = match form {
            "option" => referee.args(["--log", &filter]).run(),
            _ => referee.env("RUST_LOG", &filter).run(),
        };
        let turns = run.records()[0]["turns"].as_array().unwrap().len();
        assert_eq!(run.stderr.lines().count(), 2 * turns, "{run}");
        for line in run.stderr.lines() {
            // The ids are there although their own target was not asked for.
            assert!(line.contains("match:game:bot: referee::wire: "), "{line}");
            assert!(line.contains("game=\"7-1\""), "{line}");
        }
    }
}

#[test]
fn a_built_in_bot_does_not_log_into_its_stderr() {
    let run = Referee::new(["bot", "random"])
        .env("RUST_LOG", "trace")
        .stdin("................ -\n")
        .run();
    assert_eq!(run.stderr, "", "{run}");
}

#[test]
fn a_log_is_appended_to() {
    let referee = opponents(short_match().args(["--log-file", "log"]));
    let log = referee.scratch().join("log");
    fs::write(&log, "an older log\n").expect("a file");
    let run = referee.shell("\"$0\" \"$@\" && exec \"$0\" \"$@\"").run();
    let text = run.file("log");
    assert!(text.starts_with("an older log\n"), "{text}");
    assert_eq!(text.matches("referee::command: ended").count(), 2, "{text}");
}

#[track_caller]
fn refused(run: &Run, sentence: &str) {
    assert_eq!(run.code, Some(2), "{run}");
    assert_eq!(run.stdout, "", "{run}");
    assert!(run.stderr.contains(sentence), "{run}");
}

#[test]
fn a_file_that_cannot_be_a_log_is_refused() {
    let log = |path: &str| opponents(short_match().args(["--log-file", path]));
    refused(
        &log("missing/log").run(),
        "--log-file missing/log: there is no such file or directory; check the spelling and the directory",
    );
    refused(&log(".").run(), "--log-file .: it is a directory");
    // A log and records in one file would be neither.
    let run = log("both").args(["--record", "both"]).run();
    refused(&run, "referee: both: ");
    let run = opponents(short_match().args(["--log-format", "xml"])).run();
    refused(&run, "[possible values: text, json]");
}

/// A full disk costs the log, and nothing else.
#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_does_not_disturb_a_match() {
    let quiet = opponents(short_match()).run();
    let run = opponents(short_match().args(["--log", "trace", "--log-file", "/dev/full"])).run();
    assert_eq!(run.code, Some(0), "{run}");
    assert_eq!(run.stdout, quiet.stdout);
    assert_eq!(
        run.stderr,
        "referee: /dev/full: the log was not written completely: no space is left on the disk\n"
    );
}

/// What was logged is in the file soon, not only at the end.
#[test]
fn a_killed_referee_leaves_its_log() {
    let mut running = short_match()
        .directory(crate::common::bots())
        .args(["--log", "trace", "./script.sh '- K\\n'", "./waits.sh"])
        .shell("\"$0\" \"$@\" --log-file \"$SCRATCH/log\" & echo $! >\"$SCRATCH/pid\"; wait")
        .start();
    let log = |scratch: &Path| fs::read_to_string(scratch.join("log")).unwrap_or_default();
    running.wait_until(|scratch| log(scratch).contains("asked line=\"................ K\""));
    let pid = fs::read_to_string(running.scratch().join("pid")).expect("a process id");
    assert!(signals::send("KILL", &pid), "no signal could be sent");
    // The bot that waits ends when it may go on.
    fs::write(running.scratch().join("go"), "").expect("a file");
    let run = running.finish();
    let log = run.file("log");
    assert!(log.ends_with('\n'), "{log}");
    assert!(log.contains("answered line=\"- K\""), "{log}");
    assert!(!log.contains("referee::command: ended"), "{log}");
}

#[test]
fn an_interrupted_match_completes_its_log() {
    let referee = opponents(short_match().args(["-n", "1000000", "--log-file", "log"]));
    let mut running = referee.start();
    let log = |scratch: &Path| fs::read_to_string(scratch.join("log")).unwrap_or_default();
    running.wait_until(|scratch| log(scratch).contains("game=\"7-3\""));
    running.signal("INT");
    let run = running.finish();
    assert_eq!(run.code, Some(130), "{run}");
    let log = run.file("log");
    assert!(
        log.trim_end()
            .ends_with("referee::command: ended status=130")
    );
}

/// Several games at once: each event is of the game that its span names.
#[test]
fn the_ids_of_a_tournament_are_those_of_its_records() {
    let referee = Referee::new(["tournament", "--sandbox", "none", "--seed", "7", "-j", "3"])
        .args([
            "--pairs",
            "4",
            "--no-check",
            "--log",
            "trace",
            "--log-format",
            "json",
        ])
        .args(["builtin:random", "builtin:greedy", "./steady.sh"])
        .shell("exec \"$0\" \"$@\" --log-file \"$SCRATCH/log\" --out \"$SCRATCH/out\"");
    let run = referee.run();
    assert_eq!(run.code, Some(0), "{run}");
    let mut by_game: BTreeMap<String, Vec<Value>> = BTreeMap::new();
    let events = events(&run.file("log"));
    for event in &events {
        if let Some(game) = event["span"]["game"].as_str()
            && event["span"]["warm_up"].is_null()
        {
            by_game
                .entry(game.to_owned())
                .or_default()
                .push(event.clone());
        }
    }
    let records = self::events(&run.file("out/games.jsonl"));
    assert_eq!(records.len(), 24, "{run}");
    for record in &records {
        let id = record["id"].as_str().expect("an id");
        if record["voids"].is_u64() {
            // Played more than once: the machine is busy.
            continue;
        }
        let game = &by_game[id];
        let span = &game[0]["span"];
        assert_eq!(span["seed"], record["seed"]);
        assert_eq!(span["bot1"], record["bots"][0]["name"]);
        assert_eq!(span["bot2"], record["bots"][1]["name"]);
        assert!(span["round"].as_u64() >= Some(1), "{span}");
        assert!(
            id.starts_with(&format!("p{:06}", span["pair"].as_u64().unwrap())),
            "{id}"
        );
        let begun = game.iter().filter(|event| message(event) == "begins");
        assert_eq!(begun.count(), 1, "{id}");
        let answers = game.iter().filter(|event| message(event) == "answered");
        let answers: Vec<&str> = answers
            .map(|event| event["fields"]["line"].as_str().unwrap().trim())
            .collect();
        let turns = record["turns"].as_array().unwrap();
        assert_eq!(answers.len(), turns.len(), "{id}");
        assert_eq!(answers[0], turns[0], "{id}");
        let ended = game
            .iter()
            .any(|event| message(event).contains(" wins: ") || message(event) == "Draw.");
        assert!(ended, "{id}");
    }
    let synced = events
        .iter()
        .filter(|event| event["target"] == log_target::JOURNAL);
    let synced: u64 = synced
        .map(|event| event["fields"]["records"].as_u64().unwrap())
        .sum();
    assert_eq!(synced, 24);
}

/// The page lists every target.
#[test]
fn every_target_is_documented() {
    for target in log_target::ALL {
        let row = format!("| `{target}` |");
        if target != log_target::SPAN {
            assert!(DOC.contains(&row), "docs/log.md lacks {target}");
        }
    }
}
