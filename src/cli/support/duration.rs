//! Durations as people type them: `2s`, `500ms`, `1m 30s`, or a number of seconds.

use std::time::Duration;

use jiff::SignedDuration;

/// Reads a duration of at least zero.
pub(in crate::cli) fn parse(text: &str) -> Result<Duration, String> {
    let expected = || "expected a time such as 2s, 500ms, 1m 30s or a number of seconds".to_owned();
    if let Ok(seconds) = text.parse::<f64>() {
        return Duration::try_from_secs_f64(seconds).map_err(|_| expected());
    }
    let signed: SignedDuration = text.parse().map_err(|_| expected())?;
    Duration::try_from(signed).map_err(|_| expected())
}

/// A duration in whole seconds, as people type it.
pub(in crate::cli) fn in_short(duration: Duration) -> String {
    let seconds = i64::try_from(duration.as_secs()).unwrap_or(i64::MAX);
    format!("{:#}", SignedDuration::from_secs(seconds))
}

/// Reads a duration of more than zero.
pub(in crate::cli) fn parse_positive(text: &str) -> Result<Duration, String> {
    let duration = parse(text)?;
    if duration.is_zero() {
        return Err("expected a time greater than zero".to_owned());
    }
    Ok(duration)
}

/// A value of `--move-time`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::cli) struct MoveTime(
    /// `None` for no limit.
    pub(in crate::cli) Option<Duration>,
);

/// Reads a value of `--move-time`: a duration of more than zero, or `none`.
pub(in crate::cli) fn parse_move_time(text: &str) -> Result<MoveTime, String> {
    if text == "none" {
        return Ok(MoveTime(None));
    }
    let or_none = |problem| format!("{problem}; or none for no limit");
    parse_positive(text)
        .map(Some)
        .map(MoveTime)
        .map_err(or_none)
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
            assert_eq!(parse(text), Ok(Duration::from_millis(ms)), "{text}");
        }
        for text in ["", "-1s", "-3", "nan", "inf", "2 apples", "1e99"] {
            assert!(parse(text).is_err(), "{text}");
        }
        assert!(parse_positive("0s").is_err());
        assert_eq!(parse_move_time("none"), Ok(MoveTime(None)));
        let two = MoveTime(Some(Duration::from_secs(2)));
        assert_eq!(parse_move_time("2s"), Ok(two));
        assert!(
            parse_move_time("0s").is_err_and(|problem| problem.ends_with("or none for no limit"))
        );
        assert!(parse_move_time("None").is_err());
    }
}
