use std::cell::OnceCell;

use super::messages::Played;
use super::{GameProgram, GameProgramError, Position};
use crate::game::{Outcome, Picture, Rejection, Side, WinningLines};
use crate::session::{Session, TurnAndAfter};

/// A game of more turns is taken for one that never ends.
pub(super) const MOST_TURNS: u32 = 10_000;

#[derive(Clone, Debug)]
pub(super) struct ProgramSession<'a> {
    game: &'a GameProgram,
    position: Position,
    /// The last turn in words.
    words: String,
    /// Once they were asked for.
    answers: OnceCell<Vec<String>>,
    /// Since this session began.
    turns: u32,
}

/// The game has failed; the caller asks [`crate::session::Ruleset::failure`].
fn rejected(failure: &GameProgramError) -> Rejection {
    Rejection::Malformed(failure.to_string())
}

impl<'a> ProgramSession<'a> {
    pub(super) const fn new(game: &'a GameProgram, position: Position) -> Self {
        Self {
            game,
            position,
            words: String::new(),
            answers: OnceCell::new(),
            turns: 0,
        }
    }

    fn after(&self, answer: &str) -> Result<Played, Rejection> {
        if self.position.end.is_some() {
            return Err(Rejection::Illegal("the game is over".to_owned()));
        }
        let verdict = self.game.play(&self.position.state, answer);
        verdict.unwrap_or_else(|failure| Err(rejected(&failure)))
    }

    fn become_position(&mut self, played: Played) {
        self.position = played.position;
        self.words = if played.words.is_empty() {
            format!("answers {}", played.turn)
        } else {
            played.words
        };
        self.answers = OnceCell::new();
    }

    fn answers(&self) -> &[String] {
        self.answers.get_or_init(|| {
            if self.position.end.is_some() {
                return Vec::new();
            }
            // A failure is noted by the game.
            self.game.answers(&self.position.state).unwrap_or_default()
        })
    }

    /// All of it, or what a person who plays this side may see.
    fn drawn(&self, viewer: Option<Side>) -> Picture {
        let state = &self.position.state;
        let drawn = self.game.drawing(state, viewer);
        drawn.ok().flatten().unwrap_or_else(|| Picture {
            text: vec![state.clone()],
            ..Picture::default()
        })
    }
}

impl Session for ProgramSession<'_> {
    fn to_move(&self) -> Side {
        self.position.side
    }

    fn outcome(&self) -> Option<Outcome> {
        self.position.end.as_ref().map(|end| end.outcome)
    }

    fn write_board(&self, out: &mut String) {
        out.push_str(&self.position.state);
    }

    fn write_request(&self, out: &mut String) {
        out.push_str(&self.position.request);
        self.game.note_asked(&self.position);
    }

    fn write_answers(&self, out: &mut String) {
        for answer in self.answers() {
            out.push('\t');
            out.push_str(answer);
        }
    }

    fn play(&mut self, answer: &str, turn: &mut String) -> Result<(), Rejection> {
        if self.turns >= MOST_TURNS {
            return Err(rejected(&self.game.is_endless()));
        }
        self.turns += 1;
        let played = self.after(answer)?;
        turn.clone_from(&played.turn);
        self.become_position(played);
        Ok(())
    }

    fn winning_lines(&self) -> WinningLines {
        let end = self.position.end.as_ref();
        end.map(|end| end.lines.clone()).unwrap_or_default()
    }

    fn describe_last_turn(&self) -> String {
        self.words.clone()
    }

    fn picture(&self) -> Picture {
        self.drawn(None)
    }

    fn picture_for(&self, viewer: Side) -> Picture {
        self.drawn(Some(viewer))
    }

    fn clone_box(&self) -> Box<dyn Session + '_> {
        Box::new(self.clone())
    }

    fn count_moves(&self) -> usize {
        self.answers().len()
    }

    fn make_move(&mut self, index: usize) -> bool {
        let Some(answer) = self.answers().get(index).cloned() else {
            return false;
        };
        let Ok(played) = self.after(&answer) else {
            return false;
        };
        self.become_position(played);
        true
    }

    fn turns(&self) -> Box<dyn Iterator<Item = TurnAndAfter<'_>> + '_> {
        Box::new(self.answers().iter().filter_map(|answer| {
            let played = self.after(answer).ok()?;
            let after: Box<dyn Session> = Box::new(Self::new(self.game, played.position));
            Some((played.turn, after))
        }))
    }

    fn question(&self) -> String {
        format!("{}: your answer?", self.position.request)
    }

    fn make_typed(&mut self, typed: &str) -> Result<Option<String>, String> {
        let played = self.after(typed.trim());
        let played = played.map_err(|rejection| rejection.text().to_owned())?;
        let turn = played.turn.clone();
        self.become_position(played);
        Ok(Some(turn))
    }

    fn inventory(&self) -> String {
        match self.answers() {
            [] => format!("{}\n", self.game.about().about),
            answers => format!("you can answer {}\n", answers.join(", ")),
        }
    }
}
