//! `referee standings`: points, order, tie-breaks, formats, filters, and files that are not right.

use std::fs;
use std::path::PathBuf;

use crate::common::{Referee, Run};
use serde_json::{Value, json};

/// A game: who moved first, who second, the winner's index (`None` for a draw), more fields.
fn game(first: &str, second: &str, winner: Option<usize>) -> Value {
    json!({
        "v": 1, "game": "quarto", "rules": "standard", "id": "1-1",
        "bots": [{"name": first, "command": [first]}, {"name": second, "command": [second]}],
        "first": 0, "seed": 1, "start": "................",
        "turns": ["- K", "6 A"], "times_ms": [1.0, 3.0],
        "result": {"winner": winner, "reason": if winner.is_some() { "quarto" } else { "draw" }, "lines": []},
        "started": "2026-01-31T10:00:00Z"
    })
}

struct Files {
    place: tempfile::TempDir,
}

impl Files {
    fn new() -> Self {
        let place = tempfile::tempdir().expect("a directory");
        Self { place }
    }

    fn write(&self, name: &str, games: &[Value]) -> PathBuf {
        let lines: Vec<String> = games.iter().map(Value::to_string).collect();
        self.text(name, &(lines.join("\n") + "\n"))
    }

    fn text(&self, name: &str, text: &str) -> PathBuf {
        let path = self.place.path().join(name);
        fs::write(&path, text).expect("a file");
        path
    }
}

fn standings(files: &[&PathBuf], more: &[&str]) -> Run {
    let paths = files.iter().map(|path| path.to_str().expect("a name"));
    Referee::new(["standings"]).args(paths).args(more).run()
}

fn as_json(files: &[&PathBuf], more: &[&str]) -> Value {
    let run = standings(files, &[&["--format", "json"], more].concat());
    assert_eq!(run.code, Some(0), "{run}");
    serde_json::from_str(&run.stdout).unwrap_or_else(|error| panic!("{error}: {run}"))
}

fn names(table: &Value) -> Vec<&str> {
    let places = table["standings"].as_array().expect("a list");
    places
        .iter()
        .filter_map(|place| place["name"].as_str())
        .collect()
}

/// A round robin in which everybody plays everybody in both seats.
fn round_robin() -> Vec<Value> {
    vec![
        game("a", "b", Some(0)),
        game("b", "a", Some(1)),
        game("a", "c", Some(0)),
        game("c", "a", None),
        game("b", "c", None),
        game("c", "b", Some(0)),
    ]
}

#[test]
fn points_decide_when_all_have_played_as_much() {
    let files = Files::new();
    let path = files.write("games.jsonl", &round_robin());
    let table = as_json(&[&path], &[]);
    assert_eq!(names(&table), ["a", "c", "b"]);
    let points = |i: usize| table["standings"][i]["points"].as_f64();
    assert_eq!(
        [points(0), points(1), points(2)],
        [Some(3.5), Some(2.0), Some(0.5)]
    );
    assert_eq!(table["standings"][0]["wins"], 3);
    assert_eq!(table["standings"][0]["draws"], 1);
    assert_eq!(table["standings"][0]["against"], json!([null, 1.5, 2.0]));
    // What a made against c and b, times what they made.
    assert_eq!(
        table["standings"][0]["sonneborn_berger"],
        1.5 * 2.0 + 2.0 * 0.5
    );
    assert_eq!(table["games"], 6);
    let elo = |i: usize| table["standings"][i]["elo"].as_f64().expect("a rating");
    assert!(elo(0) > elo(1) && elo(1) > elo(2), "{table}");
    assert!((elo(0) + elo(1) + elo(2)).abs() < 1e-6, "{table}");
}

#[test]
fn direct_encounter_breaks_ties() {
    let files = Files::new();
    // a and b make two points each; b beat a.
    let games = [
        game("a", "b", Some(1)),
        game("a", "c", Some(0)),
        game("a", "d", Some(0)),
        game("b", "c", Some(1)),
        game("b", "d", Some(0)),
        game("c", "d", Some(1)),
    ];
    let path = files.write("games.jsonl", &games);
    let table = as_json(&[&path], &[]);
    assert_eq!(names(&table)[..2], ["b", "a"]);
    assert_eq!(table["standings"][0]["direct"], 1.0);
}

#[test]
fn ratings_decide_when_some_have_played_more() {
    let files = Files::new();
    let mut games = vec![game("strong", "good", Some(0)); 3];
    games.extend(vec![game("good", "weak", Some(0)); 10]);
    let path = files.write("games.jsonl", &games);
    assert_eq!(names(&as_json(&[&path], &[])), ["strong", "good", "weak"]);
}

#[test]
fn times_and_forfeits_are_counted_for_the_right_bot() {
    let files = Files::new();
    let mut lost = game("a", "b", Some(0));
    lost["result"]["by"] = json!(1);
    lost["result"]["reason"] = json!("timeout");
    lost["first"] = json!(1);
    let path = files.write("games.jsonl", &[lost]);
    let table = as_json(&[&path], &[]);
    let place = |name: &str| {
        let places = table["standings"].as_array().expect("a list");
        places
            .iter()
            .find(|place| place["name"] == name)
            .expect(name)
            .clone()
    };
    assert_eq!(place("b")["forfeits"], json!({"timeout": 1}));
    assert_eq!(place("a")["forfeits"], json!({}));
    // b moved first, and took 1 ms.
    assert_eq!(place("b")["worst_ms"], 1.0);
    assert_eq!(place("a")["worst_ms"], 3.0);
    let median = place("a")["median_ms"].as_f64().expect("a time");
    assert!((median - 3.0).abs() < 0.03, "{median}");
}

#[test]
fn several_files_and_filters() {
    let files = Files::new();
    let one = files.write("one.jsonl", &[game("a", "b", Some(0))]);
    let mut later = game("a", "c", Some(1));
    later["started"] = json!("2026-03-01T10:00:00Z");
    let two = files.write("two.jsonl", &[later]);
    assert_eq!(as_json(&[&one, &two], &[])["games"], 2);
    assert_eq!(
        as_json(&[&one, &two], &["--from", "2026-02-01"])["games"],
        1
    );
    let at_once = ["--from", "2026-03-01T10:00:00Z"];
    assert_eq!(as_json(&[&one, &two], &at_once)["games"], 1);
    assert_eq!(names(&as_json(&[&one, &two], &["--bot", "b"])), ["a", "b"]);
    let both = ["--bot", "b", "--bot", "c"];
    assert_eq!(as_json(&[&one, &two], &both)["games"], 2);
    assert_eq!(as_json(&[&one], &["--bot", "nobody"])["games"], 0);
    let run = standings(&[&one], &["--bot", "nobody", "--bot", "b"]);
    let sentence = "referee: --bot nobody: no game here is one of a bot of this name\n";
    assert_eq!(run.stderr, sentence, "{run}");
}

#[test]
fn the_table_for_people() {
    let files = Files::new();
    let path = files.write("games.jsonl", &round_robin());
    let run = standings(&[&path], &[]);
    assert_eq!(run.code, Some(0), "{run}");
    let lines: Vec<&str> = run.stdout.lines().collect();
    assert!(lines[0].starts_with("#  bot  games  won"), "{run}");
    assert!(
        lines[1].starts_with("1  a        4    3      1     0     3.5"),
        "{run}"
    );
    assert!(run.stdout.contains("Head to head:"), "{run}");
    assert_eq!(run.last_line(), "6 games", "{run}");
    // Who moves first mostly wins, so that it matters.
    let second = |wins: bool| Some(usize::from(wins));
    let games: Vec<Value> = (0..20)
        .flat_map(|i| {
            [
                game("a", "b", second(i % 5 == 0)),
                game("b", "a", second(i % 5 == 1)),
            ]
        })
        .collect();
    let matters = standings(&[&files.write("matters.jsonl", &games)], &[]);
    let advantage = matters.last_line();
    assert!(
        advantage.starts_with("40 games; first-mover advantage "),
        "{matters}"
    );
    let markdown = standings(&[&path], &["--format", "markdown"]);
    assert!(
        markdown.stdout.starts_with("| # | bot | games |"),
        "{markdown}"
    );
    assert!(
        markdown
            .stdout
            .contains("\n| 1 | a | 4 | 3 | 1 | 0 | 3.5 |"),
        "{markdown}"
    );
}

#[test]
fn names_that_want_to_be_something_else() {
    let files = Files::new();
    let games = [game("=cmd()|x", "two\nlines, \"quoted\"", Some(0))];
    let path = files.write("games.jsonl", &games);
    let csv = standings(&[&path], &["--format", "csv"]);
    assert_eq!(csv.code, Some(0), "{csv}");
    assert_eq!(csv.stdout.lines().count(), 3, "{csv}");
    assert!(csv.stdout.contains("\n1,'=cmd()|x,1,1,1,0,0,"), "{csv}");
    assert!(csv.stdout.contains(r#""two\nlines, ""quoted""""#), "{csv}");
    let markdown = standings(&[&path], &["--format", "markdown"]);
    assert!(markdown.stdout.contains("| =cmd()&#124;x |"), "{markdown}");
    let table = standings(&[&path], &[]);
    assert!(table.stdout.contains(r"two\nlines"), "{table}");
}

#[test]
fn files_that_are_not_right() {
    let files = Files::new();
    let good = game("a", "b", Some(0)).to_string();
    let damaged = files.text("damaged.jsonl", &format!("{good}\n{{\"v\":1,\n{good}\n"));
    let run = standings(&[&damaged], &[]);
    assert_eq!(run.code, Some(2), "{run}");
    assert!(run.stderr.contains("damaged.jsonl:2: "), "{run}");

    let cut = files.text("cut.jsonl", &format!("{good}\n{}", &good[..40]));
    let run = standings(&[&cut], &[]);
    assert_eq!(run.code, Some(0), "{run}");
    assert!(
        run.stderr.contains("cut.jsonl:2: incomplete last line"),
        "{run}"
    );
    assert!(run.stdout.contains("1 game"), "{run}");

    let missing = files.place.path().join("nosuch.jsonl");
    let run = standings(&[&missing], &[]);
    assert_eq!(run.code, Some(2), "{run}");
    assert!(run.stderr.contains("nosuch.jsonl"), "{run}");

    let indices = files.text("indices.jsonl", &good.replace("\"first\":0", "\"first\":2"));
    let two = standings(&[&indices], &[]);
    assert!(two.stderr.contains("indices.jsonl:1: "), "{two}");
    let itself = files.write("itself.jsonl", &[game("a", "a", None)]);
    let run = standings(&[&itself], &[]);
    assert_eq!(run.code, Some(2), "{run}");
    for wrong in [&["--from", "yesterday"][..], &["--format", "pdf"]] {
        let run = standings(&[&cut], wrong);
        assert_eq!(run.code, Some(2), "{run}");
    }
}

#[test]
fn real_records() {
    let files = Files::new();
    let path = files.place.path().join("real.jsonl");
    let record = path.to_str().expect("a name");
    let played = Referee::new(["--seed", "1", "-n", "40", "--record", record])
        .args(["builtin:greedy", "builtin:random"])
        .run();
    assert_eq!(played.code, Some(0), "{played}");
    let table = as_json(&[&path], &[]);
    assert_eq!(names(&table), ["builtin:greedy", "builtin:random"]);
    assert_eq!(table["games"], 40);
}

/// Games of a tournament: 40 pairs among three bots, and one half without its other half.
fn pairs_of_games() -> Vec<Value> {
    let meetings = [("a", "b"), ("b", "c"), ("c", "a"), ("b", "a")];
    let mut games = Vec::new();
    for pair in 1..=41u32 {
        let (first, second) = meetings[pair as usize % 4];
        for (half, (first, second)) in [("a", (first, second)), ("b", (second, first))] {
            if (pair, half) == (41, "b") {
                continue;
            }
            // The same opening is mostly won by who begins: the games of a pair are alike.
            let winner = match pair % 10 {
                0 => None,
                1..=6 => Some(0),
                7 if half == "a" => Some(1),
                _ => Some(usize::from(half == "b")),
            };
            let mut game = game(first, second, winner);
            game["id"] = json!(format!("p{pair:06}{half}"));
            games.push(game);
        }
    }
    games
}

#[test]
fn the_order_of_records_does_not_matter() {
    let files = Files::new();
    let games = pairs_of_games();
    let usual = standings(&[&files.write("1", &games)], &["--format", "json"]);
    for step in [5, 7, 11, 80] {
        let count = games.len();
        let shuffled: Vec<_> = (0..count)
            .map(|i| games[i * step % count].clone())
            .collect();
        let other = standings(&[&files.write("2", &shuffled)], &["--format", "json"]);
        assert_eq!(usual.stdout, other.stdout);
    }
}

/// Errors come from pairs as units, which the library adds one by one here.
#[test]
fn games_of_a_pair_are_not_independent() {
    use referee::stats::ratings::{Model, RatedOutcome, RatedResults, rate};

    let files = Files::new();
    let games = pairs_of_games();
    let outcome = |game: &Value| match game["result"]["winner"].as_u64() {
        Some(0) => RatedOutcome::FirstWins,
        Some(_) => RatedOutcome::SecondWins,
        None => RatedOutcome::Draw,
    };
    let bot = |game: &Value, index: usize| {
        let name = game["bots"][index]["name"].as_str();
        ["a", "b", "c"]
            .iter()
            .position(|&known| Some(known) == name)
    };
    let mut results = RatedResults::new(3);
    for pair in games.chunks(2) {
        let (a, b) = (bot(&pair[0], 0).unwrap(), bot(&pair[0], 1).unwrap());
        if let [first, second] = pair {
            let outcomes = [outcome(first), outcome(second)];
            results.add_pair(a, b, outcomes).unwrap();
        } else {
            let meeting = results.meeting(a, b).unwrap();
            meeting.games[usize::from(a > b)][outcome(&pair[0]) as usize] += 1;
        }
    }
    let expected = rate(&results, &Model::default()).unwrap();
    let table = as_json(&[&files.write("1", &games)], &[]);
    for place in table["standings"].as_array().unwrap() {
        let bot = ["a", "b", "c"]
            .iter()
            .position(|&name| place["name"] == name);
        let expected = expected.bots[bot.unwrap()].interval;
        for (end, expected) in ["elo_low", "elo_high"].into_iter().zip(expected) {
            let found = place[end].as_f64().unwrap();
            assert!((found - expected).abs() < 0.051, "{found} {expected}");
        }
    }
    // As single games they would seem to tell something else.
    let mut singles = games.clone();
    for (number, game) in singles.iter_mut().enumerate() {
        game["id"] = json!(format!("1-{number}"));
    }
    let singles = as_json(&[&files.write("2", &singles)], &[]);
    assert_ne!(
        table["standings"][0]["elo_low"],
        singles["standings"][0]["elo_low"]
    );
}

/// What the games are, and what is expected: the bots in order with their points, and the rating of the first where it is
/// known.
type Degenerate = (
    &'static str,
    Vec<Value>,
    &'static [(&'static str, f64)],
    Option<&'static str>,
);

/// Results from which little or nothing can be estimated: each output has figures all the same, and none that is not a number.
#[expect(clippy::too_many_lines, reason = "a table of cases")]
#[test]
fn results_that_say_little_have_tables_without_nonsense() {
    let files = Files::new();
    let many = |first: &str, second: &str, winner, count| vec![game(first, second, winner); count];
    let forfeits = |by: usize| {
        let mut game = game("a", "b", Some(1 - by));
        game["result"]["reason"] = json!("timeout");
        game["result"]["by"] = json!(by);
        game
    };
    let cases: [Degenerate; 12] = [
        ("no game", vec![], &[], None),
        (
            "one game",
            many("a", "b", Some(0), 1),
            &[("a", 1.0), ("b", 0.0)],
            None,
        ),
        (
            "one draw",
            many("a", "b", None, 1),
            &[("a", 0.5), ("b", 0.5)],
            Some("0"),
        ),
        (
            "draws",
            many("a", "b", None, 50),
            &[("a", 25.0), ("b", 25.0)],
            Some("0"),
        ),
        (
            "wins",
            many("a", "b", Some(0), 50),
            &[("a", 50.0), ("b", 0.0)],
            None,
        ),
        (
            "thousands of wins",
            many("a", "b", Some(0), 5000),
            &[("a", 5000.0), ("b", 0.0)],
            None,
        ),
        (
            "wins of who begins",
            [many("a", "b", Some(0), 20), many("b", "a", Some(0), 20)].concat(),
            &[("a", 20.0), ("b", 20.0)],
            Some("0"),
        ),
        (
            "forfeits",
            vec![forfeits(1); 10],
            &[("a", 10.0), ("b", 0.0)],
            None,
        ),
        (
            "forfeits of both",
            [vec![forfeits(0); 5], vec![forfeits(1); 5]].concat(),
            &[("a", 5.0), ("b", 5.0)],
            Some("0"),
        ),
        (
            "a circle",
            [("a", "b"), ("b", "c"), ("c", "a")]
                .map(|(one, other)| [game(one, other, Some(0)), game(other, one, Some(1))])
                .concat(),
            &[("a", 2.0), ("b", 2.0), ("c", 2.0)],
            Some("0"),
        ),
        (
            "pairs that never met",
            [
                many("a", "b", Some(0), 3),
                vec![game("c", "d", None), game("d", "c", None)],
            ]
            .concat(),
            &[("a", 3.0), ("b", 0.0), ("c", 1.0), ("d", 1.0)],
            None,
        ),
        (
            "one game beside a thousand",
            [many("a", "b", Some(0), 1000), many("c", "a", Some(0), 1)].concat(),
            &[("c", 1.0), ("a", 1000.0), ("b", 0.0)],
            None,
        ),
    ];
    for (what, mut games, expected, rating) in cases {
        for (number, game) in games.iter_mut().enumerate() {
            game["id"] = json!(format!("1-{number}"));
        }
        let path = files.write("games.jsonl", &games);
        let page = files.place.path().join("page.html");
        for format in ["table", "csv", "json", "markdown"] {
            let run = standings(&[&path], &["--format", format]);
            assert_eq!(run.code, Some(0), "{what}: {run}");
            let words = run.stdout.split(|c: char| !c.is_alphanumeric() && c != '-');
            for word in words {
                let is_wrong =
                    ["nan", "inf", "infinity", "-inf", "-0"].contains(&&*word.to_lowercase());
                assert!(!is_wrong, "{what}: {word} in {run}");
            }
        }
        let table = as_json(&[&path], &[]);
        assert_eq!(table["games"], games.len(), "{what}");
        let rows = table["standings"].as_array().expect("a list");
        let found: Vec<(&str, f64)> = rows
            .iter()
            .map(|row| {
                (
                    row["name"].as_str().unwrap(),
                    row["points"].as_f64().unwrap(),
                )
            })
            .collect();
        assert_eq!(found, expected, "{what}");
        for row in rows {
            let elo = row["elo"].as_f64().expect("a rating");
            assert!(elo.abs() < 5000.0, "{what}: {row}");
            for (end, is_beyond) in [("elo_low", 1.0), ("elo_high", -1.0)] {
                let end = row[end].as_f64();
                assert!(
                    end.is_none_or(|end| (elo - end) * is_beyond > -0.06),
                    "{what}: {row}"
                );
            }
        }
        // Who has more points of the same opponents is not rated lower.
        let elos: Vec<f64> = rows
            .iter()
            .map(|row| row["elo"].as_f64().unwrap())
            .collect();
        for (a, b) in elos.iter().zip(&elos[usize::from(!elos.is_empty())..]) {
            let apart = table["standings"][0]["table"] != rows[rows.len() - 1]["table"];
            assert!(apart || a >= &(b - 1e-6), "{what}: {elos:?}");
        }
        if let Some(rating) = rating {
            let run = standings(&[&path], &[]);
            let row = run.stdout.lines().nth(1).expect("a row");
            let cells: Vec<&str> = row.split_whitespace().collect();
            assert!(
                cells.join(" ").contains(&format!("% {rating}")),
                "{what}: {run}"
            );
        }
        if !games.is_empty() {
            let run = Referee::new(["report"])
                .args([&path])
                .args(["-o"])
                .args([&page])
                .run();
            assert_eq!(run.code, Some(0), "{what}: {run}");
            let data = crate::report::data(&fs::read_to_string(&page).expect("a page"));
            let places = data["figures"]["places"].as_array().expect("places");
            assert_eq!(places.len(), expected.len(), "{what}");
            assert!(
                places.iter().all(|place| place["elo"].is_f64()),
                "{what}: {places:?}"
            );
        }
    }
}

/// A game of two turns with what an analysis says of them.
fn analysed(first: &str, second: &str, turns: &Value) -> Value {
    let mut game = game(first, second, Some(0));
    game["analysis"] = json!({"by": "a test", "turns": turns});
    game
}

#[test]
fn analysed_games_have_more_columns() {
    let files = Files::new();
    let plain = files.write("plain.jsonl", &[game("a", "b", Some(0))]);
    let run = standings(&[&plain], &[]);
    assert!(!run.stdout.contains("accuracy"), "{run}");
    assert!(
        as_json(&[&plain], &[])["standings"][0]
            .get("accuracy")
            .is_none()
    );

    let games = [
        analysed(
            "a",
            "b",
            &json!([
                {"turn": 1, "value": "draw", "best": "draw"},
                {"turn": 2, "value": "loss", "best": "win", "mark": "missed-win", "lost_at_once": true},
                // There is no such turn.
                {"turn": 3, "value": "loss", "best": "win"},
            ]),
        ),
        analysed(
            "b",
            "a",
            &json!([
                {"turn": 1, "value": "unknown", "best": "win"},
                {"turn": 2, "value": "draw", "best": "win"},
            ]),
        ),
        game("a", "b", Some(0)),
        analysed("a", "b", &json!("nonsense")),
    ];
    let path = files.write("games.jsonl", &games);
    let table = as_json(&[&path], &[]);
    assert_eq!(names(&table), ["a", "b"]);
    let of = |place: usize, field: &str| table["standings"][place][field].clone();
    // The game without an analysis does not count, the one with a strange one does.
    assert_eq!(
        (of(0, "turns"), of(0, "proven"), of(0, "kept")),
        (json!(3), json!(2), json!(1))
    );
    assert_eq!(
        (of(0, "accuracy"), of(0, "win_to_draw")),
        (json!(0.5), json!(1))
    );
    assert_eq!(
        (of(1, "proven"), of(1, "win_to_loss")),
        (json!(1), json!(1))
    );
    assert_eq!(
        (of(1, "missed_wins"), of(1, "lost_at_once")),
        (json!(1), json!(1))
    );

    let run = standings(&[&path], &[]);
    let lines: Vec<&str> = run.stdout.lines().collect();
    assert!(
        lines[0].ends_with("median  proven  accuracy  blunders  missed wins in 1"),
        "{run}"
    );
    assert!(
        lines[1].ends_with("       2     50.0%         1                 0"),
        "{run}"
    );
    let run = standings(&[&path], &["--format", "csv"]);
    let lines: Vec<&str> = run.stdout.lines().collect();
    assert!(
        lines[0].ends_with(
            ",turns,proven,kept,accuracy,blunders,win_to_draw,win_to_loss,draw_to_loss,missed_wins,lost_at_once,forfeits"
        ),
        "{run}"
    );
    assert!(lines[1].ends_with(",3,2,1,0.5,1,1,0,0,0,0,"), "{run}");
    let run = standings(&[&path], &["--format", "markdown"]);
    assert!(
        run.stdout
            .contains("| proven | accuracy | blunders | missed wins in 1 |\n"),
        "{run}"
    );
    assert!(run.stdout.contains("| 1 | 0.0% | 1 | 1 |\n"), "{run}");
}

#[test]
fn games_in_several_files_count_once() {
    let files = Files::new();
    let games = round_robin()
        .into_iter()
        .enumerate()
        .map(|(number, mut game)| {
            game["id"] = json!(format!("1-{number}"));
            game
        });
    let games: Vec<Value> = games.collect();
    let one = files.write("one.jsonl", &games);
    let mut with_analysis = games.clone();
    for game in &mut with_analysis {
        game["analysis"] =
            json!({"by": "a test", "turns": [{"turn": 1, "value": "draw", "best": "draw"}]});
    }
    let two = files.write("two.jsonl", &with_analysis);
    for several in [
        &[&one, &one][..],
        &[&one, &two],
        &[&two, &one],
        &[&two, &two, &one],
    ] {
        let table = as_json(several, &[]);
        assert_eq!(table["games"], 6);
        if several.contains(&&two) {
            let turns: u64 = table["standings"]
                .as_array()
                .expect("a list")
                .iter()
                .map(|place| place["proven"].as_u64().expect("a number"))
                .sum();
            assert_eq!(turns, 6);
        }
    }
    let run = standings(&[&one, &one], &[]);
    assert!(
        run.stderr
            .contains("6 games are in several files, and count once"),
        "{run}"
    );
}

#[test]
fn games_that_are_all_alike_are_reported() {
    let files = Files::new();
    let path = files.write("games.jsonl", &vec![game("a", "b", Some(0)); 10]);
    let run = standings(&[&path], &[]);
    assert!(run.stderr.contains("play the same game again"), "{run}");
}

#[test]
fn tie_breaks_are_named() {
    let files = Files::new();
    let path = files.write("games.jsonl", &round_robin());
    let run = standings(&[&path], &["--tie-break", "wins,buchholz"]);
    assert!(
        run.stdout
            .contains("order: points, then wins, Buchholz, rating"),
        "{run}"
    );
    assert!(run.stdout.contains("  BH  "), "{run}");
    let wrong = standings(&[&path], &["--tie-break", "luck"]);
    assert_eq!(wrong.code, Some(2), "{wrong}");
    assert!(wrong.stderr.contains("sonneborn-berger"), "{wrong}");
}

#[test]
fn groups_that_never_met_are_apart() {
    let files = Files::new();
    let mut games = round_robin();
    games.push(game("x", "y", Some(0)));
    let path = files.write("games.jsonl", &games);
    let run = standings(&[&path], &[]);
    assert!(
        run.stdout
            .starts_with("2 tables: no games, directly or through other bots, connect"),
        "{run}"
    );
    assert_eq!(run.stdout.matches("\n1  ").count(), 2, "{run}");
    let markdown = standings(&[&path], &["--format", "markdown"]);
    assert_eq!(
        markdown.stdout.matches("| # | bot |").count(),
        2,
        "{markdown}"
    );
}

#[test]
fn tables_fit_their_terminal() {
    use referee::record::RecordSummary;
    use referee::report::standings::table;
    use referee::report::terminal::Palette;
    use referee::stats::standings::{Collector, Ranking};
    use unicode_width::UnicodeWidthStr as _;

    let mut collector = Collector::new();
    let names = [
        "alpha",
        "beta",
        "gamma",
        "delta",
        "eps",
        "a bot with a name that ruins every table, 👩‍💻",
    ];
    for (number, first) in names.iter().enumerate() {
        for second in &names[..number] {
            for _ in 0..10 {
                let mut game = game(first, second, Some(0));
                game["result"]["reason"] = json!("timeout");
                game["result"]["by"] = json!(1);
                let line = game.to_string();
                let game = RecordSummary::parse(line.as_bytes()).expect("a record");
                collector.add(&game.with_times(game.times()));
            }
        }
    }
    let standings = collector.standings(&Ranking::default()).expect("ratings");
    for width in 40..=120 {
        let text = table(&standings, &Palette::default(), Some(width));
        let heads = text.lines().next().unwrap_or_default();
        let results = ["won", "drawn", "lost"].map(|head| heads.contains(head));
        assert!(
            results[0] == results[1] && results[1] == results[2],
            "{text}"
        );
        assert!(
            text.lines().all(|line| line.width() <= width),
            "{width}:\n{text}"
        );
        assert!(
            text.contains("points") && text.contains("Elo") && text.contains("bot"),
            "{text}"
        );
        if width < 80 {
            assert!(text.replace('\n', " ").contains("hidden: "), "{text}");
        }
    }
    // Six short names fit with all figures.
    let all = table(&standings, &Palette::default(), None);
    assert!(all.contains("median") && all.contains("👩‍💻"), "{all}");
}

#[test]
fn simulations_say_what_a_tournament_can_tell() {
    let run = Referee::new([
        "simulate",
        "--bots",
        "8",
        "--pairs",
        "3",
        "--tournaments",
        "60",
    ])
    .run();
    assert_eq!(run.code, Some(0), "{run}");
    let lines: Vec<&str> = run.stdout.lines().collect();
    assert!(lines[0].starts_with("format"), "{run}");
    // 28 pairings of 3 pairs of games.
    assert!(
        lines[1].starts_with("round robin") && lines[1].contains("7    168"),
        "{run}"
    );
    assert_eq!(
        lines[2..6].iter().filter(|line| line.contains('%')).count(),
        4,
        "{run}"
    );
    let json = |more: &[&str]| -> Value {
        let run = Referee::new([
            "simulate",
            "--bots",
            "6",
            "--json",
            "--format",
            "round-robin",
        ])
        .args(more)
        .run();
        assert_eq!(run.code, Some(0), "{run}");
        serde_json::from_str::<Value>(&run.stdout).expect("JSON")["forecasts"][0].clone()
    };
    let (few, many) = (json(&["--pairs", "1"]), json(&["--pairs", "40"]));
    let figure = |forecast: &Value, name: &str| forecast[name].as_f64().expect("a number");
    assert!(
        figure(&many, "best_wins") > figure(&few, "best_wins"),
        "{few} {many}"
    );
    assert!(figure(&many, "error") < figure(&few, "error"));
    assert_eq!(json(&["--pairs", "1"]), few);
    let wrong = Referee::new(["simulate", "--bots", "1"]).run();
    assert_eq!(wrong.code, Some(2), "{wrong}");
}

#[test]
fn ratings_by_version() {
    let files = Files::new();
    // Two tournaments, between which a bot's files changed.
    let mut journals = Vec::new();
    for (name, line) in [("one", "# 1"), ("two", "# 2")] {
        let bot = files.text(
            "bot.sh",
            &format!("#!/bin/sh\n{line}\nexec \"$REFEREE_BIN\" bot random\n"),
        );
        let out = files.place.path().join(name);
        let run = Referee::new([
            "tournament",
            "--pairs",
            "1",
            "--sandbox",
            "none",
            "--no-check",
        ])
        .args([
            bot.as_os_str(),
            "builtin:random".as_ref(),
            "--out".as_ref(),
            out.as_os_str(),
        ])
        .run();
        assert_eq!(run.code, Some(0), "{run}");
        journals.push(out.join("games.jsonl"));
    }
    let table = as_json(&[&journals[0], &journals[1]], &["--by", "version"]);
    let versions: Vec<&str> = names(&table)
        .into_iter()
        .filter(|name| name.starts_with("bot.sh@"))
        .collect();
    assert_eq!(versions.len(), 2, "{table}");
}

/// What bots said before their turns counts where it was a score from which they were sure.
#[test]
fn how_sure_bots_were_is_a_column() {
    let files = Files::new();
    let mut games = [game("a", "b", Some(0)), game("b", "a", Some(0))];
    games[0]["info"] = json!([{"turn": 1, "score": 0.8}, {"turn": 2, "score": "0.9"}]);
    games[1]["info"] = json!([{"turn": 1, "score": 7}, {"turn": 2, "score": 1.0, "string": "x"}, {"turn": 0, "score": 1}]);
    let path = files.write("games.jsonl", &games);
    let table = as_json(&[&path], &[]);
    let sure = |i: usize| {
        [
            &table["standings"][i]["sure"],
            &table["standings"][i]["sure_won"],
        ]
    };
    let a = usize::from(names(&table)[1] == "a");
    assert_eq!(sure(a), [&json!(2), &json!(0.5)]);
    assert_eq!(sure(1 - a), [&json!(0), &json!(null)]);
    let run = standings(&[&path], &[]);
    assert!(run.stdout.contains("won when sure"), "{run}");
    let silent = files.write("silent.jsonl", &round_robin());
    let run = standings(&[&silent], &["--format", "csv"]);
    assert!(!run.stdout.contains("sure"), "{run}");
}

fn in_format(cup: &PathBuf, format: &str) -> String {
    let run = standings(&[cup], &["--format", format]);
    assert_eq!(run.code, Some(0), "{run}");
    run.stdout
}

/// The folder has the times in a file of their own: the rest is the same on every machine.
fn only_times_stand_apart(cup: &PathBuf) {
    let read = |name: &str| fs::read_to_string(cup.join(name)).expect("a file");
    let of_command = |format: &str| in_format(cup, format);
    let json: Value = serde_json::from_str(&of_command("json")).expect("JSON");
    let times = ["median_ms", "p95_ms", "worst_ms"];
    let mut timeless = json;
    for place in timeless["standings"].as_array_mut().expect("a list") {
        let place = place.as_object_mut().expect("an object");
        place.retain(|field, _| !times.contains(&&**field));
    }
    let of_folder: Value = serde_json::from_str(&read("standings.json")).expect("JSON");
    assert_eq!(of_folder, timeless);
    let cells = |text: &str| -> Vec<Vec<String>> {
        let lines = text.lines();
        let cells = |line: &str| line.split(',').map(str::to_owned).collect();
        lines.map(cells).collect()
    };
    let mut with_times = cells(&of_command("csv"));
    let at = with_times[0].iter().position(|head| head == times[0]);
    let at = at.expect("times");
    let of_times = cells(&read("times.csv"));
    for row in &mut with_times {
        let removed: Vec<String> = row.drain(at..at + times.len()).collect();
        let name = &row[1];
        let is_its = |other: &&Vec<String>| other[0] == *name || name == "name";
        let of_bot = of_times.iter().find(is_its).expect("a row");
        assert!(
            removed.iter().all(|cell| of_bot.contains(cell)),
            "{removed:?} {of_bot:?}"
        );
    }
    assert_eq!(with_times, cells(&read("standings.csv")));
}

/// Of one tournament, with everything that a table can have: byes, times, an analysis, scores, a forfeit.
#[test]
fn every_output_of_a_tournament_has_the_same_figures() {
    let aloud = include_str!("../bots/thinks-aloud.sh").replace("info depth 1", "info score 0.9");
    let place = tempfile::tempdir().expect("a folder");
    let sure = place.path().join("sure.sh");
    crate::common::files::executable(&sure, aloud, 0o755);
    let forfeits = place.path().join("forfeits.sh");
    let exits = "#!/bin/sh\nn=0\nwhile read -r board piece; do [ \"$piece\" != - ] || { echo '- A'; continue; }; exit 3; done\n";
    crate::common::files::executable(&forfeits, exits, 0o755);
    let cup = place.path().join("cup");
    let page = place.path().join("cup.html");
    let run = Referee::new([
        "tournament",
        "--seed",
        "5",
        "--pairs",
        "2",
        "--no-check",
        "--analyse",
    ])
    .args(["--time-per-move", "10ms", "--out"])
    .args([&cup])
    .args(["--report"])
    .args([&page])
    .args([&sure, &forfeits])
    .args(["builtin:greedy", "builtin:random"])
    .run();
    assert_eq!(run.code, Some(0), "{run}");
    let of_command = |format: &str| in_format(&cup, format);
    let json: Value = serde_json::from_str(&of_command("json")).expect("JSON");
    assert_eq!(standings(&[&cup], &["--json"]).stdout, of_command("json"));
    only_times_stand_apart(&cup);
    // The table that the tournament has printed is that of the folder.
    let table = of_command("table");
    for line in table.lines().take_while(|line| !line.is_empty()) {
        assert!(run.stdout.contains(line), "{line}\n{run}");
    }
    // CSV, JSON and the page have the same fields, and the same figures.
    let places = json["standings"].as_array().expect("a list");
    let fields = places[0].as_object().expect("an object").keys();
    let mut fields: Vec<&str> = fields
        .map(String::as_str)
        .filter(|field| *field != "against")
        .collect();
    let csv = of_command("csv");
    let mut heads: Vec<&str> = csv.lines().next().expect("a head").split(',').collect();
    heads.sort_unstable();
    fields.sort_unstable();
    assert_eq!(heads, fields);
    let data = crate::report::data(&fs::read_to_string(&page).expect("a page"));
    let on_page = data["figures"]["places"].as_array().expect("places");
    assert_eq!(on_page.len(), places.len());
    let shown = [
        "rank",
        "points",
        "elo",
        "accuracy",
        "sure_won",
        "median_ms",
        "forfeits",
    ];
    for (on_page, place) in on_page.iter().zip(places) {
        for field in shown {
            assert!(
                on_page.get(field).is_some(),
                "{field} on the page: {on_page}"
            );
        }
        for field in fields.iter().filter(|field| on_page.get(**field).is_some()) {
            // The page's figures are rounded.
            let rounded = [&on_page[*field], &place[*field]]
                .map(|value| value.as_f64().map(|n| (n * 100.0).round()));
            assert_eq!(rounded[0], rounded[1], "{field}");
        }
    }
    for field in shown {
        assert!(
            places.iter().any(|place| !place[field].is_null()),
            "{field}: {json}"
        );
    }
}
