//! Classes whose people are known, and what the roster makes of them.

use std::collections::{BTreeMap, BTreeSet};

use proptest::collection::vec;
use proptest::option;
use proptest::prelude::*;
use proptest::sample::Index;

use super::student_list::{self, BotsOfStudents, StudentList, StudentListError};
use super::*;

fn person(name: &str, id: &str, email: &str, team: &str) -> Person {
    Person {
        name: name.to_owned(),
        id: id.to_owned(),
        email: email.to_owned(),
        team: team.to_owned(),
        ..Person::default()
    }
}

fn list(text: &str) -> Vec<Person> {
    let file = tempfile::NamedTempFile::new().expect("a file");
    std::fs::write(file.path(), text).expect("a file");
    student_list::read(file.path()).expect("a list")
}

/// What the reader of CSV makes of a quote that is not closed: one student of all lines up to the next quote.
#[test]
fn a_quote_that_is_not_closed_is_named() {
    let problem = |text: &str| {
        let file = tempfile::NamedTempFile::new().expect("a file");
        std::fs::write(file.path(), text).expect("a file");
        match student_list::read(file.path()) {
            Err(StudentListError::UnclosedQuote { line, .. }) => Some(line),
            Err(error) => panic!("{text}: {error}"),
            Ok(_) => None,
        }
    };
    for (text, line) in [
        ("name,id\n\"Ann,1\nBen,2\n", Some(2)),
        ("name,id\nAnn,1\n\"Ben,2\nCem,3\n\"Dan\",4\n", Some(3)),
        ("sep=;\nname;id\nAnn;1\nBen;\"2\n", Some(4)),
        ("\u{feff}name,id\r\n\"Ann\" Adams,1\r\n", Some(2)),
        (
            "name,id\n\"Adams, Ann\",1\n\"B\"\"en\" ,2\nCem 3\"\",4\n\"two\nlines\",5",
            None,
        ),
    ] {
        assert_eq!(problem(text), line, "{text}");
    }
}

/// `name_number`, or the name of an entry.
fn sender(text: &str) -> (SenderId, String) {
    match text.rsplit_once('_') {
        Some((name, number)) => (SenderId::new(name, Some(number)), name.to_owned()),
        None => (SenderId::new(text, None), text.to_owned()),
    }
}

fn receive(roster: &mut Roster, senders: &[&str]) {
    let senders: Vec<_> = senders.iter().map(|text| sender(text)).collect();
    roster.receive(senders.iter().map(|(id, name)| (id, &**name)));
}

fn roster(students: &str, senders: &[&str]) -> Roster {
    let mut roster = Roster::default();
    roster.enlist(list(students));
    receive(&mut roster, senders);
    roster
}

/// Each bot with its senders.
fn bots(roster: &Roster) -> Vec<(String, Vec<String>)> {
    let bots = roster.bots().into_iter().map(|bot| {
        let senders = bot.senders.iter().map(|one| one.id.text().to_owned());
        (bot.label, senders.collect())
    });
    bots.collect()
}

/// The labels of these submissions' bots.
fn label(students: &str, entry: &str) -> Option<String> {
    let roster = roster(students, &[entry]);
    let bots = roster.bots().into_iter();
    let mut of = bots.filter(|bot| !bot.senders.is_empty() && !bot.people.is_empty());
    of.next().map(|bot| bot.label)
}

#[test]
fn participants_of_moodle_are_found_by_their_numbers() {
    let text = "Identifier,Full name,Group\nParticipant 103,Alex Kim,owls\nParticipant 104,Alex Kim,foxes\n";
    for (number, bot) in [("103", Some("owls")), ("104", Some("foxes")), ("10", None)] {
        let found = label(text, &format!("Alex Kim_{number}"));
        assert_eq!(found.as_deref(), bot, "{number}");
    }
}

#[test]
fn a_student_twice_in_a_list_is_one() {
    for text in [
        "name,id,submission\nAnna Lee,17,a1\nAnna Lee,17,a2\n",
        "name,email,submission\nAnna Lee,anna@x.org,a1\nAnna Lee,anna@x.org,a2\n",
    ] {
        let [one] = &list(text)[..] else {
            panic!("{:?}", list(text));
        };
        assert_eq!(one.submissions, ["a1", "a2"]);
    }
    // They may be two with one name, or a family with one address.
    for text in [
        "name\nAnna Lee\nAnna Lee\n",
        "name,email\nAnna Lee,home@x.org\nBen Lee,home@x.org\n",
    ] {
        assert_eq!(list(text).len(), 2, "{text}");
    }
}

#[test]
fn other_accents_are_the_same_name() {
    let text = "name\nJosé Jung\nZoë Lang\nZoe Lang\n";
    for name in ["Jose Jung", "jose\u{301}-jung", "JOSÈ JUNG"] {
        assert_eq!(label(text, name).as_deref(), Some("José Jung"), "{name}");
    }
    assert_eq!(label(text, "Zoë Lang").as_deref(), Some("Zoë Lang"));
    assert_eq!(label(text, "Zöe Lang"), None);
}

#[test]
fn people_are_found_by_name_id_and_address() {
    let text = "NAME,Team,Email,Id\nAnna Lee,,anna.lee@x.org,alee\nBen Fox,foxes,b@x.org,17\nCem Can,foxes,,18\n";
    for name in [
        "Anna Lee",
        "anna_lee",
        "alee",
        "anna.lee@x.org",
        "quarto-alee",
        "ex-1-anna-lee",
    ] {
        let mut roster = roster(text, &[]);
        roster.receive([(&SenderId::new(name, None), name)]);
        assert_eq!(bots(&roster)[0].1, [name], "{name}");
    }
    for name in [
        "Ben Fox",
        "CEM CAN",
        "foxes",
        "ex-foxes",
        "17",
        "Cem Can_18",
    ] {
        assert_eq!(label(text, name).as_deref(), Some("foxes"), "{name}");
    }
    for name in ["Anna", "Lee Anna", "x17"] {
        assert_eq!(label(text, name), None, "{name}");
    }
}

#[test]
fn an_id_is_a_number_only_where_names_agree() {
    // Each id is the other's number by accident.
    let swapped = "name,id\nAnna Adams,1\nBen Brown,2\n";
    let both = roster(swapped, &["Anna Adams_2", "Ben Brown_1"]);
    assert!(
        both.senders.iter().all(|one| one.join.is_none()),
        "{both:?}"
    );
    let [question] = &both.questions()[..] else {
        panic!("{:?}", both.questions())
    };
    assert_eq!(question.lines.len(), 3, "{question:?}");
    // Where the class agrees, a number is a person under any name.
    let class = "name,id\nAnna Adams,1\nBen Brown,2\nCem Can,3\n";
    let renamed = roster(class, &["Anna Adams_1", "Ben Brown_2", "Anna Adams_3"]);
    assert!(renamed.questions().is_empty());
    assert_eq!(
        bots(&renamed)[2],
        ("Cem Can".to_owned(), vec!["3".to_owned()])
    );
    // And a namesake whom the list does not have stays one.
    let stranger = roster(class, &["Anna Adams_1", "Ben Brown_2", "Cem Can_4"]);
    assert!(stranger.questions().is_empty());
    let of_all = bots(&stranger);
    let names: Vec<&str> = of_all.iter().map(|(name, _)| &**name).collect();
    assert_eq!(
        names,
        ["Anna Adams", "Ben Brown", "Cem Can (3)", "Cem Can (4)"]
    );
}

#[test]
fn a_join_by_name_holds_while_nobody_else_has_the_name() {
    let mut one = roster("name,id\nJan Jones,s1\nBen Brown,s2\n", &["Jan Jones_10"]);
    assert_eq!(
        one.senders[0].join.as_ref().map(|join| join.by),
        Some(Evidence::Name)
    );
    receive(&mut one, &["Jan Jones_11"]);
    assert!(
        one.senders.iter().all(|sender| sender.join.is_none()),
        "{one:?}"
    );
    assert_eq!(
        one.questions()[0].lines,
        ["name,id,submission", "Jan Jones,s1,10", "Jan Jones,s1,11"]
    );
    let person = one.people[0].clone();
    // It is known that one of them is Jan's.
    assert!(one.is_asked_about(&person) && person.bot_before.is_some());
    one.enlist(list("name,id,submission\nJan Jones,s1,11\nBen Brown,s2,\n"));
    assert!(one.questions().is_empty());
    let names: Vec<String> = bots(&one).into_iter().map(|(name, _)| name).collect();
    assert_eq!(names, ["Ben Brown", "Jan Jones (10)", "Jan Jones (s1)"]);
    // What the list has said holds when it says no more.
    one.enlist(list(
        "name,id\nJanet Jones,s1\nBen Brown,s2\nJan Jones,s3\n",
    ));
    let of_janet = bots(&one)
        .into_iter()
        .find(|(name, _)| name == "Janet Jones");
    assert_eq!(
        of_janet.map(|(_, senders)| senders),
        Some(vec!["11".to_owned()])
    );
}

#[test]
fn a_team_that_breaks_up_takes_nothing_from_its_people() {
    let mut class = roster(
        "name,id,team\nAnna Adams,1,owls\nBen Brown,2,owls\nCem Can,3,\n",
        &["Anna Adams_1", "Cem Can_3"],
    );
    assert_eq!(bots(&class)[1], ("owls".to_owned(), vec!["1".to_owned()]));
    class.enlist(list(
        "name,id,team\nAnna Adams,1,\nBen Brown,2,\nCem Can,3,\n",
    ));
    let now = bots(&class);
    assert_eq!(now[0], ("Anna Adams".to_owned(), vec!["1".to_owned()]));
    assert_eq!(now[1], ("Ben Brown".to_owned(), vec![]));
    let ben = class
        .people
        .iter()
        .find(|person| person.name == "Ben Brown");
    assert_eq!(ben.and_then(|ben| ben.bot_before.as_deref()), Some("owls"));
    // What was submitted in a team's name is its bot under another name, too.
    let mut named = roster("name,team\nAnna Adams,owls\nBen Brown,owls\n", &["owls"]);
    named.enlist(list("name,team\nAnna Adams,eagles\nBen Brown,eagles\n"));
    assert_eq!(
        bots(&named),
        [("eagles".to_owned(), vec!["owls".to_owned()])]
    );
}

#[test]
fn a_team_of_namesakes_is_not_a_strangers() {
    // Neither id is this number: it may be that of a third, as the ids of this list may be numbers of downloads.
    let two = "name,id,team\nJan Jones,1000011,owls\nJan Jones,1000012,owls\n";
    let one = roster(two, &["Jan Jones_1000010"]);
    assert!(
        bots(&one).contains(&("Jan Jones".to_owned(), vec!["1000010".to_owned()])),
        "{:?}",
        bots(&one)
    );
    assert_eq!(one.questions().len(), 1);
    // Two ids that are no numbers, and three who submit: one of the three is not listed.
    let words = "name,id,team\nJan Jones,a,owls\nJan Jones,b,owls\n";
    let senders = ["Jan Jones_10", "Jan Jones_11"];
    let owls = ("owls".to_owned(), vec!["10".to_owned(), "11".to_owned()]);
    assert_eq!(bots(&roster(words, &senders)), [owls]);
    let three = roster(words, &[senders[0], senders[1], "Jan Jones_12"]);
    assert!(bots(&three).iter().all(|(_, senders)| senders.len() < 2));
    assert_eq!(three.questions().len(), 1);
}

#[test]
fn who_is_called_as_a_team_of_others_is_alone() {
    let students = "name,id,team\nAnna Adams,1,Cem Can\nBen Brown,2,Cem Can\nCem Can,3,\n";
    let of = |number: &str, class: &Roster| {
        let mut bots = bots(class).into_iter();
        bots.find(|(_, senders)| senders.iter().any(|sender| sender == number))
    };
    let class = roster(students, &["Anna Adams_1", "Cem Can_3"]);
    for number in ["1", "3"] {
        let (_, senders) = of(number, &class).expect("a bot");
        assert_eq!(senders, [number]);
    }
    assert_eq!(class.questions().len(), 0);
    // By that name alone it may be either's.
    let class = roster(students, &["Anna Adams_1", "Cem Can"]);
    assert_eq!(class.questions().len(), 1, "{:?}", bots(&class));
}

#[test]
fn grades_are_of_people() {
    let file = tempfile::NamedTempFile::new().expect("a file");
    std::fs::write(
        file.path(),
        "name,id\nJan Jones,10\nJan Jones,11\nAnna Lee,12\n",
    )
    .expect("a file");
    let students = StudentList::read(file.path()).expect("a list");
    let of = |names: &[&str]| {
        let found = BotsOfStudents::of_names(&students, names)
            .students
            .into_iter();
        found.map(|student| student.bot).collect::<Vec<_>>()
    };
    let jan = |number| format!("Jan Jones_{number}_assignsubmission_file_");
    let (first, second) = (jan(10), jan(11));
    assert_eq!(
        of(&["anna-lee", &second, &first]),
        [Some(first), Some(second), Some("anna-lee".to_owned())]
    );
    assert_eq!(of(&["jan-jones", "anna-lee"])[..2], [None, None]);
}

/// What lists call people by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Known {
    /// The numbers of the download.
    Numbers,
    /// Other numbers, or words.
    OtherNumbers,
    Words,
    Addresses,
    Nothing,
}

#[derive(Clone, Debug)]
struct Week {
    /// Who gets which name from now on.
    renamed: Vec<(Index, bool)>,
    /// The team of each, as far as there is one.
    teams: Vec<Option<u8>>,
    has_list: bool,
    submits: Vec<bool>,
}

const NAMES: [&str; 3] = ["Jan Jones", "Anna Adams", "Ján Jones"];

fn weeks() -> impl Strategy<Value = Vec<Week>> {
    let week = (
        vec((any::<Index>(), any::<bool>()), 0..3),
        vec(option::of(0_u8..2), 6),
        any::<bool>(),
        vec(any::<bool>(), 6),
    );
    let week = week.prop_map(|(renamed, teams, has_list, submits)| Week {
        renamed,
        teams,
        has_list,
        submits,
    });
    vec(week, 1..5)
}

/// A student as he really is.
#[derive(Clone, Debug)]
struct Student {
    name: String,
    is_listed: bool,
    number: String,
    id: String,
    email: String,
    team: String,
}

impl Student {
    fn row(&self) -> Person {
        person(&self.name, &self.id, &self.email, &self.team)
    }
}

fn class(known: Known, names: &[usize], unlisted: usize) -> Vec<Student> {
    let students = names.iter().enumerate().map(|(place, name)| {
        let number = (1_000_010 + place).to_string();
        let is_listed = place != unlisted;
        // Where lists have no numbers, nothing tells strangers from namesakes.
        let name = if is_listed || known == Known::Numbers {
            NAMES[*name].to_owned()
        } else {
            "Stranger".to_owned()
        };
        Student {
            name,
            is_listed,
            id: match known {
                Known::Numbers => number.clone(),
                Known::OtherNumbers => (2_000_020 + place).to_string(),
                Known::Words => format!("u{place}"),
                Known::Addresses | Known::Nothing => String::new(),
            },
            email: match known {
                Known::Addresses => format!("p{place}@x.org"),
                _ => String::new(),
            },
            number,
            team: String::new(),
        }
    });
    students.collect()
}

/// What is true of every week: `listed` is the list that holds, with the people of its rows.
fn holds(
    roster: &Roster,
    students: &[Student],
    listed: &[(usize, Student, PersonId)],
    known: Known,
) {
    let owner = |number: &str| students.iter().position(|one| one.number == number);
    let bots = roster.bots();
    let labels: BTreeSet<&str> = bots.iter().map(|bot| &*bot.label).collect();
    assert_eq!(labels.len(), bots.len(), "labels {labels:?}");
    let mut seen = BTreeSet::new();
    for bot in &bots {
        let senders = bot.senders.iter().filter_map(|one| owner(one.id.text()));
        let senders: Vec<usize> = senders.collect();
        for sender in &senders {
            assert!(seen.insert(*sender), "two bots of {sender}");
        }
        // No person is joined wrongly, and only a team shares a bot.
        let row = |student: usize| listed.iter().find(|(place, ..)| *place == student);
        let team = |student: usize| {
            row(student)
                .map(|(_, row, _)| &*row.team)
                .filter(|team| !team.is_empty())
        };
        for sender in &senders {
            for other in &senders {
                let is_team = team(*sender).is_some() && team(*sender) == team(*other);
                assert!(
                    sender == other || is_team,
                    "{sender} and {other} share {bot:?}"
                );
            }
            for of in &bot.people {
                let (place, row, _) = listed
                    .iter()
                    .find(|(.., id)| *id == of.person)
                    .expect("a person of the list");
                let is_team = !row.team.is_empty() && team(*sender) == Some(&row.team);
                assert!(
                    place == sender || is_team,
                    "the bot of {sender} is that of {place}: {bot:?}"
                );
            }
        }
        // A person who has submitted is not missing. Without ids and addresses, a row of a list may be any person's.
        let is_missing = senders.is_empty()
            && !bot
                .people
                .iter()
                .any(|one| roster.is_asked_about(one) || one.bot_before.is_some());
        for of in bot.people.iter().filter(|_| is_missing) {
            let found = listed.iter().find(|(.., id)| *id == of.person);
            let (place, ..) = found.expect("a person of the list");
            let has_submitted = roster
                .senders
                .iter()
                .any(|one| owner(one.id.text()) == Some(*place));
            assert!(
                !has_submitted || known == Known::Nothing,
                "{place} is called missing: {bot:?}"
            );
        }
    }
    assert_eq!(seen.len(), roster.senders.len(), "submissions are lost");
}

/// A grade is of the program of the student in the row, or of the team: from the term's folder, and from a table of grades
/// with the names of the last download.
fn grades_hold(
    roster: &Roster,
    students: &[Student],
    listed: &[(usize, Student, PersonId)],
    submitted: &BTreeSet<usize>,
    known: Known,
) {
    let of_row = |place: usize| listed.iter().find(|(of, ..)| *of == place);
    let may_have = |place: usize, of: usize| {
        let teams = [place, of].map(|one| of_row(one).map_or("", |(_, row, _)| &*row.team));
        place == of || (!teams[0].is_empty() && teams[0] == teams[1])
    };
    let list = StudentList {
        headings: Vec::new(),
        students: listed
            .iter()
            .map(|(_, row, _)| student_list::Student {
                person: row.row(),
                values: Vec::new(),
            })
            .collect(),
    };
    let number = |place: &usize| {
        let Student { name, number, .. } = &students[*place];
        format!("{name}_{number}_assignsubmission_file_")
    };
    let download: Vec<String> = submitted.iter().map(number).collect();
    let names: Vec<&str> = download.iter().map(|name| &**name).collect();
    let table = BotsOfStudents::of_names(&list, &names);
    assert_eq!(table.students.len(), listed.len());
    for (row, (place, ..)) in table.students.iter().zip(listed) {
        let Some(bot) = &row.bot else { continue };
        let of = submitted.iter().find(|of| number(of) == *bot);
        let of = of.expect("one of the download");
        assert!(may_have(*place, *of), "{place} gets the grade of {of}");
    }
    let Some(table) = BotsOfStudents::of_roster(roster, None) else {
        return;
    };
    let bots = roster.bots();
    for (row, (place, ..)) in table.students.iter().zip(listed) {
        let owner = |number: &str| students.iter().position(|one| one.number == number);
        let Some(label) = &row.bot else {
            let has_submitted = roster.senders.iter().any(|sender| {
                let of = owner(sender.id.text());
                of == Some(*place) && sender.join.is_some()
            });
            assert!(!has_submitted, "{place} has no grade");
            continue;
        };
        let bot = bots.iter().find(|bot| bot.label == *label);
        for sender in &bot.expect("a bot").senders {
            let of = owner(sender.id.text()).expect("a student");
            assert!(
                may_have(*place, of) || known == Known::Nothing,
                "{place} gets the grade of {of}"
            );
        }
    }
}

fn a_term(known: Known, names: &[usize], unlisted: usize, weeks: &[Week]) {
    let mut students = class(known, names, unlisted);
    let mut roster = Roster::default();
    let mut listed: Vec<(usize, Student, PersonId)> = Vec::new();
    let mut ids: BTreeMap<usize, PersonId> = BTreeMap::new();
    let mut submitted = BTreeSet::new();
    for (number, week) in weeks.iter().enumerate() {
        for (place, to_another) in &week.renamed {
            let place = place.index(students.len());
            // Other lists cannot tell who has taken whose name, and not who is called otherwise than in the download.
            let name = if *to_another && known == Known::Numbers {
                NAMES[(place + number) % NAMES.len()].to_owned()
            } else {
                format!("Fresh{number}{place}")
            };
            let can_follow = known == Known::Numbers || (week.has_list && known != Known::Nothing);
            if can_follow && students[place].is_listed {
                students[place].name = name;
            }
        }
        for (student, team) in students.iter_mut().zip(&week.teams) {
            student.team = team.map_or_else(String::new, |team| format!("team {team}"));
        }
        if week.has_list {
            let rows = students.iter().enumerate().filter(|(_, one)| one.is_listed);
            let rows: Vec<(usize, &Student)> = rows.collect();
            roster.enlist(rows.iter().map(|(_, student)| student.row()).collect());
            let people = roster.people.iter().map(|person| person.person);
            listed = rows
                .iter()
                .zip(people)
                .map(|((place, student), id)| (*place, (*student).clone(), id))
                .collect();
            if known != Known::Nothing {
                for (place, _, id) in &listed {
                    assert_eq!(*ids.entry(*place).or_insert(*id), *id, "another person");
                }
            }
        }
        let new = week
            .submits
            .iter()
            .enumerate()
            .filter(|(_, submits)| **submits);
        submitted.extend(
            new.map(|(place, _)| place)
                .filter(|place| *place < students.len()),
        );
        let download: Vec<(SenderId, String)> = submitted
            .iter()
            .map(|place| {
                let Student { name, number, .. } = &students[*place];
                (SenderId::new(name, Some(number)), name.clone())
            })
            .collect();
        roster.receive(download.iter().map(|(id, name)| (id, &**name)));
        holds(&roster, &students, &listed, known);
        grades_hold(&roster, &students, &listed, &submitted, known);
        // It is the same when it is read again.
        let text = serde_json::to_string(&roster).expect("JSON");
        let mut again: Roster = serde_json::from_str(&text).expect("JSON");
        again.restore();
        assert_eq!(again, roster);
    }
}

fn known() -> impl Strategy<Value = Known> {
    prop_oneof![
        Just(Known::Numbers),
        Just(Known::OtherNumbers),
        Just(Known::Words),
        Just(Known::Addresses),
        Just(Known::Nothing),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(600))]

    /// No program is lost, no grade goes to another, and no person who has submitted is missing.
    #[test]
    fn people_are_themselves_all_term(
        known in known(),
        names in vec(0_usize..3, 1..6),
        unlisted in 0_usize..12,
        weeks in weeks(),
    ) {
        a_term(known, &names, unlisted, &weeks);
    }

    /// The same lists and downloads in any order make the same bots.
    #[test]
    fn the_order_of_weeks_does_not_matter(
        known in known(),
        names in vec(0_usize..3, 1..6),
        unlisted in 0_usize..12,
        order in Just((0..6_usize).collect::<Vec<_>>()).prop_shuffle(),
        list_at in 0_usize..6,
    ) {
        let students = class(known, &names, unlisted);
        let rows = || {
            let listed = students.iter().filter(|one| one.is_listed);
            listed.map(Student::row).collect::<Vec<_>>()
        };
        let bots = |order: &[usize], list_at: usize| {
            let mut roster = Roster::default();
            for (week, place) in order.iter().enumerate() {
                if week == list_at {
                    roster.enlist(rows());
                }
                if let Some(Student { name, number, .. }) = students.get(*place) {
                    roster.receive([(&SenderId::new(name, Some(number)), &**name)]);
                }
            }
            let bots = roster.bots().into_iter().map(|bot| {
                let senders = bot.senders.iter().map(|one| one.id.text().to_owned());
                (bot.label, senders.collect::<BTreeSet<_>>())
            });
            (bots.collect::<Vec<_>>(), roster.questions().len())
        };
        let sorted: Vec<usize> = (0..6).collect();
        prop_assert_eq!(bots(&order, list_at), bots(&sorted, 0));
    }
}
