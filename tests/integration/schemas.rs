//! The JSON Schemas in `schemas/`: they describe what the program writes and reads, all of it and nothing else.
//!
//! What the other tests play is held against them, too: [`common::records`] and `tournament.rs`.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::time::Duration;

use referee::bot::ClockKind;
use referee::play::TimeControl;
use referee::protocol::ForfeitReason;
use referee::record::annotation::{Annotation, FIELD, Mark, Note};
use referee::record::{
    BotEntry, BotIndex, InfoEntry, ProcessEntry, Reason, Record, ResultEntry, UsageEntry,
};
use referee::solver::Value as Worth;
use referee::stats::schedule::{EntrantId, Pairing, Round};
use referee::stats::sprt::Sprt;
use referee::stats::standings::{Absence, TieBreak};
use referee::study::puzzles::{Puzzle, PuzzleKind, SHIPPED};
use referee::tournament::plan::{
    BotPlan, Format, GameProgramPlan, Plan, RejectedBot, Restart, SandboxPlan,
};
use serde_json::{Map, Value, json};

use crate::common::schema::{COMPARISON, PLAN, PUZZLE, RECORD, RERUN, Schema, TOURNAMENT};
use crate::common::{self, Referee};

/// A record with every field. A field that is added to the format is missing here, which does not compile.
fn full_record() -> Record {
    let process = ProcessEntry {
        seed: 7,
        move_time: Some(10.0),
        since: Some("7-1".to_owned()),
    };
    let used = UsageEntry {
        cpu_ms: 1.5,
        cpu_other_ms: 0.5,
        memory_kb: 9,
        oom_kills: 1,
    };
    let bot = |name: &str| BotEntry {
        name: name.to_owned(),
        command: vec![name.to_owned()],
        changed: Some("0".repeat(64)),
        more: Map::new(),
    };
    let annotation = Annotation {
        by: "a test".to_owned(),
        turns: vec![Note {
            turn: 1,
            value: Some(Worth::Loss),
            best: Some(Worth::Win),
            mark: Some(Mark::MissedWin),
            better: Some("6 B".to_owned()),
            plies: Some(2),
            missed_win: true,
            lost_at_once: true,
            text: Some("A sentence.".to_owned()),
            better_line: vec!["6 B".to_owned()],
        }],
    };
    Record {
        v: 1,
        game: "quarto".to_owned(),
        rules: "squares".to_owned(),
        id: "7-1".to_owned(),
        bots: [bot("a"), bot("b")],
        first: BotIndex::A,
        seed: u64::MAX,
        start: ".".repeat(16),
        pieces: Some("piece,size\n".to_owned()),
        turns: vec!["- A".into(), "16 B".into()],
        movers: Some("00".to_owned()),
        times_ms: vec![1.5, 0.5],
        charged_ms: vec![1.0, 0.5],
        info: vec![InfoEntry {
            turn: 2,
            values: Map::from_iter([("depth".to_owned(), json!(6))]),
        }],
        result: ResultEntry {
            winner: Some(BotIndex::B),
            reason: Reason::Forfeit(ForfeitReason::Timeout),
            lines: Vec::new(),
            by: Some(BotIndex::A),
            adjudicated: false,
            answer: Some(String::new()),
            detail: Some("a sentence".to_owned()),
            stderr: Some(String::new()),
            played: Some(false),
            more: Map::new(),
        },
        started: "2026-01-31T10:00:00Z".to_owned(),
        usage: Some([Some(used), None]),
        processes: Some([Some(process), None]),
        delayed: Some("a sentence".to_owned()),
        voids: 2,
        tie_break: true,
        game_changed: Some("0".repeat(64)),
        more: Map::from_iter([(FIELD.to_owned(), annotation.to_json())]),
    }
}

/// A plan with every field.
fn full_plan() -> Plan {
    let bot = BotPlan {
        name: "Anna".to_owned(),
        slug: "anna".to_owned(),
        bot: "anna.py".to_owned(),
        directory: Some("submissions".to_owned()),
        environment: [("A".to_owned(), "b".to_owned())].into(),
        limits: TimeControl {
            move_time: Some(Duration::from_secs(2)),
            start_time: Duration::ZERO,
            game_time: Some(Duration::from_mins(1)),
            increment: Duration::from_millis(500),
            kind: ClockKind::Cpu,
        },
        version: Some("1".to_owned()),
        place_before: Some(3),
        hash: "0".repeat(64),
    };
    Plan {
        v: 1,
        hash: String::new(),
        referee: "0.1.0".to_owned(),
        game_program: Some(GameProgramPlan {
            changed: None,
            command: vec!["./nim.py".to_owned()],
            hash: "0".repeat(64),
        }),
        game: "quarto".to_owned(),
        rules: "standard".to_owned(),
        pieces: Some("piece,size\n".to_owned()),
        seed: u64::MAX,
        format: Format::GroupsKnockout,
        groups: Some(2),
        rounds_planned: 3,
        tie_break_games: 2,
        pairs: 10,
        opening_plies: Some(4),
        openings: vec![".".repeat(16)],
        restart: Restart::Pair,
        bench_after: 10,
        adjudicate: true,
        by_version: true,
        sprt: Some(Sprt {
            elo0: -5.0,
            elo1: 5.0,
            alpha: 0.05,
            beta: 0.05,
        }),
        tie_breaks: TieBreak::ALL.to_vec(),
        seeded_by: Some("standings.csv".to_owned()),
        begun_in: Some("/home/anna".to_owned()),
        sandbox: SandboxPlan {
            kind: "bwrap".to_owned(),
            layers: vec!["bubblewrap".to_owned()],
            memory: 1 << 30,
            memory_by: Some("the kernel".to_owned()),
            processes: 64,
            open_files: 256,
            scratch: 1 << 26,
            expose: vec!["/opt/python".to_owned()],
            env: vec!["A=b".to_owned()],
            freeze: true,
        },
        rejected: vec![RejectedBot {
            bot: bot.clone(),
            absence: Absence {
                asked: Some("................ -".to_owned()),
                stderr: Some("NameError: name 'gif' is not defined".to_owned()),
                fix: Some("define it".to_owned()),
                again: Some("printf x | ./bot".to_owned()),
                by_machine: true,
                ..Absence::new("A sentence.")
            },
        }],
        bots: vec![bot],
        rounds: vec![Round {
            number: 1,
            first_pair: 1,
            pairs_each: 10,
            pairings: vec![Pairing::new(EntrantId(0), EntrantId(1))],
            byes: vec![EntrantId(2)],
            first_openings: vec![3],
            labels: vec![10_000_000_001],
            tie_break: true,
        }],
    }
}

/// The names of all fields of a value, each with those that it is in: `result.by`.
fn fields_of_value(value: &Value, inside: &str, found: &mut BTreeSet<String>) {
    match value {
        // Its names are the user's.
        Value::Object(_) if inside.ends_with("environment.") => {}
        Value::Object(fields) => {
            for (name, value) in fields {
                found.insert(format!("{inside}{name}"));
                fields_of_value(value, &format!("{inside}{name}."), found);
            }
        }
        Value::Array(items) => {
            for item in items {
                fields_of_value(item, inside, found);
            }
        }
        _ => {}
    }
}

/// The names of all fields that a schema describes.
fn fields_of_schema(schema: &Schema, part: &Value, inside: &str, found: &mut BTreeSet<String>) {
    if let Some(pointer) = part["$ref"].as_str() {
        let pointer = pointer.strip_prefix('#').expect("a reference to this file");
        let target = schema.json.pointer(pointer).expect("what is referred to");
        fields_of_schema(schema, target, inside, found);
    }
    for choice in ["allOf", "anyOf"] {
        for part in part[choice].as_array().into_iter().flatten() {
            fields_of_schema(schema, part, inside, found);
        }
    }
    if part["items"].is_object() {
        fields_of_schema(schema, &part["items"], inside, found);
    }
    let Some(properties) = part["properties"].as_object() else {
        return;
    };
    // What bots say has names of their own.
    let is_open = inside == "info.";
    assert_eq!(part["additionalProperties"] != false, is_open, "{inside}");
    for (name, part) in properties {
        found.insert(format!("{inside}{name}"));
        assert!(
            inside.is_empty() || part.is_object(),
            "{inside}{name}: {part}"
        );
        fields_of_schema(schema, part, &format!("{inside}{name}."), found);
    }
}

/// Fails unless value and schema have the same fields.
#[track_caller]
fn describes(schema: &Schema, value: &Value) {
    schema.check(value);
    let (mut written, mut described) = (BTreeSet::new(), BTreeSet::new());
    fields_of_value(value, "", &mut written);
    fields_of_schema(schema, &schema.json, "", &mut described);
    assert_eq!(written, described);
}

#[test]
fn records_are_described_field_by_field() {
    let line = full_record().to_line().expect("JSON");
    let mut record: Value = serde_json::from_str(&line).expect("JSON");
    RECORD.check(&record);
    // No game has been adjudicated and forfeited.
    record["result"]["adjudicated"] = true.into();
    let errors = RECORD.errors(&record);
    assert_eq!(errors.len(), 1, "{errors:?}");
    let (mut written, mut described) = (BTreeSet::new(), BTreeSet::new());
    fields_of_value(&record, "", &mut written);
    assert!(written.remove("info.depth"));
    fields_of_schema(&RECORD, &RECORD.json, "", &mut described);
    assert_eq!(written, described);
}

#[test]
fn plans_are_described_field_by_field() {
    let text = full_plan().to_json().expect("JSON");
    describes(&PLAN, &serde_json::from_str(&text).expect("JSON"));
}

/// What these commands print, together: every field that a schema describes is there, and no other.
fn prints(schema: &Schema, runs: &[common::Run]) {
    let (mut written, mut described) = (BTreeSet::new(), BTreeSet::new());
    for run in runs {
        let value: Value = serde_json::from_str(&run.stdout).unwrap_or_else(|_| panic!("{run}"));
        schema.check(&value);
        fields_of_value(&value, "", &mut written);
    }
    // Its names are those that the bot gives.
    written.retain(|field| !field.contains(".info."));
    fields_of_schema(schema, &schema.json, "", &mut described);
    assert_eq!(written, described);
}

#[test]
fn comparisons_are_described_field_by_field() {
    let run = |words: &[&str]| {
        // The seed draws the opponents: with this one, the pool's bot is among them.
        let options = ["compare", "--json", "--sandbox", "none", "--pairs", "4"];
        Referee::new(options)
            .args(["--seed", "1"])
            .args(words)
            .run()
    };
    let two = ["builtin:greedy", "builtin:random"];
    let pool = ["--pool", "builtin:search?depth=1"];
    prints(
        &COMPARISON,
        &[
            run(&two),
            run(&[&two[..], &pool].concat()),
            run(&["./script.sh", two[1]]),
        ],
    );
}

#[test]
fn reruns_are_described_field_by_field() {
    // Anna loses by a blunder, and ben by a forfeit.
    let referee = env!("CARGO_BIN_EXE_referee");
    let first = |answer: &str| {
        format!("sh -c 'read -r line; echo {answer}; exec {referee} bot \"perfect?slips=0\"'")
    };
    let start = "NC.AMO....D..L.G E";
    let game = |bot: &str| {
        Referee::new([
            "--seed",
            "3",
            "--first",
            "1",
            "--start",
            start,
            "--sandbox",
            "none",
        ])
        .args([
            "--name1",
            "anna",
            "--name2",
            "ben",
            bot,
            "builtin:perfect?slips=0",
        ])
        .recorded()
        .run()
    };
    let again = |game: &common::Run, bot: &str| {
        Referee::new(["rerun", "--json", "--sandbox", "none", "--as", "anna"])
            .args(["--time-per-move", "30s"])
            .args([game.scratch().join(common::RECORDS)])
            .args([bot])
            .run()
    };
    let blunder = game(&first("info depth 2 >&2; echo 7 B"));
    prints(
        &RERUN,
        &[
            again(&blunder, &first("info depth 3 >&2; echo 15 J")),
            again(&blunder, &first("z")),
            again(&blunder, &first("7 B")),
        ],
    );
}

#[test]
fn puzzles_are_described_field_by_field() {
    let puzzle = Puzzle {
        v: 1,
        id: "quarto-0123456789".to_owned(),
        game: "quarto".to_owned(),
        rules: "squares".to_owned(),
        pieces: Some("piece,size\n".to_owned()),
        position: "NC.AMO....D..L.G E".to_owned(),
        kind: PuzzleKind::HoldTheDraw,
        value: "draw".to_owned(),
        answers: vec!["7 J".to_owned()],
        turns: 56,
        free: 8,
        level: 3,
        asked: 2,
        failed: 1,
    };
    describes(&PUZZLE, &serde_json::to_value(puzzle).expect("JSON"));
    let kinds = serde_json::to_value(PuzzleKind::ALL).expect("JSON");
    let kinds = kinds.as_array().into_iter().flatten();
    let kinds = kinds.filter_map(Value::as_str).collect();
    assert_eq!(words(&PUZZLE.json["properties"]["kind"]), kinds);
    for (_, set) in SHIPPED {
        for line in set.lines() {
            PUZZLE.check(&serde_json::from_str(line).expect("JSON"));
        }
    }
}

/// The words of a schema's enumeration.
fn words(part: &Value) -> BTreeSet<&str> {
    // Games that are programs have names of their own.
    let part = part.pointer("/anyOf/0").unwrap_or(part);
    let words = part["enum"].as_array().into_iter().flatten();
    words.filter_map(Value::as_str).collect()
}

#[test]
fn words_are_those_of_the_program() {
    let reasons = ForfeitReason::ALL.map(ForfeitReason::name);
    let ends = ["draw", "quarto", "four-in-a-row"];
    assert_eq!(
        words(&RECORD.json["properties"]["result"]["properties"]["reason"]),
        reasons.into_iter().chain(ends).collect()
    );
    let ties = TieBreak::ALL.map(TieBreak::name);
    for schema in [
        &PLAN.json["properties"]["tie_breaks"],
        &TOURNAMENT.json["properties"]["tie-break"],
    ] {
        assert_eq!(words(&schema["items"]), ties.into_iter().collect());
    }
    let games = referee::game::registry::GAMES.iter().map(|game| game.name);
    let games: BTreeSet<&str> = games.collect();
    for schema in [&RECORD.json, &PLAN.json, &PUZZLE.json, &TOURNAMENT.json] {
        assert_eq!(words(&schema["properties"]["game"]), games);
    }
}

/// Matches of both games with every option that adds a field; `records` checks them.
#[test]
fn matches_write_what_is_described() {
    let forfeits = r"./script.sh '- A\n' '2 A\n'";
    for arguments in [
        &["-n", "4", "builtin:greedy", "builtin:random"][..],
        &["--rules", "squares", "builtin:greedy", "builtin:random"],
        &[
            "--game",
            "four-in-a-row",
            "-n",
            "3",
            "builtin:greedy",
            "builtin:random",
        ],
        &[
            "--adjudicate",
            "-n",
            "2",
            "builtin:greedy",
            "builtin:random",
        ],
        &["--first", "1", forfeits, "builtin:random"],
        &[
            "--first",
            "2",
            "--start",
            "A......P........",
            "./ends.sh",
            "builtin:random",
        ],
        &["--clock", "cpu", "builtin:greedy", "builtin:random"],
    ] {
        let run = Referee::new(["--json", "--seed", "3"])
            .args(arguments)
            .run();
        assert!(!run.printed_records().is_empty(), "{run}");
    }
}

#[test]
fn analysis_is_described() {
    let place = tempfile::tempdir().expect("a directory");
    let [games, analysed] = ["games.jsonl", "analysed.jsonl"].map(|name| place.path().join(name));
    common::games::write(&games, &common::games::GAMES[..2]);
    let run = Referee::new(["analyse", "--time-per-move", "200ms", "--output"])
        .args([&analysed, &games])
        .run();
    assert_eq!(run.code, Some(0), "{run}");
    let text = fs::read_to_string(analysed).expect("records");
    let records = common::records(&text);
    assert!(
        records.iter().all(|record| record[FIELD].is_object()),
        "{run}"
    );
}

/// Tournaments of all formats, resumed, in parts, and with a bot that is turned away or benched.
#[test]
fn tournaments_write_what_is_described() {
    let place = tempfile::tempdir().expect("a directory");
    let set = Path::new(env!("CARGO_MANIFEST_DIR")).join("sets/dutch.csv");
    let four = "builtin:greedy builtin:random builtin:greedy builtin:random";
    let faulty = r#"builtin:greedy builtin:random "./script.sh '!no'""#;
    for (index, line) in [
        format!("{four} --format round-robin --tie-break wins,direct"),
        format!("{four} --format gauntlet --game four-in-a-row"),
        format!("{four} --format swiss --move-time 3s --game-time 1m --increment 1s"),
        format!(
            "{four} --format knockout --adjudicate --pieces '{}'",
            set.display()
        ),
        format!("{four} --format groups+knockout --groups 2 --restart game"),
        "builtin:greedy builtin:random --sprt 0,400".to_owned(),
        format!("{four} --clock cpu --rules squares --env A=b --freeze --expose ."),
        format!("{faulty} --opening-plies 0"),
        format!("{faulty} --no-check --bench-after 1"),
    ]
    .iter()
    .enumerate()
    {
        let out = place.path().join(index.to_string());
        let start = || {
            let referee = Referee::new(["tournament", "--sandbox", "none", "--out"]);
            referee.args([&out])
        };
        let words = shell_words::split(line).expect("words");
        let run = start()
            .args(words)
            .args(["--pairs", "2", "--seed", "4"])
            .run();
        assert_eq!(run.code, Some(0), "{line}: {run}");
        let resumed = start().run();
        assert_eq!(resumed.code, Some(0), "{line}: {resumed}");
        let read = |name| fs::read_to_string(out.join(name)).expect("a file");
        PLAN.check(&serde_json::from_str(&read("plan.json")).expect("JSON"));
        assert!(!common::records(&read("games.jsonl")).is_empty(), "{run}");
    }
}

/// A record or plan that differs in one place is refused, and the message names the place.
#[test]
fn what_is_wrong_is_refused() {
    let record: Value = serde_json::to_value(full_record()).expect("JSON");
    let plan: Value = serde_json::to_value(full_plan()).expect("JSON");
    let hash = |mut plan: Value| {
        plan["hash"] = format!("sha256:{}", "0".repeat(64)).into();
        plan
    };
    let plan = hash(plan);
    PLAN.check(&plan);
    for (schema, good, pointer, wrong) in [
        (&RECORD, &record, "/v", json!(2)),
        (&RECORD, &record, "/first", json!(2)),
        (&RECORD, &record, "/seed", json!(-1)),
        (&RECORD, &record, "/start", json!("....")),
        (&RECORD, &record, "/turns/1", json!("17 B")),
        (&RECORD, &record, "/started", json!("yesterday")),
        (&RECORD, &record, "/bots", json!([])),
        (&RECORD, &record, "/result/reason", json!("boredom")),
        (&RECORD, &record, "/result/by", json!(null)),
        (&RECORD, &record, "/usage/0/cpu_ms", json!("1.5")),
        (
            &RECORD,
            &record,
            "/analysis/turns/0/mark",
            json!("brilliant"),
        ),
        (&PLAN, &plan, "/hash", json!("md5:0")),
        (&PLAN, &plan, "/format", json!("ladder")),
        (&PLAN, &plan, "/bots/0/limits/move_time", json!(0)),
        (&PLAN, &plan, "/rounds/0/pairings/0", json!([0, 1])),
        (&PLAN, &plan, "/sandbox/kind", json!("auto")),
    ] {
        let mut changed = good.clone();
        *changed.pointer_mut(pointer).expect(pointer) = wrong;
        let errors = schema.errors(&changed);
        assert!(
            errors.iter().any(|error| error.starts_with(pointer)),
            "{pointer}: {errors:?}"
        );
    }
    // A field that is missing, and one that nobody has described.
    for (schema, good, inside) in [
        (&RECORD, &record, ""),
        (&RECORD, &record, "/result"),
        (&RECORD, &record, "/bots/0"),
        (&RECORD, &record, "/analysis/turns/0"),
        (&PLAN, &plan, ""),
        (&PLAN, &plan, "/sandbox"),
        (&PLAN, &plan, "/bots/0/limits"),
        (&PLAN, &plan, "/rounds/0"),
    ] {
        let mut changed = good.clone();
        let fields = changed.pointer_mut(inside).and_then(Value::as_object_mut);
        let fields = fields.expect("an object");
        fields.insert("later".to_owned(), json!(1));
        assert_eq!(schema.errors(&changed).len(), 1, "{inside}");
        let mut changed = good.clone();
        let fields = changed.pointer_mut(inside).and_then(Value::as_object_mut);
        let fields = fields.expect("an object");
        // In all of these the first field is one that is always there.
        let first = fields.keys().next().cloned().expect("a field");
        fields.shift_remove(&first);
        assert!(!schema.errors(&changed).is_empty(), "{inside}");
    }
}

/// Runs a tournament with this file of `--config`.
fn with_config(text: &str) -> common::Run {
    let place = tempfile::tempdir().expect("a directory");
    let [config, out] = ["t.toml", "out"].map(|name| place.path().join(name));
    fs::write(&config, text).expect("a file");
    Referee::new(["tournament", "--config"])
        .args([config.as_path(), Path::new("--out"), &out])
        .run()
}

/// What a sentence of the program lists after `expected`, such as the fields that it knows.
fn listed(run: &common::Run, after: &str) -> BTreeSet<String> {
    let list = run.stderr.split(after).nth(1).unwrap_or_default();
    let list = list.lines().next().unwrap_or_default();
    let words = list
        .trim_end_matches(']')
        .split([',', ' ', '`'])
        .filter(|word| !word.is_empty());
    words.map(str::to_owned).collect()
}

/// The names and the words of the file of a tournament are those that the program knows.
#[test]
fn a_tournament_file_has_the_fields_that_are_described() {
    let root = &TOURNAMENT.json["properties"];
    for (table, properties, after) in [
        ("", root, "unknown option `zzz`; expected one of "),
        (
            "[[bots]]\n",
            &root["bots"]["items"]["properties"],
            "unknown field `zzz`, expected one of ",
        ),
    ] {
        let properties = properties.as_object().expect("fields");
        let run = with_config(&format!("{table}zzz = 1\n"));
        let known = listed(&run, after);
        let described: BTreeSet<String> = properties.keys().cloned().collect();
        assert_eq!(known, described, "{table}: {run}");
        for (name, part) in properties {
            if table.is_empty() && part["enum"].is_array() {
                let run = with_config(&format!("{table}{name} = \"zzz\"\n"));
                let known = listed(&run, "[possible values: ");
                let described = words(part).into_iter().map(str::to_owned).collect();
                assert_eq!(known, described, "{name}: {run}");
            }
        }
    }
}

fn toml(text: &str) -> Value {
    toml::from_str(text).unwrap_or_else(|error| panic!("{error}\n{text}"))
}

/// With every option; it is played, too.
const FULL: &str = r#"
format = "round-robin"
rounds = 1
pairs = 1
opening-plies = 2
seed = 7
tie-break = ["direct", "wins"]
game = "quarto"
rules = "squares"
move-time = "5s"
start-time = "1m 30s"
game-time = "2m"
increment = "0.5"
clock = "wall"
adjudicate = false
restart = "game"
bench-after = 0
no-check = false
analyse = false
time-per-move = "100ms"
jobs = 1

sandbox = "none"
memory = "64M"
processes = 20
scratch = "1.5M"
expose = []
env = ["TAIL=dom"]
freeze = false
private = true

[[bots]]
name = "greedy"
command = ["builtin:greedy"]
environment = { A = "b" }
move-time = "4s"
start-time = "4s"
game-time = "1m"
increment = "1s"

[[bots]]
command = "builtin:random"
"#;

#[test]
fn tournament_files_are_described() {
    TOURNAMENT.check(&toml(FULL));
    let run = with_config(FULL);
    assert_eq!(run.code, Some(0), "{run}");
    // The one that people begin with.
    let document = include_str!("../../docs/tournaments.md");
    let example = document.split("```toml\n").nth(1).expect("an example");
    TOURNAMENT.check(&toml(example.split("```").next().unwrap_or_default()));
    // What the program refuses, the schema does; and the other way round. So do command line and file.
    for (from, to) in [
        ("round-robin", "ladder"),
        ("pairs = 1", "pairs = 0"),
        ("seed = 7", "seed = -7"),
        ("\"direct\"", "\"luck\""),
        ("rules = \"squares\"", "openings = \"boards.txt\""),
        ("\"5s\"", "\"soon\""),
        ("jobs = 1", "jobs = 70000"),
        ("bench-after = 0", "bench-after = -1"),
        ("processes = 20", "processes = 0"),
        ("\"1.5M\"", "\"big\""),
        ("\"TAIL=dom\"", "\"=dom\""),
        ("private = true", "private = \"yes\""),
        ("command = \"builtin:random\"", "name = \"random\""),
        ("command = \"builtin:random\"", "command = 7"),
        ("A = \"b\"", "A = 1"),
    ] {
        let wrong = FULL.replace(from, to);
        assert_ne!(wrong, FULL, "{from}");
        assert!(!TOURNAMENT.errors(&toml(&wrong)).is_empty(), "{to}");
        let run = with_config(&wrong);
        assert_eq!(run.code, Some(2), "{to}: {run}");
    }
}
