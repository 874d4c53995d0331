//! The file of `--record`: one line per game, appended when the game ends.

use std::fs::OpenOptions;

use super::output::caught_up;
use super::pages::Pages;
use super::prelude::*;
use referee::play::GameEvent;
use referee::play::stage::Table;
use referee::record::journal::{Journal, LINGERING_LOCK, OpenError};
use referee::report::terminal_view::TerminalView;

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

/// What becomes of a match besides the view of it.
pub(crate) struct Recorded<O, E> {
    pub(crate) view: TerminalView<O, E>,
    pub(crate) file: Option<RecordFile>,
    pub(crate) pages: Pages,
    pub(crate) table: Option<Table>,
    pub(crate) bar: Option<ProgressBar>,
}

impl<O: io::Write, E: io::Write> Recorded<O, E> {
    pub(crate) fn note(&mut self, event: &GameEvent<'_>) -> io::Result<()> {
        if let Some(table) = &mut self.table {
            table.note(event);
        }
        if let GameEvent::Ended { game, .. } = event {
            if let Some(RecordFile { path, journal }) = &mut self.file {
                journal.append(game.line()).map_err(|error| {
                    let (path, cause) = (path.display(), referee::text::cause(&error));
                    io::Error::other(format!("{path}: cannot write the record: {cause}"))
                })?;
            }
            self.pages.publish(game.record())?;
        }
        let is_warning = matches!(
            event,
            GameEvent::Benched { .. } | GameEvent::Ended { fault: Some(_), .. }
        );
        if let Some(bar) = self.bar.as_ref().filter(|_| is_warning) {
            bar.line.clear();
        }
        self.view.note(event)?;
        if !matches!(event, GameEvent::Ended { .. }) {
            return Ok(());
        }
        if let Some(bar) = &self.bar {
            bar.inc();
        }
        caught_up()
    }
}
