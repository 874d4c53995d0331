//! Checks that a tournament does not require, but whose results help an author.

use super::questions::has_a_choice;
use super::{Answered, Checkup, Problem, Share, Verdict};
use crate::bot::process::GracePeriods;
use crate::play::game_runner::GameError;

/// Positions of each kind.
const POSITIONS: usize = 20;

/// The questions that are asked twice.
const REPEATED: usize = 30;

impl Checkup<'_> {
    /// Whether it looks one turn ahead.
    pub(super) async fn advice(&mut self) -> Result<(), GameError> {
        if self.runner.ruleset().program().is_some() {
            // To find such positions takes many questions to the game's program.
            return Ok(());
        }
        let wins = self.positions("win", POSITIONS, |session| session.can_win_at_once());
        let choice = self.positions("choice", POSITIONS, has_a_choice);
        let won = |answered: &Answered| answered.won;
        let safe = |answered: &Answered| !answered.lets_win;
        self.count("takes a win that is there", &wins, won).await?;
        self.count("does not let the opponent win at once", &choice, safe)
            .await
    }

    /// Counts the answers that are `good`.
    async fn count(
        &mut self,
        name: &'static str,
        positions: &[String],
        good: impl Fn(&Answered) -> bool,
    ) -> Result<(), GameError> {
        if self.hopeless || positions.is_empty() {
            self.note(name, false, Verdict::Skipped);
            return Ok(());
        }
        let verdict = match self.ask_all(name, positions, Share::one_of(4)).await? {
            Err(problem) => Verdict::Bad(problem),
            Ok(turns) if turns.is_empty() => Verdict::LeftOut,
            Ok(turns) => {
                let count = turns.iter().filter(|answered| good(answered)).count();
                let what = format!("{count} of {} times", turns.len());
                if count == turns.len() {
                    Verdict::Good(what)
                } else {
                    Verdict::Bad(Problem {
                        what,
                        fix: "look one step ahead; players/greedy.py does".to_owned(),
                        again: None,
                    })
                }
            }
        };
        self.note(name, false, verdict);
        Ok(())
    }

    /// Asks two fresh processes with the same seed the same questions.
    pub(super) async fn repeats(&mut self) -> Result<(), GameError> {
        let name = "REFEREE_SEED makes it repeatable";
        if self.hopeless {
            self.note(name, false, Verdict::Skipped);
            return Ok(());
        }
        let mut positions = self.positions("any", REPEATED, |_| true).to_vec();
        let mut runs: Vec<Vec<String>> = Vec::new();
        for share in [Share::one_of(2), Share::ALL] {
            self.seat.stop(GracePeriods::FAULT).await?;
            match self.ask_all(name, &positions, share).await? {
                Ok(turns) => {
                    // The second one is asked what the first one was.
                    positions.truncate(turns.len());
                    runs.push(turns.into_iter().map(|answered| answered.turn).collect());
                }
                Err(problem) => {
                    self.note(name, false, Verdict::Bad(problem));
                    return Ok(());
                }
            }
        }
        let verdict = if positions.is_empty() {
            Verdict::LeftOut
        } else if runs
            .iter()
            .any(|run| run[..positions.len()] != runs[0][..positions.len()])
        {
            Verdict::Bad(Problem {
                what: "the same seed and questions gave other answers".to_owned(),
                fix: "seed your random numbers from REFEREE_SEED, so that a lost game can be played again"
                    .to_owned(),
                again: None,
            })
        } else {
            Verdict::Good(String::new())
        };
        self.note(name, false, verdict);
        Ok(())
    }
}
