//! Matches: games between the same two players. Keeps their processes from game to game, alternates who moves first,
//! replaces a process that forfeited, and benches a bot that never answers.

use std::io;

use tokio::task::yield_now;

use super::events;
use super::game::{GameEvent, Observer};
use super::game_runner::{FinishedGame, GameError, GameRunner};
use super::seat::{Seat, stop_both};
use super::setup::{GameSetup, UnplayedReason, bot_entries};
use crate::bot::process::GracePeriods;
use crate::record::{BotIndex, FinishedRecord, ForfeitReason, Record};
use crate::seed;
use referee_games::game::StartError;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MatchPlan {
    /// The start of every game, as records hold it; `None` when it is drawn for every two games.
    pub start: Option<String>,
    pub games: u64,
    /// In the first game; further games alternate.
    pub first: BotIndex,
    pub seed: u64,
    pub restart: bool,
}

impl MatchPlan {
    /// `number` counts from 0.
    fn game<'a>(&self, number: u64, start: &'a str) -> GameSetup<'a> {
        GameSetup {
            number,
            id: format!("{}-{}", self.seed, number + 1),
            seed: self.seed,
            first: if number.is_multiple_of(2) {
                self.first
            } else {
                self.first.other()
            },
            start,
            process_seeds: [0, 1].map(|seat| seed::for_bot(self.seed, seat, number)),
        }
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Score {
    pub wins: [u64; 2],
    pub draws: u64,
}

impl Score {
    pub const fn games(&self) -> u64 {
        self.wins[0] + self.wins[1] + self.draws
    }

    /// 1 for a win, ½ for a draw.
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

pub struct MatchRunner {
    runner: GameRunner,
    plan: MatchPlan,
    seats: [Seat; 2],
    score: Score,
}

impl MatchRunner {
    pub fn new(runner: GameRunner, plan: MatchPlan, seats: [Seat; 2]) -> Self {
        Self {
            runner,
            plan,
            seats,
            score: Score::default(),
        }
    }

    pub const fn score(&self) -> &Score {
        &self.score
    }

    /// Plays all games, or until a person leaves. Processes are left running: call [`MatchRunner::stop`] afterwards,
    /// even when this future was dropped before its end.
    pub async fn run(&mut self, observer: &mut Observer<'_>) -> Result<Score, GameError> {
        self.score = Score::default();
        for number in 0..self.plan.games {
            // On a busy machine answers are there when they are looked for: nothing is waited for, and a signal would never
            // be seen.
            yield_now().await;
            let mut bots = BotIndex::ALL.into_iter();
            if let Some((by, reason)) = bots.find_map(|bot| Some((bot, self.seats[bot].benched()?)))
            {
                let game = self.skip(number, by, reason, observer)?;
                self.score.count(game.record());
                continue;
            }
            let start = self.start_of(number)?;
            let setup = self.plan.game(number, &start);
            let runner = &self.runner;
            let seats = &mut self.seats;
            let game = runner.run(seats, &setup, None, observer).await?;
            let FinishedGame { record, mut fault } = game;
            if let Some(fault) = &mut fault {
                fault.try_alone(&mut self.seats[fault.by.index()]).await;
            }
            self.score.count(&record);
            observer(&GameEvent::Ended {
                game: &FinishedRecord::new(record),
                fault: fault.as_ref(),
            })?;
            let has_left = fault.as_ref().is_some_and(|fault| {
                fault.reproduce.is_none() && !self.seats[fault.by].wants_games()
            });
            let games_left = self.plan.games - number - 1;
            for bot in BotIndex::ALL {
                let seat = &self.seats[bot];
                if seat.benched().is_some() && games_left > 0 {
                    events::benched(seat.name(), seat.benched(), seat.failed_starts());
                    observer(&GameEvent::Benched {
                        bot,
                        failures: seat.failed_starts(),
                        games_left,
                    })?;
                }
            }
            if self.plan.restart {
                stop_both(&mut self.seats, GracePeriods::POLITE).await?;
            }
            if has_left {
                // Faults of people cannot be reproduced by a command.
                break;
            }
        }
        Ok(self.score)
    }

    /// As records hold it, the same for two games, in which each player begins once.
    fn start_of(&self, number: u64) -> Result<String, GameError> {
        if let Some(start) = &self.plan.start {
            return Ok(start.clone());
        }
        let game = self.runner.ruleset();
        let drawn = game.start_drawn(seed::for_start(self.plan.seed, number / 2));
        let drawn = drawn.map_err(|error| match error {
            StartError::Failed(failure) => failure.into(),
            StartError::Refused(problem) => GameError::Io(io::Error::other(problem)),
        })?;
        Ok(drawn.as_start())
    }

    pub async fn stop(&mut self, grace: GracePeriods) -> io::Result<()> {
        stop_both(&mut self.seats, grace).await
    }

    /// Scores a game that is not played because a bot is benched.
    fn skip(
        &self,
        number: u64,
        by: BotIndex,
        reason: ForfeitReason,
        observer: &mut Observer<'_>,
    ) -> io::Result<FinishedRecord> {
        let benched = UnplayedReason {
            by,
            reason,
            why: format!(
                "it failed to give a first answer {} times in a row and is benched",
                self.seats[by].failed_starts()
            ),
        };
        let bots = bot_entries(&self.seats);
        let start = self.start_of(number).map_err(io::Error::other)?;
        let setup = self.plan.game(number, &start);
        let record = setup.unplayed(self.runner.ruleset(), bots, benched);
        events::ended(&record);
        let finished = FinishedRecord::new(record);
        let (game, fault) = (&finished, None);
        observer(&GameEvent::Ended { game, fault })?;
        Ok(finished)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_draw_is_half_a_point_for_each() {
        let score = Score {
            wins: [4, 1],
            draws: 3,
        };
        assert_eq!(score.games(), 8);
        assert_eq!(
            BotIndex::ALL.map(|bot| score.points(bot).to_bits()),
            [5.5, 2.5].map(f64::to_bits)
        );
    }
}
