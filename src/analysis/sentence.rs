//! A turn's analysis for people: one or two short sentences.

use crate::game::quarto::{Cell, Edition, Move, Position, Turn};
use crate::game::{Game as _, Position as _};
use crate::record::annotation::{Mark, Note};
use crate::solver::Value;
use crate::text::escape_controls;

/// The facts for a sentence.
pub(super) struct Sentence<'a> {
    pub(super) edition: &'a Edition,
    pub(super) note: &'a Note,
    /// The turn as an answer.
    pub(super) played: String,
    pub(super) after: &'a Position,
    /// The cell on which the other side can win at once afterwards.
    pub(super) refutation: Option<Cell>,
    /// A turn that would have won at once, and the position after it.
    pub(super) win_at_once: Option<(Turn, Position)>,
    /// Another turn that does not let the other side win at once.
    pub(super) safe: Option<String>,
}

impl Sentence<'_> {
    /// The sentence; `None` when there is nothing to say.
    pub(super) fn text(&self) -> Option<String> {
        let played = escape_controls(&self.played);
        if let Some((turn, won)) = &self.win_at_once {
            let completes = self.completes(turn.cell, won);
            return Some(format!(
                "`{played}` missed the win in one: {completes}.{}",
                self.what_is_left()
            ));
        }
        let better = |verb: &str| {
            let better = self.note.better.as_deref();
            better.map_or_else(String::new, |better| {
                format!(" `{}` would have {verb}.", escape_controls(better))
            })
        };
        match self.note.value_loss() {
            Some((_, Value::Draw)) => Some(format!(
                "`{played}` turned a win into a draw.{}",
                better("won")
            )),
            Some((best, _)) => {
                let (what, verb) = match best {
                    Value::Win => ("win", "won"),
                    Value::Draw | Value::Loss => ("draw", "drawn"),
                };
                Some(format!(
                    "`{played}` turned a {what} into a loss: {}.{}",
                    self.how_it_loses(),
                    better(verb)
                ))
            }
            None if self.note.lost_at_once => {
                let safer = self.safe.as_deref().unwrap_or_default();
                let safer = escape_controls(safer);
                let than = if self.note.best == Some(Value::Loss) {
                    format!("The game was lost, but `{safer}` lasted longer.")
                } else {
                    format!("`{safer}` did not lose at once.")
                };
                Some(format!(
                    "`{played}` lost at once: {}. {than}",
                    self.how_it_loses()
                ))
            }
            None if self.note.mark == Some(Mark::Only) => {
                let value = self.note.best.map_or("", Value::name);
                Some(format!(
                    "`{played}` was the only turn that kept the {value}."
                ))
            }
            None => None,
        }
    }

    /// `cell 11 completes V3 (big)`
    fn completes(&self, cell: Option<Cell>, won: &Position) -> String {
        let lines: Vec<String> = self
            .edition
            .winning_lines(won)
            .iter()
            .map(|(line, property)| format!("{line} ({})", escape_controls(property)))
            .collect();
        let cell = cell.map_or(0, Cell::number);
        format!("cell {cell} completes {}", lines.join(", "))
    }

    fn how_it_loses(&self) -> String {
        let (Some(cell), Some(hand)) = (self.refutation, self.after.hand()) else {
            return match self.note.plies {
                Some(plies) => format!("the other side now wins within {plies} placements"),
                None => "the other side now wins by force".to_owned(),
            };
        };
        let mut won = *self.after;
        // The cell is free: it is where the piece wins.
        let _ = won.play(Move::Place(cell));
        let gift = escape_controls(&self.edition.set().symbol(hand).to_string());
        format!("after {gift}, {}", self.completes(Some(cell), &won))
    }

    /// The value that is left after a win that was not taken.
    fn what_is_left(&self) -> String {
        match self.note.value {
            Some(Value::Win) => " It wins all the same.".to_owned(),
            Some(Value::Draw) => " It is a draw now.".to_owned(),
            Some(Value::Loss) if self.refutation.is_some() => {
                format!(" And {}.", self.how_it_loses())
            }
            Some(Value::Loss) => " The other side wins now.".to_owned(),
            None => String::new(),
        }
    }
}
