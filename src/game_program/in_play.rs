use std::sync::{Arc, OnceLock};

use super::messages::Played;
use super::{GameProgram, Position};
use crate::game::{Game, GameSource, Info, Outcome, Picture, Rejection, Side, Turn, WinningLines};
use crate::threads::locked;

/// A game of more turns is taken for one that never ends.
const MOST_TURNS: u32 = 10_000;

#[derive(Clone, Debug)]
pub(super) struct InPlay {
    game: Arc<GameProgram>,
    position: Position,
    words: String,
    answers: OnceLock<Vec<String>>,
    turns: u32,
}

impl InPlay {
    pub(super) fn start(game: &Arc<GameProgram>) -> Self {
        Self {
            game: Arc::clone(game),
            position: game.start.clone(),
            words: String::new(),
            answers: OnceLock::new(),
            turns: 0,
        }
    }

    fn at(&self, position: Position) -> Box<dyn Game> {
        Box::new(Self {
            position,
            ..Self::start(&self.game)
        })
    }

    fn played(&self, answer: &str) -> Result<Played, Rejection> {
        if self.position.end.is_some() {
            return Err(Rejection::Illegal("the game is over".to_owned()));
        }
        let verdict = self.game.play(&self.position.state, answer);
        // The game has failed; the caller asks [`Game::failure`].
        verdict.unwrap_or_else(|failure| Err(Rejection::Malformed(failure)))
    }

    fn become_position(&mut self, played: Played) {
        self.position = played.position;
        self.words = if played.words.is_empty() {
            format!("answers {}", played.turn)
        } else {
            played.words
        };
        self.answers = OnceLock::new();
    }

    fn legal(&self) -> &[String] {
        self.answers.get_or_init(|| {
            if self.position.end.is_some() {
                return Vec::new();
            }
            // A failure is noted by the game.
            self.game.answers(&self.position.state).unwrap_or_default()
        })
    }
}

impl Game for InPlay {
    fn info(&self) -> Info<'_> {
        let about = self.game.about();
        Info {
            rules: &self.game.rules,
            is_first_drawn: about.first_drawn,
            has_drawn_start: about.chance,
            lists_answers: about.answers,
            ..Info::named(&about.name)
        }
    }

    fn instructions(&self) -> String {
        format!("{}\n", self.game.about.about)
    }

    fn start(&self) -> Box<dyn Game> {
        Box::new(Self::start(&self.game))
    }

    fn start_from(&self, text: &str) -> Result<Box<dyn Game>, String> {
        let position = self.game.position(text)??;
        if position.end.is_some() {
            return Err("the game is over in this state".to_owned());
        }
        Ok(self.at(position))
    }

    fn read_request(&self, line: &str) -> Result<Box<dyn Game>, String> {
        let asked = locked(&self.game.asked).clone();
        let asked = asked.filter(|position| position.request == line);
        asked.map(|position| self.at(position)).ok_or_else(|| {
            "a request of a game's program does not tell the whole position; give a state"
                .to_owned()
        })
    }

    fn start_drawn(&self, seed: u32) -> Result<Box<dyn Game>, String> {
        if !self.game.about.chance {
            return Ok(Game::start(self));
        }
        Ok(self.at(self.game.position_at(seed)?))
    }

    fn program(&self) -> Option<&GameSource> {
        Some(&self.game.source)
    }

    fn failure(&self) -> Option<String> {
        self.game.failure.get().cloned()
    }

    fn clone_box(&self) -> Box<dyn Game> {
        Box::new(self.clone())
    }

    fn to_move(&self) -> Side {
        self.position.side
    }

    fn outcome(&self) -> Option<Outcome> {
        self.position.end.as_ref().map(|end| end.outcome)
    }

    fn board(&self) -> String {
        self.position.state.clone()
    }

    fn request(&self) -> String {
        *locked(&self.game.asked) = Some(self.position.clone());
        self.position.request.clone()
    }

    fn answers(&self) -> String {
        let answers = self.legal().iter();
        answers.flat_map(|answer| ["\t", answer]).collect()
    }

    fn play(&mut self, answer: &str, turn: &mut String) -> Result<(), Rejection> {
        if self.turns >= MOST_TURNS {
            let endless = self.game.fail(format!(
                "{}: a game is not over after {MOST_TURNS} turns; bound the number of turns, since bots may play for ever",
                self.game.name()
            ));
            return Err(Rejection::Malformed(endless));
        }
        self.turns += 1;
        let played = self.played(answer)?;
        turn.clone_from(&played.turn);
        self.become_position(played);
        Ok(())
    }

    fn describe_last_turn(&self) -> String {
        self.words.clone()
    }

    fn winning_lines(&self) -> WinningLines {
        let end = self.position.end.as_ref();
        end.map(|end| end.lines.clone()).unwrap_or_default()
    }

    fn picture(&self, viewer: Option<Side>) -> Picture {
        let state = &self.position.state;
        let drawn = self.game.drawing(state, viewer);
        drawn.ok().flatten().unwrap_or_else(|| Picture {
            text: vec![state.clone()],
            ..Picture::default()
        })
    }

    fn count_moves(&self) -> usize {
        self.legal().len()
    }

    fn make_move(&mut self, index: usize) -> bool {
        let answer = self.legal().get(index);
        let played = answer.and_then(|answer| self.played(answer).ok());
        played.map(|played| self.become_position(played)).is_some()
    }

    fn turns(&self) -> Box<dyn Iterator<Item = Turn> + '_> {
        Box::new(self.legal().iter().filter_map(|answer| {
            let played = self.played(answer).ok()?;
            Some(Turn {
                text: played.turn,
                after: self.at(played.position),
            })
        }))
    }

    fn question(&self) -> String {
        format!("{}: your answer?", self.position.request)
    }

    fn make_typed(&mut self, typed: &str) -> Result<Option<String>, String> {
        let mut turn = String::new();
        let played = self.play(typed.trim(), &mut turn);
        played.map_err(|rejection| rejection.text().to_owned())?;
        Ok(Some(turn))
    }

    fn inventory(&self) -> String {
        match self.legal() {
            [] => self.instructions(),
            answers => format!("you can answer {}\n", answers.join(", ")),
        }
    }
}
