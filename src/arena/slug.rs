//! Directory names for bots, whose names may hold any characters.

use std::collections::HashSet;

/// In bytes, without a number.
const LONGEST: usize = 60;

/// A name of a directory for each name of a bot: letters, digits, `-`, `_` and `.` only, never empty,
/// never with a dot at the beginning, and all different even when case is ignored.
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
            // Enough tries: one for each name.
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
