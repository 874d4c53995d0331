//! The tournament that engines play, and how one machine plays it.

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::Value;
use tempfile::TempDir;

use super::processes::Process;
use crate::common::files::copy_program;
use crate::common::{Referee, bots};

/// The number of shards.
pub(crate) const SHARDS: u64 = 6;

/// A slow bot.
const STEADY: &str = "bots/steady.sh";

/// A shard with this many games played, of 12, counts as being in the middle.
const MIDDLE: usize = 3;

/// A folder of the test's own, with a planned tournament in it.
pub(crate) struct Tournament {
    folder: TempDir,
}

impl Tournament {
    /// Two bots are slow, so that there is time to kill something.
    pub(crate) fn planned() -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        // A private munged wants its socket to be reachable.
        set_mode(folder.path(), 0o755);
        // The folder that a bot's program is in is a part of the bot.
        fs::create_dir(folder.path().join("bots")).expect("a folder");
        let steady = folder.path().join(STEADY);
        copy_program(&bots().join("steady.sh"), &steady);
        let tournament = Self { folder };
        tournament.referee(&["shard", "plan"], "cup");
        tournament
    }

    fn referee(&self, command: &[&str], name: &str) {
        let run = Referee::new(command)
            .args(["--out", name])
            .args([STEADY, "builtin:random", "builtin:greedy", STEADY])
            .args(["--pairs", "6", "--seed", "11", "--sandbox", "none"])
            // They mostly sleep.
            .args(["--jobs", "8"])
            .directory(self.path())
            .run();
        assert_eq!(run.code, Some(0), "{run}");
    }

    pub(crate) fn path(&self) -> &Path {
        self.folder.path()
    }

    pub(crate) fn file(&self, name: &str) -> PathBuf {
        self.path().join(name)
    }

    pub(crate) fn read(&self, name: &str) -> String {
        fs::read_to_string(self.file(name)).unwrap_or_default()
    }

    /// Makes a bot another program than the plan says.
    pub(crate) fn change_a_bot(&self) {
        let mut text = self.read(STEADY);
        text.push_str("# changed\n");
        fs::write(self.file(STEADY), text).expect("a file");
    }

    /// A process that is in the middle of a shard, of those that `found` finds.
    pub(crate) fn in_the_middle(&self, found: impl Fn(&Process) -> bool) -> Option<Process> {
        Process::all().into_iter().find(|process| {
            let shard = process.shard().filter(|_| found(process));
            shard.is_some_and(|shard| {
                let games = self.games(shard);
                (MIDDLE..12).contains(&games)
            })
        })
    }

    /// How many games a shard has played.
    fn games(&self, shard: u64) -> usize {
        let journal = self.read(&format!("cup/shards/{shard}-of-{SHARDS}.jsonl"));
        journal.lines().count()
    }

    /// Checks that a shard was begun, played in part, and resumed.
    #[track_caller]
    pub(crate) fn was_resumed(&self, shard: u64) {
        let header = self.read(&format!("cup/shards/{shard}-of-{SHARDS}.header"));
        let starts: Vec<u64> = header
            .lines()
            .map(|line| {
                let start: Value = serde_json::from_str(line).expect("a header");
                start["after"].as_u64().expect("a number")
            })
            .collect();
        assert!(starts.len() >= 2, "{header}");
        assert_eq!(starts[0], 0);
        assert!(starts[1] >= MIDDLE as u64 && starts[1] < 12, "{starts:?}");
    }

    /// Checks that the games are those that one machine plays.
    #[track_caller]
    pub(crate) fn is_as_on_one_machine(&self) {
        self.referee(&["tournament"], "whole");
        for table in ["standings.csv", "standings.json", "crosstable.csv"] {
            let [cup, whole] = ["cup", "whole"].map(|name| self.read(&format!("{name}/{table}")));
            assert!(!whole.is_empty());
            assert_eq!(cup, whole, "{table}");
        }
        assert_eq!(self.records("cup"), self.records("whole"));
    }

    /// The records, sorted, without times.
    fn records(&self, name: &str) -> Vec<String> {
        let text = self.read(&format!("{name}/games.jsonl"));
        let mut records: Vec<String> = text
            .lines()
            .map(|line| {
                let mut record: Value = serde_json::from_str(line).expect("a record");
                let fields = record.as_object_mut().expect("an object");
                for clock in [
                    "times_ms",
                    "charged_ms",
                    "started",
                    "usage",
                    "voids",
                    "delayed",
                ] {
                    fields.remove(clock);
                }
                record.to_string()
            })
            .collect();
        records.sort();
        assert_eq!(records.len(), 72);
        records
    }
}

fn set_mode(path: &Path, mode: u32) {
    use std::os::unix::fs::PermissionsExt as _;
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).expect("it is ours");
}
