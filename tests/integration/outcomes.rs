//! Rare outcomes in every output: draws, wins with the last piece, places in brackets.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use crate::classroom::Class;
use crate::common::records;
use crate::report::{data, entries};

/// A bot that plays the k-th of these pieces on cell k.
fn plays(order: &str) -> String {
    let text = include_str!("../bots/drawn.sh");
    let other = text.replace("IONGCABMHEDJPLKF", order);
    assert!(other.contains(order), "{text}");
    other
}

/// All pieces in the order in which they are placed, the winning lines, and whether the first to move wins.
type Case = (
    &'static str,
    &'static [[&'static str; 2]],
    Option<&'static str>,
);

const CASES: [Case; 2] = [
    ("IONGCABMHEDJPLKF", &[], None),
    // The sixteenth completes the only line.
    (
        "EKBOPMFLJDNIAHGC",
        &[["H4", "hollow"]],
        Some("wins: H4 hollow."),
    ),
];

const NAMES: [&str; 2] = ["anna", "ben"];

/// The rows of a table of CSV: each column of the row of this name.
fn csv_row(text: &str, name: &str) -> BTreeMap<String, String> {
    let mut reader = csv::Reader::from_reader(text.as_bytes());
    let heads = reader.headers().expect("heads").clone();
    let mut rows = reader.records().map(|row| row.expect("a row"));
    let row = rows.find(|row| row.iter().any(|cell| cell == name));
    let row = row.expect("a row of this name");
    let cells = heads.iter().zip(row.iter());
    cells
        .map(|(head, cell)| (head.to_owned(), cell.to_owned()))
        .collect()
}

#[expect(clippy::too_many_lines, reason = "all outputs of the same games")]
#[test]
fn draws_and_wins_with_the_last_piece_are_told_in_every_output() {
    for (order, lines, wins) in CASES {
        let class = Class::of(&[]);
        for name in NAMES {
            let bot = format!("{}# {name}\n", plays(order));
            class.write(&format!("bots/{name}/bot.sh"), &bot);
        }
        // A game a line, whose first mover is anna and then ben.
        let sentence = |first: usize| {
            wins.map_or_else(
                || "Draw.".to_owned(),
                |wins| format!("{} {wins}", NAMES[first]),
            )
        };
        let sentences = [sentence(0), sentence(1)];
        let result = |first: usize| {
            let reason = if wins.is_some() { "quarto" } else { "draw" };
            json!({"winner": wins.map(|_| first), "reason": reason, "lines": lines})
        };
        let has_each = |text: &str| {
            let ends = |line: &&str, sentence: &str| line.ends_with(sentence);
            let of = |sentence: &str| text.lines().filter(|line| ends(line, sentence)).count();
            let expected = if wins.is_some() { 1 } else { 2 };
            sentences.iter().all(|sentence| of(sentence) == expected)
        };

        // A match.
        let bots = NAMES.map(|name| format!("bots/{name}/bot.sh"));
        let two = [&bots[0], &bots[1], "--name1", "anna", "--name2", "ben"];
        let words = [
            "--sandbox",
            "none",
            "--seed",
            "1",
            "--first",
            "1",
            "-n",
            "2",
        ];
        let in_match = |more: &[&str]| class.run(&[&two[..], &words, more].concat());
        let run = in_match(&[]);
        assert!(has_each(&run.stdout), "{run}");
        let points = if wins.is_some() {
            "1 - 1 ben (1 win, 0 draws, 1 loss in 2 games)"
        } else {
            "1 - 1 ben (0 wins, 2 draws, 0 losses in 2 games)"
        };
        assert!(run.stdout.contains(points), "{run}");
        let shown = in_match(&["-v"]);
        assert!(has_each(&shown.stdout), "{shown}");
        let printed = in_match(&["--json"]).printed_records();
        let results: Vec<&Value> = printed.iter().map(|record| &record["result"]).collect();
        assert_eq!(results, [&result(0), &result(1)]);

        // A tournament: records, tables and pages.
        let options = [
            "bots",
            "--no-check",
            "--opening-plies",
            "0",
            "--report",
            "cup.html",
        ];
        let run = class.play("cup", &options);
        let games = records(&class.read("cup/games.jsonl"));
        for game in &games {
            let first = usize::try_from(game["first"].as_u64().expect("an index")).expect("0 or 1");
            assert_eq!(game["result"], result(first));
            let turns = game["turns"].as_array().expect("turns");
            assert_eq!((turns.len(), &turns[16]), (17, &json!("16 -")));
        }
        let (won, drawn) = if wins.is_some() {
            ("1", "0")
        } else {
            ("0", "2")
        };
        let figures = ["2", won, drawn, won, "1"];
        let standings = |format: &str| {
            let words = ["standings", "cup", "--format", format];
            class.run(&words).stdout
        };
        let table = standings("table");
        assert!(
            run.stdout.contains(table.lines().nth(1).expect("a row")),
            "{run}"
        );
        let json: Value = serde_json::from_str(&standings("json")).expect("JSON");
        for (place, name) in NAMES.into_iter().enumerate() {
            let words = |line: &&str| line.split_whitespace().nth(1) == Some(name);
            let row = table.lines().find(words).expect("a row");
            let cells: Vec<&str> = row.split_whitespace().collect();
            assert_eq!(
                cells[..7],
                [&["1=", name][..], &figures].concat(),
                "{table}"
            );
            let row = ["1=", name].into_iter().chain(figures);
            let row = format!("| {} |", row.collect::<Vec<_>>().join(" | "));
            let markdown = standings("markdown");
            assert!(markdown.contains(&row), "{row}: {markdown}");
            let cells = csv_row(&standings("csv"), name);
            let keys = ["games", "wins", "draws", "losses"];
            let in_csv: Vec<&str> = keys.iter().map(|key| &*cells[*key]).collect();
            assert_eq!(in_csv, figures[..4], "{cells:?}");
            let row = &json["standings"][place];
            let in_json: Vec<String> = keys.iter().map(|key| row[key].to_string()).collect();
            assert_eq!(
                (&row["name"], &*in_json),
                (&json!(name), &figures.map(str::to_owned)[..4])
            );
            assert_eq!(row["points"], 1.0);
            let elo = row["elo"].as_f64().expect("a rating");
            assert!(elo.abs() < 1e-6, "{row}");
        }
        let page = data(&class.read("cup.html"));
        let in_page = entries(&page, "g");
        assert_eq!(in_page.len(), 2);
        for (first, game) in in_page.iter().enumerate() {
            let winner = wins.map_or(json!(-1), |_| json!(first));
            let line = lines
                .first()
                .map_or_else(String::new, |line| line.join(" "));
            let expected = json!([first, winner, result(first)["reason"], line]);
            assert_eq!(
                json!([game[4], game[5], game[6], game[11]]),
                expected,
                "{game}"
            );
        }
        let reason = result(0)["reason"].as_str().expect("a reason").to_owned();
        assert_eq!(page["figures"]["endings"], json!({ reason: 2 }));
        assert_eq!(
            page["figures"]["lengths"][17], 2,
            "{}",
            page["figures"]["lengths"]
        );

        // What students get.
        class.run(&["report", "cup", "--each", "pages"]);
        for name in NAMES {
            let page = class.read(&format!("pages/{name}.md"));
            let sum = format!("2 games: {won} won, {drawn} drawn, {won} lost.");
            assert!(page.contains(&sum), "{page}");
            let rows: Vec<&str> = page
                .lines()
                .filter(|line| line.starts_with("| p0000"))
                .collect();
            for (first, row) in rows.iter().enumerate() {
                assert!(
                    row.ends_with(&format!(" | {} |", sentences[first])),
                    "{page}"
                );
            }
            assert_eq!(rows.len(), 2, "{page}");
            let html = data(&class.read(&format!("pages/{name}.html")));
            assert_eq!(entries(&html, "g").len(), 2);
            assert_eq!(html["head"]["standing"]["draws"].to_string(), drawn);
        }

        // Games again: text, a page of one, its pictures, and what a solver says of the last turn.
        let replay = class.run(&["replay", "cup/games.jsonl"]);
        assert!(has_each(&replay.stdout), "{replay}");
        let first = ["replay", "cup/games.jsonl", "--number", "1"];
        class.run(&[&first[..], &["--out=one.html"]].concat());
        let one = entries(&data(&class.read("one.html")), "g");
        assert_eq!((one.len(), &one[0][5]), (1, &in_page[0][5]));
        class.run(&[&first[..], &["--turn", "17", "--out", "one.svg"]].concat());
        let picture = class.read("one.svg");
        let piece = &order[15..];
        for part in [
            format!(" places {piece} on 16. "),
            format!("; 16 {piece}: "),
        ] {
            assert!(picture.contains(&part), "{part}: {picture}");
        }
        let analysis = class.run(&[
            "analyse",
            "cup/games.jsonl",
            "--time-per-move",
            "10ms",
            "--json",
        ]);
        let analysis: Value = serde_json::from_str(&analysis.stdout).expect("JSON");
        let value = if wins.is_some() { "win" } else { "draw" };
        for game in analysis["games"].as_array().expect("games") {
            let turns = game["analysis"]["turns"].as_array().expect("turns");
            let last = turns.last().expect("a turn");
            assert_eq!(
                json!([last["turn"], last["value"]]),
                json!([17, value]),
                "{last}"
            );
        }
    }
}

/// Each bot's place, by the rounds that the numbers of bots make and who is in the next one.
fn expected_places(games: &[Value], bots: usize) -> BTreeMap<String, u64> {
    let mut matches: BTreeMap<&str, [&str; 2]> = BTreeMap::new();
    for game in games {
        let names = [0, 1].map(|side| game["bots"][side]["name"].as_str().expect("a name"));
        let id = game["id"].as_str().expect("an id");
        matches.insert(&id[..id.len() - 1], names);
    }
    let matches: Vec<[&str; 2]> = matches.into_values().collect();
    assert_eq!(matches.len(), bots - 1, "one is out in each match");
    let rounds = bots.next_power_of_two().ilog2();
    // Of the first round, with its byes, and of the others.
    let mut left = vec![bots - (1 << (rounds - 1))];
    left.extend((0..rounds - 1).rev().map(|later| 1 << later));
    let mut places = BTreeMap::new();
    let mut rest = &matches[..];
    for (number, count) in left.into_iter().enumerate() {
        let (round, after) = rest.split_at(count);
        rest = after;
        let still: u64 = 1 << (rounds as usize - 1 - number);
        for name in round.iter().flatten() {
            if !rest.iter().flatten().any(|later| later == name) {
                places.insert((*name).to_owned(), still + 1);
            }
        }
    }
    places
}

#[test]
fn brackets_of_all_sizes_have_places_in_every_output() {
    let titles = |place: u64| match place {
        1 => "champion".to_owned(),
        2 => "finalist".to_owned(),
        3 => "semi-finalist".to_owned(),
        5 => "quarter-finalist".to_owned(),
        place => format!("round of {}", 2 * (place - 1)),
    };
    for bots in [2, 3, 4, 6, 7, 8, 9, 17] {
        let class = Class::of(&[]);
        let entrants = vec!["builtin:random"; bots];
        let options = ["--no-check", "--format", "knockout", "--report", "cup.html"];
        let run = class.play("cup", &[&entrants[..], &options].concat());
        let table = class.json("cup/standings.json");
        let rows = table["standings"].as_array().expect("a list");
        let champion = rows[0]["name"].as_str().expect("a name");
        assert!(
            run.stdout
                .ends_with(&format!("{champion} wins the tournament.\n")),
            "{run}"
        );
        // Of the two in the last match, one is the champion.
        let games = records(&class.read("cup/games.jsonl"));
        let mut expected = expected_places(&games, bots);
        assert_eq!(expected.insert(champion.to_owned(), 1), Some(2), "{run}");
        let csv = class.read("cup/standings.csv");
        let page = data(&class.read("cup.html"));
        let on_page = entries(&page, "b");
        for row in rows {
            let name = row["name"].as_str().expect("a name");
            let place = expected[name];
            let told = (&row["rank"], &row["reached"]);
            assert_eq!(
                told,
                (&json!(place), &json!(titles(place))),
                "{name}: {run}"
            );
            assert_eq!(csv_row(&csv, name)["rank"], place.to_string(), "{csv}");
            let shared = expected.values().filter(|&&other| other == place).count() > 1;
            let words = |line: &&str| line.split_whitespace().nth(1) == Some(name);
            let line = run.stdout.lines().find(words).expect("a row");
            let mark = format!("{place}{}", if shared { "=" } else { "" });
            assert_eq!(line.split_whitespace().next(), Some(&*mark), "{run}");
            let bot = on_page
                .iter()
                .position(|bot| bot[1] == name)
                .expect("a bot");
            let places = page["figures"]["places"].as_array().expect("places");
            let in_table = places.iter().find(|of| of["bot"] == bot).expect("a place");
            assert_eq!(in_table["rank"], place, "{in_table}");
        }
        assert_eq!(rows.len(), bots);
    }
    // Those who are out in the groups come after those of the bracket, by their places in their groups.
    let class = Class::of(&[]);
    let options = ["--no-check", "--format", "groups+knockout", "--groups", "2"];
    class.play("cup", &[&["builtin:random"; 7][..], &options].concat());
    let table = class.json("cup/standings.json");
    let rows = table["standings"].as_array().expect("a list").iter();
    let told: Vec<(u64, String)> = rows
        .map(|row| {
            let reached = row["reached"].as_str().expect("a title");
            let end = reached
                .find(" in group ")
                .map_or(reached.len(), |end| end + 10);
            (
                row["rank"].as_u64().expect("a place"),
                reached[..end].to_owned(),
            )
        })
        .collect();
    let expected = [
        (1, "champion"),
        (2, "finalist"),
        (3, "semi-finalist"),
        (3, "semi-finalist"),
        (5, "3rd in group "),
        (5, "3rd in group "),
        (7, "4th in group "),
    ];
    assert_eq!(
        told,
        expected.map(|(place, title)| (place, title.to_owned()))
    );
}
