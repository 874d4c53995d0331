//! Counting move sequences: the rules against the numbers in `tests/perft/`, and both against a second implementation
//! that shares no code with the program.

use std::fmt::Write as _;

use referee_games::game::four_in_a_row::FourInARow;
use referee_games::game::quarto::{Edition, PieceSet, Rules};
use referee_games::game::{BuiltinGame, Outcome, Position, Side};

const STANDARD: &str = include_str!("../perft/quarto-standard.perft");
const SQUARES: &str = include_str!("../perft/quarto-squares.perft");
const FOUR_IN_A_ROW: &str = include_str!("../perft/four-in-a-row.perft");

/// With so many free cells in Four In A Row the data goes on to the end.
const COMPLETE: usize = 10;

/// How deep published counts are checked by tests that are not ignored.
const QUICK: usize = 8;

#[derive(Clone, Debug, Default, PartialEq, Eq)]
struct Counts {
    /// Sequences of exactly 1, 2, … moves.
    perft: Vec<u64>,
    /// For the side to move at the top, and for the other.
    wins: [u64; 2],
    draws: u64,
}

impl Counts {
    fn new(depth: usize) -> Self {
        Self {
            perft: vec![0; depth],
            ..Self::default()
        }
    }
}

fn count<P: Position>(position: &P, me: Side, depth: usize, counts: &mut Counts) {
    match position.outcome() {
        Some(Outcome::Win(side)) => counts.wins[usize::from(side != me)] += 1,
        Some(Outcome::Draw) => counts.draws += 1,
        None => {}
    }
    if depth == counts.perft.len() {
        return;
    }
    for mv in position.moves() {
        let mut after = position.clone();
        after.play(mv).expect("a legal move");
        counts.perft[depth] += 1;
        count(&after, me, depth + 1, counts);
    }
}

/// The last moves are counted without being made.
fn sequences<P: Position>(position: &P, depth: usize) -> u64 {
    if depth <= 1 {
        return position.moves().count() as u64;
    }
    let after = |mv| {
        let mut after = position.clone();
        after.play(mv).expect("a legal move");
        sequences(&after, depth - 1)
    };
    position.moves().map(after).sum()
}

mod naive {
    use super::Counts;

    /// Cell indices of the lines, then of the squares.
    const LINES: [[usize; 4]; 19] = [
        [0, 1, 2, 3],
        [4, 5, 6, 7],
        [8, 9, 10, 11],
        [12, 13, 14, 15],
        [0, 4, 8, 12],
        [1, 5, 9, 13],
        [2, 6, 10, 14],
        [3, 7, 11, 15],
        [0, 5, 10, 15],
        [3, 6, 9, 12],
        [0, 1, 4, 5],
        [1, 2, 5, 6],
        [2, 3, 6, 7],
        [4, 5, 8, 9],
        [5, 6, 9, 10],
        [6, 7, 10, 11],
        [8, 9, 12, 13],
        [9, 10, 13, 14],
        [10, 11, 14, 15],
    ];

    pub(super) struct Game {
        cells: Vec<Option<u8>>,
        hand: Option<u8>,
        lines: &'static [[usize; 4]],
    }

    impl Game {
        /// Reads `BOARD PIECE` with the letters A to P.
        pub(super) fn read(text: &str, squares: bool) -> Self {
            let letter = |c: char| {
                "ABCDEFGHIJKLMNOP"
                    .find(c)
                    .and_then(|i| u8::try_from(i).ok())
            };
            let (board, hand) = text.split_once(' ').expect("a board and a hand");
            Self {
                cells: board.chars().map(letter).collect(),
                hand: hand.chars().next().and_then(letter),
                lines: if squares { &LINES } else { &LINES[..10] },
            }
        }

        pub(super) fn write(&self) -> String {
            let letter =
                |piece: Option<u8>, none| piece.map_or(none, |piece| char::from(b'A' + piece));
            let mut text: String = self.cells.iter().map(|&cell| letter(cell, '.')).collect();
            text.push(' ');
            text.push(letter(self.hand, '-'));
            text
        }

        fn has_quarto(&self) -> bool {
            self.lines.iter().any(|line| {
                let mut pieces = Vec::new();
                for &cell in line {
                    match self.cells[cell] {
                        Some(piece) => pieces.push(piece),
                        None => return false,
                    }
                }
                [1, 2, 4, 8].iter().any(|bit| {
                    let with = pieces.iter().filter(|&piece| piece & bit != 0).count();
                    with == 0 || with == 4
                })
            })
        }

        pub(super) fn moves_left(&self) -> usize {
            let free = self.cells.iter().filter(|cell| cell.is_none()).count();
            2 * free - usize::from(self.hand.is_some())
        }

        pub(super) fn count(&mut self, depth: usize) -> Counts {
            let mut counts = Counts::new(depth);
            self.descend(0, true, &mut counts);
            counts
        }

        fn descend(&mut self, depth: usize, mine: bool, counts: &mut Counts) {
            if depth == counts.perft.len() {
                return;
            }
            if let Some(piece) = self.hand.take() {
                for cell in 0..16 {
                    if self.cells[cell].is_some() {
                        continue;
                    }
                    self.cells[cell] = Some(piece);
                    counts.perft[depth] += 1;
                    if self.has_quarto() {
                        counts.wins[usize::from(!mine)] += 1;
                    } else if self.cells.iter().all(Option::is_some) {
                        counts.draws += 1;
                    } else {
                        // The side that places also gives.
                        self.descend(depth + 1, mine, counts);
                    }
                    self.cells[cell] = None;
                }
                self.hand = Some(piece);
            } else {
                for piece in 0..16 {
                    if self.cells.contains(&Some(piece)) {
                        continue;
                    }
                    self.hand = Some(piece);
                    counts.perft[depth] += 1;
                    self.descend(depth + 1, !mine, counts);
                }
                self.hand = None;
            }
        }
    }
}

/// A list of cells for each column, and steps from the last piece in every direction.
mod naive_four {
    use super::Counts;

    pub(super) struct Game {
        /// From the bottom.
        columns: [Vec<char>; 7],
        mark: char,
    }

    impl Game {
        /// Reads `MARK BOARD`.
        pub(super) fn read(text: &str) -> Self {
            let mut chars = text.chars();
            let mark = chars.next().expect("a mark");
            let cells: Vec<char> = chars.skip(1).collect();
            let column = |column: usize| {
                let upwards = cells.iter().skip(column).step_by(7).rev();
                upwards.copied().take_while(|&cell| cell != '.').collect()
            };
            Self {
                columns: std::array::from_fn(column),
                mark,
            }
        }

        pub(super) fn moves_left(&self) -> usize {
            42 - self.columns.iter().map(Vec::len).sum::<usize>()
        }

        fn at(&self, column: isize, row: isize) -> Option<char> {
            let column = self.columns.get(usize::try_from(column).ok()?)?;
            column.get(usize::try_from(row).ok()?).copied()
        }

        /// The top piece is part of four in a row.
        fn has_won(&self, column: usize) -> bool {
            let x = column.cast_signed();
            let y = self.columns[column].len().cast_signed() - 1;
            let mark = self.at(x, y);
            [(1, 0), (0, 1), (1, 1), (1, -1)].iter().any(|&(dx, dy)| {
                let run = |sign: isize| {
                    (1..4)
                        .take_while(|i| self.at(x + sign * i * dx, y + sign * i * dy) == mark)
                        .count()
                };
                1 + run(1) + run(-1) >= 4
            })
        }

        /// Drops a piece, does something if the game goes on, and takes the piece back. Tells whether there was room
        /// and whether the piece won.
        fn with<T>(&mut self, column: usize, then: impl FnOnce(&mut Self) -> T) -> Option<Then<T>> {
            if self.columns[column].len() == 6 {
                return None;
            }
            let mark = self.mark;
            self.columns[column].push(mark);
            self.mark = if mark == '@' { 'O' } else { '@' };
            let done = if self.has_won(column) {
                Then::Won
            } else {
                Then::On(then(self))
            };
            self.mark = mark;
            self.columns[column].pop();
            Some(done)
        }

        pub(super) fn sequences(&mut self, depth: usize) -> u64 {
            if depth <= 1 {
                let room = self.columns.iter().filter(|column| column.len() < 6);
                return room.count() as u64;
            }
            (0..7)
                .map(
                    |column| match self.with(column, |game| game.sequences(depth - 1)) {
                        Some(Then::On(count)) => count,
                        Some(Then::Won) | None => 0,
                    },
                )
                .sum()
        }

        pub(super) fn count(&mut self, depth: usize) -> Counts {
            let mut counts = Counts::new(depth);
            self.descend(0, &mut counts);
            counts
        }

        fn descend(&mut self, depth: usize, counts: &mut Counts) {
            if depth == counts.perft.len() {
                return;
            }
            for column in 0..7 {
                let then = self.with(column, |game| {
                    counts.perft[depth] += 1;
                    if game.moves_left() == 0 {
                        counts.draws += 1;
                    }
                    game.descend(depth + 1, counts);
                });
                if matches!(then, Some(Then::Won)) {
                    counts.perft[depth] += 1;
                    counts.wins[depth % 2] += 1;
                }
            }
        }
    }

    enum Then<T> {
        Won,
        On(T),
    }
}

/// `BOARD PIECE ; perft N N … ; wins N N ; draws N`.
fn read_line(line: &str) -> (&str, Counts) {
    let mut parts = line.split(" ; ");
    let position = parts.next().expect("a position");
    let mut counts = Counts::default();
    for part in parts {
        let (what, numbers) = part.split_once(' ').expect("a word and numbers");
        let numbers: Vec<u64> = numbers
            .split(' ')
            .map(|number| number.parse().expect("a number"))
            .collect();
        match what {
            "perft" => counts.perft = numbers,
            "wins" => counts.wins = numbers.try_into().expect("two numbers"),
            "draws" => counts.draws = numbers[0],
            other => panic!("{other:?} in {line:?}"),
        }
    }
    (position, counts)
}

fn write_line(position: &str, counts: &Counts) -> String {
    let mut line = format!("{position} ; perft");
    for count in &counts.perft {
        let _ = write!(line, " {count}");
    }
    let [mine, theirs] = counts.wins;
    let _ = write!(line, " ; wins {mine} {theirs} ; draws {}", counts.draws);
    line
}

fn free_cells(position: &str) -> usize {
    position.matches('.').count()
}

fn lines_of(data: &'static str) -> impl Iterator<Item = &'static str> {
    data.lines()
        .filter(|line| !line.is_empty() && !line.starts_with('#'))
        .filter(|line| !line.starts_with("published "))
}

fn check_program<G: BuiltinGame>(data: &'static str, game: &G) {
    let mut checked = 0;
    for line in lines_of(data) {
        let (text, expected) = read_line(line);
        let position = game.read_request(text).expect("a position");
        let mut counts = Counts::new(expected.perft.len());
        count(&position, position.to_move(), 0, &mut counts);
        assert_eq!(counts, expected, "{text}");
        checked += 1;
    }
    assert!(checked >= 10, "{checked} positions");
}

fn quarto(rules: Rules) -> Edition {
    Edition::new(rules, PieceSet::default())
}

fn check_naive(data: &'static str, squares: bool) {
    for line in lines_of(data) {
        let (text, expected) = read_line(line);
        let counts = naive::Game::read(text, squares).count(expected.perft.len());
        assert_eq!(counts, expected, "{text}");
    }
}

#[test]
fn standard_rules_count_as_the_data() {
    check_program(STANDARD, &quarto(Rules::Standard));
}

#[test]
fn squares_rules_count_as_the_data() {
    check_program(SQUARES, &quarto(Rules::Squares));
}

#[test]
fn the_second_implementation_counts_as_the_standard_data() {
    check_naive(STANDARD, false);
}

#[test]
fn the_second_implementation_counts_as_the_squares_data() {
    check_naive(SQUARES, true);
}

#[test]
fn four_in_a_row_counts_as_the_data() {
    check_program(FOUR_IN_A_ROW, &FourInARow);
}

#[test]
fn the_second_implementation_counts_as_the_data_of_four_in_a_row() {
    for line in lines_of(FOUR_IN_A_ROW) {
        let (text, expected) = read_line(line);
        let mut game = naive_four::Game::read(text);
        let complete = expected.perft.len() == game.moves_left();
        assert_eq!(complete, game.moves_left() <= COMPLETE, "{text}");
        assert_eq!(game.count(expected.perft.len()), expected, "{text}");
    }
}

/// Of first moves, as others have published them.
fn published(depth: usize) -> impl Iterator<Item = (usize, u64)> {
    let line = FOUR_IN_A_ROW
        .lines()
        .find_map(|line| line.strip_prefix("published "));
    let numbers = line.expect("the published numbers").split(' ');
    let numbers = numbers.map(|number| number.parse().expect("a number"));
    (1..=depth).zip(numbers)
}

#[test]
fn four_in_a_row_counts_as_published() {
    for (depth, expected) in published(QUICK) {
        let found = sequences(&FourInARow.start(), depth);
        assert_eq!(found, expected, "depth {depth}");
    }
}

#[test]
#[cfg_attr(
    debug_assertions,
    ignore = "takes several seconds in a debug build; cargo test --release --test integration perft::"
)]
fn four_in_a_row_counts_as_published_to_the_end() {
    let all = published(usize::MAX).last();
    let (depth, expected) = all.expect("numbers");
    assert_eq!(depth, 9);
    assert_eq!(sequences(&FourInARow.start(), depth), expected);
    let mut game = naive_four::Game::read(&format!("@ {}", ".".repeat(42)));
    assert_eq!(game.sequences(depth), expected);
}

#[test]
fn the_second_implementation_of_four_in_a_row_counts_as_published() {
    let mut game = naive_four::Game::read(&format!("@ {}", ".".repeat(42)));
    for (depth, expected) in published(QUICK) {
        assert_eq!(game.sequences(depth), expected, "depth {depth}");
    }
}

#[test]
fn complete_counts_add_up() {
    for line in lines_of(STANDARD).chain(lines_of(SQUARES)) {
        let (text, counts) = read_line(line);
        let complete = counts.perft.len() == naive::Game::read(text, false).moves_left();
        assert_eq!(complete, free_cells(text) <= 7, "{text}");
        if !complete {
            continue;
        }
        // The last placement ends a game in one way or the other; others ended before.
        let ended = counts.wins.iter().sum::<u64>() + counts.draws;
        assert!(ended > 0, "{text}");
        let last = counts.perft.last().copied().unwrap_or(0);
        assert!(counts.draws <= last && last <= ended, "{text}");
    }
}

#[test]
fn the_data_has_what_makes_it_worth_having() {
    for data in [STANDARD, SQUARES] {
        let all: Vec<(&str, Counts)> = lines_of(data).map(read_line).collect();
        assert!(all.iter().any(|(text, _)| *text == "................ -"));
        assert!(all.iter().any(|(text, _)| !text.ends_with('-')));
        assert!(all.iter().any(|(_, counts)| counts.draws > 0));
        assert!(
            all.iter()
                .any(|(_, counts)| counts.wins[0] > 0 && counts.wins[1] > 0)
        );
        assert!(
            all.iter()
                .any(|(_, counts)| counts.perft.last() == Some(&0))
        );
    }
}

/// Writes the data anew with the second implementation:
/// `cargo test -p referee-games --test games perft:: -- --ignored --nocapture`.
#[test]
#[ignore = "prints the data instead of checking it"]
fn print_the_data() {
    for (name, data, squares) in [("standard", STANDARD, false), ("squares", SQUARES, true)] {
        println!("# {name}");
        for line in lines_of(data) {
            let (text, old) = read_line(line);
            let mut game = naive::Game::read(text, squares);
            assert_eq!(game.write(), text);
            let complete = free_cells(text) <= 7;
            let depth = if complete {
                game.moves_left()
            } else {
                old.perft.len()
            };
            println!("{}", write_line(text, &game.count(depth)));
        }
    }
    println!("# four in a row");
    for line in lines_of(FOUR_IN_A_ROW) {
        let (text, old) = read_line(line);
        let mut game = naive_four::Game::read(text);
        let left = game.moves_left();
        let depth = if left <= COMPLETE {
            left
        } else {
            old.perft.len()
        };
        println!("{}", write_line(text, &game.count(depth)));
    }
}
