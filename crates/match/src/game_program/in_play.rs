use std::sync::{Arc, OnceLock};

use super::failure::{FailureCause, ProgramError, ProgramFailure};
use super::messages::Played;
use super::{GameProgram, Position};
use referee_games::game::{
    Game, GameFailure, GameSource, IllegalReason, Info, Interactive, Malformed, Mood, Outcome,
    Picture, Rejection, Ruleset, Side, StartError, Turn, WinningLines,
};
use referee_host::threads::locked;

/// A game of more turns is taken for one that never ends.
pub(super) const MOST_TURNS: u32 = 10_000;

/// A game that is a program, with its options.
#[derive(Clone, Debug)]
pub(super) struct ProgramRuleset(pub(super) Arc<GameProgram>);

impl ProgramRuleset {
    fn at(&self, position: Position) -> Box<dyn Game> {
        Box::new(ProgramInPlay::at(&self.0, position))
    }
}

impl Ruleset for ProgramRuleset {
    fn info(&self) -> Info<'_> {
        let about = self.0.about();
        Info {
            rules: &self.0.rules,
            is_first_drawn: about.first_drawn,
            has_drawn_start: about.chance,
            lists_answers: about.answers,
            ..Info::named(&about.name)
        }
    }

    fn instructions(&self) -> String {
        self.0.instructions()
    }

    fn start(&self) -> Box<dyn Game> {
        self.at(self.0.start.clone())
    }

    fn start_from(&self, text: &str) -> Result<Box<dyn Game>, StartError> {
        let position = self.0.position(text).map_err(ProgramError::Failed)?;
        let position = position.map_err(ProgramError::RefusedState)?;
        if position.end.is_some() {
            return Err(ProgramError::GameOver.into());
        }
        Ok(self.at(position))
    }

    fn read_request(&self, line: &str) -> Result<Box<dyn Game>, StartError> {
        let asked = locked(&self.0.asked).clone();
        let asked = asked.filter(|position| position.request == line);
        let position = asked.ok_or(ProgramError::UnknownRequest)?;
        Ok(self.at(position))
    }

    fn start_drawn(&self, seed: u32) -> Result<Box<dyn Game>, StartError> {
        if !self.0.about.chance {
            return Ok(self.start());
        }
        Ok(self.at(self.0.position_at(seed)?))
    }

    fn program(&self) -> Option<&GameSource> {
        Some(&self.0.source)
    }

    fn failure(&self) -> Option<GameFailure> {
        self.0.failure.get().cloned().map(GameFailure::from)
    }
}

#[derive(Clone, Debug)]
struct ProgramInPlay {
    game: Arc<GameProgram>,
    position: Position,
    words: String,
    answers: OnceLock<Vec<String>>,
    turns: u32,
}

impl ProgramInPlay {
    fn at(game: &Arc<GameProgram>, position: Position) -> Self {
        Self {
            game: Arc::clone(game),
            position,
            words: String::new(),
            answers: OnceLock::new(),
            turns: 0,
        }
    }

    fn played(&self, answer: &str) -> Result<Played, Rejection> {
        if self.position.end.is_some() {
            return Err(IllegalReason::GameOver.into());
        }
        let verdict = self.game.play(&self.position.state, answer);
        // The game has failed; the caller asks [`Ruleset::failure`].
        verdict.unwrap_or_else(|failure| Err(refused_by(&failure)))
    }

    const fn is_endless(&self) -> bool {
        self.turns >= MOST_TURNS
    }

    fn become_position(&mut self, played: Played) {
        self.turns += 1;
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

/// What ends the game is the failure, which its [`Ruleset`] tells.
fn refused_by(failure: &ProgramFailure) -> Rejection {
    Rejection::malformed(Malformed::ByProgram, failure.to_string())
}

impl Game for ProgramInPlay {
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
        if self.is_endless() {
            return Err(refused_by(&self.game.fail(FailureCause::Endless)));
        }
        let played = self.played(answer)?;
        turn.clone_from(&played.turn);
        self.become_position(played);
        Ok(())
    }

    fn winning_lines(&self) -> WinningLines {
        let end = self.position.end.as_ref();
        end.map(|end| end.lines.clone()).unwrap_or_default()
    }

    fn count_moves(&self) -> usize {
        self.legal().len()
    }

    fn make_move(&mut self, index: usize) -> bool {
        if self.is_endless() {
            // It is noted by the game.
            let _ = self.game.fail(FailureCause::Endless);
            return false;
        }
        let answer = self.legal().get(index);
        let played = answer.and_then(|answer| self.played(answer).ok());
        played.map(|played| self.become_position(played)).is_some()
    }

    fn turns(&self) -> Box<dyn Iterator<Item = Turn> + '_> {
        Box::new(self.legal().iter().filter_map(|answer| {
            let played = self.played(answer).ok()?;
            Some(Turn {
                text: played.turn,
                after: Box::new(Self::at(&self.game, played.position)),
            })
        }))
    }
}

impl Interactive for ProgramInPlay {
    fn describe_last_turn(&self, _: Mood) -> String {
        self.words.clone()
    }

    fn picture(&self, viewer: Option<Side>) -> Picture {
        let state = &self.position.state;
        let drawn = self.game.drawing(state, viewer);
        drawn.ok().flatten().unwrap_or_else(|| Picture {
            text: vec![state.clone()],
            ..Picture::default()
        })
    }

    fn question(&self) -> String {
        format!("{}: your answer?", self.position.request)
    }

    fn make_typed(&mut self, typed: &str) -> Result<Option<String>, Rejection> {
        let mut turn = String::new();
        self.play(typed.trim(), &mut turn)?;
        Ok(Some(turn))
    }

    fn inventory(&self) -> String {
        match self.legal() {
            [] => self.game.instructions(),
            answers => format!("you can answer {}\n", answers.join(", ")),
        }
    }
}
