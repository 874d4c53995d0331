//! Names of folders for bots: never the raw name, which may be anything.

use std::collections::HashSet;

/// The longest name of a folder, in bytes, before a number is added.
const LONGEST: usize = 60;

/// One name of a folder for each name of a bot: letters, digits, `-`, `_` and `.` only, never
/// empty, never beginning with a dot, all different, also where case does not count.
///
/// ```
/// use referee::arena::slug::slugs;
///
/// let names = ["greedy.py", "../../x", "", "Greedy.py"];
/// assert_eq!(slugs(&names), ["greedy.py", "x", "bot", "Greedy.py-2"]);
/// ```
pub fn slugs(names: &[&str]) -> Vec<String> {
    let mut used = HashSet::new();
    names
        .iter()
        .map(|name| {
            let slug = slug(name);
            // As many tries as there are names are enough.
            (1..=names.len())
                .map(|n| match n {
                    1 => slug.clone(),
                    n => format!("{slug}-{n}"),
                })
                .find(|slug| used.insert(slug.to_lowercase()))
                .unwrap_or(slug)
        })
        .collect()
}

fn slug(name: &str) -> String {
    let mut slug = String::new();
    for c in name.chars() {
        if slug.len() >= LONGEST {
            break;
        }
        if c.is_ascii_alphanumeric() || (c == '.' && !slug.is_empty()) {
            slug.push(c);
        } else if !slug.is_empty() && !slug.ends_with(['-', '.']) {
            slug.push(if c == '_' { '_' } else { '-' });
        }
    }
    let slug = slug.trim_end_matches(['-', '.', '_']);
    if slug.is_empty() {
        "bot".to_owned()
    } else {
        slug.to_owned()
    }
}
