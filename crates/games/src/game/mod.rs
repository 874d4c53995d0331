//! The rules of the games: no process, no clock, no file.
//!
//! [`Position`] is what a search needs, which makes millions of moves a second. Everything else takes a [`Game`], which is
//! object-safe: of this program ([`BuiltinGame`] adds to a position its text), or a program of its own.
//!
//! ```
//! use referee_games::game::registry::{self, Choices};
//!
//! let quarto = registry::find("quarto").expect("it is registered");
//! let mut game = quarto.game(Choices::default()).start();
//! let mut turn = String::new();
//! game.play("k", &mut turn).expect_err("pieces are capital letters");
//! game.play("K", &mut turn).expect("the first turn only gives");
//! assert_eq!(turn, "- K");
//! assert_eq!(game.request(), "................ K");
//! ```

pub mod builtin;
pub mod four_in_a_row;
pub mod quarto;
pub mod registry;

use std::fmt;
use std::time::Duration;

use crate::solver::{Evaluation, Goal, Limits, Options, Solvers, Value};

pub use builtin::{BuiltinGame, InPlay};

/// A role in one game, not a bot: bots swap sides between games.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Side {
    /// In Quarto the side that gives the first piece.
    #[default]
    First,
    Second,
}

impl Side {
    pub const BOTH: [Self; 2] = [Self::First, Self::Second];

    #[must_use]
    pub const fn other(self) -> Self {
        match self {
            Self::First => Self::Second,
            Self::Second => Self::First,
        }
    }

    /// 0 for the first side, 1 for the second.
    pub const fn index(self) -> usize {
        self as usize
    }
}

/// A forfeit is not an outcome: the rules know nothing of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Outcome {
    Win(Side),
    /// The board is full and no side has won.
    Draw,
}

/// Why a move is not allowed in a position.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, thiserror::Error)]
pub enum IllegalReason {
    #[error("the game is over")]
    GameOver,
    /// A placement.
    #[error("there is no piece in hand to place")]
    NothingInHand,
    /// A gift.
    #[error("the piece in hand must be placed first")]
    PieceInHand,
    /// The cell (or the column) has no room.
    #[error("the cell is occupied")]
    Occupied,
    #[error("the piece is on the board already")]
    PieceUsed,
}

/// A state of a game, with its rules.
pub trait Position: Clone + Eq + fmt::Debug + Send + Sync + 'static {
    /// The smallest step that changes a position.
    type Move: Copy + Eq + fmt::Debug + Send + Sync;

    /// One answer of a bot: one or more moves.
    type Turn: Copy + Eq + fmt::Debug + Send + Sync;

    fn to_move(&self) -> Side;

    /// `None` while the game goes on.
    fn outcome(&self) -> Option<Outcome>;

    /// None when the game is over.
    fn moves(&self) -> impl Iterator<Item = Self::Move>;

    /// Leaves the position untouched when the move is illegal.
    fn play(&mut self, mv: Self::Move) -> Result<(), IllegalReason>;

    /// Every legal turn with the position it leads to, in the order of the moves; none when the game is over.
    fn turns(&self) -> Vec<(Self::Turn, Self)> {
        let mut turns = Vec::new();
        add_turns(self, self.to_move(), &mut Vec::new(), &mut turns);
        turns
    }

    /// `None` when no turn consists of these moves.
    fn turn_of(moves: &[Self::Move]) -> Option<Self::Turn>;

    fn can_win_at_once(&self) -> bool {
        let won = Outcome::Win(self.to_move());
        self.moves().any(|mv| {
            let mut after = self.clone();
            after.play(mv).is_ok() && after.outcome() == Some(won)
        })
    }
}

/// Those of `side` that begin with these moves, which led to this position.
fn add_turns<P: Position>(
    position: &P,
    side: Side,
    moves: &mut Vec<P::Move>,
    turns: &mut Vec<(P::Turn, P)>,
) {
    for mv in position.moves() {
        let mut after = position.clone();
        if after.play(mv).is_err() {
            continue;
        }
        moves.push(mv);
        if after.outcome().is_none() && after.to_move() == side {
            add_turns(&after, side, moves, turns);
        } else if let Some(turn) = P::turn_of(moves) {
            turns.push((turn, after));
        }
        moves.pop();
    }
}

/// Before a hint in the text of a rejection.
pub const HINT: &str = "; hint: ";

/// Why an answer was rejected. It quotes what the bot sent: to be escaped before it is shown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Rejection {
    /// Not a line of the protocol.
    Malformed(String),
    /// Well-formed, but against the rules.
    Illegal(String),
}

impl Rejection {
    pub fn text(&self) -> &str {
        let (Self::Malformed(text) | Self::Illegal(text)) = self;
        text
    }

    /// With what the bot's author is likely to have got wrong.
    #[must_use]
    pub fn with_hint(mut self, hint: &str) -> Self {
        let (Self::Malformed(text) | Self::Illegal(text)) = &mut self;
        text.push_str(HINT);
        text.push_str(hint);
        self
    }
}

/// The number that a cell or a column is written as.
fn one_or_two_digits(word: &str) -> Option<u8> {
    let is_number = word.len() <= 2 && word.bytes().all(|byte| byte.is_ascii_digit());
    word.parse().ok().filter(|_| is_number)
}

/// Name and property, such as `("H4", "big")`.
pub type WinningLines = Vec<(String, String)>;

/// A drawing of a position as data: what is on the board, without colours.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Picture {
    /// Row by row; an empty string is a free cell.
    pub cells: Vec<Vec<String>>,
    /// Shown over the board.
    pub columns: Vec<String>,
    /// Left of the board; empty when rows have no names.
    pub rows: Vec<String>,
    /// The cell (row, column) that the last turn changed.
    pub last: Option<(usize, usize)>,
    pub winning: Vec<(usize, usize)>,
    /// The cells of each winning line; empty when the game names cells only.
    pub lines: Vec<Vec<(usize, usize)>>,
    /// Of free cells, row by row; empty when cells have none.
    pub cell_names: Vec<Vec<String>>,
    /// The piece that must be placed, in words.
    pub hand: Option<String>,
    pub left: Vec<String>,
    /// Below the board.
    pub text: Vec<String>,
    /// Of every piece as it is written in `cells`, and first in `hand` and `left`; empty when pieces have none.
    pub glyphs: Vec<(String, Glyph)>,
    /// The same picture as a game's program made it; not to be trusted.
    pub svg: Option<String>,
}

/// What a terminal shows beside a piece's characters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Glyph {
    pub shape: char,
    /// `red`, `blue`, `light`, `dark`, `green` or `yellow`.
    pub colour: &'static str,
}

/// What is the same in every position of a game.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Info<'a> {
    /// In records, in a bot's environment and on the command line.
    pub name: &'a str,
    /// In records.
    pub rules: &'a str,
    /// CSV; `None` for the built-in set.
    pub pieces: Option<&'a str>,
    /// Otherwise the first bot named acts first.
    pub is_first_drawn: bool,
    /// Whether the start is random: [`Game::start_drawn`].
    pub has_drawn_start: bool,
    /// Whether [`Game::answers`] has the legal answers, for built-in bots.
    pub lists_answers: bool,
    /// Positions with at most so many free cells are proven in less than a second, with all their turns; 0 without a
    /// solver.
    pub provable_cells: usize,
    /// What a turn names as its place, and what fills the board, one a turn: `cell` and `placement`.
    pub words: [&'static str; 2],
}

impl<'a> Info<'a> {
    pub const fn named(name: &'a str) -> Self {
        Self {
            name,
            rules: "standard",
            pieces: None,
            is_first_drawn: true,
            has_drawn_start: false,
            lists_answers: false,
            provable_cells: 0,
            words: ["cell", "mark"],
        }
    }

    /// Whether there is a solver, and `builtin:perfect` plays.
    pub const fn is_solvable(&self) -> bool {
        self.provable_cells > 0
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GameSource {
    /// The command as people write it.
    pub command: Vec<String>,
    /// Of its files; empty where it has none of its own.
    pub hash: String,
}

/// Takes a request without newline, and returns its answer in canonical form. The error is a sentence about the
/// request.
pub type BuiltinBot = Box<dyn FnMut(&str) -> Result<String, String>>;

/// A turn, and the game after it.
#[derive(Clone, Debug)]
pub struct Turn {
    /// In canonical form.
    pub text: String,
    pub after: Box<dyn Game>,
}

/// A game in some position, with its rules and pieces. Sides need not alternate from move to move.
pub trait Game: fmt::Debug + Send + Sync {
    fn info(&self) -> Info<'_>;

    /// For a person at a terminal: the rules in short and the order of play.
    fn instructions(&self) -> String;

    fn start(&self) -> Box<dyn Game>;

    /// A board, or a request. The error is a sentence about the text.
    fn start_from(&self, text: &str) -> Result<Box<dyn Game>, String>;

    /// Without newline. The error is a sentence about the request.
    fn read_request(&self, line: &str) -> Result<Box<dyn Game>, String>;

    /// For games whose start is random. The error is a sentence.
    fn start_drawn(&self, _seed: u32) -> Result<Box<dyn Game>, String> {
        Ok(self.start())
    }

    /// `None` for games of this program.
    fn program(&self) -> Option<&GameSource> {
        None
    }

    /// Why the game's program has failed. From then on no bot is to blame for anything.
    fn failure(&self) -> Option<String> {
        None
    }

    /// With its parameters (`search?depth=3`); `None` when there is none for this game. Only bots that search use the time.
    fn builtin_bot(&self, _name: &str, _seed: u64, _move_time: Duration) -> Option<BuiltinBot> {
        None
    }

    fn clone_box(&self) -> Box<dyn Game>;

    fn to_move(&self) -> Side;

    /// `None` while the game is not over.
    fn outcome(&self) -> Option<Outcome>;

    /// As requests and records have it.
    fn board(&self) -> String;

    /// The text from which [`Game::start_from`] starts a game in this position.
    fn as_start(&self) -> String {
        self.board()
    }

    /// Without newline.
    fn request(&self) -> String;

    /// The legal answers, a tab before each, where [`Info::lists_answers`].
    fn answers(&self) -> String {
        String::new()
    }

    /// Makes the turn of an answer, one line without surrounding whitespace, and replaces `turn` by its canonical form.
    /// A rejected answer changes nothing.
    fn play(&mut self, answer: &str, turn: &mut String) -> Result<(), Rejection>;

    /// Such as `places K on 6, gives A`; empty before the first.
    fn describe_last_turn(&self) -> String;

    fn winning_lines(&self) -> WinningLines;

    /// What a person who plays this side may see; all of it without one. The last turn is marked.
    fn picture(&self, viewer: Option<Side>) -> Picture;

    /// A move is the smallest step that changes a position: a turn of Quarto is two.
    fn count_moves(&self) -> usize;

    /// `index` is below [`Game::count_moves`]; `false` when there is no such move. It does not count as the last turn.
    fn make_move(&mut self, index: usize) -> bool;

    /// Every legal one.
    fn turns(&self) -> Box<dyn Iterator<Item = Turn> + '_>;

    fn can_win_at_once(&self) -> bool {
        let won = Some(Outcome::Win(self.to_move()));
        self.turns().any(|turn| turn.after.outcome() == won)
    }

    /// What a person who is to move is asked for.
    fn question(&self) -> String;

    /// A move of a person; returns the turn in canonical form when it is complete. On an error nothing has changed.
    fn make_typed(&mut self, typed: &str) -> Result<Option<String>, String>;

    /// Names the choices that lose immediately; `None` when none does.
    fn hint(&self) -> Option<String> {
        None
    }

    fn inventory(&self) -> String;

    /// What is proven for the side to move; `None` without a solver.
    fn solve(&self, _: &Solvers, _: Goal, _: &Limits) -> Option<Evaluation> {
        None
    }

    /// Whether the turn that led here is worth at least this value to the side that made it; `None` when a limit was
    /// reached.
    fn keeps(&self, _: &Solvers, _: Value, _: &Limits) -> Option<bool> {
        None
    }

    /// A game that both sides play perfectly from here, as far as it is proven.
    fn line(&self, _: &Solvers, _: &Limits) -> Vec<String> {
        Vec::new()
    }

    /// The same text for all positions that are equal by symmetry, and for no others.
    fn class(&self) -> String {
        self.as_start()
    }

    /// The smallest depth at which `builtin:search` is sure to give one of these answers, in canonical form; `None`
    /// when none is.
    fn look_ahead(&self, _answers: &[String]) -> Option<u32> {
        None
    }
}

impl Clone for Box<dyn Game> {
    fn clone(&self) -> Self {
        self.clone_box()
    }
}

/// The size of the transposition table for one position.
const TT_BYTES: usize = 2 << 20;

impl dyn Game + '_ {
    pub fn name(&self) -> &str {
        self.info().name
    }

    pub fn rules(&self) -> &str {
        self.info().rules
    }

    pub fn pieces(&self) -> Option<&str> {
        self.info().pieces
    }

    pub fn after(&self, answer: &str) -> Result<Turn, Rejection> {
        let (mut text, mut after) = (String::new(), self.clone_box());
        after.play(answer, &mut text)?;
        Ok(Turn { text, after })
    }

    /// Counts the legal turns by the positions that they lead to.
    pub fn outlook(&self) -> Outlook {
        let me = self.to_move();
        let mut outlook = Outlook::default();
        for Turn { after, .. } in self.turns() {
            let outcome = after.outcome();
            outlook.turns += 1;
            outlook.ending += usize::from(outcome.is_some());
            outlook.winning += usize::from(outcome == Some(Outcome::Win(me)));
            outlook.losing += usize::from(after.lets_win(me));
        }
        outlook
    }

    /// Whether the opponent of `side`, which moved last, can win immediately.
    pub fn lets_win(&self, side: Side) -> bool {
        self.outcome().is_none() && self.to_move() != side && self.can_win_at_once()
    }

    pub fn free_cells(&self) -> usize {
        self.board().matches('.').count()
    }

    /// Whether all turns, and how long they last, are proven in less than a second.
    pub fn is_provable(&self) -> bool {
        self.free_cells() <= self.info().provable_cells
    }

    /// The result of best play, the same on every machine; `None` when so many nodes do not prove it.
    pub fn prove(&self, nodes: u64) -> Option<Outcome> {
        if !self.is_provable() {
            return None;
        }
        // Every position is searched with an empty table, so the result depends on the position alone.
        let solvers = Solvers::new(Options {
            tt_bytes: TT_BYTES,
            threads: 1,
        });
        let found = self.solve(&solvers, Goal::Value, &Limits::nodes(nodes))?;
        let side = self.to_move();
        Some(match found.value()? {
            Value::Win => Outcome::Win(side),
            Value::Draw => Outcome::Draw,
            Value::Loss => Outcome::Win(side.other()),
        })
    }
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Outlook {
    pub turns: usize,
    /// Turns after which the game is over.
    pub ending: usize,
    pub winning: usize,
    /// Turns after which the opponent can win immediately.
    pub losing: usize,
}
