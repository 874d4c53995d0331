//! `--seeds`: the order of the bots, from a file.

use std::collections::HashMap;
use std::path::Path;

use crate::arena::entrants::Entrants;
use crate::arena::seeding::{Seeding, listed};
use crate::cli::support::failure::Failure;
use crate::cli::support::output::print_stderr;
use crate::cli::support::setup::unreadable;
use crate::record::text_file;
use crate::text::counted;

/// Puts the bots in the order of a file, or of the standings in a tournament's folder.
pub(super) fn apply(path: &Path, entrants: &mut Entrants) -> Result<(), Failure> {
    let path = if path.is_dir() {
        path.join("standings.json")
    } else {
        path.to_owned()
    };
    let text =
        text_file::read(&path, text_file::KEPT).map_err(|error| unreadable(&path, &error))?;
    let refused =
        |problem: String| Failure::Usage(format!("--seeds {}: {problem}", path.display()));
    let seeding = Seeding::parse(&text).map_err(refused)?;
    let entered = entrants.entered.iter().map(|bot| bot.plan.name.as_str());
    let rejected = entrants
        .rejected
        .iter()
        .map(|rejected| rejected.bot.name.as_str());
    let names: Vec<&str> = entered.chain(rejected).collect();
    let seeded = seeding.apply(&names).map_err(refused)?;
    let unnamed: Vec<&str> = seeded
        .unnamed
        .iter()
        .filter(|&&bot| bot < entrants.entered.len())
        .map(|&bot| names[bot])
        .collect();
    if !unnamed.is_empty() {
        print_stderr(&format!(
            "referee: warning: {} has no place for {}: seeded last and in the order given",
            path.display(),
            listed(unnamed.into_iter())
        ));
    }
    if seeded.others > 0 {
        let others = u64::try_from(seeded.others).unwrap_or(u64::MAX);
        print_stderr(&format!(
            "referee: {} in {} that {} part",
            counted(others, "name", "names"),
            path.display(),
            if others == 1 { "takes no" } else { "take no" }
        ));
    }
    let places: HashMap<String, usize> = seeded
        .order
        .iter()
        .enumerate()
        .map(|(place, &bot)| (names[bot].to_owned(), place))
        .collect();
    let place = |name: &str| places.get(name).copied().unwrap_or(usize::MAX);
    entrants.entered.sort_by_key(|bot| place(&bot.plan.name));
    Ok(())
}
