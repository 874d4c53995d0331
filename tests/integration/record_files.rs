//! Every command that reads records has the same verdict on a file, in the same words.

use std::fs;
use std::path::{Path, PathBuf};

use crate::classroom::{GREEDY, RANDOM};
use crate::common::files::copy;
use crate::common::{Referee, Run, each_of};
use referee::record::{LineProblem, Record, RecordSummary};
use serde_json::{Map, Value};

const GOOD: &str = r#"{"v":1,"game":"quarto","rules":"standard","id":"ID","bots":[{"name":"a","command":["builtin:greedy"]},{"name":"b","command":["builtin:random"]}],"first":0,"seed":4,"start":"................","turns":["- F","14 B","16 A","8 H","13 K","15 N","12 C","9 D","3 G","10 P","2 L","4 I","6 E","5 M","7 -"],"times_ms":[1.0,1.0,1.0,1.0,1.0,1.0,1.0,1.0,1.0,1.0,1.0,1.0,1.0,1.0,1.0],"result":{"winner":0,"reason":"quarto","lines":[["H2","big"],["H2","red"]]},"started":"2026-11-23T06:27:08Z"}"#;

/// `FILE` is the file of records; its second line is the one in question. The last ones read a folder, of which it is the
/// journal.
const COMMANDS: [&str; 16] = [
    "replay FILE",
    "replay FILE -q",
    "replay FILE --number 2 --out page.html",
    "standings FILE",
    "standings FILE other.jsonl",
    "report FILE -o page.html",
    "report FILE --each pages",
    "analyse FILE --time-per-move 1ms",
    "rerun FILE builtin:greedy --time-per-move 1ms --sandbox none",
    "debug FILE builtin:greedy --number 2 --sandbox none",
    "puzzles make FILE -o puzzles.jsonl --time-per-move 1ms",
    "alike FILE",
    "standings t",
    "report t -o page.html",
    "tournament --sandbox none --out t",
    "tournament --sandbox none --out t --analyse",
];

fn good(id: &str) -> String {
    GOOD.replace("\"ID\"", &format!("{id:?}"))
}

/// A second line that is not a record, and what is said of it after its place.
#[expect(clippy::too_many_lines, reason = "a table of cases")]
fn bad_lines() -> Vec<(Vec<u8>, String)> {
    let good = good("p000001b");
    let with = |from: &str, to: &str| {
        assert!(good.contains(from), "{from}");
        good.replacen(from, to, 1)
    };
    let column = |line: &str, end: &str| line.find(end).expect("its end") + end.len();
    let nested = |depth: usize| {
        let lists = "[".repeat(depth) + &"]".repeat(depth);
        with("\"seed\":4", &format!("\"seed\":4,\"more\":{lists}"))
    };
    let too_deep = format!(
        "nested more than 127 deep at column {}; expected one record per line",
        column(&good, "\"seed\":4") + ",\"more\":".len() + 127
    );
    let one = |kind: &str| format!("it is {kind}; expected one record per line, a JSON object");
    let invalid =
        |column: usize| format!("invalid JSON at column {column}; expected one record per line");
    let field = |text: &str| format!(": {text}");
    let mut lines = vec![
        (nested(127), too_deep.clone()),
        (nested(100_000), too_deep.clone()),
        (
            with("\"seed\":4,", "").replacen("\"a\"", &nested_name(), 1),
            "nested more than 127 deep at column ".to_owned(),
        ),
        (
            "[".repeat(100_000),
            "nested more than 127 deep at column 128".to_owned(),
        ),
        (
            "{ \"v\":".to_owned() + &"[".repeat(20),
            "the JSON ends too early, at column ".to_owned(),
        ),
        ("[]".to_owned(), one("a list")),
        (format!("[{good}]"), one("a list")),
        ("\"x\"".to_owned(), one("a text")),
        ("17".to_owned(), one("a number")),
        ("null".to_owned(), one("null")),
        ("{\"v\" 1}".to_owned(), invalid(6)),
        ("hello".to_owned(), invalid(1)),
        (
            "{\"v\":".to_owned(),
            "the JSON ends too early, at column 5; expected one record per line".to_owned(),
        ),
        ("{\"v\":1}".to_owned(), field("missing field `game`")),
        (with("\"v\":1,", ""), field("missing field `v`")),
        (
            with("\"v\":1", "\"v\":7"),
            "the record has version 7; this program reads version 1".to_owned(),
        ),
        (
            with("\"turns\"", "\"turms\""),
            field("missing field `turns`"),
        ),
        (
            with("[\"builtin:greedy\"]", "7"),
            field("invalid type: integer `7`, expected a sequence"),
        ),
        (
            with("\"first\":0", "\"first\":2"),
            field("a bot has the number 2; expected 0 or 1"),
        ),
        (
            with("\"name\":\"b\"", "\"name\":\"a\""),
            "both bots have the same name".to_owned(),
        ),
        (
            with("[\"H2\",\"red\"]", "[\"H2\"]"),
            field("invalid length 1, expected a tuple of size 2"),
        ),
    ];
    // Fields that only some commands need, and unknown ones.
    for (more, problem) in [
        (
            "\"pieces\":5",
            field("invalid type: integer `5`, expected a string"),
        ),
        (
            "\"usage\":[3,null]",
            field("invalid type: integer `3`, expected struct Usage"),
        ),
        (
            "\"processes\":{}",
            field("invalid type: map, expected an array of length 2"),
        ),
        ("\"info\":[{\"depth\":1}]", field("missing field `turn`")),
        (
            "\"voids\":-1",
            field("invalid value: integer `-1`, expected u32"),
        ),
        (
            "\"charged_ms\":[\"1\"]",
            field("invalid type: string \"1\", expected f64"),
        ),
        (
            "\"delayed\":[]",
            field("invalid type: sequence, expected a string"),
        ),
        ("\"more\":\"\\ud800\"", "invalid JSON at column ".to_owned()),
        ("\"more\":1e999", "invalid JSON at column ".to_owned()),
        (
            "\"analysis\":{\"by\":[1e999]}",
            "invalid JSON at column ".to_owned(),
        ),
    ] {
        lines.push((with("\"seed\":4", &format!("\"seed\":4,{more}")), problem));
    }
    let mut lines: Vec<(Vec<u8>, String)> = lines
        .into_iter()
        .map(|(line, problem)| (line.into_bytes(), problem))
        .collect();
    let mut bytes = good.clone().into_bytes();
    let place = column(&good, "\"name\":\"");
    bytes.insert(place, 0xff);
    lines.push((
        bytes,
        format!(
            "byte 0xff at column {} is not UTF-8; expected one record per line",
            place + 1
        ),
    ));
    lines
}

fn nested_name() -> String {
    "[".repeat(200) + &"]".repeat(200)
}

/// A tournament of the two bots whose games were played, to be gone through again: `file` is its journal.
fn tournament(place: &Path) {
    let run = Referee::new([
        "tournament",
        "--sandbox",
        "none",
        "--no-check",
        "--seed",
        "4",
    ])
    .args([
        "--pairs",
        "1",
        "--out",
        "t",
        "builtin:greedy",
        "builtin:random",
    ])
    .directory(place)
    .run();
    assert_eq!(run.code, Some(0), "{run}");
}

fn ask(place: &Path, command: &str) -> Run {
    let words = command.split(' ');
    Referee::new(words.map(|word| word.replace("FILE", "t/games.jsonl")))
        .directory(place)
        .run()
}

/// With a limit of time that is never reached: what a rerun finds in a millisecond depends on the machine.
fn without_hurry(command: &str) -> String {
    let is_rerun = command.starts_with("rerun");
    command.replace("1ms", if is_rerun { "1m" } else { "1ms" })
}

fn check(place: &Path, journal: &str, expected: &[(&str, &str)]) {
    let mut wrong = Vec::new();
    for (line, sentence) in expected {
        let (first, _) = journal.split_once('\n').expect("two lines");
        let text = format!("{first}\n{line}\n");
        fs::write(place.join("t/games.jsonl"), text).expect("a file");
        for command in COMMANDS {
            let run = ask(place, command);
            let said = format!("t/games.jsonl:2: {sentence}");
            if run.code != Some(2) || !run.stderr.contains(&said) {
                wrong.push(format!("{command}\nexpected: {said}\n{run}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
}

#[test]
fn every_command_says_the_same_of_a_line_that_is_not_a_record() {
    let place = tempfile::tempdir().expect("a directory");
    tournament(place.path());
    let journal = fs::read_to_string(place.path().join("t/games.jsonl")).expect("a journal");
    fs::write(place.path().join("other.jsonl"), &journal).expect("a file");
    let good = good("p000001b");
    let deep = good.replacen(
        "\"seed\":4",
        &format!(
            "\"seed\":4,\"more\":{}{}",
            "[".repeat(100_000),
            "]".repeat(100_000)
        ),
        1,
    );
    check(
        place.path(),
        &journal,
        &[
            (&deep, "nested more than 127 deep at column "),
            (
                "[]",
                "it is a list; expected one record per line, a JSON object",
            ),
            (
                "{\"v\" 1}",
                "invalid JSON at column 6; expected one record per line",
            ),
            (
                &good.replacen("\"v\":1", "\"v\":7", 1),
                "the record has version 7; this program reads version 1",
            ),
            (
                &good.replacen("\"seed\":4", "\"seed\":4,\"usage\":[3,null]", 1),
                "column 180: invalid type: integer `3`, expected struct Usage",
            ),
        ],
    );
}

/// The table above is of processes; this one is of all that can be wrong with a line.
#[test]
fn a_summary_is_read_where_a_record_is() {
    let read = |line: &[u8]| {
        let record = Record::from_line(line).map(drop);
        let summary = RecordSummary::parse(line).map(drop);
        assert_eq!(record, summary, "{}", String::from_utf8_lossy(line));
        record.map_err(|problem| problem.to_string())
    };
    assert_eq!(read(good("p1").as_bytes()), Ok(()));
    let mut wrong = Vec::new();
    for (line, problem) in bad_lines() {
        let text = String::from_utf8_lossy(&line)
            .chars()
            .take(300)
            .collect::<String>();
        match read(&line) {
            Err(said) if said.starts_with(&problem) => {}
            Err(said) if said.starts_with("column ") && said.ends_with(&problem) => {}
            said => wrong.push(format!("{text}\nexpected: {problem}\n{said:?}")),
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
    for more in [
        format!("\"more\":{}{}", "[".repeat(126), "]".repeat(126)),
        "\"pieces\":null,\"movers\":\"01\",\"charged_ms\":[1],\"delayed\":\"x\",\"voids\":2"
            .to_owned(),
        "\"usage\":[null,{\"cpu_ms\":1.5,\"cpu_other_ms\":0,\"memory_kb\":9}]".to_owned(),
        "\"processes\":[null,{\"seed\":1,\"since\":\"a\\n\",\"move_time\":1}]".to_owned(),
        "\"info\":[{\"turn\":1,\"score\":0.9,\"score\":{},\"x\":[]}],\"info2\":1,\"info2\":2"
            .to_owned(),
        "\"analysis\":null".to_owned(),
        "\"analysis\":{\"turns\":[7]}".to_owned(),
    ] {
        let line = good("p1").replacen("\"seed\":4", &format!("\"seed\":4,{more}"), 1);
        assert_eq!(read(line.as_bytes()), Ok(()), "{more}");
    }
}

/// A record with every field.
const FULL: &str = r#"{"v":1,"game":"quarto","rules":"standard","id":"p000001b","bots":[{"name":"builtin:greedy","command":["builtin:greedy"],"changed":"0f"},{"name":"builtin:random","command":["builtin:random","x"]}],"first":1,"seed":4,"start":"................","pieces":"p","turns":["- F","14 B"],"movers":"01","times_ms":[1.5,2],"charged_ms":[1.0],"info":[{"turn":1,"score":0.5}],"result":{"winner":0,"reason":"timeout","lines":[["H2","big"]],"by":1,"adjudicated":true,"answer":"a","detail":"d","stderr":"s","played":false},"started":"2026-11-23T06:27:08Z","usage":[null,{"cpu_ms":1.5,"cpu_other_ms":0,"memory_kb":9,"oom_kills":1}],"processes":[null,{"seed":1,"move_time":0.5,"since":"a"}],"delayed":"why","voids":2,"tie_break":true,"game_changed":"0f","analysis":{"by":"referee"},"later":[1]}"#;

/// Values of each kind.
const KINDS: [(&str, &str); 8] = [
    ("null", "null"),
    ("truth", "true"),
    ("natural", "7"),
    ("negative", "-1"),
    ("fraction", "1.5"),
    ("text", "\"x\""),
    ("list", "[]"),
    ("object", "{}"),
];

const NUMBER: &str = "natural negative fraction";

const ANYTHING: &str = "null truth natural negative fraction text list object";

/// Each field of [`FULL`], as a JSON pointer; whether it has to be there; and which of [`KINDS`] it may be. Lists have a
/// length, and some numbers and names a range, so that no kind of value fits. `None`: an item of a list.
const FIELDS: &[(&str, Option<bool>, &str)] = &[
    ("/v", Some(true), ""),
    ("/game", Some(true), "text"),
    ("/rules", Some(true), "text"),
    ("/id", Some(true), "text"),
    ("/bots", Some(true), ""),
    ("/bots/0", None, ""),
    ("/bots/0/name", Some(true), "text"),
    ("/bots/0/command", Some(true), "list"),
    ("/bots/0/command/0", None, "text"),
    ("/bots/0/changed", Some(false), "null text"),
    ("/bots/1", None, ""),
    ("/bots/1/name", Some(true), "text"),
    ("/bots/1/command", Some(true), "list"),
    ("/bots/1/command/1", None, "text"),
    ("/first", Some(true), ""),
    ("/seed", Some(true), "natural"),
    ("/start", Some(true), "text"),
    ("/pieces", Some(false), "null text"),
    ("/turns", Some(true), "list"),
    ("/turns/0", None, "text"),
    ("/movers", Some(false), "null text"),
    ("/times_ms", Some(true), "list"),
    ("/times_ms/0", None, NUMBER),
    ("/charged_ms", Some(false), "list"),
    ("/charged_ms/0", None, NUMBER),
    ("/info", Some(false), "list"),
    ("/info/0", None, ""),
    ("/info/0/turn", Some(true), "natural"),
    ("/info/0/score", Some(false), ANYTHING),
    ("/result", Some(true), ""),
    ("/result/winner", Some(false), "null"),
    ("/result/reason", Some(true), "text"),
    ("/result/lines", Some(false), "list"),
    ("/result/lines/0", None, ""),
    ("/result/lines/0/0", None, "text"),
    ("/result/lines/0/1", None, "text"),
    ("/result/by", Some(false), "null"),
    ("/result/adjudicated", Some(false), "truth"),
    ("/result/answer", Some(false), "null text"),
    ("/result/detail", Some(false), "null text"),
    ("/result/stderr", Some(false), "null text"),
    ("/result/played", Some(false), "null truth"),
    ("/started", Some(true), "text"),
    ("/usage", Some(false), "null"),
    ("/usage/1", None, "null"),
    ("/usage/1/cpu_ms", Some(true), NUMBER),
    ("/usage/1/cpu_other_ms", Some(true), NUMBER),
    ("/usage/1/memory_kb", Some(true), "natural"),
    ("/usage/1/oom_kills", Some(false), "natural"),
    ("/processes", Some(false), "null"),
    ("/processes/1", None, "null"),
    ("/processes/1/seed", Some(true), "natural"),
    (
        "/processes/1/move_time",
        Some(false),
        "null natural negative fraction",
    ),
    ("/processes/1/since", Some(false), "null text"),
    ("/delayed", Some(false), "null text"),
    ("/voids", Some(false), "natural"),
    ("/tie_break", Some(false), "truth"),
    ("/game_changed", Some(false), "null text"),
    ("/analysis", Some(false), ANYTHING),
    ("/later", Some(false), ANYTHING),
];

fn full() -> Value {
    serde_json::from_str(FULL).expect("JSON")
}

/// [`FULL`] with another value in a field.
fn with_value(field: &str, value: &str) -> String {
    let mut record = full();
    let found = record.pointer_mut(field).expect(field);
    *found = serde_json::from_str(value).expect("JSON");
    record.to_string()
}

/// The object that a field is in, and its name there.
fn parent<'r, 'f>(record: &'r mut Value, field: &'f str) -> (&'r mut Map<String, Value>, &'f str) {
    let (object, name) = field.rsplit_once('/').expect("a pointer");
    let object = record.pointer_mut(object).expect("an object");
    (object.as_object_mut().expect("an object"), name)
}

fn without(field: &str) -> String {
    let mut record = full();
    let (object, name) = parent(&mut record, field);
    object.shift_remove(name).expect("it is there");
    record.to_string()
}

/// With the field once more at the end of its object.
fn with_twice(field: &str) -> String {
    let mut record = full();
    let (object, name) = parent(&mut record, field);
    let value = object[name].clone();
    object.insert("again".to_owned(), value);
    let text = record.to_string();
    text.replacen("\"again\"", &format!("{name:?}"), 1)
}

/// Whether the last one counts where it is twice.
fn may_be_twice(field: &str) -> bool {
    ["/info/0/score", "/later"].contains(&field)
}

/// A line of one field that is wrong, and what is said of it after its column.
fn wrong_fields() -> Vec<(String, String)> {
    let mut wrong = Vec::new();
    for &(field, is_needed, kinds) in FIELDS {
        let (_, name) = field.rsplit_once('/').expect("a pointer");
        for (kind, value) in KINDS {
            if !kinds.split(' ').any(|known| known == kind) {
                wrong.push((with_value(field, value), String::new()));
            }
        }
        if is_needed == Some(true) {
            wrong.push((without(field), format!("missing field `{name}`")));
        }
        if is_needed.is_some() && !may_be_twice(field) {
            wrong.push((with_twice(field), format!("duplicate field `{name}`")));
        }
    }
    wrong
}

/// One reader with two ways: of whole records, and of what standings need of them.
#[test]
fn each_field_has_one_verdict() {
    let read = |line: &str| {
        let record = Record::from_line(line.as_bytes()).map(drop);
        let summary = RecordSummary::parse(line.as_bytes()).map(drop);
        assert_eq!(record, summary, "{line}");
        record
    };
    assert_eq!(read(FULL), Ok(()));
    let mut paths = Vec::new();
    fields_of(&full(), "", &mut paths);
    let known: Vec<&str> = FIELDS.iter().map(|(field, ..)| *field).collect();
    paths.retain(|path| !known.contains(&path.as_str()));
    // Of lists that have been tried in another place.
    let tried = [
        "/bots/1/command/0",
        "/turns/1",
        "/times_ms/1",
        "/usage/0",
        "/processes/0",
        "/analysis/by",
        "/later/0",
    ];
    assert_eq!(paths, tried);
    for &(field, is_needed, kinds) in FIELDS {
        for (kind, value) in KINDS {
            if kinds.split(' ').any(|known| known == kind) {
                assert_eq!(read(&with_value(field, value)), Ok(()), "{field} {kind}");
            }
        }
        if is_needed == Some(false) {
            assert_eq!(read(&without(field)), Ok(()), "{field}");
        }
        if may_be_twice(field) {
            assert_eq!(read(&with_twice(field)), Ok(()), "{field}");
        }
        // Later versions may write more fields.
        let mut record = full();
        if let Some(object) = record.pointer_mut(field).and_then(Value::as_object_mut) {
            object.insert("more".to_owned(), serde_json::json!({"x": [1]}));
            assert_eq!(read(&record.to_string()), Ok(()), "{field}");
        }
    }
    for (line, problem) in wrong_fields() {
        match read(&line) {
            Err(LineProblem::Field {
                problem: said,
                column,
            }) => {
                assert!(said.starts_with(&problem), "{line}\n{said}");
                assert!((1..=line.len()).contains(&column), "{line}\n{column}");
            }
            Err(LineProblem::Version(7)) if line.contains("\"v\":7") => {}
            said => panic!("{line}\n{said:?}"),
        }
    }
}

/// All pointers into a value.
fn fields_of(value: &Value, path: &str, found: &mut Vec<String>) {
    let inside: Vec<(String, &Value)> = match value {
        Value::Object(fields) => fields
            .iter()
            .map(|(name, value)| (name.clone(), value))
            .collect(),
        Value::Array(items) => items
            .iter()
            .enumerate()
            .map(|(at, value)| (at.to_string(), value))
            .collect(),
        _ => Vec::new(),
    };
    for (name, value) in inside {
        let path = format!("{path}/{name}");
        fields_of(value, &path, found);
        found.push(path);
    }
}

/// As the table of lines, with a wrong value in each field, and without each that is needed.
#[test]
fn every_command_says_the_same_of_each_field() {
    let place = tempfile::tempdir().expect("a directory");
    tournament(place.path());
    let journal = fs::read_to_string(place.path().join("t/games.jsonl")).expect("a journal");
    let lines = FIELDS.iter().flat_map(|&(field, is_needed, kinds)| {
        let wrong = KINDS
            .iter()
            .find(|(kind, _)| !kinds.split(' ').any(|known| known == *kind));
        let of_kind = wrong.map(|(_, value)| with_value(field, value));
        of_kind
            .into_iter()
            .chain((is_needed == Some(true)).then(|| without(field)))
    });
    let lines: Vec<String> = lines.collect();
    assert!(lines.len() > 70, "{}", lines.len());
    each_of(&lines, |line| {
        let of_line = tempfile::tempdir().expect("a directory");
        copy(place.path(), of_line.path());
        fs::write(of_line.path().join("other.jsonl"), &journal).expect("a file");
        let said = Record::from_line(line.as_bytes())
            .expect_err("a problem")
            .to_string();
        assert!(said.starts_with("column "), "{said}");
        check(of_line.path(), &journal, &[(line, &said)]);
    });
}

fn file_within(folder: &Path, name: &str) -> Option<PathBuf> {
    let inside = fs::read_dir(folder).ok()?.flatten();
    let mut paths = inside.map(|entry| entry.path());
    paths.find_map(|path| {
        if path.is_dir() {
            return file_within(&path, name);
        }
        path.ends_with(name).then_some(path)
    })
}

/// What plays games goes on with those in its journal: the same reader, the same words.
#[test]
fn a_journal_that_is_gone_on_with_is_read_alike() {
    const SHARD: &[&str] = &[
        "shard plan builtin:random builtin:greedy --pairs 1 --seed 1 --no-check --out parts",
        "shard run parts --shard 1/1",
    ];
    let cases: &[(&[&str], &str, &str)] = &[
        (
            &[
                "compare builtin:random builtin:greedy --pairs 2 --all --seed 1 --no-check --out cup",
            ],
            "cup/games.jsonl",
            "compare builtin:random builtin:greedy --pairs 2 --all --seed 1 --no-check --out cup",
        ),
        (
            &["league term --from submissions --pairs 1 --seed 1 --sandbox none"],
            "term/games.jsonl",
            "league term --from submissions --pairs 1 --seed 1 --sandbox none",
        ),
        (
            &["grade builtin:random --scale scale.toml --out grades"],
            "grades",
            "grade builtin:random --scale scale.toml --out grades",
        ),
        (
            SHARD,
            "parts/shards/1-of-1.jsonl",
            "shard run parts --shard 1/1",
        ),
        (SHARD, "parts/shards/1-of-1.jsonl", "shard merge parts"),
    ];
    each_of(cases, |&(before, journal, again)| {
        let place = tempfile::tempdir().expect("a directory");
        for (name, text) in [("ann", RANDOM), ("ben", GREEDY)] {
            let folder = place.path().join("submissions").join(name);
            fs::create_dir_all(&folder).expect("a folder");
            fs::write(folder.join("bot.sh"), text).expect("a file");
        }
        let rung = "[[rung]]\nname = \"random\"\nbot = \"builtin:random\"\nelo0 = 0\nelo1 = 100\npoints = 10\n";
        let scale = format!("budget = 2\nseed = 1\n\n{rung}");
        fs::write(place.path().join("scale.toml"), scale).expect("a file");
        let run = |line: &str| Referee::new(line.split(' ')).directory(place.path()).run();
        for line in before {
            let run = run(line);
            // 4: which version is better is not decided.
            assert!(matches!(run.code, Some(0 | 4)), "{line}: {run}");
        }
        let journal = place.path().join(journal);
        // A rung has a folder of its own.
        let journal = if journal.is_dir() {
            file_within(&journal, "games.jsonl").expect("a journal")
        } else {
            journal
        };
        let text = fs::read_to_string(&journal).expect("a journal");
        let mut lines: Vec<&str> = text.lines().collect();
        lines[1] = "[]";
        fs::write(&journal, lines.join("\n") + "\n").expect("a file");
        let run = run(again);
        let said = ".jsonl:2: it is a list; expected one record per line, a JSON object";
        assert_eq!(run.code, Some(2), "{again}: {run}");
        assert!(run.stderr.contains(said), "{again}: {run}");
    });
}

#[test]
fn a_hyphen_is_standard_input() {
    let place = tempfile::tempdir().expect("a directory");
    tournament(place.path());
    let journal = fs::read_to_string(place.path().join("t/games.jsonl")).expect("a journal");
    fs::write(place.path().join("other.jsonl"), &journal).expect("a file");
    let piped = |command: &str| {
        let words = command.split(' ').map(|word| word.replace("FILE", "-"));
        let run = Referee::new(words).directory(place.path());
        run.stdin(journal.as_str()).run()
    };
    for command in COMMANDS[..11].iter().map(|command| without_hurry(command)) {
        let command = &*command;
        let (piped, plain) = (piped(command), ask(place.path(), command));
        if command.contains("--each") || command.starts_with("debug") {
            assert_eq!(piped.code, Some(2), "{command}\n{piped}");
            assert!(
                piped
                    .stderr
                    .contains("a file; write standard input to one first"),
                "{piped}"
            );
            continue;
        }
        assert_eq!(piped.code, plain.code, "{command}\n{piped}");
        if command.starts_with("standings") {
            assert_eq!(piped.stdout, plain.stdout, "{piped}");
        }
    }
    let bad = Referee::new(["standings", "-"]).stdin("[]\n").run();
    assert_eq!(bad.code, Some(2), "{bad}");
    assert!(
        bad.stderr.contains("referee: -:1: it is a list; expected"),
        "{bad}"
    );
    // A file of this name.
    fs::write(place.path().join("-"), &journal).expect("a file");
    let named = Referee::new(["standings", "./-"])
        .directory(place.path())
        .run();
    assert_eq!(
        named.stdout,
        ask(place.path(), "standings FILE").stdout,
        "{named}"
    );
}

#[test]
fn a_byte_order_mark_and_a_torn_last_line_change_nothing() {
    let place = tempfile::tempdir().expect("a directory");
    tournament(place.path());
    let path = place.path().join("t/games.jsonl");
    let journal = fs::read_to_string(&path).expect("a journal");
    fs::write(place.path().join("other.jsonl"), &journal).expect("a file");
    let torn = "t/games.jsonl:3: incomplete last line, left out\n";
    let is_of_journal = |command: &str| command.starts_with("tournament");
    for command in COMMANDS
        .into_iter()
        .filter(|command| !command.contains("alike"))
        .map(without_hurry)
    {
        let command = &*command;
        fs::write(&path, &journal).expect("a file");
        let plain = ask(place.path(), command);
        fs::write(&path, format!("\u{feff}{journal}")).expect("a file");
        let marked = ask(place.path(), command);
        assert_eq!(marked.code, plain.code, "{command}\n{plain}\n{marked}");
        fs::write(&path, format!("{journal}{{\"v\":1,\"ga")).expect("a file");
        let cut = ask(place.path(), command);
        assert_eq!(cut.code, plain.code, "{command}\n{plain}\n{cut}");
        let is_named = cut.stderr.contains(torn);
        assert!(is_named || is_of_journal(command), "{command}\n{cut}");
        if command.starts_with("standings") || command.starts_with("replay FILE -q") {
            assert_eq!(marked.stdout, plain.stdout, "{command}");
            assert_eq!(cut.stdout, plain.stdout, "{command}");
        }
    }
}
