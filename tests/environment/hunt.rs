//! `referee hunt` against forty variants of players/greedy.py, each with one fault that shows only in rare positions.
//!
//! Until two are found each time, by so many questions; all of them, as docs/debugging.md says, with
//!
//! ```text
//! REFEREE_HUNT=60s cargo test --release --test environment hunt:: -- --nocapture
//! ```

use std::env;
use std::fs;
use std::path::Path;

use libtest_mimic::{Failed, Trial};
use serde_json::Value;

use crate::common::Referee;
use crate::common::files::executable;
use crate::requirements::{program, unavailable};

/// What is wrong, in Python.
const DEFECTS: [&str; 3] = [
    "return board.index(next(p for p in board if p != '.')), left[0] if left else '-'",
    "return 1 // 0",
    "return cells[0], hand",
];

/// Where it shows: `{}` are the words below. Some are about turns after which the opponent cannot win at once.
const CONDITIONS: [(&str, &[&str]); 7] = [
    (
        "len(cells) == 3 and hand == '{0}' and sorted(left) == sorted('{1}{2}')",
        &["PAB", "AFG", "FKL", "KBC", "BGH", "GLM", "LCD", "CPO"],
    ),
    (
        "len(cells) == 2 and hand == '{0}' and left == ['{1}'] and board[ord('{2}') - 65] == '.'",
        &["DHA", "HMF", "MJK", "JDP"],
    ),
    (
        "len(cells) == {0} and len(safe) == 1 and safe[0][1] == left[0] == '{1}' and hand in 'CDEFGH'",
        &["7A", "6A", "5B", "4A", "5A", "6B"],
    ),
    (
        "len(safe) == 1 and safe[0][1] == '{0}' and len(cells) == {1} and hand in '{2}{3}'",
        &["A6BC", "B5CD", "C4DE", "D6EF", "E5FG", "F4GH"],
    ),
    (
        "'.' not in board[4*{0}:4*{0}+4] and hand == '{1}' and len(cells) == 4 and '{2}' in board[4*{0}:4*{0}+4]",
        &["0PA", "1AB", "2KC", "3ED", "0IF", "2CG"],
    ),
    (
        "len(cells) == 1 and board[ord('{0}') - 65] == '.' and hand == '{1}'",
        &["AA", "FB", "KC", "PD"],
    ),
    (
        "not safe and len(cells) == {0} and hand == '{1}' and board[0] == '.'",
        &["3A", "4B", "5C", "3D", "4E", "5F"],
    ),
];

fn variants() -> Vec<(String, String)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let greedy = fs::read_to_string(root.join("players/greedy.py")).expect("a player");
    let all = CONDITIONS.iter().flat_map(|(template, words)| {
        words.iter().map(move |word| {
            let letters = word.chars().enumerate();
            letters.fold((*template).to_owned(), |condition, (place, letter)| {
                condition.replace(&format!("{{{place}}}"), &letter.to_string())
            })
        })
    });
    all.enumerate()
        .map(|(number, condition)| {
            let before = if condition.contains("safe") {
                "    return random.choice(safe or every)\n"
            } else {
                "    every, safe = [], []\n"
            };
            assert!(greedy.contains(before), "{before}");
            let defect = DEFECTS[number % DEFECTS.len()];
            let planted = format!("    if {condition}:\n        {defect}\n{before}");
            (condition, greedy.replace(before, &planted))
        })
        .collect()
}

/// Questions by which most of the faults are found. What a machine asks in a time depends on what else it does.
const ENOUGH: u64 = 60_000;

/// Whether a fault of the variant is found in this time, and how many questions were asked.
fn hunted(variant: &str, time: &str) -> Result<(bool, u64), Failed> {
    let scratch = tempfile::tempdir()?;
    let bot = scratch.path().join("greedy.py");
    executable(&bot, variant, 0o755);
    let path = bot.to_string_lossy().into_owned();
    let run = Referee::new(["hunt", "--json", "--time", time, &path]).run();
    let found: Value = serde_json::from_str(&run.stdout).map_err(|_| run.to_string())?;
    let mut findings = found["findings"].as_array().into_iter().flatten();
    let is_found = findings.any(|finding| finding["kind"] != "blunder");
    Ok((is_found, found["questions"].as_u64().ok_or("questions")?))
}

/// Whether a fault of the variant is found by so many questions, however long they take.
fn is_found_by(enough: u64, variant: &str) -> Result<bool, Failed> {
    let mut seconds = 15;
    loop {
        let (is_found, asked) = hunted(variant, &format!("{seconds}s"))?;
        if is_found || asked >= enough {
            return Ok(is_found);
        }
        seconds *= 2;
    }
}

fn planted_faults() -> Result<(), Failed> {
    let variants = variants();
    let chosen = env::var("REFEREE_HUNT").ok();
    let (all, least) = match chosen {
        Some(_) => (variants.iter().step_by(1), 38),
        None => (variants.iter().step_by(13), 2),
    };
    let (mut found, mut missed) = (0, Vec::new());
    for (condition, text) in all {
        let is_found = match &chosen {
            Some(time) => hunted(text, time)?.0,
            None => is_found_by(ENOUGH, text)?,
        };
        println!("{} {condition}", if is_found { "found " } else { "missed" });
        if is_found {
            found += 1;
        } else {
            missed.push(condition);
        }
        if chosen.is_none() && found >= least {
            return Ok(());
        }
    }
    if found < least {
        let all = found + missed.len();
        return Err(format!("{} of {all} were missed: {missed:#?}", missed.len()).into());
    }
    Ok(())
}

pub(crate) fn trials() -> Vec<Trial> {
    let name = "hunt::planted_faults";
    vec![if program("python3", &[]).is_some() {
        Trial::test(name, planted_faults)
    } else {
        unavailable(name, "python3", "python3")
    }]
}
