//! Where submissions come from: the entries of downloads.

use serde::{Deserialize, Serialize};

use super::person::PersonId;
use referee_match::bot::naming::composed;

/// Who submitted, as far as an entry of a download says. A number is a person; a name without one is just that name.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SenderId {
    /// Moodle's number, which stands in the entry's name.
    Number(String),
    /// The name of the entry.
    Entry(String),
}

impl SenderId {
    /// A name is the same one however the system of the download writes its accents.
    pub fn new(name: &str, number: Option<&str>) -> Self {
        match number {
            Some(number) => Self::Number(number.to_owned()),
            None => Self::Entry(composed(name)),
        }
    }

    pub fn number(&self) -> Option<&str> {
        match self {
            Self::Number(number) => Some(number),
            Self::Entry(_) => None,
        }
    }

    /// As in the column `submission` of a list.
    pub fn text(&self) -> &str {
        match self {
            Self::Number(text) | Self::Entry(text) => text,
        }
    }
}

/// What a join rests on, the most certain first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Evidence {
    /// The column `submission` of the list.
    List,
    /// The number is the person's id, or the entry is called as it.
    Id,
    /// The entry is called as the person's address.
    Address,
    /// The name is that of one person alone.
    Name,
}

impl Evidence {
    /// A name may turn out to be that of two people.
    pub(super) fn is_firm(self) -> bool {
        self != Self::Name
    }

    pub const fn word(self) -> &'static str {
        match self {
            Self::List => "list",
            Self::Id => "id",
            Self::Address => "address",
            Self::Name => "name",
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Target {
    Person(PersonId),
    /// Submitted in the name of a team.
    Team(String),
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Join {
    pub to: Target,
    pub by: Evidence,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sender {
    pub id: SenderId,
    /// In the newest download: a label.
    pub name: String,
    /// Names in earlier downloads.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub also: Vec<String>,
    /// Of what was submitted, within the league's `bots`; never another sender's.
    pub folder: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub join: Option<Join>,
    /// The people of the team in whose name it was submitted: the team may get another name.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) team: Vec<PersonId>,
}

impl Sender {
    pub(super) fn names(&self) -> impl Iterator<Item = &str> {
        let also = self.also.iter().map(String::as_str);
        also.chain([&*self.name]).filter(|name| !name.is_empty())
    }
}
