//! Positions to ask a bot about: from random games, always the same ones.

use rand::Rng;
use rand::seq::IndexedRandom as _;

use super::SEED;
use crate::game::{Game, Position};
use crate::seed::{self, Purpose};

/// How many random games are looked through for positions of a kind.
const SEARCH: usize = 2000;

/// Up to `count` positions of a kind.
pub(super) fn positions<G: Game>(
    game: &G,
    count: usize,
    kind: impl Fn(&G::Position) -> bool,
) -> Vec<G::Position> {
    let mut rng = seed::generator(SEED, Purpose::Checkup, [0, 0]);
    let mut found = Vec::new();
    for _ in 0..SEARCH {
        let played = random_game(game, &mut rng);
        let of_kind: Vec<&G::Position> = played.iter().filter(|p| kind(p)).collect();
        // One a game, so that they are not all alike.
        if let Some(&position) = of_kind.choose(&mut rng) {
            found.push(position.clone());
        }
        if found.len() == count {
            break;
        }
    }
    found
}

/// The board of a position as the start of a game.
pub(super) fn reopened<G: Game>(game: &G, position: &G::Position) -> Option<G::Position> {
    let mut board = String::new();
    game.write_board(position, &mut board);
    game.start_from(&board).ok()
}

/// Whether the game is over after any turn.
pub(super) fn is_last_turn<G: Game>(game: &G, position: &G::Position) -> bool {
    let turns = game.turns(position);
    turns.iter().all(|(_, after)| after.outcome().is_some())
}

/// Whether the opponent can win at once after a turn.
pub(super) fn lets_win(after: &impl Position) -> bool {
    after.outcome().is_none() && after.can_win_at_once()
}

/// Whether no turn wins, and the opponent can win at once after any.
pub(super) fn is_lost_at_once<G: Game>(game: &G, position: &G::Position) -> bool {
    let turns = game.turns(position);
    !position.can_win_at_once() && turns.iter().all(|(_, after)| lets_win(after))
}

/// Whether no turn wins, and some but not all let the opponent win at once.
pub(super) fn has_a_choice<G: Game>(game: &G, position: &G::Position) -> bool {
    let turns = game.turns(position);
    let losing = turns.iter().filter(|(_, after)| lets_win(after)).count();
    !position.can_win_at_once() && losing > 0 && losing < turns.len()
}

/// The positions of a random game before each turn.
fn random_game<G: Game>(game: &G, rng: &mut impl Rng) -> Vec<G::Position> {
    let mut position = game.start();
    let mut positions = Vec::new();
    loop {
        let before = position.clone();
        let me = position.to_move();
        while position.outcome().is_none() && position.to_move() == me {
            let moves: Vec<_> = position.moves().collect();
            let Some(&mv) = moves.choose(rng) else {
                return positions;
            };
            if position.play(mv).is_err() {
                return positions;
            }
        }
        positions.push(before);
        if position.outcome().is_some() {
            return positions;
        }
    }
}
