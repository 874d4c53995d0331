//! The paths in the code (`crate::bot::fault::Fault`), and the files that they lead to.

use std::collections::{BTreeMap, BTreeSet, HashMap, VecDeque};

use super::source::File;

/// A path in the code of a file.
pub(super) struct Named {
    /// As it is written, one segment an item; `*` for everything.
    pub(super) segments: Vec<String>,
    /// From the crate's root, when it leads to something in the crate.
    pub(super) inside: Option<Vec<String>>,
    /// What a `use` calls it.
    alias: Option<String>,
}

impl Named {
    /// What follows these segments; `None` when it begins with others, or leads into the crate.
    pub(super) fn after(&self, begin: &[&str]) -> Option<&[String]> {
        let (head, rest) = self.segments.split_at_checked(begin.len())?;
        (self.inside.is_none() && head.iter().eq(begin)).then_some(rest)
    }
}

/// All paths of at least two segments, and all that is named by a `use`.
pub(super) fn named(file: &File, all: &[File]) -> Vec<Named> {
    let children: BTreeSet<&str> = all
        .iter()
        .filter_map(|other| match other.module.strip_prefix(&*file.module)? {
            [child] => Some(child.as_str()),
            _ => None,
        })
        .collect();
    let tokens = &file.tokens;
    let token = |at: usize| tokens.get(at).map_or("", String::as_str);
    let mut found = Vec::new();
    // Modules within the file that the place is in, and the depth at which each began.
    let mut within: Vec<(String, usize)> = Vec::new();
    let mut depth = 0;
    let mut at = 0;
    while at < tokens.len() {
        let word = token(at);
        if word == "use" && is_item(token(at.wrapping_sub(1))) {
            let mut leaves = Vec::new();
            at = use_tree(tokens, at + 1, &[], &mut leaves);
            for (mut segments, alias) in leaves {
                if segments.last().is_some_and(|last| last == "self") && segments.len() > 1 {
                    segments.pop();
                }
                let inside = inside(file, &within, &children, &segments);
                let alias = alias.filter(|_| within.is_empty());
                found.push(Named {
                    segments,
                    inside,
                    alias,
                });
            }
            continue;
        }
        match word {
            "mod" if token(at + 2) == "{" => {
                within.push((token(at + 1).to_owned(), depth));
                at += 2;
                continue;
            }
            "{" => depth += 1,
            "}" => {
                depth -= 1;
                within.pop_if(|(_, began)| *began == depth);
            }
            _ => {}
        }
        let begins = is_name(word) && token(at + 1) == "::";
        if begins && !matches!(token(at.wrapping_sub(1)), "::" | ".") {
            let mut segments = vec![word.to_owned()];
            at += 1;
            while token(at) == "::" && is_name(token(at + 1)) {
                segments.push(token(at + 1).to_owned());
                at += 2;
            }
            let inside = inside(file, &within, &children, &segments);
            found.push(Named {
                segments,
                inside,
                alias: None,
            });
            continue;
        }
        at += 1;
    }
    found
}

fn is_name(token: &str) -> bool {
    token.starts_with(|c: char| c.is_alphabetic() || c == '_')
}

/// Whether an item can begin after this token; `use` is also a word in bounds.
fn is_item(before: &str) -> bool {
    matches!(before, "" | ";" | "{" | "}" | "]" | "pub" | ")")
}

/// Reads one tree of a `use`; gives the place after it.
fn use_tree(
    tokens: &[String],
    mut at: usize,
    before: &[String],
    leaves: &mut Vec<(Vec<String>, Option<String>)>,
) -> usize {
    let token = |at: usize| tokens.get(at).map_or("", String::as_str);
    let mut segments = before.to_vec();
    loop {
        match token(at) {
            "{" => {
                at += 1;
                while !matches!(token(at), "}" | "") {
                    at = use_tree(tokens, at, &segments, leaves);
                    at += usize::from(token(at) == ",");
                }
                return at + 1;
            }
            "::" => at += 1,
            word if is_name(word) || word == "*" => {
                segments.push(word.to_owned());
                at += 1;
                if token(at) == "::" {
                    continue;
                }
                let mut alias = (word != "*").then(|| word.to_owned());
                if token(at) == "as" {
                    alias = Some(token(at + 1).to_owned());
                    at += 2;
                }
                leaves.push((segments, alias));
                return at;
            }
            _ => return at + 1,
        }
    }
}

/// The path from the crate's root.
fn inside(
    file: &File,
    within: &[(String, usize)],
    children: &BTreeSet<&str>,
    segments: &[String],
) -> Option<Vec<String>> {
    let mut here = file.module.clone();
    here.extend(within.iter().map(|(name, _)| name.clone()));
    let rest = match segments[0].as_str() {
        "crate" => {
            here.clear();
            &segments[1..]
        }
        "self" => &segments[1..],
        "super" => {
            let up = segments.iter().take_while(|word| *word == "super").count();
            here.truncate(here.len().saturating_sub(up));
            &segments[up..]
        }
        child if within.is_empty() && children.contains(child) => segments,
        _ => return None,
    };
    here.extend_from_slice(rest);
    Some(here)
}

/// Which files use which, by their modules' paths (`bot::fault`). A name that a module only hands
/// on (`pub use`) counts for the file that it comes from.
pub(super) fn uses(files: &[File]) -> BTreeMap<String, BTreeSet<String>> {
    let by_module: HashMap<&[String], usize> = files
        .iter()
        .enumerate()
        .filter(|(_, file)| !matches!(file.top(), "lib" | "main"))
        .map(|(number, file)| (file.module.as_slice(), number))
        .collect();
    let named: Vec<Vec<Named>> = files.iter().map(|file| named(file, files)).collect();
    let handed_on: Vec<HashMap<&str, &[String]>> = named
        .iter()
        .map(|named| {
            let imports = named.iter();
            imports
                .filter_map(|one| Some((one.alias.as_deref()?, one.inside.as_deref()?)))
                .collect()
        })
        .collect();
    let mut graph: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for (&module, &number) in &by_module {
        let used = graph.entry(module.join("::")).or_default();
        for path in named[number].iter().filter_map(|one| one.inside.as_ref()) {
            let mut path = path.clone();
            // Names may be handed on more than once, but not for ever.
            for _ in 0..8 {
                let mut known = (1..=path.len()).rev();
                let Some((length, found)) =
                    known.find_map(|length| Some((length, *by_module.get(&path[..length])?)))
                else {
                    break;
                };
                let further = path.get(length).and_then(|name| {
                    let from = handed_on[found].get(name.as_str())?;
                    Some([from, &path[length + 1..]].concat())
                });
                match further {
                    Some(further) if found != number => path = further,
                    _ => {
                        if found != number {
                            used.insert(files[found].module.join("::"));
                        }
                        break;
                    }
                }
            }
        }
    }
    graph
}

/// Of each group of files that use each other, a shortest way from one of them back to it. That a module uses what the modules above it define (`super::`) is how
/// Rust is written, and makes no circle.
pub(super) fn circles(files: &[File]) -> Vec<Vec<String>> {
    let mut uses = uses(files);
    for (module, used) in &mut uses {
        used.retain(|used| !module.starts_with(&format!("{used}::")));
    }
    // From each file, the way to all that it reaches, shortest first.
    let ways: BTreeMap<&str, BTreeMap<&str, Vec<&str>>> = uses
        .keys()
        .map(|from| (from.as_str(), ways(from, &uses)))
        .collect();
    let mut circles: BTreeMap<Vec<&str>, Vec<&str>> = BTreeMap::new();
    for (&from, reached) in &ways {
        let Some(back) = reached.get(from) else {
            continue;
        };
        let members = reached.keys().copied();
        let members: Vec<&str> = members.filter(|to| ways[to].contains_key(from)).collect();
        let shortest = circles.entry(members).or_insert_with(|| back.clone());
        if back.len() < shortest.len() {
            shortest.clone_from(back);
        }
    }
    let owned = |names: Vec<&str>| names.into_iter().map(str::to_owned).collect();
    circles.into_values().map(owned).collect()
}

/// All that a file reaches, itself if it is in a circle, each with the way there, both ends
/// included.
fn ways<'a>(
    from: &'a str,
    graph: &'a BTreeMap<String, BTreeSet<String>>,
) -> BTreeMap<&'a str, Vec<&'a str>> {
    let mut ways = BTreeMap::new();
    let mut waiting = VecDeque::from([vec![from]]);
    while let Some(way) = waiting.pop_front() {
        let Some(used) = way.last().and_then(|last| graph.get(*last)) else {
            continue;
        };
        for next in used {
            if !ways.contains_key(next.as_str()) {
                let further = [&way[..], &[next.as_str()]].concat();
                ways.insert(next.as_str(), further.clone());
                waiting.push_back(further);
            }
        }
    }
    ways
}
