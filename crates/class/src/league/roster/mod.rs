//! Who is who: people of the list of students, senders of submissions, and the bots that they share.
//!
//! Names are labels. A bot is that of a team, of a person, or of a sender of whom the list knows nothing.

mod joining;
mod names;
mod person;
mod question;
mod sender;
pub mod student_list;

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use self::joining::Open;
use self::names::{NameFit, plain};
pub use self::person::{Person, PersonId};
pub use self::question::RosterQuestion;
pub use self::sender::{Evidence, Join, Sender, SenderId, Target};
use referee_text::short_name;
use referee_tournament::entrants::slugs;

/// Whose a bot is.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Owner {
    Team(String),
    Person(PersonId),
    Sender(SenderId),
}

impl Owner {
    fn team(self) -> Option<String> {
        match self {
            Self::Team(team) => Some(team),
            Self::Person(_) | Self::Sender(_) => None,
        }
    }
}

/// A bot that there is or, without a sender, should be.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ownership<'a> {
    pub owner: Owner,
    /// Different for all bots of a roster.
    pub label: String,
    pub senders: Vec<&'a Sender>,
    /// The people in the list.
    pub people: Vec<&'a Person>,
}

/// A bot's label has changed.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Relabelled {
    pub now: String,
    pub before: String,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Roster {
    /// All who were ever listed, those of the list first and in its order.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub people: Vec<Person>,
    /// All who ever submitted.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub senders: Vec<Sender>,
    #[serde(skip)]
    open: Vec<Open>,
}

/// By which teams are told apart.
fn team_key(team: &str) -> String {
    let plain = plain(team);
    if plain.is_empty() {
        team.to_owned()
    } else {
        plain
    }
}

impl Roster {
    /// After it was read.
    pub fn restore(&mut self) {
        self.settle();
    }

    pub fn has_list(&self) -> bool {
        self.people.iter().any(|person| !person.has_left)
    }

    fn person(&self, id: PersonId) -> Option<&Person> {
        self.people.iter().find(|person| person.person == id)
    }

    /// Takes over a list of students. People keep what they are by id, address or a name that is theirs alone.
    pub fn enlist(&mut self, list: Vec<Person>) -> Vec<Relabelled> {
        self.change(|roster| roster.replace_list(list))
    }

    /// Takes over who submitted, each with the label of the download.
    pub fn receive<'a>(
        &mut self,
        submitted: impl IntoIterator<Item = (&'a SenderId, &'a str)>,
    ) -> Vec<Relabelled> {
        self.change(|roster| {
            for (id, name) in submitted {
                roster.add(id, name);
            }
        })
    }

    fn add(&mut self, id: &SenderId, name: &str) {
        if let Some(known) = self.senders.iter_mut().find(|known| known.id == *id) {
            if known.name != name {
                known.also.retain(|before| before != name);
                let before = std::mem::replace(&mut known.name, name.to_owned());
                known.also.push(before);
            }
            return;
        }
        let taken = self.senders.iter().map(|known| &*known.folder);
        let names: Vec<&str> = taken.chain([name]).collect();
        let folder = slugs(&names).pop().unwrap_or_default();
        self.senders.push(Sender {
            id: id.clone(),
            name: name.to_owned(),
            also: Vec::new(),
            folder,
            join: None,
            team: Vec::new(),
        });
    }

    fn change(&mut self, change: impl FnOnce(&mut Self)) -> Vec<Relabelled> {
        let before = self.labels();
        let had = self.with_bots();
        change(self);
        self.settle();
        let have = self.with_bots();
        for person in &mut self.people {
            if let Some(bot) = had.get(&person.person)
                && !have.contains_key(&person.person)
            {
                person.bot_before = Some(bot.clone());
            }
        }
        let now = self.labels();
        let changed = before.into_iter().filter_map(|(folder, before)| {
            let now = now.get(&folder)?.clone();
            (now != before).then_some(Relabelled { now, before })
        });
        let changed: BTreeSet<Relabelled> = changed.collect();
        changed.into_iter().collect()
    }

    /// Of each sender, by folder: what its bot is called.
    fn labels(&self) -> BTreeMap<String, String> {
        let mut labels = BTreeMap::new();
        for bot in self.bots() {
            for sender in bot.senders {
                labels.insert(sender.folder.clone(), bot.label.clone());
            }
        }
        labels
    }

    /// The people who have a bot, and what it is called.
    fn with_bots(&self) -> BTreeMap<PersonId, String> {
        let mut with_bots = BTreeMap::new();
        for bot in self.bots() {
            if !bot.senders.is_empty() {
                let people = bot.people.iter().map(|person| person.person);
                with_bots.extend(people.map(|person| (person, bot.label.clone())));
            }
        }
        with_bots
    }

    fn replace_list(&mut self, mut list: Vec<Person>) {
        let mut old = std::mem::take(&mut self.people);
        let newest = old.iter().map(|person| person.person.0).max();
        let mut new = (newest.map_or(0, |newest| newest + 1)..).map(PersonId);
        let found = same_people(&old, &list);
        for (person, found) in list.iter_mut().zip(&found) {
            let Some(before) = found.map(|place| &old[place]) else {
                person.person = new.next().unwrap_or_default();
                continue;
            };
            person.person = before.person;
            let names = before.also.iter().chain([&before.name]);
            let names = names.filter(|name| **name != person.name);
            person.also = names.cloned().collect();
            person.bot_before.clone_from(&before.bot_before);
            for (now, before) in [
                (&mut person.id, &before.id),
                (&mut person.email, &before.email),
            ] {
                if now.is_empty() {
                    now.clone_from(before);
                }
            }
            if person.submissions.is_empty() {
                person.submissions.clone_from(&before.submissions);
            }
        }
        let listed: BTreeSet<PersonId> = list.iter().map(|person| person.person).collect();
        old.retain(|person| !listed.contains(&person.person));
        for person in &mut old {
            person.has_left = true;
        }
        self.people = list;
        self.people.extend(old);
    }

    fn owner_of(&self, id: PersonId) -> Owner {
        let person = self.person(id).filter(|one| !one.has_left);
        match person.map(|one| &*one.team) {
            Some(team) if !team.is_empty() => Owner::Team(team_key(team)),
            _ => Owner::Person(id),
        }
    }

    fn owner_of_sender(&self, sender: &Sender) -> Owner {
        match sender.join.as_ref().map(|join| &join.to) {
            Some(Target::Person(person)) => self.owner_of(*person),
            Some(Target::Team(team)) => Owner::Team(team.clone()),
            None => Owner::Sender(sender.id.clone()),
        }
    }

    /// The places of senders by owner, with those of the list who have none.
    fn grouped(&self) -> BTreeMap<Owner, Vec<usize>> {
        let mut bots: BTreeMap<Owner, Vec<usize>> = BTreeMap::new();
        for (place, sender) in self.senders.iter().enumerate() {
            let owner = self.owner_of_sender(sender);
            bots.entry(owner).or_default().push(place);
        }
        for person in self.people.iter().filter(|person| !person.has_left) {
            bots.entry(self.owner_of(person.person)).or_default();
        }
        bots
    }

    /// By label.
    pub fn bots(&self) -> Vec<Ownership<'_>> {
        let grouped = self.grouped().into_iter();
        let mut bots: Vec<Ownership<'_>> = grouped
            .map(|(owner, places)| {
                let listed = self.people.iter().filter(|person| !person.has_left);
                let people = listed.filter(|person| self.owner_of(person.person) == owner);
                let people: Vec<&Person> = people.collect();
                let senders: Vec<&Sender> =
                    places.iter().map(|place| &self.senders[*place]).collect();
                let label = short_name(self.base_label(&owner, &people, &senders));
                Ownership {
                    owner,
                    label,
                    senders,
                    people,
                }
            })
            .collect();
        tell_apart(self, &mut bots);
        bots.sort_by(|a, b| a.label.cmp(&b.label));
        bots
    }

    fn base_label<'a>(
        &'a self,
        owner: &Owner,
        people: &[&'a Person],
        senders: &[&'a Sender],
    ) -> &'a str {
        let name = match owner {
            Owner::Team(_) => people.first().map(|person| &*person.team),
            Owner::Person(person) => self.person(*person).map(|person| match &*person.name {
                "" => person.tag(),
                name => name,
            }),
            Owner::Sender(_) => None,
        };
        let sender = senders.first().map(|sender| &*sender.name);
        name.or(sender).unwrap_or_default()
    }

    /// What tells a bot from others of the same label.
    fn tag(&self, bot: &Ownership<'_>) -> String {
        let number = bot.senders.iter().find_map(|sender| sender.id.number());
        let tag = match &bot.owner {
            Owner::Team(_) => Some("team"),
            Owner::Person(person) => {
                let tag = self.person(*person).map(Person::tag);
                tag.filter(|tag| !tag.is_empty()).or(number)
            }
            Owner::Sender(id) => id.number(),
        };
        tag.unwrap_or("not joined").to_owned()
    }

    /// What cannot be decided without the teacher.
    pub fn questions(&self) -> Vec<RosterQuestion> {
        let labels = self.labels();
        let question = |open: &Open| question::of(self, open, &labels);
        self.open.iter().filter_map(question).collect()
    }

    /// Whether it is not known if this person has submitted.
    pub fn is_asked_about(&self, person: &Person) -> bool {
        let mut open = self.open.iter();
        open.any(|open| open.people.contains(&person.person))
    }

    /// Bots, by label, that are called so: exactly, or by a person's name, id or address.
    pub fn find(&self, name: &str) -> Vec<String> {
        let bots = self.bots();
        if let Some(bot) = bots.iter().find(|bot| bot.label == name) {
            return vec![bot.label.clone()];
        }
        for fit in NameFit::ALL {
            let found = bots.iter().filter(|bot| {
                let people = bot.people.iter().flat_map(|person| {
                    let known = [&*person.id, &*person.email, person.local_part()];
                    person.names().chain(known)
                });
                let senders = bot.senders.iter();
                let senders = senders.flat_map(|one| one.names().chain([one.id.text()]));
                let mut names = people.chain(senders);
                names.any(|known| fit.holds(name, known))
            });
            let found: Vec<String> = found.map(|bot| bot.label.clone()).collect();
            if !found.is_empty() {
                return found;
            }
        }
        Vec::new()
    }
}

/// Adds ids to labels that several bots have.
fn tell_apart(roster: &Roster, bots: &mut [Ownership<'_>]) {
    let mut count: BTreeMap<String, usize> = BTreeMap::new();
    for bot in bots.iter() {
        *count.entry(bot.label.clone()).or_default() += 1;
    }
    let mut used: BTreeSet<String> = bots
        .iter()
        .filter(|bot| count[&bot.label] == 1)
        .map(|bot| bot.label.clone())
        .collect();
    for bot in bots.iter_mut() {
        if count.get(&bot.label).is_none_or(|count| *count == 1) {
            continue;
        }
        let tag = roster.tag(bot);
        let tagged = format!("{} ({tag})", bot.label);
        let others = (2..).map(|number| format!("{} ({tag}, {number})", bot.label));
        let mut tries = std::iter::once(tagged).chain(others);
        let tries = tries.by_ref().map(|label| short_name(&label));
        let mut free = tries.filter(|label| !used.contains(label));
        if let Some(label) = free.next() {
            used.insert(label.clone());
            bot.label = label;
        }
    }
}

/// Whether a person of before and one of a list are the same.
type SameRule = fn(&Person, &Person) -> bool;

/// For each person of a list: who it was before. A person is never two, and two people are never one.
fn same_people(old: &[Person], list: &[Person]) -> Vec<Option<usize>> {
    let mut found: Vec<Option<usize>> = vec![None; list.len()];
    let mut taken = BTreeSet::new();
    let by_id = |a: &Person, b: &Person| !a.id.is_empty() && a.id == b.id;
    let by_address = |a: &Person, b: &Person| {
        !a.email.is_empty() && a.email.to_lowercase() == b.email.to_lowercase() && !a.differs(b)
    };
    let by_submission = |a: &Person, b: &Person| {
        !a.submissions.is_empty() && a.submissions == b.submissions && !a.differs(b)
    };
    let by_name = |a: &Person, b: &Person| plain(&a.name) == plain(&b.name) && !a.differs(b);
    let by_team = |a: &Person, b: &Person| {
        plain(&a.name) == plain(&b.name) && team_key(&a.team) == team_key(&b.team) && !a.differs(b)
    };
    let rules: [SameRule; 5] = [by_id, by_address, by_submission, by_name, by_team];
    for rule in rules {
        let mut pairs = Vec::new();
        for (place, person) in list.iter().enumerate() {
            let fits = |before: &usize| !taken.contains(before) && rule(&old[*before], person);
            let before: Vec<usize> = (0..old.len()).filter(fits).collect();
            if let ([before], None) = (&before[..], found[place]) {
                pairs.push((place, *before));
            }
        }
        for (place, before) in &pairs {
            // Two of the list may be the one of before.
            let rivals = (0..list.len())
                .filter(|other| found[*other].is_none() && rule(&old[*before], &list[*other]));
            if rivals.count() == 1 {
                found[*place] = Some(*before);
                taken.insert(*before);
            }
        }
    }
    same_by_order(old, list, &mut found, &taken);
    found
}

/// Rows that nothing tells apart are the same people in the same order, if there are as many as before.
fn same_by_order(
    old: &[Person],
    list: &[Person],
    found: &mut [Option<usize>],
    taken: &BTreeSet<usize>,
) {
    let key = |person: &Person| {
        let is_bare = person.id.is_empty() && person.email.is_empty();
        is_bare.then(|| (plain(&person.name), team_key(&person.team)))
    };
    let mut groups: BTreeMap<_, [Vec<usize>; 2]> = BTreeMap::new();
    for (place, person) in old.iter().enumerate() {
        if let Some(key) = key(person).filter(|_| !taken.contains(&place)) {
            groups.entry(key).or_default()[0].push(place);
        }
    }
    for (place, person) in list.iter().enumerate() {
        if let Some(key) = key(person).filter(|_| found[place].is_none()) {
            groups.entry(key).or_default()[1].push(place);
        }
    }
    for [before, now] in groups.into_values() {
        if before.len() == now.len() {
            for (before, now) in before.into_iter().zip(now) {
                found[now] = Some(before);
            }
        }
    }
}

#[cfg(test)]
mod tests;
