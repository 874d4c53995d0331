//! People: those of the list of students, and those of earlier lists.

use serde::{Deserialize, Serialize};

/// Who a person is all term, whatever their name, team, address and id in the list of the week.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
#[serde(transparent)]
pub struct PersonId(pub(super) u32);

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Person {
    /// Given when the person is first listed.
    pub person: PersonId,
    /// A label: several people may have it.
    pub name: String,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub team: String,
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub email: String,
    /// Number or name of the account.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub id: String,
    /// Numbers or entries of downloads that the list says are this person's.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub submissions: Vec<String>,
    /// Names in earlier lists.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub also: Vec<String>,
    /// Not in the list that holds.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub has_left: bool,
    /// The bot that they shared, or that was thought theirs, before they had none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bot_before: Option<String>,
}

impl Person {
    pub(super) fn names(&self) -> impl Iterator<Item = &str> {
        let also = self.also.iter().map(String::as_str);
        also.chain([&*self.name]).filter(|name| !name.is_empty())
    }

    /// The part of the address before the `@`.
    pub(super) fn local_part(&self) -> &str {
        self.email.split('@').next().unwrap_or_default()
    }

    /// What tells this person from others of the same name.
    pub(super) fn tag(&self) -> &str {
        let known = [&*self.id, &*self.email];
        let known = known.into_iter().find(|known| !known.is_empty());
        let number = self.submissions.first().map(String::as_str);
        known.or(number).unwrap_or_default()
    }

    /// Whether ids or addresses say that these are two people.
    pub(super) fn differs(&self, other: &Self) -> bool {
        let differ = |a: &str, b: &str| !a.is_empty() && !b.is_empty() && a != b;
        differ(&self.id, &other.id)
            || differ(&self.email.to_lowercase(), &other.email.to_lowercase())
    }
}
