//! Every view of a tournament says the same: the page's data, written and live, the terminal, CSV and JSON.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use referee::record::Record;
use referee::report::html::ReportPageOptions;
use referee::server::{Feed, Server};
use referee::tournament::directory::TournamentDirectory;
use referee::tournament::plan::Plan;
use serde_json::{Value, json};

use crate::common::Referee;
use crate::report::{data, entries};
use crate::serve::Listener;

const GAMES: [&str; 2] = ["quarto", "four-in-a-row"];

/// Each is played as both games: a format with its bots, and how many games are left of it when it is interrupted.
const TOURNAMENTS: [(&[&str], &[&str], usize); 6] = [
    (
        &["round-robin", "--pairs", "1"],
        &[RANDOM, GREEDY, RANDOM, RANDOM],
        5,
    ),
    (
        &["round-robin", "--pairs", "2"],
        &[GREEDY, RANDOM, RANDOM],
        3,
    ),
    (
        &["gauntlet", "--pairs", "1"],
        &[GREEDY, RANDOM, RANDOM, GREEDY],
        3,
    ),
    (&["swiss", "--rounds", "3", "--pairs", "1"], &[RANDOM; 5], 7),
    (
        &["knockout", "--pairs", "1"],
        &[RANDOM, GREEDY, RANDOM, RANDOM, GREEDY],
        5,
    ),
    (
        &["groups+knockout", "--groups", "2", "--pairs", "1"],
        &[RANDOM; 6],
        7,
    ),
];

const RANDOM: &str = "builtin:random";
const GREEDY: &str = "builtin:greedy";

/// What a view says of a bot, as the terminal writes it; the points without those for byes beside them.
#[derive(Debug, PartialEq)]
struct Said {
    rank: String,
    points: f64,
    games: f64,
    /// Elo and its interval; none in a bracket.
    rating: Option<(String, String)>,
}

type Table = BTreeMap<String, Said>;

fn run(arguments: &[&str], folder: &Path) -> String {
    let run = Referee::new(arguments).directory(folder).run();
    assert_eq!(run.code, Some(0), "{run}");
    run.stdout
}

fn rounded(elo: f64) -> String {
    format!("{:.0}", elo.round() + 0.0)
}

/// Of figures by key, as in JSON.
fn of_figures(figure: impl Fn(&str) -> Option<f64>, is_shared: bool, is_rated: bool) -> Said {
    let number = |key: &str| figure(key).unwrap_or_else(|| panic!("{key}"));
    let ends = ["elo_low", "elo_high"].map(|key| figure(key).map(rounded));
    let interval = match ends {
        [Some(low), Some(high)] => format!("{low}…{high}"),
        [Some(low), None] => format!("≥ {low}"),
        [None, Some(high)] => format!("≤ {high}"),
        [None, None] => String::new(),
    };
    Said {
        rank: format!("{}{}", number("rank"), if is_shared { "=" } else { "" }),
        points: number("points"),
        games: number("games"),
        rating: is_rated.then(|| (rounded(number("elo")), interval)),
    }
}

/// Each cell ends where its head does, but for names, which are left of their column.
fn of_terminal(text: &str) -> Table {
    let mut table = Table::new();
    let mut heads: Vec<(&str, usize)> = Vec::new();
    for line in text.lines() {
        let words = || line.split_whitespace();
        if words().next() == Some("#") {
            heads.clear();
            for head in words() {
                let from = heads.last().map_or(0, |&(_, end)| end);
                let place = line
                    .char_indices()
                    .filter(|&(at, _)| line[at..].starts_with(head));
                let place = place.map(|(at, _)| line[..at].chars().count());
                let at = place.filter(|&at| at >= from).min().unwrap();
                heads.push((head, at + head.chars().count()));
            }
        } else if words().count() < 4 || !heads.iter().any(|&(head, _)| head == "points") {
            heads.clear();
        } else {
            let chars: Vec<char> = line.chars().collect();
            let between = |from: usize, to: usize| -> String {
                let chars = chars.iter().take(to).skip(from);
                chars.collect::<String>().trim().to_owned()
            };
            let cell = |head: &str| {
                let place = heads.iter().position(|&(known, _)| known == head)?;
                let (before, end) = (heads[place.max(1) - 1].1, heads[place].1);
                let cell = between(if place == 0 { 0 } else { before }, end);
                // A name beside it may end in its column.
                let last = cell.rsplit_once("  ").map(|(_, last)| last.to_owned());
                Some(last.unwrap_or(cell))
            };
            let points = cell("points").unwrap();
            let points = points.trim_end_matches(" (bye)").split(" + ");
            let said = Said {
                rank: cell("#").unwrap(),
                points: points.map(|part| part.parse::<f64>().unwrap()).sum(),
                games: cell("games").unwrap().parse().unwrap(),
                rating: cell("Elo").map(|elo| (elo, cell("95%").unwrap())),
            };
            table.insert(words().nth(1).unwrap().to_owned(), said);
        }
    }
    table
}

/// What CSV says, whose numbers have four decimals.
fn of_csv(csv: &str, expected: &Table, is_rated: bool) -> Table {
    let mut lines = csv.lines().map(|line| line.split(',').collect::<Vec<_>>());
    let heads = lines.next().unwrap();
    let rows = lines.map(|cells| {
        let cell = |key: &str| cells[heads.iter().position(|&head| head == key).unwrap()];
        let is_shared = expected[cell("name")].rank.ends_with('=');
        (
            cell("name").to_owned(),
            of_figures(|key| cell(key).parse().ok(), is_shared, is_rated),
        )
    });
    rows.collect()
}

/// What the figures of a page say; `names` in the order of its bots.
fn of_page(figures: &Value, names: &[Value], is_rated: bool) -> Table {
    let heads = figures["columns"].as_array().unwrap();
    assert_eq!(heads.iter().any(|head| head[0] == "elo"), is_rated);
    let places = figures["places"].as_array().unwrap();
    // The column that is in bold is the one by which a table is ordered.
    let merit = match figures["order"].as_str().unwrap() {
        "place" => "rank",
        "rating" => "elo",
        order => order,
    };
    for table in places.chunk_by(|a, b| a["table"] == b["table"]) {
        let merits = table.iter().map(|row| row[merit].as_f64().unwrap());
        let falling: Vec<f64> = merits
            .map(|of| if merit == "rank" { -of } else { of })
            .collect();
        assert!(
            falling.is_sorted_by(|a, b| *a >= b - 1e-6),
            "{merit} {falling:?}"
        );
    }
    let rows = places.iter().map(|row| {
        let bot = usize::try_from(row["bot"].as_u64().unwrap()).unwrap();
        let name = names[bot][1].as_str().unwrap().to_owned();
        let is_shared = row["shared"] == true;
        (
            name,
            of_figures(|key| row[key].as_f64(), is_shared, is_rated),
        )
    });
    rows.collect()
}

/// The bots and the figures that a page gets which follows these games.
fn followed(folder: &Path) -> (Vec<Value>, Value) {
    let plan = Plan::from_json(&fs::read(folder.join("plan.json")).unwrap()).unwrap();
    let journal = folder.join("games.jsonl");
    let results = TournamentDirectory::read_journal(&journal, &plan).unwrap();
    let feed = Feed::new(ReportPageOptions::default());
    for line in fs::read_to_string(&journal).unwrap().lines() {
        let record = Record::from_line(line.as_bytes()).unwrap();
        feed.publish(&record).unwrap();
    }
    feed.set_ranking(results.ranking(&plan), Some(results.overview(&plan)));
    let server = Server::bind("127.0.0.1:0".parse().unwrap(), feed).unwrap();
    let mut listener = Listener::at(server.address, "/events", "");
    let (mut bots, mut figures) = (Vec::new(), Value::Null);
    while figures["places"]
        .as_array()
        .is_none_or(|places| bots.len() < places.len())
    {
        let event = listener.next().expect("more events");
        match &*event.kind {
            "entries" => bots.extend(entries(&json!({ "entries": event.data }), "b")),
            "figures" => figures = event.data,
            _ => {}
        }
    }
    (bots, figures)
}

#[test]
fn every_view_of_a_tournament_says_the_same() {
    let place = tempfile::tempdir().expect("a directory");
    let place = place.path();
    let (mut shared, mut byes, mut unequal) = (0, 0, 0);
    let all = GAMES
        .iter()
        .flat_map(|game| TOURNAMENTS.iter().map(move |of| (game, of)));
    for (number, (game, (format, bots, left))) in all.enumerate() {
        let folder = format!("cup{number}");
        let begin = [
            "tournament",
            "--sandbox",
            "none",
            "--no-check",
            "--seed",
            "7",
        ];
        let more = ["--game", game, "--out", &folder, "--format"];
        let words = [&begin[..], &more, format, bots].concat();
        run(&words, place);
        let journal = place.join(&folder).join("games.jsonl");
        for is_interrupted in [false, true] {
            if is_interrupted {
                let text = fs::read_to_string(&journal).unwrap();
                let games: Vec<&str> = text.lines().take(*left).collect();
                fs::write(&journal, games.join("\n") + "\n").unwrap();
            }
            let what = format!("{game} {format:?}, interrupted: {is_interrupted}");
            let of = |kind: &str| run(&["standings", &folder, "--format", kind], place);
            let json: Value = serde_json::from_str(&of("json")).unwrap();
            let rows = json["standings"].as_array().unwrap();
            let terminal = of_terminal(&of("table"));
            let is_rated = terminal.values().any(|said| said.rating.is_some());
            let is_bracket = format[0].contains("knockout");
            // Groups that have not finished are not compared with each other.
            let is_apart = rows.iter().any(|row| row["table"] != 1);
            let in_groups = format[0].starts_with("groups") && is_interrupted;
            assert!(is_apart || !in_groups, "{what}: {terminal:?}");
            assert!(is_rated || is_bracket, "{what}: {terminal:?}");
            let key = |row: &Value| (row["table"].clone(), row["rank"].clone());
            let of_json = |row: &Value| {
                let is_shared = rows.iter().filter(|other| key(other) == key(row)).count() > 1;
                of_figures(|figure| row[figure].as_f64(), is_shared, is_rated)
            };
            let name = |row: &Value| row["name"].as_str().unwrap().to_owned();
            let expected: Table = rows.iter().map(|row| (name(row), of_json(row))).collect();
            assert_eq!(terminal, expected, "{what}");
            let of_rows = |counts: &dyn Fn(&Said) -> bool| {
                expected.values().filter(|said| counts(said)).count()
            };
            shared += of_rows(&|said| said.rank.ends_with('='));
            unequal += usize::from(
                of_rows(&|said| {
                    said.games
                        .total_cmp(&expected[&name(&rows[0])].games)
                        .is_eq()
                }) < rows.len(),
            );
            byes += rows.iter().filter(|row| row["bye_points"] != 0.0).count();
            assert_eq!(of_csv(&of("csv"), &expected, is_rated), expected, "{what}");

            run(&["report", &folder, "-o", "page.html"], place);
            let page = data(&fs::read_to_string(place.join("page.html")).unwrap());
            let written = of_page(&page["figures"], &entries(&page, "b"), is_rated);
            assert_eq!(written, expected, "{what}");
            let (names, figures) = followed(&place.join(&folder));
            assert_eq!(
                of_page(&figures, &names, is_rated),
                expected,
                "live, {what}"
            );
        }
    }
    assert!(
        shared > 0 && byes > 0 && unequal > 6,
        "{shared} {byes} {unequal}"
    );
}
