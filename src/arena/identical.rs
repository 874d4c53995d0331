//! Entrants that are the same program: entered twice, or copied from another author.

use std::collections::BTreeMap;
use std::collections::hash_map::DefaultHasher;
use std::fs;
use std::hash::{Hash as _, Hasher as _};
use std::path::Path;

use super::entrants::Entrant;

/// Groups of names with the same content, arguments, environment and limits, in the order of entry. Path and name do
/// not matter.
pub fn identical(entrants: &[Entrant]) -> Vec<Vec<&str>> {
    let mut groups: BTreeMap<String, Vec<&str>> = BTreeMap::new();
    for entrant in entrants {
        let name = entrant.plan.name.as_str();
        groups.entry(identity(entrant)).or_default().push(name);
    }
    let mut groups: Vec<Vec<&str>> = groups
        .into_values()
        .filter(|names| names.len() > 1)
        .collect();
    let place = |name: &str| entrants.iter().position(|it| it.plan.name == name);
    groups.sort_by_key(|names| names.first().and_then(|name| place(name)));
    groups
}

/// A sentence.
pub fn same_program(names: &[&str]) -> String {
    match names {
        [others @ .., last] if !others.is_empty() => format!(
            "{} and {last} are the same program; each of them plays",
            others.join(", ")
        ),
        _ => String::new(),
    }
}

/// Equal for the same programs only.
fn identity(entrant: &Entrant) -> String {
    let program = &entrant.program;
    let own = program.own_file();
    let content = own.as_ref().and_then(|path| fs::read(path).ok());
    let (what, arguments) = match (&own, content) {
        (Some(path), Some(content)) => {
            let mut hasher = DefaultHasher::new();
            content.hash(&mut hasher);
            let mut words = program.argv.iter();
            // The words before it are an interpreter.
            let own = words.position(|word| Path::new(word) == path);
            let after = own.map_or(1, |own| own + 1);
            let what = format!("{} {:x}", content.len(), hasher.finish());
            (what, program.argv.get(after..).unwrap_or_default())
        }
        _ => (String::new(), &program.argv[..]),
    };
    format!(
        "{what} {arguments:?} {:?} {:?}",
        entrant.plan.environment, entrant.plan.limits
    )
}
