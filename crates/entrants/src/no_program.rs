//! What is given as a bot but is not a program: archives, documents, and mistyped names.

use std::ffi::OsStr;
use std::path::Path;

use crate::folder::{entries, is_program};
use referee_host::system::directory_of;
use referee_match::bot::shell::quoted;
use referee_text::{escape_path, meant};

/// Extensions of files that cannot be programs, why, and what to do; `{}` is the file.
const NO_PROGRAMS: &[(&[&str], &str, &str)] = &[
    (
        &["txz", "zst", "7z", "rar", "gz", "xz", "bz2"],
        "it is an archive of a kind that is not read",
        "unpack it and give the folder, or make a .zip or a .tar.gz of it",
    ),
    (
        &["ipynb"],
        "it is a notebook, not a program",
        "save it as a script: jupyter nbconvert --to script {}",
    ),
    (
        &["class"],
        "it is a class of Java, which is started by its name",
        "give the command line \"java -cp FOLDER CLASS\"",
    ),
    (
        &["ts"],
        "it is TypeScript, which has to be translated first",
        "give what this makes of it: tsc {}",
    ),
    (
        &["pdf", "doc", "docx", "odt", "rtf", "html", "md"],
        "it is a document, not a program",
        "save the program as plain text, with the extension of its language",
    ),
];

/// Why a file cannot be a program, by its extension, and what to do.
pub(super) fn why(path: &str) -> Option<(&'static str, String)> {
    let ending = Path::new(path).extension()?.to_str()?.to_ascii_lowercase();
    let mut all = NO_PROGRAMS.iter();
    let (_, cause, fix) = all.find(|(endings, ..)| endings.contains(&&*ending))?;
    Some((cause, fix.replace("{}", &quoted(path))))
}

/// What a missing path may mean: `human` or a built-in bot in other letters, or a program in that
/// folder with nearly that name, or with an extension added.
pub(super) fn near(path: &str, builtins: &[&str]) -> Option<String> {
    let small = path.to_lowercase();
    let builtin = small.strip_prefix("builtin:");
    if small == "human" || builtin.is_some_and(|name| builtins.contains(&name)) {
        return Some(small);
    }
    let path = Path::new(path);
    let name = path.file_name()?.to_str()?;
    let folder = path.parent()?;
    let mut programs = entries(directory_of(path)).ok()?;
    programs.retain(|file| is_program(file));
    let names = programs
        .iter()
        .filter_map(|file| file.file_name()?.to_str());
    let names: Vec<&str> = names.collect();
    let mut whole = names.iter().copied();
    let whole = whole.find(|file| Path::new(file).file_stem() == Some(OsStr::new(name)));
    let found = whole.or_else(|| meant(name, &names))?;
    Some(escape_path(&folder.join(found).to_string_lossy()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_program_is_known_by_its_ending() {
        for (path, words) in [
            ("My Bot.RAR", "make a .zip"),
            ("a/bot.tar.xz", "make a .zip"),
            ("a b.ipynb", "jupyter nbconvert --to script 'a b.ipynb'"),
            ("Bot.PDF", "save the program as plain text"),
        ] {
            let (_, fix) = why(path).expect(path);
            assert!(fix.contains(words), "{fix}");
        }
        for path in ["bot", "bot.py", "zip", "bot.pyz", "bot.jar"] {
            assert_eq!(why(path), None);
        }
    }

    #[test]
    fn other_letters_are_answered_with_what_is_meant() {
        let given = |text: &str| near(text, &["greedy"]);
        assert_eq!(given("Builtin:Greedy").as_deref(), Some("builtin:greedy"));
        assert_eq!(given("Human").as_deref(), Some("human"));
        assert_eq!(given("builtin:gredy"), None);
    }
}
