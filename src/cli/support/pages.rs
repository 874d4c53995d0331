//! Pages of games: written to a file, or served while the games are played. A command that plays
//! games uses it so:
//!
//! ```ignore
//! #[command(flatten)]
//! pages: pages::PageOptions,                             // --report FILE, --live[=ADDR], --private
//!
//! let pages = args.pages.open("Spring cup", Some(&journal), Some(&journal))?; // before the first game
//! pages.publish(&record)?;                           // after every game, from any thread
//! pages.finish(State::Finished)?;                    // at the end
//! ```

use std::fs;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::failure::{Failure, Unread};
use super::frame::FrameOption;
use super::live::LiveOption;
use super::output::{Pipe, Stdout, print_stderr};
use super::page_target::check_target;
use super::runtime::runtime;
use super::setup::unreadable;
use super::signals;
use crate::arena::course::Course;
use crate::bot::exhaustion::start_thread;
use crate::bot::spec::Program;
use crate::play::stage::Stage;
use crate::record::Record;
use crate::record::atomic_file::{self, directory_of};
use crate::record::reader::{Line, LineError, Reader};
use crate::report::html;
use crate::report::serve::{Feed, Server, State};
use crate::sandbox::{Bound, Confinement};
use crate::session::Ruleset;
use crate::text::counted;
use crate::tournament::standings::Ranking;

/// The page that is left in the folder of a tournament that was served.
const LEFT: &str = "report.html";

/// `--report`, `--live` and `--private` of a command that plays games.
#[derive(Clone, Debug, Default, clap::Args)]
#[command(next_help_heading = "Pages")]
pub(in crate::cli) struct PageOptions {
    /// Write a page with standings, charts and every game here when the games are over
    #[arg(long, value_name = "FILE")]
    report: Option<PathBuf>,

    #[command(flatten)]
    live: LiveOption,

    #[command(flatten)]
    live_frame: FrameOption,

    /// End when the games have ended; without it the page of --live is served until Ctrl-C
    #[arg(long)]
    live_exit: bool,

    /// Leave what bots wrote to stderr, and their commands, out of pages; what they answered stays in
    #[arg(long)]
    private: bool,
}

/// The pages of the games being played. Clones share a server, which serves until the last of them is finished.
#[derive(Clone, Debug)]
pub(in crate::cli) struct Pages {
    feed: Option<Feed>,
    /// Where the games that are being played are shown.
    stage: Option<Stage>,
    server: Option<Arc<Server>>,
    report: Option<PathBuf>,
    /// A page that is written because it was served.
    kept: Option<PathBuf>,
    /// Whether it is served after the games, until a signal.
    stays: bool,
}

impl PageOptions {
    /// The options as words of a command line.
    pub(in crate::cli) fn words(&self) -> Vec<String> {
        let mut words = Vec::new();
        if let Some(report) = &self.report {
            words.extend(["--report".to_owned(), report.to_string_lossy().into_owned()]);
        }
        words.extend(self.live.word());
        words.extend(self.live_frame.words());
        if self.live_exit {
            words.push("--live-exit".to_owned());
        }
        if self.private {
            words.push("--private".to_owned());
        }
        words
    }

    /// Refuses a report that could not be written when the games are over, or that would replace something
    /// other than a page. `coming` is a directory that is yet to be made.
    pub(in crate::cli) fn check(
        &self,
        records: Option<&Path>,
        coming: Option<&Path>,
    ) -> Result<(), Failure> {
        self.live_frame.check(&self.live)?;
        match &self.report {
            Some(report) => check_target(report, records, coming),
            None => Ok(()),
        }
    }

    /// Starts the pages. `played` is the journal of a resumed run, whose games are shown, too; `records`
    /// is the file that the records of these games are written to, `limits` says how those of the bots are
    /// kept. A page that is served is left as `report.html` in `folder`. `game` draws its positions, if it is a program. Refuses a report as [`PageOptions::check`] does.
    pub(in crate::cli) fn open(
        &self,
        title: &str,
        played: Option<&Path>,
        records: Option<&Path>,
        folder: Option<&Path>,
        limits: Vec<String>,
        game: &Arc<dyn Ruleset>,
    ) -> Result<Pages, Failure> {
        self.check(records, None)?;
        if self.report.is_none() && !self.live.is_on() {
            return Ok(Pages {
                feed: None,
                stage: None,
                server: None,
                report: None,
                kept: None,
                stays: false,
            });
        }
        let feed = Feed::new(html::Options {
            title: title.to_owned(),
            private: self.private,
            one: false,
            own: None,
            limits,
            skip_copies: false,
            frame: self.live_frame.origin(),
            game: Some(Arc::clone(game)).filter(|game| game.program().is_some()),
        });
        if let Some(path) = played.filter(|path| path.exists()) {
            add_file(path, &feed)?;
        }
        let stage = self.live.is_on().then(|| feed.stage(game));
        Ok(Pages {
            stage,
            server: self.live.serve(&feed)?.map(Arc::new),
            feed: Some(feed),
            report: self.report.clone(),
            kept: folder
                .filter(|_| self.live.is_on())
                .map(|folder| folder.join(LEFT)),
            stays: !self.live_exit,
        })
    }
}

/// How the limits of these programs are kept, a line each: those of the first that has any.
pub(in crate::cli) fn limits<'a>(programs: impl Iterator<Item = &'a Program>) -> Vec<String> {
    programs
        .filter_map(|program| program.confinement.as_ref())
        .map(Confinement::bounds)
        .find(|bounds| !bounds.is_empty())
        .map(|bounds| bounds.iter().map(Bound::line).collect())
        .unwrap_or_default()
}

impl Pages {
    /// Adds a finished game.
    pub(in crate::cli) fn publish(&self, record: &Record) -> io::Result<()> {
        match &self.feed {
            Some(feed) => feed
                .publish(record)
                .map_err(|problem| io::Error::new(io::ErrorKind::InvalidData, problem)),
            None => Ok(()),
        }
    }

    /// Where games are shown while they are played; `None` without `--live`.
    pub(in crate::cli) fn stage(&self) -> Option<Stage> {
        self.stage.clone()
    }

    /// Says how many games there will be in all, with those played before.
    pub(in crate::cli) fn expect(&self, games: u64) {
        if let Some(feed) = &self.feed {
            feed.expect(games);
        }
    }

    /// Orders the table of the pages by these rules, and shows how the tournament goes.
    pub(in crate::cli) fn rank(&self, now: impl FnOnce() -> (Ranking, Course)) {
        if let Some(feed) = &self.feed {
            let (ranking, course) = now();
            feed.set_ranking(ranking);
            feed.set_course(course);
        }
    }

    /// Shows the games of this file instead of those shown before.
    pub(in crate::cli) fn begin_again(&self, played: &Path) -> Result<(), Failure> {
        match &self.feed {
            Some(feed) => {
                feed.begin_again();
                add_file(played, feed)
            }
            None => Ok(()),
        }
    }

    /// Writes the page of `--report`, and stops serving: when the games are finished only after a signal, unless
    /// `--live-exit` was given. Call it when nothing else is left to do.
    pub(in crate::cli) fn finish(self, state: State) -> Result<(), Failure> {
        let Some(feed) = &self.feed else {
            return Ok(());
        };
        let written = [&self.report, &self.kept].into_iter().flatten();
        let written: Result<(), Failure> = written
            .filter(|path| feed.games() > 0 || Some(*path) != self.kept.as_ref())
            .try_for_each(|path| write(feed, path));
        let is_written = written.is_ok();
        self.stop(state, is_written)?;
        written
    }

    /// Stops serving as [`finish`](Self::finish) does, when the page has been written.
    pub(in crate::cli) fn close(self, state: State) -> Result<(), Failure> {
        self.stop(state, true)
    }

    fn stop(mut self, state: State, may_stay: bool) -> Result<(), Failure> {
        if let Some(feed) = &self.feed {
            feed.set_state(state);
        }
        if let Some(server) = self.server.take().and_then(Arc::into_inner) {
            if self.stays && state == State::Finished && may_stay {
                print_stderr(&format!(
                    "referee: the page stays at {}; press Ctrl-C to end (--live-exit ends with the games)",
                    server.url()
                ));
                wait_for_signal()?;
            }
            server.stop();
        }
        Ok(())
    }
}

/// Waits for Ctrl-C or another termination signal. On a thread of its own, as the caller may be within a runtime.
fn wait_for_signal() -> Result<(), Failure> {
    let mut signals = signals::heed();
    let runtime = runtime()?;
    let waiting = start_thread("signal", move || runtime.block_on(signals.recv()))?;
    // A panic there has been reported.
    let _ = waiting.join();
    Ok(())
}

/// Adds the games of a file, line by line.
pub(in crate::cli) fn add_file(path: &Path, feed: &Feed) -> Result<(), Failure> {
    let failed = |error| unreadable(path, &error);
    let mut reader = Reader::open(path).map_err(failed)?;
    while let Some(line) = reader.next_line().map_err(failed)? {
        match add_line(&line, feed) {
            Ok(()) => {}
            Err(torn @ LineError::Torn { .. }) => {
                print_stderr(&torn.to_string());
                break;
            }
            Err(error) => return Err(damaged(&error)),
        }
    }
    Ok(())
}

/// Adds the game of one line.
pub(in crate::cli) fn add_line(line: &Line<'_>, feed: &Feed) -> Result<(), LineError> {
    let published = feed.publish(&line.record()?);
    published.map_err(|problem| line.error(problem))
}

/// The failure for a line that holds no record.
pub(in crate::cli) fn damaged(error: &LineError) -> Failure {
    Failure::Usage(format!("{error}; correct the line or remove it"))
}

/// Writes the page of a feed: to a file, completely or not at all, or to standard output for `-`.
pub(in crate::cli) fn write(feed: &Feed, path: &Path) -> Result<(), Failure> {
    let page = feed.page().map_err(Failure::Usage)?;
    if let Some(why) = feed.undrawn() {
        print_stderr(&format!("referee: {}: {why}", path.display()));
    }
    write_file(path, &page, "page", || {
        let games = counted(feed.games(), "game", "games");
        format!("{games} of {} bots", feed.bots())
    })
}

/// Writes a page or a picture to a file, and says so on stderr with what is in it; to stdout for `-`.
pub(in crate::cli) fn write_file(
    path: &Path,
    text: &str,
    kind: &str,
    content: impl FnOnce() -> String,
) -> Result<(), Failure> {
    if path == Path::new("-") {
        return Ok(Stdout.write_all(text.as_bytes())?);
    }
    let directory = directory_of(path);
    if !directory.is_dir() {
        return Err(Failure::Usage(format!(
            "cannot write {}: there is no directory {}; create it first",
            path.display(),
            directory.display()
        )));
    }
    replace(path, text.as_bytes()).map_err(|error| {
        if Unread::is(&error) {
            print_stderr(&format!(
                "referee: {}: the {kind} was not written completely, since nobody read it",
                path.display()
            ));
            return Failure::Interrupted;
        }
        let fix = match error.kind() {
            io::ErrorKind::PermissionDenied => "; choose a place where you may write",
            io::ErrorKind::IsADirectory => "; give a file within it",
            _ => "",
        };
        Failure::Usage(format!(
            "cannot write {}: {error}{fix}",
            path.display(),
            error = crate::text::cause(&error)
        ))
    })?;
    print_stderr(&format!(
        "{}: {}, {}",
        path.display(),
        content(),
        size(text.len())
    ));
    Ok(())
}

fn size(bytes: usize) -> String {
    match bytes {
        0..1_000_000 => format!("{} kB", bytes.div_ceil(1000)),
        _ => format!("{}.{} MB", bytes / 1_000_000, bytes % 1_000_000 / 100_000),
    }
}

/// Replaces the file atomically: a process that has the old one open still reads it completely.
fn replace(path: &Path, bytes: &[u8]) -> io::Result<()> {
    if path.is_dir() {
        return Err(io::ErrorKind::IsADirectory.into());
    }
    if Pipe::is_at(path) {
        return Pipe::open(path)?.write(bytes);
    }
    if path.exists() && !path.is_file() {
        // A device is written to as it is.
        return fs::write(path, bytes);
    }
    atomic_file::replace(path, bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_rounded_to_readable_units() {
        assert_eq!(size(999), "1 kB");
        assert_eq!(size(95_001), "96 kB");
        assert_eq!(size(1_250_000), "1.2 MB");
    }
}
