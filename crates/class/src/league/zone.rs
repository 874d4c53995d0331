//! The time zone of a league. A time that was written without a zone, as in old archives, in names of files and in a
//! deadline, becomes an instant here and nowhere else.

use std::fmt;
use std::str::FromStr;

use jiff::civil::{Date, DateTime};
use jiff::tz::{Offset, TimeZone};
use jiff::{SignedDuration, Timestamp, Zoned};
use serde::{Deserialize, Serialize};

/// A zone by its name in the IANA database, such as `Europe/Brussels`, or by its offset, such as `+01:00`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Zone {
    name: String,
    zone: TimeZone,
}

impl Zone {
    /// That of this machine; UTC where it has none.
    pub fn of_this_machine() -> Self {
        let zone = TimeZone::try_system().unwrap_or(TimeZone::UTC);
        let name = match zone.iana_name() {
            Some(name) => name.to_owned(),
            None if zone == TimeZone::UTC => "UTC".to_owned(),
            None => "the zone of this machine".to_owned(),
        };
        Self { name, zone }
    }

    /// The instant of a time that was written there. Of an hour that a change of clocks repeats, it is the first; in one
    /// that it leaves out, the clock goes on as before.
    pub fn instant(&self, time: DateTime) -> Timestamp {
        let zoned = time.to_zoned(self.zone.clone());
        // Only times near the ends of the calendar have none.
        zoned.map_or(Timestamp::MAX, |zoned| zoned.timestamp())
    }

    /// The last instant of a day there.
    fn end_of(&self, day: Date) -> Timestamp {
        let next = day.tomorrow().map(|next| self.instant(next.into()));
        let end = next.and_then(|next| next.checked_sub(SignedDuration::from_nanos(1)));
        end.unwrap_or(Timestamp::MAX)
    }

    pub fn at(&self, time: Timestamp) -> Zoned {
        time.to_zoned(self.zone.clone())
    }

    /// To the second, with its offset: `2026-01-31T18:00:00+01:00`.
    pub fn show(&self, time: Timestamp) -> String {
        self.at(time).strftime("%Y-%m-%dT%H:%M:%S%:z").to_string()
    }
}

impl Default for Zone {
    fn default() -> Self {
        Self::of_this_machine()
    }
}

impl fmt::Display for Zone {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "expected a time zone that this machine knows, such as Europe/Brussels, or an offset such as +01:00"
)]
pub struct UnknownZone;

impl FromStr for Zone {
    type Err = UnknownZone;

    fn from_str(text: &str) -> Result<Self, UnknownZone> {
        let offset = || {
            let seconds = offset_of(text)?;
            Some(TimeZone::fixed(Offset::from_seconds(seconds).ok()?))
        };
        let zone = match text {
            "UTC" | "Z" => Some(TimeZone::UTC),
            _ => offset().or_else(|| TimeZone::get(text).ok()),
        };
        let name = text.to_owned();
        zone.map(|zone| Self { name, zone }).ok_or(UnknownZone)
    }
}

impl TryFrom<String> for Zone {
    type Error = UnknownZone;

    fn try_from(text: String) -> Result<Self, UnknownZone> {
        text.parse()
    }
}

impl From<Zone> for String {
    fn from(zone: Zone) -> Self {
        zone.name
    }
}

/// `+01:00` in seconds.
fn offset_of(text: &str) -> Option<i32> {
    let (sign, rest) = match text.split_at_checked(1)? {
        ("+", rest) => (1, rest),
        ("-", rest) => (-1, rest),
        _ => return None,
    };
    let (hours, minutes) = rest.split_once(':')?;
    let number = |text: &str, below: i32| {
        let is_number = text.len() == 2 && text.bytes().all(|byte| byte.is_ascii_digit());
        let number: i32 = is_number.then(|| text.parse().ok())??;
        (number < below).then_some(number)
    };
    Some(sign * (number(hours, 24)? * 3600 + number(minutes, 60)? * 60))
}

/// A time as it was written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WrittenTime {
    /// With its zone.
    Instant(Timestamp),
    /// Without one.
    Local(DateTime),
}

/// Turns written times into instants.
#[derive(Clone, Debug, Default)]
pub struct TimeReader {
    zone: Zone,
    /// Whether a time had no zone.
    pub is_zone_used: bool,
}

impl TimeReader {
    pub const fn new(zone: Zone) -> Self {
        Self {
            zone,
            is_zone_used: false,
        }
    }

    pub fn instant(&mut self, time: WrittenTime) -> Timestamp {
        match time {
            WrittenTime::Instant(time) => time,
            WrittenTime::Local(time) => {
                self.is_zone_used = true;
                self.zone.instant(time)
            }
        }
    }

    pub const fn zone(&self) -> &Zone {
        &self.zone
    }
}

/// What a person gives as a deadline.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Deadline {
    At(WrittenTime),
    /// A date alone is that day to its end.
    EndOf(Date),
    None,
}

impl Deadline {
    /// The last instant in time.
    pub fn last(self, zone: &Zone) -> Option<Timestamp> {
        match self {
            Self::At(WrittenTime::Instant(time)) => Some(time),
            Self::At(WrittenTime::Local(time)) => Some(zone.instant(time)),
            Self::EndOf(day) => Some(zone.end_of(day)),
            Self::None => None,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "expected a time such as 2026-01-31T18:00+01:00, one without a zone such as 2026-01-31T18:00, or a date, which counts to its end"
)]
pub struct UnknownDeadline;

impl FromStr for Deadline {
    type Err = UnknownDeadline;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let is_date = |byte: u8| byte.is_ascii_digit() || byte == b'-';
        if text == "none" {
            return Ok(Self::None);
        }
        if let Ok(time) = text.parse() {
            return Ok(Self::At(WrittenTime::Instant(time)));
        }
        // What has a zone in another form must not be taken for a time without one.
        let is_local = |byte: u8| byte.is_ascii_digit() || b"-:T ".contains(&byte);
        if text.bytes().all(is_date) {
            text.parse().map(Self::EndOf).ok()
        } else if text.bytes().all(is_local) {
            let time = text.parse().ok();
            time.map(|time| Self::At(WrittenTime::Local(time)))
        } else {
            None
        }
        .ok_or(UnknownDeadline)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn brussels() -> Zone {
        // As the IANA database has had it since 1996, for a machine that has no database.
        let zone = TimeZone::posix("CET-1CEST,M3.5.0,M10.5.0/3").unwrap();
        Zone {
            name: "Europe/Brussels".to_owned(),
            zone,
        }
    }

    fn deadline(text: &str) -> Option<String> {
        let zone = brussels();
        let deadline: Deadline = text.parse().ok()?;
        Some(
            deadline
                .last(&zone)
                .map_or_else(|| "none".to_owned(), |time| zone.show(time)),
        )
    }

    #[test]
    fn a_deadline_is_an_instant() {
        for (text, expected) in [
            ("2026-01-31T18:00+01:00", "2026-01-31T18:00:00+01:00"),
            ("2026-01-31T18:00Z", "2026-01-31T19:00:00+01:00"),
            ("2026-01-31T18:00", "2026-01-31T18:00:00+01:00"),
            ("2026-01-31 18:00", "2026-01-31T18:00:00+01:00"),
            ("2026-07-31T18:00", "2026-07-31T18:00:00+02:00"),
            ("2026-01-31", "2026-01-31T23:59:59+01:00"),
            ("none", "none"),
        ] {
            assert_eq!(deadline(text).as_deref(), Some(expected), "{text}");
        }
        for text in [
            "",
            "tomorrow",
            "18:00",
            "2026-02-30",
            "2026-01-31T25:00",
            "2026-01-31T18:00 CET",
        ] {
            assert_eq!(deadline(text), None, "{text}");
        }
    }

    #[test]
    fn clocks_change() {
        let zone = brussels();
        let at = |text: &str| zone.show(zone.instant(text.parse().unwrap()));
        // 02:30 is there twice in October, and not at all in March.
        assert_eq!(at("2026-10-25T02:30"), "2026-10-25T02:30:00+02:00");
        assert_eq!(at("2026-10-25T03:30"), "2026-10-25T03:30:00+01:00");
        assert_eq!(at("2026-03-29T02:30"), "2026-03-29T03:30:00+02:00");
        assert_eq!(
            deadline("2026-10-25").as_deref(),
            Some("2026-10-25T23:59:59+01:00")
        );
        assert_eq!(
            deadline("2026-03-29").as_deref(),
            Some("2026-03-29T23:59:59+02:00")
        );
    }

    #[test]
    fn a_zone_has_a_name_or_an_offset() {
        let show = |name: &str| {
            let zone: Zone = name.parse().ok()?;
            Some((
                zone.to_string(),
                zone.show("2026-01-31T12:00Z".parse().unwrap()),
            ))
        };
        let some = |name: &str, time: &str| Some((name.to_owned(), time.to_owned()));
        assert_eq!(show("UTC"), some("UTC", "2026-01-31T12:00:00+00:00"));
        assert_eq!(show("+05:30"), some("+05:30", "2026-01-31T17:30:00+05:30"));
        assert_eq!(show("-03:00"), some("-03:00", "2026-01-31T09:00:00-03:00"));
        for wrong in ["", "Brussels", "+1", "+24:00", "+01:60", "CET-1CEST"] {
            assert_eq!(show(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn a_zone_is_kept_by_its_name() {
        let json = "\"+05:30\"";
        let zone: Zone = serde_json::from_str(json).unwrap();
        assert_eq!(serde_json::to_string(&zone).unwrap(), json);
        assert!(serde_json::from_str::<Zone>("\"nowhere\"").is_err());
    }

    #[test]
    fn a_time_with_a_zone_needs_no_other() {
        let mut reader = TimeReader::new(brussels());
        let instant: Timestamp = "2026-01-31T12:00Z".parse().unwrap();
        assert_eq!(reader.instant(WrittenTime::Instant(instant)), instant);
        assert!(!reader.is_zone_used);
        let local = WrittenTime::Local("2026-01-31T13:00".parse().unwrap());
        assert_eq!(reader.instant(local), instant);
        assert!(reader.is_zone_used);
    }
}
