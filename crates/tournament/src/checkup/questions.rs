//! The positions that a bot is asked about: from random games, the same in every check-up.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use rand::Rng;
use rand::seq::IndexedRandom as _;

use super::SEED;
use referee_games::game::{Game, Ruleset};
use referee_host::threads::locked;
use referee_match::seed::{self, Purpose};

/// Random games that are searched for positions of a kind.
const SEARCH: usize = 2000;

/// Positions of one random game by a game's program: to play it takes hundreds of questions to the program.
const OF_ONE_GAME: usize = 8;

/// Of check-ups by one ruleset. Each kind is searched for once: some are rare, and the search takes longer than most
/// bots take for all their answers.
#[derive(Debug, Default)]
pub struct Questions {
    found: Mutex<BTreeMap<WantedPositions, Arc<[String]>>>,
}

/// The name of a kind, and how many of it.
type WantedPositions = (&'static str, usize);

impl Questions {
    /// Up to `count` positions of the kind of this name.
    pub(super) fn positions(
        &self,
        ruleset: &dyn Ruleset,
        name: &'static str,
        count: usize,
        kind: impl Fn(&dyn Game) -> bool,
    ) -> Arc<[String]> {
        let mut found = locked(&self.found);
        let of_kind = found
            .entry((name, count))
            .or_insert_with(|| positions(ruleset, count, kind).into());
        Arc::clone(of_kind)
    }
}

/// Positions as records hold them.
fn positions(ruleset: &dyn Ruleset, count: usize, kind: impl Fn(&dyn Game) -> bool) -> Vec<String> {
    let mut rng = seed::generator(SEED, Purpose::Checkup, [0, 0]);
    let mut found = Vec::new();
    for _ in 0..SEARCH {
        let of_kind = random_game(ruleset, &kind, &mut rng);
        if ruleset.program().is_some() {
            found.extend(of_kind.sample(&mut rng, OF_ONE_GAME).cloned());
        } else {
            // One position a game, so that they differ.
            found.extend(of_kind.choose(&mut rng).cloned());
        }
        if found.len() >= count {
            break;
        }
    }
    found.truncate(count);
    found
}

/// Those with the fewest free cells first: a program that searches answers them soon, so more of them can be asked.
pub(super) fn late_first(positions: &[String]) -> Vec<String> {
    let mut positions = positions.to_vec();
    positions.sort_by_key(|position| position.matches('.').count());
    positions
}

/// On the board of this position; `None` when no game can start there.
pub(super) fn reopened(ruleset: &dyn Ruleset, session: &dyn Game) -> Option<String> {
    Some(ruleset.start_from(&session.board()).ok()?.as_start())
}

/// Whether the game is over after any turn.
pub(super) fn is_last_turn(session: &dyn Game) -> bool {
    let outlook = session.outlook();
    outlook.ending == outlook.turns
}

/// Whether no turn wins, and the opponent can win immediately after any.
pub(super) fn is_lost_at_once(session: &dyn Game) -> bool {
    let outlook = session.outlook();
    outlook.winning == 0 && outlook.losing == outlook.turns
}

/// Whether no turn wins, and some but not all let the opponent win immediately.
pub(super) fn has_a_choice(session: &dyn Game) -> bool {
    let outlook = session.outlook();
    outlook.winning == 0 && outlook.losing > 0 && outlook.losing < outlook.turns
}

fn random_game(
    ruleset: &dyn Ruleset,
    kind: impl Fn(&dyn Game) -> bool,
    rng: &mut impl Rng,
) -> Vec<String> {
    let mut session = ruleset.start();
    let mut of_kind = Vec::new();
    while session.outcome().is_none() {
        let me = session.to_move();
        if kind(&*session) {
            of_kind.push(session.as_start());
        }
        while session.outcome().is_none() && session.to_move() == me {
            let moves: Vec<usize> = (0..session.count_moves()).collect();
            let Some(&index) = moves.choose(rng) else {
                return of_kind;
            };
            if !session.make_move(index) {
                return of_kind;
            }
        }
    }
    of_kind
}
