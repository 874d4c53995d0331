//! Judging an answer: whether it is a legal turn of a position, and if not, what was expected.

use super::cell::Cell;
use super::notation::{Gift, free_cells, parse_answer, write_turn};
use super::piece::Piece;
use super::piece_set::PieceSet;
use super::position::{Move, Position};
use super::turn::Turn;
use crate::game::Position as _;
use crate::game::{IllegalReason, Outcome, Rejection};
use referee_text::quote;

/// The turn that an answer stands for and the position after it, or why it is rejected.
pub(super) fn judge(
    set: &PieceSet,
    position: &Position,
    answer: &str,
) -> Result<(Turn, Position), Rejection> {
    if position.outcome().is_some() {
        return Err(Rejection::Illegal(IllegalReason::GameOver.to_string()));
    }
    let malformed =
        |reason: String| Rejection::Malformed(format!("{reason}; {}", example(set, position)));
    let answer = parse_answer(answer, position.hand().is_some()).map_err(malformed)?;
    let mut after = *position;
    let cell = legal_cell(set, position, answer.cell);
    if let Ok(Some(cell)) = cell
        && after.play(Move::Place(cell)).is_ok()
        && let Some(Outcome::Win(_)) = after.outcome()
    {
        // A quarto wins at once; whatever gift the answer names is ignored.
        let cell = Some(cell);
        return Ok((Turn { cell, gift: None }, after));
    }
    // Errors of form are reported before errors of the rules.
    let any_left = after.left().next().is_some();
    match answer.gift {
        Gift::Missing if any_left => {
            return Err(malformed("the gift is missing".to_owned()));
        }
        Gift::Word(word) => {
            return Err(malformed(format!(
                "the gift {} is not one character",
                quote(word.as_bytes())
            )));
        }
        Gift::Missing | Gift::Dash | Gift::Symbol(_) => {}
    }
    let cell = cell.map_err(Rejection::Illegal)?;
    if !any_left {
        return match answer.gift {
            Gift::Symbol(symbol) => Err(Rejection::Illegal(format!(
                "{} as the gift, but no piece is left to give; expected `-`",
                quote(symbol.to_string().as_bytes())
            ))),
            _ => Ok((Turn { cell, gift: None }, after)),
        };
    }
    let gift = legal_gift(set, position, &after, &answer.gift).map_err(Rejection::Illegal)?;
    after
        .play(Move::Give(gift))
        .map_err(|illegal| Rejection::Illegal(illegal.to_string()))?;
    let gift = Some(gift);
    Ok((Turn { cell, gift }, after))
}

/// An example of what could have been answered, for messages.
fn example(set: &PieceSet, position: &Position) -> String {
    let mut example = String::new();
    if let Some((turn, _)) = position.turns().first() {
        write_turn(set, *turn, &mut example);
    }
    format!("expected a cell and a gift, such as `{example}`")
}

/// The cell to place on, when the piece in hand can be placed there; `None` when nothing is in
/// hand and the answer names no cell.
fn legal_cell(
    set: &PieceSet,
    position: &Position,
    number: Option<u8>,
) -> Result<Option<Cell>, String> {
    let free = || format!("free cells: {}", free_cells(position.board()));
    match (position.hand(), number) {
        (None, None) => Ok(None),
        (None, Some(number)) => Err(format!(
            "there is no piece in hand to place on cell {number}; expected `-` as the cell, this turn only gives"
        )),
        (Some(piece), None) => Err(format!(
            "`-` as the cell, but the piece {} is in hand and must be placed; {}",
            set.symbol(piece),
            free()
        )),
        (Some(_), Some(number)) => {
            let Some(cell) = Cell::from_number(number) else {
                return Err(format!("there is no cell {number}; {}", free()));
            };
            match position.board().get(cell) {
                None => Ok(Some(cell)),
                Some(piece) => Err(format!(
                    "cell {number} is occupied by {}; {}",
                    set.symbol(piece),
                    free()
                )),
            }
        }
    }
}

/// The gift. In the position `after` the placement the game goes on.
fn legal_gift(
    set: &PieceSet,
    before: &Position,
    after: &Position,
    gift: &Gift<'_>,
) -> Result<Piece, String> {
    let symbol = match gift {
        Gift::Symbol(symbol) => *symbol,
        Gift::Missing | Gift::Dash | Gift::Word(_) => '-',
    };
    let reason = match set.piece(symbol) {
        Some(piece) if after.is_left(piece) => return Ok(piece),
        Some(piece) if before.hand() == Some(piece) => {
            format!("the gift {symbol} is the piece that was in hand")
        }
        Some(_) => format!("the gift {symbol} is on the board already"),
        None if symbol == '-' => "`-` as the gift, but one is due".to_owned(),
        None => format!(
            "the gift {} is no piece of this set",
            quote(symbol.to_string().as_bytes())
        ),
    };
    let left: Vec<String> = after
        .left()
        .map(|piece| set.symbol(piece).to_string())
        .collect();
    Err(format!("{reason}; pieces left: {}", left.join(" ")))
}
