//! Times as arguments.

use jiff::Timestamp;
use jiff::civil::{Date, DateTime};
use jiff::tz::TimeZone;

/// Reads a date, which begins at midnight UTC, or a time with its zone.
pub(in crate::cli) fn parse(text: &str) -> Result<Timestamp, String> {
    if let Ok(time) = text.parse() {
        return Ok(time);
    }
    let is_date = text
        .bytes()
        .all(|byte| byte.is_ascii_digit() || byte == b'-');
    if !is_date && text.parse::<DateTime>().is_ok() {
        return Err(
            "expected a time with its zone, such as 2026-01-31T18:00Z for UTC or 2026-01-31T18:00+01:00"
                .to_owned(),
        );
    }
    text.parse::<Date>()
        .ok()
        .filter(|_| is_date)
        .and_then(|date| date.to_zoned(TimeZone::UTC).ok())
        .map(|zoned| zoned.timestamp())
        .ok_or_else(|| {
            "expected a date or a time, such as 2026-01-31 or 2026-01-31T10:00:00Z".to_owned()
        })
}

#[cfg(test)]
mod tests {
    use super::*;

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
            let parsed = parse(text).map(|time| time.to_string());
            assert_eq!(parsed.as_deref(), Ok(time), "{text}");
        }
        for text in [
            "2026-03-29T18:00",
            "2026-03-29 18:00:00",
            "2026-03-29T02:30[Europe/Berlin]",
        ] {
            let problem = parse(text).expect_err(text);
            assert!(problem.contains("with its zone"), "{text}: {problem}");
        }
        for text in [
            "2026-02-30",
            "tomorrow",
            "",
            "29.03.2026",
            "2026-03-29T25:00Z",
        ] {
            let problem = parse(text).expect_err(text);
            assert!(problem.contains("a date or a time"), "{text}: {problem}");
        }
    }
}
