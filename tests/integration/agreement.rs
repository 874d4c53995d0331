//! Every view of a tournament says the same: the page's data, the terminal, CSV and JSON.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use serde_json::Value;

use crate::common::Referee;
use crate::report::{data, entries};

/// A format with its bots, and how many games are left of it when it is interrupted.
const TOURNAMENTS: [(&[&str], &[&str], usize); 6] = [
    (&["round-robin"], &[RANDOM, GREEDY, RANDOM, RANDOM], 5),
    (
        &["round-robin", "--pairs", "2"],
        &[GREEDY, RANDOM, RANDOM],
        3,
    ),
    (&["gauntlet"], &[GREEDY, RANDOM, RANDOM, GREEDY], 3),
    (&["swiss", "--rounds", "3"], &[RANDOM; 5], 7),
    (&["knockout"], &[RANDOM, GREEDY, RANDOM, RANDOM, GREEDY], 5),
    (&["groups+knockout", "--groups", "2"], &[RANDOM; 6], 7),
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

#[test]
fn every_view_of_a_tournament_says_the_same() {
    let place = tempfile::tempdir().expect("a directory");
    let place = place.path();
    let (mut shared, mut byes) = (0, 0);
    for (number, (format, bots, left)) in TOURNAMENTS.iter().enumerate() {
        let folder = format!("cup{number}");
        let begin = [
            "tournament",
            "--sandbox",
            "none",
            "--no-check",
            "--seed",
            "7",
        ];
        let more = ["--pairs", "1", "--out", &folder, "--format"];
        let more = more
            .iter()
            .skip(if format.contains(&"--pairs") { 2 } else { 0 });
        let all = begin.iter().chain(more).chain(*format).chain(*bots);
        run(&all.copied().collect::<Vec<_>>(), place);
        let journal = place.join(&folder).join("games.jsonl");
        for is_interrupted in [false, true] {
            if is_interrupted {
                let text = fs::read_to_string(&journal).unwrap();
                let games: Vec<&str> = text.lines().take(*left).collect();
                fs::write(&journal, games.join("\n") + "\n").unwrap();
            }
            let what = format!("{format:?}, interrupted: {is_interrupted}");
            let of = |kind: &str| run(&["standings", &folder, "--format", kind], place);
            let json: Value = serde_json::from_str(&of("json")).unwrap();
            let rows = json["standings"].as_array().unwrap();
            let terminal = of_terminal(&of("table"));
            let is_rated = terminal.values().any(|said| said.rating.is_some());
            let is_bracket = format[0].contains("knockout");
            assert!(is_rated || is_bracket, "{what}: {terminal:?}");
            let key = |row: &Value| (row["table"].clone(), row["rank"].clone());
            let of_json = |row: &Value| {
                let is_shared = rows.iter().filter(|other| key(other) == key(row)).count() > 1;
                of_figures(|figure| row[figure].as_f64(), is_shared, is_rated)
            };
            let name = |row: &Value| row["name"].as_str().unwrap().to_owned();
            let expected: Table = rows.iter().map(|row| (name(row), of_json(row))).collect();
            assert_eq!(terminal, expected, "{what}");
            shared += expected
                .values()
                .filter(|said| said.rank.ends_with('='))
                .count();
            byes += rows.iter().filter(|row| row["bye_points"] != 0.0).count();

            let csv = of("csv");
            let mut lines = csv.lines().map(|line| line.split(',').collect::<Vec<_>>());
            let heads = lines.next().unwrap();
            let of_csv = lines.map(|cells| {
                let cell = |key: &str| cells[heads.iter().position(|&head| head == key).unwrap()];
                let is_shared = expected[cell("name")].rank.ends_with('=');
                (
                    cell("name").to_owned(),
                    of_figures(|key| cell(key).parse().ok(), is_shared, is_rated),
                )
            });
            assert_eq!(of_csv.collect::<Table>(), expected, "{what}");

            run(&["report", &folder, "-o", "page.html"], place);
            let page = data(&fs::read_to_string(place.join("page.html")).unwrap());
            let names = entries(&page, "b");
            let heads = page["figures"]["columns"].as_array().unwrap();
            assert_eq!(
                heads.iter().any(|head| head[0] == "elo"),
                is_rated,
                "{what}"
            );
            let of_page = page["figures"]["places"]
                .as_array()
                .unwrap()
                .iter()
                .map(|row| {
                    let bot = usize::try_from(row["bot"].as_u64().unwrap()).unwrap();
                    let is_shared = row["shared"] == true;
                    (
                        name_of(&names[bot]),
                        of_figures(|key| row[key].as_f64(), is_shared, is_rated),
                    )
                });
            assert_eq!(of_page.collect::<Table>(), expected, "{what}");
        }
    }
    assert!(shared > 0 && byes > 0, "{shared} {byes}");
}

fn name_of(entry: &Value) -> String {
    entry[1].as_str().unwrap().to_owned()
}
