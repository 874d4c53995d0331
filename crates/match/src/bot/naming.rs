//! Bots' names: short enough for a table, and distinct.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::path::{Path, absolute};

use unicode_normalization::UnicodeNormalization as _;

use super::spec::Program;
use referee_text::short_name;

/// A name, and the program unless that name was chosen.
pub type Named<'a> = (&'a str, Option<&'a Program>);

/// A name as tables and records have it: printable, and composed (NFC), so that two names that look alike are equal,
/// wherever they were typed and whatever system the files come from.
///
/// ```
/// use referee_match::bot::naming::bot_name;
///
/// assert_eq!(bot_name("Andre\u{301}"), "André");
/// ```
pub fn bot_name(name: &str) -> String {
    short_name(&composed(name))
}

/// Composed (NFC): however accents are written, equal texts are equal.
pub fn composed(text: &str) -> String {
    text.nfc().collect()
}

/// Whether nothing of a name can be seen. Other characters without a picture are escaped where it is shown.
pub fn is_blank(name: &str) -> bool {
    name.chars()
        .all(|c| c.is_whitespace() || is_empty_picture(c))
}

/// Fillers, variations of the character before, and the empty pattern of Braille.
const fn is_empty_picture(c: char) -> bool {
    matches!(c,
        '\u{034f}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}' | '\u{2800}' | '\u{3164}' | '\u{ffa0}'
        | '\u{180b}'..='\u{180f}'
        | '\u{fe00}'..='\u{fe0f}'
        | '\u{e0100}'..='\u{e01ef}')
}

/// Distinct names. Bots of the same name are called by their folders where these differ (`anna` and
/// `ben` for `anna/bot.py` and `ben/bot.py`), together with bots whose files have another extension
/// (`carla` for `carla/bot.sh`); else by their arguments (`bot.py --depth 3`). Others are numbered:
/// `random.py#1`, `random.py#2`.
///
/// ```
/// use referee_match::bot::naming::distinct_names;
/// use referee_match::bot::spec::Program;
///
/// let bot = |path: &str| Program::recorded(&[path.to_owned()]);
/// let [anna, ben] = [bot("anna/bot.py"), bot("ben/bot.py")];
/// let bots = [("bot.py", anna.as_ref()), ("bot.py", ben.as_ref())];
/// assert_eq!(distinct_names(&bots), ["anna", "ben"]);
/// assert_eq!(distinct_names(&[("builtin:random", None); 2]), ["builtin:random#1",
/// "builtin:random#2"]);
/// ```
pub fn distinct_names(bots: &[Named<'_>]) -> Vec<String> {
    let mut names: Vec<String> = bots.iter().map(|(name, _)| (*name).to_owned()).collect();
    let given: HashSet<&str> = bots.iter().map(|(name, _)| *name).collect();
    let mut alike: BTreeMap<_, Vec<usize>> = BTreeMap::new();
    for (index, (name, program)) in bots.iter().enumerate() {
        let stem = Path::new(name).file_stem().filter(|_| program.is_some());
        alike
            .entry(stem.unwrap_or(name.as_ref()))
            .or_default()
            .push(index);
    }
    for indices in alike.into_values() {
        let of_name: HashSet<&str> = indices.iter().map(|&index| bots[index].0).collect();
        if of_name.len() == indices.len() {
            continue;
        }
        for call in [folder, with_arguments] {
            let called: Vec<String> = indices
                .iter()
                .filter_map(|&index| call(bots[index]))
                .collect();
            let different: HashSet<&str> = called.iter().map(String::as_str).collect();
            if different.len() == indices.len() && different.is_disjoint(&given) {
                for (&index, name) in indices.iter().zip(called) {
                    names[index] = name;
                }
                break;
            }
        }
    }
    numbered(&names)
}

/// The name with what follows it in the command. What has certain symbols inside is not a name.
fn with_arguments((name, program): Named<'_>) -> Option<String> {
    let command = &program?.command;
    let is_name = |word: &String| Path::new(word).file_name().is_some_and(|file| file == name);
    let after = command.iter().position(is_name).map_or(1, |at| at + 1);
    let arguments = command.get(after..)?.join(" ");
    let is_plain =
        !arguments.contains('\\') && arguments.split(' ').count() == command.len() - after;
    is_plain.then(|| bot_name(&format!("{name} {arguments}")))
}

/// The name of a folder, even of `.`; `None` for `/`.
pub fn folder_name(folder: &Path) -> Option<String> {
    let folder = absolute(folder).ok()?;
    Some(folder.file_name()?.to_string_lossy().into_owned())
}

/// Hidden folders give no name.
fn folder((_, program): Named<'_>) -> Option<String> {
    let file = program?.own_file()?;
    let name = folder_name(absolute(file).ok()?.parent()?)?;
    (!name.starts_with('.')).then(|| bot_name(&name))
}

fn numbered(names: &[String]) -> Vec<String> {
    let mut given: HashMap<&str, usize> = HashMap::new();
    for name in names {
        *given.entry(name).or_default() += 1;
    }
    let mut next: HashMap<&str, usize> = HashMap::new();
    let mut used = HashSet::new();
    names
        .iter()
        .map(|name| {
            if given[name.as_str()] == 1 {
                return name.clone();
            }
            let nth = next.entry(name).or_insert(1);
            loop {
                let numbered = format!("{name}#{nth}");
                *nth += 1;
                if !given.contains_key(numbered.as_str()) && used.insert(numbered.clone()) {
                    return numbered;
                }
            }
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn named(bots: &[(&str, &str)]) -> Vec<String> {
        let programs = bots.iter().map(|(_, text)| {
            let words: Vec<String> = text.split(' ').map(str::to_owned).collect();
            Program::recorded(&words).filter(|_| !text.is_empty())
        });
        let programs: Vec<Option<Program>> = programs.collect();
        let named = bots.iter().zip(&programs);
        let named = named.map(|((name, _), program)| (*name, program.as_ref()));
        distinct_names(&named.collect::<Vec<_>>())
    }

    #[test]
    fn arguments_tell_bots_of_the_same_file_apart() {
        let bots = [
            ("bot.py", "a/bot.py --depth 3"),
            ("bot.py", "a/bot.py --depth 5"),
            ("c", "c"),
        ];
        let names = ["bot.py --depth 3", "bot.py --depth 5", "c"];
        assert_eq!(named(&bots), names);
        // Folders are shorter.
        let bots = [("bot.py", "a/bot.py 3"), ("bot.py", "b/bot.py 5")];
        assert_eq!(named(&bots), ["a", "b"]);
    }

    #[test]
    fn folders_tell_bots_of_the_same_name_apart() {
        assert_eq!(
            named(&[("bot.py", "a/bot.py"), ("bot.py", "b/bot.py"), ("c", "c")]),
            ["a", "b", "c"]
        );
    }

    #[test]
    fn a_file_with_another_ending_is_called_by_its_folder_too() {
        let files = [
            ("bot.py", "a/bot.py"),
            ("bot.py", "b/bot.py"),
            ("bot.sh", "c/bot.sh"),
        ];
        assert_eq!(named(&files), ["a", "b", "c"]);
        // Where all differ, files keep their names.
        assert_eq!(named(&files[1..]), ["bot.py", "bot.sh"]);
        // A given name stays.
        assert_eq!(
            named(&[files[0], files[1], ("dora", "d/bot.sh")]),
            ["a", "b", "dora"]
        );
    }

    #[test]
    fn the_same_bot_twice_is_numbered() {
        assert_eq!(
            named(&[("bot.py", "a/bot.py"), ("bot.py", "a/bot.py")]),
            ["bot.py#1", "bot.py#2"]
        );
        assert_eq!(
            named(&[("x", ""), ("x", ""), ("x#1", "")]),
            ["x#2", "x#3", "x#1"]
        );
    }

    #[test]
    fn folders_that_are_names_of_others_do_not_help() {
        let names = named(&[("bot.py", "a/bot.py"), ("bot.py", "b/bot.py"), ("a", "c/a")]);
        assert_eq!(names, ["bot.py#1", "bot.py#2", "a"]);
        // Folders of two groups with equal names.
        let names = named(&[
            ("x", "1/a/x"),
            ("x", "1/b/x"),
            ("y", "2/a/y"),
            ("y", "2/b/y"),
        ]);
        assert_eq!(names, ["a#1", "b#1", "a#2", "b#2"]);
    }
}
