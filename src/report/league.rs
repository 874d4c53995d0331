//! The tables of a league.

use jiff::Timestamp;

use crate::league::state::{League, Version};

/// Who takes part, as CSV: `name`, `plays` (the version that plays), `newest` (the newest version), `received` (when that was handed
/// in), `versions` (how many there are), `problem` (why the newest submission does not play).
pub fn students(league: &League, deadline: Option<Timestamp>) -> csv::Result<String> {
    let mut table = csv::Writer::from_writer(Vec::new());
    table.write_record(["name", "plays", "newest", "received", "versions", "problem"])?;
    let id = |version: Option<&Version>| version.map_or_else(String::new, |known| known.id.clone());
    for (name, member) in &league.members {
        let newest = member.newest(deadline);
        let received = newest.map_or_else(String::new, |known| format!("{:.0}", known.received));
        table.write_record([
            name.as_str(),
            &id(member.playing(deadline)),
            &id(newest),
            &received,
            &member.versions.len().to_string(),
            &member.problem(deadline).unwrap_or_default(),
        ])?;
    }
    let bytes = table
        .into_inner()
        .map_err(csv::IntoInnerError::into_error)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}
