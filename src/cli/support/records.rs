//! The file of `--record`: one line per game, appended when the game ends.

use std::fs::OpenOptions;

use super::output::caught_up;
use super::pages::Pages;
use super::prelude::*;
use referee::bot::info::Info;
use referee::game::Side;
use referee::play::GameObserver;
use referee::play::clock::Clock;
use referee::play::match_runner::{MatchGame, MatchObserver};
use referee::play::setup::GameSetup;
use referee::play::stage::Table;
use referee::record::journal::{Journal, LINGERING_LOCK, OpenError};

pub(crate) struct RecordFile {
    path: PathBuf,
    journal: Journal,
}

impl RecordFile {
    /// Moves an incomplete last line, as a crash leaves it, to `FILE.cut`. Waits for the reader of a named pipe.
    pub(crate) fn open(path: &Path) -> Result<Self> {
        let is_pipe = fs::metadata(path).is_ok_and(|meta| !meta.is_file() && !meta.is_dir());
        // Held until the journal is open.
        let _pipe = is_pipe.then(|| OpenOptions::new().append(true).open(path));
        let (journal, torn) =
            Journal::open_within(path, LINGERING_LOCK).map_err(|error| match error {
                OpenError::Io { error, .. } => unreadable(path, &error),
                error @ (OpenError::Locked { .. } | OpenError::Foreign { .. }) => {
                    Failure::Usage(error.to_string())
                }
            })?;
        if let Some(torn) = torn {
            tracing::warn!(
                "{}: the last line was incomplete; its {} bytes are now in {}",
                path.display(),
                torn.bytes,
                torn.kept_in.display()
            );
        }
        Ok(Self {
            path: path.to_owned(),
            journal,
        })
    }
}

pub(crate) struct Recorded<F> {
    pub(crate) inner: F,
    pub(crate) file: Option<RecordFile>,
    pub(crate) pages: Pages,
    pub(crate) table: Option<Table>,
    pub(crate) bar: Option<ProgressBar>,
}

impl<F: GameObserver> GameObserver for Recorded<F> {
    fn begins(&mut self, setup: &GameSetup<'_>, start: &dyn Game) -> io::Result<()> {
        if let Some(table) = &mut self.table {
            table.begins(setup, start)?;
        }
        self.inner.begins(setup, start)
    }

    fn to_move(&mut self, side: Side, clocks: &[Clock; 2]) -> io::Result<()> {
        if let Some(table) = &mut self.table {
            table.to_move(side, clocks)?;
        }
        self.inner.to_move(side, clocks)
    }

    fn asked(&mut self, side: Side, request: &str) -> io::Result<()> {
        self.inner.asked(side, request)
    }

    fn answered(&mut self, side: Side, line: &[u8], elapsed: Duration) -> io::Result<()> {
        self.inner.answered(side, line, elapsed)
    }

    fn info(&mut self, side: Side, info: &Info) -> io::Result<()> {
        self.inner.info(side, info)
    }

    fn turn(
        &mut self,
        side: Side,
        turn: &str,
        after: &dyn Game,
        elapsed: Duration,
    ) -> io::Result<()> {
        if let Some(table) = &mut self.table {
            table.turn(side, turn, after, elapsed)?;
        }
        self.inner.turn(side, turn, after, elapsed)
    }

    fn stalled(&mut self, why: &str, again: bool) -> io::Result<()> {
        self.inner.stalled(why, again)
    }
}

impl<F: MatchObserver> MatchObserver for Recorded<F> {
    fn ended(&mut self, game: &MatchGame<'_>) -> io::Result<()> {
        if let Some(RecordFile { path, journal }) = &mut self.file {
            journal.append(game.finished.line()).map_err(|error| {
                let (path, cause) = (path.display(), referee::text::cause(&error));
                io::Error::other(format!("{path}: cannot write the record: {cause}"))
            })?;
        }
        if let Some(table) = &mut self.table {
            table.leave();
        }
        self.pages.publish(game.record())?;
        if let Some(bar) = self.bar.as_ref().filter(|_| game.fault.is_some()) {
            bar.line.clear();
        }
        self.inner.ended(game)?;
        if let Some(bar) = &self.bar {
            bar.inc();
        }
        caught_up()
    }

    fn benched(&mut self, bot: BotIndex, failures: u32, games_left: u64) -> io::Result<()> {
        if let Some(bar) = &self.bar {
            bar.line.clear();
        }
        self.inner.benched(bot, failures, games_left)
    }
}
