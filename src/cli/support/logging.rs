//! The log: `--log`, `--log-file`, `--log-format` and `RUST_LOG`.
//!
//! Without options, warnings go to stderr. `--log` says what else; `--log-file` takes the log to a
//! file, and leaves stderr its warnings.

use std::env;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use clap::ValueEnum;
use json_subscriber::JsonLayer;
use tracing_subscriber::filter::LevelFilter;
use tracing_subscriber::fmt::MakeWriter;
use tracing_subscriber::fmt::time::SystemTime;
use tracing_subscriber::layer::SubscriberExt as _;
use tracing_subscriber::registry::LookupSpan;
use tracing_subscriber::util::SubscriberInitExt as _;
use tracing_subscriber::{EnvFilter, Layer};

use super::failure::Failure;
use super::log_file::LogFile;
use super::output::Notes;
use super::setup;
use crate::log_target;
use crate::report::terminal::Palette;

/// The file of `--log-file`, and its path.
static LOG_FILE: OnceLock<(PathBuf, LogFile)> = OnceLock::new();

/// The path of `--log-file`, if it was given.
pub(in crate::cli) fn file() -> Option<&'static Path> {
    LOG_FILE.get().map(|(path, _)| path.as_path())
}

/// Completes the log, at the end of the program.
pub(in crate::cli) fn finish(status: u8) {
    tracing::info!(target: log_target::COMMAND, status, "ended");
    if let Some((_, file)) = LOG_FILE.get() {
        file.finish();
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

/// The options of all commands.
#[derive(Debug, clap::Args)]
pub(in crate::cli) struct LogOptions {
    /// What to log: error, warn, info, debug or trace, or a filter such as `referee::wire=trace`; without it `RUST_LOG` decides [default: warn, with --log-file info]
    #[arg(long, global = true, value_name = "LEVEL", help_heading = "Diagnosis")]
    log: Option<String>,

    /// Append the log to this file; only warnings then go to stderr
    #[arg(long, global = true, value_name = "FILE", help_heading = "Diagnosis")]
    log_file: Option<PathBuf>,

    /// How the log is written
    #[arg(
        long,
        global = true,
        value_enum,
        value_name = "FORMAT",
        help_heading = "Diagnosis",
        default_value = "text"
    )]
    log_format: LogFormat,
}

/// `--log-format`
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum LogFormat {
    /// Lines for people
    Text,
    /// A JSON object a line
    Json,
}

impl LogOptions {
    /// Whether anything was asked for on the command line.
    pub(in crate::cli) fn are_given(&self) -> bool {
        self.log.is_some() || self.log_file.is_some()
    }

    /// Starts the log; [`finish`] completes it.
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
        let (file, queue) = LogFile::open(path)?;
        let warnings = tracing_subscriber::fmt::layer()
            .compact()
            .with_writer(|| Notes)
            .with_ansi(setup::palette(&io::stderr()) != Palette::plain())
            .with_filter(LevelFilter::WARN);
        tracing_subscriber::registry()
            .with(self.layer(queue, false).with_filter(filter))
            .with(warnings)
            .init();
        let _ = LOG_FILE.set((path.clone(), file));
        log_begin();
        Ok(())
    }

    /// What is logged.
    fn filter(&self, default: LevelFilter) -> Result<EnvFilter, Failure> {
        let filter = match &self.log {
            Some(level) => {
                let wrong = |error: &str| {
                    Failure::Usage(format!(
                        "--log {level}: {error}; expected error, warn, info, debug, trace or a filter such as referee=debug"
                    ))
                };
                // `EnvFilter` would read a single word as the name of a module.
                if !level.contains(['=', ',', '[']) && level.parse::<LevelFilter>().is_err() {
                    return Err(wrong("no such level"));
                }
                let filter = EnvFilter::builder().parse(level);
                filter.map_err(|error| wrong(&error.to_string()))?
            }
            None => EnvFilter::builder()
                .with_default_directive(default.into())
                .parse_lossy(env::var(EnvFilter::DEFAULT_ENV).unwrap_or_default()),
        };
        // Whoever wants some events wants to know of which game they are.
        if filter.max_level_hint() < Some(LevelFilter::INFO) {
            return Ok(filter);
        }
        let spans = format!("{}=info", log_target::SPAN);
        let spans = spans.parse().map_err(io::Error::other)?;
        Ok(filter.add_directive(spans))
    }

    /// Writes lines in the wanted format.
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
            LogFormat::Json => {
                let mut layer = JsonLayer::new(writer);
                layer
                    .with_timer("timestamp", SystemTime)
                    .with_level("level")
                    .with_target("target")
                    .with_event("fields")
                    .with_flattened_span_fields("span");
                layer.boxed()
            }
        }
    }
}
