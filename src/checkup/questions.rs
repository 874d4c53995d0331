//! The positions that a bot is asked about: from random games, the same in every check-up.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};

use rand::Rng;
use rand::seq::IndexedRandom as _;

use super::SEED;
use crate::seed::{self, Purpose};
use crate::session::{Ruleset, Session};
use crate::threads::locked;

/// Random games that are searched for positions of a kind.
const SEARCH: usize = 2000;

/// Of check-ups by one ruleset. Each kind is searched for once: some are rare, and the search takes longer than most
/// bots take for all their answers.
#[derive(Debug, Default)]
pub struct Questions {
    found: Mutex<BTreeMap<Wanted, Arc<[String]>>>,
}

/// The name of a kind, and how many of it.
type Wanted = (&'static str, usize);

impl Questions {
    /// Up to `count` positions of the kind of this name.
    pub(super) fn positions(
        &self,
        ruleset: &dyn Ruleset,
        name: &'static str,
        count: usize,
        kind: impl Fn(&dyn Session) -> bool,
    ) -> Arc<[String]> {
        let mut found = locked(&self.found);
        let of_kind = found
            .entry((name, count))
            .or_insert_with(|| positions(ruleset, count, kind).into());
        Arc::clone(of_kind)
    }
}

/// As records hold them.
fn positions(
    ruleset: &dyn Ruleset,
    count: usize,
    kind: impl Fn(&dyn Session) -> bool,
) -> Vec<String> {
    let mut rng = seed::generator(SEED, Purpose::Checkup, [0, 0]);
    let mut found = Vec::new();
    for _ in 0..SEARCH {
        let of_kind = random_game(ruleset, &kind, &mut rng);
        // One position a game, so that they differ.
        if let Some(position) = of_kind.choose(&mut rng) {
            found.push(position.clone());
        }
        if found.len() == count {
            break;
        }
    }
    found
}

/// On the board of this position; `None` when no game can start there.
pub(super) fn reopened(ruleset: &dyn Ruleset, session: &dyn Session) -> Option<String> {
    let mut board = String::new();
    session.write_board(&mut board);
    Some(position_of(&*ruleset.start_from(&board).ok()?))
}

/// As records hold it.
fn position_of(session: &dyn Session) -> String {
    let mut position = String::new();
    session.write_start(&mut position);
    position
}

/// Whether the game is over after any turn.
pub(super) fn is_last_turn(session: &dyn Session) -> bool {
    let outlook = session.outlook();
    outlook.ending == outlook.turns
}

/// Whether no turn wins, and the opponent can win immediately after any.
pub(super) fn is_lost_at_once(session: &dyn Session) -> bool {
    let outlook = session.outlook();
    outlook.winning == 0 && outlook.losing == outlook.turns
}

/// Whether no turn wins, and some but not all let the opponent win immediately.
pub(super) fn has_a_choice(session: &dyn Session) -> bool {
    let outlook = session.outlook();
    outlook.winning == 0 && outlook.losing > 0 && outlook.losing < outlook.turns
}

fn random_game(
    ruleset: &dyn Ruleset,
    kind: impl Fn(&dyn Session) -> bool,
    rng: &mut impl Rng,
) -> Vec<String> {
    let mut session = ruleset.start();
    let mut of_kind = Vec::new();
    while session.outcome().is_none() {
        let me = session.to_move();
        if kind(&*session) {
            of_kind.push(position_of(&*session));
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
