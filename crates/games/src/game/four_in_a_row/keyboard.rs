//! Four In A Row at the keyboard: what people are asked, and how their answers are read.

use super::game::{FourInARow, mark};
use super::position::{Column, Position};
use crate::game::human_input::HumanInput;
use crate::game::{Game as _, Position as _};
use referee_text::quote;

impl HumanInput for FourInARow {
    fn instructions(&self) -> String {
        "Four In A Row: whoever first has four in a row, column or diagonal wins.\n\
         In turn both choose a column, 1 to 7; the piece falls to its lowest free cell. Who\n\
         begins plays @, the other O. At any prompt: help, board, pieces, quit.\n"
            .to_owned()
    }

    fn question(&self, position: &Position) -> String {
        let mark = mark(position.to_move());
        format!("which column for {mark} (1 to 7)?")
    }

    fn read_move(&self, _: &Position, typed: &str) -> Result<Column, String> {
        let expected = "expected a column, 1 to 7";
        let number: u8 = typed
            .parse()
            .map_err(|_| format!("{} is no column: {expected}", quote(typed.as_bytes())))?;
        Column::from_number(number).ok_or_else(|| format!("{number} is out of range: {expected}"))
    }

    fn refusal(&self, position: &Position, column: Column) -> String {
        format!(
            "column {} is full; {}",
            column.number(),
            Self::free_columns(position)
        )
    }

    fn hint(&self, position: &Position) -> Option<String> {
        let losing: Vec<String> = self
            .turns(position)
            .into_iter()
            .filter(|(_, after)| after.can_win_at_once())
            .map(|(column, _)| column.number().to_string())
            .collect();
        (!losing.is_empty()).then(|| format!("these columns lose at once: {}", losing.join(" ")))
    }

    fn inventory(&self, _: &Position) -> String {
        "who begins plays @, the other O\n".to_owned()
    }
}
