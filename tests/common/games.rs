//! Records of real games, for tests of reports.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use serde_json::Value;

use super::Referee;

/// The records of matches of all games and editions, between built-in bots and one that forfeits;
/// played once for all tests.
pub(crate) static GAMES: LazyLock<Vec<Value>> = LazyLock::new(tournament);

fn tournament() -> Vec<Value> {
    let greek = Path::new(env!("CARGO_MANIFEST_DIR")).join("sets/greek.csv");
    let greek = greek.to_str().expect("a path");
    let greedy = "builtin:greedy";
    let random = "builtin:random";
    let faulty = r"./script.sh '!what is this?\n' '- A\n' '2 C\n' '99 X\n'";
    let opening = "A......P........";
    let matches: [&[&str]; 6] = [
        &["-n", "20", "--seed", "1", greedy, random],
        &["-n", "6", "--seed", "2", random, faulty],
        &["-n", "6", "--seed", "3", greedy, faulty],
        &[
            "-n", "4", "--seed", "4", "--pieces", greek, "--rules", "squares", greedy, random,
        ],
        &[
            "-n",
            "4",
            "--seed",
            "5",
            "--game",
            "four-in-a-row",
            greedy,
            random,
        ],
        &["-n", "2", "--seed", "6", "--start", opening, greedy, random],
    ];
    matches
        .iter()
        .flat_map(|arguments| {
            let run = Referee::new(arguments.iter()).args(["--json"]).run();
            assert_eq!(run.code, Some(0), "{run}");
            run.printed_records()
        })
        .collect()
}

/// Writes records, one per line.
pub(crate) fn write(path: &Path, records: &[Value]) -> PathBuf {
    let lines: Vec<String> = records.iter().map(|record| format!("{record}\n")).collect();
    fs::write(path, lines.concat()).expect("a file");
    path.to_owned()
}

/// `count` records made from these in turn, with new ids, times and names of `bots` bots.
pub(crate) fn many(records: &[Value], count: usize, bots: usize) -> Vec<Value> {
    (0..count)
        .map(|number| {
            let mut record = records[number % records.len()].clone();
            record["id"] = format!("{}-{}", number / 100, number % 100).into();
            // All pairings occur.
            let first = number % bots;
            let second = (first + 1 + number / bots % (bots - 1)) % bots;
            record["bots"][0]["name"] = format!("bot {first:02} of the tournament").into();
            record["bots"][1]["name"] = format!("bot {second:02} of the tournament").into();
            for (turn, time) in record["times_ms"]
                .as_array_mut()
                .into_iter()
                .flatten()
                .enumerate()
            {
                let ms = (number * 37 + turn * 1013) % 9_999_999;
                *time = serde_json::json!(f64::from(u32::try_from(ms).unwrap_or(0)) / 1000.0);
            }
            record
        })
        .collect()
}
