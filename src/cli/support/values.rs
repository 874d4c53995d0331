//! Values of options as people type them (times, sizes, numbers, dates), and the options of time.

use std::fmt;
use std::time::Duration;

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use jiff::civil::Date;
use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp};
use parse_size::Config;

use super::failure::{Result, bail};
use referee::bot::ClockKind;
use referee::play::TimeControl;
use referee::solver::SolverOptions;
use referee::text::meant;
use referee::tournament::plan::Plan;

pub(crate) fn hint(word: &str, known: &[&str], otherwise: &str) -> String {
    match meant(word, known) {
        Some(near) => format!("did you mean {near}?"),
        None => format!("{otherwise}{}", known.join(", ")),
    }
}

/// Of each value its name, what it means, and what it stands for.
pub(crate) fn one_of<T: Copy + Send + Sync + 'static>(
    values: impl IntoIterator<Item = (&'static str, &'static str, T)>,
) -> impl TypedValueParser<Value = T> {
    let values: Vec<_> = values.into_iter().collect();
    let shown = values.iter();
    let shown = shown.map(|(name, help, _)| PossibleValue::new(*name).help(*help));
    let parser = PossibleValuesParser::new(shown.collect::<Vec<_>>());
    parser.try_map(move |chosen| {
        let known = values.iter().find(|(name, ..)| *name == chosen);
        known.map(|(.., value)| *value).ok_or(fmt::Error)
    })
}

/// `2s`, `500ms`, `1m 30s`, or a number of seconds; at least zero.
pub(crate) fn duration(text: &str) -> Result<Duration, String> {
    let expected = || "expected a time such as 2s, 500ms, 1m 30s or a number of seconds".to_owned();
    if let Ok(seconds) = text.parse::<f64>() {
        return Duration::try_from_secs_f64(seconds).map_err(|_| expected());
    }
    let signed: SignedDuration = text.parse().map_err(|_| expected())?;
    Duration::try_from(signed).map_err(|_| expected())
}

pub(crate) fn in_short(duration: Duration) -> String {
    let seconds = i64::try_from(duration.as_secs()).unwrap_or(i64::MAX);
    format!("{:#}", SignedDuration::from_secs(seconds))
}

pub(crate) fn positive_duration(text: &str) -> Result<Duration, String> {
    let duration = self::duration(text)?;
    if duration.is_zero() {
        return Err("expected a time greater than zero".to_owned());
    }
    Ok(duration)
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct MoveTime(
    /// `None` for no limit.
    pub(crate) Option<Duration>,
);

/// A duration of more than zero, or `none`.
pub(crate) fn move_time(text: &str) -> Result<MoveTime, String> {
    if text == "none" {
        return Ok(MoveTime(None));
    }
    let time = positive_duration(text).map(|time| MoveTime(Some(time)));
    time.map_err(|problem| format!("{problem}; or none for no limit"))
}

/// In bytes.
const LARGEST: u64 = 1_000_000_000_000_000;

/// `256M`, `1.5G`, `64MiB`, or a number of bytes. `K`, `M`, `G` and `T` are powers of 1024, with or without `B` or
/// `iB`.
pub(crate) fn size(text: &str) -> Result<u64, String> {
    let bytes = Config::new().with_binary().parse_size(text).ok();
    bytes
        .filter(|&bytes| bytes <= LARGEST)
        .ok_or_else(|| "expected a size such as 64M, 1.5G or a number of bytes".to_owned())
}

pub(crate) fn positive_size(text: &str) -> Result<u64, String> {
    match size(text)? {
        0 => Err("expected a size greater than zero".to_owned()),
        bytes => Ok(bytes),
    }
}

/// A date, which begins at midnight UTC, or a time with its zone.
pub(crate) fn time(text: &str) -> Result<Timestamp, String> {
    let is_date = |byte: u8| byte.is_ascii_digit() || byte == b'-';
    let date = || {
        let date: Date = text.parse().ok().filter(|_| text.bytes().all(is_date))?;
        Some(date.to_zoned(TimeZone::UTC).ok()?.timestamp())
    };
    text.parse().ok().or_else(date).ok_or_else(|| {
        "expected a date, or a time with its zone: 2026-01-31, 2026-01-31T18:00Z or 2026-01-31T18:00+01:00".to_owned()
    })
}

#[derive(Clone, Debug, Default, PartialEq, Eq, clap::Args)]
pub(crate) struct AnswerTimes {
    /// Time for a move; none for no limit [default: 10s; people have no limit]
    #[arg(long, value_name = "TIME", value_parser = move_time, help_heading = "Time")]
    pub(crate) move_time: Option<MoveTime>,

    /// Time on top for the first answer of a fresh process [default: 10s]
    #[arg(long, value_name = "TIME", value_parser = duration, help_heading = "Time", hide_short_help = true)]
    pub(crate) start_time: Option<Duration>,

    /// What clocks measure [default: wall]
    ///
    /// With cpu, wall time may be ten times the limit, and 5 s more at least
    #[arg(
        long,
        value_name = "KIND",
        help_heading = "Time",
        hide_short_help = true
    )]
    pub(crate) clock: Option<ClockKind>,
}

impl AnswerTimes {
    pub(crate) fn control(&self) -> Result<TimeControl> {
        let times = TimeOptions {
            answers: self.clone(),
            ..TimeOptions::default()
        };
        times.control()
    }
}

#[derive(Clone, Debug, Default, PartialEq, Eq, clap::Args)]
pub(crate) struct TimeOptions {
    #[command(flatten)]
    pub(crate) answers: AnswerTimes,

    /// Time for all moves of a game together; no limit when not given
    #[arg(long, value_name = "TIME", value_parser = positive_duration, help_heading = "Time", hide_short_help = true)]
    pub(crate) game_time: Option<Duration>,

    /// Added to the game clock after every move
    #[arg(long, value_name = "TIME", value_parser = duration, requires = "game_time", help_heading = "Time", hide_short_help = true)]
    pub(crate) increment: Option<Duration>,

    /// Of a plan, if no time is given.
    #[arg(skip)]
    pub(crate) planned: Option<TimeControl>,
}

impl TimeOptions {
    pub(crate) fn control(&self) -> Result<TimeControl> {
        let (answers, default) = (&self.answers, self.planned.unwrap_or_default());
        let move_time = answers.move_time.map(|MoveTime(limit)| limit);
        let time = TimeControl {
            move_time: move_time.unwrap_or(default.move_time),
            start_time: answers.start_time.unwrap_or(default.start_time),
            kind: answers.clock.unwrap_or(default.kind),
            game_time: self.game_time.or(default.game_time),
            increment: self.increment.unwrap_or(default.increment),
        };
        if time.kind == ClockKind::Cpu && time.move_time.is_none() && time.game_time.is_none() {
            bail!(
                "--clock cpu measures CPU time against a limit, and with --move-time none there is none; leave \
                 one of them out"
            );
        }
        Ok(time)
    }

    pub(crate) fn or_planned(mut self, plan: &Plan) -> Self {
        let limits = plan.bots.first().map(|bot| bot.limits);
        let limits = limits.filter(|&limits| plan.bots.iter().all(|bot| bot.limits == limits));
        if self == Self::default() {
            self.planned = limits;
        }
        self
    }
}

#[derive(Clone, Copy, Debug, clap::Args)]
pub(crate) struct SolverArgs {
    /// Memory for the transposition table, such as 512M or 4G
    #[arg(long, value_name = "SIZE", default_value = "256M", value_parser = hash)]
    hash: usize,

    /// Threads [default: one for each core]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    threads: Option<u16>,
}

fn hash(text: &str) -> Result<usize, String> {
    usize::try_from(size(text)?)
        .map_err(|_| "expected no more than this machine can address".to_owned())
}

impl SolverArgs {
    pub(crate) fn options(self) -> SolverOptions {
        let default = SolverOptions::default();
        SolverOptions {
            tt_bytes: self.hash,
            threads: self.threads.map_or(default.threads, usize::from),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_are_parsed() {
        for (text, ms) in [
            ("2s", 2000),
            ("500ms", 500),
            ("1m 30s", 90_000),
            ("1m30s", 90_000),
            ("0.5", 500),
            ("3", 3000),
        ] {
            assert_eq!(duration(text), Ok(Duration::from_millis(ms)), "{text}");
        }
        for text in ["", "-1s", "-3", "nan", "inf", "2 apples", "1e99"] {
            assert!(duration(text).is_err(), "{text}");
        }
        assert!(positive_duration("0s").is_err());
        assert_eq!(move_time("none"), Ok(MoveTime(None)));
        let two = MoveTime(Some(Duration::from_secs(2)));
        assert_eq!(move_time("2s"), Ok(two));
        assert!(move_time("0s").is_err_and(|problem| problem.ends_with("or none for no limit")));
        assert!(move_time("None").is_err());
    }

    #[test]
    fn sizes_are_parsed() {
        for (text, bytes) in [
            ("0", 0),
            ("1", 1),
            ("1000", 1000),
            ("64K", 64 << 10),
            ("64kb", 64 << 10),
            ("256M", 256 << 20),
            ("256 MiB", 256 << 20),
            ("1.5G", 3 << 29),
            ("2g", 2 << 30),
            ("5MB", 5 << 20),
            ("4T", 4 << 40),
            ("1e3", 1000),
        ] {
            assert_eq!(size(text), Ok(bytes), "{text}");
        }
        for text in [
            "",
            "M",
            "-1",
            "1.5.5G",
            "inf",
            "nan",
            "7 apples",
            "9999999999999G",
            "99999999999999999999",
        ] {
            assert!(size(text).is_err(), "{text}");
        }
        assert!(positive_size("0").is_err());
        assert_eq!(positive_size("1"), Ok(1));
    }

    #[test]
    fn a_time_needs_its_zone() {
        for (text, time) in [
            ("2026-03-29", "2026-03-29T00:00:00Z"),
            ("2026-03-29T02:30Z", "2026-03-29T02:30:00Z"),
            ("2026-03-29 02:30+01:00", "2026-03-29T01:30:00Z"),
            (
                "2026-03-29T03:30+02:00[Europe/Berlin]",
                "2026-03-29T01:30:00Z",
            ),
        ] {
            let parsed = super::time(text).map(|time| time.to_string());
            assert_eq!(parsed.as_deref(), Ok(time), "{text}");
        }
        for text in [
            "2026-03-29T18:00",
            "2026-03-29 18:00:00",
            "2026-03-29T02:30[Europe/Berlin]",
        ] {
            let problem = super::time(text).expect_err(text);
            assert!(problem.contains("with its zone"), "{text}: {problem}");
        }
        for text in [
            "2026-02-30",
            "tomorrow",
            "",
            "29.03.2026",
            "2026-03-29T25:00Z",
        ] {
            let problem = super::time(text).expect_err(text);
            assert!(problem.contains("expected a date"), "{text}: {problem}");
        }
    }
}
