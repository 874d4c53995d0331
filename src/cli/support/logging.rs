//! The log. Without options, warnings go to stderr; `--log` says what else; `--log-file` takes the log to a file and
//! leaves stderr the warnings.

use std::collections::BTreeMap;
use std::fs::{File, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::{env, fmt};

use clap::ValueEnum;
use serde_json::{Map, Value, json};
use tracing_serde::fields::AsMap as _;
use tracing_subscriber::filter::{LevelFilter, ParseError, Targets};
use tracing_subscriber::fmt::format::{JsonFields, Writer};
use tracing_subscriber::fmt::time::{FormatTime as _, SystemTime};
use tracing_subscriber::fmt::{FmtContext, FormatEvent, FormattedFields, MakeWriter};
use tracing_subscriber::layer::SubscriberExt as _;
use tracing_subscriber::registry::{LookupSpan, Scope};
use tracing_subscriber::util::SubscriberInitExt as _;
use tracing_subscriber::{Layer, Registry};

use super::failure::Failure;
use super::output::{Notes, print_stderr};
use super::setup;
use crate::log_target;
use crate::report::terminal::Palette;
use crate::system::{is_unread_pipe, open_without_waiting};
use crate::text::{cause, counted, unreadable};

static LOG_FILE: OnceLock<LogFile> = OnceLock::new();

pub(in crate::cli) fn file() -> Option<&'static Path> {
    LOG_FILE.get().map(|file| file.path.as_path())
}

pub(in crate::cli) fn finish(status: u8) {
    tracing::info!(target: log_target::COMMAND, status, "ended");
    let Some(file) = LOG_FILE.get() else {
        return;
    };
    let lost = file.lost.load(Ordering::Relaxed);
    if lost > 0 {
        print_stderr(&format!(
            "referee: {}: {} of the log could not be written",
            file.path.display(),
            counted(lost, "line", "lines")
        ));
    }
}

fn log_begin() {
    tracing::info!(
        target: log_target::COMMAND,
        version = env!("CARGO_PKG_VERSION"),
        arguments = ?env::args_os().skip(1).collect::<Vec<_>>(),
        pid = std::process::id(),
        "begun"
    );
}

#[derive(Debug, clap::Args)]
pub(in crate::cli) struct LogOptions {
    /// What to log: error, warn, info, debug or trace, or a filter such as `referee::wire=trace`; without it `RUST_LOG` decides [default: warn, with --log-file info]
    #[arg(
        hide_short_help = true,
        long,
        global = true,
        value_name = "LEVEL",
        help_heading = "Diagnosis"
    )]
    log: Option<String>,

    /// Append the log to this file; only warnings then go to stderr
    #[arg(
        hide_short_help = true,
        long,
        global = true,
        value_name = "FILE",
        help_heading = "Diagnosis"
    )]
    log_file: Option<PathBuf>,

    /// How the log is written
    #[arg(
        hide_short_help = true,
        long,
        global = true,
        value_enum,
        value_name = "FORMAT",
        help_heading = "Diagnosis",
        default_value = "text"
    )]
    log_format: LogFormat,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum LogFormat {
    /// Lines for people
    Text,
    /// A JSON object a line
    Json,
}

impl LogOptions {
    /// On the command line.
    pub(in crate::cli) fn are_given(&self) -> bool {
        self.log.is_some() || self.log_file.is_some()
    }

    /// [`finish`] completes the log.
    pub(in crate::cli) fn start(&self) -> Result<(), Failure> {
        let Some(path) = &self.log_file else {
            let filter = self.filter(LevelFilter::WARN)?;
            tracing_subscriber::registry()
                .with(filter)
                .with(self.layer(|| Notes, setup::palette(&io::stderr()) != Palette::plain()))
                .init();
            log_begin();
            return Ok(());
        };
        let filter = self.filter(LevelFilter::INFO)?;
        let file = LogFile {
            path: path.clone(),
            file: open(path)?,
            lost: AtomicU64::new(0),
            has_failed: AtomicBool::new(false),
        };
        let file = LOG_FILE.get_or_init(|| file);
        let warnings = tracing_subscriber::fmt::layer()
            .compact()
            .with_writer(|| Notes)
            .with_ansi(setup::palette(&io::stderr()) != Palette::plain())
            .with_filter(LevelFilter::WARN);
        tracing_subscriber::registry()
            .with(self.layer(move || file, false).with_filter(filter))
            .with(warnings)
            .init();
        log_begin();
        Ok(())
    }

    fn filter(&self, default: LevelFilter) -> Result<Targets, Failure> {
        let filter: Targets = match &self.log {
            Some(level) => {
                let wrong = |error: &str| {
                    Failure::Usage(format!(
                        "--log {level}: {error}; expected error, warn, info, debug, trace or a filter such as referee=debug"
                    ))
                };
                // `Targets` would read a single word as the name of a module.
                if !level.contains(['=', ',']) && level.parse::<LevelFilter>().is_err() {
                    return Err(wrong("no such level"));
                }
                level
                    .parse()
                    .map_err(|error: ParseError| wrong(&error.to_string()))?
            }
            // It may be meant for other programs: errors are ignored.
            None => env::var("RUST_LOG")
                .ok()
                .filter(|text| !text.is_empty())
                .and_then(|text| text.parse().ok())
                .unwrap_or_else(|| Targets::new().with_default(default)),
        };
        // Events of a game name it only where its spans are logged.
        if Layer::<Registry>::max_level_hint(&filter) < Some(LevelFilter::INFO) {
            return Ok(filter);
        }
        Ok(filter.with_target(log_target::SPAN, LevelFilter::INFO))
    }

    fn layer<S, W>(&self, writer: W, coloured: bool) -> Box<dyn Layer<S> + Send + Sync>
    where
        S: tracing::Subscriber + for<'span> LookupSpan<'span>,
        W: for<'writer> MakeWriter<'writer> + Send + Sync + 'static,
    {
        match self.log_format {
            LogFormat::Text => tracing_subscriber::fmt::layer()
                .compact()
                .with_writer(writer)
                .with_ansi(coloured)
                .boxed(),
            LogFormat::Json => tracing_subscriber::fmt::layer()
                .fmt_fields(JsonFields::new())
                .event_format(JsonLine)
                .with_writer(writer)
                .boxed(),
        }
    }
}

/// A JSON object a line, with the fields of all spans in one.
struct JsonLine;

impl<S> FormatEvent<S, JsonFields> for JsonLine
where
    S: tracing::Subscriber + for<'span> LookupSpan<'span>,
{
    fn format_event(
        &self,
        context: &FmtContext<'_, S, JsonFields>,
        mut writer: Writer<'_>,
        event: &tracing::Event<'_>,
    ) -> fmt::Result {
        let mut span: BTreeMap<String, Value> = BTreeMap::new();
        for part in context.event_scope().into_iter().flat_map(Scope::from_root) {
            if let Some(fields) = part.extensions().get::<FormattedFields<JsonFields>>() {
                let fields: Map<_, _> = serde_json::from_str(fields).map_err(|_| fmt::Error)?;
                span.extend(fields);
            }
            span.insert("name".to_owned(), part.name().into());
        }
        let mut timestamp = String::new();
        SystemTime.format_time(&mut Writer::new(&mut timestamp))?;
        let line = json!({
            "fields": event.field_map(),
            "level": event.metadata().level().as_str(),
            "span": span,
            "target": event.metadata().target(),
            "timestamp": timestamp,
        });
        writeln!(writer, "{line}")
    }
}

/// An error costs the lines that it concerns, and is said once; the games go on.
#[derive(Debug)]
struct LogFile {
    path: PathBuf,
    file: File,
    lost: AtomicU64,
    has_failed: AtomicBool,
}

/// Each call writes a line.
impl io::Write for &LogFile {
    fn write(&mut self, line: &[u8]) -> io::Result<usize> {
        let Err(error) = io::Write::write_all(&mut &self.file, line) else {
            return Ok(line.len());
        };
        self.lost.fetch_add(1, Ordering::Relaxed);
        // A pipe that is full for now.
        let is_full = error.kind() == io::ErrorKind::WouldBlock;
        if !is_full && !self.has_failed.swap(true, Ordering::Relaxed) {
            print_stderr(&format!(
                "referee: {}: the log cannot be written: {}; the games go on without it",
                self.path.display(),
                cause(&error)
            ));
        }
        Ok(line.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Opens the file for appending. It may be anything but a file of records: a pipe without a reader is
/// an error instead of a wait.
fn open(path: &Path) -> Result<File, Failure> {
    let unreadable = |error: io::Error| {
        let text = unreadable(path, &error);
        Failure::Usage(format!("--log-file {text}"))
    };
    let mut options = OpenOptions::new();
    options.append(true).create(true);
    open_without_waiting(&mut options);
    let file = options.open(path).map_err(|error| {
        if is_unread_pipe(&error) {
            return Failure::Usage(format!(
                "--log-file {}: nobody reads from this pipe; start its reader first",
                path.display()
            ));
        }
        unreadable(error)
    })?;
    let is_file = file.metadata().map_err(unreadable)?.is_file();
    if is_file && holds_records(path) {
        return Err(Failure::Usage(format!(
            "--log-file {}: it is a file of records; choose another file",
            path.display()
        )));
    }
    Ok(file)
}

/// Whether a file begins with a record.
fn holds_records(path: &Path) -> bool {
    let mut start = [0; 64];
    let read = File::open(path).and_then(|mut file| io::Read::read(&mut file, &mut start));
    let start = &start[..read.unwrap_or(0)];
    let text = String::from_utf8_lossy(start);
    let compact: String = text.split_ascii_whitespace().collect();
    compact.starts_with("{\"v\":")
}
