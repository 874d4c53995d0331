//! From the mistakes in recorded games to puzzles, and a choice of them.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use super::{HIGHEST_LEVEL, Puzzle, PuzzleKind, VERSION};
use referee_games::game::registry::{GAMES, UnknownRuleset, find};
use referee_games::game::{Game, Rejection, Ruleset, StartError, Turn};
use referee_games::solver::{Limits, Solvers, Value};
use referee_match::analysis::{Step, steps};
use referee_match::play::violation::Violation;
use referee_match::record::Record;
use referee_text::quote;

/// Why no puzzles can be made of a record.
#[derive(Debug, thiserror::Error)]
pub enum MakingError {
    /// Its game, by name, has no solver.
    #[error(
        "it is a game of {}; puzzles are made of {}, which can be solved; leave it out",
        quote(.0.as_bytes()),
        GAMES.iter().map(|game| game.name).collect::<Vec<_>>().join(", ")
    )]
    NoSolver(String),
    #[error(transparent)]
    Ruleset(#[from] UnknownRuleset),
    #[error(transparent)]
    Position(#[from] StartError),
    #[error(transparent)]
    Violation(#[from] Violation),
    #[error(transparent)]
    Rejection(#[from] Rejection),
}

/// Positions that are equal by symmetry.
#[derive(Debug, Default)]
struct PositionClass {
    edition: usize,
    free: usize,
    turns: Vec<TurnInGame>,
}

/// A bot's answer to one of the positions of a class.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
struct TurnInGame {
    request: String,
    answer: String,
    /// The bot's name.
    by: String,
}

/// How many bots were asked in a position, and how many of them failed.
struct FailedBots {
    asked: usize,
    failed: usize,
}

/// A game by its rules and pieces, as records have them.
type GameEdition = (String, String, Option<String>);

fn solvable(record: &Record) -> Result<Arc<dyn Ruleset>, MakingError> {
    let ruleset = find(&record.game).map(|_| record.ruleset()).transpose()?;
    let solvable = ruleset.filter(|ruleset| ruleset.info().is_solvable());
    solvable.ok_or_else(|| MakingError::NoSolver(record.game.clone()))
}

/// Collects positions of games.
#[derive(Debug)]
pub struct Maker {
    solvers: Solvers,
    editions: Vec<(GameEdition, Arc<dyn Ruleset>)>,
    by_class: HashMap<(usize, String), PositionClass>,
    /// Turns and positions that were not proven in time.
    pub unproven: u64,
}

impl Maker {
    pub fn new(solvers: Solvers) -> Self {
        Self {
            solvers,
            editions: Vec::new(),
            by_class: HashMap::new(),
            unproven: 0,
        }
    }

    pub fn positions(&self) -> usize {
        self.by_class.len()
    }

    /// Its positions that can be proven quickly. Checks the record against the rules.
    pub fn add(&mut self, record: &Record) -> Result<(), MakingError> {
        let key = (
            record.game.clone(),
            record.rules.clone(),
            record.pieces.clone(),
        );
        let known = self.editions.iter().position(|(known, _)| *known == key);
        let edition = known.unwrap_or(self.editions.len());
        if known.is_none() {
            self.editions.push((key, solvable(record)?));
        }
        let ruleset = &*self.editions[edition].1;
        let steps = steps(ruleset, record)?;
        let sides = [record.first, record.first.other()];
        for (index, Step { before, turn }) in steps.into_iter().enumerate() {
            if let Some(provable) = before.solvable().filter(|before| before.is_provable()) {
                let class = self.by_class.entry((edition, provable.class()));
                let class = class.or_default();
                (class.edition, class.free) = (edition, before.free_cells());
                class.turns.push(TurnInGame {
                    request: before.request(),
                    answer: turn.text,
                    by: record.bots[sides[record.side_of(index)]].name.clone(),
                });
            }
        }
        Ok(())
    }

    /// A puzzle of each position at which a bot failed. `limits` are for a position, for a turn, and for all turns of a
    /// position. `at` is called before each position, and says whether to go on.
    pub fn solve(
        &mut self,
        limits: &dyn Fn() -> Limits,
        mut at: impl FnMut() -> bool,
    ) -> Result<Vec<Puzzle>, MakingError> {
        let mut all: Vec<PositionClass> =
            std::mem::take(&mut self.by_class).into_values().collect();
        // What is proven of later positions, which are easier, helps with those before.
        all.sort_by(|a, b| (a.free, &a.turns).cmp(&(b.free, &b.turns)));
        let mut puzzles = Vec::new();
        for class in all {
            if !at() {
                break;
            }
            puzzles.extend(self.puzzle(&class, limits)?);
        }
        Ok(puzzles)
    }

    /// `None` where no bot failed, or where it is not proven that one did.
    fn puzzle(
        &mut self,
        class: &PositionClass,
        limits: &dyn Fn() -> Limits,
    ) -> Result<Option<Puzzle>, MakingError> {
        let Some(first) = class.turns.first() else {
            return Ok(None);
        };
        let ((game, rules, pieces), ruleset) = &self.editions[class.edition];
        let (ruleset, edition) = (
            Arc::clone(ruleset),
            (game.clone(), rules.clone(), pieces.clone()),
        );
        let position = ruleset.read_request(&first.request)?;
        let value = match position.value(&self.solvers, &limits()) {
            Some(Value::Loss) => return Ok(None),
            Some(value) => value,
            None => {
                self.unproven += class.turns.len() as u64;
                return Ok(None);
            }
        };
        let bots = self.failed_bots(class, &*ruleset, value, limits)?;
        if bots.failed == 0 {
            return Ok(None);
        }
        let Some(turns) = self.proven_turns(&*position, value, &limits()) else {
            self.unproven += 1;
            return Ok(None);
        };
        let Some(kind) = PuzzleKind::of(position.to_move(), value, &turns) else {
            return Ok(None);
        };
        let right = turns.iter().filter(|(_, keeps)| *keeps);
        let answers: Vec<String> = right.map(|(turn, _)| turn.text.clone()).collect();
        let solvable = position.solvable();
        let level = solvable.and_then(|position| position.look_ahead(&answers));
        let (game, rules, pieces) = edition;
        let mut puzzle = Puzzle {
            v: VERSION,
            id: String::new(),
            game,
            rules,
            pieces,
            position: position.request(),
            kind,
            value: value.name().to_owned(),
            answers,
            turns: turns.len(),
            free: class.free,
            level: level.unwrap_or(HIGHEST_LEVEL),
            asked: bots.asked,
            failed: bots.failed,
        };
        puzzle.id = puzzle.id_of_question();
        Ok(Some(puzzle))
    }

    /// Bots whose turns are proven to keep the value of the position or not. Counts the others.
    fn failed_bots(
        &mut self,
        class: &PositionClass,
        ruleset: &dyn Ruleset,
        value: Value,
        limits: &dyn Fn() -> Limits,
    ) -> Result<FailedBots, MakingError> {
        let (mut asked, mut failed) = (BTreeSet::new(), BTreeSet::new());
        for turn in &class.turns {
            let position = ruleset.read_request(&turn.request)?;
            let after = position.after(&turn.answer)?.after;
            let after = after.solvable();
            let keeps = after.and_then(|after| after.keeps(&self.solvers, value, &limits()));
            let Some(keeps) = keeps else {
                self.unproven += 1;
                continue;
            };
            asked.insert(&turn.by);
            if !keeps {
                failed.insert(&turn.by);
            }
        }
        Ok(FailedBots {
            asked: asked.len(),
            failed: failed.len(),
        })
    }

    /// All turns, each with whether it keeps the value of the position; `None` if one is not proven within the limits.
    fn proven_turns(
        &self,
        position: &dyn Game,
        value: Value,
        limits: &Limits,
    ) -> Option<Vec<(Turn, bool)>> {
        let turns = position.turns().map(|turn| {
            let after = turn.after.solvable()?;
            let keeps = after.keeps(&self.solvers, value, limits)?;
            Some((turn, keeps))
        });
        turns.collect()
    }
}

/// At most `limit` puzzles: five of the first level for four of the second, and so on to one of the fifth, because most
/// opponents punish an easy mistake; and as many of every kind within a level. Those come first at which most bots failed.
/// The result is in the order of levels, kinds and ids.
pub fn spread(puzzles: Vec<Puzzle>, limit: Option<usize>) -> Vec<Puzzle> {
    let mut levels: BTreeMap<u32, BTreeMap<_, Vec<Puzzle>>> = BTreeMap::new();
    for puzzle in puzzles {
        let kinds = levels.entry(puzzle.level).or_default();
        kinds.entry(puzzle.kind).or_default().push(puzzle);
    }
    let mut queues: Vec<(usize, Vec<Puzzle>)> = Vec::new();
    for (level, kinds) in levels {
        let groups = kinds.into_values().map(|mut group| {
            group.sort_by(|a, b| (b.failed.cmp(&a.failed)).then_with(|| a.id.cmp(&b.id)));
            (1, group)
        });
        let share = HIGHEST_LEVEL.saturating_sub(level) + 1;
        queues.push((share as usize, in_turn(groups.collect())));
    }
    let mut chosen = in_turn(queues);
    chosen.truncate(limit.unwrap_or(usize::MAX));
    chosen.sort_by(|a, b| (a.level, a.kind, &a.id).cmp(&(b.level, b.kind, &b.id)));
    chosen
}

/// The first of each group, then the next of each, and so on; so many at a time.
fn in_turn<T>(groups: Vec<(usize, Vec<T>)>) -> Vec<T> {
    let groups = groups
        .into_iter()
        .map(|(count, group)| (count, group.into_iter()));
    let mut groups: Vec<_> = groups.collect();
    let mut all = Vec::new();
    loop {
        let before = all.len();
        for (count, group) in &mut groups {
            all.extend(group.take(*count));
        }
        if all.len() == before {
            return all;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::in_turn;

    #[test]
    fn groups_take_turns() {
        let groups = vec![
            (1, vec![1, 2, 3]),
            (1, vec![]),
            (3, vec![4]),
            (2, vec![5, 6, 7]),
        ];
        assert_eq!(in_turn(groups), [1, 4, 5, 6, 2, 7, 3]);
    }
}
