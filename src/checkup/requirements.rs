//! The checks that a bot has to pass to enter a tournament.

use std::io;
use std::time::Duration;

use super::questions::{is_last_turn, is_lost_at_once, reopened, request_of};
use super::{Checkup, SEED, Times, Verdict};
use crate::bot::Player as _;
use crate::bot::fault::Exit;
use crate::bot::process::GracePeriods;
use crate::bot::spec::CannotStart;
use crate::play::seat::StartError;
use crate::seed;
use crate::text::{format_duration, quote};

/// Random positions that the bot is asked about.
const POSITIONS: usize = 200;
/// Games that the bot plays against itself in one process.
const GAMES: usize = 10;
/// How long the bot has to end when its input ends.
const END: Duration = Duration::from_secs(2);

impl Checkup<'_> {
    /// All of them.
    pub(super) async fn requirements(&mut self) -> io::Result<()> {
        self.starts().await?;
        self.kinds_of_turn().await?;
        self.random_positions().await?;
        self.games().await?;
        self.silence().await?;
        self.times_kept();
        self.end().await
    }

    /// Starts the bot and asks for the first turn of a game.
    async fn starts(&mut self) -> io::Result<()> {
        match self.seat.start(seed::for_bot(SEED, 0, 0)).await {
            Ok(()) => self.note("starts", true, Verdict::Good(String::new())),
            Err(StartError::CannotStart(CannotStart { cause, fix, .. })) => {
                self.note("starts", true, Verdict::Bad(cause, fix));
                self.hopeless = true;
            }
            Err(StartError::Exhausted(limit)) => return Err(io::Error::other(limit)),
        }
        let verdict = if self.hopeless {
            Verdict::Skipped
        } else {
            let ruleset = self.runner.shared_ruleset();
            match self.ask(&mut *ruleset.start()).await? {
                Ok(time) => Verdict::Good(format!("after {}", format_duration(time.elapsed))),
                Err(fault) => {
                    self.hopeless = true;
                    let again = self.seat.reproduce_command(&self.text.request);
                    let again = again.unwrap_or_default();
                    Verdict::Bad(fault, format!("see it by hand: {again}"))
                }
            }
        };
        let flushes = match &verdict {
            Verdict::Good(_) => Verdict::Good(String::new()),
            Verdict::Bad(..) if self.buffers => Verdict::Bad(
                "its answer arrived only when its input was closed".to_owned(),
                "flush standard output after every line".to_owned(),
            ),
            _ => Verdict::Skipped,
        };
        self.note("answers the opening", true, verdict);
        self.note("flushes its answers", true, flushes);
        Ok(())
    }

    /// Every kind of turn in the protocol.
    async fn kinds_of_turn(&mut self) -> io::Result<()> {
        let ruleset = self.runner.shared_ruleset();
        let reopen = |request: &str| reopened(&*ruleset, request);
        let opened = self.positions(8, |session| reopen(&request_of(session)).is_some());
        let opened = opened
            .iter()
            .filter_map(|request| reopen(request))
            .collect();
        let kinds: [(&'static str, Vec<String>); 5] = [
            ("an opening with pieces on the board", opened),
            (
                "a turn in the middle",
                self.positions(8, |session| !is_last_turn(session)),
            ),
            (
                "the last turn, one cell left",
                self.positions(8, is_last_turn),
            ),
            (
                "a win is there",
                self.positions(8, |session| session.can_win_at_once()),
            ),
            ("every turn loses", self.positions(8, is_lost_at_once)),
        ];
        for (name, positions) in kinds {
            let verdict = self.all_legal(&positions).await?;
            self.note(name, true, verdict);
        }
        Ok(())
    }

    async fn all_legal(&mut self, positions: &[String]) -> io::Result<Verdict> {
        if self.hopeless {
            return Ok(Verdict::Skipped);
        }
        Ok(match self.ask_all(positions).await? {
            Ok(_) => Verdict::Good(format!("{} positions", positions.len())),
            Err(fault) => Verdict::Bad(fault, "see protocol.md for what is legal".to_owned()),
        })
    }

    async fn random_positions(&mut self) -> io::Result<()> {
        let positions = self.positions(POSITIONS, |_| true);
        let verdict = self.all_legal(&positions).await?;
        self.note("random positions, all answers legal", true, verdict);
        Ok(())
    }

    /// Games against itself, in which one process plays both sides.
    async fn games(&mut self) -> io::Result<()> {
        if self.hopeless {
            self.note("many games in one process", true, Verdict::Skipped);
            return Ok(());
        }
        let ruleset = self.runner.shared_ruleset();
        let mut problem = None;
        'games: for _ in 0..GAMES {
            let mut session = ruleset.start();
            while session.outcome().is_none() {
                if let Err(fault) = self.ask(&mut *session).await? {
                    problem = Some(fault);
                    break 'games;
                }
            }
        }
        let verdict = match problem {
            None => Verdict::Good(format!("{GAMES} games against itself")),
            Some(fault) => Verdict::Bad(
                fault,
                "keep nothing from line to line: the line is the whole state".to_owned(),
            ),
        };
        self.note("many games in one process", true, verdict);
        Ok(())
    }

    /// Checks that nothing is written after an answer.
    async fn silence(&mut self) -> io::Result<()> {
        let name = "nothing extra on stdout";
        if self.hopeless {
            self.note(name, true, Verdict::Skipped);
            return Ok(());
        }
        let ruleset = self.runner.shared_ruleset();
        let extra = if let Err(fault) = self.ask(&mut *ruleset.start()).await? {
            Some(fault)
        } else {
            let extra = self.seat.drain().await;
            let problem = format!("after its answer it wrote {}", quote(&extra));
            (!extra.is_empty()).then_some(problem)
        };
        let verdict = match extra {
            None => Verdict::Good(String::new()),
            Some(problem) => Verdict::Bad(
                problem,
                "one answer is one line; print debugging text to stderr".to_owned(),
            ),
        };
        self.note(name, true, verdict);
        Ok(())
    }

    /// Compares the slowest answer with the limit.
    fn times_kept(&mut self) {
        let name = "time per move";
        let Some(times) = Times::of(self.times.clone()).filter(|_| !self.hopeless) else {
            self.note(name, true, Verdict::Skipped);
            return;
        };
        let limit = self.time.move_time;
        let summary = format!(
            "median {}, 99 of 100 within {}, worst {}; the limit is {}",
            format_duration(times.median),
            format_duration(times.p99),
            format_duration(times.worst),
            format_duration(limit)
        );
        let verdict = if times.worst * 2 > limit {
            Verdict::Bad(
                summary,
                "leave a margin: a busy machine makes every program slower".to_owned(),
            )
        } else {
            Verdict::Good(summary)
        };
        // Only advice: an answer beyond the limit is a fault of the checks before.
        self.note(name, false, verdict);
    }

    /// Closes the bot's input.
    async fn end(&mut self) -> io::Result<()> {
        let name = "ends when its input ends";
        if self.hopeless {
            self.note(name, true, Verdict::Skipped);
            return Ok(());
        }
        let verdict = match self.seat.end_input(END).await? {
            Some(Exit::Code(0)) => Verdict::Good(String::new()),
            Some(exit) => Verdict::Good(format!("{exit}")),
            None => Verdict::Bad(
                format!(
                    "it still runs {} after the end of its input",
                    format_duration(END)
                ),
                "leave the loop when reading a line gives the end of the file".to_owned(),
            ),
        };
        self.seat.stop(GracePeriods::FAULT).await?;
        self.note(name, true, verdict);
        Ok(())
    }
}
