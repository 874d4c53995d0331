//! A match: a number of games between the same two bots.
//!
//! Keeps the bots' processes from game to game, alternates who begins, replaces a
//! process that forfeited, and gives up on a bot that never gets going.

use std::io;

use jiff::Timestamp;

use crate::bot::Fault;
use crate::bot::process::GracePeriods;
use crate::bot::spec::CannotStart;
use crate::game::Game;
use crate::game::dialogue::Dialogue;
use crate::play::adjudicator::Umpire;
use crate::play::scoresheet::{self, Header};
use crate::play::seat::{Entrant, Seat, environment};
use crate::play::{Clock, End, Played, Watch, play};
use crate::record::Record;
use crate::seed;

/// What a match is played by.
#[derive(Clone, Debug)]
pub struct Plan<G: Game> {
    /// The game and its edition.
    pub game: G,
    /// Where every game starts.
    pub start: G::Position,
    /// How many games.
    pub games: u64,
    /// Index of the bot that begins the first game; further games alternate.
    pub first: usize,
    /// Everything random comes from it.
    pub seed: u64,
    /// End games as soon as their value is proven.
    pub adjudicate: bool,
    /// Fresh processes for every game.
    pub restart: bool,
    /// Path of the piece set's file, for the bots, when it is not the built-in set.
    pub pieces_path: Option<String>,
}

/// A game of the match, finished.
#[derive(Debug)]
pub struct Finished<'a, G: Game> {
    /// 0 for the first game.
    pub number: u64,
    /// What is written of it.
    pub record: &'a Record,
    /// The last position; `None` when the game was not played because a bot is benched.
    pub position: Option<&'a G::Position>,
    /// What went wrong, and the command that shows it again; people have none.
    pub fault: Option<(&'a Fault, Option<&'a str>)>,
}

/// Somebody who follows a match.
pub trait Follow<G: Game>: Watch<G> {
    /// A game begins. `bots` are the indices of the bots on the first and the second side.
    fn begins(&mut self, number: u64, bots: [usize; 2], start: &G::Position) -> io::Result<()>;

    /// A game has ended.
    fn ended(&mut self, finished: &Finished<'_, G>) -> io::Result<()>;

    /// A bot has been benched: it failed to start answering this many times in a row.
    fn benched(&mut self, bot: usize, failures: u32, games_left: u64) -> io::Result<()>;
}

/// What a match came to, in games.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Score {
    /// Won by each bot.
    pub wins: [u64; 2],
    /// Drawn.
    pub draws: u64,
}

impl Score {
    /// Games played or scored.
    pub const fn games(&self) -> u64 {
        self.wins[0] + self.wins[1] + self.draws
    }

    /// Points of a bot: a draw is half a point.
    #[expect(clippy::cast_precision_loss, reason = "no match has 2⁵² games")]
    pub fn points(&self, bot: usize) -> f64 {
        self.wins[bot] as f64 + self.draws as f64 / 2.0
    }
}

/// Why a match could not go on.
#[derive(Debug, thiserror::Error)]
pub enum SeriesError {
    /// A bot's program can no longer be started.
    #[error(transparent)]
    CannotStart(#[from] CannotStart),
    /// The referee failed.
    #[error(transparent)]
    Io(#[from] io::Error),
}

/// A match under way.
pub struct Series<G: Game> {
    plan: Plan<G>,
    seats: [Seat<G>; 2],
    start_text: String,
    score: Score,
    /// A person left the table: there will be no more games.
    left: bool,
}

impl<G: Dialogue> Series<G> {
    /// Two bots and a plan; nothing is started yet.
    pub fn new(plan: Plan<G>, entrants: [Entrant<G>; 2]) -> Self {
        let mut start_text = String::new();
        plan.game.write_board(&plan.start, &mut start_text);
        Self {
            seats: entrants.map(|entrant| {
                let pieces = plan.pieces_path.as_deref();
                let environment = environment(&plan.game, pieces, entrant.time.move_time);
                Seat::new(entrant, environment)
            }),
            plan,
            start_text,
            score: Score::default(),
            left: false,
        }
    }

    /// Plays all games. The bots' processes are left running: call [`Series::stop`] then,
    /// also when this future was dropped halfway.
    pub async fn run(&mut self, follow: &mut impl Follow<G>) -> Result<Score, SeriesError> {
        for number in 0..self.plan.games {
            let first = (self.plan.first + usize::from(number % 2 == 1)) % 2;
            if self.seats.iter().any(|seat| seat.benched().is_some()) {
                self.skip(number, first, follow)?;
            } else {
                self.game(number, first, follow).await?;
            }
            if self.left {
                break;
            }
        }
        Ok(self.score)
    }

    /// Ends the bots' processes.
    pub async fn stop(&mut self, patience: GracePeriods) -> io::Result<()> {
        let [a, b] = &mut self.seats;
        let (a, b) = tokio::join!(a.stop(patience), b.stop(patience));
        a.and(b)
    }

    async fn game(
        &mut self,
        number: u64,
        first: usize,
        follow: &mut impl Follow<G>,
    ) -> Result<(), SeriesError> {
        let Self {
            plan,
            seats,
            start_text,
            left,
            ..
        } = self;
        let bots = [first, 1 - first];
        let started = Timestamp::now();
        for (bot, seat) in seats.iter_mut().enumerate() {
            seat.start(seed::for_bot(plan.seed, bot, number)).await?;
        }
        follow.begins(number, bots, &plan.start)?;
        let mut played = {
            let [a, b] = seats.each_mut();
            let players = if first == 0 { [a, b] } else { [b, a] };
            let clocks = players.each_ref().map(|seat| Clock::new(seat.time()));
            let mut umpire = Umpire::new(follow, plan.adjudicate);
            play(&plan.game, &plan.start, players, clocks, &mut umpire).await?
        };
        let mut record = blank(plan, seats, start_text, number, first, started);
        scoresheet::turns(&mut record, &mut played);
        let Played { position, end, .. } = played;
        record.usage = scoresheet::used(seats);
        for seat in seats.iter_mut() {
            seat.see_whether_it_goes();
        }
        let mut shown = None;
        match end {
            End::Outcome(outcome) => {
                scoresheet::outcome(&mut record, &plan.game, &position, outcome);
            }
            End::Adjudicated(outcome) => {
                scoresheet::adjudicated(&mut record, &plan.game, &position, outcome);
            }
            End::Forfeit(side, fault) => {
                let by = bots[side.index()];
                let seat = &mut seats[by];
                let stderr = seat.forfeited(&fault).await?;
                scoresheet::forfeit(&mut record, by, &fault, stderr);
                let mut request = String::new();
                plan.game.write_request(&position, &mut request);
                let command = seat.ask_again(&request);
                *left = command.is_none();
                shown = Some((fault, command));
            }
        }
        self.count(&record);
        follow.ended(&Finished {
            number,
            record: &record,
            position: Some(&position),
            fault: shown
                .as_ref()
                .map(|(fault, command)| (&**fault, command.as_deref())),
        })?;
        self.after(number, follow).await
    }

    /// Between games: benches a bot that never gets going, and restarts when asked to.
    async fn after(&mut self, number: u64, follow: &mut impl Follow<G>) -> Result<(), SeriesError> {
        let games_left = self.plan.games - number - 1;
        for (bot, seat) in self.seats.iter().enumerate() {
            if seat.benched().is_some() && games_left > 0 {
                follow.benched(bot, seat.failed_starts(), games_left)?;
            }
        }
        if self.plan.restart {
            self.stop(GracePeriods::POLITE).await?;
        }
        Ok(())
    }

    /// Scores a game that a benched bot does not play.
    fn skip(
        &mut self,
        number: u64,
        first: usize,
        follow: &mut impl Follow<G>,
    ) -> Result<(), SeriesError> {
        let Some((by, reason)) = self
            .seats
            .iter()
            .enumerate()
            .find_map(|(bot, seat)| Some((bot, seat.benched()?)))
        else {
            return Ok(());
        };
        let now = Timestamp::now();
        let mut record = blank(
            &self.plan,
            &self.seats,
            &self.start_text,
            number,
            first,
            now,
        );
        let why = format!(
            "it failed to give a first answer {} times in a row and is benched",
            self.seats[by].failed_starts()
        );
        scoresheet::not_played(&mut record, by, reason, &why);
        self.count(&record);
        follow.ended(&Finished {
            number,
            record: &record,
            position: None,
            fault: None,
        })?;
        Ok(())
    }

    fn count(&mut self, record: &Record) {
        match record.result.winner {
            Some(winner) => self.score.wins[winner] += 1,
            None => self.score.draws += 1,
        }
    }
}

/// A record of a game of which nothing is known yet but who plays it.
fn blank<G: Game>(
    plan: &Plan<G>,
    seats: &[Seat<G>; 2],
    start: &str,
    number: u64,
    first: usize,
    started: Timestamp,
) -> Record {
    let header = Header {
        id: format!("{}-{}", plan.seed, number + 1),
        seed: plan.seed,
        first,
        start,
        started,
    };
    let bots = scoresheet::entries(seats.each_ref());
    scoresheet::blank(&plan.game, bots, header)
}
