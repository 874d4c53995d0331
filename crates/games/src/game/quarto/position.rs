use super::board::{Board, Cell, Rules};
use super::piece_set::Piece;
use crate::game;
use crate::game::{IllegalReason, Outcome, Position as _, Side};

/// One step: the side to move gives a piece, or places the one it was given.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Move {
    Give(Piece),
    Place(Cell),
}

/// ```
/// use referee_games::game::Position as _;
/// use referee_games::game::Side;
/// use referee_games::game::quarto::{Cell, Move, Piece, Position, Rules};
///
/// let mut position = Position::new(Rules::Standard);
/// assert_eq!(position.moves().count(), 16);
/// position.play(Move::Give(Piece::new(10).unwrap())).unwrap();
/// assert_eq!(position.to_move(), Side::Second);
/// position.play(Move::Place(Cell::from_number(6).unwrap())).unwrap();
/// // The side that placed also gives.
/// assert_eq!(position.to_move(), Side::Second);
/// assert_eq!(position.left().count(), 15);
/// assert_eq!(position.outcome(), None);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Position {
    board: Board,
    hand: Option<Piece>,
    /// On the board or in hand, one bit each.
    used: u16,
    to_move: Side,
    rules: Rules,
    outcome: Option<Outcome>,
}

impl Position {
    /// The empty board; the first side is to give.
    pub fn new(rules: Rules) -> Self {
        Self {
            board: Board::default(),
            hand: None,
            used: 0,
            to_move: Side::First,
            rules,
            outcome: None,
        }
    }

    /// The first side is to give. `None` when a piece stands twice on the board, when there is a quarto, or no cell is free.
    pub fn from_board(board: Board, rules: Rules) -> Option<Self> {
        let pieces = board.pieces();
        let used = pieces.fold(0, |used, (_, piece)| used | piece.mask());
        let is_twice = board.duplicates().next().is_some();
        let is_start = !is_twice && !board.has_quarto(rules) && used != u16::MAX;
        is_start.then_some(Self {
            board,
            used,
            ..Self::new(rules)
        })
    }

    /// With this piece in the hand of the side that gives it here; `None` when it is not left.
    #[must_use]
    pub const fn holding(mut self, piece: Piece) -> Option<Self> {
        if self.hand.is_some() || !self.is_left(piece) {
            return None;
        }
        self.used |= piece.mask();
        self.hand = Some(piece);
        Some(self)
    }

    pub const fn board(&self) -> &Board {
        &self.board
    }

    /// The piece that the side to move must place.
    pub const fn hand(&self) -> Option<Piece> {
        self.hand
    }

    pub const fn rules(&self) -> Rules {
        self.rules
    }

    pub const fn is_left(&self, piece: Piece) -> bool {
        self.used & piece.mask() == 0
    }

    /// Pieces neither on the board nor in hand, in the order of their bits.
    pub fn left(&self) -> impl Iterator<Item = Piece> + use<> {
        let used = self.used;
        Piece::all().filter(move |piece| used & piece.mask() == 0)
    }

    /// A free cell where `piece` would make a quarto.
    pub fn winning_cell(&self, piece: Piece) -> Option<Cell> {
        self.board
            .free()
            .find(|&cell| self.board.would_win(cell, piece, self.rules))
    }
}

impl game::Position for Position {
    type Move = Move;
    type Turn = Turn;

    fn to_move(&self) -> Side {
        self.to_move
    }

    fn outcome(&self) -> Option<Outcome> {
        self.outcome
    }

    fn moves(&self) -> impl Iterator<Item = Move> {
        let going = self.outcome.is_none();
        let gives = self.left().map(Move::Give);
        let places = self.board.free().map(Move::Place);
        let placing = self.hand.is_some();
        places
            .filter(move |_| going && placing)
            .chain(gives.filter(move |_| going && !placing))
    }

    fn play(&mut self, mv: Move) -> Result<(), IllegalReason> {
        let reason = match (mv, self.hand) {
            _ if self.outcome.is_some() => IllegalReason::GameOver,
            (Move::Give(_), Some(_)) => IllegalReason::PieceInHand,
            (Move::Place(_), None) => IllegalReason::NothingInHand,
            (Move::Give(piece), None) if self.is_left(piece) => {
                self.used |= piece.mask();
                self.hand = Some(piece);
                self.to_move = self.to_move.other();
                return Ok(());
            }
            (Move::Give(_), None) => IllegalReason::PieceUsed,
            (Move::Place(cell), Some(piece)) if self.board.place(cell, piece) => {
                self.hand = None;
                if self.board.has_quarto_through(cell, self.rules) {
                    self.outcome = Some(Outcome::Win(self.to_move));
                } else if self.used == u16::MAX {
                    self.outcome = Some(Outcome::Draw);
                }
                return Ok(());
            }
            (Move::Place(_), Some(_)) => IllegalReason::Occupied,
        };
        Err(reason)
    }

    fn turn_of(moves: &[Move]) -> Option<Turn> {
        let (cell, gift) = match *moves {
            [Move::Give(gift)] => (None, Some(gift)),
            [Move::Place(cell)] => (Some(cell), None),
            [Move::Place(cell), Move::Give(gift)] => (Some(cell), Some(gift)),
            _ => return None,
        };
        Some(Turn { cell, gift })
    }

    fn can_win_at_once(&self) -> bool {
        let wins = |piece| self.winning_cell(piece).is_some();
        self.outcome.is_none() && self.hand.is_some_and(wins)
    }
}

/// What a side does before the other side acts: place the piece in hand, then give one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Turn {
    /// `None` on a turn that only gives.
    pub cell: Option<Cell>,
    /// `None` when the placement ends the game.
    pub gift: Option<Piece>,
}

impl Turn {
    /// In the order in which they are played.
    pub fn moves(self) -> impl Iterator<Item = Move> {
        let place = self.cell.map(Move::Place);
        place.into_iter().chain(self.gift.map(Move::Give))
    }
}

impl Position {
    /// The position after a turn, or why the rules forbid one of its moves.
    ///
    /// ```
    /// use referee_games::game::Position as _;
    /// use referee_games::game::quarto::{Cell, Move, Piece, Position, Rules, Turn};
    ///
    /// let mut position = Position::new(Rules::Standard);
    /// position.play(Move::Give(Piece::new(0).unwrap())).unwrap();
    /// let turn = Turn {
    ///     cell: Cell::from_number(6),
    ///     gift: Piece::new(15),
    /// };
    /// let after = position.after(turn).unwrap();
    /// assert_eq!(after.hand(), Piece::new(15));
    /// // The cell is occupied now, and the piece is in hand.
    /// assert!(after.after(turn).is_err());
    /// ```
    pub fn after(&self, turn: Turn) -> Result<Self, IllegalReason> {
        let mut after = *self;
        for mv in turn.moves() {
            after.play(mv)?;
        }
        Ok(after)
    }
}
