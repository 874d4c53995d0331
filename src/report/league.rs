//! The tables of a league.

use jiff::Timestamp;

use crate::league::intake::people;
use crate::league::state::{League, Version};

/// Who takes part, as CSV: `name`, `plays` (the version that plays), `newest` (the newest version), `received` (when that was handed
/// in), `versions` (how many there are), `problem` (why the newest submission does not play), `people` (whose bot it is,
/// by the list of students).
pub fn students(league: &League, deadline: Option<Timestamp>) -> csv::Result<String> {
    let mut table = csv::Writer::from_writer(Vec::new());
    table.write_record([
        "name", "plays", "newest", "received", "versions", "problem", "people",
    ])?;
    let id = |version: Option<&Version>| version.map_or_else(String::new, |known| known.id.clone());
    let people = people::by_bot(&league.people);
    let (missing, unknown) = league.missing_and_unknown();
    let of = |name: &str| {
        people
            .get(name)
            .map_or_else(String::new, |all| all.join("; "))
    };
    for (name, member) in &league.members {
        let newest = member.newest(deadline);
        let received = newest.map_or_else(String::new, |known| format!("{:.0}", known.received));
        let stranger = unknown
            .contains(name)
            .then_some("not in the list of students");
        let problem = member.problem(deadline);
        let problem = problem.or_else(|| stranger.map(str::to_owned));
        table.write_record([
            name.as_str(),
            &id(member.playing(deadline)),
            &id(newest),
            &received,
            &member.versions.len().to_string(),
            &problem.unwrap_or_default(),
            &of(name),
        ])?;
    }
    for name in &missing {
        let problem = "nothing was handed in";
        table.write_record([name, "", "", "", "0", problem, &of(name)])?;
    }
    let bytes = table
        .into_inner()
        .map_err(csv::IntoInnerError::into_error)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}
