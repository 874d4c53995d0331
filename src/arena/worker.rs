//! A table: two bots sit down and play a pair of games.

use std::future::Future;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use jiff::Timestamp;
use serde_json::json;
use tokio::sync::mpsc::UnboundedSender;

use super::Event;
use super::logs::StderrLog;
use super::plan::{Plan, Restart};
use super::scheduler::Desk;
use crate::bot::process::Patience;
use crate::bot::spec::{CannotStart, Program};
use crate::game::dialogue::Dialogue;
use crate::game::{Game, Outcome};
use crate::play::adjudicator::Umpire;
use crate::play::scoresheet::{self, Header};
use crate::play::seat::{Entrant, Occupant, Seat, environment};
use crate::play::stall::DelayWatch;
use crate::play::{Clock, End, Played, TimeControl, play};
use crate::record::{BotIndex, Ending, FinishedRecord, Record};
use crate::seed;
use crate::tournament::openings::{self, Opening};
use crate::tournament::schedule::{Half, PairOfGames, Pairing, ScheduledGame};

/// How often a game is played again when the referee was to blame.
const MOST_VOIDS: u32 = 2;

/// An entrant, ready to be started.
pub struct Ready {
    /// What to run.
    pub program: Program,
    /// What its environment holds beside the referee's.
    pub environment: Vec<(String, String)>,
    /// Its limits.
    pub time: TimeControl,
    /// Where its stderr goes.
    pub log: Arc<StderrLog>,
}

/// What all tables share.
pub struct Hall<G: Game> {
    /// The game and its edition.
    pub game: G,
    /// What is played.
    pub plan: Plan,
    /// The bots, in the order of the plan.
    pub bots: Vec<Ready>,
    /// Where games start.
    pub openings: Vec<Opening<G::Position>>,
    /// Path of the piece set's file, for the bots, when it is not the built-in set.
    pub pieces_path: Option<String>,
    /// Watches the referee itself.
    pub delay: DelayWatch,
    /// Hands out pairs.
    pub desk: Desk,
    /// Tells what happens.
    pub events: UnboundedSender<Event>,
}

/// Why a table cannot go on.
#[derive(Debug, thiserror::Error)]
pub enum TableError {
    /// A bot's program can no longer be started.
    #[error(transparent)]
    CannotStart(#[from] CannotStart),
    /// The referee failed.
    #[error(transparent)]
    Io(#[from] io::Error),
}

/// See the [module](self).
pub struct Table<'a, G: Dialogue> {
    hall: &'a Hall<G>,
    /// Who sits there, and the pair that their stderr is about.
    seats: Option<(Pairing, [Seat<G>; 2])>,
    now: Arc<AtomicU64>,
    /// The number of the pair from which processes that live for a pairing have their seed.
    since: u64,
}

/// A game that came to its end.
struct Over {
    record: Box<Record>,
    ending: Ending,
    /// Why the referee, and not the bot that forfeited, may be to blame.
    excuse: Option<String>,
}

impl<'a, G: Dialogue + Clone> Table<'a, G> {
    /// An empty table.
    pub fn new(hall: &'a Hall<G>) -> Self {
        Self {
            hall,
            seats: None,
            now: Arc::new(AtomicU64::new(0)),
            since: 0,
        }
    }

    /// Plays the games of a pair that are not `done`, and hands lines to `write`. Stops between
    /// the games when the desk does.
    pub async fn pair(
        &mut self,
        pair: &PairOfGames,
        done: [bool; 2],
        write: &impl Fn(Arc<FinishedRecord>),
    ) -> Result<(), TableError> {
        let restart = self.hall.plan.restart;
        self.now.store(pair.number, Ordering::Relaxed);
        self.sit_down(pair).await?;
        // Whether the processes are as they are after the first game.
        let mut first_played = false;
        let mut voids = 0;
        for half in Half::BOTH {
            if done[half as usize] {
                continue;
            }
            if half == Half::Second && !done[0] && self.hall.desk.is_stopping() {
                break;
            }
            let scheduled = pair.games()[half as usize];
            loop {
                if restart == Restart::Game {
                    self.stand_up(Patience::POLITE).await?;
                }
                if half == Half::Second && restart == Restart::Pair && !first_played {
                    // A bot that draws numbers from its seed must have drawn those of the first
                    // game to play the second as it would have.
                    self.game(pair, &pair.games()[0], Half::First).await?;
                    first_played = true;
                }
                let Over {
                    mut record,
                    ending,
                    excuse,
                } = self.game(pair, &scheduled, half).await?;
                if let Some(why) = excuse {
                    let id = scheduled.id;
                    let again = voids < MOST_VOIDS;
                    self.tell(Event::Delayed {
                        id,
                        why: why.clone(),
                        again,
                    });
                    if again {
                        voids += 1;
                        self.stand_up(Patience::FAULT).await?;
                        first_played = false;
                        continue;
                    }
                    // It has to end some time; the record tells that the result is doubtful.
                    record.more.insert("delayed".to_owned(), json!(why));
                }
                if voids > 0 {
                    record.more.insert("voids".to_owned(), json!(voids));
                }
                let line = Arc::new(FinishedRecord::new(*record));
                for line in self.hall.desk.finished(&scheduled, ending, line) {
                    write(line);
                }
                break;
            }
            first_played |= half == Half::First;
        }
        if restart != Restart::Pairing {
            self.stand_up(Patience::POLITE).await?;
        }
        Ok(())
    }

    /// Everybody leaves.
    pub async fn clear(&mut self, patience: Patience) -> io::Result<()> {
        self.stand_up(patience).await?;
        self.seats = None;
        Ok(())
    }

    fn tell(&self, event: Event) {
        // Nobody listens any more when the tournament ends in a hurry.
        let _ = self.hall.events.send(event);
    }

    /// The two of a pair take their seats, unless they sit there.
    async fn sit_down(&mut self, pair: &PairOfGames) -> io::Result<()> {
        let sitting = self.seats.as_ref().map(|(pairing, _)| *pairing);
        if sitting == Some(pair.pairing) {
            return Ok(());
        }
        self.clear(Patience::POLITE).await?;
        let hall = self.hall;
        let seat = |index: usize| {
            let bot = &hall.bots[index];
            let name = &hall.plan.bots[index].name;
            let tap = bot.log.tap(Arc::clone(&self.now));
            let entrant = Entrant {
                name: name.clone(),
                occupant: Occupant::Program(bot.program.clone(), Some(tap)),
                time: bot.time,
            };
            let pieces = hall.pieces_path.as_deref();
            let mut variables = environment(&hall.game, pieces, bot.time.move_time);
            variables.extend_from_slice(&bot.environment);
            Seat::new(entrant, variables)
        };
        let seats = [pair.pairing.a, pair.pairing.b].map(|bot| seat(bot.index()));
        self.seats = Some((pair.pairing, seats));
        self.since = pair.number;
        Ok(())
    }

    /// The processes end; the seats stay taken.
    async fn stand_up(&mut self, patience: Patience) -> io::Result<()> {
        if let Some((_, [a, b])) = &mut self.seats {
            let (a, b) = tokio::join!(a.stop(patience), b.stop(patience));
            a.and(b)?;
        }
        Ok(())
    }

    async fn game(
        &mut self,
        pair: &PairOfGames,
        scheduled: &ScheduledGame,
        half: Half,
    ) -> Result<Over, TableError> {
        let shared = self.hall;
        let Some((_, seats)) = &mut self.seats else {
            return Err(io::Error::other("nobody sits at the table").into());
        };
        let opening = openings::at(&shared.openings, scheduled.opening)
            .ok_or_else(|| io::Error::other("there are no openings"))?;
        let number = match shared.plan.restart {
            Restart::Game => 2 * pair.number + half as u64,
            Restart::Pair => 2 * pair.number,
            Restart::Pairing => 2 * self.since,
        };
        for (index, seat) in seats.iter_mut().enumerate() {
            seat.start(seed::for_bot(shared.plan.seed, index, number))
                .await?;
        }
        let started = Timestamp::now();
        let since = shared.delay.mark();
        // The pairing's `a` begins the first game, its `b` the second.
        let first = half as usize;
        let bots = [first, 1 - first];
        let mut played = {
            let [a, b] = seats.each_mut();
            let players = if first == 0 { [a, b] } else { [b, a] };
            let clocks = players.each_ref().map(|seat| Clock::new(seat.time()));
            let mut nobody = ();
            let mut umpire = Umpire::new(&mut nobody, shared.plan.adjudicate);
            let start = &opening.position;
            play(&shared.game, start, players, clocks, &mut umpire).await?
        };
        let header = Header {
            id: scheduled.id.to_string(),
            seed: shared.plan.seed,
            first,
            start: &opening.board,
            started,
        };
        let entries = scoresheet::entries(seats.each_ref());
        let mut record = scoresheet::blank(&shared.game, entries, header);
        scoresheet::turns(&mut record, &mut played);
        record.usage = scoresheet::used(seats);
        let Played { position, end, .. } = played;
        let mut excuse = None;
        let ending = match end {
            End::Outcome(outcome) => {
                scoresheet::outcome(&mut record, &shared.game, &position, outcome);
                ending_of(outcome, bots)
            }
            End::Adjudicated(outcome) => {
                scoresheet::adjudicated(&mut record, &shared.game, &position, outcome);
                ending_of(outcome, bots)
            }
            End::Forfeit(side, fault) => {
                let by = bots[side.index()];
                excuse = shared.delay.excuse(&since, &fault);
                let stderr = seats[by].forfeited(&fault).await?;
                scoresheet::forfeit(&mut record, by, &fault, stderr);
                Ending::Forfeit(BotIndex::ALL[by], fault.reason())
            }
        };
        Ok(Over {
            record: Box::new(record),
            ending,
            excuse,
        })
    }
}

/// How a game without a forfeit ended; `bots` are those of the sides.
const fn ending_of(outcome: Outcome, bots: [usize; 2]) -> Ending {
    match outcome {
        Outcome::Draw => Ending::Draw,
        Outcome::Win(side) => Ending::Win(BotIndex::ALL[bots[side.index()]]),
    }
}

/// Works until the desk has nothing left, or `abort` is ready.
pub async fn work<G: Dialogue + Clone>(
    table: &mut Table<'_, G>,
    write: impl Fn(Arc<FinishedRecord>),
    mut abort: impl Future<Output = ()> + Unpin,
) -> Result<(), TableError> {
    use super::scheduler::Handed;
    let desk = &table.hall.desk;
    while let Some(handed) = desk.next() {
        match handed {
            Handed::Lines(lines) => lines.into_iter().for_each(&write),
            Handed::Play(pair, done) => {
                let played = {
                    let play = std::pin::pin!(table.pair(&pair, done, &write));
                    tokio::select! {
                        biased;
                        played = play => Some(played),
                        () = &mut abort => None,
                    }
                };
                desk.done(&pair).into_iter().for_each(&write);
                for benched in desk.news() {
                    table.tell(Event::Benched(benched));
                }
                match played {
                    Some(played) => played?,
                    None => break,
                }
            }
        }
    }
    Ok(())
}
