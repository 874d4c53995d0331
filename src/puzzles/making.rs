//! From the mistakes in recorded games to puzzles, and a choice of them.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use super::{HIGHEST_LEVEL, Kind, Puzzle, VERSION};
use crate::analysis::{Step, steps};
use crate::game::Game;
use crate::record::Record;
use crate::solver::{Limits, Solvers, Value};

/// Positions that are equal by symmetry.
#[derive(Debug, Default)]
struct Met {
    edition: usize,
    free: usize,
    /// As a bot was asked, its answer and its name.
    turns: Vec<(String, String, String)>,
}

/// A game by its rules and pieces, as records have them.
type Edition = (String, String, Option<String>);

/// Collects positions of games.
#[derive(Debug)]
pub struct Maker {
    solvers: Solvers,
    editions: Vec<(Edition, Arc<dyn Game>)>,
    by_class: HashMap<(usize, String), Met>,
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

    /// Its positions that can be proven quickly. Checks the record against the rules, which `rules` makes of it.
    pub fn add(
        &mut self,
        record: &Record,
        rules: fn(&Record) -> Result<Arc<dyn Game>, String>,
    ) -> Result<(), String> {
        let key = (
            record.game.clone(),
            record.rules.clone(),
            record.pieces.clone(),
        );
        let known = self.editions.iter().position(|(known, _)| *known == key);
        let edition = known.unwrap_or(self.editions.len());
        if known.is_none() {
            self.editions.push((key, rules(record)?));
        }
        let ruleset = &*self.editions[edition].1;
        let steps = steps(ruleset, record).map_err(|violation| violation.to_string())?;
        let sides = [record.first, record.first.other()];
        for (index, Step { before, turn }) in steps.into_iter().enumerate() {
            if before.is_provable() {
                let met = self.by_class.entry((edition, before.class()));
                let met = met.or_default();
                (met.edition, met.free) = (edition, before.free_cells());
                let name = record.bots[sides[record.side_of(index)]].name.clone();
                met.turns.push((before.request(), turn.text, name));
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
    ) -> Result<Vec<Puzzle>, String> {
        let mut all: Vec<Met> = std::mem::take(&mut self.by_class).into_values().collect();
        // What is proven of later positions, which are easier, helps with those before.
        all.sort_by(|a, b| (a.free, &a.turns).cmp(&(b.free, &b.turns)));
        let mut puzzles = Vec::new();
        for met in all {
            if !at() {
                break;
            }
            puzzles.extend(self.puzzle(&met, limits)?);
        }
        Ok(puzzles)
    }

    fn puzzle(&mut self, met: &Met, limits: &dyn Fn() -> Limits) -> Result<Option<Puzzle>, String> {
        let Some((position, ..)) = met.turns.first() else {
            return Ok(None);
        };
        let ((game, rules, pieces), ruleset) = &self.editions[met.edition];
        let position = ruleset.read_request(position)?;
        let value = match position.value(&self.solvers, &limits()) {
            Some(Value::Loss) => return Ok(None),
            Some(value) => value,
            None => {
                self.unproven += met.turns.len() as u64;
                return Ok(None);
            }
        };
        let (mut asked, mut failed) = (BTreeSet::new(), BTreeSet::new());
        for (request, answer, name) in &met.turns {
            let turn = ruleset.read_request(request)?.after(answer);
            let turn = turn.map_err(|rejection| rejection.text().to_owned())?;
            let keeps = turn.after.keeps(&self.solvers, value, &limits());
            let Some(keeps) = keeps else {
                self.unproven += 1;
                continue;
            };
            asked.insert(name);
            if !keeps {
                failed.insert(name);
            }
        }
        if failed.is_empty() {
            return Ok(None);
        }
        let of_all = limits();
        let turns = position.turns().map(|turn| {
            let keeps = turn.after.keeps(&self.solvers, value, &of_all)?;
            Some((turn, keeps))
        });
        let Some(turns) = turns.collect::<Option<Vec<_>>>() else {
            self.unproven += 1;
            return Ok(None);
        };
        let Some(kind) = Kind::of(position.to_move(), value, &turns) else {
            return Ok(None);
        };
        let right = turns.iter().filter(|(_, keeps)| *keeps);
        let answers: Vec<String> = right.map(|(turn, _)| turn.text.clone()).collect();
        let level = position.look_ahead(&answers);
        let mut puzzle = Puzzle {
            v: VERSION,
            id: String::new(),
            game: game.clone(),
            rules: rules.clone(),
            pieces: pieces.clone(),
            position: position.request(),
            kind,
            value: value.name().to_owned(),
            answers,
            turns: turns.len(),
            free: met.free,
            level: level.unwrap_or(HIGHEST_LEVEL),
            asked: asked.len(),
            failed: failed.len(),
        };
        puzzle.id = puzzle.id_of_question();
        Ok(Some(puzzle))
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
