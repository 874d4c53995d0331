//! The list of students: who they are, and who shares a bot.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use serde::{Deserialize, Serialize};

use super::Intake;
use crate::record::text_file;
use crate::text::{short_name, unreadable};

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Person {
    pub name: String,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub team: String,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub email: String,
    /// Number or name of the account.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub id: String,
    /// Names in earlier lists.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub also: Vec<String>,
}

fn no_names(path: &Path) -> String {
    format!(
        "{}: there is no column with names; expected a first line with `name`, and `team`, `email` or `id` if these are \
         known",
        path.display()
    )
}

/// Headings of the columns, in lower case.
const COLUMNS: [&[&str]; 7] = [
    &["bot"],
    &["name", "full name", "student"],
    &["first name", "firstname", "given name"],
    &["last name", "lastname", "surname", "family name"],
    &["team", "group", "groups"],
    &["email", "e-mail", "email address", "e-mail address"],
    &["id", "id number", "student id", "username", "identifier"],
];

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StudentList {
    /// Without the column that only says whose a bot is.
    pub headings: Vec<String>,
    /// Students whose bot is named, in the list's order.
    pub students: Vec<Student>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Student {
    pub person: Person,
    pub values: Vec<String>,
}

/// The people of a list with names. The error is a sentence.
pub fn read(path: &Path) -> Result<Vec<Person>, String> {
    let list = StudentList::read(path)?;
    let people = list.students.into_iter().map(|student| student.person);
    let people: Vec<Person> = people.collect();
    // Teams alone do not say who is in the course.
    if people.iter().all(|person| person.name.is_empty()) {
        return Err(no_names(path));
    }
    Ok(people)
}

/// The most frequent candidate.
fn separator(first_line: &[u8]) -> u8 {
    let count = |separator: &u8| first_line.split(|byte| byte == separator).count();
    b"\t;,".iter().copied().max_by_key(count).unwrap_or(b',')
}

/// Without the line `sep=…` of spreadsheets.
fn without_separator(text: &str) -> &str {
    let is_separator = |line: &str| line.starts_with("sep=") && line.trim_ascii_end().len() == 5;
    match text.split_once('\n') {
        Some((first, rest)) if is_separator(first) => rest,
        _ => text,
    }
}

impl StudentList {
    /// CSV with a header, separated by commas, semicolons or tabs. A student's bot is in the column `bot`, else the
    /// team, else named after the student.
    pub fn read(path: &Path) -> Result<Self, String> {
        let text =
            text_file::read(path, text_file::WRITTEN).map_err(|error| unreadable(path, &error))?;
        let text = text.strip_prefix('\u{feff}').unwrap_or(&text);
        let text = without_separator(text).as_bytes();
        let first = text.split(|&byte| byte == b'\n').next().unwrap_or_default();
        let csv = |error| format!("{}: invalid CSV: {error}", path.display());
        let mut options = csv::ReaderBuilder::new();
        options
            .delimiter(separator(first))
            .trim(csv::Trim::All)
            .flexible(true);
        let mut table = options.from_reader(text);
        let headers = table.headers().map_err(csv)?.clone();
        let column = |names: &[&str]| {
            names.iter().find_map(|name| {
                let mut headers = headers.iter().map(str::to_lowercase);
                headers.position(|header| header == *name)
            })
        };
        let [bot, name, first, last, team, email, id] = COLUMNS.map(column);
        if [bot, name, last, team].iter().all(Option::is_none) {
            return Err(no_names(path));
        }
        // A column that only says whose a bot is.
        let joining = bot.or(team);
        let kept = |row: &csv::StringRecord| -> Vec<String> {
            let places = (0..headers.len()).filter(|place| Some(*place) != joining);
            places
                .map(|place| row.get(place).unwrap_or_default().to_owned())
                .collect()
        };
        let mut students = Vec::new();
        for row in table.records() {
            let row = row.map_err(csv)?;
            let field = |place: Option<usize>| {
                let value = place.and_then(|place| row.get(place));
                value.unwrap_or_default().to_owned()
            };
            let name = if name.is_some() {
                field(name)
            } else {
                let both = format!("{} {}", field(first), field(last));
                both.trim().to_owned()
            };
            let own = Some(field(bot)).filter(|bot| !bot.is_empty());
            let person = Person {
                name,
                team: own.unwrap_or_else(|| field(team)),
                email: field(email),
                id: field(id),
                also: Vec::new(),
            };
            if !person.bot().is_empty() {
                let values = kept(&row);
                students.push(Student { person, values });
            }
        }
        if students.is_empty() {
            let path = path.display();
            return Err(format!("{path}: there are no students in this list"));
        }
        Ok(Self {
            headings: kept(&headers),
            students,
        })
    }

    pub fn of(people: &[Person]) -> Self {
        type Column = (&'static str, fn(&Person) -> &String);
        let all: [Column; 3] = [
            ("Full name", |person| &person.name),
            ("Email address", |person| &person.email),
            ("ID number", |person| &person.id),
        ];
        let is_known = |(_, value): &Column| people.iter().any(|one| !value(one).is_empty());
        let known: Vec<Column> = all.into_iter().filter(is_known).collect();
        let student = |person: &Person| Student {
            person: person.clone(),
            values: known
                .iter()
                .map(|(_, value)| value(person).clone())
                .collect(),
        };
        let headings = known.iter().map(|(heading, _)| (*heading).to_owned());
        Self {
            headings: headings.collect(),
            students: people.iter().map(student).collect(),
        }
    }

    /// The list's spelling; `None` if no student has this bot.
    pub fn bot(&self, name: &str) -> Option<String> {
        let mut bots = self.students.iter().map(|student| student.person.bot());
        if let Some(bot) = bots.find(|bot| bot == name) {
            return Some(bot);
        }
        let people: Vec<Person> = self.students.iter().map(|one| one.person.clone()).collect();
        bot_of(&people, name, None)
    }
}

/// For comparing: lower-case letters and digits, words separated by a space.
fn plain(name: &str) -> String {
    let words = name.split(|c: char| !c.is_alphanumeric());
    let words = words.filter(|word| !word.is_empty()).map(str::to_lowercase);
    words.collect::<Vec<_>>().join(" ")
}

/// Letters with their accents, and without.
const ACCENTS: &str = "aàáâãäåāăą cçćĉċč dďđ eèéêëēĕėęě gĝğġģ hĥħ iìíîïĩīĭįı jĵ kķ lĺļľł nñńņň oòóôõöøōŏő rŕŗř \
                       sśŝşšș tţťŧț uùúûüũūŭůűų wŵ yýÿŷ zźżž";

/// Also without accents, however they are written.
fn without_accents(name: &str) -> String {
    let is_mark = |c: &char| ('\u{300}'..='\u{36f}').contains(c);
    let bare = |c: char| {
        let group = ACCENTS.split(' ').find(|group| group.contains(c));
        group.and_then(|group| group.chars().next()).unwrap_or(c)
    };
    let lower = name.to_lowercase();
    let bare: String = lower.chars().filter(|c| !is_mark(c)).map(bare).collect();
    plain(&bare)
}

impl Person {
    /// Named after the team or the student.
    pub fn bot(&self) -> String {
        short_name(if self.team.is_empty() {
            &self.name
        } else {
            &self.team
        })
    }

    fn called(&self, plain: fn(&str) -> String) -> impl Iterator<Item = String> {
        let local = self.email.split('@').next().unwrap_or_default();
        let all = [&*self.name, &self.team, &self.id, &self.email, local];
        let also = self.also.iter().map(String::as_str);
        let all = all.into_iter().chain(also).map(plain);
        all.filter(|name| !name.is_empty())
    }
}

/// From Moodle's list of grades: `Participant 1234567`, in the course's language.
fn participant(id: &str) -> Option<&str> {
    let (word, number) = id.rsplit_once(' ')?;
    let is_word = word.chars().any(char::is_alphabetic) && !word.contains(|c: char| c.is_numeric());
    let is_number = number.bytes().all(|byte| byte.is_ascii_digit());
    (is_word && is_number).then_some(number)
}

/// The bot of a submission; `None` if no or several people match. The whole name must match, or its end as in
/// `exercise-anna`.
pub fn bot_of(people: &[Person], name: &str, id: Option<&str>) -> Option<String> {
    let fits_whole = |plain: fn(&str) -> String| {
        let name = plain(name);
        move |person: &Person| {
            let is_id = id.is_some_and(|id| id == person.id || Some(id) == participant(&person.id));
            is_id || person.called(plain).any(|called| called == name)
        }
    };
    let fits_end = |person: &Person| {
        let name = without_accents(name);
        let mut called = person.called(without_accents);
        called.any(|called| name.ends_with(&format!(" {called}")))
    };
    let all: [&dyn Fn(&Person) -> bool; 3] =
        [&fits_whole(plain), &fits_whole(without_accents), &fits_end];
    let mut found = all.into_iter().map(|fits| {
        let fitting = people.iter().filter(|person| fits(person));
        fitting.map(Person::bot).collect::<BTreeSet<String>>()
    });
    let mut bots = found.find(|bots| !bots.is_empty())?;
    bots.pop_first().filter(|_| bots.is_empty())
}

/// Who this is in a list: the only one of that id or address, or else of that name.
pub fn same<'a>(list: &'a [Person], person: &Person) -> Option<&'a Person> {
    let is_same = |a: &str, b: &str| !a.is_empty() && a == b;
    let by_id =
        |other: &&Person| is_same(&person.id, &other.id) || is_same(&person.email, &other.email);
    let by_name = |other: &&Person| is_same(&person.name, &other.name);
    let only = |found: Vec<&'a Person>| <[_; 1]>::try_from(found).ok().map(|[one]| one);
    only(list.iter().filter(by_id).collect())
        .or_else(|| only(list.iter().filter(by_name).collect()))
}

/// Names submissions after their owners. Others keep their earlier name (`called`, by name and Moodle's number), or
/// their own; two names of one number are one student.
pub fn join(
    intake: &mut Intake,
    people: &[Person],
    mut called: impl FnMut(&str, &str) -> Option<String>,
) {
    let submissions = intake.submissions.iter_mut();
    let submissions = submissions.map(|one| (&mut one.name, one.id.as_deref()));
    let refused = intake.refused.iter_mut();
    let refused = refused.map(|one| (&mut one.name, one.id.as_deref()));
    let mut by_number = BTreeMap::new();
    for (name, id) in submissions.chain(refused) {
        let bot = bot_of(people, name, id);
        let bot = bot.or_else(|| {
            let name = by_number
                .entry(id?.to_owned())
                .or_insert_with(|| name.clone());
            Some(called(name, id?).unwrap_or_else(|| name.clone()))
        });
        if let Some(bot) = bot {
            *name = bot;
        }
    }
    intake.put_in_order();
}

pub fn by_bot(people: &[Person]) -> BTreeMap<String, Vec<&str>> {
    let mut bots: BTreeMap<String, Vec<&str>> = BTreeMap::new();
    for person in people {
        bots.entry(person.bot()).or_default().push(&person.name);
    }
    bots
}

#[cfg(test)]
mod tests {
    use super::*;

    fn list(text: &str) -> Result<Vec<Person>, String> {
        let file = tempfile::NamedTempFile::new().expect("a file");
        std::fs::write(file.path(), text).expect("a file");
        read(file.path())
    }

    #[test]
    fn lists_are_read_as_programs_write_them() {
        let people = list(
            "\u{feff}First name;Last name;ID number;Email address;Group\r\nAnna;Á;17;a@x.org;\r\n",
        );
        let anna = Person {
            name: "Anna Á".to_owned(),
            team: String::new(),
            email: "a@x.org".to_owned(),
            id: "17".to_owned(),
            also: Vec::new(),
        };
        assert_eq!(people.expect("a list"), std::slice::from_ref(&anna));
        let tabs = "Full name\tEmail address\tID number\tGroups\nAnna Á\ta@x.org\t17\t\n";
        assert_eq!(list(tabs).expect("a list"), [anna]);
        let commas = "name,\"Note; with; semicolons\",team\nAnna,x,foxes\n";
        assert_eq!(list(commas).expect("a list")[0].bot(), "foxes");
        let bots = "team,bot,name\n1,foxes,Anna\n1,,Ben\n";
        let bots: Vec<String> = list(bots)
            .expect("a list")
            .iter()
            .map(Person::bot)
            .collect();
        assert_eq!(bots, ["foxes", "1"]);
        let told = list("sep=;\r\nname;team\r\nAnna, A;foxes\r\n").expect("a list");
        assert_eq!((&*told[0].name, &*told[0].bot()), ("Anna, A", "foxes"));
        let problem = |text: &str| list(text).expect_err(text);
        assert!(problem("team,id\nx,1\n").contains("no column with names"));
        assert!(problem("name\n").contains("no students"));
    }

    #[test]
    fn participants_of_moodle_are_found_by_their_numbers() {
        let text = "Identifier,Full name,Group\nParticipant 103,Alex Kim,owls\nParticipant 104,Alex Kim,foxes\n";
        let people = list(text).expect("a list");
        for (id, bot) in [("103", Some("owls")), ("104", Some("foxes")), ("10", None)] {
            let name = format!("Alex Kim ({id})");
            assert_eq!(bot_of(&people, &name, Some(id)).as_deref(), bot, "{id}");
        }
    }

    #[test]
    fn other_accents_are_the_same_name() {
        let people = list("name\nJosé Jung\nZoë Lang\nZoe Lang\n").expect("a list");
        let bot = |name: &str| bot_of(&people, name, None);
        for name in ["Jose Jung", "jose\u{301}-jung", "JOSÈ JUNG"] {
            assert_eq!(bot(name).as_deref(), Some("José Jung"), "{name}");
        }
        assert_eq!(bot("Zoë Lang").as_deref(), Some("Zoë Lang"));
        assert_eq!(bot("Zöe Lang"), None);
    }

    #[test]
    fn people_are_found_by_name_number_and_address() {
        let people = list(
            "NAME,Team,Email,Id\nAnna Lee,,anna.lee@x.org,alee\nBen Fox,foxes,b@x.org,17\nCem Can,foxes,,18\nAnna Lee,,,zz\n",
        );
        let mut people = people.expect("a list");
        people.pop();
        let bot = |name: &str, id| bot_of(&people, name, id);
        for name in [
            "Anna Lee",
            "anna_lee",
            "alee",
            "anna.lee@x.org",
            "quarto-alee",
            "ex-1-anna-lee",
        ] {
            assert_eq!(bot(name, None).as_deref(), Some("Anna Lee"), "{name}");
        }
        for name in ["Ben Fox", "CEM CAN", "foxes", "ex-foxes", "17"] {
            assert_eq!(bot(name, None).as_deref(), Some("foxes"), "{name}");
        }
        assert_eq!(bot("somebody", Some("18")).as_deref(), Some("foxes"));
        for name in ["Anna", "Lee Anna", "", "x17"] {
            assert_eq!(bot(name, None), None, "{name}");
        }
    }
}
