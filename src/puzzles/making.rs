//! From the mistakes in recorded games to puzzles, and a choice of them.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use super::puzzle::{HIGHEST_LEVEL, Puzzle, Question};
use crate::play::replay::Violation;
use crate::record::{BotIndex, Record};
use crate::session::{Prover, Ruleset};
use crate::solver::{Limits, Value};

/// What a search for puzzles may cost.
#[derive(Clone, Debug)]
pub struct Effort {
    /// For a position, for a turn, and for all turns of a position.
    pub time: Duration,
    /// Positions with more free cells are left out.
    pub free: usize,
    /// Ends the search when it is set.
    pub stop: Arc<AtomicBool>,
}

/// With all that are equal to it by symmetry.
#[derive(Debug)]
struct Met {
    question: Question,
    asked: BTreeSet<String>,
    failed: BTreeSet<String>,
}

/// Collects positions of games by the same rules.
#[derive(Debug)]
pub struct Maker<'a> {
    ruleset: &'a dyn Ruleset,
    prover: Prover,
    effort: Effort,
    met: HashMap<String, Met>,
    values: HashMap<String, Option<Value>>,
    unproven: u64,
}

#[derive(Clone, Debug, Default)]
pub struct Made {
    pub puzzles: Vec<Puzzle>,
    /// Turns and positions that were not proven in time.
    pub unproven: u64,
}

impl<'a> Maker<'a> {
    pub fn new(ruleset: &'a dyn Ruleset, prover: Prover, effort: Effort) -> Self {
        Self {
            ruleset,
            prover,
            effort,
            met: HashMap::new(),
            values: HashMap::new(),
            unproven: 0,
        }
    }

    fn limits(&self) -> Limits {
        Limits::within(self.effort.time).or_when(Arc::clone(&self.effort.stop))
    }

    fn is_stopped(&self) -> bool {
        self.effort.stop.load(Ordering::Relaxed)
    }

    /// The error says which turn violates the rules.
    pub fn add(&mut self, record: &Record) -> Result<(), Violation> {
        let violation = |turn, problem| Violation {
            turn: Some(turn),
            problem,
        };
        let start = self.ruleset.start_from(&record.start);
        let mut session = start.map_err(|problem| Violation {
            turn: None,
            problem,
        })?;
        let sides = [record.first, record.first.other()];
        let mut canonical = String::new();
        let mut turns = Vec::new();
        for (index, answer) in record.turns.iter().enumerate() {
            let (mut request, free) = (String::new(), session.free_cells());
            session.write_request(&mut request);
            let by = sides[session.to_move().index()];
            let played = session.play(answer, &mut canonical);
            played.map_err(|_| violation(index + 1, format!("{answer} is not legal")))?;
            if free <= self.effort.free {
                turns.push((index + 1, by, request, canonical.clone()));
            }
        }
        // What is proven of later positions, which are easier, helps with those before.
        for (turn, by, request, answer) in turns.into_iter().rev() {
            if self.is_stopped() {
                break;
            }
            let judged = self.turn(record, by, request, &answer);
            judged.map_err(|problem| violation(turn, problem))?;
        }
        Ok(())
    }

    fn turn(
        &mut self,
        record: &Record,
        by: BotIndex,
        request: String,
        answer: &str,
    ) -> Result<(), String> {
        let class = self.prover.class(&request)?;
        let value = match self.values.get(&class) {
            Some(value) => *value,
            None => self.prover.value(&request, &self.limits())?,
        };
        self.values.insert(class.clone(), value);
        let Some(value) = value else {
            self.unproven += 1;
            return Ok(());
        };
        if value == Value::Loss {
            return Ok(());
        }
        let keeps = self.prover.keeps(&request, answer, value, &self.limits())?;
        let Some(keeps) = keeps else {
            self.unproven += 1;
            return Ok(());
        };
        let name = record.bots[by].name.clone();
        let met = self.met.entry(class).or_insert_with(|| Met {
            question: Question {
                game: record.game.clone(),
                rules: record.rules.clone(),
                pieces: record.pieces.clone(),
                position: request,
            },
            asked: BTreeSet::new(),
            failed: BTreeSet::new(),
        });
        if !keeps {
            met.failed.insert(name.clone());
        }
        met.asked.insert(name);
        Ok(())
    }

    /// Positions at which a bot failed.
    pub fn found(&self) -> usize {
        self.met
            .values()
            .filter(|met| !met.failed.is_empty())
            .count()
    }

    /// Proves all turns of the positions at which a bot failed. `at` is called before each.
    pub fn finish(mut self, mut at: impl FnMut()) -> Result<Made, String> {
        let met = std::mem::take(&mut self.met);
        let mut puzzles = Vec::new();
        for met in met.into_values().filter(|met| !met.failed.is_empty()) {
            at();
            if self.is_stopped() {
                break;
            }
            let request = met.question.position.clone();
            let Some(proof) = self.prover.prove(&request, &self.limits())? else {
                self.unproven += 1;
                continue;
            };
            let counts = (met.failed.len(), met.asked.len());
            let level = |answers: &[String]| {
                let depth = self.ruleset.look_ahead(&request, answers)?;
                Ok(depth.unwrap_or(HIGHEST_LEVEL))
            };
            puzzles.extend(met.question.puzzle(&proof, counts, level)?);
        }
        Ok(Made {
            puzzles,
            unproven: self.unproven,
        })
    }
}

/// At most `limit` puzzles: of every level, five of the first for four of the second, and so on to one of the fifth,
/// as far as there are so many; and as many as possible of every kind within a level. The easier a mistake is to
/// punish, the more opponents punish it: the share of solved puzzles tells more of a bot's strength than with as many
/// of each level.
///
/// Of those alike the ones come first at which most bots failed. The result is in the order of levels, kinds and ids.
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
    let mut groups: Vec<_> = groups
        .into_iter()
        .map(|(count, group)| (count, group.into_iter()))
        .collect();
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
