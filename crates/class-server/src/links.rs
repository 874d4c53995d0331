//! Who may come in: the teacher and the students, each by a link of their own.

use std::collections::{HashMap, HashSet};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::guesses::withstands_guessing;
use super::token::{Token, TokenHash};
use referee_class::league::roster::{Person, PersonId, SenderId};
use referee_match::play::setup::now;
use referee_match::record::atomic_file::{directory_of, replace, sync_directory};
use referee_match::record::text_file;
use referee_report::standings::escape_formula;
use referee_tournament::entrants::slugs;

const VERSION: u32 = 1;

/// In the folder of the server.
const FILE: &str = "links.json";

/// In the folder of the term: the links themselves, for the teacher to hand out and delete.
pub const HANDOUT: &str = "links.csv";

/// Who a student is to the league, and the link.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StudentLink {
    /// The folder of their submissions; of letters and digits.
    pub key: String,
    pub name: String,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub email: String,
    pub sender: SenderId,
    /// In the list of students.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub person: Option<PersonId>,
    pub hash: TokenHash,
    pub created: Timestamp,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Links {
    v: u32,
    /// Where the class was served last, without a path.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    base: String,
    teacher: Option<TokenHash>,
    /// With which students join.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    code: Option<TokenHash>,
    /// Of the code, of which only the hash is kept.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    withstands_guessing: bool,
    students: Vec<StudentLink>,
}

/// Whose a link is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LinkOwner {
    Teacher,
    Student(StudentLink),
}

#[derive(Debug, thiserror::Error)]
pub enum LinksError {
    #[error("{}: {}", .path.display(), referee_text::cause(.error))]
    Io { path: PathBuf, error: io::Error },
    #[error("{}: these are not the links of a class: {error}; move the file away, and all links are made anew", .path.display())]
    Damaged {
        path: PathBuf,
        error: serde_json::Error,
    },
    #[error("{}: it has version {version}; this program reads version {VERSION}", .path.display())]
    Version { path: PathBuf, version: u32 },
    #[error(
        "two students of the list are called {0}, and nothing tells them apart; give both an `id` or an `email`"
    )]
    Alike(String),
}

/// Links that have been made, and have not been handed out.
pub type NewTokens = HashMap<TokenHash, Token>;

impl Links {
    pub fn read(folder: &Path) -> Result<Self, LinksError> {
        let path = folder.join(FILE);
        let text = text_file::if_there(text_file::read(&path, text_file::KEPT));
        let failed = |error| LinksError::Io {
            path: path.clone(),
            error,
        };
        let Some(text) = text.map_err(failed)? else {
            return Ok(Self::default());
        };
        let links: Self = match serde_json::from_str(&text) {
            Ok(links) => links,
            Err(error) => return Err(LinksError::Damaged { path, error }),
        };
        if links.v != VERSION {
            let version = links.v;
            return Err(LinksError::Version { path, version });
        }
        Ok(links)
    }

    pub fn write(&mut self, folder: &Path) -> Result<(), LinksError> {
        self.v = VERSION;
        let path = folder.join(FILE);
        let written = serde_json::to_string_pretty(self).map_err(io::Error::from);
        let written = written.and_then(|text| {
            replace(&path, format!("{text}\n").as_bytes())?;
            sync_directory(folder)
        });
        written.map_err(|error| LinksError::Io { path, error })
    }

    pub fn is_new(&self) -> bool {
        self.teacher.is_none()
    }

    pub const fn is_open(&self) -> bool {
        self.code.is_some()
    }

    pub fn open(&mut self, code: &str) {
        self.code = Some(TokenHash::of(code.trim()));
        self.withstands_guessing = withstands_guessing(code);
    }

    /// Whether the code need not be protected by limits.
    pub const fn withstands_guessing(&self) -> bool {
        self.withstands_guessing
    }

    pub fn is_code(&self, code: &str) -> bool {
        self.code.as_ref() == Some(&TokenHash::of(code.trim()))
    }

    pub fn students(&self) -> &[StudentLink] {
        &self.students
    }

    pub fn student(&self, key: &str) -> Option<&StudentLink> {
        self.students.iter().find(|student| student.key == key)
    }

    pub fn owner(&self, token: &Token) -> Option<LinkOwner> {
        let hash = token.hash();
        if self.teacher.as_ref() == Some(&hash) {
            return Some(LinkOwner::Teacher);
        }
        let mut students = self.students.iter();
        let student = students.find(|student| student.hash == hash)?;
        Some(LinkOwner::Student(student.clone()))
    }

    /// A link for the teacher, and for each of the people who has none. People who are not in the list lose theirs.
    pub fn complete(&mut self, people: &[Person]) -> Result<NewTokens, LinksError> {
        let mut new = NewTokens::new();
        if self.teacher.is_none() {
            self.teacher = Some(kept(&mut new));
        }
        let listed: Vec<&Person> = people.iter().filter(|person| !person.has_left).collect();
        let ids: HashSet<PersonId> = listed.iter().map(|person| person.person).collect();
        let is_listed = |link: &StudentLink| link.person.is_none_or(|id| ids.contains(&id));
        self.students.retain(is_listed);
        for person in listed {
            let known = self.students.iter_mut();
            let mut known = known.filter(|link| link.person == Some(person.person));
            if let Some(link) = known.next() {
                link.name.clone_from(&person.name);
                link.email.clone_from(&person.email);
                continue;
            }
            let sender = sender_of(person);
            if self.students.iter().any(|link| link.sender == sender) {
                return Err(LinksError::Alike(person.name.clone()));
            }
            let hash = kept(&mut new);
            self.add(&person.name, Some(person), sender, hash);
        }
        Ok(new)
    }

    /// One who joins by the code; `None` if another one has the name.
    pub fn join(&mut self, name: &str) -> Option<Token> {
        let sender = SenderId::new(name, None);
        let is_same = |link: &StudentLink| {
            link.sender == sender || link.name.to_lowercase() == name.to_lowercase()
        };
        if self.students.iter().any(is_same) {
            return None;
        }
        let token = Token::drawn();
        self.add(name, None, sender, token.hash());
        Some(token)
    }

    fn add(&mut self, name: &str, person: Option<&Person>, sender: SenderId, hash: TokenHash) {
        let taken = self.students.iter().map(|link| &*link.key);
        let names: Vec<&str> = taken.chain([name]).collect();
        self.students.push(StudentLink {
            key: slugs(&names).pop().unwrap_or_default(),
            name: name.to_owned(),
            email: person.map_or_else(String::new, |person| person.email.clone()),
            sender,
            person: person.map(|person| person.person),
            hash,
            created: now(),
        });
    }

    /// Those of this name, address or id of the list: more than one where that is a name of several.
    pub fn find(&self, given: &str) -> Vec<&StudentLink> {
        let is_meant = |link: &&StudentLink| {
            let known = [&*link.name, &*link.email, link.sender.text()];
            !given.is_empty() && known.contains(&given)
        };
        self.students.iter().filter(is_meant).collect()
    }

    /// From now on the class is served at this origin.
    pub fn serve_at(&mut self, base: &str) {
        base.clone_into(&mut self.base);
    }

    /// What the owner of this token opens, where the class was served last.
    pub fn address(&self, token: &Token) -> String {
        token.address(&self.base)
    }

    /// Another link for a student, in place of the one before.
    pub fn renew(&mut self, key: &str) -> Option<Token> {
        let mut students = self.students.iter_mut();
        let link = students.find(|link| link.key == key)?;
        let token = Token::drawn();
        link.hash = token.hash();
        Some(token)
    }

    /// The links that are known, new ones and those of the handout that is there, for the teacher alone to read.
    pub fn hand_out(
        &self,
        term: &Path,
        base: &str,
        mut known: NewTokens,
    ) -> Result<(), LinksError> {
        let path = term.join(HANDOUT);
        let failed = |error| LinksError::Io {
            path: path.clone(),
            error,
        };
        for token in tokens_of(&path).map_err(failed)? {
            known.insert(token.hash(), token);
        }
        let link = |hash: &TokenHash| {
            let token = known.get(hash)?;
            Some(token.address(base))
        };
        let mut table = csv::Writer::from_writer(Vec::new());
        let mut row = |name: &str, email: &str, link: &str| {
            table.write_record([&*escape_formula(name), &*escape_formula(email), link])
        };
        let mut write = || -> csv::Result<()> {
            row("name", "email", "link")?;
            if let Some(link) = self.teacher.as_ref().and_then(link) {
                row("(teacher)", "", &link)?;
            }
            for student in &self.students {
                if let Some(link) = link(&student.hash) {
                    row(&student.name, &student.email, &link)?;
                }
            }
            Ok(())
        };
        write().map_err(|error| failed(io::Error::other(error)))?;
        let text = table.into_inner();
        let text = text.map_err(|error| failed(io::Error::other(error.to_string())))?;
        write_private(&path, &text).map_err(failed)
    }
}

fn kept(new: &mut NewTokens) -> TokenHash {
    let token = Token::drawn();
    let hash = token.hash();
    new.insert(hash.clone(), token);
    hash
}

/// As the league joins a sender to a person of the list: by the id, else the address, else the name.
fn sender_of(person: &Person) -> SenderId {
    let known = [&*person.id, &*person.email, &*person.name];
    let known = known.into_iter().find(|known| !known.is_empty());
    SenderId::new(known.unwrap_or_default(), None)
}

/// Those of a handout, if it is there.
fn tokens_of(path: &Path) -> io::Result<Vec<Token>> {
    let text = text_file::if_there(text_file::read(path, text_file::KEPT))?;
    let text = text.unwrap_or_default();
    let tokens = text.lines().filter_map(|line| {
        let (_, token) = line.rsplit_once("/in/")?;
        Some(Token::given(token.trim_end_matches(['"', '\r'])))
    });
    Ok(tokens.collect())
}

/// For this user alone to read, as temporary files are.
fn write_private(path: &Path, text: &[u8]) -> io::Result<()> {
    let folder = directory_of(path);
    let mut file = tempfile::Builder::new()
        .prefix(".new-links-")
        .tempfile_in(folder)?;
    file.write_all(text)?;
    file.as_file().sync_all()?;
    file.persist(path).map_err(|failed| failed.error)?;
    sync_directory(folder)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn person(id: u32, name: &str, email: &str) -> Person {
        Person {
            person: serde_json::from_value(id.into()).unwrap(),
            name: name.to_owned(),
            email: email.to_owned(),
            ..Person::default()
        }
    }

    #[test]
    fn links_stay_the_same_and_only_their_hashes_are_kept() {
        let folder = tempfile::tempdir().unwrap();
        let mut links = Links::default();
        let list = [person(0, "Anna", "anna@x.org"), person(1, "Ben", "")];
        let new = links.complete(&list).unwrap();
        assert_eq!(new.len(), 3, "one is the teacher's");
        links
            .hand_out(folder.path(), "http://h", new.clone())
            .unwrap();
        links.write(folder.path()).unwrap();
        let mut links = Links::read(folder.path()).unwrap();
        assert!(links.complete(&list).unwrap().is_empty());
        links
            .hand_out(folder.path(), "https://other", NewTokens::new())
            .unwrap();
        let handout = std::fs::read_to_string(folder.path().join(HANDOUT)).unwrap();
        let kept = std::fs::read_to_string(folder.path().join(FILE)).unwrap();
        for token in new.values() {
            assert!(handout.contains(&format!("https://other/in/{}", token.text())));
            assert!(!kept.contains(token.text()));
            assert!(links.owner(token).is_some());
        }
        assert_eq!(links.owner(&Token::drawn()), None);
        links.complete(&list[..1]).unwrap();
        assert_eq!(links.students().len(), 1, "Ben has left");
    }

    #[test]
    fn a_student_is_found_by_what_the_list_has() {
        let mut links = Links::default();
        let with_id = |number, id: &str| Person {
            id: id.to_owned(),
            ..person(number, "Jan", "")
        };
        let list = [
            with_id(0, "s1"),
            with_id(1, "s2"),
            person(2, "Anna", "anna@x.org"),
        ];
        links.complete(&list).unwrap();
        for (given, expected) in [
            ("Anna", &["Anna"][..]),
            ("anna@x.org", &["Anna"]),
            ("Jan", &["Jan", "Jan"]),
            ("s2", &["Jan"]),
            ("Ben", &[]),
            ("", &[]),
        ] {
            let found: Vec<&str> = links.find(given).iter().map(|link| &*link.name).collect();
            assert_eq!(found, expected, "{given}");
        }
    }

    #[test]
    fn nobody_gets_the_link_of_another_of_the_same_name() {
        let mut links = Links::default();
        let list = [person(0, "Jan", ""), person(1, "Jan", "")];
        assert!(matches!(links.complete(&list), Err(LinksError::Alike(_))));
        let mut links = Links::default();
        assert!(links.join("Jan").is_some());
        assert!(links.join("jan").is_none());
    }
}
