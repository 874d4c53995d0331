//! The checks of a bot: those required to enter a tournament, and advice.

use std::io;
use std::ops::RangeInclusive;
use std::sync::Arc;

use super::questions::{has_a_choice, is_last_turn, is_lost_at_once, late_first, reopened};
use super::{
    Answered, Cause, CheckVerdict, CheckedTimes, Checkup, Coverage, Halt, Made, SKIPPED,
    ScoresSaid, bad,
};
use referee_games::game::Game;
use referee_games::game::Side;
use referee_match::bot::Player as _;
use referee_match::bot::fault::Exit;
use referee_match::bot::process::{END_OF_INPUT, GracePeriods};
use referee_match::play::game_runner::GameError;
use referee_text::{counted, format_duration, quote};

const POSITIONS: usize = 200;
const GAMES: usize = 10;
/// Free cells where the end of a game begins.
const LATE: RangeInclusive<usize> = 4..=6;
/// For advice, of each kind.
const ADVICE_POSITIONS: usize = 20;
const REPEATED: usize = 30;

impl Checkup<'_> {
    pub(super) async fn requirements(&mut self) -> Result<(), GameError> {
        let made = self.starts().await;
        self.note("starts", true, made)?;
        let (answers, flushes) = self.opening().await;
        self.note(OPENING, true, answers)?;
        self.note("flushes its answers", true, flushes)?;
        self.kinds_of_turn().await?;
        let positions = late_first(&self.positions("any", POSITIONS, |_| true));
        let name = "random positions, all answers legal";
        let made = self.all_legal(name, &positions, 4).await;
        self.note(name, true, made)?;
        let made = self.games().await;
        self.note(MANY_GAMES, true, made)?;
        let made = self.silence().await;
        self.note("nothing extra on stdout", true, made)?;
        let made = self.times_kept();
        self.note("time per move", self.late > 0, made)?;
        let made = self.end().await;
        self.note("ends when its input ends", true, made)
    }

    async fn starts(&mut self) -> Made {
        let started = self.examiner.start().await;
        self.hopeless |= started.is_err();
        started?;
        Ok(String::new())
    }

    /// Whether it answers, and whether it flushes its answers.
    async fn opening(&mut self) -> (Made, Made) {
        if self.hopeless {
            return (SKIPPED, SKIPPED);
        }
        self.asks(OPENING, 0, 1);
        let ruleset = self.runner.shared_ruleset();
        let mut clock = self.clock();
        let halt = match self.ask(&mut *ruleset.start(), &mut clock).await {
            Ok(answer) => {
                let time = format_duration(answer.time.elapsed);
                return (Ok(format!("after {time}")), Ok(String::new()));
            }
            Err(halt) => halt,
        };
        self.hopeless = true;
        match (halt, self.held_back.take()) {
            (Halt::CheckVerdict(CheckVerdict::Bad(problem)), Some(request)) => {
                match self.explain(&request, *problem).await {
                    Ok((problem, true)) => (Err(problem.clone().into()), Err(problem.into())),
                    Ok((problem, false)) => (Err(problem.into()), SKIPPED),
                    Err(error) => (Err(error.into()), SKIPPED),
                }
            }
            (halt, _) => (Err(halt), SKIPPED),
        }
    }

    async fn kinds_of_turn(&mut self) -> Result<(), GameError> {
        let ruleset = self.runner.shared_ruleset();
        if ruleset.program().is_some() {
            // To find such turns takes many questions to the game's program.
            return Ok(());
        }
        let reopen = |session: &dyn Game| reopened(&*ruleset, session);
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
        let middle = self.positions("middle", 8, |session| !is_last_turn(session));
        let win = self.positions("win", 8, |session| session.can_win_at_once());
        let losing = self.positions("lost", 8, is_lost_at_once);
        let kinds: [(&'static str, Arc<[String]>); 5] = [
            ("answers an opening with pieces on the board", opened),
            ("answers a turn in the middle", middle),
            ("answers when a win is there", win),
            ("answers when every turn loses", losing),
            // A gift that cannot be given is told better by a turn before.
            ("answers the last turn, one cell left", last.into()),
        ];
        for (name, positions) in kinds {
            let made = self.all_legal(name, &positions, 10).await;
            self.note(name, true, made)?;
        }
        Ok(())
    }

    /// Against itself: one process plays both sides.
    async fn games(&mut self) -> Made {
        self.unless_hopeless()?;
        let share = self.budget.share(2);
        let starts = self.starts_of_games();
        let (mut games, mut turns) = (0, 0);
        'games: while games < GAMES {
            let mut session = self.game_from(starts.get(games))?;
            let mut clocks = [Side::First, Side::Second].map(|_| self.clock());
            self.asks(MANY_GAMES, games, GAMES);
            while session.outcome().is_none() {
                if self.budget.is_over(share, turns == 0) {
                    break 'games;
                }
                let clock = &mut clocks[session.to_move().index()];
                self.ask(&mut *session, clock).await?;
                turns += 1;
            }
            games += 1;
        }
        if !starts.is_empty() && games > 0 {
            self.cut_short = Some(Coverage::none_of(GAMES));
            return Ok(format!("the ends of {games}, against itself"));
        }
        if games == 0 && turns > 0 {
            self.cut_short = Some(Coverage::none_of(GAMES));
            return Ok(format!("{turns} turns of one, against itself"));
        }
        self.counted(games, GAMES, "game against itself", "games against itself")
    }

    /// Late positions for a bot that would think too long about whole games: their ends tell more than the beginning of
    /// one. None where whole games are played.
    fn starts_of_games(&self) -> Arc<[String]> {
        let turns = GAMES * self.runner.ruleset().start().free_cells();
        let is_short = self.budget.is_enough_for(turns);
        if is_short || self.runner.ruleset().program().is_some() {
            return Arc::default();
        }
        self.positions("late", GAMES, |session| {
            LATE.contains(&session.free_cells())
        })
    }

    fn game_from(&self, start: Option<&String>) -> Result<Box<dyn Game>, Halt> {
        let ruleset = self.runner.ruleset();
        match start {
            Some(start) => Ok(ruleset.start_from(start).map_err(io::Error::other)?),
            None => Ok(ruleset.start()),
        }
    }

    /// Nothing may be written after an answer, here and in the checks before.
    async fn silence(&mut self) -> Made {
        if let Some(extra) = &self.extra {
            return Err(extra.clone().into());
        }
        self.unless_hopeless()?;
        if self.budget.is_spent() {
            return Err(self.left_out(1));
        }
        let mut session = self.game_from(self.starts_of_games().first())?;
        let request = session.request();
        let mut clock = self.clock();
        let asked = self.ask(&mut *session, &mut clock).await;
        let extra = self.examiner.seat.drain().await;
        asked?;
        if extra.is_empty() {
            return Ok(String::new());
        }
        bad(
            Cause::ExtraOutput,
            format!("after its answer it wrote {}", quote(&extra)),
            "write one line for each question; text for yourself goes to standard error",
            self.examiner.seat.reproduce_command(&request, true, None),
        )
    }

    fn times_kept(&self) -> Made {
        let limit = self.examiner.seat.time().move_time;
        let Some(times) =
            CheckedTimes::of(self.times.clone()).filter(|_| self.late > 0 || !self.hopeless)
        else {
            return SKIPPED;
        };
        let mut what = format!(
            "median {}, 99 of 100 within {}, worst {}; {}",
            format_duration(times.median),
            format_duration(times.p99),
            format_duration(times.worst),
            limit.map_or_else(
                || "there is no limit".to_owned(),
                |limit| format!("the limit is {}", format_duration(limit))
            )
        );
        let mut cause = Cause::Slow;
        let mut fix = "leave a margin: a busy machine makes every program slower";
        if self.late > 0 {
            let late = counted(self.late.into(), "question", "questions");
            what = format!("{late} not answered in time; the others: {what}");
            cause = Cause::SomeTooLate;
            fix = "answer every question within the limit";
        } else if limit.is_none_or(|limit| times.worst * 2 <= limit) {
            return Ok(what);
        }
        bad(cause, what, fix, None)
    }

    async fn end(&mut self) -> Made {
        self.unless_hopeless()?;
        if !self.examiner.is_running() {
            // After a fault.
            self.examiner.start().await?;
        }
        let exit = match self.examiner.seat.process() {
            Some(process) => process.end_input(END_OF_INPUT).await?,
            None => None,
        };
        self.examiner.seat.stop(GracePeriods::FAULT).await?;
        match exit {
            Some(Exit::Code(0)) => Ok(String::new()),
            Some(exit) => Ok(exit.to_string()),
            None => {
                let time = format_duration(END_OF_INPUT);
                let what = format!("it still runs {time} after the end of its input");
                let fix = "leave the loop when reading a line gives the end of the file";
                bad(Cause::RunsOn, what, fix, None)
            }
        }
    }

    /// Whether it looks one turn ahead, and whether it can be repeated.
    pub(super) async fn advice(&mut self) -> Result<(), GameError> {
        // To find such positions takes many questions to the game's program.
        if self.runner.ruleset().program().is_none() {
            let wins = self.positions("win", ADVICE_POSITIONS, |session| session.can_win_at_once());
            let name = "takes a win that is there";
            let fix = "look for a placement that wins; players/greedy.py does";
            let made = self
                .count(name, (Cause::MissesWins, fix), &wins, |answered| {
                    answered.won
                })
                .await;
            self.note(name, false, made)?;
            let choice = self.positions("choice", ADVICE_POSITIONS, has_a_choice);
            let name = "does not let the opponent win immediately";
            let fix = "look what the opponent can do next; players/greedy.py does";
            let made = self
                .count(name, (Cause::LetsWin, fix), &choice, |answered| {
                    !answered.lets_win
                })
                .await;
            self.note(name, false, made)?;
        }
        let made = self.repeats().await;
        self.note(REPEATABLE, false, made)?;
        match self.scores() {
            Some(made) => self.note("info score between -1 and 1", false, made),
            None => Ok(()),
        }
    }

    /// What it has said of its thinking; `None` where it has said no score.
    fn scores(&self) -> Option<Made> {
        let ScoresSaid { count, outside } = &self.scores;
        if *count == 0 {
            return None;
        }
        let Some((request, score)) = outside else {
            return Some(Ok(counted(*count, "score", "scores")));
        };
        Some(bad(
            Cause::ScoreOutside,
            format!("asked `{request}` it said `info score {score}`"),
            "-1 is a certain loss and 1 a certain win; other scores are shown, and count for nothing",
            None,
        ))
    }

    async fn count(
        &mut self,
        name: &'static str,
        (cause, fix): (Cause, &str),
        positions: &[String],
        is_good: impl Fn(&Answered) -> bool,
    ) -> Made {
        if positions.is_empty() {
            return SKIPPED;
        }
        let answers = self.ask_all(name, positions, 4).await?;
        let (good, missed): (Vec<_>, Vec<_>) =
            answers.iter().partition(|answered| is_good(answered));
        let what = format!("{} of {} times", good.len(), answers.len());
        let Some(missed) = missed.first() else {
            return Ok(what);
        };
        let Answered { request, turn, .. } = missed;
        let what = format!("{what}; asked `{request}` it answered `{turn}`");
        let again = self.examiner.seat.reproduce_command(request, true, None);
        bad(cause, what, fix, again)
    }

    /// Asks two fresh processes with the same seed the same questions.
    async fn repeats(&mut self) -> Made {
        self.unless_hopeless()?;
        if self.budget.is_spent() {
            return Err(self.left_out(REPEATED));
        }
        let positions = self.positions("any", POSITIONS, |_| true);
        let positions = &positions[..positions.len().min(REPEATED)];
        self.examiner.start().await?;
        let first = self.ask_all(REPEATABLE, positions, 2).await?;
        if self.budget.is_spent() {
            return Err(self.left_out(REPEATED));
        }
        self.examiner.start().await?;
        let again = self
            .ask_all(REPEATABLE, &positions[..first.len()], 1)
            .await?;
        let (asked, of) = (again.len(), positions.len());
        self.cut_short = (asked < of).then_some(Coverage { asked, of });
        if first.iter().zip(&again).all(|(a, b)| a.turn == b.turn) {
            return Ok(String::new());
        }
        let what = "the same seed and questions gave other answers".to_owned();
        let fix = "seed your random numbers from REFEREE_SEED, so that a lost game can be played again; where it \
                   thinks by the clock, a fixed depth or number of positions can be repeated";
        bad(Cause::NotRepeatable, what, fix, None)
    }
}

const OPENING: &str = "answers the opening";
const MANY_GAMES: &str = "many games in one process";
const REPEATABLE: &str = "REFEREE_SEED makes it repeatable";
