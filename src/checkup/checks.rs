//! The checks of a bot: those required to enter a tournament, and advice.

use std::sync::Arc;
use std::time::Duration;

use super::questions::{has_a_choice, is_last_turn, is_lost_at_once, reopened, request_of};
use super::{Answered, Checkup, Notice, Problem, SEED, Share, Times, Verdict};
use crate::bot::Player as _;
use crate::bot::fault::Exit;
use crate::bot::process::GracePeriods;
use crate::bot::spec::CannotStart;
use crate::game::Side;
use crate::play::clock::Clock;
use crate::play::game_runner::GameError;
use crate::play::seat::StartError;
use crate::seed;
use crate::session::Session;
use crate::text::{format_duration, quote};

const POSITIONS: usize = 200;
/// Against itself, in one process.
const GAMES: usize = 10;
/// For the bot to exit when its input ends.
const END: Duration = Duration::from_secs(2);

impl Checkup<'_> {
    pub(super) async fn requirements(&mut self) -> Result<(), GameError> {
        self.starts().await?;
        self.kinds_of_turn().await?;
        self.random_positions().await?;
        self.games().await?;
        self.silence().await?;
        self.times_kept();
        self.end().await
    }

    async fn starts(&mut self) -> Result<(), GameError> {
        match self.seat.start(seed::for_bot(SEED, 0, 0)).await {
            Ok(()) => self.note("starts", true, Verdict::Good(String::new())),
            Err(StartError::CannotStart(CannotStart { cause, fix, .. })) => {
                let problem = Problem {
                    what: cause,
                    fix,
                    again: None,
                };
                self.note("starts", true, Verdict::Bad(problem));
                self.hopeless = true;
            }
            Err(error) => return Err(error.into()),
        }
        let name = "answers the opening";
        let (mut verdict, mut flushes) = (Verdict::Skipped, Verdict::Skipped);
        if !self.hopeless {
            (self.show)(Notice::Asking {
                check: name,
                done: 0,
                of: 1,
            });
            let ruleset = self.runner.shared_ruleset();
            let mut clock = Clock::new(self.seat.time());
            match self
                .ask_for_fault(&mut *ruleset.start(), &mut clock)
                .await?
            {
                Ok(time) => {
                    verdict = Verdict::Good(format!("after {}", format_duration(time.elapsed)));
                    flushes = Verdict::Good(String::new());
                }
                Err(fault) => {
                    self.hopeless = true;
                    let mut problem = *fault.problem;
                    if fault.may_be_held_back {
                        let held_back = self.held_back(&request_of(&*ruleset.start())).await?;
                        problem = held_back.explain(self, problem);
                        if held_back.may_be_output() {
                            flushes = Verdict::Bad(problem.clone());
                        }
                    }
                    verdict = Verdict::Bad(problem);
                }
            }
        }
        self.note(name, true, verdict);
        self.note("flushes its answers", true, flushes);
        Ok(())
    }

    async fn kinds_of_turn(&mut self) -> Result<(), GameError> {
        let ruleset = self.runner.shared_ruleset();
        if ruleset.program().is_some() {
            // To find such turns takes many questions to the game's program.
            return Ok(());
        }
        let reopen = |session: &dyn Session| reopened(&*ruleset, session);
        let opened = self.positions("opened", 8, |session| reopen(session).is_some());
        let opened = opened
            .iter()
            .filter_map(|position| reopen(&*ruleset.start_from(position).ok()?))
            .collect();
        // A gift is ignored where the placement wins.
        let mut last = self
            .positions("last turn without a win", 4, |session| {
                is_last_turn(session) && session.outlook().winning == 0
            })
            .to_vec();
        last.extend_from_slice(&self.positions("last turn", 4, is_last_turn));
        let kinds: [(&'static str, Arc<[String]>); 5] = [
            ("an opening with pieces on the board", opened),
            (
                "a turn in the middle",
                self.positions("middle", 8, |session| !is_last_turn(session)),
            ),
            ("the last turn, one cell left", last.into()),
            (
                "a win is there",
                self.positions("win", 8, |session| session.can_win_at_once()),
            ),
            (
                "every turn loses",
                self.positions("lost", 8, is_lost_at_once),
            ),
        ];
        for (name, positions) in kinds {
            self.all_legal(name, &positions, Share::one_of(10)).await?;
        }
        Ok(())
    }

    async fn all_legal(
        &mut self,
        name: &'static str,
        positions: &[String],
        share: Share,
    ) -> Result<(), GameError> {
        let verdict = if self.hopeless {
            Verdict::Skipped
        } else {
            match self.ask_all(name, positions, share).await? {
                Ok(answers) => {
                    Self::verdict_of(answers.len(), positions.len(), "position", "positions")
                }
                Err(problem) => Verdict::Bad(problem),
            }
        };
        self.note(name, true, verdict);
        Ok(())
    }

    async fn random_positions(&mut self) -> Result<(), GameError> {
        let positions = self.positions("any", POSITIONS, |_| true);
        let name = "random positions, all answers legal";
        self.all_legal(name, &positions, Share::one_of(4)).await
    }

    /// Against itself: one process plays both sides.
    async fn games(&mut self) -> Result<(), GameError> {
        let name = "many games in one process";
        if self.hopeless {
            self.note(name, true, Verdict::Skipped);
            return Ok(());
        }
        // A bot that failed before fails here for the same reason.
        let answered_well = !self.checks.iter().any(|check| check.problem().is_some());
        let end = self.budget.end(Share::one_of(2));
        let ruleset = self.runner.shared_ruleset();
        let (mut problem, mut games, mut turns) = (None, 0, 0);
        'games: while games < GAMES {
            let mut session = ruleset.start();
            let mut clocks = [Side::First, Side::Second].map(|_| Clock::new(self.seat.time()));
            (self.show)(Notice::Asking {
                check: name,
                done: games,
                of: GAMES,
            });
            while session.outcome().is_none() {
                if self.budget.is_over(end, turns == 0) {
                    break 'games;
                }
                let side = session.to_move();
                let clock = &mut clocks[side.index()];
                if let Err(found) = self.ask_on(&mut *session, clock).await? {
                    problem = Some(found);
                    break 'games;
                }
                turns += 1;
            }
            games += 1;
        }
        let verdict = match problem {
            None if games == 0 && turns > 0 => Verdict::Good(format!(
                "the beginning of one, {turns} turns, for want of time"
            )),
            None => Self::verdict_of(games, GAMES, "game against itself", "games against itself"),
            Some(mut problem) => {
                if answered_well {
                    problem.fix = format!(
                        "it answered single positions well, but not game after game: keep nothing from line to line, as the line is the whole state; {}",
                        problem.fix
                    );
                }
                Verdict::Bad(problem)
            }
        };
        self.note(name, true, verdict);
        Ok(())
    }

    /// Nothing may be written after an answer, here and in the checks before.
    async fn silence(&mut self) -> Result<(), GameError> {
        let name = "nothing extra on stdout";
        let verdict = if let Some(extra) = &self.extra {
            Verdict::Bad(extra.clone())
        } else if self.hopeless {
            Verdict::Skipped
        } else if self.budget.is_over(self.budget.end(Share::ALL), true) {
            Verdict::LeftOut
        } else {
            let ruleset = self.runner.shared_ruleset();
            let asked = self.ask(&mut *ruleset.start()).await?;
            let extra = self.seat.drain().await;
            match asked {
                Err(problem) => Verdict::Bad(problem),
                Ok(_) if extra.is_empty() => Verdict::Good(String::new()),
                Ok(_) => Verdict::Bad(Problem {
                    what: format!("after its answer it wrote {}", quote(&extra)),
                    fix:
                        "write one line for each question; text for yourself goes to standard error"
                            .to_owned(),
                    again: self.seat.reproduce_command(&self.text.request, None),
                }),
            }
        };
        self.note(name, true, verdict);
        Ok(())
    }

    fn times_kept(&mut self) {
        let name = "time per move";
        let Some(times) = Times::of(self.times.clone()).filter(|_| !self.hopeless) else {
            self.note(name, false, Verdict::Skipped);
            return;
        };
        let limit = self.seat.time().move_time;
        let what = format!(
            "median {}, 99 of 100 within {}, worst {}; {}",
            format_duration(times.median),
            format_duration(times.p99),
            format_duration(times.worst),
            limit.map_or_else(
                || "there is no limit".to_owned(),
                |limit| format!("the limit is {}", format_duration(limit))
            )
        );
        let verdict = if limit.is_some_and(|limit| times.worst * 2 > limit) {
            Verdict::Bad(Problem {
                what,
                fix: "leave a margin: a busy machine makes every program slower".to_owned(),
                again: None,
            })
        } else {
            Verdict::Good(what)
        };
        // Only advice: an answer beyond the limit is a fault of the checks before.
        self.note(name, false, verdict);
    }

    /// Closes the bot's input.
    async fn end(&mut self) -> Result<(), GameError> {
        let name = "ends when its input ends";
        if self.hopeless {
            self.note(name, true, Verdict::Skipped);
            return Ok(());
        }
        // After a fault none runs.
        self.seat.start(seed::for_bot(SEED, 0, 0)).await?;
        let verdict = match self.seat.end_input(END).await? {
            Some(Exit::Code(0)) => Verdict::Good(String::new()),
            Some(exit) => Verdict::Good(format!("{exit}")),
            None => Verdict::Bad(Problem {
                what: format!(
                    "it still runs {} after the end of its input",
                    format_duration(END)
                ),
                fix: "leave the loop when reading a line gives the end of the file".to_owned(),
                again: None,
            }),
        };
        self.seat.stop(GracePeriods::FAULT).await?;
        self.note(name, true, verdict);
        Ok(())
    }
}

/// Of each kind.
const ADVICE_POSITIONS: usize = 20;

/// Asked twice.
const REPEATED: usize = 30;

impl Checkup<'_> {
    /// Whether it looks one turn ahead.
    pub(super) async fn advice(&mut self) -> Result<(), GameError> {
        if self.runner.ruleset().program().is_some() {
            // To find such positions takes many questions to the game's program.
            return Ok(());
        }
        let wins = self.positions("win", ADVICE_POSITIONS, |session| session.can_win_at_once());
        let choice = self.positions("choice", ADVICE_POSITIONS, has_a_choice);
        let won = |answered: &Answered| answered.won;
        let safe = |answered: &Answered| !answered.lets_win;
        self.count("takes a win that is there", &wins, won).await?;
        self.count("does not let the opponent win at once", &choice, safe)
            .await
    }

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
