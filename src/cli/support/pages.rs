//! Pages of games: written to a file (`--report`), or served while the games are played (`--live`).
//! Open them before the first game, publish after each, from any thread, and finish when nothing else is left to do.

use std::fs;
use std::io::{self, Write as _};
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::failure::{Result, usage};
use super::folder::{Records, invalid, replace_file};
use super::output::{Stdout, note, print_stderr};
use super::setup::whole;
use super::signals;
use referee::bot::exhaustion::start_thread;
use referee::bot::human::Inbox;
use referee::bot::referee_files::REFEREE_FILES;
use referee::game::Ruleset;
use referee::play::stage::Stage;
use referee::record::Record;
use referee::record::atomic_file::{AtomicFile, directory_of};
use referee::report::html::{self, KeptLimit, ReportPage};
use referee::sandbox::EnforcedLimit;
use referee::server::{Feed, LiveState, Server, origin};
use referee::stats::standings::Ranking;
use referee::text::counted;
use referee::tournament::overview::TournamentOverview;

const LEFT: &str = "report.html";

#[derive(Clone, Debug, Default, clap::Args)]
pub(crate) struct PageOptions {
    /// Write a page of standings, charts and games to this file at the end
    #[arg(long, value_name = "FILE", help_heading = "Pages")]
    report: Option<PathBuf>,

    #[command(flatten)]
    pub(crate) live: LiveOptions,

    /// Exit after the games [default: serve the page of --live until Ctrl-C]
    #[arg(long, help_heading = "Pages", hide_short_help = true)]
    live_exit: bool,

    /// Leave what bots wrote to stderr, and their commands, out of pages
    ///
    /// What they answered stays in
    #[arg(long, help_heading = "Pages", hide_short_help = true)]
    private: bool,

    /// For the teacher of a league.
    #[arg(skip)]
    pub(crate) notes: Vec<[String; 3]>,
}

#[derive(Debug, Default)]
pub(crate) struct Pages {
    feed: Option<Arc<Feed>>,
    stage: Option<Stage>,
    server: Option<Server>,
    files: [Option<PathBuf>; 2],
    stays: bool,
}

impl PageOptions {
    /// To which this run writes.
    pub(crate) fn files(&self) -> Option<PathBuf> {
        self.report.clone()
    }

    pub(crate) const fn are_on(&self) -> bool {
        self.report.is_some() || self.live.is_on()
    }

    /// Refuses a report that cannot be written, or would replace something other than a page.
    pub(crate) fn check(&self, records: Option<&Path>) -> Result<()> {
        match &self.report {
            Some(report) => check_target(report, records),
            None => Ok(()),
        }
    }

    /// `game` draws its positions if it is a program.
    pub(crate) fn open(&self, of: &PagesOf<'_>, game: &Arc<dyn Ruleset>) -> Result<Pages> {
        self.check(of.records)?;
        if !self.are_on() {
            return Ok(Pages::default());
        }
        let feed = Feed::new(html::ReportPageOptions {
            title: of.title.to_owned(),
            private: self.private,
            limits: of
                .limits
                .iter()
                .map(|bound| KeptLimit {
                    limit: bound.limit.clone(),
                    strict: bound.wall,
                    by: bound.by.clone(),
                })
                .collect(),
            notes: self.notes.clone(),
            frame: self.live.live_frame.clone(),
            game: Some(Arc::clone(game)).filter(|game| game.program().is_some()),
            ..html::ReportPageOptions::default()
        });
        if let Some(path) = of.played.filter(|path| path.exists()) {
            add_file(path, &feed)?;
        }
        let kept = of.folder.filter(|_| self.live.is_on());
        Ok(Pages {
            stage: self.live.is_on().then(|| feed.stage(game)),
            server: self.live.serve(&feed)?,
            feed: Some(feed),
            files: [self.report.clone(), kept.map(|folder| folder.join(LEFT))],
            stays: !self.live_exit,
        })
    }
}

/// Whose games pages show.
#[derive(Clone, Copy, Default)]
pub(crate) struct PagesOf<'a> {
    pub(crate) title: &'a str,
    /// The journal of a resumed run, whose games are shown.
    pub(crate) played: Option<&'a Path>,
    /// The file that records are written to.
    pub(crate) records: Option<&'a Path>,
    /// Keeps a served page as `report.html`.
    pub(crate) folder: Option<&'a Path>,
    /// How the bots' limits are kept.
    pub(crate) limits: &'a [EnforcedLimit],
}

impl Pages {
    pub(crate) fn publish(&self, record: &Record) -> io::Result<()> {
        match &self.feed {
            Some(feed) => feed.publish(record).map_err(io::Error::other),
            None => Ok(()),
        }
    }

    /// Of a page that something else serves; at the end it is kept in this folder.
    #[cfg(feature = "class-server")]
    pub(crate) fn served_elsewhere(feed: &Arc<Feed>, stage: &Stage, folder: &Path) -> Self {
        Self {
            feed: Some(Arc::clone(feed)),
            stage: Some(stage.clone()),
            files: [None, Some(folder.join(LEFT))],
            ..Self::default()
        }
    }

    /// `None` without `--live`.
    pub(crate) fn stage(&self) -> Option<Stage> {
        self.stage.clone()
    }

    pub(crate) fn seat(&self, name: &str) -> Inbox {
        let inbox = Inbox::new(name.to_owned());
        if let (Some(feed), Some(server)) = (&self.feed, &self.server) {
            feed.seat(inbox.clone());
            print_stderr(&format!("play at {}#play={}", server.url(), inbox.secret()));
        }
        inbox
    }

    pub(crate) fn set_state(&self, state: LiveState) {
        if let Some(feed) = &self.feed {
            feed.set_state(state);
        }
    }

    /// `games`: with those of earlier runs.
    pub(crate) fn expect(&self, games: u64) {
        if let Some(feed) = &self.feed {
            feed.expect(games);
            feed.set_state(LiveState::Playing);
        }
    }

    /// Other games than were announced, with those of earlier runs.
    pub(crate) fn expect_instead(&self, games: u64) {
        if let Some(feed) = &self.feed {
            feed.expect_instead(games);
        }
    }

    pub(crate) fn rank(&self, now: impl FnOnce() -> (Ranking, TournamentOverview)) {
        if let Some(feed) = &self.feed {
            let (ranking, overview) = now();
            feed.set_ranking(ranking, Some(overview));
        }
    }

    pub(crate) fn begin_again(&self, played: &Path) -> Result<()> {
        let Some(feed) = &self.feed else {
            return Ok(());
        };
        feed.begin_again();
        add_file(played, feed)
    }

    /// Writes the page and stops serving; finished games are served until a signal, unless `--live-exit` was given.
    pub(crate) fn finish(self, is_complete: bool) -> Result<()> {
        let Some(feed) = &self.feed else {
            return Ok(());
        };
        // Of no games only what was asked for.
        let count = if feed.games() > 0 { 2 } else { 1 };
        let mut files = self.files.iter().take(count).flatten();
        let written = files.try_for_each(|path| write(&feed.report(), path));
        feed.set_state(if is_complete {
            LiveState::Finished
        } else {
            LiveState::Interrupted
        });
        let Some(server) = self.server else {
            return written;
        };
        if self.stays && is_complete && written.is_ok() {
            note!(
                "the page stays at {}; press Ctrl-C to end (--live-exit ends with the games)",
                server.url()
            );
            let mut stops = signals::heed();
            // A task may not block.
            let waiting = start_thread("signal", move || stops.blocking_recv())?;
            // A panic has been reported.
            let _ = waiting.join();
        }
        server.stop();
        written
    }
}

pub(crate) fn add_file(path: &Path, feed: &Feed) -> Result<()> {
    for record in Records::open(path)? {
        let (number, record) = record?;
        let published = feed.publish(&record);
        published.map_err(|problem| invalid(path, number, &problem))?;
    }
    Ok(())
}

/// Completely or not at all; `-` is stdout.
pub(crate) fn write(report: &ReportPage, path: &Path) -> Result<()> {
    let page = report.page()?;
    if let Some(why) = report.undrawn() {
        note!("{}: {why}", path.display());
    }
    let games = counted(report.games, "game", "games");
    write_file(path, &page, &format!("{games} of {} bots", report.bots()))
}

pub(crate) fn write_file(path: &Path, text: &str, content: &str) -> Result<()> {
    if path == Path::new("-") {
        return Ok(Stdout.write_all(text.as_bytes())?);
    }
    replace_file(path, text)?;
    let (path, size) = (path.display(), size(text.len()));
    print_stderr(&format!("{path}: {content}, {size}"));
    Ok(())
}

fn size(bytes: usize) -> String {
    match bytes {
        0..1_000_000 => format!("{} kB", bytes.div_ceil(1000)),
        _ => format!("{}.{} MB", bytes / 1_000_000, bytes % 1_000_000 / 100_000),
    }
}

const DEFAULT_PORT: u16 = 4416;

#[derive(Clone, Debug, Default, clap::Args)]
pub(crate) struct LiveOptions {
    /// Serve the page while games are played [default: 127.0.0.1:4416]
    ///
    /// To this machine alone; --live=0.0.0.0:8080 lets other machines watch
    #[arg(long, value_name = "ADDR", num_args = 0..=1, require_equals = true, default_missing_value = "127.0.0.1:4416", value_parser = address, help_heading = "Pages", hide_short_help = true)]
    live: Option<SocketAddr>,

    /// Let pages of this origin show the page of --live in a frame
    ///
    /// An origin is a scheme, a host and a port; all others are refused
    #[arg(long, value_name = "ORIGIN", requires = "live", value_parser = origin, help_heading = "Pages", hide_short_help = true)]
    pub(crate) live_frame: Option<String>,
}

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

impl LiveOptions {
    pub(crate) fn serve(&self, feed: &Arc<Feed>) -> Result<Option<Server>> {
        let Some(address) = self.live else {
            return Ok(None);
        };
        let server = Server::bind(address, Arc::clone(feed)).map_err(|error| {
            usage!(
                "--live={address}: {}; choose another address, or port 0 for any that is free",
                referee::text::cause(&error)
            )
        })?;
        print_stderr(&format!("watch at {}", server.url()));
        if !server.address.ip().is_loopback() {
            print_stderr(
                "  other machines can watch, too: by this machine's IP address, not by its name",
            );
            print_stderr("  the page shows what bots write to stderr, unless --private is given");
        }
        Ok(Some(server))
    }

    pub(crate) const fn is_on(&self) -> bool {
        self.live.is_some()
    }
}

/// Refuses a `path` that holds anything but a page.
fn check_target(path: &Path, records: Option<&Path>) -> Result<()> {
    let refused = |why: &str| Err(usage!("--report {}: {why}", path.display()));
    let is_stream = path == Path::new("-") || path.exists() && !path.is_file();
    if path.is_dir() {
        return refused("it is a directory; give a file within it");
    }
    if records.is_some_and(|records| whole(records) == whole(path)) {
        return refused("the page would replace the records; choose another file");
    }
    if is_stream {
        return Ok(());
    }
    if path.is_file() && !is_page(path).unwrap_or(false) {
        return refused(
            "there is another file, which is not a page of the referee; choose another name",
        );
    }
    // A page is written beside its place, then renamed.
    match AtomicFile::create(path) {
        Ok(_) => Ok(()),
        Err(error) => refused(&format!(
            "{}: {}; choose a place where you may write",
            directory_of(path).display(),
            referee::text::cause(&error)
        )),
    }
}

fn is_page(path: &Path) -> io::Result<bool> {
    Ok(path.metadata()?.len() == 0 || REFEREE_FILES.is_page(fs::File::open(path)?)?)
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
}
