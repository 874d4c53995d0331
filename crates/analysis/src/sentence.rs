//! A turn's analysis for people: one or two short sentences.

use crate::note::{Mark, Note};
use referee_games::game::Turn;
use referee_games::solver::Value;
use referee_text::{counted, escape_controls};

pub(super) struct Sentence<'a> {
    /// What a turn names first: `cell`, `column`.
    pub(super) place: &'static str,
    /// What fills the board: `placement`, `disc`.
    pub(super) unit: &'static str,
    pub(super) note: &'a Note,
    pub(super) played: &'a str,
    /// How the other side can win immediately afterwards.
    pub(super) refutation: Option<Turn>,
    /// Another turn that would have won immediately.
    pub(super) win_at_once: Option<&'a Turn>,
    /// Another turn that does not let the other side win immediately.
    pub(super) safe: Option<&'a str>,
}

impl Sentence<'_> {
    /// `None` when there is nothing to say.
    pub(super) fn text(&self) -> Option<String> {
        let played = self.name(self.played);
        if let Some(win) = self.win_at_once {
            let (completes, left) = (self.completes(win, ""), self.what_is_left());
            return Some(format!(
                "{played} missed the win in one: {completes}.{left}"
            ));
        }
        let better = |verb: &str| {
            let better = self.note.better.as_deref();
            better.map_or_else(String::new, |better| {
                format!(" {} would have {verb}.", self.name_first(better))
            })
        };
        match self.note.value_loss() {
            Some((_, Value::Draw)) => Some(format!(
                "{played} turned a win into a draw.{}",
                better("won")
            )),
            Some((best, _)) => {
                let (what, verb) = match best {
                    Value::Win => ("win", "won"),
                    Value::Draw | Value::Loss => ("draw", "drawn"),
                };
                let (how, better) = (self.how_it_loses(), better(verb));
                Some(format!(
                    "{played} turned a {what} into a loss: {how}.{better}"
                ))
            }
            None if self.note.lost_at_once => {
                let safer = self.safe.unwrap_or_default();
                let than = if self.note.best == Some(Value::Loss) {
                    format!("The game was lost, but {} lasted longer.", self.name(safer))
                } else {
                    format!("{} did not lose immediately.", self.name_first(safer))
                };
                let how = self.how_it_loses();
                Some(format!("{played} lost immediately: {how}. {than}"))
            }
            None if self.note.mark == Some(Mark::Only) => {
                let value = self.note.best.map_or("", Value::name);
                Some(format!("{played} was the only turn that kept the {value}."))
            }
            None => None,
        }
    }

    /// `` `6 A` ``, ``column `4` ``.
    fn name(&self, turn: &str) -> String {
        let (turn, place) = (escape_controls(turn), self.place);
        let is_short = !turn.contains(' ');
        if is_short {
            format!("{place} `{turn}`")
        } else {
            format!("`{turn}`")
        }
    }

    /// At the beginning of a sentence.
    fn name_first(&self, turn: &str) -> String {
        let name = self.name(turn);
        let mut letters = name.chars();
        let first = letters.next().map(|first| first.to_ascii_uppercase());
        first.into_iter().chain(letters).collect()
    }

    /// `cell 11 completes V3 (big)`; `then` stands before the verb.
    fn completes(&self, win: &Turn, then: &str) -> String {
        let lines = win.after.winning_lines();
        let lines = lines
            .iter()
            .map(|(line, property)| format!("{line} ({})", escape_controls(property)));
        let lines: Vec<String> = lines.collect();
        let at = win.text.split(' ').next().unwrap_or_default();
        format!("{} {at} {then}completes {}", self.place, lines.join(", "))
    }

    fn how_it_loses(&self) -> String {
        let Some(refutation) = &self.refutation else {
            return match self.note.plies {
                Some(plies) => {
                    let plies = counted(u64::from(plies), self.unit, &format!("{}s", self.unit));
                    format!("the other side now wins within {plies}")
                }
                None => "the other side now wins by force".to_owned(),
            };
        };
        match self.played.split_once(' ') {
            Some((_, gift)) => {
                let completes = self.completes(refutation, "");
                format!("after {}, {completes}", escape_controls(gift))
            }
            None => self.completes(refutation, "then "),
        }
    }

    /// What a turn that missed a win left.
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
