//! Archives that are given as bots: they have to be unpacked first.

use super::shell::quoted;

/// Endings of archives, with the command that unpacks one.
const ARCHIVES: &[(&str, &str)] = &[
    // Windows has the other `tar`, which reads them, and no `unzip`.
    (".zip", if cfg!(windows) { "tar xf" } else { "unzip" }),
    (".tar", "tar xf"),
    (".tar.gz", "tar xf"),
    (".tgz", "tar xf"),
    (".tar.bz2", "tar xf"),
    (".tar.xz", "tar xf"),
    (".txz", "tar xf"),
    (".tar.zst", "tar xf"),
    (".7z", "7z x"),
    (".rar", "unrar x"),
    (".gz", "gunzip"),
    (".xz", "unxz"),
    (".bz2", "bunzip2"),
];

/// The command that unpacks a file, by its ending; `None` when that is no archive's.
pub(super) fn unpacking(path: &str) -> Option<String> {
    let name = path.to_ascii_lowercase();
    let found = ARCHIVES.iter().find(|(ending, _)| name.ends_with(ending));
    found.map(|(_, command)| format!("{command} {}", quoted(path)))
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
}
