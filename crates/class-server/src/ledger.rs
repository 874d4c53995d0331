//! What was handed in, and what became of it: a folder for each submission, which is complete before it is acknowledged.
//!
//! `submissions/KEY/NUMBER` has `submission.json`, the files as they were sent in `files`, and later `outcome.json` and
//! `check.json`.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use jiff::Timestamp;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use referee_class::league::state::VersionKey;
use referee_match::play::setup::now;
use referee_match::record::atomic_file::{replace, sync_directory};
use referee_match::record::text_file;

const SUBMISSIONS: &str = "submissions";

/// What is being received; emptied at the start.
const INCOMING: &str = "incoming";

/// Within the folder of a submission.
pub const FILES: &str = "files";

/// How a submission came.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Submission {
    pub number: u32,
    pub received: Timestamp,
    /// As they were sent.
    pub bytes: u64,
    pub names: Vec<String>,
    /// The number of the submission whose files these are.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub again: Option<u32>,
}

/// What the league made of a submission.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Outcome {
    /// A version, new or known.
    Taken(VersionKey),
    /// A sentence, with advice.
    Refused(String),
}

#[derive(Clone, Debug, Default, PartialEq)]
pub struct Entry {
    pub submission: Submission,
    /// `None`: it waits.
    pub outcome: Option<Outcome>,
}

/// What is on the disk, in bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DiskUsage {
    pub sent: u64,
    /// Unpacked and built.
    pub made: u64,
}

/// What has filled a quota.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Filled {
    Sent,
    Made,
}

impl DiskUsage {
    /// What has come to its quota: of what was sent, and of what was made of it.
    pub fn filled(self, [sent, made]: [u64; 2]) -> Option<Filled> {
        if self.sent >= sent {
            return Some(Filled::Sent);
        }
        (self.made >= made).then_some(Filled::Made)
    }
}

#[derive(Debug, thiserror::Error)]
#[error("{}: {}", .path.display(), referee_text::cause(.error))]
pub struct LedgerError {
    pub path: PathBuf,
    pub error: io::Error,
}

impl LedgerError {
    fn at(path: &Path) -> impl FnOnce(io::Error) -> Self {
        move |error| Self {
            path: path.to_owned(),
            error,
        }
    }
}

type Result<T> = std::result::Result<T, LedgerError>;

/// By the student's key, oldest first.
#[derive(Debug)]
pub struct Ledger {
    folder: PathBuf,
    entries: BTreeMap<String, Vec<Entry>>,
    /// In bytes: what versions take on the disk, unpacked and built.
    sizes: HashMap<VersionKey, u64>,
    /// What was found of versions, as `referee check --json` prints it.
    checks: HashMap<VersionKey, Arc<Value>>,
}

impl Ledger {
    /// What is in the folder of the server. What was being received when it ended is deleted: no student was told that it had
    /// come.
    pub fn read(folder: &Path) -> Result<Self> {
        let incoming = folder.join(INCOMING);
        text_file::if_there(fs::remove_dir_all(&incoming)).map_err(LedgerError::at(&incoming))?;
        fs::create_dir_all(&incoming).map_err(LedgerError::at(&incoming))?;
        let all = folder.join(SUBMISSIONS);
        fs::create_dir_all(&all).map_err(LedgerError::at(&all))?;
        sync_directory(folder).map_err(LedgerError::at(folder))?;
        let (mut entries, mut checks) = (BTreeMap::new(), HashMap::new());
        for (key, path) in folders(&all)? {
            let mut of_student = Vec::new();
            for (_, path) in folders(&path)? {
                if let Some(submission) = json_if_there(&path.join("submission.json"))? {
                    let outcome = json_if_there(&path.join("outcome.json"))?;
                    let check: Option<Value> = json_if_there(&path.join("check.json"))?;
                    let entry = Entry {
                        submission,
                        outcome,
                    };
                    if let (Some(version), Some(check)) = (entry.version(), check) {
                        checks.insert(version.clone(), Arc::new(check));
                    }
                    of_student.push(entry);
                }
            }
            of_student.sort_by_key(|entry| entry.submission.number);
            entries.insert(key, of_student);
        }
        Ok(Self {
            folder: folder.to_owned(),
            entries,
            sizes: HashMap::new(),
            checks,
        })
    }

    pub fn incoming(&self) -> PathBuf {
        self.folder.join(INCOMING)
    }

    pub fn path(&self, key: &str, number: u32) -> PathBuf {
        let of_student = self.folder.join(SUBMISSIONS).join(key);
        of_student.join(number.to_string())
    }

    /// Oldest first.
    pub fn of(&self, key: &str) -> &[Entry] {
        self.entries.get(key).map_or(&[], Vec::as_slice)
    }

    pub fn entry(&self, key: &str, number: u32) -> Option<&Entry> {
        let mut entries = self.of(key).iter();
        entries.find(|entry| entry.submission.number == number)
    }

    /// What this student has on the disk, each version once.
    pub fn usage_of(&self, key: &str) -> DiskUsage {
        let sent = self.of(key).iter().map(|entry| entry.submission.bytes);
        let versions: HashSet<&VersionKey> =
            self.of(key).iter().filter_map(Entry::version).collect();
        let made = versions
            .into_iter()
            .filter_map(|version| self.sizes.get(version));
        DiskUsage {
            sent: sent.sum(),
            made: made.sum(),
        }
    }

    /// All that were made of submissions.
    pub fn versions(&self) -> HashSet<VersionKey> {
        let entries = self.entries.values().flatten();
        entries.filter_map(Entry::version).cloned().collect()
    }

    /// What a version takes on the disk, in bytes.
    pub fn note_size(&mut self, version: &VersionKey, bytes: u64) {
        self.sizes.insert(version.clone(), bytes);
    }

    pub fn usage(&self) -> DiskUsage {
        let all = self.entries.keys().map(|key| self.usage_of(key));
        all.fold(DiskUsage::default(), |all, of| DiskUsage {
            sent: all.sent + of.sent,
            made: all.made + of.made,
        })
    }

    /// Those that wait, in the order in which they came.
    pub fn waiting(&self) -> Vec<(String, Submission)> {
        let all = self.entries.iter();
        let mut waiting: Vec<(String, Submission)> = all
            .flat_map(|(key, entries)| entries.iter().map(move |entry| (key, entry)))
            .filter(|(_, entry)| entry.outcome.is_none())
            .map(|(key, entry)| (key.clone(), entry.submission.clone()))
            .collect();
        waiting.sort_by_key(|(_, submission)| submission.received);
        waiting
    }

    /// Takes over a folder with [`FILES`], which are synced, as this student's next submission, with its number and the time
    /// of now. It counts when this returns.
    pub fn accept(&mut self, key: &str, staged: &Path, files: Submission) -> Result<Submission> {
        let number = self.of(key).last().map_or(0, |last| last.submission.number) + 1;
        let submission = Submission {
            number,
            received: now(),
            ..files
        };
        write(&staged.join("submission.json"), &submission)?;
        sync_directory(staged).map_err(LedgerError::at(staged))?;
        let path = self.path(key, number);
        let of_student = path.parent().unwrap_or(&self.folder).to_owned();
        if !of_student.exists() {
            fs::create_dir_all(&of_student).map_err(LedgerError::at(&of_student))?;
            let all = self.folder.join(SUBMISSIONS);
            sync_directory(&all).map_err(LedgerError::at(&all))?;
        }
        fs::rename(staged, &path).map_err(LedgerError::at(&path))?;
        sync_directory(&of_student).map_err(LedgerError::at(&of_student))?;
        self.entries.entry(key.to_owned()).or_default().push(Entry {
            submission: submission.clone(),
            outcome: None,
        });
        Ok(submission)
    }

    pub fn settle(&mut self, key: &str, number: u32, outcome: Outcome) -> Result<()> {
        let path = self.path(key, number);
        write(&path.join("outcome.json"), &outcome)?;
        sync_directory(&path).map_err(LedgerError::at(&path))?;
        let entries = self.entries.get_mut(key);
        let mut entries = entries.into_iter().flatten();
        if let Some(entry) = entries.find(|entry| entry.submission.number == number) {
            entry.outcome = Some(outcome);
        }
        Ok(())
    }

    /// Keeps what a check found, as `referee check --json` prints it, with each submission of the version.
    pub fn keep_check(&mut self, version: &VersionKey, check: &Value) -> Result<()> {
        for (key, entries) in &self.entries {
            for entry in entries.iter().filter(|entry| entry.is_of(version)) {
                let path = self.path(key, entry.submission.number);
                write(&path.join("check.json"), check)?;
            }
        }
        self.checks.insert(version.clone(), Arc::new(check.clone()));
        Ok(())
    }

    /// What the check of a version found, with whichever submission it came.
    pub fn check(&self, version: &VersionKey) -> Option<Arc<Value>> {
        self.checks.get(version).cloned()
    }
}

impl Entry {
    pub(super) fn version(&self) -> Option<&VersionKey> {
        match &self.outcome {
            Some(Outcome::Taken(version)) => Some(version),
            Some(Outcome::Refused(_)) | None => None,
        }
    }

    fn is_of(&self, version: &VersionKey) -> bool {
        self.version() == Some(version)
    }
}

fn folders(path: &Path) -> Result<Vec<(String, PathBuf)>> {
    let mut found = Vec::new();
    for entry in fs::read_dir(path).map_err(LedgerError::at(path))? {
        let path = entry.map_err(LedgerError::at(path))?.path();
        if let Some(name) = path.file_name().and_then(|name| name.to_str())
            && path.is_dir()
        {
            found.push((name.to_owned(), path.clone()));
        }
    }
    Ok(found)
}

fn json_if_there<T: DeserializeOwned>(path: &Path) -> Result<Option<T>> {
    let text = text_file::if_there(text_file::read(path, text_file::KEPT));
    let Some(text) = text.map_err(LedgerError::at(path))? else {
        return Ok(None);
    };
    let read = serde_json::from_str(&text).map_err(io::Error::from);
    read.map(Some).map_err(LedgerError::at(path))
}

fn write(path: &Path, content: &impl Serialize) -> Result<()> {
    let text = serde_json::to_vec(content).map_err(io::Error::from);
    let written = text.and_then(|text| replace(path, &text));
    written.map_err(LedgerError::at(path))
}

/// Copies the files of a submission, to be handed in again.
pub fn copy_files(from: &Path, to: &Path) -> io::Result<()> {
    fs::create_dir_all(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let place = to.join(entry.file_name());
        if entry.file_type()?.is_dir() {
            copy_files(&entry.path(), &place)?;
        } else {
            fs::copy(entry.path(), &place)?;
            File::open(&place)?.sync_all()?;
        }
    }
    sync_directory(to)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::limits;

    fn staged(ledger: &Ledger) -> PathBuf {
        let staged = ledger.incoming().join("x");
        fs::create_dir_all(staged.join(FILES)).unwrap();
        staged
    }

    fn version() -> VersionKey {
        VersionKey {
            folder: "anna".to_owned(),
            version: "1".to_owned(),
        }
    }

    fn files(names: &[&str], again: Option<u32>) -> Submission {
        Submission {
            bytes: 5,
            names: names.iter().map(|&name| name.to_owned()).collect(),
            again,
            ..Submission::default()
        }
    }

    #[test]
    fn what_was_accepted_is_there_after_a_restart_and_the_rest_is_not() {
        let folder = tempfile::tempdir().unwrap();
        let mut ledger = Ledger::read(folder.path()).unwrap();
        for number in 1..=2 {
            let staged = staged(&ledger);
            let accepted = ledger.accept("anna", &staged, files(&["a"], None));
            assert_eq!(accepted.unwrap().number, number);
        }
        ledger.settle("anna", 1, Outcome::Taken(version())).unwrap();
        let half = staged(&ledger);
        let ledger = Ledger::read(folder.path()).unwrap();
        assert!(!half.exists());
        assert_eq!(ledger.of("anna").len(), 2);
        let sent_twice = DiskUsage { sent: 10, made: 0 };
        assert_eq!(ledger.usage(), sent_twice);
        let waiting = ledger.waiting();
        assert_eq!(waiting.len(), 1);
        assert_eq!(waiting[0].1.number, 2);
    }

    #[test]
    fn a_version_is_on_the_disk_once() {
        let folder = tempfile::tempdir().unwrap();
        let mut ledger = Ledger::read(folder.path()).unwrap();
        for number in 1..=2 {
            let staged = staged(&ledger);
            ledger.accept("anna", &staged, files(&["a"], None)).unwrap();
            ledger
                .settle("anna", number, Outcome::Taken(version()))
                .unwrap();
        }
        ledger.note_size(&version(), 7);
        let usage = DiskUsage { sent: 10, made: 7 };
        assert_eq!(ledger.usage_of("anna"), usage);
        assert_eq!(ledger.usage(), usage);
        let none = DiskUsage::default();
        assert_eq!(ledger.usage_of("ben"), none);
        // What is made of files may be many times as large.
        let [least, most] = [limits::STUDENT_BYTES, limits::STUDENT_MADE_BYTES];
        let filled = |sent, made| DiskUsage { sent, made }.filled([least, most]);
        assert_eq!(filled(least - 1, most - 1), None);
        assert_eq!(filled(least, 0), Some(Filled::Sent));
        assert_eq!(filled(0, most), Some(Filled::Made));
    }

    #[test]
    fn the_same_files_have_one_check() {
        let folder = tempfile::tempdir().unwrap();
        let mut ledger = Ledger::read(folder.path()).unwrap();
        let first = staged(&ledger);
        ledger.accept("anna", &first, files(&[], None)).unwrap();
        ledger.settle("anna", 1, Outcome::Taken(version())).unwrap();
        ledger.keep_check(&version(), &Value::from("fit")).unwrap();
        let again = staged(&ledger);
        ledger.accept("anna", &again, files(&[], Some(1))).unwrap();
        ledger.settle("anna", 2, Outcome::Taken(version())).unwrap();
        let is_known = |ledger: &Ledger| {
            let check = ledger.check(&version());
            assert_eq!(check.as_deref(), Some(&Value::from("fit")));
        };
        is_known(&ledger);
        is_known(&Ledger::read(folder.path()).unwrap());
    }
}
