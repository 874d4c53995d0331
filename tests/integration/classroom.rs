//! A class of students, in a folder of its own, for the tests of what teachers do with it.

use std::fs;
use std::path::PathBuf;

use serde_json::Value;

use crate::common::{Referee, Run};

/// A class in a folder of its own.
pub(crate) struct Class(tempfile::TempDir);

/// A bot that plays at random.
pub(crate) const RANDOM: &str = "#!/bin/sh\nexec \"$REFEREE_BIN\" bot random\n";

/// A bot that wins where it can.
pub(crate) const GREEDY: &str = "#!/bin/sh\nexec \"$REFEREE_BIN\" bot greedy\n";

/// A bot that answers nonsense.
pub(crate) const WRONG: &str = "#!/bin/sh\nwhile read -r line; do echo hello; done\n";

/// The settings of a small tournament.
pub(crate) const SETTINGS: [&str; 6] = ["--sandbox", "none", "--pairs", "1", "--seed", "1"];

impl Class {
    /// A class of these files.
    pub(crate) fn of(files: &[(&str, &str)]) -> Self {
        let class = Self(tempfile::tempdir().expect("a temporary directory"));
        for (name, text) in files {
            class.write(name, text);
        }
        class
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    pub(crate) fn write(&self, name: &str, text: &str) {
        let path = self.path(name);
        fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
        fs::write(path, text).expect("a file");
    }

    pub(crate) fn read(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).expect("a file")
    }

    pub(crate) fn json(&self, name: &str) -> Value {
        serde_json::from_str(&self.read(name)).expect("JSON")
    }

    /// A command run in the folder of the class.
    pub(crate) fn referee(&self, arguments: &[&str]) -> Referee {
        Referee::new(arguments).directory(self.0.path())
    }

    pub(crate) fn run(&self, arguments: &[&str]) -> Run {
        let run = self.referee(arguments).run();
        assert_eq!(run.code, Some(0), "{run}");
        run
    }

    /// A small tournament into `out`.
    pub(crate) fn tournament(&self, out: &str, arguments: &[&str]) -> Referee {
        self.referee(&[&["tournament"], &SETTINGS[..], &["--out", out], arguments].concat())
    }

    /// Plays a small tournament into `out`.
    pub(crate) fn play(&self, out: &str, arguments: &[&str]) -> Run {
        let run = self.tournament(out, arguments).run();
        assert_eq!(run.code, Some(0), "{run}");
        run
    }
}
