//! `referee report FILE…`: a page with standings, charts and every game.

use std::fs::{self, File};
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::cli::support::failure::Failure;
use crate::cli::support::interrupt::until_interrupted;
use crate::cli::support::pages::{LiveOption, add_file, damaged, write};
use crate::cli::support::setup::unreadable;
use crate::report::html;
use crate::report::serve::Feed;

/// How often files are looked at for new games.
const LOOK: Duration = Duration::from_millis(200);

#[derive(Debug, clap::Args)]
pub(in crate::cli) struct Args {
    /// Files of records, as --record writes them
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,

    /// Where to write the page; - for standard output
    #[arg(
        short,
        long,
        value_name = "FILE",
        default_value = "report.html",
        conflicts_with = "live"
    )]
    output: PathBuf,

    /// The page's heading; the files' names when it is not given
    #[arg(long)]
    title: Option<String>,

    /// Leave out what bots wrote to stderr, and their commands
    #[arg(long)]
    private: bool,

    #[command(flatten)]
    live: LiveOption,
}

/// The files' names without their endings.
fn title_of(files: &[PathBuf]) -> String {
    let names: Vec<_> = files
        .iter()
        .filter_map(|file| file.file_stem())
        .map(|name| name.to_string_lossy())
        .collect();
    names.join(", ")
}

pub(in crate::cli) fn run(args: &Args) -> Result<(), Failure> {
    let title = args.title.clone().unwrap_or_else(|| title_of(&args.files));
    let feed = Feed::new(html::Options {
        title,
        private: args.private,
        one: false,
    });
    if args.live.is_on() {
        return follow(args, &feed);
    }
    for path in &args.files {
        add_file(path, &feed)?;
    }
    not_over(&args.files, &args.output)?;
    write(&feed, &args.output)
}

/// Nobody wants a page in the place of the records that it was made from.
pub(in crate::cli) fn not_over(files: &[PathBuf], output: &Path) -> Result<(), Failure> {
    let Ok(target) = fs::canonicalize(output) else {
        return Ok(());
    };
    let is_target = |file: &&PathBuf| fs::canonicalize(file).is_ok_and(|file| file == target);
    match files.iter().find(is_target) {
        None => Ok(()),
        Some(file) => Err(Failure::Usage(format!(
            "{}: the page would replace the records it is made from; choose another file with -o",
            file.display()
        ))),
    }
}

/// Serves the page, and adds games as the files grow, until somebody ends it.
fn follow(args: &Args, feed: &Feed) -> Result<(), Failure> {
    let mut growing = args
        .files
        .iter()
        .map(|path| Growing::open(path))
        .collect::<Result<Vec<_>, Failure>>()?;
    for file in &mut growing {
        file.read(feed)?;
    }
    let server = args.live.serve(feed)?;
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()?;
    let followed = runtime.block_on(until_interrupted(async {
        loop {
            tokio::time::sleep(LOOK).await;
            for file in &mut growing {
                file.read(feed)?;
            }
        }
    }));
    if let Some(server) = server {
        server.stop();
    }
    followed
}

/// A file of records that somebody else writes to.
struct Growing {
    path: PathBuf,
    file: File,
    /// Bytes read so far.
    read: u64,
    /// The beginning of a line whose end is not there yet.
    partial: Vec<u8>,
    lines: u64,
}

impl Growing {
    fn open(path: &Path) -> Result<Self, Failure> {
        Ok(Self {
            file: File::open(path).map_err(|error| unreadable(path, &error))?,
            path: path.to_owned(),
            read: 0,
            partial: Vec::new(),
            lines: 0,
        })
    }

    /// Adds the games that have come.
    fn read(&mut self, feed: &Feed) -> Result<(), Failure> {
        let failed = |error| unreadable(&self.path, &error);
        let meta = self.file.metadata().map_err(failed)?;
        if meta.is_file() && meta.len() < self.read {
            return Err(Failure::Usage(format!(
                "{}: it has become shorter, from {} to {} bytes, while it was followed; start again",
                self.path.display(),
                self.read,
                meta.len()
            )));
        }
        let mut block = vec![0; 1 << 16];
        loop {
            let came = match self.file.read(&mut block) {
                Ok(0) => return Ok(()),
                Ok(came) => came,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => return Err(unreadable(&self.path, &error)),
            };
            self.read += came as u64;
            self.partial.extend_from_slice(&block[..came]);
            let Some(end) = self.partial.iter().rposition(|&byte| byte == b'\n') else {
                continue;
            };
            for line in self.partial[..end].split(|&byte| byte == b'\n') {
                self.lines += 1;
                feed.publish_line(line)
                    .map_err(|problem| damaged(&self.path, self.lines, &problem))?;
            }
            self.partial.drain(..=end);
        }
    }
}
