//! The games that are being played, for those who watch them.
//!
//! A game notes at its [`Table`] what happens; a viewer copies what is new from the [`Stage`]. No game waits: where
//! the copy is just being made, the news stay at the table and follow a moment later. Memory is used again for the
//! next turn and the next game.

use std::io;
use std::mem;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, TryLockError, Weak};
use std::time::Duration;

use super::clock::Clock;
use super::game::GameObserver;
use super::setup::GameSetup;
use crate::bot::ClockKind;
use crate::game::Side;
use crate::session::Session;

/// Clones are the same stage.
#[derive(Clone, Debug)]
pub struct Stage(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    /// For games that only their program can draw; otherwise turns are noted.
    with_positions: bool,
    slots: Mutex<Vec<Weak<Slot>>>,
}

#[derive(Debug)]
struct Slot {
    number: usize,
    /// Changes with every change of `game`.
    version: AtomicU64,
    game: Mutex<GameNow>,
}

/// Pairs are in the order of the sides.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GameNow {
    /// In the records; empty before the first game.
    pub id: String,
    pub names: [String; 2],
    /// As records hold it.
    pub start: String,
    /// In canonical form, each with a newline after it; where positions are noted, the last one only.
    pub turns: String,
    pub count: usize,
    /// As records hold it, where positions are noted.
    pub position: String,
    pub by: Option<Side>,
    /// `None` between two games.
    pub to_move: Option<Side>,
    /// On the clock of the game, if there is one.
    pub left: [Option<Duration>; 2],
    /// For a move, if it is limited.
    pub limit: [Option<Duration>; 2],
    pub last: [Option<Duration>; 2],
}

/// What a reader of a stage has seen of a table.
#[derive(Clone, Debug)]
pub struct TableNow {
    /// From 1.
    pub number: usize,
    /// As it was when it was last copied.
    pub game: GameNow,
    version: u64,
    slot: Weak<Slot>,
}

/// Where games are played, one after the other. It observes them.
#[derive(Debug)]
pub struct Table {
    slot: Arc<Slot>,
    with_positions: bool,
    /// By their seats.
    players: [String; 2],
    /// What the slot has not been told yet: of a game that has begun all, else the new turns, and the rest as it is
    /// now.
    news: GameNow,
    has_begun: bool,
}

impl Stage {
    pub fn new(with_positions: bool) -> Self {
        Self(Arc::new(Shared {
            with_positions,
            slots: Mutex::default(),
        }))
    }

    /// No change of the list can be left half done.
    fn slots(&self) -> MutexGuard<'_, Vec<Weak<Slot>>> {
        self.0.slots.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// With the lowest number that is free. It is gone when it is dropped.
    pub fn table(&self) -> Table {
        let mut slots = self.slots();
        slots.retain(|slot| slot.strong_count() > 0);
        let numbers: Vec<usize> = slots
            .iter()
            .filter_map(Weak::upgrade)
            .map(|slot| slot.number)
            .collect();
        let mut number = 1;
        while numbers.contains(&number) {
            number += 1;
        }
        let slot = Arc::new(Slot {
            number,
            version: AtomicU64::new(0),
            game: Mutex::default(),
        });
        slots.push(Arc::downgrade(&slot));
        drop(slots);
        Table {
            slot,
            with_positions: self.0.with_positions,
            players: Default::default(),
            news: GameNow::default(),
            has_begun: false,
        }
    }

    /// Brings `seen` up to date, sorted by number, and calls `changed` with each table that has changed. Returns
    /// whether any has, or has gone.
    pub fn look(&self, seen: &mut Vec<TableNow>, mut changed: impl FnMut(&TableNow)) -> bool {
        let before = seen.len();
        seen.retain(|table| table.slot.strong_count() > 0);
        let mut any = seen.len() < before;
        let mut is_new = false;
        for slot in self.slots().iter() {
            if !seen.iter().any(|table| Weak::ptr_eq(&table.slot, slot))
                && let Some(found) = slot.upgrade()
            {
                seen.push(TableNow {
                    number: found.number,
                    game: GameNow::default(),
                    version: 0,
                    slot: Weak::clone(slot),
                });
                is_new = true;
            }
        }
        if is_new {
            seen.sort_by_key(|table| table.number);
        }
        for table in seen.iter_mut() {
            let Some(slot) = table.slot.upgrade() else {
                continue;
            };
            // Read before the game: what changes in between is seen the next time.
            let version = slot.version.load(Ordering::Acquire);
            if version != table.version {
                table.version = version;
                // A panic does not leave a table half told: the news are assigned one by one, and told again.
                let game = slot.game.lock().unwrap_or_else(PoisonError::into_inner);
                table.game.clone_from(&game);
                drop(game);
                any = true;
                changed(table);
            }
        }
        any
    }
}

impl Table {
    /// Of the next games, by their seats.
    pub fn seat(&mut self, players: [&str; 2]) {
        for (name, player) in self.players.iter_mut().zip(players) {
            player.clone_into(name);
        }
    }

    pub fn leave(&mut self) {
        self.news.to_move = None;
        self.tell();
    }

    /// Unless the slot is being copied at this moment: then at the next call.
    fn tell(&mut self) {
        let mut game = match self.slot.game.try_lock() {
            Ok(game) => game,
            Err(TryLockError::Poisoned(game)) => game.into_inner(),
            Err(TryLockError::WouldBlock) => return,
        };
        let news = &mut self.news;
        if mem::take(&mut self.has_begun) {
            game.id.clone_from(&news.id);
            game.names.clone_from(&news.names);
            game.start.clone_from(&news.start);
            game.turns.clear();
        }
        if self.with_positions {
            game.turns.clone_from(&news.turns);
            game.position.clone_from(&news.position);
        } else {
            game.turns.push_str(&news.turns);
            news.turns.clear();
        }
        game.count = news.count;
        game.by = news.by;
        game.to_move = news.to_move;
        game.left = news.left;
        game.limit = news.limit;
        game.last = news.last;
        drop(game);
        self.slot.version.fetch_add(1, Ordering::Release);
    }
}

impl GameObserver for Table {
    fn begins(&mut self, setup: &GameSetup<'_>, start: &dyn Session) -> io::Result<()> {
        let news = &mut self.news;
        news.id.clone_from(&setup.id);
        setup.start.clone_into(&mut news.start);
        for (name, seat) in news.names.iter_mut().zip(setup.seats_by_side()) {
            name.clone_from(&self.players[seat]);
        }
        news.turns.clear();
        news.count = 0;
        news.by = None;
        news.last = [None; 2];
        if self.with_positions {
            news.position.clear();
            start.write_start(&mut news.position);
        }
        self.has_begun = true;
        Ok(())
    }

    fn to_move(&mut self, side: Side, clocks: &[Clock; 2]) -> io::Result<()> {
        let news = &mut self.news;
        news.to_move = Some(side);
        for (index, clock) in clocks.iter().enumerate() {
            let is_wall = clock.kind() == ClockKind::Wall;
            news.left[index] = clock.left().filter(|_| is_wall);
            news.limit[index] = clock.move_time().filter(|_| is_wall);
        }
        self.tell();
        Ok(())
    }

    fn turn(
        &mut self,
        side: Side,
        turn: &str,
        after: &dyn Session,
        elapsed: Duration,
    ) -> io::Result<()> {
        let news = &mut self.news;
        if self.with_positions {
            news.turns.clear();
            news.position.clear();
            after.write_start(&mut news.position);
        }
        news.turns.push_str(turn);
        news.turns.push('\n');
        news.count += 1;
        news.by = Some(side);
        news.last[side.index()] = Some(elapsed);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::super::clock::TimeControl;
    use super::*;
    use crate::game::quarto::Edition;
    use crate::record::BotIndex;
    use crate::session::Ruleset as _;

    fn setup(id: &str, first: BotIndex) -> GameSetup<'_> {
        GameSetup {
            number: 0,
            id: id.to_owned(),
            seed: 1,
            first,
            start: "................",
            process_seeds: [0; 2],
        }
    }

    /// As [`super::super::game::play`] tells them.
    fn play(table: &mut Table, turns: &[&str]) {
        let edition = Edition::default();
        let session = edition.start();
        let clocks = [Clock::new(TimeControl::default()); 2];
        for (number, turn) in turns.iter().enumerate() {
            let side = [Side::First, Side::Second][number % 2];
            let other = [Side::Second, Side::First][number % 2];
            table.to_move(side, &clocks).unwrap();
            let time = Duration::from_millis(5);
            table.turn(side, turn, &*session, time).unwrap();
            table.to_move(other, &clocks).unwrap();
        }
    }

    #[test]
    fn who_looks_sees_the_game_with_all_its_turns() {
        let stage = Stage::new(false);
        let mut table = stage.table();
        table.seat(["a", "b"]);
        let edition = Edition::default();
        let session = edition.start();
        let mut seen = Vec::new();
        assert!(!stage.look(&mut seen, |_| {}));
        table.begins(&setup("p1b", BotIndex::B), &*session).unwrap();
        play(&mut table, &["- A", "1 B"]);
        let mut changed = Vec::new();
        assert!(stage.look(&mut seen, |table| changed.push(table.number)));
        assert_eq!(changed, [1]);
        let game = &seen[0].game;
        assert_eq!(game.names, ["b", "a"].map(str::to_owned));
        assert_eq!(
            (game.id.as_str(), game.turns.as_str()),
            ("p1b", "- A\n1 B\n")
        );
        assert_eq!((game.count, game.to_move), (2, Some(Side::First)));
        assert_eq!(game.limit, [Some(Duration::from_secs(10)); 2]);
        assert!(!stage.look(&mut seen, |_| {}), "nothing new");
        table.begins(&setup("p2a", BotIndex::A), &*session).unwrap();
        play(&mut table, &["- C"]);
        table.leave();
        assert!(stage.look(&mut seen, |_| {}));
        let game = &seen[0].game;
        assert_eq!((game.turns.as_str(), game.to_move), ("- C\n", None));
        drop(table);
        assert!(stage.look(&mut seen, |_| {}));
        assert!(seen.is_empty());
    }

    #[test]
    fn a_game_does_not_wait_for_who_looks_and_nothing_is_lost() {
        let stage = Stage::new(false);
        let mut table = stage.table();
        let slot = Arc::clone(&table.slot);
        let copying = slot.game.lock().unwrap();
        let edition = Edition::default();
        table
            .begins(&setup("p1a", BotIndex::A), &*edition.start())
            .unwrap();
        play(&mut table, &["- A", "1 B"]);
        assert_eq!(copying.turns, "");
        drop(copying);
        play(&mut table, &["2 C"]);
        let mut seen = Vec::new();
        stage.look(&mut seen, |_| {});
        assert_eq!(seen[0].game.turns, "- A\n1 B\n2 C\n");
        assert_eq!(seen[0].game.count, 3);
    }

    #[test]
    fn tables_have_the_lowest_numbers() {
        let stage = Stage::new(false);
        let (first, second) = (stage.table(), stage.table());
        drop(first);
        let third = stage.table();
        assert_eq!((third.slot.number, second.slot.number), (1, 2));
    }
}
