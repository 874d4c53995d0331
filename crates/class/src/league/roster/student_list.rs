//! The list of students, a CSV table.

use std::io;
use std::path::{Path, PathBuf};

use super::joining::participant;
use super::person::Person;
use super::question::RosterQuestion;
use super::{Roster, SenderId, team_key};
use crate::league::intake::sender_of;
use referee_match::bot::naming::composed;
use referee_match::record::text_file;
use referee_text::unreadable;

/// What is wrong with a list of students, and what was expected.
#[derive(Debug, thiserror::Error)]
pub enum StudentListError {
    #[error("{}", unreadable(.path, .error))]
    Unreadable { path: PathBuf, error: io::Error },
    #[error("{}: invalid CSV: {error}", .path.display())]
    Csv { path: PathBuf, error: csv::Error },
    #[error(
        "{}: there is no column with names; expected a first line with `name`, and `team`, `email` or `id` if these are \
         known", .0.display()
    )]
    NoNames(PathBuf),
    #[error(
        "{}:{line}: the {key} is that of line {earlier}, too; expected one line for each student", .path.display()
    )]
    RepeatedStudent {
        path: PathBuf,
        line: u64,
        /// `id 17`.
        key: String,
        earlier: u64,
    },
    #[error(
        "{}:{line}: the quote that begins here is not closed where its field ends; expected \"Adams, Anna\", and within \
         such a field \"\" for a quote", .path.display()
    )]
    UnclosedQuote { path: PathBuf, line: u64 },
    #[error("{}: there are no students in this list", .0.display())]
    NoStudents(PathBuf),
}

/// The places of the columns that are there.
#[derive(Clone, Copy, Debug)]
struct Columns {
    bot: Option<usize>,
    name: Option<usize>,
    first_name: Option<usize>,
    last_name: Option<usize>,
    team: Option<usize>,
    email: Option<usize>,
    id: Option<usize>,
    submission: Option<usize>,
    /// Of Moodle, which may be the id as well.
    identifier: Option<usize>,
}

// Headings in lower case, as lists have them: by hand in English, and of Moodle in English, Dutch, French and German.
const NAME: [&str; 7] = [
    "name",
    "full name",
    "student",
    "volledige naam",
    "naam",
    "nom complet",
    "vollständiger name",
];
const FIRST_NAME: [&str; 6] = [
    "first name",
    "firstname",
    "given name",
    "voornaam",
    "prénom",
    "vorname",
];
const LAST_NAME: [&str; 8] = [
    "last name",
    "lastname",
    "surname",
    "family name",
    "achternaam",
    "nom de famille",
    "nom",
    "nachname",
];
const TEAM: [&str; 9] = [
    "team", "group", "groups", "groep", "groepen", "groupe", "groupes", "gruppe", "gruppen",
];
const EMAIL: [&str; 8] = [
    "email",
    "e-mail",
    "email address",
    "e-mail address",
    "e-mailadres",
    "adresse de courriel",
    "courriel",
    "e-mail-adresse",
];
const ID: [&str; 11] = [
    "id",
    "id number",
    "id-nummer",
    "numéro d'identification",
    "student id",
    "username",
    "gebruikersnaam",
    "nom d'utilisateur",
    "anmeldename",
    "identifier",
    "identifiant",
];
const IDENTIFIER: [&str; 2] = ["identifier", "identifiant"];

/// What follows a comma in a name without being a first name.
const SUFFIXES: [&str; 7] = ["jr", "sr", "ii", "iii", "iv", "phd", "md"];

/// `Adams, Anna` as `Anna Adams`, as downloads have it.
fn first_name_first(name: String) -> String {
    let Some((last, first)) = name.split_once(", ") else {
        return name;
    };
    let suffix = first.trim_end_matches('.').to_lowercase();
    if first.contains(',') || first.is_empty() || last.is_empty() || SUFFIXES.contains(&&*suffix) {
        return name;
    }
    format!("{first} {last}")
}

impl Columns {
    fn of(headers: &csv::StringRecord) -> Self {
        let plain = |heading: &str| composed(heading).to_lowercase().replace('’', "'");
        let lower: Vec<String> = headers.iter().map(plain).collect();
        // Of several names, the first that is there counts.
        let place = |names: &[&str]| {
            let mut names = names.iter();
            names.find_map(|name| lower.iter().position(|header| header == name))
        };
        Self {
            bot: place(&["bot"]),
            name: place(&NAME),
            first_name: place(&FIRST_NAME),
            last_name: place(&LAST_NAME),
            team: place(&TEAM),
            email: place(&EMAIL),
            id: place(&ID),
            submission: place(&["submission", "submissions"]),
            identifier: place(&IDENTIFIER),
        }
    }

    fn say_who(&self) -> bool {
        let columns = [self.bot, self.name, self.last_name, self.team];
        columns.iter().any(Option::is_some)
    }

    /// Without the column that only says whose a bot is.
    fn values(&self, row: &csv::StringRecord, columns: usize) -> Vec<String> {
        let joining = self.bot.or(self.team);
        let places = (0..columns).filter(|place| Some(*place) != joining);
        places
            .map(|place| row.get(place).unwrap_or_default().to_owned())
            .collect()
    }

    fn person(&self, row: &csv::StringRecord) -> Person {
        let field = |place: Option<usize>| {
            let value = place.and_then(|place| row.get(place));
            composed(value.unwrap_or_default())
        };
        let name = if self.name.is_some() {
            first_name_first(field(self.name))
        } else {
            let both = format!("{} {}", field(self.first_name), field(self.last_name));
            both.trim().to_owned()
        };
        let bot = Some(field(self.bot)).filter(|bot| !bot.is_empty());
        Person {
            name,
            team: bot.unwrap_or_else(|| field(self.team)),
            email: field(self.email),
            id: field(self.id),
            submissions: submissions(&field(self.submission), &field(self.identifier)),
            ..Person::default()
        }
    }
}

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

/// The people of a list with names.
pub fn read(path: &Path) -> Result<Vec<Person>, StudentListError> {
    let list = StudentList::read(path)?;
    let people = list.students.into_iter().map(|student| student.person);
    let people: Vec<Person> = people.collect();
    // Teams alone do not say who is in the course.
    if people.iter().all(|person| person.name.is_empty()) {
        return Err(StudentListError::NoNames(path.to_owned()));
    }
    Ok(people)
}

/// Of the column `submission`, and a participant's number.
fn submissions(listed: &str, identifier: &str) -> Vec<String> {
    let listed = listed.split(';').map(str::trim);
    let number = (participant(identifier) != identifier).then_some(identifier);
    let all = listed.chain(number).filter(|one| !one.is_empty());
    all.map(str::to_owned).collect()
}

/// The most frequent candidate.
fn separator(first_line: &[u8]) -> u8 {
    let count = |separator: &u8| first_line.split(|byte| byte == separator).count();
    b"\t;,".iter().copied().max_by_key(count).unwrap_or(b',')
}

/// A table without a byte order mark and the line `sep=…` of spreadsheets.
struct TableText<'a> {
    bytes: &'a [u8],
    separator: u8,
    /// The lines before it.
    skipped: u64,
}

impl<'a> TableText<'a> {
    fn of(text: &'a str) -> Self {
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        let is_separator =
            |line: &str| line.starts_with("sep=") && line.trim_ascii_end().len() == 5;
        let (bytes, skipped) = match text.split_once('\n') {
            Some((first, rest)) if is_separator(first) => (rest.as_bytes(), 1),
            _ => (text.as_bytes(), 0),
        };
        let first_line = bytes.split(|&byte| byte == b'\n').next();
        Self {
            bytes,
            separator: separator(first_line.unwrap_or_default()),
            skipped,
        }
    }

    fn reader(&self) -> csv::Reader<&'a [u8]> {
        let mut options = csv::ReaderBuilder::new();
        options
            .delimiter(self.separator)
            .trim(csv::Trim::All)
            .flexible(true);
        options.from_reader(self.bytes)
    }

    /// The reader begins a row with the empty lines before it.
    fn line_of(&self, row: &csv::StringRecord) -> u64 {
        let Some(position) = row.position() else {
            return 0;
        };
        let place = usize::try_from(position.byte()).unwrap_or(usize::MAX);
        let rest = self.bytes.get(place..).unwrap_or_default();
        let ends = rest.iter().take_while(|byte| b"\r\n".contains(byte));
        let before = ends.filter(|byte| **byte == b'\n').count() as u64;
        self.skipped + position.line() + before
    }

    /// The line of a quote that begins a field and is closed in the middle of another one, or never: the reader would make
    /// one field of all that lies between.
    fn unclosed_quote(&self) -> Option<u64> {
        #[derive(Clone, Copy)]
        enum At {
            FieldStart,
            Field,
            /// In quotes that were opened on this line.
            Quoted(u64),
            /// After a quote that closes the field, or is the first of two that stand for one.
            Closed(u64),
        }
        let mut line = 1;
        let mut at = At::FieldStart;
        for &byte in self.bytes {
            let ends_field = byte == self.separator || byte == b'\n' || byte == b'\r';
            at = match at {
                At::FieldStart if byte == b'"' => At::Quoted(line),
                At::Closed(opened) if byte == b'"' => At::Quoted(opened),
                At::Quoted(opened) if byte == b'"' => At::Closed(opened),
                At::Quoted(opened) => At::Quoted(opened),
                _ if ends_field => At::FieldStart,
                At::Closed(_) if byte == b' ' => at,
                At::Closed(opened) => return Some(self.skipped + opened),
                At::FieldStart | At::Field => At::Field,
            };
            line += u64::from(byte == b'\n');
        }
        match at {
            At::Quoted(opened) => Some(self.skipped + opened),
            At::FieldStart | At::Field | At::Closed(_) => None,
        }
    }
}

/// The students of a list, as far as it is read.
#[derive(Default)]
struct StudentRows {
    students: Vec<Student>,
    /// The line of each.
    lines: Vec<u64>,
}

/// Two rows with one key are of different teams, or with one id of different names.
struct RepeatedStudent {
    /// `id 17`.
    key: String,
    earlier: u64,
}

impl StudentRows {
    /// A further row of a student only adds submissions. A student is known by the id, or without one by the name and the address.
    fn add(&mut self, student: Student, line: u64) -> Result<(), RepeatedStudent> {
        let row = student.person.clone();
        let has_id = !row.id.is_empty();
        let is_same = |known: &Student| {
            let known = &known.person;
            if has_id {
                return known.id == row.id;
            }
            let has_address = known.id.is_empty() && !row.email.is_empty();
            has_address && (&known.email, &known.name) == (&row.email, &row.name)
        };
        let Some(place) = self.students.iter().position(is_same) else {
            self.students.push(student);
            self.lines.push(line);
            return Ok(());
        };
        let known = &mut self.students[place].person;
        if known.name != row.name || team_key(&known.team) != team_key(&row.team) {
            let key = if has_id {
                format!("id {}", row.id)
            } else {
                format!("address {}", row.email)
            };
            return Err(RepeatedStudent {
                key,
                earlier: self.lines[place],
            });
        }
        known.submissions.extend(row.submissions);
        Ok(())
    }
}

impl StudentList {
    /// CSV with a header, separated by commas, semicolons or tabs. A student's bot is in the column `bot`, else the
    /// team, else named after the student.
    pub fn read(path: &Path) -> Result<Self, StudentListError> {
        let text = text_file::read_written(path).map_err(|error| StudentListError::Unreadable {
            path: path.to_owned(),
            error,
        })?;
        let csv = |error| StudentListError::Csv {
            path: path.to_owned(),
            error,
        };
        let text = TableText::of(&text);
        if let Some(line) = text.unclosed_quote() {
            let path = path.to_owned();
            return Err(StudentListError::UnclosedQuote { path, line });
        }
        let mut table = text.reader();
        let headers = table.headers().map_err(csv)?.clone();
        let columns = Columns::of(&headers);
        if !columns.say_who() {
            return Err(StudentListError::NoNames(path.to_owned()));
        }
        let mut rows = StudentRows::default();
        for row in table.records() {
            let row = row.map_err(csv)?;
            let person = columns.person(&row);
            if person.name.is_empty() && person.team.is_empty() {
                continue;
            }
            let line = text.line_of(&row);
            let student = Student {
                person,
                values: columns.values(&row, headers.len()),
            };
            rows.add(student, line)
                .map_err(
                    |RepeatedStudent { key, earlier }| StudentListError::RepeatedStudent {
                        path: path.to_owned(),
                        line,
                        key,
                        earlier,
                    },
                )?;
        }
        if rows.students.is_empty() {
            return Err(StudentListError::NoStudents(path.to_owned()));
        }
        Ok(Self {
            headings: columns.values(&headers, headers.len()),
            students: rows.students,
        })
    }

    /// The columns of people that a league knows.
    fn of(people: &[&Person]) -> Self {
        type Column = (&'static str, fn(&Person) -> &String);
        let all: [Column; 3] = [
            ("Full name", |person| &person.name),
            ("Email address", |person| &person.email),
            ("ID number", |person| &person.id),
        ];
        let is_known = |(_, value): &Column| people.iter().any(|one| !value(one).is_empty());
        let known: Vec<Column> = all.into_iter().filter(is_known).collect();
        let student = |person: &&Person| Student {
            person: (*person).clone(),
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
}

/// Whose a bot is, for a table with a row for each student.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BotsOfStudents {
    pub headings: Vec<String>,
    pub students: Vec<BotOfStudent>,
    /// Whose bots these are is not certain: their students have none.
    pub questions: Vec<RosterQuestion>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BotOfStudent {
    pub values: Vec<String>,
    /// The team or the student, told apart from others of the name.
    pub label: String,
    pub bot: Option<String>,
    pub is_asked_about: bool,
}

impl BotsOfStudents {
    /// Of bots that are called as entries of downloads are.
    pub fn of_names(list: &StudentList, names: &[&str]) -> Self {
        let mut roster = Roster::default();
        let senders: Vec<(SenderId, String)> = names.iter().map(|name| sender_of(name)).collect();
        roster.receive(senders.iter().map(|(id, name)| (id, &**name)));
        let bot = |folder: &str| {
            let sender = roster.senders.iter().find(|one| one.folder == folder)?;
            let mut all = senders.iter().zip(names);
            let (_, name) = all.find(|((id, _), _)| *id == sender.id)?;
            Some((*name).to_owned())
        };
        let folders = roster.senders.iter().map(|one| &one.folder);
        let bots: Vec<(String, Option<String>)> = folders
            .map(|folder| (folder.clone(), bot(folder)))
            .collect();
        Self::of(list, roster, |folder| {
            let mut all = bots.iter();
            all.find(|(known, _)| known == folder)?.1.clone()
        })
    }

    /// Of a league, by its list or another one. `None` without any.
    pub fn of_roster(roster: &Roster, list: Option<&StudentList>) -> Option<Self> {
        let known;
        let list = match list {
            Some(list) => list,
            None if !roster.has_list() => return None,
            None => {
                let listed = roster.people.iter().filter(|person| !person.has_left);
                known = StudentList::of(&listed.collect::<Vec<_>>());
                &known
            }
        };
        let labels = roster.labels();
        let of = |folder: &str| labels.get(folder).cloned();
        Some(Self::of(list, roster.clone(), of))
    }

    fn of(list: &StudentList, mut roster: Roster, bot: impl Fn(&str) -> Option<String>) -> Self {
        let people = list.students.iter().map(|student| student.person.clone());
        roster.enlist(people.collect());
        let bots = roster.bots();
        let students = list.students.iter().zip(&roster.people);
        let students = students.map(|(student, person)| {
            let owner = roster.owner_of(person.person);
            let of = bots.iter().find(|bot| bot.owner == owner);
            let mut senders = of.into_iter().flat_map(|bot| &bot.senders);
            BotOfStudent {
                values: student.values.clone(),
                label: of.map_or_else(String::new, |bot| bot.label.clone()),
                bot: senders.find_map(|sender| bot(&sender.folder)),
                is_asked_about: roster.is_asked_about(person),
            }
        });
        Self {
            headings: list.headings.clone(),
            students: students.collect(),
            questions: roster.questions(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn people(table: &str) -> Vec<Person> {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("list.csv");
        std::fs::write(&path, table).expect("a file");
        read(&path).expect("people")
    }

    #[test]
    fn headings_of_each_language_are_known() {
        for table in [
            "First name,Last name,ID number,Email address,Groups\nAnna,Adams,17,a@b.org,Red\n",
            "Voornaam,Achternaam,ID-nummer,E-mailadres,Groepen\nAnna,Adams,17,a@b.org,Red\n",
            "Prénom;Nom de famille;Numéro d’identification;Adresse de courriel;Groupes\nAnna;Adams;17;a@b.org;Red\n",
            "Vorname\tNachname\tID-Nummer\tE-Mail-Adresse\tGruppen\nAnna\tAdams\t17\ta@b.org\tRed\n",
            "Vollständiger Name,ID-Nummer,E-Mail-Adresse,Gruppe\nAnna Adams,17,a@b.org,Red\n",
            "name,id,email,team\n\"Adams, Anna\",17,a@b.org,Red\n",
        ] {
            let people = people(table);
            let person = &people[0];
            let found = [&person.name, &person.id, &person.email, &person.team];
            assert_eq!(found, ["Anna Adams", "17", "a@b.org", "Red"], "{table}");
        }
    }

    /// What is read of a list: name, id, address and team of each; or the sentence by which it is refused, without the path.
    fn told(table: &[u8]) -> Result<Vec<[String; 4]>, String> {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("list.csv");
        std::fs::write(&path, table).expect("a file");
        let rows = read(&path).map_err(|error| {
            let sentence = error.to_string();
            let path = path.display().to_string();
            sentence.strip_prefix(&path).unwrap_or(&sentence).to_owned()
        })?;
        let row = |person: &Person| {
            [&person.name, &person.id, &person.email, &person.team].map(String::clone)
        };
        Ok(rows.iter().map(row).collect())
    }

    #[expect(clippy::too_many_lines, reason = "a table of cases")]
    #[test]
    fn the_same_list_is_read_from_each_form() {
        let expected = [
            ["Anna Adams", "17", "a@b.org", "Red"],
            ["Ben Bär", "18", "", ""],
        ];
        let expected = expected.map(|row| row.map(str::to_owned)).to_vec();
        for (form, table) in [
            (
                "commas",
                "name,id,email,team\nAnna Adams,17,a@b.org,Red\nBen Bär,18,,\n",
            ),
            (
                "semicolons",
                "name;id;email;team\nAnna Adams;17;a@b.org;Red\nBen Bär;18;;\n",
            ),
            (
                "tabs",
                "name\tid\temail\tteam\nAnna Adams\t17\ta@b.org\tRed\nBen Bär\t18\t\t\n",
            ),
            (
                "commas within fields between semicolons",
                "name;id;email;team\nAdams, Anna;17;a@b.org;Red\nBär, Ben;18;;\n",
            ),
            (
                "a byte order mark",
                "\u{feff}name,id,email,team\nAnna Adams,17,a@b.org,Red\nBen Bär,18,,\n",
            ),
            (
                "a byte order mark before a quote",
                "\u{feff}\"name\",\"id\",\"email\",\"team\"\n\"Anna Adams\",\"17\",\"a@b.org\",\"Red\"\n\"Ben Bär\",\"18\",\"\",\"\"\n",
            ),
            (
                "a line that names the separator",
                "sep=;\r\nname;id;email;team\r\nAnna Adams;17;a@b.org;Red\r\nBen Bär;18;;\r\n",
            ),
            (
                "a byte order mark and such a line",
                "\u{feff}sep=,\nname,id,email,team\nAnna Adams,17,a@b.org,Red\nBen Bär,18,,\n",
            ),
            (
                "lines of Windows",
                "name,id,email,team\r\nAnna Adams,17,a@b.org,Red\r\nBen Bär,18,,\r\n",
            ),
            (
                "lines of old Macs",
                "name,id,email,team\rAnna Adams,17,a@b.org,Red\rBen Bär,18,,\r",
            ),
            (
                "no last newline",
                "name,id,email,team\nAnna Adams,17,a@b.org,Red\nBen Bär,18,,",
            ),
            (
                "empty lines",
                "\n\nname,id,email,team\n\nAnna Adams,17,a@b.org,Red\n\n\nBen Bär,18,,\n\n",
            ),
            (
                "lines of nothing but separators",
                "name,id,email,team\n,,,\nAnna Adams,17,a@b.org,Red\nBen Bär,18,,\n,,,\n,,,\n",
            ),
            (
                "spaces around fields",
                " name , id ,email,  team\n Anna Adams , 17,a@b.org ,Red \n\tBen Bär,18, ,\n",
            ),
            (
                "quotes around some fields",
                "name,id,\"email\",team\n\"Anna Adams\",17,\"a@b.org\",Red\n\"Ben Bär\",18,\"\",\n",
            ),
            (
                "the last name first",
                "name,id,email,team\n\"Adams, Anna\",17,a@b.org,Red\n\"Bär, Ben\",18,,\n",
            ),
            (
                "two columns of names",
                "Last name,First name,id,email,team\nAdams,Anna,17,a@b.org,Red\nBär,Ben,18,,\n",
            ),
            (
                "headings in capitals",
                "NAME,ID,E-MAIL,TEAM\nAnna Adams,17,a@b.org,Red\nBen Bär,18,,\n",
            ),
            (
                "another order and more columns",
                "Status,team,Last access,id,name,email,Notes\n\
                 active,Red,never,17,Anna Adams,a@b.org,\"said \"\"no\"\"\"\nactive,,never,18,Ben Bär,,\n",
            ),
            (
                "columns without a heading",
                ",name,id,,email,team,,\n1,Anna Adams,17,,a@b.org,Red,,\n2,Ben Bär,18,,,,,\n",
            ),
            (
                "a short row",
                "name,id,email,team\nAnna Adams,17,a@b.org,Red\nBen Bär,18\n",
            ),
            (
                "a long row",
                "name,id,email,team\nAnna Adams,17,a@b.org,Red,,x\nBen Bär,18,,,,\n",
            ),
            (
                "decomposed accents",
                "name,id,email,team\nAnna Adams,17,a@b.org,Red\nBen Ba\u{308}r,18,,\n",
            ),
            (
                "a row twice",
                "name,id,email,team\nAnna Adams,17,a@b.org,Red\nBen Bär,18,,\nBen Bär,18,,\n",
            ),
            (
                "a line break in a field that is not read",
                "name,id,email,team,notes\nAnna Adams,17,a@b.org,Red,\"late\ntwice\"\nBen Bär,18,,,\n",
            ),
            (
                "participants of Moodle",
                "First name,Last name,ID number,Email address,Groups\n\
                 Anna,Adams,17,a@b.org,Red\nBen,Bär,18,,\n",
            ),
            (
                "participants in French",
                "Prénom;Nom de famille;Numéro d’identification;Adresse de courriel;Groupes\n\
                 Anna;Adams;17;a@b.org;Red\nBen;Bär;18;;\n",
            ),
            (
                "grades of Moodle",
                "\"First name\",\"Last name\",\"ID number\",\"Email address\",\"Group\",\"Assignment: Quarto (Real)\"\n\
                 Anna,Adams,17,a@b.org,Red,-\nBen,Bär,18,,,-\n",
            ),
        ] {
            assert_eq!(told(table.as_bytes()), Ok(expected.clone()), "{form}");
        }
    }

    #[test]
    fn what_is_not_a_list_of_students_is_refused_with_its_line() {
        let not_utf_8 = "is not UTF-8; save the file with UTF-8 encoding";
        let not_text = "is not text; save the file with UTF-8 encoding";
        let utf_16 = |marked: bool, big: bool| -> Vec<u8> {
            let text = if marked { "\u{feff}" } else { "" }.to_owned() + "name,id\nBen,18\n";
            let units = text.encode_utf16();
            let bytes = |unit: u16| {
                if big {
                    unit.to_be_bytes()
                } else {
                    unit.to_le_bytes()
                }
            };
            units.flat_map(bytes).collect()
        };
        let utf_32 = "\u{feff}name,id\nBen,18\n".chars();
        let utf_32: Vec<u8> = utf_32.flat_map(|c| u32::from(c).to_le_bytes()).collect();
        let no_names = ": there is no column with names; expected a first line with `name`, and `team`, `email` or `id` \
                        if these are known";
        let no_students = ": there are no students in this list";
        let open = "the quote that begins here is not closed where its field ends; expected \"Adams, Anna\", and within such \
                    a field \"\" for a quote";
        for (table, sentence) in [
            (b"name,id\nBen B\xe4r,18\n".to_vec(), format!(": line 2: byte 0xe4 {not_utf_8}")),
            // Of Windows, of DOS, of old Macs and of Japan.
            (b"name,id\nAnna,17\nO\x92Neill,18\n".to_vec(), format!(": line 3: byte 0x92 {not_utf_8}")),
            (b"name,id\nBen B\x84r,18\n".to_vec(), format!(": line 2: byte 0x84 {not_utf_8}")),
            (b"name,id\rBen B\x8ar,18\r".to_vec(), format!(": line 1: byte 0x8a {not_utf_8}")),
            (b"name,id\n\x8e\x52\x93\x63,18\n".to_vec(), format!(": line 2: byte 0x8e {not_utf_8}")),
            // A letter that was cut.
            (b"name,id\nBen B\xc3".to_vec(), format!(": line 2: byte 0xc3 {not_utf_8}")),
            (utf_16(true, false), format!(": line 1: byte 0xff {not_utf_8}")),
            (utf_16(true, true), format!(": line 1: byte 0xfe {not_utf_8}")),
            (utf_32, format!(": line 1: byte 0xff {not_utf_8}")),
            (utf_16(false, false), format!(": line 1: byte 0x00 {not_text}")),
            (utf_16(false, true), format!(": line 1: byte 0x00 {not_text}")),
            (b"name,id\nBen\0,18\n".to_vec(), format!(": line 2: byte 0x00 {not_text}")),
            (b"".to_vec(), no_names.to_owned()),
            ("\u{feff}".into(), no_names.to_owned()),
            ("Anna Adams,17\nBen Bär,18\n".into(), no_names.to_owned()),
            (b"id,email\n17,a@b.org\n".to_vec(), no_names.to_owned()),
            (b"team\nRed\n".to_vec(), no_names.to_owned()),
            (b"name,id\n".to_vec(), no_students.to_owned()),
            (b"name,id\n,17\n ,18\n".to_vec(), no_students.to_owned()),
            (b"name,id\n\"Adams, Anna,17\nBen,18\n".to_vec(), format!(":2: {open}")),
            (b"sep=,\nname,id\nAnna,17\n\"Ben,18\n".to_vec(), format!(":4: {open}")),
            (b"name,id\n\"Anna\" Adams,17\n".to_vec(), format!(":2: {open}")),
            (
                b"name,id\nAnna Adams,17\n\nBen,17\n".to_vec(),
                ":4: the id 17 is that of line 2, too; expected one line for each student".to_owned(),
            ),
            (
                b"sep=,\r\n\r\nname,id\r\n\r\n\r\nAnna Adams,17\r\nBen,17\r\n".to_vec(),
                ":7: the id 17 is that of line 6, too; expected one line for each student".to_owned(),
            ),
            (
                b"name,email,team\nBen,b@c.org,Red\nBen,b@c.org,Blue\n".to_vec(),
                ":3: the address b@c.org is that of line 2, too; expected one line for each student".to_owned(),
            ),
        ] {
            assert_eq!(told(&table), Err(sentence), "{}", table.escape_ascii());
        }
    }

    #[test]
    fn names_are_turned_where_a_first_name_follows() {
        for (name, turned) in [
            ("Adams, Anna", "Anna Adams"),
            ("van der Berg, Jan Piet", "Jan Piet van der Berg"),
            ("Sammy Davis, Jr.", "Sammy Davis, Jr."),
            ("Adams, Anna, Berlin", "Adams, Anna, Berlin"),
            ("Anna Adams", "Anna Adams"),
        ] {
            assert_eq!(first_name_first(name.to_owned()), turned);
        }
    }
}
