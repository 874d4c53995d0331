//! The exact value of any position of Quarto, for either rule set.
//!
//! [`Solver::solve`] gives the value of a position for the side to move and the number of
//! placements until the end, [`Solver::moves`] those of every turn, [`Solver::line`] a game
//! played perfectly from there on. docs/solver.md tells the method and what it costs.
//!
//! ```
//! use referee::game::Game as _;
//! use referee::game::quarto::Edition;
//! use referee::solver::{Goal, Limits, Options, Solver, Value};
//!
//! let edition = Edition::default();
//! let position = edition.read_request("KH.FN.CMDA.JP.O. B")?;
//! let solver = Solver::new(Options { hash: 1 << 20, threads: 1 });
//!
//! let answer = solver.solve(&position, Goal::Distance, &Limits::NONE);
//! assert_eq!((answer.value(), answer.plies()), (Some(Value::Win), Some(1)));
//!
//! // A bot plays one of the best turns.
//! let turns = solver.moves(&position, Goal::Distance, &Limits::NONE);
//! let (turn, _) = turns.iter().max_by_key(|(_, answer)| answer.rank()).unwrap();
//! let mut text = String::new();
//! edition.write_turn(*turn, &mut text);
//! assert_eq!(text, "16 -");
//! # Ok::<(), String>(())
//! ```
//!
//! Inside:
//! - `board`: bitboards, and the threats on them
//! - `symmetry`: one form for all positions that are the same game
//! - `table`: what is known, shared by all threads
//! - `notes`: what is known for good of early positions, and the book
//! - `early`: the positions of the book
//! - `score`: who wins and how soon, as a number
//! - `search`: alpha–beta
//! - `parallel`: several threads on one question
//! - `limits`: when to stop, and how far a search has come
//! - `answer`: what is said in the end

mod answer;
mod board;
mod early;
mod limits;
mod notes;
mod parallel;
mod score;
mod search;
mod symmetry;
mod table;
#[cfg(test)]
mod tests;

use std::sync::atomic::Ordering;
use std::thread;

pub use answer::{Answer, Goal, Value};
pub use early::early_positions;
pub use limits::{Limits, Progress};
pub use notes::BadNotes;

use crate::game::Outcome;
use crate::game::Position as _;
use crate::game::quarto::{Cell, Move, Position, Rules, Turn};
use board::{Board, Threats, has_squares};
use limits::{Counters, Watch};
use notes::Notes;
use parallel::Busy;
use score::Score;
use search::{Shared, Stopped, Worker};
use symmetry::Symmetries;
use table::Table;

/// How much a solver may use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Options {
    /// Size of the table of known positions, in bytes. More is faster in positions with many
    /// free cells; any size gives the same answers.
    pub hash: usize,
    /// Threads that search; 0 counts as 1.
    pub threads: usize,
}

impl Default for Options {
    /// 256 MiB, and as many threads as the machine runs at once.
    fn default() -> Self {
        Self {
            hash: 256 << 20,
            threads: thread::available_parallelism().map_or(1, usize::from),
        }
    }
}

/// Solves positions, and remembers what it found out: a solver that is kept answers related
/// questions faster. It can be asked from several threads at once.
#[derive(Debug)]
pub struct Solver {
    table: Table,
    notes: Notes,
    busy: Busy,
    counters: Counters,
    threads: usize,
    look_up_from: u8,
}

/// A position as the search sees it.
#[derive(Clone, Copy)]
struct State {
    board: Board,
    threats: Threats,
    hand: Option<u8>,
    rules: Rules,
    /// Free cells.
    n: u8,
}

/// One call's limits, with the node to stop at.
struct Question<'a> {
    limits: &'a Limits,
    last_node: u64,
}

impl Solver {
    /// A solver that knows the book of early positions.
    pub fn new(options: Options) -> Self {
        Self::with_notes(options, Notes::shipped())
    }

    /// A solver that knows nothing yet: it proves everything anew.
    pub fn without_book(options: Options) -> Self {
        Self::with_notes(options, Notes::none())
    }

    fn with_notes(options: Options, notes: Notes) -> Self {
        Self {
            notes,
            table: Table::new(options.hash),
            busy: Busy::new(),
            counters: Counters::default(),
            threads: options.threads.max(1),
            look_up_from: search::LOOK_UP_FROM,
        }
    }

    /// The value of a position for the side to move: the side that places the piece in hand, or
    /// that only gives when there is none. In a finished game that is the side that placed last.
    pub fn solve(&self, position: &Position, goal: Goal, limits: &Limits) -> Answer {
        let question = self.question(limits);
        self.answer(position, goal, &question)
    }

    /// Whether the side to move can get at least `value`; `None` when a limit struck. That is one
    /// question, where [`Solver::solve`] asks two or more.
    pub fn reaches(&self, position: &Position, value: Value, limits: &Limits) -> Option<bool> {
        if position.outcome().is_some() {
            return Some(self.solve(position, Goal::Value, limits).at_least() >= value);
        }
        let beta = match value {
            Value::Loss => return Some(true),
            Value::Draw => 0,
            Value::Win => 1,
        };
        let question = self.question(limits);
        let score = self.score(&State::of(position), beta, &question).ok()?;
        Some(score >= beta)
    }

    /// Whether the turn that led to `after` is worth at least `value` to who made it; `None` when
    /// a limit struck.
    pub fn keeps(&self, after: &Position, value: Value, limits: &Limits) -> Option<bool> {
        if after.outcome().is_some() {
            // Nothing was given: the same side speaks.
            return self.reaches(after, value, limits);
        }
        let too_much = match value {
            Value::Loss => return Some(true),
            Value::Draw => Value::Win,
            Value::Win => Value::Draw,
        };
        let reached = self.reaches(after, too_much, limits)?;
        Some(!reached)
    }

    /// Every turn, in the order of cells and pieces, with its value for the side that makes it.
    /// A placement that wins is one turn, without a gift. Empty when the game is over.
    pub fn moves(&self, position: &Position, goal: Goal, limits: &Limits) -> Vec<(Turn, Answer)> {
        let question = self.question(limits);
        turns(position)
            .into_iter()
            .map(|(turn, after)| (turn, self.answer_turn(&after, turn, goal, &question)))
            .collect()
    }

    /// A game played perfectly from here on: the winner wins as soon as it can, the loser loses
    /// as late as it can. When a limit strikes, the turns that are certain so far.
    pub fn line(&self, position: &Position, limits: &Limits) -> Vec<Turn> {
        let question = self.question(limits);
        let mut line = Vec::new();
        let mut position = *position;
        while position.outcome().is_none() {
            let best = self.answer(&position, Goal::Distance, &question);
            let (low, high) = best.bounds();
            if low != high {
                break;
            }
            // A turn that keeps the score is known when its lower bound reaches it.
            let keeps = turns(&position).into_iter().find(|(turn, after)| {
                let answer = self.answer_turn(after, *turn, Goal::Distance, &question);
                answer.bounds().0 >= low
            });
            let Some((turn, after)) = keeps else { break };
            line.push(turn);
            position = after;
        }
        line
    }

    /// How far the solver has come. Other threads may ask while it works.
    pub fn progress(&self) -> Progress {
        self.counters.read()
    }

    /// Size of the table in bytes, and the share of it in use (0 to 1, from a sample).
    pub fn table(&self) -> (usize, f64) {
        (self.table.bytes(), self.table.fullness())
    }

    /// What was proven of early positions beyond the book, for [`Solver::learn`] in another run.
    pub fn notes(&self) -> Vec<u8> {
        self.notes.to_bytes()
    }

    /// What was proven of these positions, with a piece in hand and at most four on the board, in
    /// the same form: as a book.
    pub fn notes_of(&self, positions: &[Position]) -> Vec<u8> {
        self.notes
            .some_to_bytes(positions.iter().filter_map(early::hash))
    }

    /// Learns what [`Solver::notes`] gave, and says how many positions that is. After an error
    /// nothing was learnt.
    pub fn learn(&self, notes: &[u8]) -> Result<usize, BadNotes> {
        self.notes.read(notes)
    }

    fn question<'a>(&self, limits: &'a Limits) -> Question<'a> {
        let so_far = self.counters.nodes.load(Ordering::Relaxed);
        let nodes = limits.nodes.unwrap_or(u64::MAX);
        Question {
            limits,
            last_node: so_far.saturating_add(nodes),
        }
    }

    /// The value of the turn that led to `after`, for the side that made it.
    fn answer_turn(
        &self,
        after: &Position,
        turn: Turn,
        goal: Goal,
        question: &Question<'_>,
    ) -> Answer {
        let answer = self.answer(after, goal, question);
        let (low, high) = answer.bounds();
        // When it gave nothing, the same side speaks: the game is over.
        let (low, high) = match turn.gift {
            Some(_) if after.outcome().is_none() => (-high, -low),
            _ => (low, high),
        };
        let placed = u8::from(turn.cell.is_some());
        Answer::new(low, high, answer.free() + placed)
    }

    fn answer(&self, position: &Position, goal: Goal, question: &Question<'_>) -> Answer {
        if let Some(outcome) = position.outcome() {
            let n = free(position);
            let score = match outcome {
                Outcome::Draw => 0,
                // Completed when one cell more was free.
                Outcome::Win(side) if side == position.to_move() => n.cast_signed() + 1,
                Outcome::Win(_) => -n.cast_signed() - 1,
            };
            return Answer::new(score, score, n);
        }
        let state = State::of(position);
        let s = state.n.cast_signed();
        let (mut low, mut high) = (-s, s);
        let ask = |low: &mut Score, high: &mut Score, beta: Score| {
            let score = self.score(&state, beta, question)?;
            if score >= beta {
                *low = score;
            } else {
                *high = score;
            }
            Ok::<_, Stopped>(())
        };
        let mut find = || {
            // A turn that does not lose is usually found soon, long before it is certain that none
            // wins.
            ask(&mut low, &mut high, 0)?;
            if low == 0 {
                ask(&mut low, &mut high, 1)?;
            }
            if goal == Goal::Distance {
                while low < high && low > 0 {
                    let soonest = high;
                    ask(&mut low, &mut high, soonest)?;
                }
                while low < high && high < 0 {
                    let later = low + 1;
                    ask(&mut low, &mut high, later)?;
                }
            }
            Ok::<_, Stopped>(())
        };
        // What is known so far is the answer, stopped or not.
        let _ = find();
        Answer::new(low, high, state.n)
    }

    /// Whether the score is at least `beta`, as [`Worker::search`] says it.
    fn score(&self, state: &State, beta: Score, question: &Question<'_>) -> Result<Score, Stopped> {
        let s = state.n.cast_signed();
        let Some(hand) = state.hand else {
            let mut best = -s;
            for piece in (0..16).filter(|piece| state.board.left >> piece & 1 == 1) {
                let after = State {
                    board: state.board.give(piece),
                    hand: Some(piece),
                    ..*state
                };
                best = best.max(-self.score(&after, 1 - beta, question)?);
                if best >= beta {
                    break;
                }
            }
            return Ok(best);
        };
        if state.threats.wins(hand) {
            return Ok(s);
        }
        if has_squares(state.rules) {
            self.run::<true>(state, hand, beta, question)
        } else {
            self.run::<false>(state, hand, beta, question)
        }
    }

    /// Searches with all threads; the first to know answers.
    fn run<const SQUARES: bool>(
        &self,
        state: &State,
        hand: u8,
        beta: Score,
        question: &Question<'_>,
    ) -> Result<Score, Stopped> {
        let watch = Watch::new(question.limits, &self.counters, question.last_node);
        let shared = Shared {
            table: &self.table,
            notes: &self.notes,
            symmetries: Symmetries::of(state.rules),
            busy: (self.threads > 1 && state.n >= search::TOGETHER_FROM).then_some(&self.busy),
            watch: &watch,
            look_up_from: self.look_up_from,
        };
        // A search too short to look at the clock by itself must not run on after the end.
        if !watch.go_on(0) {
            return Err(Stopped);
        }
        let search = || {
            let mut worker = Worker::<SQUARES>::new(shared, state.n);
            let score = worker.search(&state.board, &state.threats, hand, state.n, beta);
            if score.is_ok() {
                watch.over.store(true, Ordering::Relaxed);
            }
            let _ = worker.tell();
            score
        };
        if shared.busy.is_none() {
            return search();
        }
        thread::scope(|scope| {
            let others: Vec<_> = (1..self.threads).map(|_| scope.spawn(search)).collect();
            let own = search();
            others
                .into_iter()
                .filter_map(|other| other.join().ok())
                .fold(own, Result::or)
        })
    }
}

impl State {
    fn of(position: &Position) -> Self {
        let (board, hand) = Board::of(position);
        let rules = position.rules();
        let threats = if has_squares(rules) {
            Threats::of::<true>(&board)
        } else {
            Threats::of::<false>(&board)
        };
        Self {
            board,
            threats,
            hand,
            rules,
            n: free(position),
        }
    }
}

#[expect(clippy::cast_possible_truncation, reason = "at most 16")]
fn free(position: &Position) -> u8 {
    position.board().free().count() as u8
}

/// How many turns of the side to move do not let the other side win at once; 0 when nothing is
/// in hand. Who looks for a good turn tries first what leaves the other side the fewest: the
/// search does the same.
pub fn safe_turns(position: &Position) -> u32 {
    let state = State::of(position);
    state.hand.map_or(0, |hand| {
        search::replies(&state.board, &state.threats, hand)
    })
}

/// Every turn with the position it leads to.
fn turns(position: &Position) -> Vec<(Turn, Position)> {
    if position.outcome().is_some() {
        return Vec::new();
    }
    let cells: Vec<Option<Cell>> = match position.hand() {
        None => vec![None],
        Some(_) => position.board().free().map(Some).collect(),
    };
    let mut turns = Vec::new();
    for cell in cells {
        let mut placed = *position;
        if cell.is_some_and(|cell| placed.play(Move::Place(cell)).is_err()) {
            continue;
        }
        if placed.outcome().is_some() {
            turns.push((Turn { cell, gift: None }, placed));
            continue;
        }
        for piece in placed.left() {
            let mut given = placed;
            if given.play(Move::Give(piece)).is_ok() {
                let gift = Some(piece);
                turns.push((Turn { cell, gift }, given));
            }
        }
    }
    turns
}
