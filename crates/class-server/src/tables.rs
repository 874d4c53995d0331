//! Games that do not count: a person plays a bot at a page, or a student sees their bot meet another one.

use std::sync::{Arc, Mutex};
use std::time::Instant;

use serde::Deserialize;
use tokio::sync::watch;

use super::limits;
use super::served_page::ServedPage;
use referee_games::game::Ruleset;
use referee_host::threads::locked;
use referee_match::bot::human::Inbox;
use referee_match::bot::naming::distinct_names;
use referee_server::LiveState;

/// Who has asked for a table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TableHost {
    Teacher,
    /// By the key of their link.
    Student(String),
    /// Without a link.
    Visitor,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum TableKind {
    /// The one who asks, at the page, against a bot.
    Person,
    /// The bot of the one who asks against another: two games, of which each begins one.
    Friendly,
}

impl TableKind {
    /// As forms send it.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Person => "person",
            Self::Friendly => "friendly",
        }
    }

    /// Tables at which is played at a time.
    pub const fn at_most(self) -> usize {
        match self {
            Self::Person => limits::PEOPLE_PLAYING,
            Self::Friendly => limits::FRIENDLY_GAMES,
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TableRequest {
    pub host: TableHost,
    pub kind: TableKind,
    /// Of the person, or the label of the bot of the one who asks; then the label of the bot that was asked for.
    pub players: [String; 2],
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum TableState {
    /// For the games of the class, or another table.
    Waiting,
    Playing,
    Ended(Instant),
}

/// Where games are played that do not count. It is in memory alone.
pub struct Table {
    pub number: u32,
    pub request: TableRequest,
    /// As its games call the players.
    pub names: [String; 2],
    pub page: ServedPage,
    /// For the answers of a person.
    pub inbox: Option<Inbox>,
    state: Mutex<TableState>,
    /// Whether the host has left it for another one.
    is_left: watch::Sender<bool>,
}

/// Why a table is not opened.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NotSeated {
    #[error("there is no bot of this name that plays: choose one of the table")]
    NoBot,
    #[error("your bot does not play yet: hand one in, and wait until it is accepted")]
    NoBotOfYours,
    #[error("this is your own bot: choose another one")]
    OwnBot,
    #[error(
        "this game is a program, which no page can draw for a person: watch a friendly game in place of it"
    )]
    NotDrawn,
    #[error("all tables are taken; try again in a few minutes")]
    Full,
}

impl Table {
    /// `ruleset`: that of the class.
    fn new(number: u32, request: TableRequest, ruleset: &Arc<dyn Ruleset>) -> Self {
        let [asking, asked] = request.players.each_ref().map(|name| &**name);
        let names = distinct_names(&[(asking, None), (asked, None)]);
        let names = names.try_into().unwrap_or_else(|_| request.players.clone());
        let page = ServedPage::new(names.join(" vs "), ruleset);
        let inbox = (request.kind == TableKind::Person).then(|| Inbox::new(names[0].clone()));
        if let Some(inbox) = &inbox {
            page.feed.seat(inbox.clone());
        }
        Self {
            number,
            request,
            names,
            page,
            inbox,
            state: Mutex::new(TableState::Waiting),
            is_left: watch::Sender::default(),
        }
    }

    /// For the host, who may answer there.
    pub fn path(&self) -> String {
        let number = self.number;
        match &self.inbox {
            Some(inbox) => format!("/tables/{number}/#play={}", inbox.secret()),
            None => format!("/tables/{number}/#stage"),
        }
    }

    /// Until the host has left it.
    pub async fn left(&self) {
        let mut is_left = self.is_left.subscribe();
        // The sender is this table's own.
        let _ = is_left.wait_for(|&is_left| is_left).await;
    }

    pub fn is_waiting(&self) -> bool {
        *locked(&self.state) == TableState::Waiting
    }

    pub fn is_over(&self) -> bool {
        matches!(*locked(&self.state), TableState::Ended(_))
    }

    /// Nothing is played any more; the page stays for a while.
    pub fn end(&self, state: LiveState) {
        *locked(&self.state) = TableState::Ended(Instant::now());
        self.page.feed.set_state(state);
    }

    fn leave(&self) {
        self.is_left.send_replace(true);
        if self.is_waiting() {
            self.end(LiveState::Interrupted);
        }
    }
}

/// All tables, in the order in which they were asked for.
#[derive(Default)]
pub(super) struct Tables {
    all: Vec<Arc<Table>>,
    opened: u32,
}

impl Tables {
    /// One that waits. Its host leaves the one before.
    pub(super) fn open(
        &mut self,
        request: TableRequest,
        ruleset: &Arc<dyn Ruleset>,
    ) -> Result<Arc<Table>, NotSeated> {
        if request.host != TableHost::Visitor {
            for table in self.of(&request.host) {
                table.leave();
            }
        }
        self.all.retain(|table| match *locked(&table.state) {
            TableState::Ended(at) => at.elapsed() < limits::TABLE_KEPT,
            TableState::Waiting | TableState::Playing => true,
        });
        let is_open = |table: &&Arc<Table>| !table.is_over();
        let most_of_host = match request.host {
            TableHost::Visitor => limits::TABLES_OF_VISITORS,
            TableHost::Teacher | TableHost::Student(_) => limits::TABLES,
        };
        if self.of(&request.host).filter(is_open).count() >= most_of_host
            || self.all.iter().filter(is_open).count() >= limits::TABLES
        {
            return Err(NotSeated::Full);
        }
        // The oldest that are over make room.
        while self.all.len() >= 2 * limits::TABLES
            && let Some(place) = self.all.iter().position(|table| table.is_over())
        {
            self.all.remove(place);
        }
        self.opened = self.opened.wrapping_add(1);
        let table = Arc::new(Table::new(self.opened, request, ruleset));
        self.all.push(Arc::clone(&table));
        Ok(table)
    }

    pub(super) fn find(&self, number: u32) -> Option<&Arc<Table>> {
        self.all.iter().find(|table| table.number == number)
    }

    /// Those of one host.
    pub(super) fn of(&self, host: &TableHost) -> impl Iterator<Item = &Arc<Table>> {
        let all = self.all.iter();
        all.filter(move |table| table.request.host == *host)
    }

    /// The first that waits and for which there is room; it is played at from now on.
    pub(super) fn next(&self) -> Option<Arc<Table>> {
        let is_playing = |table: &Table| *locked(&table.state) == TableState::Playing;
        let has_room = |kind: TableKind| {
            let playing = self.all.iter();
            let playing = playing.filter(|table| table.request.kind == kind && is_playing(table));
            playing.count() < kind.at_most()
        };
        let mut waiting = self.all.iter().filter(|table| table.is_waiting());
        let next = waiting.find(|table| has_room(table.request.kind))?;
        *locked(&next.state) = TableState::Playing;
        Some(Arc::clone(next))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use referee_games::game::BuiltinRuleset;
    use referee_games::game::four_in_a_row::FourInARow;

    fn ruleset() -> Arc<dyn Ruleset> {
        Arc::new(BuiltinRuleset::new(FourInARow))
    }

    fn request(host: TableHost, kind: TableKind) -> TableRequest {
        TableRequest {
            host,
            kind,
            players: ["Anna".to_owned(), "Ben".to_owned()],
        }
    }

    fn student(number: usize) -> TableHost {
        TableHost::Student(format!("s{number}"))
    }

    #[test]
    fn so_many_play_at_a_time_and_in_order() {
        let (mut tables, ruleset) = (Tables::default(), ruleset());
        let kinds = [TableKind::Friendly, TableKind::Friendly, TableKind::Person];
        let opened: Vec<_> = kinds
            .into_iter()
            .enumerate()
            .map(|(number, kind)| tables.open(request(student(number), kind), &ruleset))
            .collect::<Result<_, _>>()
            .expect("tables");
        let next = |tables: &Tables| tables.next().map(|table| table.number);
        assert_eq!(next(&tables), Some(opened[0].number));
        // The second friendly game waits for the first, and a person does not.
        assert_eq!(next(&tables), Some(opened[2].number));
        assert_eq!(next(&tables), None);
        opened[0].end(LiveState::Finished);
        assert_eq!(next(&tables), Some(opened[1].number));
    }

    #[test]
    fn a_host_has_one_table_and_all_have_so_many() {
        let (mut tables, ruleset) = (Tables::default(), ruleset());
        let mut open = |host| tables.open(request(host, TableKind::Person), &ruleset);
        let first = open(student(0)).expect("a table");
        let second = open(student(0)).expect("a table");
        assert!(first.is_over() && second.is_waiting());
        for number in 1..limits::TABLES {
            open(student(number)).expect("a table");
        }
        assert_eq!(open(TableHost::Teacher).err(), Some(NotSeated::Full));
        assert!(open(student(1)).is_ok(), "in place of their own");
        assert_eq!(tables.of(&student(0)).count(), 2);
    }

    #[test]
    fn visitors_leave_room_for_the_class() {
        let (mut tables, ruleset) = (Tables::default(), ruleset());
        let mut open = |host| tables.open(request(host, TableKind::Person), &ruleset);
        for _ in 0..limits::TABLES_OF_VISITORS {
            open(TableHost::Visitor).expect("a table");
        }
        assert_eq!(open(TableHost::Visitor).err(), Some(NotSeated::Full));
        assert!(open(student(1)).is_ok());
    }

    #[test]
    fn a_person_who_is_called_as_the_bot_is_told_from_it() {
        let (mut tables, ruleset) = (Tables::default(), ruleset());
        let request = TableRequest {
            players: ["Anna".to_owned(), "Anna".to_owned()],
            ..request(TableHost::Teacher, TableKind::Person)
        };
        let table = tables.open(request, &ruleset).expect("a table");
        assert_ne!(table.names[0], table.names[1]);
    }
}
