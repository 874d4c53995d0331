//! Times as arguments.

use jiff::Timestamp;
use jiff::civil::Date;
use jiff::tz::TimeZone;

/// Reads a date, which begins at midnight UTC, or a time.
pub(in crate::cli) fn parse(text: &str) -> Result<Timestamp, String> {
    if let Ok(time) = text.parse() {
        return Ok(time);
    }
    text.parse::<Date>()
        .ok()
        .and_then(|date| date.to_zoned(TimeZone::UTC).ok())
        .map(|zoned| zoned.timestamp())
        .ok_or_else(|| {
            "expected a date or a time, such as 2026-01-31 or 2026-01-31T10:00:00Z".to_owned()
        })
}
