//! What docs/grades.md says of the default scale: its rungs, what bots make against them, and the points that they get.

use std::fs;
use std::path::Path;

use libtest_mimic::{Failed, Trial};
use serde_json::Value;

use crate::common::{Referee, records};
use crate::requirements::{program, unavailable};

/// Rows of the table in docs/grades.md whose first heading this is, with their headings.
fn documented(heading: &str) -> Vec<Vec<String>> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/grades.md");
    let text = fs::read_to_string(path).expect("the document");
    let begins = format!("| {heading} |");
    let table = text.lines().skip_while(|line| !line.starts_with(&begins));
    let rows = table.take_while(|line| line.starts_with('|'));
    let cell = |cell: &str| cell.trim().trim_matches('`').to_owned();
    let cells = |row: &str| row.trim_matches('|').split('|').map(cell).collect();
    rows.filter(|line| !line.starts_with("|--"))
        .map(cells)
        .collect()
}

fn rungs_are_documented() -> Result<(), Failed> {
    let printed = Referee::new(["print", "scale"]).run().stdout;
    let scale: toml::Value = toml::from_str(&printed)?;
    let rungs = scale["rung"].as_array().ok_or("rungs")?.iter();
    let rungs = rungs.map(|rung| {
        let points = rung["points"].as_integer().expect("points");
        [
            rung["bot"].as_str().expect("a bot").to_owned(),
            points.to_string(),
        ]
    });
    let rows = documented("rung");
    let shown = rows[1..].iter().map(|row| [row[0].clone(), row[1].clone()]);
    if !shown.clone().eq(rungs) {
        return Err(format!("{:?}\n{printed}", shown.collect::<Vec<_>>()).into());
    }
    Ok(())
}

/// As the document says that its column was made.
fn shares_are_documented(heading: &str) -> Result<(), Failed> {
    let rows = documented("rung");
    let column = rows[0]
        .iter()
        .position(|name| name == heading)
        .ok_or("a column")?;
    let bot = format!("builtin:{}", heading.trim_start_matches("builtin:"));
    let rungs = rows[1..]
        .iter()
        .filter(|row| !row[column].is_empty() && row[0] != bot);
    let place = tempfile::tempdir()?;
    let options = [
        "--format",
        "gauntlet",
        "--pairs",
        "20",
        "--seed",
        "1",
        "--no-check",
        "--out",
        "cup",
    ];
    let run = Referee::new([&["tournament"], &options[..], &[&bot]].concat())
        .args(rungs.clone().map(|row| &row[0]))
        .directory(place.path())
        .run();
    if run.code != Some(0) {
        return Err(run.to_string().into());
    }
    let games = records(&fs::read_to_string(place.path().join("cup/games.jsonl"))?);
    for row in rungs {
        let name_of =
            |record: &Value, side: usize| record["bots"][side]["name"].as_str().map(str::to_owned);
        let of_rung = games
            .iter()
            .filter(|record| (0..2).any(|side| name_of(record, side).as_ref() == Some(&row[0])));
        // In halves.
        let (mut points, mut all) = (0_u32, 0_u32);
        for record in of_rung {
            points += match record["result"]["winner"].as_u64() {
                None => 1,
                Some(winner)
                    if name_of(record, usize::from(winner != 0)).as_ref() == Some(&bot) =>
                {
                    2
                }
                Some(_) => 0,
            };
            all += 1;
        }
        let share = format!("{:.2}", f64::from(points) / f64::from(2 * all));
        if share != row[column] || all != 40 {
            return Err(format!(
                "{bot} against {}: {share} of {all} games, not {}",
                row[0], row[column]
            )
            .into());
        }
    }
    Ok(())
}

fn points_are(bots: &[(&str, u64)]) -> Result<(), Failed> {
    let place = tempfile::tempdir()?;
    let run = Referee::new(["grade", "--out", "grades"])
        .args(bots.iter().map(|(bot, _)| bot))
        .directory(place.path())
        .run();
    let grades = fs::read_to_string(place.path().join("grades/grades.json"))?;
    let all: Value = serde_json::from_str(&grades)?;
    for (bot, points) in bots {
        let name = bot.rsplit('/').next();
        let mut grades = all["grades"].as_array().into_iter().flatten();
        let grade = grades.find(|grade| grade["name"].as_str() == name);
        if grade.and_then(|grade| grade["points"].as_u64()) != Some(*points) {
            return Err(format!("{bot}: expected {points} points\n{run}").into());
        }
    }
    Ok(())
}

/// Those that the document speaks of.
fn points_of_players() -> Result<(), Failed> {
    let player = |name: &str| format!("{}/players/{name}", env!("CARGO_MANIFEST_DIR"));
    let players = [
        ("random.py", 0),
        ("wins.py", 40),
        ("greedy.py", 50),
        ("safe.py", 50),
    ];
    let players = players.map(|(name, points)| (player(name), points));
    points_are(
        &players
            .each_ref()
            .map(|(player, points)| (&**player, *points)),
    )
}

pub(crate) fn trials() -> Vec<Trial> {
    let players = "grades::points of players on the default scale".to_owned();
    let players = match program("python3", &[]) {
        Some(_) => Trial::test(players, points_of_players),
        None => unavailable(players, "python3", "python3"),
    };
    let built_in = [
        ("builtin:random", 0),
        ("builtin:greedy", 50),
        ("builtin:search?depth=2", 65),
    ];
    vec![
        Trial::test(
            "grades::rungs of the default scale are documented",
            rungs_are_documented,
        ),
        Trial::test("grades::shares of builtin:greedy are documented", || {
            shares_are_documented("builtin:greedy")
        }),
        Trial::test("grades::shares of search?depth=2 are documented", || {
            shares_are_documented("search?depth=2")
        }),
        Trial::test(
            "grades::points of built-in bots on the default scale",
            move || points_are(&built_in),
        ),
        players,
    ]
}
