//! Ctrl-C in a console of Windows.

use std::fs;
use std::path::Path;
use std::process::Command;

use libtest_mimic::Failed;

use super::{COMPILER, Place, output, wait_for_none};
use crate::cross::{built, records};

/// Runs the referee with these arguments in a console, and presses Ctrl-C once a file is larger than `size`
/// bytes. Gives the exit status, and all that was printed.
fn interrupted(
    place: &Place,
    directory: &Path,
    arguments: &str,
    (file, size): (&str, u64),
) -> Result<(Option<i32>, String), Failed> {
    let presses = directory.join("ctrl_c.exe");
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/environment/windows/ctrl_c.c");
    let mut compile = Command::new(COMPILER);
    built("ctrl_c.exe", compile.arg("-o").args([&presses, &source]))?;
    let referee = place.program();
    let line = format!("\"{}\" {arguments}", referee.display());
    let size = size.to_string();
    let mut command = place.wine(&presses.to_string_lossy(), [file, &size, &line]);
    let output = output(command.current_dir(directory))?;
    let printed = [output.stdout, output.stderr].concat();
    let printed = String::from_utf8_lossy(&printed).into_owned();
    Ok((output.status.code(), printed))
}

/// Bots are not ended by it before the referee ends them, so no game is lost by it.
pub(super) fn ctrl_c_ends_a_match(place: &Place) -> Result<(), Failed> {
    let scratch = tempfile::tempdir()?;
    let name = "bot-of-an-interrupted-match.exe";
    fs::copy(place.directory.join("bot.exe"), scratch.path().join(name))?;
    let arguments =
        format!("--seed 1 -n 100000 --sandbox none --record games.jsonl ./{name} builtin:random");
    let games = "games.jsonl";
    let (status, printed) = interrupted(place, scratch.path(), &arguments, (games, 2000))?;
    if status != Some(130) || !printed.ends_with("referee: interrupted\n") {
        return Err(format!("{status:?}: {printed}").into());
    }
    for record in records(&scratch.path().join(games)) {
        if record["result"].get("by").is_some() {
            return Err(record.to_string().into());
        }
    }
    wait_for_none(name)
}

/// The tournament goes on where it was.
pub(super) fn ctrl_c_ends_a_tournament(place: &Place) -> Result<(), Failed> {
    let scratch = tempfile::tempdir()?;
    let arguments = "tournament --out t --seed 1 --pairs 30 --sandbox none --no-check --restart game \
                     builtin:random builtin:greedy";
    let journal = "t/games.jsonl";
    let (status, printed) = interrupted(place, scratch.path(), arguments, (journal, 2000))?;
    let hint = "to resume: referee tournament --out t";
    if status != Some(130) || !printed.contains(hint) {
        return Err(format!("{status:?}: {printed}").into());
    }
    let before = records(&scratch.path().join(journal)).len();
    let resumed = output(&mut place.windows(scratch.path(), ["tournament", "--out", "t"]))?;
    let after = records(&scratch.path().join(journal)).len();
    if resumed.status.code() != Some(0) || !(1..60).contains(&before) || after != 60 {
        return Err(format!("{before} and {after} games\n{resumed:#?}").into());
    }
    Ok(())
}
