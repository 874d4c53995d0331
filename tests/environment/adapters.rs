//! Bots that speak another protocol: `referee adapt` makes bots of the agents in tests/bots, and they play.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::process::Stdio;

use libtest_mimic::{Failed, Trial};
use serde_json::Value;

use crate::requirements::{program, unavailable};

const PYTHON: (&str, &str) = ("python3", "python3");

type Test = (&'static str, fn() -> Result<(), Failed>);

const TESTS: &[Test] = &[
    ("agents_of_kaggle", kaggle),
    ("a_tournament_of_agents", tournament_of_agents),
    ("brains_of_gomocup", gomocup),
    ("engines_of_uci", uci),
    ("bots_that_need_no_adapter", unchanged),
    ("what_is_no_agent", refused),
];

pub(crate) fn trials() -> Vec<Trial> {
    let trials = TESTS.iter().map(|&(name, test)| {
        let name = format!("adapters::{name}");
        match program(PYTHON.0, &[]) {
            None => unavailable(name, PYTHON.0, PYTHON.1),
            Some(_) => Trial::test(name, test),
        }
    });
    trials.collect()
}

fn source(file: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(file);
    path.to_string_lossy().into_owned()
}

/// Standard output and error; whether it succeeded must be as `is_fine` says.
fn referee(directory: &Path, words: &str, is_fine: bool) -> Result<String, Failed> {
    let output = crate::common::command(env!("CARGO_BIN_EXE_referee"))
        .args(shell_words::split(words)?)
        .current_dir(directory)
        .stdin(Stdio::null())
        .output()?;
    let said = [output.stdout, output.stderr].concat();
    let said = String::from_utf8_lossy(&said).into_owned();
    if output.status.success() == is_fine {
        return Ok(said);
    }
    Err(format!("{words}: {}\n{said}", output.status).into())
}

fn games(path: &Path) -> Result<Vec<Value>, Failed> {
    let text = fs::read_to_string(path)?;
    let games = text.lines().map(serde_json::from_str);
    Ok(games.collect::<Result<_, _>>()?)
}

/// A file and a folder as it is submitted, in the sandbox; what they print is no answer.
fn kaggle() -> Result<(), Failed> {
    let scratch = tempfile::tempdir()?;
    let place = scratch.path();
    fs::create_dir_all(place.join("agents/folder"))?;
    fs::copy(
        source("tests/bots/agents/left.py"),
        place.join("agents/left.py"),
    )?;
    fs::copy(
        source("tests/bots/agents/right.py"),
        place.join("agents/folder/main.py"),
    )?;
    fs::write(place.join("agents/notes.txt"), "to do")?;
    referee(place, "adapt kaggle-connectx agents --out bots", true)?;
    referee(
        place,
        "tournament --no-check --game four-in-a-row --pairs 1 --opening-plies 0 --seed 1 --out cup bots builtin:random",
        true,
    )?;
    let played = games(&place.join("cup/games.jsonl"))?;
    let own = |game: &&Value| !game["bots"].to_string().contains("builtin:");
    let both: Vec<&Value> = played.iter().filter(own).collect();
    if both.len() != 2 || played.iter().any(|game| !game["result"]["by"].is_null()) {
        return Err(format!("{played:#?}").into());
    }
    // The first column with room against the last one.
    for game in both {
        let turns: Vec<&str> = game["turns"]
            .as_array()
            .ok_or("turns")?
            .iter()
            .filter_map(Value::as_str)
            .collect();
        if !matches!(turns[..4], ["1", "7", "1", "7"] | ["7", "1", "7", "1"]) {
            return Err(format!("{turns:?}").into());
        }
    }
    Ok(())
}

/// `tournament --adapter` plays what `adapt` would have made, and goes on with it.
fn tournament_of_agents() -> Result<(), Failed> {
    let scratch = tempfile::tempdir()?;
    let place = scratch.path();
    let agents = source("tests/bots/agents");
    let words = format!(
        "tournament --adapter kaggle-connectx --no-check --pairs 1 --seed 1 --out cup '{agents}' builtin:random"
    );
    referee(place, &words, true)?;
    let played = games(&place.join("cup/games.jsonl"))?;
    let names: BTreeSet<String> = played
        .iter()
        .flat_map(|game| [&game["bots"][0]["name"], &game["bots"][1]["name"]])
        .filter_map(|name| name.as_str().map(str::to_owned))
        .collect();
    let expected = ["builtin:random", "left", "right"].map(str::to_owned);
    if played.len() != 6
        || names != BTreeSet::from(expected)
        || played.iter().any(|game| !game["result"]["by"].is_null())
    {
        return Err(format!("{names:?}: {played:#?}").into());
    }
    // Half of the games were lost: by the same words, or by the folder alone.
    let journal = place.join("cup/games.jsonl");
    for words in [&words, "tournament --out cup"] {
        let text = fs::read_to_string(&journal)?;
        let kept: Vec<&str> = text.lines().take(3).collect();
        fs::write(&journal, kept.join("\n") + "\n")?;
        let said = referee(place, words, true)?;
        if games(&journal)?.len() != 6 || !said.contains("resuming after 3 of 6 games") {
            return Err(said.into());
        }
    }
    fs::create_dir(place.join("empty"))?;
    for (words, reason) in [
        (
            "--adapter kaggle-connectx --out none empty",
            "there are no agents in it",
        ),
        (
            "--adapter kaggle-connectx --game quarto --out none empty",
            "with --adapter the game is four-in-a-row",
        ),
    ] {
        let said = referee(place, &format!("tournament {words}"), false)?;
        if !said.contains(reason) || place.join("none").exists() {
            return Err(said.into());
        }
    }
    Ok(())
}

/// Brains that are told BEGIN, TURN and BOARD, against each other and a random bot, from openings, too.
fn gomocup() -> Result<(), Failed> {
    let scratch = tempfile::tempdir()?;
    let place = scratch.path();
    let (brains, game) = (source("tests/bots/brains"), source("games/gomoku.py"));
    referee(place, &format!("adapt gomocup '{brains}' --out bots"), true)?;
    let words = format!(
        "tournament --no-check --game '{game}' --pairs 2 --seed 1 --out cup bots builtin:random"
    );
    referee(place, &words, true)?;
    let played = games(&place.join("cup/games.jsonl"))?;
    if played.len() != 12 || played.iter().any(|game| !game["result"]["by"].is_null()) {
        return Err(format!("{played:#?}").into());
    }
    let swap =
        format!("--game '{game}' --game-option opening=swap --first 1 bots/beside bots/corner");
    let said = referee(place, &swap, true)?;
    if !said.contains("wins: ") || said.contains("forfeits (") {
        return Err(said.into());
    }
    Ok(())
}

/// Engines that refuse what they are not told in the order of UCI, in a game whose question they take as a position.
fn uci() -> Result<(), Failed> {
    let scratch = tempfile::tempdir()?;
    let place = scratch.path();
    fs::create_dir(place.join("engines"))?;
    for name in ["last.py", "middle.py"] {
        fs::copy(
            source("tests/bots/uci/engine.py"),
            place.join("engines").join(name),
        )?;
    }
    let game = source("games/tic-tac-toe.py");
    let words = format!(
        "tournament --adapter uci --game '{game}' --no-check --pairs 2 --opening-plies 0 --seed 1 --out cup engines"
    );
    referee(place, &words, true)?;
    let played = games(&place.join("cup/games.jsonl"))?;
    if played.len() != 4 || played.iter().any(|game| !game["result"]["by"].is_null()) {
        return Err(format!("{played:#?}").into());
    }
    for game in played {
        let first = usize::from(game["first"] == 1);
        let is_last = game["bots"][first]["name"] == "last";
        if game["turns"][0] != if is_last { "9" } else { "5" } {
            return Err(format!("{game}").into());
        }
    }
    Ok(())
}

/// Bots in the forms of `CodinGame` and of fiar.py play as they are, in the sandbox.
fn unchanged() -> Result<(), Failed> {
    let scratch = tempfile::tempdir()?;
    let place = scratch.path();
    let bots = source("tests/bots/unchanged");
    let words = format!(
        "tournament --game four-in-a-row --no-check --pairs 2 --seed 1 --out cup '{bots}' builtin:random"
    );
    referee(place, &words, true)?;
    let played = games(&place.join("cup/games.jsonl"))?;
    if played.len() != 12 || played.iter().any(|game| !game["result"]["by"].is_null()) {
        return Err(format!("{played:#?}").into());
    }
    Ok(())
}

fn refused() -> Result<(), Failed> {
    let scratch = tempfile::tempdir()?;
    let place = scratch.path();
    fs::create_dir(place.join("empty"))?;
    fs::write(place.join("notes.txt"), "to do")?;
    fs::write(place.join("agent.py"), "value = 1\n")?;
    for (words, reason) in [
        (
            "adapt kaggle-connectx empty --out bots",
            "empty: there are no agents in it; expected: ",
        ),
        (
            "adapt kaggle-connectx notes.txt --out bots",
            "notes.txt: it is not an agent",
        ),
        (
            "adapt kaggle-connectx nobody.py --out bots",
            "nobody.py: there is no such file",
        ),
    ] {
        let said = referee(place, words, false)?;
        if !said.contains(reason) {
            return Err(said.into());
        }
    }
    referee(place, "adapt kaggle-connectx agent.py --out bots", true)?;
    let again = referee(place, "adapt kaggle-connectx agent.py --out bots", false)?;
    let played = referee(
        place,
        "--game four-in-a-row bots/agent builtin:random --seed 1",
        true,
    )?;
    let expected = "there is no function; expected agent(observation, configuration)";
    if !again.contains("it is there already") || !played.contains(expected) {
        return Err(format!("{again}{played}").into());
    }
    Ok(())
}
