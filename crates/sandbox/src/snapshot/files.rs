//! The list of a bot's files, and how it differs from an earlier one.

use std::collections::BTreeMap;
use std::fmt::{self, Write as _};
use std::str::FromStr;
use std::sync::Arc;
use std::time::SystemTime;

use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::outputs::RunOutputs;

/// The SHA-256 of a bot's files: their paths, executable bits and bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ContentHash(pub(super) [u8; 32]);

impl fmt::Display for ContentHash {
    /// 64 hexadecimal digits.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a hash has 64 hexadecimal digits")]
pub struct InvalidHash;

impl FromStr for ContentHash {
    type Err = InvalidHash;

    fn from_str(text: &str) -> Result<Self, InvalidHash> {
        let mut hash = Self::default();
        if text.len() != 64 || !text.is_ascii() {
            return Err(InvalidHash);
        }
        for (byte, digits) in hash.0.iter_mut().zip(text.as_bytes().chunks(2)) {
            let digits = str::from_utf8(digits).map_err(|_| InvalidHash)?;
            *byte = u8::from_str_radix(digits, 16).map_err(|_| InvalidHash)?;
        }
        Ok(hash)
    }
}

impl Serialize for ContentHash {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for ContentHash {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        text.parse().map_err(D::Error::custom)
    }
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum FileEntry {
    File {
        sha256: ContentHash,
    },
    Executable {
        sha256: ContentHash,
    },
    Directory,
    Link {
        /// Escaped.
        to: String,
    },
    /// The bot is given it, but it may change: a record or a table that the caller wrote, or the rules.
    NotCounted,
}

/// A bot's files, and the hash of those that count.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileList {
    pub hash: ContentHash,
    /// By path from the bot's folder, with slashes, escaped.
    pub files: BTreeMap<String, FileEntry>,
}

impl FileList {
    /// What has become of these files. `excused`: paths that do not count any more.
    pub fn changes(&self, now: &Self, excused: impl Fn(&str) -> bool) -> FileChanges {
        let mut changes = FileChanges::default();
        for (path, before) in &self.files {
            let list = match now.files.get(path) {
                Some(FileEntry::NotCounted) => continue,
                _ if *before == FileEntry::NotCounted => continue,
                Some(after) if after == before => continue,
                _ if excused(path) => &mut changes.left_out,
                Some(_) => &mut changes.changed,
                None => &mut changes.gone,
            };
            list.push(path.clone());
        }
        let new = now
            .files
            .keys()
            .filter(|path| !self.files.contains_key(*path));
        changes.new.extend(new.cloned());
        changes
    }
}

/// How a bot's files differ from an earlier list of them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FileChanges {
    pub changed: Vec<String>,
    pub gone: Vec<String>,
    pub new: Vec<String>,
    /// They were in the list, and do not count now: rules leave them out, or this run writes to them.
    pub left_out: Vec<String>,
}

/// Of each kind of change.
const MOST_NAMED: usize = 8;

impl fmt::Display for FileChanges {
    /// `helper.py has changed; weights.bin is gone; notes.txt is new`
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kinds = [
            (&self.changed, "has changed", "have changed"),
            (&self.gone, "is gone", "are gone"),
            (&self.new, "is new", "are new"),
        ];
        let mut between = "";
        for (paths, singular, plural) in kinds {
            if paths.is_empty() {
                continue;
            }
            let verb = if paths.len() == 1 { singular } else { plural };
            write!(f, "{between}{} {verb}", listed(paths))?;
            between = "; ";
        }
        Ok(())
    }
}

/// `a, b, c`, and how many more there are.
pub fn listed(paths: &[String]) -> String {
    let named = paths.iter().take(MOST_NAMED).map(String::as_str);
    let mut text = named.collect::<Vec<_>>().join(", ");
    if let Some(more) = paths.len().checked_sub(MOST_NAMED).filter(|&more| more > 0) {
        let _ = write!(text, " and {more} more");
    }
    text
}

/// Which files of a bot's folder are looked at.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FileScope {
    /// The files with which it entered: others are new, and are left out.
    pub known: Option<Arc<FileList>>,
    /// They are left out.
    pub outputs: RunOutputs,
}

impl FileScope {
    pub(super) const NONE: Self = Self {
        known: None,
        outputs: RunOutputs::NONE,
    };
}

/// What was found in a bot's folder.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FileSet {
    pub list: FileList,
    /// Of all files.
    pub bytes: u64,
    /// The newest change of a file that counts.
    pub newest: Option<SystemTime>,
    /// From the known list, if there is one; new files are not in `list`.
    pub changes: Option<FileChanges>,
}

impl FileSet {
    /// Whether the bot is the one of the known list.
    pub fn is_as_known(&self, known: &FileList) -> bool {
        self.changes.as_ref().is_some_and(|changes| {
            let is_explained = self.list.hash == known.hash || !changes.left_out.is_empty();
            changes.changed.is_empty() && changes.gone.is_empty() && is_explained
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hash_is_read_as_it_is_written() {
        let hash = ContentHash([0xa7; 32]);
        assert_eq!(hash.to_string().parse(), Ok(hash));
        for text in ["", "zz", &"g".repeat(64), &"é".repeat(32)] {
            assert_eq!(text.parse::<ContentHash>(), Err(InvalidHash));
        }
    }

    #[test]
    fn changes_are_listed_up_to_a_bound() {
        let changes = FileChanges {
            changed: vec!["helper.py".to_owned()],
            new: (0..10).map(|n| format!("{n}.txt")).collect(),
            ..FileChanges::default()
        };
        assert_eq!(
            changes.to_string(),
            "helper.py has changed; 0.txt, 1.txt, 2.txt, 3.txt, 4.txt, 5.txt, 6.txt, 7.txt and 2 more are new"
        );
    }
}
