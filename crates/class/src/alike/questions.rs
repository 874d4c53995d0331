//! The positions that bots are asked about, as they look in each round, and what simple habits answer there.

use std::collections::HashSet;

use rand::rngs::ChaCha8Rng;
use rand::seq::IndexedRandom as _;
use rand::{RngExt as _, SeedableRng as _};
use serde::{Deserialize, Serialize};

use referee_games::game::{Game, Ruleset, Turn};
use referee_games::solver::Value;
use referee_match::analysis::appraisal::Appraiser;
use referee_stats::alike::{AlikeQuestion, ROUNDS};

/// With fewer turns to choose from, an answer says little.
const LEAST_TURNS: usize = 6;

/// A choice between so many equally good turns says something.
const LEAST_EQUAL: usize = 3;

/// A wrong answer is evidence only where at most one legal turn in this many is right.
const FEW_RIGHT: usize = 4;

/// At most one in so many questions is of that kind.
const EVERY: usize = 4;

const GAMES: usize = 20;

/// A number above those of rows, cells and pieces.
const MOST: usize = 1 << 10;

/// Indices of a turn's two parts, a cell and a piece, among all that come up, in order.
type CellAndPiece = [usize; 2];

#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct AskedPosition {
    /// By round: as [`Ruleset::start_from`] reads it.
    pub starts: [String; ROUNDS],
    /// By round: the same turns, in canonical form.
    pub turns: [Vec<String>; ROUNDS],
    /// Whether a turn is among the best ones; without a solver all are.
    pub best: Vec<bool>,
    /// What each habit answers in each round.
    habits: Vec<[usize; ROUNDS]>,
}

impl AskedPosition {
    /// `choices`: of the bots.
    pub fn question(
        &self,
        choices: impl Iterator<Item = [Option<usize>; ROUNDS]>,
    ) -> AlikeQuestion {
        let habits = self.habits.iter().map(|answers| answers.map(Some));
        AlikeQuestion {
            prior: self.prior(),
            choices: choices.chain(habits).collect(),
        }
    }

    /// Half of all answers are among the best ones, the other half anywhere.
    fn prior(&self) -> Vec<f64> {
        let count = |all: usize| u32::try_from(all.max(1)).map_or(1.0, f64::from);
        let any = 0.5 / count(self.best.len());
        let good = 0.5 / count(self.right());
        let best = self.best.iter();
        best.map(|best| if *best { any + good } else { any })
            .collect()
    }

    pub fn right(&self) -> usize {
        self.best.iter().filter(|best| **best).count()
    }

    fn has_few_right(&self) -> bool {
        self.right() * FEW_RIGHT <= self.best.len()
    }
}

/// The positions that have been found, and where the search goes on: the same ones are found however often it was
/// interrupted.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Drawn {
    pub positions: Vec<AskedPosition>,
    /// Random games that were looked at.
    games: usize,
}

impl Drawn {
    /// Whether there are `count` positions, or no more can be found.
    pub const fn is_complete(&self, count: usize) -> bool {
        self.positions.len() >= count || self.games >= count * GAMES
    }
}

/// What positions are drawn from.
#[derive(Debug)]
pub struct QuestionSource<'a> {
    pub ruleset: &'a dyn Ruleset,
    /// `None`: of a game without a solver.
    pub appraiser: Option<&'a Appraiser>,
    /// As it was for the first of them.
    pub random: ChaCha8Rng,
}

/// Up to `count` positions, each of another random game, after those that are `drawn`, until `is_over` says that these are
/// enough.
pub fn draw(
    source: QuestionSource<'_>,
    count: usize,
    mut drawn: Drawn,
    is_over: impl Fn(usize) -> bool,
) -> Drawn {
    let QuestionSource {
        ruleset,
        appraiser,
        mut random,
    } = source;
    let random = &mut random;
    let pieces = pieces(ruleset);
    let mut known = HashSet::new();
    let is_program = ruleset.program().is_some();
    // To play the games of before once more takes hundreds of questions to a program for each: there each has its own
    // generator.
    let mut of_program = 0_u64;
    if is_program {
        of_program = random.random();
        known.extend(drawn.positions.iter().map(|one| one.starts[0].clone()));
    } else {
        for _ in 0..drawn.games {
            known.extend(of_random_game(ruleset, random).map(|game| game.as_start()));
        }
    }
    let mut next_game = |number: usize| {
        if is_program {
            let seed = of_program.wrapping_add(number as u64);
            of_random_game_of_program(ruleset, &mut ChaCha8Rng::seed_from_u64(seed))
        } else {
            of_random_game(ruleset, random)
        }
    };
    let found = &mut drawn.positions;
    let is_few = |position: &&AskedPosition| position.has_few_right();
    let mut few = found.iter().filter(is_few).count();
    for _ in drawn.games..count * GAMES {
        if found.len() == count || is_over(found.len()) {
            break;
        }
        drawn.games += 1;
        let drawn = next_game(drawn.games).filter(|game| known.insert(game.as_start()));
        let Some(position) = drawn.and_then(|game| judged(ruleset, &*game, appraiser, &pieces))
        else {
            continue;
        };
        if position.has_few_right() {
            if few == count / EVERY {
                continue;
            }
            few += 1;
        }
        found.push(position);
    }
    drawn
}

/// In which no side lets the other win immediately without need. No side can win immediately in the position, and the solver can
/// tell its value.
fn of_random_game(ruleset: &dyn Ruleset, random: &mut ChaCha8Rng) -> Option<Box<dyn Game>> {
    let mut game = ruleset.start();
    let mut found = Vec::new();
    while game.outcome().is_none() {
        let me = game.to_move();
        let turns: Vec<Turn> = game.turns().collect();
        // One cell less than can be proven in a second: a hundred positions are wanted.
        let info = ruleset.info();
        let is_early = info.is_solvable() && game.free_cells() >= info.provable_cells;
        if !is_early && turns.len() >= LEAST_TURNS && !turns.iter().any(|turn| turn.wins(me)) {
            found.push(game.clone());
        }
        let is_quiet = |turn: &&Turn| turn.after.outcome().is_none() && !turn.after.lets_win(me);
        let quiet: Vec<&Turn> = turns.iter().filter(is_quiet).collect();
        let quiet = quiet.choose(random).copied();
        game = quiet.or_else(|| turns.choose(random))?.after.clone();
    }
    found.choose(random).cloned()
}

/// Its turns are made without a look at what they allow: that is a question to the program for every pair of turns. Where
/// most turns let the opponent win immediately, the answer would say little: one of them is tried.
fn of_random_game_of_program(
    ruleset: &dyn Ruleset,
    random: &mut ChaCha8Rng,
) -> Option<Box<dyn Game>> {
    let mut game = ruleset.start();
    let mut found = Vec::new();
    while game.outcome().is_none() {
        let moves = game.count_moves();
        if moves >= LEAST_TURNS {
            found.push(game.clone());
        }
        if moves == 0 || !game.make_move(random.random_range(0..moves)) {
            return None;
        }
    }
    let chosen = found.choose(random)?;
    let mut tried = chosen.clone();
    let is_made = tried.make_move(random.random_range(0..chosen.count_moves()));
    let says = is_made && !tried.lets_win(chosen.to_move()) && !chosen.can_win_at_once();
    says.then(|| chosen.clone())
}

/// `None` where an answer would say little, or the solver did not tell in time.
fn judged(
    ruleset: &dyn Ruleset,
    game: &dyn Game,
    appraiser: Option<&Appraiser>,
    pieces: &[char],
) -> Option<AskedPosition> {
    let me = game.to_move();
    let turns: Vec<Turn> = game.turns().collect();
    let best: Vec<bool> = match appraiser {
        Some(appraiser) => {
            let found = appraiser.position(game);
            let value = found.value.filter(|_| found.undecided == 0)?;
            let says = if found.best.len() * FEW_RIGHT <= turns.len() {
                value > Value::Loss
            } else {
                found.best.len() >= LEAST_EQUAL
            };
            if !says {
                return None;
            }
            let is_best = |turn: &Turn| found.best.contains(&turn.text);
            turns.iter().map(is_best).collect()
        }
        None => vec![true; turns.len()],
    };
    let all = vec![true; turns.len()];
    let is_safe = |turn: &Turn| ruleset.program().is_some() || !turn.after.lets_win(me);
    let safe: Vec<bool> = turns.iter().map(is_safe).collect();
    let texts: Vec<String> = turns.into_iter().map(|turn| turn.text).collect();
    let parts = cells_and_pieces(&texts);
    let views: [AskedView; ROUNDS] = std::array::from_fn(|round| {
        view(ruleset, game, round, &parts, pieces).unwrap_or_else(|| AskedView {
            start: game.as_start(),
            turns: texts.clone(),
            turned: 0,
        })
    });
    let turned = views.each_ref().map(|view| view.turned);
    let columns = by_column(game, &texts, &parts);
    let mut habits = Vec::new();
    for kept in [&all, &safe, &best] {
        for parts in [Some(&parts), columns.as_ref()].into_iter().flatten() {
            habits.extend(firsts(parts, kept, turned));
        }
    }
    Some(AskedPosition {
        starts: views.each_ref().map(|view| view.start.clone()),
        turns: views.map(|view| view.turns),
        best,
        habits,
    })
}

fn cells_and_pieces(turns: &[String]) -> Vec<CellAndPiece> {
    let number = |part: usize| {
        let mut known: Vec<&str> = Vec::new();
        let words = turns.iter().map(|turn| turn.split(' ').nth(part));
        let numbers = words.map(|word| {
            let word = word.unwrap_or_default();
            let place = known.iter().position(|other| *other == word);
            place.unwrap_or_else(|| {
                known.push(word);
                known.len() - 1
            })
        });
        numbers.collect::<Vec<usize>>()
    };
    let both = number(0).into_iter().zip(number(1));
    both.map(|(first, second)| [first, second]).collect()
}

/// With cells in the order of the columns; `None` in games whose cells have no names.
fn by_column(
    game: &dyn Game,
    turns: &[String],
    parts: &[CellAndPiece],
) -> Option<Vec<CellAndPiece>> {
    let names = game.picture(None).cell_names;
    let all = turns.iter().zip(parts).map(|(turn, part)| {
        let word = turn.split(' ').next()?;
        let mut rows = names.iter().enumerate();
        let (row, column) =
            rows.find_map(|(row, names)| Some((row, names.iter().position(|name| name == word)?)))?;
        Some([column * MOST + row, part[1]])
    });
    all.collect()
}

/// The symbols of all pieces, in order.
fn pieces(ruleset: &dyn Ruleset) -> Vec<char> {
    let start = ruleset.start();
    let turns = start.turns();
    let last = turns.filter_map(|turn| turn.text.split(' ').nth(1)?.chars().next());
    last.collect()
}

struct AskedView {
    start: String,
    turns: Vec<String>,
    /// Bit 0: its cells are in the opposite order; bit 1: its pieces are.
    turned: usize,
}

/// The same position by symmetry: a bot that takes the first of several turns takes another one there. `None` where that is
/// not the same position.
fn view(
    ruleset: &dyn Ruleset,
    game: &dyn Game,
    turned: usize,
    own: &[CellAndPiece],
    pieces: &[char],
) -> Option<AskedView> {
    // Only of a game with a solver is it known that the other position is the same. Without one, what a start says is
    // known to the game alone.
    let class = game.solvable()?.class();
    let start = game.as_start();
    let (board, hand) = start.split_once(' ')?;
    let seen = |symbol: char| match pieces.iter().position(|piece| *piece == symbol) {
        Some(place) if turned & 2 > 0 => pieces[pieces.len() - 1 - place],
        _ => symbol,
    };
    let cells = board.chars().map(seen);
    let board: String = match turned & 1 {
        0 => cells.collect(),
        _ => cells.rev().collect(),
    };
    let hand: String = hand.chars().map(seen).collect();
    let other = ruleset.start_from(&format!("{board} {hand}")).ok()?;
    if other.solvable()?.class() != class {
        return None;
    }
    let texts: Vec<String> = other.turns().map(|turn| turn.text).collect();
    let others = cells_and_pieces(&texts);
    let most = [0, 1].map(|part| own.iter().map(|parts| parts[part]).max());
    let turn = |parts: &CellAndPiece| {
        let mut wanted = *parts;
        for part in [0, 1] {
            if turned >> part & 1 > 0 {
                wanted[part] = most[part]? - parts[part];
            }
        }
        let place = others.iter().position(|parts| *parts == wanted)?;
        Some(texts[place].clone())
    };
    Some(AskedView {
        start: other.as_start(),
        turns: own.iter().map(turn).collect::<Option<_>>()?,
        turned,
    })
}

/// The first and last turns of those that are kept, by one part and then by the other, as seen in each round.
fn firsts(parts: &[CellAndPiece], kept: &[bool], turned: [usize; ROUNDS]) -> Vec<[usize; ROUNDS]> {
    let is_kept = |turn: &usize| kept[*turn] || !kept.contains(&true);
    let turns: Vec<usize> = (0..parts.len()).filter(is_kept).collect();
    let first = |number: usize| {
        let (major, order) = (number / 4, number % 4);
        turned.map(|turned| {
            let seen = |turn: usize, part: usize| match (turned ^ order) >> part & 1 {
                0 => parts[turn][part],
                _ => MOST * MOST - parts[turn][part],
            };
            let by = |turn: &&usize| (seen(**turn, major), seen(**turn, 1 - major));
            turns.iter().min_by_key(by).copied().unwrap_or_default()
        })
    };
    (0..8).map(first).collect()
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use referee_games::game::registry::{Choices, find};
    use referee_games::solver::{SolverOptions, Solvers};
    use referee_match::analysis::Effort;
    use referee_match::seed::{Purpose, generator};

    fn drawn(name: &str, count: usize) -> Vec<AskedPosition> {
        let game = find(name).expect("it is known").ruleset(Choices::default());
        let solvers = Solvers::new(SolverOptions::default());
        let appraiser = Appraiser::new(
            solvers,
            game.info().words,
            Effort::Nodes(1 << 22),
            Arc::default(),
        );
        let source = QuestionSource {
            ruleset: &*game,
            appraiser: Some(&appraiser),
            random: generator(1, Purpose::Alike, [0, 0]),
        };
        draw(source, count, Drawn::default(), |_| false).positions
    }

    #[test]
    fn interrupted_drawing_finds_the_same_positions() {
        let game = find("four-in-a-row")
            .expect("it is known")
            .ruleset(Choices::default());
        let all = |step: usize| {
            let mut drawn = Drawn::default();
            while !drawn.is_complete(12) {
                let calls = std::cell::Cell::new(0);
                let is_over = |_| calls.replace(calls.get() + 1) == step;
                let source = QuestionSource {
                    ruleset: &*game,
                    appraiser: None,
                    random: generator(1, Purpose::Alike, [0, 0]),
                };
                drawn = draw(source, 12, drawn, is_over);
            }
            drawn
                .positions
                .into_iter()
                .map(|one| one.starts)
                .collect::<Vec<_>>()
        };
        assert_eq!(all(usize::MAX).len(), 12);
        for step in [1, 5] {
            assert_eq!(all(step), all(usize::MAX));
        }
    }

    #[test]
    fn a_position_is_the_same_in_every_round() {
        let game = find("quarto").expect("Quarto").ruleset(Choices::default());
        let positions = drawn("quarto", 12);
        assert_eq!(positions.len(), 12);
        for position in &positions {
            let starts: HashSet<&String> = position.starts.iter().collect();
            assert_eq!(starts.len(), ROUNDS, "{starts:?}");
            let of = |round: usize| game.start_from(&position.starts[round]).expect("a start");
            for turn in (0..position.best.len()).step_by(7) {
                let class = |round: usize| {
                    let after = of(round).after(&position.turns[round][turn]);
                    let after = after.expect("a turn").after;
                    after.solvable().expect("there is a solver").class()
                };
                for round in 1..ROUNDS {
                    assert_eq!(class(0), class(round), "{}", position.starts[0]);
                }
            }
            assert!(position.right() >= LEAST_EQUAL || position.has_few_right());
            let sum: f64 = position.prior().iter().sum();
            assert!((sum - 1.0).abs() < 1e-9);
        }
        let few = positions.iter().filter(|position| position.has_few_right());
        assert!((1..=3).contains(&few.count()));
    }

    /// Where no symmetry is known, the rounds differ by the seed only.
    #[test]
    fn another_game_has_questions_too() {
        let positions = drawn("four-in-a-row", 5);
        assert_eq!(positions.len(), 5);
        assert!(
            positions
                .iter()
                .all(|position| position.starts[0] == position.starts[3])
        );
    }

    #[test]
    fn habits_see_the_board_as_bots_do() {
        for position in drawn("quarto", 4) {
            for round in 0..ROUNDS {
                let text = |habit: usize| &position.turns[round][position.habits[habit][round]];
                let mut cells: Vec<u8> = position.turns[round]
                    .iter()
                    .filter_map(|turn| turn.split(' ').next()?.parse::<u8>().ok())
                    .collect();
                cells.sort_unstable();
                assert!(
                    text(0).starts_with(&format!("{} ", cells[0])),
                    "{}",
                    text(0)
                );
                let last = format!("{} ", cells[cells.len() - 1]);
                assert!(text(3).starts_with(&last), "{}", text(3));
            }
        }
    }
}
