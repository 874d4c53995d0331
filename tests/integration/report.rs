//! `referee report` and `referee replay --out`: what is written, and what is refused. What it
//! looks like is in `tests/environment/browser`.

use std::fs;
use std::path::{Path, PathBuf};

use crate::common::games::{GAMES, many, write};
use crate::common::{self, Referee, Run};
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use rand::rngs::ChaCha8Rng;
use rand::seq::SliceRandom as _;
use rand::{RngExt as _, SeedableRng as _};
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};
use tempfile::TempDir;

/// A report of records: the page, and the run that wrote it.
struct Report {
    page: String,
    run: Run,
    _scratch: TempDir,
}

fn report(records: &[Value], arguments: &[&str]) -> Report {
    let scratch = tempfile::tempdir().unwrap();
    let file = write(&scratch.path().join("games.jsonl"), records);
    let target = scratch.path().join("page.html");
    let run = Referee::new(["report"])
        .args([file.as_path(), Path::new("-o"), &target])
        .args(arguments)
        .run();
    assert_eq!(run.code, Some(0), "{run}");
    Report {
        page: fs::read_to_string(target).unwrap(),
        run,
        _scratch: scratch,
    }
}

#[test]
fn games_in_several_files_are_shown_once_with_their_analysis() {
    let scratch = tempfile::tempdir().unwrap();
    let games = many(&GAMES, 6, 3);
    let plain = write(&scratch.path().join("games.jsonl"), &games);
    let mut analysed = games.clone();
    for game in &mut analysed {
        game["analysis"] = json!({"v": 1, "by": "a test", "turns": [{"turn": 1, "value": "draw", "best": "draw"}]});
    }
    let other = write(&scratch.path().join("analysis.jsonl"), &analysed);
    let target = scratch.path().join("page.html");
    let mut pages = Vec::new();
    for files in [[&plain, &other], [&other, &plain]] {
        let run = Referee::new(["report", "--title", "t", "-o"])
            .args([&target, files[0], files[1]])
            .run();
        assert_eq!(run.code, Some(0), "{run}");
        let page = data(&fs::read_to_string(&target).unwrap());
        assert_eq!(page["figures"]["games"], 6);
        assert_eq!(entries(&page, "g").len(), 6);
        pages.push(page);
    }
    assert_eq!(pages[0], pages[1]);
    let one = report(&analysed, &["--title", "t"]);
    assert_eq!(data(&one.page)["entries"], pages[0]["entries"]);
}

/// What stands between two texts that occur once each.
fn between<'a>(page: &'a str, start: &str, end: &str) -> &'a str {
    let (_, rest) = page.split_once(start).expect(start);
    let (inside, _) = rest.split_once(end).expect(end);
    inside
}

pub(crate) fn data(page: &str) -> Value {
    let text = between(
        page,
        r#"<script type="application/json" id="data">"#,
        "</script>",
    );
    serde_json::from_str(text).unwrap()
}

/// The entries of one kind.
pub(crate) fn entries(data: &Value, kind: &str) -> Vec<Value> {
    let all = data["entries"].as_array().unwrap();
    all.iter()
        .filter(|entry| entry[0] == kind)
        .cloned()
        .collect()
}

/// The games of a large page, one after the other.
fn packed_games(data: &Value) -> Vec<Value> {
    let packed = STANDARD.decode(data["games"].as_str().unwrap()).unwrap();
    let unpacked = flate2::read::ZlibDecoder::new(packed.as_slice());
    let columns: Vec<Value> = serde_json::from_reader(unpacked).unwrap();
    let games = columns[0].as_array().unwrap().len();
    let game = |number: usize| {
        columns
            .iter()
            .map(|column| column[number].clone())
            .collect()
    };
    (0..games).map(game).collect()
}

#[test]
fn a_page_holds_what_the_records_say() {
    let Report { page, run, .. } = report(&GAMES, &["--title", "Spring cup"]);
    assert!(run.stdout.is_empty(), "{run}");
    assert!(run.stderr.contains("42 games of 3 bots, "), "{run}");
    let data = data(&page);
    assert_eq!(data["head"]["title"], "Spring cup");
    let bots: Vec<String> = entries(&data, "b")
        .iter()
        .map(|b| b[1].as_str().unwrap().to_owned())
        .collect();
    let games = entries(&data, "g");
    assert_eq!(games.len(), GAMES.len());
    for (game, record) in games.iter().zip(GAMES.iter()) {
        let name =
            |field: usize| bots[usize::try_from(game[field].as_u64().unwrap()).unwrap()].as_str();
        assert_eq!(name(2), record["bots"][0]["name"]);
        assert_eq!(name(3), record["bots"][1]["name"]);
        assert_eq!(game[4], record["first"]);
        let winner = record["result"]["winner"].as_i64().unwrap_or(-1);
        assert_eq!(game[5], winner);
        assert_eq!(game[6], record["result"]["reason"]);
        assert_eq!(game[8], record["id"]);
        let start = record["start"].as_str().unwrap();
        let empty = start.chars().all(|cell| cell == '.');
        let expected = if empty { Value::Null } else { start.into() };
        assert_eq!(game[14], expected);
        // Times as three digits and a letter for a power of ten.
        let turns: Vec<String> = record["turns"]
            .as_array()
            .unwrap()
            .iter()
            .map(|turn| turn.as_str().unwrap().to_owned())
            .collect();
        assert_eq!(game[9], turns.join("\t"));
        let times: Vec<f64> = game[10]
            .as_str()
            .unwrap()
            .split_inclusive(|letter: char| letter.is_ascii_lowercase())
            .map(|time| {
                let (digits, letter) = time.split_at(time.len() - 1);
                let power = i32::from(letter.as_bytes()[0] - b'a');
                digits.parse::<f64>().unwrap() * 10_f64.powi(power) / 1000.0
            })
            .collect();
        let exact: Vec<f64> = serde_json::from_value(record["times_ms"].clone()).unwrap();
        assert_eq!(times.len(), exact.len());
        for (time, exact) in times.iter().zip(exact) {
            assert!((time - exact).abs() <= exact / 199.0, "{time} of {exact}");
        }
    }
    let figures = &data["figures"];
    assert_eq!(figures["games"], 42);
    let standings = common::Referee::new(["standings", "--format", "json"]);
    let file = write(&standings.scratch().join("games.jsonl"), &GAMES);
    let table: Value = serde_json::from_str(&standings.args([file]).run().stdout).unwrap();
    for (place, row) in figures["places"]
        .as_array()
        .unwrap()
        .iter()
        .zip(table["standings"].as_array().unwrap())
    {
        for field in ["games", "wins", "draws", "losses", "points", "forfeits"] {
            assert_eq!(place[field], row[field], "{field}");
        }
        let difference = place["elo"].as_f64().unwrap() - row["elo"].as_f64().unwrap();
        assert!(difference.abs() < 0.06, "{place} {row}");
    }
    // The curves end at the standings.
    let history = figures["history"].as_array().unwrap();
    assert_eq!(history.last().unwrap()[0], 42);
    assert!(history.len() > 20);
}

#[test]
fn how_a_result_came_about_is_told() {
    let mut played_again = GAMES[0].clone();
    played_again["voids"] = 2.into();
    played_again["delayed"] = "the machine <slept>".into();
    let mut adjudicated = GAMES[1].clone();
    adjudicated["result"]["adjudicated"] = true.into();
    let page = report(&[played_again, adjudicated, GAMES[2].clone()], &[]).page;
    let games = entries(&data(&page), "g");
    let remark = games[0][16].as_str().unwrap();
    assert!(remark.contains("2 times"), "{remark}");
    assert!(
        remark.ends_with("doubtful: the machine <slept>"),
        "{remark}"
    );
    assert!(games[1][16].as_str().unwrap().starts_with("Adjudicated"));
    assert!(games[2].get(16).is_none());
}

#[test]
fn the_policy_knows_the_script_and_the_style_by_their_hashes() {
    let Report { page, .. } = report(&GAMES, &[]);
    let hash = |text: &str| format!("'sha256-{}'", STANDARD.encode(Sha256::digest(text)));
    let policy = between(&page, r#"Content-Security-Policy" content=""#, "\"");
    let policy = policy.replace("&#39;", "'");
    let script = between(&page, r#"<script type="module">"#, "</script>");
    let style = between(&page, "<style>", "</style>");
    assert!(
        policy.contains(&format!("script-src {} 'wasm-unsafe-eval';", hash(script))),
        "{policy}"
    );
    assert!(
        policy.contains(&format!("style-src {};", hash(style))),
        "{policy}"
    );
    assert!(policy.starts_with("default-src 'none';"), "{policy}");
    assert!(policy.contains("connect-src 'none'"), "{policy}");
    // Nothing is asked for elsewhere.
    let elsewhere = page.replace("http://www.w3.org/2000/svg", "");
    for word in ["http:", "https:", "src=", "url(", "@import"] {
        assert!(!elsewhere.contains(word), "{word}");
    }
}

#[test]
fn the_same_records_make_the_same_page() {
    assert!(report(&GAMES, &[]).page == report(&GAMES, &[]).page);
}

#[test]
fn hostile_text_stays_within_its_place() {
    let hostile = "</script><script>alert(1)</script><!--\u{2028}\u{202e}'\"&";
    let mut record = GAMES[0].clone();
    for field in ["id", "rules"] {
        record[field] = hostile.into();
    }
    record["bots"][0] = json!({"name": hostile, "command": [hostile]});
    record["result"] = json!({"winner": 1, "by": 0, "reason": hostile, "detail": hostile, "answer": hostile, "stderr": hostile});
    let Report { page, .. } = report(&[record], &["--title", hostile]);
    // The data, the solvers, the script.
    assert_eq!(page.matches("</script>").count(), 3);
    assert!(!page.contains("<!--"));
    assert!(!page.contains("<script>alert"));
    assert!(!page.contains(['\u{2028}', '\u{202e}']));
    let data = data(&page);
    let name = data["entries"][0][1].as_str().unwrap().to_owned();
    assert_eq!(
        name,
        hostile
            .replace('\u{2028}', r"\u{2028}")
            .replace('\u{202e}', r"\u{202e}")
    );
}

#[test]
fn private_pages_know_neither_stderr_nor_commands() {
    let all = report(&GAMES, &[]).page;
    let private = report(&GAMES, &["--private"]).page;
    for secret in ["what is this?", "script.sh !what"] {
        assert!(all.contains(secret), "{secret}");
        assert!(!private.contains(secret), "{secret}");
    }
    assert!(private.contains("there is no cell 99"));
}

#[test]
fn thousands_of_games_with_long_stories_stay_under_eight_megabytes() {
    let mut records = many(&GAMES, 4_000, 30);
    for (i, record) in records.iter_mut().enumerate() {
        let story = format!("{i} {}", "x".repeat(1500));
        // As long as games can be, with every text that there may be, and no two the same.
        record["game"] = "four-in-a-row".into();
        record["turns"] = json!(vec!["1"; 42]);
        record["times_ms"] = json!(vec![9_999_999.999; 42]);
        record["result"] = json!({"winner": 1, "by": 0, "reason": "malformed", "answer": story, "detail": story, "stderr": story});
        record["analysis"] = json!({"turns": [{"turn": 1, "text": story}]});
    }
    let Report { page, .. } = report(&records, &[]);
    assert!(page.len() < 8_000_000, "{} bytes", page.len());
    let data = data(&page);
    assert_eq!(packed_games(&data).len(), 4_000);
    assert_eq!(entries(&data, "g").len(), 0);
}

/// A game of Quarto with every cell and every piece, and times of which nothing can be foreseen.
fn unforeseeable(record: &Value, random: &mut ChaCha8Rng) -> Value {
    let mut record = record.clone();
    let mut cells: Vec<u32> = (1..=16).collect();
    let mut pieces: Vec<char> = ('A'..='P').collect();
    cells.shuffle(random);
    pieces.shuffle(random);
    let place = |(cell, piece): (&u32, &char)| format!("{cell} {piece}");
    let first = format!("- {}", pieces[0]);
    let rest = cells.iter().zip(&pieces[1..]).map(place);
    record["turns"] = std::iter::once(first).chain(rest).collect();
    let mut time = |_| Value::from(f64::from(random.random_range(1_000..1_000_000_u32)) / 1000.0);
    record["times_ms"] = (0..16).map(&mut time).collect();
    record
}

/// 100,000 games fit into 10 MB.
#[test]
fn a_game_takes_less_than_a_hundred_bytes_of_a_large_page() {
    let mut random = ChaCha8Rng::seed_from_u64(1);
    let quarto = GAMES.iter().find(|game| game["game"] == "quarto").unwrap();
    let records: Vec<Value> = many(std::slice::from_ref(quarto), 6_000, 20)
        .iter()
        .map(|record| unforeseeable(record, &mut random))
        .collect();
    let none = report(&records[..20], &[]).page;
    let page = report(&records, &[]).page;
    let bytes = (page.len() - none.len()) / records.len();
    assert!(bytes < 100, "{bytes} bytes a game");
    let games = packed_games(&data(&page));
    assert_eq!(games.len(), 6_000);
    let last = report(&records[5_999..], &[]).page;
    let plain = entries(&data(&last), "g");
    // The same but for the numbers of the bots.
    for field in 4..plain[0].as_array().unwrap().len() {
        assert_eq!(games[5_999][field], plain[0][field], "field {field}");
    }
}

#[test]
fn what_cannot_be_written_or_read_is_named() {
    let scratch = tempfile::tempdir().unwrap();
    let games = write(&scratch.path().join("games.jsonl"), &GAMES[..2]);
    let bad = scratch.path().join("bad.jsonl");
    fs::write(&bad, format!("{}\n{{\"v\":1}}\n", GAMES[0])).unwrap();
    let fails = |arguments: &[&Path], expected: &str| {
        let run = Referee::new(["report"]).args(arguments.iter()).run();
        assert_eq!(run.code, Some(2), "{run}");
        assert!(run.stderr.contains(expected), "{expected}: {run}");
    };
    let o = Path::new("-o");
    fails(&[&bad], "bad.jsonl:2: ");
    fails(&[Path::new("/nowhere/x.jsonl")], "check the spelling");
    fails(
        &[&games, o, Path::new("/nowhere/x.html")],
        "cannot be written: there is no such file or directory",
    );
    fails(&[&games, o, scratch.path()], "cannot be written");
    fails(
        &[&games, o, &games],
        "would be overwritten by what is made from it",
    );
    fails(&[], "FILE");
    // The records are as they were.
    assert_eq!(fs::read_to_string(&games).unwrap().lines().count(), 2);
}

#[test]
fn a_last_line_that_is_cut_off_is_left_out() {
    let scratch = tempfile::tempdir().unwrap();
    let path = scratch.path().join("games.jsonl");
    let line = GAMES[1].to_string();
    fs::write(&path, format!("{}\n{}", GAMES[0], &line[..line.len() / 2])).unwrap();
    let run = Referee::new(["report", "-o", "-"]).args([&path]).run();
    assert_eq!(run.code, Some(0), "{run}");
    assert!(
        run.stderr.contains(":2: incomplete last line, left out"),
        "{run}"
    );
    assert_eq!(data(&run.stdout)["figures"]["games"], 1);
}

#[test]
fn an_old_page_is_replaced_whole_and_can_be_read_by_others() {
    use std::os::unix::fs::PermissionsExt as _;
    let scratch = tempfile::tempdir().unwrap();
    let games = write(&scratch.path().join("games.jsonl"), &GAMES);
    let page: PathBuf = scratch.path().join("page.html");
    fs::write(&page, "x".repeat(1_000_000)).unwrap();
    let run = Referee::new(["report"])
        .args([games.as_path(), Path::new("-o"), &page])
        .shell("umask 022; exec \"$0\" \"$@\"")
        .run();
    assert_eq!(run.code, Some(0), "{run}");
    assert!(
        fs::read_to_string(&page)
            .unwrap()
            .starts_with("<!DOCTYPE html>")
    );
    assert_eq!(
        fs::metadata(&page).unwrap().permissions().mode() & 0o777,
        0o644
    );
    let left: Vec<_> = fs::read_dir(scratch.path()).unwrap().collect();
    assert_eq!(left.len(), 2, "{left:?}");
}

#[test]
fn a_replay_as_a_page_is_of_one_game_by_the_rules() {
    let scratch = tempfile::tempdir().unwrap();
    let games = write(&scratch.path().join("games.jsonl"), &GAMES[..3]);
    let replay = |arguments: &[&str]| {
        Referee::new(["replay"])
            .args([&games])
            .args(arguments)
            .directory(scratch.path())
            .run()
    };
    let run = replay(&["--html"]);
    assert_eq!(run.code, Some(2), "{run}");
    assert!(run.stderr.contains("choose one with --number N"), "{run}");
    let run = replay(&["--html", "--number", "4"]);
    assert!(
        run.stderr.contains("there is no game 4; the file has 3"),
        "{run}"
    );
    let run = replay(&["--html", "--number", "2"]);
    assert_eq!(run.code, Some(0), "{run}");
    let page = fs::read_to_string(scratch.path().join("game-2.html")).unwrap();
    let data = data(&page);
    assert_eq!(entries(&data, "g")[0][8], GAMES[1]["id"]);
    assert_eq!(data["head"]["one"], true);
    let fault = GAMES
        .iter()
        .position(|game| game["result"]["stderr"].is_string());
    let number = (fault.unwrap() + 1).to_string();
    let all = write(&scratch.path().join("all.jsonl"), &GAMES);
    for (private, shown) in [(&[][..], true), (&["--private"], false)] {
        let run = Referee::new(["replay", "--out=one.html", "--number", &number])
            .args([&all])
            .args(private)
            .directory(scratch.path())
            .run();
        assert_eq!(run.code, Some(0), "{run}");
        let page = fs::read_to_string(scratch.path().join("one.html")).unwrap();
        assert_eq!(page.contains("what is this?"), shown);
    }
    let mut forged = GAMES[0].clone();
    forged["result"]["winner"] = Value::Null;
    let forged = write(&scratch.path().join("forged.jsonl"), &[forged]);
    let run = Referee::new(["replay", "--format", "html"])
        .args([forged])
        .run();
    assert_eq!(run.code, Some(2), "{run}");
    assert!(run.stderr.contains("the winner is no bot"), "{run}");
}

#[test]
fn a_page_tells_how_the_limits_of_bots_were_kept() {
    let doctor = Referee::new(["doctor", "--json"]).run();
    let found: Value = serde_json::from_str(&doctor.stdout).expect("JSON");
    let works = found["auto"].as_str().expect("a sandbox");
    for kind in ["none", works] {
        let referee = Referee::new(["--sandbox", kind, "--seed", "1", "--report"]);
        let page = referee.scratch().join("page.html");
        let run = referee
            .args([page.as_os_str()])
            .args(["builtin:random", "builtin:random"])
            .run();
        assert_eq!(run.code, Some(0), "{run}");
        let head = &data(&run.file("page.html"))["head"];
        let limits = head["limits"].as_array().expect("a list");
        let first = limits.first().map(|limit| &limit["limit"]);
        let expected = json!("--memory");
        assert_eq!(first, Some(&expected).filter(|_| kind != "none"), "{head}");
    }
}
