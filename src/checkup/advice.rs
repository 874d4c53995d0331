//! Checks that a tournament does not require, but whose results help an author.

use std::io;

use super::questions::has_a_choice;
use super::{Answered, Checkup, Verdict, seat};
use crate::bot::process::GracePeriods;

/// Positions of each kind.
const POSITIONS: usize = 20;

impl Checkup<'_> {
    /// Whether it looks one turn ahead.
    pub(super) async fn advice(&mut self) -> io::Result<()> {
        let wins = self.positions(POSITIONS, |session| session.can_win_at_once());
        let choice = self.positions(POSITIONS, has_a_choice);
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
    ) -> io::Result<()> {
        if self.hopeless || positions.is_empty() {
            self.note(name, false, Verdict::Skipped);
            return Ok(());
        }
        let verdict = match self.ask_all(positions).await? {
            Err(fault) => Verdict::Bad(fault, "see above".to_owned()),
            Ok(turns) => {
                let count = turns.iter().filter(|answered| good(answered)).count();
                let summary = format!("{count} of {} times", turns.len());
                if count == turns.len() {
                    Verdict::Good(summary)
                } else {
                    Verdict::Bad(
                        summary,
                        "look one step ahead; players/greedy.py does".to_owned(),
                    )
                }
            }
        };
        self.note(name, false, verdict);
        Ok(())
    }

    /// Asks two fresh processes with the same seed the same questions.
    pub(super) async fn repeats(&mut self) -> io::Result<()> {
        let name = "REFEREE_SEED makes it repeatable";
        if self.hopeless {
            self.note(name, false, Verdict::Skipped);
            return Ok(());
        }
        let positions = self.positions(30, |_| true);
        let mut runs = Vec::new();
        for _ in 0..2 {
            self.seat.stop(GracePeriods::FAULT).await?;
            self.seat = seat(
                &self.runner,
                &self.program,
                self.time,
                self.pieces.as_deref(),
            );
            match self.ask_all(&positions).await? {
                Ok(turns) => runs.push(turns.into_iter().map(|answered| answered.turn).collect()),
                Err(fault) => {
                    self.note(name, false, Verdict::Bad(fault, "see above".to_owned()));
                    return Ok(());
                }
            }
        }
        let differ = runs
            .windows(2)
            .any(|pair: &[Vec<String>]| pair[0] != pair[1]);
        let verdict = if differ {
            Verdict::Bad(
                "the same seed and questions gave other answers".to_owned(),
                "seed your random numbers from REFEREE_SEED, so that a lost game can be played again"
                    .to_owned(),
            )
        } else {
            Verdict::Good(String::new())
        };
        self.note(name, false, verdict);
        Ok(())
    }
}
