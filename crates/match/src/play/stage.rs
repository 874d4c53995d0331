//! The games that are being played, for spectators. A game notes at its [`Table`] what
//! happens; a viewer copies the tables of a [`Stage`] now and then.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use super::game::GameEvent;
use crate::bot::ClockKind;
use referee_games::game::Side;
use referee_host::threads::locked;

/// Clones are the same stage.
#[derive(Clone, Debug)]
pub struct Stage(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    /// For games that only their program can draw; otherwise turns are noted.
    with_positions: bool,
    version: AtomicU64,
    /// By their numbers, from 1. Each has a lock of its own, so that games do not wait for each other.
    tables: Mutex<BTreeMap<usize, Arc<Mutex<GameNow>>>>,
}

/// Pairs are in the order of the sides.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GameNow {
    /// In the records; empty before the first game.
    pub id: String,
    pub names: [String; 2],
    pub start: String,
    /// In canonical form, each with a newline after it; where positions are noted, the last one only.
    pub turns: String,
    pub count: usize,
    /// The position as records hold it, where positions are noted.
    pub position: String,
    pub by: Option<Side>,
    /// `None` between two games.
    pub to_move: Option<Side>,
    pub since: Option<Instant>,
    /// On the clock of the game, if there is one.
    pub left: [Option<Duration>; 2],
    /// For a move, if it is limited.
    pub limit: [Option<Duration>; 2],
    pub last: [Option<Duration>; 2],
}

/// Where games are played, one after the other.
#[derive(Debug)]
pub struct Table {
    stage: Stage,
    number: usize,
    game: Arc<Mutex<GameNow>>,
    players: [String; 2],
}

impl Stage {
    pub fn new(with_positions: bool) -> Self {
        Self(Arc::new(Shared {
            with_positions,
            version: AtomicU64::new(0),
            tables: Mutex::default(),
        }))
    }

    /// With the lowest number that is free. It is gone when it is dropped.
    pub fn table(&self) -> Table {
        let game = Arc::<Mutex<GameNow>>::default();
        let mut tables = locked(&self.0.tables);
        let mut number = 1;
        while tables.contains_key(&number) {
            number += 1;
        }
        tables.insert(number, Arc::clone(&game));
        drop(tables);
        Table {
            stage: self.clone(),
            number,
            game,
            players: Default::default(),
        }
    }

    /// Differs from an earlier one when a table has changed since.
    pub fn version(&self) -> u64 {
        self.0.version.load(Ordering::Acquire)
    }

    /// With their numbers, in order, but for those without a game yet.
    pub fn games(&self) -> Vec<(usize, GameNow)> {
        let tables: Vec<_> = locked(&self.0.tables)
            .iter()
            .map(|(&number, game)| (number, Arc::clone(game)))
            .collect();
        let games = tables.into_iter();
        let games = games.map(|(number, game)| (number, locked(&game).clone()));
        games.filter(|(_, game)| !game.id.is_empty()).collect()
    }

    fn changed(&self) {
        self.0.version.fetch_add(1, Ordering::Release);
    }
}

impl Table {
    /// Names the players of the next games, by seat.
    pub fn seat(&mut self, players: [&str; 2]) {
        self.players = players.map(str::to_owned);
    }

    pub fn note(&mut self, event: &GameEvent<'_>) {
        let with_positions = self.stage.0.with_positions;
        let mut game = locked(&self.game);
        match *event {
            GameEvent::Begins { setup, start } => {
                let position = with_positions.then(|| start.as_start());
                *game = GameNow {
                    id: setup.id.clone(),
                    names: setup.seats_by_side().map(|seat| self.players[seat].clone()),
                    start: setup.start.to_owned(),
                    position: position.unwrap_or_default(),
                    ..GameNow::default()
                };
            }
            GameEvent::ToMove { side, clocks } => {
                game.to_move = Some(side);
                game.since = Some(Instant::now());
                for (index, clock) in clocks.iter().enumerate() {
                    let is_wall = clock.control.kind == ClockKind::Wall;
                    game.left[index] = clock.left.filter(|_| is_wall);
                    game.limit[index] = clock.control.move_time.filter(|_| is_wall);
                }
                self.stage.changed();
            }
            GameEvent::Turn {
                side,
                turn,
                after,
                elapsed,
            } => {
                if with_positions {
                    game.turns.clear();
                    game.position = after.as_start();
                }
                game.turns.push_str(turn);
                game.turns.push('\n');
                game.count += 1;
                game.by = Some(side);
                game.last[side.index()] = Some(elapsed);
            }
            GameEvent::Ended { .. } => {
                game.to_move = None;
                self.stage.changed();
            }
            _ => {}
        }
    }
}

impl Drop for Table {
    fn drop(&mut self) {
        locked(&self.stage.0.tables).remove(&self.number);
        self.stage.changed();
    }
}

#[cfg(test)]
mod tests {
    use super::super::clock::{Clock, TimeControl};
    use super::super::setup::GameSetup;
    use super::*;
    use crate::record::{BotIndex, FinishedRecord, Record};
    use referee_games::game::quarto::Edition;
    use referee_games::game::{BuiltinRuleset, Ruleset as _};

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

    fn play(table: &mut Table, turns: &[&str]) {
        let start = BuiltinRuleset::new(Edition::default()).start();
        let clocks = &[Clock::new(TimeControl::default()); 2];
        for (number, turn) in turns.iter().enumerate() {
            let side = [Side::First, Side::Second][number % 2];
            let other = [Side::Second, Side::First][number % 2];
            table.note(&GameEvent::ToMove { side, clocks });
            table.note(&GameEvent::Turn {
                side,
                turn,
                after: &*start,
                elapsed: Duration::from_millis(5),
            });
            let side = other;
            table.note(&GameEvent::ToMove { side, clocks });
        }
    }

    #[test]
    fn who_looks_sees_the_game_with_all_its_turns() {
        let stage = Stage::new(false);
        let mut table = stage.table();
        table.seat(["a", "b"]);
        let start = &*BuiltinRuleset::new(Edition::default()).start();
        assert!(stage.games().is_empty());
        let setup = &setup("p1b", BotIndex::B);
        table.note(&GameEvent::Begins { setup, start });
        play(&mut table, &["- A", "1 B"]);
        let version = stage.version();
        let games = stage.games();
        let (number, game) = &games[0];
        assert_eq!((games.len(), *number), (1, 1));
        assert_eq!(game.names, ["b", "a"].map(str::to_owned));
        assert_eq!(
            (game.id.as_str(), game.turns.as_str()),
            ("p1b", "- A\n1 B\n")
        );
        assert_eq!((game.count, game.to_move), (2, Some(Side::First)));
        assert_eq!(game.limit, [Some(Duration::from_secs(10)); 2]);
        assert_eq!(stage.version(), version, "nothing new");
        let setup = &self::setup("p2a", BotIndex::A);
        table.note(&GameEvent::Begins { setup, start });
        play(&mut table, &["- C"]);
        table.note(&GameEvent::Ended {
            game: &FinishedRecord::new(Record::default()),
            fault: None,
        });
        assert_ne!(stage.version(), version);
        let game = &stage.games()[0].1;
        assert_eq!((game.turns.as_str(), game.to_move), ("- C\n", None));
        let version = stage.version();
        drop(table);
        assert_ne!(stage.version(), version);
        assert!(stage.games().is_empty());
    }

    #[test]
    fn tables_have_the_lowest_numbers() {
        let stage = Stage::new(false);
        let (first, second) = (stage.table(), stage.table());
        drop(first);
        let third = stage.table();
        assert_eq!((third.number, second.number), (1, 2));
    }
}
