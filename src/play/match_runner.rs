//! A match: a number of games between the same two players.
//!
//! Keeps the players' processes from game to game, alternates who begins, replaces a process that
//! forfeited, and benches a bot that never answers.

use std::io;

use super::game_runner::{FinishedGame, GameError, GameFault, GameRunner};
use super::observer::GameObserver;
use super::seat::{Seat, stop_both};
use super::setup::{GameSetup, bot_entries};
use crate::bot::process::GracePeriods;
use crate::record::{BotIndex, Record};
use crate::seed;
use crate::session::{Ruleset, Session, registry};

/// What a match is played by.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MatchPlan {
    /// The board that every game starts from, as records write it.
    pub start: String,
    /// How many games.
    pub games: u64,
    /// Index of the player that begins the first game; further games alternate.
    pub first: BotIndex,
    /// Everything random comes from it.
    pub seed: u64,
    /// Fresh processes for every game.
    pub restart: bool,
}

impl MatchPlan {
    /// So many games from the usual start; who begins the first is drawn from the seed where the
    /// rules say so. Processes are kept from game to game.
    pub fn new(ruleset: &dyn Ruleset, games: u64, seed: u64) -> Self {
        let mut start = String::new();
        ruleset.start().write_board(&mut start);
        let by_lot = registry::find(ruleset.name()).is_some_and(|game| game.first_by_lot);
        let first = if by_lot { seed::first_bot(seed) } else { 0 };
        Self {
            start,
            games,
            first: BotIndex::ALL[first],
            seed,
            restart: false,
        }
    }

    /// The game with this number, from 0.
    fn game(&self, number: u64) -> GameSetup<'_> {
        GameSetup {
            number,
            id: format!("{}-{}", self.seed, number + 1),
            seed: self.seed,
            first: if number % 2 == 0 {
                self.first
            } else {
                self.first.other()
            },
            start: &self.start,
            process_seeds: [0, 1].map(|seat| seed::for_bot(self.seed, seat, number)),
        }
    }
}

/// A game of a match, finished or not played.
#[derive(Debug)]
pub struct MatchGame<'a> {
    /// What is written of it.
    pub record: &'a Record,
    /// The last position; `None` when the game was not played because a bot is benched.
    pub session: Option<&'a dyn Session>,
    /// What went wrong.
    pub fault: Option<&'a GameFault>,
}

/// Observes a match.
pub trait MatchObserver: GameObserver {
    /// A game has ended, and its record is complete.
    fn ended(&mut self, game: &MatchGame<'_>) -> io::Result<()> {
        let _ = game;
        Ok(())
    }

    /// A bot has been benched: it failed to give a first answer this many times in a row.
    fn benched(&mut self, seat: BotIndex, failures: u32, games_left: u64) -> io::Result<()> {
        let _ = (seat, failures, games_left);
        Ok(())
    }
}

/// Nobody observes.
impl MatchObserver for () {}

/// The score of a match.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Score {
    /// Games won by each player.
    pub wins: [u64; 2],
    /// Games drawn.
    pub draws: u64,
}

impl Score {
    /// Games played or scored.
    pub const fn games(&self) -> u64 {
        self.wins[0] + self.wins[1] + self.draws
    }

    /// Points of a player: a draw is half a point.
    #[expect(clippy::cast_precision_loss, reason = "no match has 2⁵² games")]
    pub fn points(&self, seat: BotIndex) -> f64 {
        self.wins[seat] as f64 + self.draws as f64 / 2.0
    }

    fn count(&mut self, record: &Record) {
        match record.result.winner {
            Some(winner) => self.wins[winner] += 1,
            None => self.draws += 1,
        }
    }
}

/// A match being played.
#[derive(Debug)]
pub struct MatchRunner {
    runner: GameRunner,
    plan: MatchPlan,
    seats: [Seat; 2],
    score: Score,
}

impl MatchRunner {
    /// A match between these players; nothing is started yet.
    pub const fn new(runner: GameRunner, plan: MatchPlan, seats: [Seat; 2]) -> Self {
        Self {
            runner,
            plan,
            seats,
            score: Score {
                wins: [0; 2],
                draws: 0,
            },
        }
    }

    /// The score of the games that have ended.
    pub const fn score(&self) -> &Score {
        &self.score
    }

    /// Plays all games, or as many as people want to play. Processes are left running: call
    /// [`MatchRunner::stop`] then, also when this future was dropped halfway.
    pub async fn run(&mut self, observer: &mut dyn MatchObserver) -> Result<Score, GameError> {
        self.score = Score::default();
        for number in 0..self.plan.games {
            if self.seats.iter().any(|seat| seat.benched().is_some()) {
                let record = self.skip(number, observer)?;
                self.score.count(&record);
                continue;
            }
            let setup = self.plan.game(number);
            let runner = &self.runner;
            let seats = &mut self.seats;
            let game = runner.run(seats, &setup, None, false, observer).await?;
            self.score.count(&game.record);
            let FinishedGame {
                record,
                session,
                fault,
            } = &game;
            observer.ended(&MatchGame {
                record,
                session: Some(&**session),
                fault: fault.as_ref(),
            })?;
            let has_left = fault
                .as_ref()
                .is_some_and(|fault| fault.reproduce.is_none());
            self.bench(number, observer)?;
            if self.plan.restart {
                stop_both(&mut self.seats, GracePeriods::POLITE).await?;
            }
            if has_left {
                // Only people cannot be asked again by a command.
                break;
            }
        }
        Ok(self.score)
    }

    /// Ends the players' processes.
    pub async fn stop(&mut self, grace: GracePeriods) -> io::Result<()> {
        stop_both(&mut self.seats, grace).await
    }

    /// Announces bots that are benched from now on.
    fn bench(&self, number: u64, observer: &mut dyn MatchObserver) -> io::Result<()> {
        let games_left = self.plan.games - number - 1;
        for bot in BotIndex::ALL {
            let seat = &self.seats[bot];
            if seat.benched().is_some() && games_left > 0 {
                observer.benched(bot, seat.failed_starts(), games_left)?;
            }
        }
        Ok(())
    }

    /// Scores a game that a benched bot does not play.
    fn skip(&self, number: u64, observer: &mut dyn MatchObserver) -> io::Result<Record> {
        let benched = BotIndex::ALL.into_iter().find_map(|by| {
            let seat = &self.seats[by];
            Some((by, seat, seat.benched()?))
        });
        let (by, seat, reason) = benched
            .ok_or_else(|| io::Error::other("a game is skipped although no bot is benched"))?;
        let why = format!(
            "it failed to give a first answer {} times in a row and is benched",
            seat.failed_starts()
        );
        let bots = bot_entries(&self.seats);
        let setup = self.plan.game(number);
        let record = setup.unplayed(self.runner.ruleset(), bots, by, reason, &why);
        observer.ended(&MatchGame {
            record: &record,
            session: None,
            fault: None,
        })?;
        Ok(record)
    }
}
