//! What people see.

use super::{Checks, Level};
use crate::game::Side;
use crate::game_program::GameProgramError;
use crate::game_program::drawing::DrawingReply;
use crate::text::quote;

impl Checks<'_> {
    pub(super) fn draws(&mut self) -> Result<(), GameProgramError> {
        if !self.game.about.drawing {
            let fix = "it does not draw (\"drawing\"): people see the state instead of a board";
            self.add(Level::Note, "draws", fix);
            return Ok(());
        }
        for state in self.states_to_draw() {
            let drawing = self.game.drawing(&state, None)?;
            let Some(svg) = drawing.and_then(|drawing| drawing.svg) else {
                continue;
            };
            let of_state = format!("the \"svg\" of the state {}", quote(state.as_bytes()));
            let detail = match (self.check_svg)(&svg) {
                Err(problem) => format!("{of_state} is not shown: {problem}"),
                Ok(left_out) if !left_out.is_empty() => {
                    let names = left_out.join(", ");
                    format!(
                        "{of_state} is shown without {names} (protocol-games.md lists what is shown)"
                    )
                }
                Ok(_) => continue,
            };
            self.add(Level::Note, "draws", detail);
            return Ok(());
        }
        self.add(Level::Ok, "draws", String::new());
        if self.game.about.hidden {
            self.hides()?;
        }
        Ok(())
    }

    /// The start, and states of games up to their ends.
    fn states_to_draw(&self) -> Vec<String> {
        let start = std::iter::once(&self.game.start.state);
        let asked = self.positions.iter().map(|(position, _)| &position.state);
        start.chain(&self.states).chain(asked).cloned().collect()
    }

    /// Whether the sides see different things somewhere.
    fn hides(&mut self) -> Result<(), GameProgramError> {
        let mut differ = false;
        for state in self.states_to_draw() {
            let seen = |viewer| -> Result<Option<DrawingReply>, GameProgramError> {
                self.game.drawing(&state, viewer)
            };
            let (first, second) = (seen(Some(Side::First))?, seen(Some(Side::Second))?);
            differ |= first != second;
        }
        if differ {
            self.add(Level::Ok, "hides", String::new());
        } else {
            let fix = "it says \"hidden\": true, and both sides are shown the same: leave out of a drawing what its \"side\" may not see";
            self.add(Level::Wrong, "hides", fix);
        }
        Ok(())
    }
}
