//! How well `referee alike` tells copies from independent bots: simulated classes of 30 with planted copies.
//!
//! `cargo run --release --example alike -- [CLASSES] [FIRST SEED]` prints the table of docs/alike.md. The bots are
//! functions: each looks ahead as far as its level, and prefers turns by a weighted sum of what people think of in
//! Quarto; ties are broken in an order, or at random.

use std::array::from_fn;
use std::cmp::Reverse;
use std::env::args;
use std::sync::Arc;

use rand::rngs::ChaCha8Rng;
use rand::seq::{IndexedRandom as _, SliceRandom as _};
use rand::{RngExt as _, SeedableRng as _};
use referee::analysis::Effort;
use referee::analysis::appraisal::Appraiser;
use referee::class::alike::questions::{AskedPosition as Asked, Drawn, QuestionSource, draw};
use referee::class::alike::{BLOCK, QUESTIONS};
use referee::game::quarto::{Board, Cell, Piece, PieceSet, Position, Rules, Turn};
use referee::game::{Position as _, registry};
use referee::solver::{SolverOptions, Solvers};
use referee::stats::alike::{AlikePair, AlikeQuestion, ROUNDS, pairs, undecided};

const BOTS: usize = 30;
const PLANTED: usize = 3;
/// Bots of a class that are like the shipped players.
const SHIPPED: usize = 8;
const IDEAS: usize = 18;
/// Nothing; wins and gifts that lose at once; what the opponent can force next; two levels up to perfect play.
const LEVELS: usize = 5;
const KINDS: [&str; 5] = [
    "names changed",
    "ported by hand",
    "order of ties",
    "random tie-break",
    "one level deeper",
];

/// What bots can know of a turn.
struct Facts {
    cell: usize,
    gift: usize,
    worth: [i32; LEVELS],
    /// To somebody who has forgotten the diagonals.
    worth_without_diagonals: i32,
    ideas: [i32; IDEAS],
}

#[derive(Clone)]
struct Bot {
    level: usize,
    forgets_diagonals: bool,
    weights: [i32; IDEAS],
    /// Likes and dislikes of properties and of cells.
    properties: [i32; 4],
    cells: Option<[i32; 16]>,
    /// By gift first; cells and gifts from the last; cells by column.
    order: [bool; 4],
    /// The generator's key where ties are broken at random.
    random: Option<u64>,
    /// The share of answers in which the sum is mistaken.
    slips: f64,
}

fn lines() -> impl Iterator<Item = [usize; 4]> {
    let rows = (0..4).map(|row| from_fn(|i| 4 * row + i));
    let columns = (0..4).map(|column| from_fn(|i| 4 * i + column));
    rows.chain(columns).chain([[0, 5, 10, 15], [3, 6, 9, 12]])
}

/// How many properties they share.
fn common(pieces: &[Piece]) -> i32 {
    let ones = pieces.iter().fold(15, |all, piece| all & piece.bits());
    let zeros = pieces.iter().fold(15, |all, piece| all & !piece.bits());
    sum((ones | zeros).count_ones() as usize)
}

fn sum(count: usize) -> i32 {
    i32::try_from(count).unwrap_or(i32::MAX)
}

fn is_safe(position: &Position) -> bool {
    position.outcome().is_some() || !position.can_win_at_once()
}

fn on(board: &Board, cells: &[usize]) -> Vec<Piece> {
    let cells = cells.iter().filter_map(|&cell| Cell::all().nth(cell));
    cells.filter_map(|cell| board.get(cell)).collect()
}

impl Facts {
    fn new(before: &Position, turn: Turn, after: &Position, is_best: bool) -> Self {
        let is_over = after.outcome().is_some();
        let next = |safe: i32| if is_over { safe } else { forced(after) };
        let one = i32::from(is_safe(after));
        let two = if one > 0 { next(one) } else { 0 };
        let best = i32::from(is_best);
        let three = if two == 1 { best } else { two.max(best) };
        let straight = lines().take(8).filter(|line| {
            let mut pieces = on(after.board(), line);
            pieces.extend(after.hand());
            pieces.len() == 4 && common(&pieces) > 0 && on(after.board(), line).len() == 3
        });
        Self {
            cell: turn.cell.map_or(0, Cell::index),
            gift: turn.gift.map_or(0, Piece::index),
            worth: [0, one, two, three, best],
            worth_without_diagonals: i32::from(is_over || straight.count() == 0),
            ideas: ideas(before, turn, after),
        }
    }
}

/// 0 where the opponent can answer so that every turn after it loses at once, 2 where every answer loses, else 1.
fn forced(after: &Position) -> i32 {
    let mut loses = true;
    for (_, reply) in after.turns() {
        if reply.outcome().is_none() && reply.can_win_at_once() {
            continue;
        }
        loses = false;
        if reply.outcome().is_none() && reply.turns().iter().all(|(_, mine)| !is_safe(mine)) {
            return 0;
        }
    }
    if loses { 2 } else { 1 }
}

fn ideas(before: &Position, turn: Turn, after: &Position) -> [i32; IDEAS] {
    let board = after.board();
    let cell = turn.cell.map_or(0, Cell::index);
    let wins = |piece: Piece| {
        let cells = board.free();
        sum(cells
            .filter(|cell| board.would_win(*cell, piece, Rules::Standard))
            .count())
    };
    let left: Vec<Piece> = after.left().collect();
    let safe = sum(left.iter().filter(|piece| wins(**piece) == 0).count());
    let distance = |other: usize| {
        [cell / 4, cell % 4]
            .map(sum)
            .iter()
            .zip([other / 4, other % 4].map(sum))
            .map(|(a, b)| (a - b).abs())
            .collect::<Vec<i32>>()
    };
    let taken: Vec<usize> = board
        .pieces()
        .map(|(cell, _)| cell.index())
        .filter(|other| *other != cell)
        .collect();
    let beside = |other: &&usize| distance(**other).iter().sum::<i32>() == 1;
    let beside: Vec<usize> = taken.iter().filter(beside).copied().collect();
    let with = |pieces: &[Piece], other: Option<Piece>| -> i32 {
        let Some(other) = other else { return 0 };
        pieces.iter().map(|piece| common(&[*piece, other])).sum()
    };
    let placed: Vec<Piece> = board.pieces().map(|(_, piece)| piece).collect();
    let by_line: Vec<(bool, Vec<Piece>)> = lines()
        .map(|line| (line.contains(&cell), on(board, &line)))
        .collect();
    let count =
        |kind: &dyn Fn(&[Piece]) -> i32| by_line.iter().map(|(_, pieces)| kind(pieces)).sum();
    let through: Vec<&Vec<Piece>> = by_line
        .iter()
        .filter(|(through, _)| *through)
        .map(|(_, pieces)| pieces)
        .collect();
    [
        safe,
        safe % 2,
        count(&|line| i32::from(line.len() == 3 && common(line) > 0)),
        count(&|line| if line.len() == 2 { common(line) } else { 0 }),
        if [5, 6, 9, 10].contains(&cell) {
            3
        } else {
            1 + i32::from([0, 3, 12, 15].contains(&cell))
        },
        sum(taken
            .iter()
            .filter(|other| distance(**other).iter().all(|far| *far <= 1))
            .count()),
        with(&before.hand().into_iter().collect::<Vec<_>>(), turn.gift),
        with(&placed, turn.gift),
        through.iter().map(|line| sum(line.len())).sum(),
        turn.gift
            .map_or(0, |gift| sum(gift.bits().count_ones() as usize)),
        left.iter().map(|piece| wins(*piece)).sum(),
        through
            .iter()
            .filter(|line| line.len() > 1)
            .map(|line| common(line))
            .sum(),
        with(&left, turn.gift),
        with(&on(board, &beside), before.hand()),
        count(&|line| i32::from(line.is_empty())),
        count(&|line| i32::from(line.len() > 1 && common(line) == 0)),
        count(&|line| {
            if let ([a, b], Some(gift)) = (line, turn.gift) {
                common(&[*a, *b, gift])
            } else {
                0
            }
        }),
        taken
            .iter()
            .map(|other| distance(*other).iter().sum::<i32>())
            .sum(),
    ]
}

impl Bot {
    fn answer(&self, turns: &[Facts], number: usize, round: usize) -> usize {
        // In rounds the board is turned around, or the pieces change places with their opposites.
        let cell = |turn: &Facts| {
            if round & 1 > 0 {
                15 - turn.cell
            } else {
                turn.cell
            }
        };
        let gift = |turn: &Facts| {
            if round & 2 > 0 {
                15 - turn.gift
            } else {
                turn.gift
            }
        };
        let worth = |turn: &Facts| {
            if self.forgets_diagonals {
                turn.worth_without_diagonals
            } else {
                turn.worth[self.level]
            }
        };
        let value = |turn: &Facts| -> i32 {
            let mut ideas = turn.ideas;
            if round & 2 > 0 {
                ideas[9] = 4 - ideas[9];
            }
            let properties =
                (0..4).map(|bit| self.properties[bit] * i32::from(gift(turn) >> bit & 1 > 0));
            let liked = self.cells.map_or(0, |cells| cells[cell(turn)]);
            let ideas = ideas
                .iter()
                .zip(&self.weights)
                .map(|(idea, weight)| idea * weight);
            ideas.chain(properties).sum::<i32>() + liked
        };
        let key = |seed: u64| {
            ChaCha8Rng::seed_from_u64(seed ^ ((number as u64) << 20) ^ ((round as u64) << 40))
        };
        let slips = self.slips > 0.0 && key(7).random_bool(self.slips);
        let rank = |turn: &Facts| (worth(turn), if slips { 0 } else { value(turn) });
        let best = turns.iter().map(rank).max();
        let ties: Vec<usize> = (0..turns.len())
            .filter(|turn| Some(rank(&turns[*turn])) == best)
            .collect();
        if let Some(seed) = self.random {
            return ties.choose(&mut key(seed)).copied().unwrap_or_default();
        }
        let [by_gift, last_cell, last_gift, by_column] = self.order;
        let place = |turn: &&usize| {
            let (cell, gift) = (cell(&turns[**turn]), gift(&turns[**turn]));
            let cell = if by_column {
                cell % 4 * 4 + cell / 4
            } else {
                cell
            };
            let cell = if last_cell { 15 - cell } else { cell };
            let gift = if last_gift { 15 - gift } else { gift };
            if by_gift { (gift, cell) } else { (cell, gift) }
        };
        ties.iter().min_by_key(place).copied().unwrap_or_default()
    }

    fn order(random: &mut ChaCha8Rng) -> [bool; 4] {
        [0.25, 0.2, 0.2, 0.15].map(|share| random.random_bool(share))
    }

    /// Like `random`, `wins` and `greedy`, `safe`, `minimax` of two depths, or one that takes the first safe turn.
    fn shipped(random: &mut ChaCha8Rng) -> Self {
        let mut bot = Self {
            level: 1,
            forgets_diagonals: false,
            weights: [0; IDEAS],
            properties: [0; 4],
            cells: None,
            order: Self::order(random),
            random: Some(random.random()),
            slips: 0.0,
        };
        match random.random_range(0..6) {
            0 => bot.level = 0,
            1 => {}
            2 => bot.weights[1] = -1,
            3 => (bot.level, bot.random) = (2, None),
            4 => bot.random = None,
            _ => bot.level = 3,
        }
        bot
    }

    /// One to four ideas.
    fn own(random: &mut ChaCha8Rng) -> Self {
        let mut bot = Self::shipped(random);
        bot.weights = [0; IDEAS];
        for _ in 0..*[1, 1, 2, 2, 2, 3, 3, 4].choose(random).unwrap_or(&1) {
            let weight = *[1, 1, 1, 2, 3, 5, 10].choose(random).unwrap_or(&1);
            let idea = random.random_range(0..IDEAS);
            bot.weights[idea] = if random.random() { weight } else { -weight };
        }
        bot.level = *[0, 1, 1, 1, 1, 2, 2, 2, 3].choose(random).unwrap_or(&1);
        bot.forgets_diagonals = random.random_bool(0.08);
        if random.random_bool(0.2) {
            bot.properties = from_fn(|_| random.random_range(-1..=1));
        }
        if random.random_bool(0.15) {
            bot.cells = Some(from_fn(|_| random.random_range(0..4)));
        }
        bot.random = random.random_bool(0.3).then(|| random.random());
        bot
    }

    fn copied(&self, kind: usize, random: &mut ChaCha8Rng) -> Self {
        let mut copy = self.clone();
        let other = random.random();
        match kind {
            0 => {}
            // Another language has another generator of random numbers, and a mistake creeps in.
            1 => (copy.random, copy.slips) = (self.random.map(|_| other), 0.03),
            2 => {
                copy.random = None;
                for change in [[0, 0], [1, 2], [2, 2], [1, 1]]
                    .choose(random)
                    .into_iter()
                    .flatten()
                {
                    copy.order[*change] = !self.order[*change];
                }
            }
            3 => copy.random = Some(other),
            _ => {
                copy.level = (self.level + 1).min(LEVELS - 1);
                copy.random = self.random.map(|_| other);
            }
        }
        copy
    }
}

/// With the copies: the original, the copy and its kind.
fn class(number: usize, random: &mut ChaCha8Rng) -> (Vec<Bot>, Vec<(usize, usize, usize)>) {
    let mut bots: Vec<Bot> = (0..SHIPPED).map(|_| Bot::shipped(random)).collect();
    bots.extend((SHIPPED..BOTS - PLANTED).map(|_| Bot::own(random)));
    let mut originals: Vec<usize> = (SHIPPED..bots.len()).collect();
    originals.shuffle(random);
    let mut copies = Vec::new();
    for (index, original) in originals.into_iter().take(PLANTED).enumerate() {
        let kind = (number * PLANTED + index) % KINDS.len();
        copies.push((original, bots.len(), kind));
        bots.push(bots[original].copied(kind, random));
    }
    (bots, copies)
}

fn position(start: &str) -> Option<Position> {
    let (set, mut board) = (PieceSet::default(), Board::default());
    let (cells, hand) = start.split_once(' ')?;
    for (cell, symbol) in Cell::all().zip(cells.chars()) {
        if let Some(piece) = set.piece(symbol) {
            let _ = board.place(cell, piece);
        }
    }
    let position = Position::from_board(board, Rules::Standard)?;
    position.holding(set.piece(hand.chars().next()?)?)
}

fn percent(part: usize, all: usize) -> String {
    format!(
        "{:.0}%",
        100.0 * f64::from(sum(part)) / f64::from(sum(all.max(1)))
    )
}

/// What is found where bots are asked no more once none of their pairs can stand out, and how many positions they were
/// asked together.
fn by_blocks(questions: &[AlikeQuestion], bots: usize) -> (Vec<AlikePair>, usize) {
    let (mut asked, mut open, mut positions) = (Vec::new(), vec![true; bots], 0);
    for block in questions.chunks(BLOCK) {
        let of_open = block.iter().cloned().map(|mut question| {
            for (choices, _) in question
                .choices
                .iter_mut()
                .zip(&open)
                .filter(|(_, open)| !**open)
            {
                *choices = [None; ROUNDS];
            }
            question
        });
        asked.extend(of_open);
        positions += block.len() * open.iter().filter(|open| **open).count();
        for (open, is_undecided) in open.iter_mut().zip(undecided(&asked, bots, QUESTIONS)) {
            *open &= is_undecided;
        }
        if !open.contains(&true) {
            break;
        }
    }
    (pairs(&asked, bots), positions)
}

/// How the verdicts by blocks differ from those by all answers: pairs that stand out in one of the two alone.
#[derive(Default)]
struct Differences {
    missed: [usize; 2],
    more: [usize; 2],
    positions: usize,
}

impl Differences {
    fn print(&self, classes: usize, positions: usize) {
        println!(
            "block by block: {:.0} of {positions} positions a bot; {:?} pairs less and {:?} more stand out (independent, \
             copies)",
            f64::from(sum(self.positions)) / f64::from(sum(classes * BOTS)),
            self.missed,
            self.more
        );
    }

    fn add(
        &mut self,
        all: &[AlikePair],
        questions: &[AlikeQuestion],
        planted: &[(usize, usize, usize)],
    ) {
        let (found, positions) = by_blocks(questions, BOTS);
        self.positions += positions;
        let stands_out = |pair: &&AlikePair| pair.stands_out() || pair.is_nearly_equal();
        let names = |pairs: &[AlikePair]| {
            let pairs = pairs.iter().filter(stands_out);
            pairs.map(|pair| (pair.a, pair.b)).collect::<Vec<_>>()
        };
        let is_copy = |pair: &(usize, usize)| planted.iter().any(|(a, b, _)| (*a, *b) == *pair);
        let (all, found) = (names(all), names(&found));
        for pair in all.iter().filter(|pair| !found.contains(pair)) {
            self.missed[usize::from(is_copy(pair))] += 1;
        }
        for pair in found.iter().filter(|pair| !all.contains(pair)) {
            self.more[usize::from(is_copy(pair))] += 1;
        }
    }
}

fn main() -> Result<(), String> {
    let mut numbers = args().skip(1).map(|text| text.parse::<usize>());
    let mut number = |default: usize| {
        numbers
            .next()
            .unwrap_or(Ok(default))
            .map_err(|error| error.to_string())
    };
    let (classes, first) = (number(50)?, number(1)?);
    let quarto = registry::find("quarto")
        .ok_or("there is no Quarto")?
        .ruleset(registry::Choices::default());
    let appraiser = Appraiser::new(
        Solvers::new(SolverOptions::default()),
        quarto.info().words,
        Effort::Nodes(1 << 22),
        Arc::default(),
    );
    let source = QuestionSource {
        ruleset: &*quarto,
        appraiser: Some(&appraiser),
        random: ChaCha8Rng::seed_from_u64(first as u64),
    };
    let asked = draw(source, QUESTIONS, Drawn::default(), |_| false).positions;
    let facts = |asked: &Asked| {
        let before = position(&asked.starts[0])?;
        let turns = before.turns().into_iter().zip(&asked.best);
        Some(
            turns
                .map(|((turn, after), best)| Facts::new(&before, turn, &after, *best))
                .collect(),
        )
    };
    let facts: Vec<Vec<Facts>> = asked.iter().filter_map(facts).collect();
    let (mut copied, mut independent): (Vec<(usize, usize, AlikePair)>, Vec<AlikePair>) =
        Default::default();
    let mut differences = Differences::default();
    for class_number in 0..classes {
        let mut random = ChaCha8Rng::seed_from_u64((first * 1000 + class_number) as u64);
        let (bots, planted) = class(class_number, &mut random);
        let questions: Vec<AlikeQuestion> = asked
            .iter()
            .zip(&facts)
            .enumerate()
            .map(|(number, (asked, facts))| {
                asked.question(
                    bots.iter()
                        .map(|bot| from_fn(|round| Some(bot.answer(facts, number, round)))),
                )
            })
            .collect();
        let all = pairs(&questions, bots.len());
        differences.add(&all, &questions, &planted);
        for (rank, pair) in all.into_iter().enumerate() {
            match planted
                .iter()
                .find(|(a, b, _)| (*a, *b) == (pair.a, pair.b))
            {
                Some((.., kind)) => copied.push((*kind, rank, pair)),
                None => independent.push(pair),
            }
        }
    }
    println!(
        "{classes} classes of {BOTS}, seed {first}, {} positions",
        asked.len()
    );
    for (kind, name) in KINDS.iter().enumerate() {
        let own: Vec<&(usize, usize, AlikePair)> =
            copied.iter().filter(|(of, ..)| *of == kind).collect();
        let five = own.iter().filter(|(_, rank, _)| *rank < 5).count();
        let above = own.iter().filter(|(.., pair)| pair.stands_out()).count();
        println!(
            "{name:<17} {:>4} copies, among the first five {:>4}, above the line {:>4}",
            own.len(),
            percent(five, own.len()),
            percent(above, own.len())
        );
    }
    let above = independent.iter().filter(|pair| pair.stands_out()).count();
    println!(
        "{} of {} independent pairs above the line, of {} pairs there",
        above,
        independent.len(),
        above + copied.iter().filter(|(.., pair)| pair.stands_out()).count()
    );
    differences.print(classes, asked.len());
    independent.sort_by_key(|pair| Reverse(pair.odds.to_bits()));
    for share in [10, 100, 1000, 10_000] {
        println!(
            "1 in {share} independent pairs has odds of {:.0} or more",
            independent[(independent.len() / share).min(independent.len() - 1)].odds
        );
    }
    Ok(())
}
