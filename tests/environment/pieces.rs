//! A bot in a sandbox can read the piece set, wherever the referee had it from.

use std::fs;

use libtest_mimic::{Failed, Trial};

use crate::common::{Referee, bots, runs_with_set};
use crate::requirements::is_ci;

fn referee(sandbox: &str) -> Referee {
    Referee::new(["--seed", "1", "--first", "1", "--sandbox", sandbox])
}

fn are_read(sandbox: &str) -> Result<(), Failed> {
    let set = fs::read(bots().join("../../sets/dutch.csv"))?;
    let first = String::from_utf8_lossy(&set)
        .lines()
        .nth(1)
        .and_then(|line| line.chars().next())
        .ok_or("an empty set")?;
    let place = tempfile::tempdir()?;
    let plain = place.path().join("set.csv");
    fs::write(&plain, &set)?;
    let new = || {
        let bots = ["./needs-pieces.sh", "builtin:random", "--pieces"];
        referee(sandbox).args(bots).recorded()
    };
    for run in runs_with_set(new, &plain, &set) {
        if run.code != Some(0) || run.records()[0]["turns"][0] != format!("- {first}") {
            return Err(format!("it does not give {first}\n{run}").into());
        }
    }
    Ok(())
}

/// Whether a sandbox works here.
pub(crate) fn works(sandbox: &str) -> bool {
    let run = referee(sandbox).args(["builtin:random"; 2]).run();
    run.code == Some(0)
}

pub(crate) fn trials() -> Vec<Trial> {
    let sandboxes = ["none", "bwrap", "landlock"].into_iter();
    let trials = sandboxes.map(|sandbox| {
        let test = move || are_read(sandbox);
        Trial::test(format!("pieces::{sandbox}"), test)
            .with_kind(sandbox)
            .with_ignored_flag(!is_ci() && !works(sandbox))
    });
    trials.collect()
}
