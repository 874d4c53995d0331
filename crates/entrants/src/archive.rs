//! Archives by their names.

use std::path::Path;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ArchiveFormat {
    Zip,
    Tar,
    TarGz,
    /// It is not read.
    Other,
}

/// Longer ones first.
const ENDINGS: [(ArchiveFormat, &str); 4] = [
    (ArchiveFormat::TarGz, ".tar.gz .tgz"),
    (ArchiveFormat::Tar, ".tar"),
    (ArchiveFormat::Zip, ".zip"),
    (
        ArchiveFormat::Other,
        ".tar.xz .tar.bz2 .tar.zst .rar .7z .xz .bz2",
    ),
];

/// Name and format; `None` if not an archive.
pub fn split(name: &str) -> Option<(&str, ArchiveFormat)> {
    let of =
        |(format, endings): (_, &'static str)| endings.split(' ').map(move |one| (one, format));
    ENDINGS
        .into_iter()
        .flat_map(of)
        .find_map(|(ending, format)| {
            let start = name.len().checked_sub(ending.len())?;
            let is = name.get(start..)?.eq_ignore_ascii_case(ending);
            (is && start > 0).then(|| (&name[..start], format))
        })
}

/// The name of an archive that can be unpacked, without what says so; `None` for other paths.
pub(crate) fn name_of(path: &Path) -> Option<&str> {
    let (name, format) = split(path.file_name()?.to_str()?)?;
    (format != ArchiveFormat::Other).then_some(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn archives_that_are_unpacked_are_known_by_their_ending() {
        for (path, name) in [
            ("My Bot.ZIP", Some("My Bot")),
            ("a/bot.tar.gz", Some("bot")),
            ("bot.tgz", Some("bot")),
            ("bot.tar.xz", None),
            (".zip", None),
            ("bot.gz", None),
            ("zip", None),
        ] {
            assert_eq!(name_of(Path::new(path)), name, "{path}");
        }
    }
}
