//! What file names say: whose they are, and when they were submitted.

use jiff::civil;
use jiff::tz::TimeZone;

use crate::league::zone::WrittenTime;

/// In Moodle's names, between the participant's number and the student's file.
const MOODLE: &str = "_assignsubmission_";

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct EntryOwner {
    pub(super) name: String,
    /// Moodle's participant number.
    pub(super) id: Option<String>,
    pub(super) file: Option<String>,
    /// Time at the name's end.
    pub(super) stamp: Option<WrittenTime>,
}

/// `name` has no archive or program extension. `None` for texts that were written on Moodle's page.
pub(super) fn owner(name: &str) -> Option<EntryOwner> {
    if let Some((before, after)) = name.split_once(MOODLE)
        && let Some((student, id)) = before.rsplit_once('_')
        && !student.is_empty()
        && !id.is_empty()
        && id.bytes().all(|byte| byte.is_ascii_digit())
    {
        let file = match after {
            "file" => "",
            _ => after.strip_prefix("file_")?,
        };
        return Some(EntryOwner {
            name: student.to_owned(),
            id: Some(id.to_owned()),
            file: (!file.is_empty()).then(|| file.to_owned()),
            stamp: None,
        });
    }
    let (name, stamp) = stamped(name);
    Some(EntryOwner {
        name: name.to_owned(),
        id: None,
        file: None,
        stamp,
    })
}

/// Splits off a time at the end (in UTC where a `Z` follows), after `-`, `_`, `.` or a space: `2026-01-31` or `20260131`, optionally with
/// `1530`, `15-30` or `153000`.
fn stamped(name: &str) -> (&str, Option<WrittenTime>) {
    let time = |(before, end)| Some((before, Some(time_of(end)?)));
    divided(name).find_map(time).unwrap_or((name, None))
}

/// Each way to divide a name into what comes before a time, and what could be one.
fn divided(name: &str) -> impl Iterator<Item = (&str, &str)> {
    let is_part = |c: char| c.is_ascii_digit() || "-_:. TZ".contains(c);
    let sure = name.trim_end_matches(is_part).len();
    let places = name[sure..].char_indices();
    places.filter_map(move |(place, _)| {
        let (before, end) = name.split_at(sure + place);
        let end = end.strip_prefix(['-', '_', '.', ' '])?;
        (!before.is_empty()).then_some((before, end))
    })
}

/// Whether a name ends in what is written like a time, and is none: `anna-2026-02-30`.
pub(in crate::league) fn ends_in_no_time(name: &str) -> bool {
    stamped(name).1.is_none() && divided(name).any(|(_, end)| is_written_as_time(end))
}

/// Year, month and day, as far as each of them can be one.
fn is_written_as_time(text: &str) -> bool {
    let digits: String = text.chars().filter(char::is_ascii_digit).collect();
    let number = |from: usize, to: usize| digits[from..to].parse::<u32>().unwrap_or(0);
    text.starts_with("20")
        && matches!(digits.len(), 8 | 12 | 14)
        && (1..=12).contains(&number(4, 6))
        && (1..=31).contains(&number(6, 8))
}

/// With or without a time of day.
fn time_of(text: &str) -> Option<WrittenTime> {
    if !text.starts_with(|c: char| c.is_ascii_digit()) {
        return None;
    }
    let digits: String = text.chars().filter(char::is_ascii_digit).collect();
    if !matches!(digits.len(), 8 | 12 | 14) {
        return None;
    }
    let time = civil::DateTime::strptime("%Y%m%d%H%M%S", format!("{digits:0<14}")).ok()?;
    if !(2000..2200).contains(&time.year()) {
        return None;
    }
    if text.ends_with('Z') {
        let time = time.to_zoned(TimeZone::UTC).ok()?;
        return Some(WrittenTime::Instant(time.timestamp()));
    }
    Some(WrittenTime::Local(time))
}

/// Parts of a path in an archive; none may lead outside. The error says what is wrong.
pub(super) fn safe_components(path: &[u8]) -> Result<Vec<&str>, &'static str> {
    let Ok(path) = str::from_utf8(path) else {
        return Err("its name is not UTF-8");
    };
    if path.starts_with('/') {
        return Err("its path is absolute");
    }
    if path.contains('\\') {
        return Err("its path has a backslash");
    }
    if path.chars().any(char::is_control) {
        return Err("its name has a control character");
    }
    let parts = path.split('/').filter(|part| !matches!(*part, "" | "."));
    let safe = parts.map(|part| match part.as_bytes() {
        b".." => Err("its path leads out of the archive"),
        [letter, b':', ..] if letter.is_ascii_alphabetic() => Err("its path begins with a drive"),
        bytes if cfg!(windows) && bytes.contains(&b':') => Err("its name has a colon"),
        bytes if bytes.len() > 255 => Err("its name is too long"),
        _ => Ok(part),
    });
    safe.collect()
}

#[cfg(test)]
mod tests {
    use std::path::{Component, Path};

    use proptest::prelude::*;

    use super::*;

    fn read(name: &str) -> (String, Option<String>, Option<String>, Option<String>) {
        let owner = owner(name).expect("somebody");
        let stamp = owner.stamp.map(|time| match time {
            WrittenTime::Instant(time) => time.to_string(),
            WrittenTime::Local(time) => time.to_string(),
        });
        (owner.name, owner.id, owner.file, stamp)
    }

    #[test]
    fn names_of_moodle_are_students() {
        let some = |text: &str| Some(text.to_owned());
        let folder = read("Zoë van der Berg_1234567_assignsubmission_file_");
        assert_eq!(
            folder,
            ("Zoë van der Berg".to_owned(), some("1234567"), None, None)
        );
        let flat = read("First_Last_12_assignsubmission_file_my_bot_2.py");
        let file = some("my_bot_2.py");
        assert_eq!(flat, ("First_Last".to_owned(), some("12"), file, None));
        assert_eq!(
            owner("First Last_12_assignsubmission_onlinetext_onlinetext.html"),
            None
        );
        for plain in ["anna", "project-anna", "_12_assignsubmission_file_", "a b"] {
            assert_eq!(read(plain), (plain.to_owned(), None, None, None));
        }
    }

    #[test]
    fn times_at_the_end_of_names_are_read() {
        for (name, student, time) in [
            ("anna-2026-01-31", "anna", "2026-01-31T00:00:00"),
            ("anna_20260131_1530", "anna", "2026-01-31T15:30:00"),
            ("anna b 20260131T153001Z", "anna b", "2026-01-31T15:30:01Z"),
            ("team-7_2026-01-31", "team-7", "2026-01-31T00:00:00"),
        ] {
            let (found, _, _, stamp) = read(name);
            assert_eq!((&*found, stamp.as_deref()), (student, Some(time)), "{name}");
        }
        for name in [
            "team-7",
            "anna-20269931",
            "20260131",
            "anna-12345678",
            "x-2026",
        ] {
            assert_eq!(read(name), (name.to_owned(), None, None, None), "{name}");
        }
    }

    #[test]
    fn times_that_do_not_exist_are_noticed() {
        for name in ["anna-2026-02-30", "anna_20260431", "anna_20260131_2560"] {
            assert!(ends_in_no_time(name), "{name}");
        }
        for name in [
            "anna",
            "anna-2026-02-28",
            "anna_20260131_1530",
            "anna-12345678",
            "anna-20269931",
            "20260230",
            "team-7",
        ] {
            assert!(!ends_in_no_time(name), "{name}");
        }
    }

    #[test]
    fn paths_that_lead_out_are_refused() {
        for path in [
            "/etc/passwd",
            "../x",
            "a/../../x",
            "C:/x",
            "a/c:x",
            "a\\..\\x",
            "a\nb",
        ] {
            assert!(safe_components(path.as_bytes()).is_err(), "{path}");
        }
        assert!(safe_components(b"a/\xff").is_err());
        assert_eq!(
            safe_components(b"./a//b c/d.py"),
            Ok(vec!["a", "b c", "d.py"])
        );
    }

    proptest! {
        #[test]
        fn safe_paths_stay_inside(path in "[a-c./\\\\:\u{e9} ]{0,24}") {
            if let Ok(parts) = safe_components(path.as_bytes()) {
                let joined: std::path::PathBuf = parts.iter().collect();
                let is_normal = |part: Component<'_>| matches!(part, Component::Normal(_));
                prop_assert!(Path::new(&joined).components().all(is_normal), "{joined:?}");
            }
        }

        #[test]
        fn any_name_is_read(name in "\\PC{0,40}") {
            if let Some(owner) = owner(&name) {
                prop_assert!(name.starts_with(&owner.name));
                prop_assert!(name.is_empty() || !owner.name.is_empty());
            }
        }
    }
}
