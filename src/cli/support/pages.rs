//! Pages of games: written to a file, or served while the games are played. A command that plays
//! games uses it so:
//!
//! ```ignore
//! #[command(flatten)]
//! pages: pages::PageOptions,                             // --report FILE, --live[=ADDR], --private
//!
//! let pages = args.pages.open("Spring cup", Some(&journal), Some(&journal))?; // before the first game
//! pages.publish(&record)?;                           // after every game, from any thread
//! pages.finish()?;                                   // at the end, interrupted or not
//! ```

use std::fs;
use std::io::{self, Write as _};
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde::{Deserialize, Deserializer};

use super::config_values::parsed;
use super::failure::{Failure, Unread};
use super::output::{Pipe, Stdout, print_stderr};
use super::page_target::check_target;
use super::setup::unreadable;
use crate::bot::spec::Program;
use crate::record::Record;
use crate::record::atomic_file::{self, directory_of};
use crate::record::reader::{Line, LineError, Reader};
use crate::report::html;
use crate::report::serve::{Feed, Server};
use crate::sandbox::{Bound, Confinement};
use crate::text::counted;
use crate::tournament::standings::Ranking;

/// The default port of a served page.
const DEFAULT_PORT: u16 = 4416;

/// `--report`, `--live` and `--private` of a command that plays games; in a configuration file
/// they are the table `[pages]`.
#[derive(Clone, Debug, Default, clap::Args, Deserialize)]
#[command(next_help_heading = "Pages")]
#[serde(default, rename_all = "kebab-case", deny_unknown_fields)]
pub(in crate::cli) struct PageOptions {
    /// Write a page with standings, charts and every game here when the games are over
    #[arg(long, value_name = "FILE")]
    report: Option<PathBuf>,

    #[command(flatten)]
    live: LiveOption,

    /// Leave what bots wrote to stderr, and their commands, out of pages
    #[arg(long)]
    private: bool,
}

/// `--live`
#[derive(Clone, Debug, Default, clap::Args)]
pub(in crate::cli) struct LiveOption {
    /// Serve the page while games are played, at 127.0.0.1:4416 or the given address: --live=0.0.0.0:8080 lets other machines watch
    #[arg(
        long,
        value_name = "ADDR",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "127.0.0.1:4416",
        value_parser = address
    )]
    live: Option<SocketAddr>,
}

impl<'de> Deserialize<'de> for LiveOption {
    /// An address, as on the command line.
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let live = parsed(deserializer, address)?;
        Ok(Self { live })
    }
}

/// Parses an address with or without its port, or a port alone.
fn address(text: &str) -> Result<SocketAddr, String> {
    let text = text.strip_prefix("localhost").map_or_else(
        || text.to_owned(),
        |rest| format!("{}{rest}", Ipv4Addr::LOCALHOST),
    );
    let ip: Result<IpAddr, _> = text.trim_start_matches('[').trim_end_matches(']').parse();
    if let Ok(ip) = ip {
        return Ok(SocketAddr::new(ip, DEFAULT_PORT));
    }
    if let Ok(port) = text.trim_start_matches(':').parse() {
        return Ok(SocketAddr::new(Ipv4Addr::LOCALHOST.into(), port));
    }
    text.parse().map_err(|_| {
        "expected an address, a port or both, such as 127.0.0.1:4416, 8080 or [::1]:4416".to_owned()
    })
}

impl LiveOption {
    /// Serves a feed, if `--live` was given, and prints its address.
    pub(in crate::cli) fn serve(&self, feed: &Feed) -> Result<Option<Server>, Failure> {
        let Some(address) = self.live else {
            return Ok(None);
        };
        let server = Server::bind(address, feed.clone()).map_err(|error| {
            let fix = match error.kind() {
                io::ErrorKind::AddrInUse => {
                    "; choose another port, or --live=0 for any that is free"
                }
                io::ErrorKind::AddrNotAvailable => "; choose an address of this machine",
                io::ErrorKind::PermissionDenied => "; choose a port above 1023",
                _ => "",
            };
            Failure::Usage(format!(
                "--live={address}: {error}{fix}",
                error = crate::text::cause(&error)
            ))
        })?;
        print_stderr(&format!("watch at {}", server.url()));
        if !server.address().ip().is_loopback() {
            print_stderr(
                "  other machines can watch, too: by this machine's IP address, not by its name",
            );
            print_stderr("  the page shows what bots write to stderr, unless --private is given");
        }
        Ok(Some(server))
    }

    /// The option as a word of a command line.
    fn word(&self) -> Option<String> {
        self.live.map(|address| format!("--live={address}"))
    }

    /// Whether `--live` was given.
    pub(in crate::cli) const fn is_on(&self) -> bool {
        self.live.is_some()
    }
}

/// The pages of the games being played. Clones share a server, which serves until the last of them is finished.
#[derive(Clone, Debug)]
pub(in crate::cli) struct Pages {
    feed: Option<Feed>,
    server: Option<Arc<Server>>,
    report: Option<PathBuf>,
}

impl PageOptions {
    /// These options, with those of a file where these are not given.
    pub(in crate::cli) fn or(self, file: Self) -> Self {
        Self {
            report: self.report.or(file.report),
            live: LiveOption {
                live: self.live.live.or(file.live.live),
            },
            private: self.private || file.private,
        }
    }

    /// The options as words of a command line.
    pub(in crate::cli) fn words(&self) -> Vec<String> {
        let mut words = Vec::new();
        if let Some(report) = &self.report {
            words.extend(["--report".to_owned(), report.to_string_lossy().into_owned()]);
        }
        words.extend(self.live.word());
        if self.private {
            words.push("--private".to_owned());
        }
        words
    }

    /// Resolves relative paths against `base`.
    pub(in crate::cli) fn relative_to(&mut self, base: &Path) {
        if let Some(report) = &mut self.report {
            *report = base.join(&*report);
        }
    }

    /// Refuses a report that could not be written when the games are over, or that would replace something
    /// other than a page. `coming` is a directory that is yet to be made.
    pub(in crate::cli) fn check(
        &self,
        records: Option<&Path>,
        coming: Option<&Path>,
    ) -> Result<(), Failure> {
        match &self.report {
            Some(report) => check_target(report, records, coming),
            None => Ok(()),
        }
    }

    /// Starts the pages. `played` is the journal of a resumed run, whose games are shown, too; `records`
    /// is the file that the records of these games are written to, `limits` says how those of the bots are
    /// kept. Refuses a report as [`PageOptions::check`] does.
    pub(in crate::cli) fn open(
        &self,
        title: &str,
        played: Option<&Path>,
        records: Option<&Path>,
        limits: Vec<String>,
    ) -> Result<Pages, Failure> {
        self.check(records, None)?;
        if self.report.is_none() && !self.live.is_on() {
            return Ok(Pages {
                feed: None,
                server: None,
                report: None,
            });
        }
        let feed = Feed::new(html::Options {
            title: title.to_owned(),
            private: self.private,
            one: false,
            limits,
            skip_copies: false,
        });
        if let Some(path) = played.filter(|path| path.exists()) {
            add_file(path, &feed)?;
        }
        Ok(Pages {
            server: self.live.serve(&feed)?.map(Arc::new),
            feed: Some(feed),
            report: self.report.clone(),
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

    /// Orders the table of the pages by these rules.
    pub(in crate::cli) fn rank(&self, ranking: impl FnOnce() -> Ranking) {
        if let Some(feed) = &self.feed {
            feed.set_ranking(ranking());
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

    /// Writes the page of `--report` and stops serving.
    pub(in crate::cli) fn finish(mut self) -> Result<(), Failure> {
        if let (Some(feed), Some(path)) = (&self.feed, &self.report) {
            write(feed, path)?;
        }
        if let Some(server) = self.server.take().and_then(Arc::into_inner) {
            server.stop();
        }
        Ok(())
    }
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
    if path == Path::new("-") {
        return Ok(Stdout.write_all(page.as_bytes())?);
    }
    let directory = directory_of(path);
    if !directory.is_dir() {
        return Err(Failure::Usage(format!(
            "cannot write {}: there is no directory {}; create it first",
            path.display(),
            directory.display()
        )));
    }
    replace(path, page.as_bytes()).map_err(|error| {
        if Unread::is(&error) {
            print_stderr(&format!(
                "referee: {}: the page was not written completely, since nobody read it",
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
        "{}: {} of {} bots, {}",
        path.display(),
        counted(feed.games(), "game", "games"),
        feed.bots(),
        size(page.len())
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
        let pipe = Pipe::open(path)?;
        pipe.push(bytes)?;
        return pipe.wait();
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
    fn addresses_may_be_short() {
        for (text, expected) in [
            ("127.0.0.1:80", "127.0.0.1:80"),
            ("0.0.0.0", "0.0.0.0:4416"),
            ("8080", "127.0.0.1:8080"),
            (":0", "127.0.0.1:0"),
            ("localhost", "127.0.0.1:4416"),
            ("localhost:9", "127.0.0.1:9"),
            ("[::1]:9", "[::1]:9"),
            ("[::1]", "[::1]:4416"),
            ("::1", "[::1]:4416"),
        ] {
            assert_eq!(
                address(text).map(|a| a.to_string()),
                Ok(expected.to_owned()),
                "{text}"
            );
        }
        for text in [
            "",
            "example.org:80",
            "games.jsonl",
            "99999",
            "1.2.3.4:99999",
        ] {
            assert!(address(text).is_err(), "{text}");
        }
    }

    #[test]
    fn sizes_are_rounded_to_readable_units() {
        assert_eq!(size(999), "1 kB");
        assert_eq!(size(95_001), "96 kB");
        assert_eq!(size(1_250_000), "1.2 MB");
    }
}
