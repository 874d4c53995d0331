//! A third game, as a built-in one is written: two traits, and an entry of the registry. It is played by everything that
//! plays the others.

use std::sync::Arc;
use std::time::Duration;

use referee_games::game::registry::{Choices, GameInfo};
use referee_games::game::{
    BuiltinGame, BuiltinRuleset, IllegalReason, Info, Malformed, Mood, Outcome, Picture, Position,
    Rejection, Ruleset, Side, WinningLines,
};

/// Bit 0 is the top left cell.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Board([u16; 2]);

const LINES: [u16; 8] = [0o007, 0o070, 0o700, 0o111, 0o222, 0o444, 0o421, 0o124];

impl Board {
    fn line(self) -> Option<u16> {
        let is_whole = |line: &u16| self.0.iter().any(|marks| marks & line == *line);
        LINES.into_iter().find(is_whole)
    }

    const fn free(self, cell: usize) -> bool {
        (self.0[0] | self.0[1]) >> cell & 1 == 0
    }

    fn symbol(self, cell: usize) -> char {
        match self.0.map(|marks| marks >> cell & 1) {
            [1, _] => 'X',
            [_, 1] => 'O',
            _ => '.',
        }
    }
}

impl Position for Board {
    type Move = usize;
    type Turn = usize;

    fn to_move(&self) -> Side {
        let marks = self.0[0].count_ones() + self.0[1].count_ones();
        Side::BOTH[marks as usize % 2]
    }

    fn outcome(&self) -> Option<Outcome> {
        match self.line() {
            Some(_) => Some(Outcome::Win(self.to_move().other())),
            None => (self.0[0] | self.0[1] == 0o777).then_some(Outcome::Draw),
        }
    }

    fn moves(&self) -> impl Iterator<Item = usize> {
        let board = *self;
        (0..9).filter(move |&cell| board.outcome().is_none() && board.free(cell))
    }

    fn play(&mut self, cell: usize) -> Result<(), IllegalReason> {
        if self.outcome().is_some() {
            return Err(IllegalReason::GameOver);
        }
        if !self.free(cell) {
            return Err(IllegalReason::Occupied);
        }
        self.0[self.to_move().index()] |= 1 << cell;
        Ok(())
    }

    fn turn_of(moves: &[usize]) -> Option<usize> {
        moves.first().copied()
    }
}

#[derive(Clone, Debug)]
struct TicTacToe;

/// Why a text is not a board.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
struct BoardError(String);

impl BuiltinGame for TicTacToe {
    type Position = Board;
    type PositionError = BoardError;

    const INFO: Info<'static> = Info::named("tic-tac-toe");

    fn start(&self) -> Board {
        Board::default()
    }

    fn start_from(&self, text: &str) -> Result<Board, BoardError> {
        let mut board = Board::default();
        for (cell, symbol) in text.chars().enumerate() {
            match symbol {
                'X' => board.0[0] |= 1 << cell,
                'O' => board.0[1] |= 1 << cell,
                '.' => {}
                _ => {
                    let problem = format!("{symbol:?} is not a mark; expected X, O or .");
                    return Err(BoardError(problem));
                }
            }
        }
        match text.len() {
            9 => Ok(board),
            found => Err(BoardError(format!(
                "a board is 9 characters; found {found}"
            ))),
        }
    }

    fn board(&self, position: &Board) -> String {
        (0..9).map(|cell| position.symbol(cell)).collect()
    }

    fn turn_text(&self, turn: usize) -> String {
        (turn + 1).to_string()
    }

    fn judge(&self, position: &Board, answer: &str) -> Result<(usize, Board), Rejection> {
        let number = answer
            .parse()
            .ok()
            .filter(|number| (1..=9).contains(number));
        let number: usize = number
            .ok_or_else(|| Rejection::malformed(Malformed::NotACell, "expected a cell, 1 to 9"))?;
        let mut after = *position;
        after.play(number - 1)?;
        Ok((number - 1, after))
    }

    fn winning_lines(&self, position: &Board) -> WinningLines {
        let cells = |line: u16| (0..9).filter(move |cell| line >> cell & 1 == 1);
        let name = |line| {
            cells(line)
                .map(|cell| (cell + 1).to_string())
                .collect::<String>()
        };
        let line = position.line().into_iter();
        line.map(|line| ("line".to_owned(), name(line))).collect()
    }

    fn describe(&self, _: &Board, turn: usize, _: Mood) -> String {
        format!("marks {}", turn + 1)
    }

    fn picture(&self, position: &Board, last: Option<usize>) -> Picture {
        let text = |cell| match position.symbol(cell) {
            '.' => String::new(),
            mark => mark.to_string(),
        };
        let row = |row: usize| (3 * row..3 * row + 3).map(text).collect();
        Picture {
            cells: (0..3).map(row).collect(),
            last: last.map(|cell| (cell / 3, cell % 3)),
            ..Picture::default()
        }
    }

    fn instructions(&self) -> String {
        "Tic-tac-toe: three marks in a line win. Cells are 1 to 9, from the top left.\n".to_owned()
    }

    fn question(&self, _: &Board) -> String {
        "which cell (1 to 9)?".to_owned()
    }

    fn inventory(&self, _: &Board) -> String {
        "who begins plays X, the other O\n".to_owned()
    }
}

/// The entry of the registry.
static ENTRY: GameInfo = GameInfo {
    name: TicTacToe::INFO.name,
    about: "Three in a row",
    has_piece_sets: false,
    make: |_| Arc::new(BuiltinRuleset::new(TicTacToe)),
};

fn ruleset() -> Arc<dyn Ruleset> {
    ENTRY.ruleset(Choices::default())
}

fn play(ruleset: &dyn Ruleset, bots: [&str; 2]) -> (Option<Outcome>, Vec<String>) {
    let mut bots = bots.map(|name| {
        ruleset
            .builtin_bot(name, 1, Duration::from_secs(1))
            .expect("a bot")
    });
    let mut game = ruleset.start();
    let mut turns = Vec::new();
    while game.outcome().is_none() {
        let answer = bots[game.to_move().index()](&game.request()).expect("an answer");
        let turn = game.after(&answer).expect("a legal answer");
        turns.push(turn.text);
        game = turn.after;
    }
    (game.outcome(), turns)
}

#[test]
fn bots_play_a_third_game() {
    let ruleset = ruleset();
    assert_eq!(
        (ruleset.name(), ruleset.rules()),
        ("tic-tac-toe", "standard")
    );
    for bots in [
        ["random", "greedy"],
        ["search", "random"],
        ["greedy", "search?depth=4"],
    ] {
        let (outcome, turns) = play(&*ruleset, bots);
        assert!(outcome.is_some() && turns.len() >= 5, "{turns:?}");
        assert_eq!(
            play(&*ruleset, bots),
            (outcome, turns),
            "the same seed, the same game"
        );
    }
    assert!(
        ruleset
            .builtin_bot("perfect", 1, Duration::from_secs(1))
            .is_none(),
        "there is no solver"
    );
    assert!(!ruleset.info().is_solvable() && ruleset.start().solvable().is_none());
}

#[test]
fn a_third_game_is_judged_described_and_drawn() {
    let ruleset = ruleset();
    let mut session = ruleset.start_from("XX.OO....").expect("a board");
    assert_eq!(session.outlook().winning, 1);
    assert!(session.can_win_at_once());
    let mut turn = String::new();
    let occupied = session.play("1", &mut turn).expect_err("occupied");
    assert_eq!(occupied.to_string(), "the cell is occupied");
    session.play("3", &mut turn).expect("a legal turn");
    assert_eq!(session.outcome(), Some(Outcome::Win(Side::First)));
    assert_eq!(
        session.winning_lines(),
        [("line".to_owned(), "123".to_owned())]
    );
    assert_eq!(session.describe_last_turn(Mood::Told), "marks 3");
    assert_eq!(session.picture(None).last, Some((0, 2)));
}

#[test]
fn a_person_plays_a_third_game() {
    let ruleset = ruleset();
    let mut session = ruleset.start();
    assert_eq!(session.question(), "which cell (1 to 9)?");
    let rejection = session.make_typed("x").expect_err("not a cell");
    assert_eq!(rejection.to_string(), "expected a cell, 1 to 9");
    assert_eq!(session.make_typed("5"), Ok(Some("5".to_owned())));
}
