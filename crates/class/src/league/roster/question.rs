//! What only the teacher knows: whose a submission is.

use std::collections::BTreeMap;

use super::Roster;
use super::joining::Open;
use super::person::Person;
use super::sender::Sender;
use referee_text::escape_controls;

/// A heading of a list, and what a person has below it.
type QuestionColumn = (&'static str, fn(&Person) -> &str);

/// The most lines that are offered.
const LINES: usize = 8;

/// Submissions that may be of several people.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RosterQuestion {
    /// The bots, as they are called meanwhile.
    pub bots: Vec<String>,
    /// Names of people, with what tells them apart.
    pub people: Vec<String>,
    /// Lines of a list of students, the first one the header.
    pub lines: Vec<String>,
    /// Whether one of the lines decides it, or all together do.
    pub is_choice: bool,
}

impl RosterQuestion {
    /// Sentences, and the lines below them.
    pub fn text(&self) -> String {
        let (submissions_are, people) = match (&self.bots[..], &self.people[..]) {
            ([_], [person]) => ("it is", person.clone()),
            ([_], people) => ("it is", format!("one of {}", people.join(", "))),
            (_, [person]) => ("one of them is", person.clone()),
            (_, people) => ("they are", people.join(", ")),
        };
        let how = if self.is_choice {
            "One of these lines in the list of students decides it:"
        } else {
            "These lines in the list of students decide it, or the same with the last column in another order:"
        };
        let lines = self.lines.join("\n");
        format!("perhaps {submissions_are} of {people}. {how}\n{lines}")
    }
}

fn in_words(person: &Person) -> String {
    let tag = person.tag();
    let left = if person.has_left {
        ", who has left the list"
    } else {
        ""
    };
    let tag = if tag.is_empty() || tag == person.name {
        String::new()
    } else {
        format!(" ({tag})")
    };
    escape_controls(&format!("{}{tag}{left}", person.name))
}

fn csv_line(fields: &[&str]) -> String {
    let quoted = fields.iter().map(|field| {
        if field.contains([',', '"', ';', '\t', '\n', '\r']) {
            format!("\"{}\"", field.replace('"', "\"\""))
        } else {
            (*field).to_owned()
        }
    });
    escape_controls(&quoted.collect::<Vec<_>>().join(","))
}

/// `None` if no person of the list can be meant.
pub(super) fn of(
    roster: &Roster,
    open: &Open,
    labels: &BTreeMap<String, String>,
) -> Option<RosterQuestion> {
    let people = open.people.iter().filter_map(|id| roster.person(*id));
    let people: Vec<&Person> = people.collect();
    let listed: Vec<&Person> = people.iter().copied().filter(|one| !one.has_left).collect();
    let senders: Vec<&Sender> = open
        .senders
        .iter()
        .map(|place| &roster.senders[*place])
        .collect();
    if listed.is_empty() || senders.is_empty() {
        return None;
    }
    let columns: [QuestionColumn; 4] = [
        ("name", |person| &person.name),
        ("team", |person| &person.team),
        ("email", |person| &person.email),
        ("id", |person| &person.id),
    ];
    let is_used =
        |(_, value): &&QuestionColumn| roster.people.iter().any(|one| !value(one).is_empty());
    let columns: Vec<&QuestionColumn> = columns.iter().filter(is_used).collect();
    let heads = columns.iter().map(|(head, _)| *head);
    let mut lines = vec![csv_line(&heads.chain(["submission"]).collect::<Vec<_>>())];
    let line = |person: &Person, sender: &Sender| {
        let values = columns.iter().map(|(_, value)| value(person));
        csv_line(&values.chain([sender.id.text()]).collect::<Vec<_>>())
    };
    let is_choice = listed.len() != senders.len() || listed.len() == 1;
    if is_choice {
        let all = listed
            .iter()
            .flat_map(|person| senders.iter().map(|sender| line(person, sender)));
        lines.extend(all.take(LINES));
    } else {
        let pairs = listed.iter().zip(&senders);
        lines.extend(pairs.map(|(person, sender)| line(person, sender)));
    }
    let mut bots: Vec<String> = senders
        .iter()
        .filter_map(|sender| labels.get(&sender.folder).cloned())
        .collect();
    bots.dedup();
    Some(RosterQuestion {
        bots,
        people: people.iter().map(|person| in_words(person)).collect(),
        lines,
        is_choice,
    })
}
