//! Which sender is which person: one rule, the same in every week.
//!
//! In this order: the list's column `submission`; a number that is an id; an entry that is called as an id or an address;
//! what one of these said in an earlier week; a name, if it can only be one person's. The order of weeks does not
//! matter: a join by name holds as long as no other person has that name.

use std::collections::{BTreeMap, BTreeSet};

use super::names::{NameFit, has_same_words, plain};
use super::person::{Person, PersonId};
use super::sender::{Evidence, Join, Sender, Target};
use super::{Owner, Roster, team_key};

/// Senders who may be any of these people.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Open {
    pub(super) senders: BTreeSet<usize>,
    pub(super) people: BTreeSet<PersonId>,
}

/// What the ids of the list are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Ids {
    /// The numbers of downloads.
    Numbers,
    /// Something else, such as numbers of a university.
    Others,
    Unclear,
}

/// What names say of a sender.
#[derive(Debug, Default)]
struct Candidates {
    people: BTreeSet<PersonId>,
    teams: BTreeSet<String>,
}

/// From Moodle's list of grades: `Participant 1234567`, in the course's language.
pub(super) fn participant(id: &str) -> &str {
    let Some((word, number)) = id.rsplit_once(' ') else {
        return id;
    };
    let is_word = word.chars().any(char::is_alphabetic) && !word.contains(char::is_numeric);
    let is_number = !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit());
    if is_word && is_number { number } else { id }
}

/// Whether the list says that this submission is this person's.
fn is_listed(sender: &Sender, person: &Person) -> bool {
    let own = |known: &String| match sender.id.number() {
        Some(number) => number == participant(known),
        None => plain(known) == plain(sender.id.text()),
    };
    person.submissions.iter().any(own)
}

/// The list may say by now that something else is this person's.
fn may_be(sender: &Sender, person: &Person) -> bool {
    person.submissions.is_empty() || is_listed(sender, person)
}

/// The join if one person is found. The error: all who are, if there are several.
fn join_of(found: BTreeSet<PersonId>, by: Evidence) -> Result<Option<Join>, BTreeSet<PersonId>> {
    let mut people = found.iter();
    match (people.next(), people.next()) {
        (None, _) => Ok(None),
        (Some(&person), None) => Ok(Some(Join {
            to: Target::Person(person),
            by,
        })),
        _ => Err(found),
    }
}

/// Whether the id may be the number of a download.
fn is_numeric(person: &Person) -> bool {
    let id = participant(&person.id);
    !id.is_empty() && id.bytes().all(|byte| byte.is_ascii_digit())
}

fn has_id(sender: &Sender, person: &Person) -> bool {
    match sender.id.number() {
        Some(number) => number == participant(&person.id),
        None => !person.id.is_empty() && plain(&person.id) == plain(sender.id.text()),
    }
}

impl Roster {
    /// Joins all senders anew. What evidence has said before stays; what names have said does not.
    pub(super) fn settle(&mut self) {
        let ids = self.ids();
        let mut open = self.join_by_evidence(ids);
        // What is certain of one may exclude another.
        open = match self.join_by_evidence(ids) {
            again if again == open => again,
            _ => self.join_by_evidence(ids),
        };
        let is_open = |open: &[Open], place| open.iter().any(|one| one.senders.contains(&place));
        let places = 0..self.senders.len();
        let places =
            places.filter(|place| self.senders[*place].join.is_none() && !is_open(&open, *place));
        let named: BTreeMap<usize, Candidates> = places
            .map(|place| (place, self.named(place, ids)))
            .collect();
        let mut joins = Vec::new();
        for (place, candidates) in &named {
            match self.by_name(*place, candidates, &named, ids) {
                Ok(Some(to)) => joins.push((*place, to)),
                Ok(None) => {}
                Err(people) => open.push(Open {
                    senders: BTreeSet::from([*place]),
                    people,
                }),
            }
        }
        for (place, to) in joins {
            if let Target::Team(team) = &to {
                self.senders[place].team = self.of_team(team).collect();
            }
            self.senders[place].join = Some(Join {
                to,
                by: Evidence::Name,
            });
        }
        open.extend(self.perhaps_missing(&open, ids));
        let mut open = grouped(open);
        open.retain(|open| {
            let mut people = open.people.iter();
            people.any(|person| self.person(*person).is_some_and(|person| !person.has_left))
        });
        self.open = open;
    }

    fn join_by_evidence(&mut self, ids: Ids) -> Vec<Open> {
        let mut open = Vec::new();
        for place in 0..self.senders.len() {
            let found = self.evidence(place, ids);
            let sender = &mut self.senders[place];
            match found {
                Ok(join) => sender.join = join,
                Err(people) => {
                    sender.join = None;
                    let senders = BTreeSet::from([place]);
                    open.push(Open { senders, people });
                }
            }
        }
        open
    }

    /// Ids that are numbers agree with the names beside them; those that are not are equal to none.
    fn ids(&self) -> Ids {
        let (mut agree, mut differ, mut named) = (0_usize, 0_usize, 0_usize);
        let numbered = self.senders.iter().filter(|one| one.id.number().is_some());
        for sender in numbered {
            let mut is_named = false;
            for person in &self.people {
                let is_same = agrees(sender, person);
                if has_id(sender, person) {
                    let is_known = !person.name.is_empty();
                    agree += usize::from(is_known && is_same);
                    differ += usize::from(is_known && !is_same);
                }
                is_named |= is_same && !person.has_left && is_numeric(person);
            }
            named += usize::from(is_named);
        }
        match (agree, differ) {
            _ if agree > differ => Ids::Numbers,
            (0, 0) if named > 1 => Ids::Others,
            _ => Ids::Unclear,
        }
    }

    /// What is certain without names. The error: whose it may be.
    fn evidence(&self, place: usize, ids: Ids) -> Result<Option<Join>, BTreeSet<PersonId>> {
        let sender = &self.senders[place];
        let listed = self.people_who(|person| is_listed(sender, person) && !person.has_left);
        if let Some(join) = join_of(listed, Evidence::List)? {
            return Ok(Some(join));
        }
        if let Some(join) = self.join_before(sender) {
            return Ok(Some(join));
        }
        if let Some(join) = self.join_by_id(place, ids)? {
            return Ok(Some(join));
        }
        self.join_by_address(place, ids)
    }

    fn people_who(&self, fit: impl Fn(&Person) -> bool) -> BTreeSet<PersonId> {
        let fitting = self.people.iter().filter(|person| fit(person));
        fitting.map(|person| person.person).collect()
    }

    /// What evidence has said in an earlier week.
    fn join_before(&self, sender: &Sender) -> Option<Join> {
        let before = sender.join.clone().filter(|join| join.by.is_firm());
        before.filter(|join| match &join.to {
            Target::Person(person) => self
                .person(*person)
                .is_some_and(|person| may_be(sender, person)),
            Target::Team(_) => false,
        })
    }

    /// As [`Self::evidence`].
    fn join_by_id(&self, place: usize, ids: Ids) -> Result<Option<Join>, BTreeSet<PersonId>> {
        let sender = &self.senders[place];
        let with_id = self.people_who(|person| has_id(sender, person) && may_be(sender, person));
        let is_certain = |id: &PersonId| {
            let person = self.person(*id);
            person.is_some_and(|person| {
                ids == Ids::Numbers
                    || sender.id.number().is_none()
                    || person.name.is_empty()
                    || agrees(sender, person)
            })
        };
        if !with_id.iter().all(is_certain) {
            // An id that happens to be the number of another: then names say something else.
            let mut all = with_id;
            all.extend(self.named(place, ids).people);
            return Err(all);
        }
        join_of(with_id, Evidence::Id)
    }

    /// As [`Self::evidence`].
    fn join_by_address(&self, place: usize, ids: Ids) -> Result<Option<Join>, BTreeSet<PersonId>> {
        let sender = &self.senders[place];
        let is_address_of = |address: &str, person: &Person| {
            let is_address = |name: &str| plain(address) == plain(name);
            !address.is_empty()
                && may_be(sender, person)
                && (sender.names().any(is_address) || is_address(sender.id.text()))
        };
        let whole = self.people_who(|person| is_address_of(&person.email, person));
        if let Some(join) = join_of(whole, Evidence::Address)? {
            return Ok(Some(join));
        }
        let local = self.people_who(|person| is_address_of(person.local_part(), person));
        if local.is_empty() {
            return Ok(None);
        }
        // Another person may be called so.
        let mut named = self.named(place, ids).people;
        named.extend(&local);
        join_of(named, Evidence::Address)
    }

    /// Who has one of the sender's names, as well as the first of them fits.
    fn named(&self, place: usize, ids: Ids) -> Candidates {
        let sender = &self.senders[place];
        for fit in NameFit::ALL {
            // Full names stand beside numbers.
            if fit == NameFit::End && sender.id.number().is_some() {
                break;
            }
            let holds = |known: &str| sender.names().any(|name| fit.holds(name, known));
            let id_ends = |person: &Person| {
                fit == NameFit::End
                    && [&*person.id, &*person.email, person.local_part()]
                        .into_iter()
                        .any(holds)
            };
            let people = self.people.iter().filter(|person| {
                person.names().any(holds)
                    || id_ends(person)
                    || self.labels_of(person.person).any(holds)
            });
            let people: Vec<&Person> = people.collect();
            let listed = self.people.iter().filter(|person| !person.has_left);
            let teams = listed.map(|person| &*person.team);
            let teams = teams.filter(|team| !team.is_empty() && holds(team));
            let teams: BTreeSet<String> = teams.map(team_key).collect();
            if people.is_empty() && teams.is_empty() {
                continue;
            }
            let people = people
                .into_iter()
                .filter(|person| !self.is_excluded(place, person, ids));
            let people = people.map(|person| person.person).collect();
            return Candidates { people, teams };
        }
        Candidates::default()
    }

    /// Names in downloads that are certainly this person's.
    fn labels_of(&self, person: PersonId) -> impl Iterator<Item = &str> {
        let is_own = move |sender: &&Sender| {
            let join = sender.join.as_ref().filter(|join| join.by.is_firm());
            join.is_some_and(|join| join.to == Target::Person(person))
        };
        self.senders.iter().filter(is_own).flat_map(Sender::names)
    }

    /// Whether this is certainly another person, whatever the names.
    fn is_excluded(&self, place: usize, person: &Person, ids: Ids) -> bool {
        let sender = &self.senders[place];
        if !person.submissions.is_empty() && !is_listed(sender, person) {
            return true;
        }
        if sender.id.number().is_none() {
            return false;
        }
        let has_other_id = ids == Ids::Numbers && is_numeric(person) && !has_id(sender, person);
        let has_other_number = self.senders.iter().any(|other| {
            let join = other.join.as_ref().filter(|join| join.by.is_firm());
            other.id.number().is_some()
                && other.id != sender.id
                && join.is_some_and(|join| join.to == Target::Person(person.person))
        });
        has_other_id || has_other_number
    }

    /// The only one who can be meant. The error: all who can.
    fn by_name(
        &self,
        place: usize,
        candidates: &Candidates,
        all: &BTreeMap<usize, Candidates>,
        ids: Ids,
    ) -> Result<Option<Target>, BTreeSet<PersonId>> {
        let Candidates { people, teams } = candidates;
        if people.is_empty() && teams.is_empty() {
            return Ok(self.renamed_team(place));
        }
        let owners = people.iter().map(|person| self.owner_of(*person));
        let owners = owners.chain(teams.iter().cloned().map(Owner::Team));
        let owners: BTreeSet<Owner> = owners.collect();
        let mut all_people = people.clone();
        all_people.extend(teams.iter().flat_map(|team| self.of_team(team)));
        if owners.len() > 1 {
            return Err(all_people);
        }
        let only = people
            .first()
            .filter(|_| people.len() == 1 && teams.is_empty());
        // Two numbers are two people, and each person has one: with more numbers than people, one is a stranger's.
        let numbers = all.iter().filter(|(other, candidates)| {
            self.senders[**other].id.number().is_some() && !candidates.people.is_disjoint(people)
        });
        let is_entry = self.senders[place].id.number().is_none();
        let has_unlisted_namesake = is_entry
            && all.iter().any(|(other, candidates)| {
                let other = &self.senders[*other];
                other.id.number().is_some()
                    && candidates.people.is_empty()
                    && is_namesake(other, &self.senders[place])
            });
        let has_number = |person: &PersonId| self.person(*person).is_some_and(is_numeric);
        let may_have_other_id = ids == Ids::Unclear && !is_entry && people.iter().any(has_number);
        let may_be_strangers =
            numbers.count() > people.len() || has_unlisted_namesake || may_have_other_id;
        if teams.is_empty() && may_be_strangers {
            return Err(all_people);
        }
        Ok(match only {
            Some(&person) => Some(Target::Person(person)),
            None => owners.into_iter().find_map(Owner::team).map(Target::Team),
        })
    }

    /// The team in whose name this was submitted, if its people are one team under another name.
    fn renamed_team(&self, place: usize) -> Option<Target> {
        let before = &self.senders[place].team;
        let first = self.person(*before.first()?)?;
        if first.has_left || first.team.is_empty() {
            return None;
        }
        let team = team_key(&first.team);
        let now: BTreeSet<PersonId> = self.of_team(&team).collect();
        let is_same = now == before.iter().copied().collect();
        is_same.then_some(Target::Team(team))
    }

    /// Listed people without a submission whose name is that of a sender who is not in the list.
    fn perhaps_missing(&self, open: &[Open], ids: Ids) -> Vec<Open> {
        let mut perhaps = Vec::new();
        let bots = self.grouped();
        for (owner, places) in &bots {
            let is_unlisted = match owner {
                Owner::Team(_) => false,
                Owner::Person(person) => self.person(*person).is_none_or(|one| one.has_left),
                Owner::Sender(_) => true,
            };
            if !is_unlisted {
                continue;
            }
            for &place in places {
                let candidates = self.people.iter().filter(|person| {
                    let owner = self.owner_of(person.person);
                    let has_none = bots.get(&owner).is_none_or(Vec::is_empty);
                    let mut names = self.senders[place].names();
                    let names_fit = names.any(|name| {
                        let mut known = person.names();
                        known.any(|known| NameFit::WithoutAccents.holds(name, known))
                    });
                    !person.has_left
                        && has_none
                        && names_fit
                        && !self.is_excluded(place, person, ids)
                });
                let people: BTreeSet<PersonId> = candidates.map(|one| one.person).collect();
                let is_asked = open.iter().any(|open| open.senders.contains(&place));
                if !people.is_empty() && !is_asked {
                    let senders = BTreeSet::from([place]);
                    perhaps.push(Open { senders, people });
                }
            }
        }
        perhaps
    }

    fn of_team(&self, team: &str) -> impl Iterator<Item = PersonId> {
        let listed = self.people.iter().filter(|person| !person.has_left);
        let of_team =
            listed.filter(move |person| !person.team.is_empty() && team_key(&person.team) == team);
        of_team.map(|person| person.person)
    }
}

fn agrees(sender: &Sender, person: &Person) -> bool {
    sender
        .names()
        .any(|name| person.names().any(|known| has_same_words(name, known)))
}

fn is_namesake(a: &Sender, b: &Sender) -> bool {
    a.names()
        .any(|name| b.names().any(|other| has_same_words(name, other)))
}

/// Those that share senders or people are one question.
fn grouped(open: Vec<Open>) -> Vec<Open> {
    let mut groups: Vec<Open> = Vec::new();
    for mut one in open {
        let (joined, others): (Vec<Open>, Vec<Open>) = groups.into_iter().partition(|group| {
            !group.senders.is_disjoint(&one.senders) || !group.people.is_disjoint(&one.people)
        });
        groups = others;
        for group in joined {
            one.senders.extend(group.senders);
            one.people.extend(group.people);
        }
        groups.push(one);
    }
    groups
}
