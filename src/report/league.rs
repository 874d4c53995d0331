//! Tables of a league.

use jiff::Timestamp;

use super::standings::{CsvTable, escape_formula};
use crate::league::intake::people;
use crate::league::state::{League, Version};

/// CSV: `name`, `plays` (playing version), `newest` (version), `received` (its time), `versions` (count), `problem`
/// (why the newest does not play), `people` (by the list of students).
pub fn students(league: &League, deadline: Option<Timestamp>) -> String {
    let mut table = CsvTable::default();
    table.row([
        "name", "plays", "newest", "received", "versions", "problem", "people",
    ]);
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
        table.row([
            &escape_formula(name),
            &id(member.playing(deadline)),
            &id(newest),
            &received,
            &member.versions.len().to_string(),
            &escape_formula(&problem.unwrap_or_default()),
            &escape_formula(&of(name)),
        ]);
    }
    for name in &missing {
        let problem = "nothing was handed in";
        let [name, people] = [name, &of(name)].map(|text| escape_formula(text));
        table.row([&name, "", "", "", "0", problem, &people]);
    }
    table.text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::league::state::Member;

    #[test]
    fn no_name_is_a_formula_of_a_spreadsheet() {
        let mut league = League::default();
        let name = "=cmd()|x";
        league.members.insert(name.to_owned(), Member::default());
        league.people = vec![people::Person {
            name: "@anna".to_owned(),
            team: name.to_owned(),
            email: String::new(),
            id: String::new(),
        }];
        let table = students(&league, None);
        let row = table.lines().nth(1).expect("a row");
        assert!(row.starts_with("'=cmd()|x,"), "{table}");
        assert!(row.ends_with(",'@anna"), "{table}");
    }
}
