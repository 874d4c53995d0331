//! What a teacher turns on and off in a class that hands in by the web. Each is a file in the folder of the class's server,
//! which is there while it is on: the server reads it, and commands set it while none runs.

use std::fs;
use std::path::{Path, PathBuf};

use referee_match::record::atomic_file::sync_directory;
use referee_match::record::text_file;
use referee_tournament::TournamentError;

/// The folder of the server, within that of the league.
pub const SERVER_FOLDER: &str = "server";

/// Off in a class that was never decided about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Switch {
    /// No submission is taken.
    Frozen,
    /// Visitors without a link may play against bots.
    OpenTables,
}

impl Switch {
    fn file(self, league: &Path) -> PathBuf {
        let name = match self {
            Self::Frozen => "frozen",
            Self::OpenTables => "open-tables",
        };
        league.join(SERVER_FOLDER).join(name)
    }

    pub fn is_on(self, league: &Path) -> bool {
        self.file(league).exists()
    }

    /// It is on the disk when this returns. `league`: its folder, which is locked.
    pub fn set(self, league: &Path, is_on: bool) -> Result<(), TournamentError> {
        let (folder, file) = (league.join(SERVER_FOLDER), self.file(league));
        fs::create_dir_all(&folder).map_err(TournamentError::io(&folder))?;
        let changed = if is_on {
            fs::write(&file, "")
        } else {
            text_file::if_there(fs::remove_file(&file)).map(drop)
        };
        changed.map_err(TournamentError::io(&file))?;
        sync_directory(&folder).map_err(TournamentError::io(&folder))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_is_turned_on_and_off_by_itself() {
        let league = tempfile::tempdir().unwrap();
        let are_on = || [Switch::Frozen, Switch::OpenTables].map(|one| one.is_on(league.path()));
        assert_eq!(are_on(), [false, false]);
        for (switch, is_on, expected) in [
            (Switch::Frozen, true, [true, false]),
            (Switch::Frozen, true, [true, false]),
            (Switch::OpenTables, true, [true, true]),
            (Switch::Frozen, false, [false, true]),
            (Switch::Frozen, false, [false, true]),
        ] {
            switch.set(league.path(), is_on).unwrap();
            assert_eq!(are_on(), expected, "{switch:?} {is_on}");
        }
    }
}
