//! Games that do not count: a person plays a bot at a page, or a student sees their bot meet another one.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use serde::Deserialize;
use tokio::sync::watch;

use super::client::Network;
use super::limits;
use super::served_page::ServedPage;
use referee_games::game::Ruleset;
use referee_host::threads::locked;
use referee_match::bot::human::Inbox;
use referee_match::bot::naming::distinct_names;
use referee_server::LiveState;
use referee_text::counted;

/// Where a table is asked for, before a bot's name in an address.
pub const NEW_TABLE: &str = "/tables/new?bot=";

/// Who has asked for a table.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum TableHost {
    Teacher,
    /// By the key of their link.
    Student(String),
    /// All without a link who have one network: no more is known of them.
    Visitor(Network),
}

impl TableHost {
    const fn is_visitor(&self) -> bool {
        matches!(self, Self::Visitor(_))
    }
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
    /// Since then, for the games of the class, or another table.
    Waiting(Instant),
    Playing,
    Ended(Instant, TableEnd),
}

/// How it came that nothing is played any more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TableEnd {
    Finished,
    /// By the host, or for another table.
    Left,
    /// [`limits::TABLE_WAIT`]
    NeverBegun,
    /// [`limits::TABLE_TIME`]
    TimeOver,
    /// [`limits::IDLE_TABLE`]
    Idle,
    /// The final was to be played.
    ForFinal,
    /// Such as of a bot that was withdrawn.
    CannotPlay,
    Stopped,
}

impl TableEnd {
    /// For its host, and for its page.
    pub(super) fn sentence(self) -> String {
        let after = |time: Duration| counted(time.as_secs() / 60, "minute", "minutes");
        match self {
            Self::Finished => "finished".to_owned(),
            Self::Left => "left".to_owned(),
            Self::NeverBegun => format!(
                "given up after {}: the class had games to play",
                after(limits::TABLE_WAIT)
            ),
            Self::TimeOver => format!("ended after {}", after(limits::TABLE_TIME)),
            Self::Idle => format!("ended after {} without a turn", after(limits::IDLE_TABLE)),
            Self::ForFinal => "ended for the final".to_owned(),
            Self::CannotPlay => "ended: the bot cannot play any more".to_owned(),
            Self::Stopped => "ended: the server failed".to_owned(),
        }
    }
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
    #[error("a friendly game is one of a student's bot, and this link has none: play in person")]
    NoStudent,
    #[error("all tables are taken; try again in a few minutes")]
    Full,
    #[error("another table was opened a moment ago; try again in a few seconds")]
    TooSoon,
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
            state: Mutex::new(TableState::Waiting(Instant::now())),
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
        matches!(*locked(&self.state), TableState::Waiting(_))
    }

    fn is_of_visitor(&self) -> bool {
        self.request.host.is_visitor()
    }

    fn is_playing(&self) -> bool {
        *locked(&self.state) == TableState::Playing
    }

    pub fn is_over(&self) -> bool {
        self.ended().is_some()
    }

    pub(super) fn ended(&self) -> Option<TableEnd> {
        match *locked(&self.state) {
            TableState::Ended(_, end) => Some(end),
            TableState::Waiting(_) | TableState::Playing => None,
        }
    }

    /// Nothing is played any more; the page stays for a while.
    pub(super) fn end(&self, end: TableEnd) {
        *locked(&self.state) = TableState::Ended(Instant::now(), end);
        self.page.feed.set_state(match end {
            TableEnd::Finished => LiveState::Finished,
            _ => LiveState::Ended(end.sentence().into()),
        });
    }

    /// The class has games to play: it begins anew after them.
    pub(super) fn wait_again(&self) {
        *locked(&self.state) = TableState::Waiting(Instant::now());
        self.page.feed.begin_again();
        self.page.feed.set_state(LiveState::Waiting);
    }

    fn leave(&self) {
        self.is_left.send_replace(true);
        if self.is_waiting() {
            self.end(TableEnd::Left);
        }
    }
}

/// All tables, in the order in which they were asked for.
#[derive(Default)]
pub(super) struct Tables {
    all: Vec<Arc<Table>>,
    opened: u32,
    /// When each host has opened one last.
    latest: HashMap<TableHost, Instant>,
}

impl Tables {
    /// One that waits. Its host leaves the one before.
    pub(super) fn open(
        &mut self,
        request: TableRequest,
        ruleset: &Arc<dyn Ruleset>,
    ) -> Result<Arc<Table>, NotSeated> {
        self.clear(Instant::now());
        let host = &request.host;
        let is_visitor = host.is_visitor();
        if self.latest.contains_key(host) {
            // Such as by a double click. Of visitors it may be another one's.
            let mut open = self.all.iter().rev().filter(|table| !table.is_over());
            let same = open.find(|table| table.request == request && !is_visitor);
            return same.cloned().ok_or(NotSeated::TooSoon);
        }
        let open = self.all.iter().filter(|table| !table.is_over());
        let is_of_host = |table: &&Arc<Table>| table.request.host == *host;
        let (own, others): (Vec<_>, Vec<_>) = open.partition(is_of_host);
        // Visitors of one network may be many people; any other host leaves the table before.
        let is_full = if is_visitor {
            let of_visitors = others.iter().filter(|table| table.is_of_visitor());
            own.len() >= limits::TABLES_OF_NETWORK
                || own.len() + of_visitors.count() >= limits::TABLES_OF_VISITORS
                || own.len() + others.len() >= limits::TABLES
        } else {
            others.len() >= limits::TABLES
        };
        if is_full {
            return Err(NotSeated::Full);
        }
        if !is_visitor {
            for table in own {
                table.leave();
            }
        }
        self.latest.insert(host.clone(), Instant::now());
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

    /// The host of this table leaves it: whether there is one of them.
    pub(super) fn leave(&self, host: &TableHost, number: u32) -> bool {
        let table = self.find(number);
        let table = table.filter(|table| table.request.host == *host && !host.is_visitor());
        table.inspect(|table| table.leave()).is_some()
    }

    /// What has waited or been kept for too long goes.
    fn clear(&mut self, now: Instant) {
        let since = |then: Instant| now.saturating_duration_since(then);
        for table in &self.all {
            let is_late = |from: Instant| since(from) >= limits::TABLE_WAIT;
            let state = *locked(&table.state);
            if matches!(state, TableState::Waiting(from) if is_late(from)) {
                table.end(TableEnd::NeverBegun);
            }
        }
        self.all.retain(|table| match *locked(&table.state) {
            TableState::Ended(at, _) => since(at) < limits::TABLE_KEPT,
            TableState::Waiting(_) | TableState::Playing => true,
        });
        self.latest
            .retain(|_, opened| since(*opened) < limits::TABLE_INTERVAL);
    }

    /// Those of one host.
    pub(super) fn of(&self, host: &TableHost) -> impl Iterator<Item = &Arc<Table>> {
        let all = self.all.iter();
        all.filter(move |table| table.request.host == *host)
    }

    /// The first that waits and for which there is room, those of the class before those of visitors, and of these the network
    /// first that plays at fewest; it is played at from now on.
    pub(super) fn next(&mut self) -> Option<Arc<Table>> {
        self.clear(Instant::now());
        let playing = || self.all.iter().filter(|table| table.is_playing());
        let playing_of = |host: &TableHost| {
            let of_host = playing().filter(|table| table.request.host == *host);
            of_host.count()
        };
        let has_room = |table: &&Arc<Table>| {
            let TableRequest { host, kind, .. } = &table.request;
            let of_kind = playing().filter(|other| other.request.kind == *kind);
            let of_visitors = playing().filter(|other| other.is_of_visitor());
            let has_place = of_visitors.count() < limits::VISITORS_PLAYING
                && playing_of(host) < limits::PLAYING_OF_NETWORK;
            of_kind.count() < kind.at_most() && (has_place || !table.is_of_visitor())
        };
        let waiting = self.all.iter().filter(|table| table.is_waiting());
        let (of_visitors, of_class): (Vec<_>, Vec<_>) = waiting
            .filter(has_room)
            .partition(|table| table.is_of_visitor());
        // The first of equals.
        let of_visitors = of_visitors.into_iter();
        let of_visitors = of_visitors.min_by_key(|table| playing_of(&table.request.host));
        let next = Arc::clone(of_class.into_iter().next().or(of_visitors)?);
        *locked(&next.state) = TableState::Playing;
        Some(next)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::client::Client;
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
        let mut next = || tables.next().map(|table| table.number);
        assert_eq!(next(), Some(opened[0].number));
        // The second friendly game waits for the first, and a person does not.
        assert_eq!(next(), Some(opened[2].number));
        assert_eq!(next(), None);
        opened[0].end(TableEnd::Finished);
        assert_eq!(next(), Some(opened[1].number));
    }

    /// One more of this host, some time after the last.
    fn open(tables: &mut Tables, host: TableHost) -> Result<Arc<Table>, NotSeated> {
        tables.latest.clear();
        tables.open(request(host, TableKind::Person), &ruleset())
    }

    #[test]
    fn a_host_has_one_table_and_all_have_so_many() {
        let mut tables = Tables::default();
        let mut open = |host| open(&mut tables, host);
        let first = open(student(0)).expect("a table");
        let second = open(student(0)).expect("a table");
        assert!(first.is_over() && second.is_waiting());
        for number in 1..limits::TABLES {
            open(student(number)).expect("a table");
        }
        assert_eq!(open(TableHost::Teacher).err(), Some(NotSeated::Full));
        let own = open(student(1)).expect("in place of their own");
        assert_eq!(open(TableHost::Teacher).err(), Some(NotSeated::Full));
        assert!(own.is_waiting(), "a refusal costs no table");
        assert_eq!(tables.of(&student(0)).count(), 2);
    }

    fn visitor(address: u8) -> TableHost {
        TableHost::Visitor(Client([198, 51, 100, address].into()).network())
    }

    #[test]
    fn visitors_leave_room_for_the_class() {
        let mut tables = Tables::default();
        for address in 1..=8 {
            open(&mut tables, visitor(address)).expect("a table");
        }
        assert_eq!(tables.all.len(), limits::TABLES_OF_VISITORS);
        let refused = open(&mut tables, visitor(9)).err();
        assert_eq!(refused, Some(NotSeated::Full));
        let of_class = open(&mut tables, student(1)).expect("a table");
        // The class first, then so many visitors.
        let next = tables.next().map(|table| table.number);
        assert_eq!(next, Some(of_class.number));
        for _ in 0..limits::VISITORS_PLAYING {
            assert!(tables.next().is_some());
        }
        assert!(tables.next().is_none());
    }

    /// Who asks for as many as there are, before anyone else.
    #[test]
    fn visitors_of_one_network_leave_room_for_others() {
        let mut tables = Tables::default();
        for _ in 0..limits::TABLES_OF_NETWORK {
            open(&mut tables, visitor(1)).expect("a table");
        }
        let refused = open(&mut tables, visitor(1)).err();
        assert_eq!(refused, Some(NotSeated::Full));
        // No time has passed since the other network's.
        let visitors = [2, 3].map(|address| {
            let request = request(visitor(address), TableKind::Person);
            tables.open(request, &ruleset()).expect("a table").number
        });
        let next = |tables: &mut Tables| tables.next().map(|table| table.number);
        assert_eq!(next(&mut tables), Some(1));
        // The network that plays at fewest, then the order.
        assert_eq!(next(&mut tables), Some(visitors[0]));
        assert_eq!(next(&mut tables), Some(visitors[1]));
        assert_eq!(next(&mut tables), None);
        tables
            .find(visitors[0])
            .expect("it")
            .end(TableEnd::Finished);
        assert_eq!(next(&mut tables), Some(2));
        tables
            .find(visitors[1])
            .expect("it")
            .end(TableEnd::Finished);
        assert_eq!(next(&mut tables), None, "a place is left for others");
    }

    #[test]
    fn tables_are_not_opened_one_after_the_other() {
        let (mut tables, ruleset) = (Tables::default(), ruleset());
        let mut open = || tables.open(request(student(0), TableKind::Person), &ruleset);
        let first = open().expect("a table");
        // The same once more, by a double click.
        assert_eq!(open().expect("a table").number, first.number);
        let friendly = request(student(0), TableKind::Friendly);
        let refused = tables.open(friendly, &ruleset).err();
        assert_eq!(refused, Some(NotSeated::TooSoon));
        assert!(first.is_waiting());
        let mut of_visitor = || tables.open(request(visitor(1), TableKind::Person), &ruleset);
        of_visitor().expect("a table");
        assert_eq!(of_visitor().err(), Some(NotSeated::TooSoon));
    }

    #[test]
    fn a_table_that_waits_is_given_up_by_its_host_or_in_time() {
        let mut tables = Tables::default();
        let table = open(&mut tables, student(0)).expect("a table");
        assert!(!tables.leave(&student(1), table.number));
        assert!(tables.leave(&student(0), table.number));
        assert_eq!(table.ended(), Some(TableEnd::Left));
        let table = open(&mut tables, student(0)).expect("a table");
        tables.clear(Instant::now() + limits::TABLE_WAIT);
        assert_eq!(table.ended(), Some(TableEnd::NeverBegun));
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
