//! The log. Without options, warnings go to stderr; `--log` says what else; `--log-file` takes the log to a file and
//! leaves stderr the warnings.

use std::collections::BTreeMap;
use std::fs::{File, OpenOptions};
use std::path::PathBuf;
use std::sync::OnceLock;
use std::{env, fmt, io};

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

use super::failure::{Result, usage};
use super::output::{Notes, note};
use super::setup;
use referee::log_target;
use referee::report::terminal::Palette;
use referee::text::cause;

static LOG_FILE: OnceLock<LogFile> = OnceLock::new();

/// That of `--log-file`.
pub(crate) fn file() -> Option<PathBuf> {
    LOG_FILE.get().map(|file| file.path.clone())
}

pub(crate) fn finish(status: u8) {
    tracing::info!(target: log_target::COMMAND, status, "ended");
    if let Some(LogFile { path, problem, .. }) = LOG_FILE.get()
        && let Some(problem) = problem.get()
    {
        let path = path.display();
        note!("{path}: the log was not written completely: {problem}");
    }
}

#[derive(Debug, clap::Args)]
#[command(next_help_heading = "Diagnosis")]
pub(crate) struct LogOptions {
    #[arg(
        long,
        global = true,
        value_name = "LEVEL",
        hide_short_help = true,
        help = "How much to log; also --log-file and --log-format: see referee help log",
        long_help = "What to log: error, warn, info, debug or trace, or a filter such as `referee::wire=trace`; without \
                     it `RUST_LOG` decides [default: warn, with --log-file info]"
    )]
    log: Option<String>,

    /// Append the log to this file; only warnings then go to stderr
    #[arg(
        long,
        global = true,
        value_name = "FILE",
        hide_short_help = true,
        hide_long_help = true
    )]
    log_file: Option<PathBuf>,

    /// How the log is written
    #[arg(
        long,
        global = true,
        value_name = "FORMAT",
        default_value = "text",
        hide_short_help = true,
        hide_long_help = true
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
    pub(crate) fn are_given(&self) -> bool {
        self.log.is_some() || self.log_file.is_some()
    }

    /// [`finish`] completes the log.
    pub(crate) fn start(&self) -> Result<()> {
        let coloured = setup::palette(&io::stderr()) != Palette::default();
        let registry = tracing_subscriber::registry();
        if let Some(path) = &self.log_file {
            let filter = self.filter(LevelFilter::INFO)?;
            let file = OpenOptions::new().append(true).create(true).open(path);
            let file = file.map_err(|error| {
                usage!("--log-file {}", referee::text::unreadable(path, &error))
            })?;
            let file = LOG_FILE.get_or_init(|| LogFile {
                path: path.clone(),
                file,
                problem: OnceLock::new(),
            });
            let warnings = tracing_subscriber::fmt::layer()
                .compact()
                .with_writer(|| Notes)
                .with_ansi(coloured)
                .with_filter(LevelFilter::WARN);
            let layer = self.layer(move || file, false).with_filter(filter);
            registry.with(layer).with(warnings).init();
        } else {
            let filter = self.filter(LevelFilter::WARN)?;
            let layer = self.layer(|| Notes, coloured);
            registry.with(filter).with(layer).init();
        }
        tracing::info!(
            target: log_target::COMMAND,
            version = env!("CARGO_PKG_VERSION"),
            arguments = ?env::args_os().skip(1).collect::<Vec<_>>(),
            pid = std::process::id(),
            "begun"
        );
        Ok(())
    }

    fn filter(&self, default: LevelFilter) -> Result<Targets> {
        let filter: Targets = match &self.log {
            Some(level) => {
                // `Targets` would read a single word as the name of a module.
                let is_word = !level.contains(['=', ',']) && level.parse::<LevelFilter>().is_err();
                let parsed = match level.parse() {
                    Ok(_) if is_word => Err("no such level".to_owned()),
                    parsed => parsed.map_err(|error: ParseError| error.to_string()),
                };
                let expected = "error, warn, info, debug, trace or a filter such as referee=debug";
                parsed.map_err(|error| usage!("--log {level}: {error}; expected {expected}"))?
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

struct LogFile {
    path: PathBuf,
    file: File,
    problem: OnceLock<String>,
}

impl io::Write for &LogFile {
    fn write(&mut self, line: &[u8]) -> io::Result<usize> {
        if let Err(error) = (&self.file).write_all(line) {
            let _ = self.problem.set(cause(&error));
        }
        Ok(line.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
