//! What is given as a bot but is not a program: archives, documents, and mistyped names.

use std::ffi::OsStr;
use std::path::Path;

use super::shell::quoted;
use super::submission::{entries, is_program};
use crate::text::{escape_path, meant};

/// Extensions, with the command that unpacks one.
const ARCHIVES: &[(&str, &str)] = &[
    // Windows has bsdtar, which reads them, and no `unzip`.
    (".zip", if cfg!(windows) { "tar xf" } else { "unzip" }),
    (".tar", "tar xf"),
    (".tgz", "tar xf"),
    (".tar.zst", "tar xf"),
    (".txz", "tar xf"),
    (".7z", "7z x"),
    (".rar", "unrar x"),
    (".gz", "gunzip"),
    (".xz", "unxz"),
    (".bz2", "bunzip2"),
];

/// Extensions of files that cannot be programs.
const DOCUMENTS: &[&str] = &["pdf", "doc", "docx", "odt", "rtf", "html", "md"];

/// Why a file cannot be a program, by its extension, and what to do.
pub(super) fn why(path: &str) -> Option<(String, String)> {
    if let Some(command) = unpacking(path) {
        let fix = format!(
            "unpack it ({command}) and give the program in it, or the folder; or use referee league, \
             which unpacks what was handed in"
        );
        return Some(("it is an archive, not a program".to_owned(), fix));
    }
    let ending = Path::new(path).extension()?.to_str()?.to_ascii_lowercase();
    let stem = Path::new(path).with_extension("");
    let (cause, fix) = match ending.as_str() {
        "ipynb" => (
            "it is a notebook, not a program",
            format!(
                "save it as a script: jupyter nbconvert --to script {}",
                quoted(path)
            ),
        ),
        "class" => {
            let class = stem.file_name().unwrap_or_default().to_string_lossy();
            let folder = match stem.parent().and_then(Path::to_str) {
                None | Some("") => ".".to_owned(),
                Some(folder) => quoted(folder).into_owned(),
            };
            (
                "it is a class of Java, which is started by its name",
                format!(
                    "give the command line \"java -cp {folder} {}\"",
                    quoted(&class)
                ),
            )
        }
        "ts" => (
            "it is TypeScript, which has to be translated first",
            format!("give what this makes of it: tsc {}", quoted(path)),
        ),
        ending if DOCUMENTS.contains(&ending) => (
            "it is a document, not a program",
            "save the program as plain text, with the extension of its language".to_owned(),
        ),
        _ => return None,
    };
    Some((cause.to_owned(), fix))
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
    let place = if folder == Path::new("") {
        Path::new(".")
    } else {
        folder
    };
    let programs = entries(place)
        .ok()?
        .into_iter()
        .filter(|file| is_program(file));
    let names: Vec<String> = programs
        .filter_map(|file| Some(file.file_name()?.to_str()?.to_owned()))
        .collect();
    let whole = names
        .iter()
        .find(|file| Path::new(file).file_stem() == Some(OsStr::new(name)));
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let found = whole.map(String::as_str).or_else(|| meant(name, &names))?;
    Some(escape_path(&folder.join(found).to_string_lossy()))
}

/// The command that unpacks an archive, by its extension.
fn unpacking(path: &str) -> Option<String> {
    let name = path.to_ascii_lowercase();
    let (_, command) = ARCHIVES.iter().find(|(ending, _)| name.ends_with(ending))?;
    let is_tar = name.contains(".tar.");
    let command = if is_tar { "tar xf" } else { command };
    Some(format!("{command} {}", quoted(path)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn archives_are_known_by_their_endings() {
        for (path, command) in [
            ("bot.zip", "unzip bot.zip"),
            ("My Bot.ZIP", "unzip 'My Bot.ZIP'"),
            ("a/bot.tar.gz", "tar xf a/bot.tar.gz"),
            ("bot.gz", "gunzip bot.gz"),
            ("bot.rar", "unrar x bot.rar"),
            ("bot.7z", "7z x bot.7z"),
        ] {
            assert_eq!(unpacking(path).as_deref(), Some(command));
        }
        for path in ["bot", "bot.py", "zip", "bot.pyz", "bot.jar"] {
            assert_eq!(unpacking(path), None);
        }
    }

    #[test]
    fn what_is_no_program_is_known_by_its_ending() {
        for (path, words) in [
            ("bot.ipynb", "jupyter nbconvert --to script bot.ipynb"),
            ("a b/Bot.class", "\"java -cp 'a b' Bot\""),
            ("Bot.class", "\"java -cp . Bot\""),
            ("bot.ts", "tsc bot.ts"),
            ("Bot.PDF", "save the program as plain text"),
        ] {
            let (_, fix) = why(path).expect(path);
            assert!(fix.contains(words), "{fix}");
        }
        assert_eq!(why("bot.py"), None);
    }

    #[test]
    fn other_letters_are_answered_with_what_is_meant() {
        let given = |text: &str| near(text, &["greedy"]);
        assert_eq!(given("Builtin:Greedy").as_deref(), Some("builtin:greedy"));
        assert_eq!(given("Human").as_deref(), Some("human"));
        assert_eq!(given("builtin:gredy"), None);
    }
}
