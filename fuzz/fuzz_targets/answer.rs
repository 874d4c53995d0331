//! Any bytes as an answer, in both games: a legal turn or a rejection. The canonical form of an accepted
//! turn leads to the same position.
#![no_main]

use std::sync::LazyLock;

use libfuzzer_sys::fuzz_target;
use referee::game::four_in_a_row::FourInARow;
use referee::game::quarto::{Edition, PieceSet, Rules};
use referee::game::{BuiltinGame, Position as _};
use referee::protocol::answer_text;

fn judge<G: BuiltinGame>(game: &G, board: &str, line: &[u8]) {
    let Ok(position) = game.start_from(board) else { return };
    if position.outcome().is_some() {
        return;
    }
    let Ok(text) = answer_text(line) else { return };
    // Requests are read by the built-in bots.
    let _ = game.read_request(text);
    if let Ok((turn, after)) = game.judge(&position, text) {
        let canonical = game.turn_text(turn);
        let again = game.judge(&position, &canonical).map(|(_, after)| after);
        assert!(again.is_ok_and(|again| again == after), "{text:?}: {canonical}");
    }
}

static QUARTO: LazyLock<Edition> =
    LazyLock::new(|| Edition::new(Rules::Squares, PieceSet::default()));

fuzz_target!(|bytes: &[u8]| {
    // The first byte chooses the board.
    let Some((&place, line)) = bytes.split_first() else { return };
    let boards = ["................", "A..............P", "ABCDEFGHIJKLMNO."];
    judge(&*QUARTO, boards[usize::from(place) % boards.len()], line);
    let board = if place < 128 { "." } else { "O" };
    judge(&FourInARow, &board.repeat(42), line);
    judge(&FourInARow, &".".repeat(42), line);
});
