#![doc = include_str!("../README.md")]

pub mod appraisal;
pub mod note;
pub mod packed;
mod sentence;

use referee_games::game::{Game, Turn};
use referee_games::solver::{Limits, Value};

use self::appraisal::Appraiser;
use self::note::{Mark, Note};
use self::sentence::Sentence;

/// For every other turn in a first pass, before any of them gets the whole effort.
const FIRST_PASS_NODES: u64 = 1 << 15;

/// A turn of a recorded game.
pub struct Step {
    pub before: Box<dyn Game>,
    pub turn: Turn,
}

impl Step {
    fn ends(&self) -> bool {
        self.turn.after.outcome().is_some()
    }

    fn wins(&self, turn: &Turn) -> bool {
        turn.wins(self.before.to_move())
    }

    fn lets_win(&self, turn: &Turn) -> bool {
        turn.after.lets_win(self.before.to_move())
    }
}

impl Appraiser {
    /// `at` is called with the number of each turn, from the last to the first.
    pub fn notes(&self, steps: &[Step], mut at: impl FnMut(usize)) -> Vec<Note> {
        // A game without turns has nothing to analyse, and a finished one no position after it.
        let last = steps.last().filter(|step| !step.ends());
        let mut later = last.and_then(|step| self.value(&*step.turn.after));
        let mut turns = Vec::new();
        for (index, step) in steps.iter().enumerate().rev() {
            at(index + 1);
            let value = if step.ends() {
                self.turn(&*step.before, &step.turn).value
            } else {
                later.map(Value::opposite)
            };
            let best = match value {
                // Nothing is better than a win.
                Some(Value::Win) => value,
                _ => self.value(&*step.before),
            };
            let mut note = self.note(step, value, best);
            note.turn = index + 1;
            if note.is_known() {
                turns.push(note);
            }
            later = best;
        }
        turns.reverse();
        turns
    }

    fn note(&self, step: &Step, value: Option<Value>, best: Option<Value>) -> Note {
        let Step { before, turn } = step;
        let mut others: Vec<Turn> = before.turns().collect();
        others.retain(|other| other.text != turn.text);
        // A better turn on the same cell is the most instructive one.
        let place = |turn: &Turn| turn.text.split(' ').next().map(str::to_owned);
        others.sort_by_key(|other| place(other) != place(turn));
        let won = step.wins(turn);
        let win_at_once = others.iter().find(|other| step.wins(other) && !won);
        let opponent = turn.after.to_move();
        let lets_win = step.lets_win(turn);
        let refutation = turn
            .after
            .turns()
            .find(|reply| lets_win && reply.wins(opponent));
        let safe = others.iter().find(|other| !step.lets_win(other));
        let is_quick = before.is_provable();
        let mut note = Note {
            value,
            best,
            missed_win: win_at_once.is_some(),
            lost_at_once: refutation.is_some() && safe.is_some(),
            ..Note::default()
        };
        let is_decided = matches!(value, Some(Value::Win | Value::Loss));
        if is_decided && is_quick && !step.ends() {
            note.plies = self.turn(&**before, turn).plies;
        }
        let better = match note.value_loss() {
            Some((best, _)) if win_at_once.is_none() => self.keeper(&others, best),
            _ => win_at_once,
        };
        note.mark = if note.value_loss().is_some() {
            Some([Mark::Blunder, Mark::MissedWin][usize::from(note.missed_win)])
        } else if won {
            None
        } else {
            self.choice(&others, &note, is_quick)
        };
        note.better = better.map(|turn| turn.text.clone());
        let [place, unit] = self.words;
        let sentence = Sentence {
            place,
            unit,
            note: &note,
            played: &turn.text,
            refutation,
            win_at_once,
            safe: safe.map(|turn| turn.text.as_str()),
        };
        note.text = sentence.text();
        note
    }

    /// A turn that keeps the value `best`.
    fn keeper<'a>(&self, turns: &'a [Turn], best: Value) -> Option<&'a Turn> {
        let limits = self.limits();
        // Most turns are in the table already, or easy: all are tried with little effort before any of them gets all
        // of it.
        let nodes = limits.nodes.unwrap_or(FIRST_PASS_NODES);
        let brief = Limits {
            nodes: Some(nodes.min(FIRST_PASS_NODES)),
            ..limits.clone()
        };
        let keeps = |turn: &&Turn, limits| {
            let after = turn.after.solvable();
            after.and_then(|after| after.keeps(&self.solvers, best, limits)) == Some(true)
        };
        [brief, limits]
            .iter()
            .find_map(|limits| turns.iter().find(|turn| keeps(turn, limits)))
    }

    /// `Only` when no other turn keeps the value, `Forced` when every other does.
    fn choice(&self, others: &[Turn], note: &Note, is_quick: bool) -> Option<Mark> {
        if others.is_empty() {
            return Some(Mark::Forced);
        }
        let best = note.best.filter(|_| note.is_proven())?;
        if best == Value::Loss {
            return (!note.lost_at_once).then_some(Mark::Forced);
        }
        if note.missed_win || !is_quick {
            return None;
        }
        let limits = self.limits();
        let (mut some_keep, mut some_do_not) = (false, false);
        for turn in others {
            let keeps = turn.after.solvable()?.keeps(&self.solvers, best, &limits)?;
            some_keep |= keeps;
            some_do_not |= !keeps;
            if some_keep && some_do_not {
                return None;
            }
        }
        Some(if some_keep { Mark::Forced } else { Mark::Only })
    }
}
