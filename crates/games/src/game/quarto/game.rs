use referee_text::{escape_controls, quote};

use super::board::{Board, Cell, Rules};
use super::notation;
use super::notation::{Gift, free_cells, parse_answer, write_turn};
use super::piece_set::{Piece, PieceFormat, PieceSet};
use super::position::{Move, Position, StartError, Turn};
use crate::game::{Game, IllegalReason, Outcome, Picture, Position as _, Rejection, WinningLines};

impl Edition {
    /// With nothing in hand.
    fn read_position(&self, board: &str) -> Result<Position, String> {
        let board = notation::read_board(self.set(), board)?;
        Position::from_board(board, self.rule_set())
            .map_err(|error| self.start_error(&board, error))
    }

    fn start_error(&self, board: &Board, error: StartError) -> String {
        match error {
            StartError::Duplicate(piece, first, second) => format!(
                "the piece {} stands on cells {} and {}; every piece exists once",
                self.shown(piece),
                first.number(),
                second.number()
            ),
            StartError::HasQuarto => {
                let (line, property) = self.set().name_quartos(board, self.rule_set())[0];
                format!("there is a quarto already, {line} {property}; a game starts without one")
            }
            StartError::Full => "no cell is free; a game needs one".to_owned(),
        }
    }
}

impl Game for Edition {
    type Position = Position;
    type Turn = Turn;

    const NAME: &'static str = "quarto";
    const SETS: bool = true;

    fn rules(&self) -> &'static str {
        self.rule_set().name()
    }

    fn pieces(&self) -> Option<&str> {
        (!self.has_builtin_set()).then(|| self.set().text())
    }

    fn start(&self) -> Position {
        Position::new(self.rule_set())
    }

    fn start_from(&self, text: &str) -> Result<Position, String> {
        let (board, hand) = notation::split_start(self.set(), text)?;
        let position = self.read_position(board)?;
        let Some(piece) = hand else {
            return Ok(position);
        };
        position.holding(piece).ok_or_else(|| {
            let shown = self.shown(piece);
            let mut cells = Cell::all().filter(|&cell| position.board().get(cell) == Some(piece));
            let cell = cells.next().map_or(0, Cell::number);
            format!("the piece {shown} is in hand, but it stands on cell {cell}; every piece exists once")
        })
    }

    fn write_start(&self, position: &Position, out: &mut String) {
        if position.hand().is_some() {
            self.write_request(position, out);
        } else {
            self.write_board(position, out);
        }
    }

    fn write_board(&self, position: &Position, out: &mut String) {
        notation::write_board(self.set(), position.board(), out);
    }

    fn write_request(&self, position: &Position, out: &mut String) {
        notation::write_request(self.set(), position, out);
    }

    fn read_request(&self, line: &str) -> Result<Position, String> {
        let (board, rest) = notation::split_request(line);
        let mut position = self.read_position(board)?;
        if let Some(piece) = notation::read_hand(self.set(), line, rest)? {
            position
                .play(Move::Give(piece))
                .map_err(|illegal| format!("{:?}: {}", self.set().symbol(piece), illegal.reason))?;
        }
        Ok(position)
    }

    fn write_turn(&self, turn: Turn, out: &mut String) {
        notation::write_turn(self.set(), turn, out);
    }

    fn judge(&self, position: &Position, answer: &str) -> Result<(Turn, Position), Rejection> {
        judge(self.set(), position, answer)
    }

    fn turns(&self, position: &Position) -> Vec<(Turn, Position)> {
        position.turns()
    }

    fn turn_of(&self, moves: &[Move]) -> Option<Turn> {
        Turn::from_moves(moves)
    }

    fn winning_lines(&self, position: &Position) -> WinningLines {
        self.set()
            .name_quartos(position.board(), self.rule_set())
            .into_iter()
            .map(|(line, property)| (line.to_owned(), property.to_owned()))
            .collect()
    }

    fn describe(&self, before: &Position, turn: Turn) -> String {
        self.turn_in_words(before, turn)
    }

    fn picture(&self, position: &Position, last: Option<Turn>) -> Picture {
        self.position_picture(position, last)
    }
}

/// An edition of Quarto: a rule set and a piece set. It is a [`Game`](crate::game::Game).
///
/// ```
/// use referee_games::game::Game as _;
/// use referee_games::game::quarto::Edition;
///
/// let edition = Edition::default();
/// let position = edition.read_request("A..PC...J..EF... G")?;
/// let (turn, after) = edition.judge(&position, "6 O").unwrap();
/// assert_eq!(edition.describe(&position, turn), "places G on 6, gives O");
///
/// let mut request = String::new();
/// edition.write_request(&after, &mut request);
/// assert_eq!(request, "A..PCG..J..EF... O");
/// # Ok::<(), String>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Edition {
    rules: Rules,
    set: PieceSet,
    is_builtin: bool,
    format: PieceFormat,
}

impl Default for Edition {
    fn default() -> Self {
        Self::new(Rules::Standard, PieceSet::default())
    }
}

impl Edition {
    pub fn new(rules: Rules, set: PieceSet) -> Self {
        let is_builtin = set.is_builtin();
        Self {
            rules,
            set,
            is_builtin,
            format: PieceFormat::default(),
        }
    }

    pub const fn set(&self) -> &PieceSet {
        &self.set
    }

    pub(super) const fn rule_set(&self) -> Rules {
        self.rules
    }

    const fn has_builtin_set(&self) -> bool {
        self.is_builtin
    }

    /// For people; bots and records always see the set's characters.
    #[must_use]
    pub const fn with_format(mut self, format: PieceFormat) -> Self {
        self.format = format;
        self
    }

    pub const fn format(&self) -> PieceFormat {
        self.format
    }

    /// As people see it. Sets that are used for drawing only may have characters that must be escaped.
    pub(super) fn shown(&self, piece: Piece) -> String {
        match self.format {
            PieceFormat::Symbol => escape_controls(self.set.symbol(piece).encode_utf8(&mut [0; 4])),
            PieceFormat::Binary => format!("{:04b}", piece.bits()),
            PieceFormat::Decimal => piece.bits().to_string(),
        }
    }

    /// `K big blue square solid`.
    pub(super) fn in_words(&self, piece: Piece) -> String {
        let [a, b, c, d] = self.set.words(piece);
        format!("{} {a} {b} {c} {d}", self.shown(piece))
    }

    /// In the order of the set.
    pub(super) fn left_in_order(&self, position: &Position) -> impl Iterator<Item = Piece> {
        let order = self.set.order().iter().copied();
        order.filter(|&piece| position.is_left(piece))
    }
}

pub(super) fn judge(
    set: &PieceSet,
    position: &Position,
    answer: &str,
) -> Result<(Turn, Position), Rejection> {
    if position.outcome().is_some() {
        return Err(Rejection::Illegal(IllegalReason::GameOver.to_string()));
    }
    let malformed =
        |reason: String| Rejection::Malformed(format!("{reason}; {}", example(set, position)));
    let answer = parse_answer(answer, position.hand().is_some()).map_err(malformed)?;
    let mut after = *position;
    let cell = legal_cell(set, position, answer.cell);
    if let Ok(Some(cell)) = cell
        && after.play(Move::Place(cell)).is_ok()
        && let Some(Outcome::Win(_)) = after.outcome()
    {
        // A quarto wins at once; whatever gift the answer names is ignored.
        let cell = Some(cell);
        return Ok((Turn { cell, gift: None }, after));
    }
    // Errors of form are reported before errors of the rules.
    let any_left = after.left().next().is_some();
    match answer.gift {
        Gift::Missing if any_left => {
            return Err(malformed("the gift is missing".to_owned()));
        }
        Gift::Word(word) => {
            return Err(malformed(format!(
                "the gift {} is not one character",
                quote(word.as_bytes())
            )));
        }
        Gift::Missing | Gift::Dash | Gift::Symbol(_) => {}
    }
    let cell = cell.map_err(Rejection::Illegal)?;
    if !any_left {
        return match answer.gift {
            Gift::Symbol(symbol) => Err(Rejection::Illegal(format!(
                "{} as the gift, but no piece is left to give; expected `-`",
                quote(symbol.to_string().as_bytes())
            ))),
            _ => Ok((Turn { cell, gift: None }, after)),
        };
    }
    let gift = legal_gift(set, position, &after, &answer.gift).map_err(Rejection::Illegal)?;
    after
        .play(Move::Give(gift))
        .map_err(|illegal| Rejection::Illegal(illegal.to_string()))?;
    let gift = Some(gift);
    Ok((Turn { cell, gift }, after))
}

/// What could have been answered, for messages.
fn example(set: &PieceSet, position: &Position) -> String {
    let mut example = String::new();
    if let Some((turn, _)) = position.turns().first() {
        write_turn(set, *turn, &mut example);
    }
    format!("expected a cell and a gift, such as `{example}`")
}

/// Where the piece in hand goes; `None` when nothing is in hand and the answer names no cell.
fn legal_cell(
    set: &PieceSet,
    position: &Position,
    number: Option<u8>,
) -> Result<Option<Cell>, String> {
    let free = || format!("free cells: {}", free_cells(position.board()));
    match (position.hand(), number) {
        (None, None) => Ok(None),
        (None, Some(number)) => Err(format!(
            "there is no piece in hand to place on cell {number}; expected `-` as the cell, this turn only gives"
        )),
        (Some(piece), None) => Err(format!(
            "`-` as the cell, but the piece {} is in hand and must be placed; {}",
            set.symbol(piece),
            free()
        )),
        (Some(_), Some(number)) => {
            let Some(cell) = Cell::from_number(number) else {
                return Err(format!("there is no cell {number}; {}", free()));
            };
            match position.board().get(cell) {
                None => Ok(Some(cell)),
                Some(piece) => Err(format!(
                    "cell {number} is occupied by {}; {}",
                    set.symbol(piece),
                    free()
                )),
            }
        }
    }
}

/// In the position `after` the placement the game goes on.
fn legal_gift(
    set: &PieceSet,
    before: &Position,
    after: &Position,
    gift: &Gift<'_>,
) -> Result<Piece, String> {
    let symbol = match gift {
        Gift::Symbol(symbol) => *symbol,
        Gift::Missing | Gift::Dash | Gift::Word(_) => '-',
    };
    let reason = match set.piece(symbol) {
        Some(piece) if after.is_left(piece) => return Ok(piece),
        Some(piece) if before.hand() == Some(piece) => {
            format!("the gift {symbol} is the piece that was in hand")
        }
        Some(_) => format!("the gift {symbol} is on the board already"),
        None if symbol == '-' => "`-` as the gift, but one is due".to_owned(),
        None => format!(
            "the gift {} is no piece of this set",
            quote(symbol.to_string().as_bytes())
        ),
    };
    let left: Vec<String> = after
        .left()
        .map(|piece| set.symbol(piece).to_string())
        .collect();
    Err(format!("{reason}; pieces left: {}", left.join(" ")))
}

impl Edition {
    /// Sentences about pieces that stand on two cells: possible in a drawing, not in a game.
    pub fn duplicate_warnings(&self, board: &Board) -> Vec<String> {
        board
            .duplicates()
            .map(|(piece, first, second)| {
                format!(
                    "the piece {} stands on cells {} and {}; in a game every piece exists once",
                    self.shown(piece),
                    first.number(),
                    second.number()
                )
            })
            .collect()
    }

    /// The board belongs to no game.
    pub fn board_picture(&self, board: &Board) -> Picture {
        let grid = |text: &dyn Fn(Cell) -> String| -> Vec<Vec<String>> {
            let texts: Vec<String> = Cell::all().map(text).collect();
            texts.chunks(4).map(<[String]>::to_vec).collect()
        };
        let mut lines: Vec<_> = board
            .quartos(self.rule_set())
            .map(|quarto| quarto.line.cells().map(place).to_vec())
            .collect();
        // A line with two properties is a quarto for each.
        lines.dedup();
        Picture {
            cells: grid(&|cell| {
                board
                    .get(cell)
                    .map_or_else(String::new, |piece| self.shown(piece))
            }),
            columns: ["V1", "V2", "V3", "V4"].map(str::to_owned).to_vec(),
            rows: ["H1", "H2", "H3", "H4"].map(str::to_owned).to_vec(),
            winning: lines.concat(),
            lines,
            cell_names: grid(&|cell| cell.number().to_string()),
            ..Picture::default()
        }
    }

    fn turn_in_words(&self, before: &Position, turn: Turn) -> String {
        let placed = turn
            .cell
            .zip(before.hand())
            .map(|(cell, piece)| format!("places {} on {}", self.shown(piece), cell.number()));
        let gives = turn
            .gift
            .map(|piece| format!("gives {}", self.shown(piece)));
        let parts: Vec<String> = placed.into_iter().chain(gives).collect();
        parts.join(", ")
    }

    fn position_picture(&self, position: &Position, last: Option<Turn>) -> Picture {
        Picture {
            last: last.and_then(|turn| turn.cell).map(place),
            hand: position.hand().map(|piece| self.in_words(piece)),
            left: self
                .left_in_order(position)
                .map(|piece| self.in_words(piece))
                .collect(),
            ..self.board_picture(position.board())
        }
    }
}

const fn place(cell: Cell) -> (usize, usize) {
    (cell.row(), cell.column())
}
