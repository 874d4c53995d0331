//! What Quarto reads, writes and says: requests, answers, starts and their errors, and turns in
//! words.

use referee_games::game::quarto::{
    Board, Cell, Edition, Line, Move, Piece, PieceFormat, PieceSet, Position, Rules, Turn,
};
use referee_games::game::{
    BuiltinGame as _, Illegal, IllegalReason, Malformed, Mood, Position as _, Rejection,
    RejectionCause,
};

fn editions() -> [Edition; 2] {
    [Rules::Standard, Rules::Squares].map(|rules| Edition::new(rules, PieceSet::default()))
}

fn piece(bits: u8) -> Piece {
    Piece::new(bits).expect("four bits")
}

fn cell(number: u8) -> Cell {
    Cell::from_number(number).expect("a cell")
}

#[track_caller]
fn position(request: &str) -> Position {
    Edition::default()
        .read_request(request)
        .expect("a request that can be read")
}

#[track_caller]
fn problem(request: &str) -> String {
    Edition::default()
        .read_request(request)
        .expect_err("a request that cannot be read")
        .to_string()
}

#[track_caller]
fn rejected(request: &str, answer: &str) -> Rejection {
    Edition::default()
        .judge(&position(request), answer)
        .expect_err("an answer that is rejected")
}

#[test]
fn rules_have_the_names_of_the_command_line() {
    for (rules, name) in [(Rules::Standard, "standard"), (Rules::Squares, "squares")] {
        assert_eq!(rules.name(), name);
        assert_eq!(Rules::from_name(name), Some(rules));
        let edition = Edition::new(rules, PieceSet::default());
        assert_eq!(edition.info().rules, name);
        assert_eq!(edition.start().rules(), rules);
    }
    assert_eq!(Rules::from_name("Standard"), None);
    assert_eq!(Rules::from_name(""), None);
}

#[test]
fn cells_pieces_and_lines_have_ends() {
    assert_eq!(Cell::from_number(0), None);
    assert_eq!(Cell::from_number(17), None);
    assert_eq!(Cell::from_index(16), None);
    assert_eq!(Cell::from_index(15), Cell::from_number(16));
    assert_eq!(Cell::all().map(Cell::number).min(), Some(1));
    assert_eq!(Piece::new(16), None);
    assert_eq!(Piece::new(15).map(Piece::bits), Some(15));
    assert_eq!(Piece::all().count(), 16);
    let lines: Vec<String> = Rules::Squares
        .lines()
        .map(|line| line.name().to_owned())
        .collect();
    assert_eq!(
        lines.join(" "),
        "H1 H2 H3 H4 V1 V2 V3 V4 D1 D2 S1 S2 S3 S4 S5 S6 S7 S8 S9"
    );
    assert_eq!(Rules::Standard.lines().map(Line::index).max(), Some(9));
}

#[test]
fn a_board_counts_its_cells() {
    let mut board = Board::default();
    assert_eq!((board.count(), board.free_count()), (0, 16));
    for (placed, cell) in Cell::all().enumerate() {
        assert_eq!(board.free().next(), Some(cell));
        assert!(board.place(cell, piece(u8::try_from(placed).expect("small"))));
        assert_eq!(
            (board.count(), board.free_count()),
            (placed + 1, 15 - placed)
        );
    }
    assert!(!board.place(cell(1), piece(9)));
    assert_eq!(board.get(cell(1)), Some(piece(0)));
}

#[test]
fn a_request_is_read_as_it_is_written() {
    for edition in editions() {
        for request in [
            "................ -",
            "................ K",
            "A..PC...J..EF... G",
            "A..PC...J..EF... -",
        ] {
            let position = edition.read_request(request).expect("a request");
            let written = edition.request(&position);
            assert_eq!(written, request);
            let board = edition.board(&position);
            assert_eq!(board, request[..16]);
            assert_eq!(position.rules().name(), edition.info().rules);
        }
    }
    // Separated by tabs, or by more than one space.
    assert_eq!(
        position("................ \tK "),
        position("................ K")
    );
}

#[test]
fn a_request_that_cannot_be_read_says_why() {
    assert_eq!(
        problem("................"),
        "expected a board and a piece or `-`, found `................`"
    );
    for hand in ["KL", "--", "Q"] {
        assert_eq!(
            problem(&format!("................ {hand}")),
            format!(
                "`{hand}` is in hand, which is not a piece of this set; expected a piece or `-`"
            )
        );
    }
    // The space does not count as a cell.
    for (request, cells) in [("............... K", 15), ("....... K", 7)] {
        assert_eq!(
            problem(request),
            format!("a board is 16 characters, one a cell, row by row; found {cells}")
        );
    }
    for (board, cells) in [(".......", 7), ("................K", 17)] {
        assert_eq!(
            problem(board),
            format!("a board is 16 characters, one a cell, row by row; found {cells}")
        );
    }
    assert_eq!(
        problem("K............... K"),
        "the piece K is in hand, but it stands on cell 1; every piece exists once"
    );
}

#[test]
fn a_start_that_no_game_has_says_why() {
    for (start, why) in [
        (
            "A......A........",
            "the piece A stands on cells 1 and 8; every piece exists once",
        ),
        (
            "ABCD............",
            "there is a quarto already, H1 square; a game starts without one",
        ),
        ("MICHFAKELOJDBNGP", "no cell is free; a game needs one"),
        (
            ".................",
            "a board is 16 characters, one a cell, row by row; found 17",
        ),
        (
            "...x............",
            "cell 4 holds `x`, which is not a piece of this set; expected a piece or `.`",
        ),
    ] {
        let problem = Edition::default().start_from(start);
        assert_eq!(problem.expect_err("no start").to_string(), why, "{start}");
    }
}

#[test]
fn a_malformed_answer_is_told_with_an_example() {
    for (request, answer, what, example) in [
        ("................ -", "", "an empty line", "- A"),
        ("................ K", "", "an empty line", "1 A"),
        (
            "................ K",
            "six A",
            "`six` is not a cell (one or two digits)",
            "1 A",
        ),
        (
            "................ K",
            "006 A",
            "`006` is not a cell (one or two digits)",
            "1 A",
        ),
        ("................ K", "6 A B", "more than two words", "1 A"),
        ("................ K", "6", "the gift is missing", "1 A"),
        (
            "................ K",
            "6 AB",
            "the gift `AB` is not one character",
            "1 A",
        ),
        ("A..PC...J..EF... G", "6", "the gift is missing", "2 B"),
        (
            "MICHFAKEL.JDBNGP O",
            "10 AB",
            "the gift `AB` is not one character",
            "10 -",
        ),
    ] {
        let reason = format!("{what}; expected a cell and a gift, such as `{example}`");
        let rejection = rejected(request, answer);
        assert!(matches!(rejection.cause, RejectionCause::Malformed(_)));
        assert_eq!(rejection.to_string(), reason);
        let edition = Edition::default();
        assert!(edition.judge(&position(request), example).is_ok());
    }
}

#[test]
fn an_illegal_answer_is_told_with_what_is_possible() {
    let request = "MICHFAKEL....NGP D";
    for (answer, why) in [
        ("17 B", "there is no cell 17; free cells: 10 11 12 13"),
        (
            "0 B",
            "there is no cell 0; free cells: 10 11 12 13; hint: cells are counted from 1, not from 0",
        ),
        ("1 B", "cell 1 is occupied by M; free cells: 10 11 12 13"),
        (
            "- B",
            "`-` as the cell, but the piece D is in hand and must be placed; free cells: 10 11 12 13",
        ),
        (
            "10 M",
            "the gift M is on the board already; pieces left: B J O",
        ),
        (
            "10 D",
            "the gift D is the piece that was in hand; pieces left: B J O",
        ),
        (
            "10 -",
            "`-` as the gift, but one is due; pieces left: B J O",
        ),
        (
            "10 x",
            "the gift `x` is not a piece of this set; pieces left: B J O",
        ),
    ] {
        let rejection = rejected(request, answer);
        assert!(matches!(rejection.cause, RejectionCause::Illegal(_)));
        assert_eq!(rejection.to_string(), why);
    }
    let rejection = rejected("................ -", "1 A");
    assert_eq!(
        (rejection.cause, &*rejection.problem),
        (
            RejectionCause::Illegal(Illegal::Move(IllegalReason::NothingInHand)),
            "there is no piece in hand to place on cell 1; expected `-` as the cell, this turn only gives"
        )
    );
    let rejection = rejected("MICHFAKEL.JDBNGP O", "10 A");
    assert_eq!(
        (rejection.cause, &*rejection.problem),
        (
            RejectionCause::Illegal(Illegal::NothingToGive),
            "`A` as the gift, but no piece is left to give; expected `-`"
        )
    );
}

/// Whatever gift came with it, even one of two words' length.
#[test]
fn a_winning_placement_needs_no_gift() {
    let edition = Edition::default();
    let before = position("ABC............. D");
    for answer in ["4", "4 -", "4 E", "4 A", "4 D", "4 thanks", "04 x"] {
        let (turn, after) = edition.judge(&before, answer).expect(answer);
        assert_eq!((turn.cell, turn.gift), (Some(cell(4)), None));
        assert!(after.outcome().is_some());
    }
    let malformed = edition.judge(&before, "4 E F");
    let cause = malformed.map_err(|rejection| rejection.cause);
    assert_eq!(
        cause,
        Err(RejectionCause::Malformed(Malformed::TooManyWords))
    );
    let (_, after) = edition.judge(&before, "4").expect("a win");
    let over = edition.judge(&after, "5 E").expect_err("the game is over");
    assert_eq!(over, IllegalReason::GameOver.into());
    assert!(after.turns().is_empty());
}

#[test]
fn turns_are_described_in_the_format_that_people_chose() {
    let turn = |cell: Option<u8>, gift: Option<u8>| Turn {
        cell: cell.and_then(Cell::from_number),
        gift: gift.and_then(Piece::new),
    };
    let before = position("A..PC...J..EF... G");
    for (format, both, placed, given) in [
        (
            PieceFormat::Symbol,
            "places G on 12, gives O",
            "places G on 12",
            "gives O",
        ),
        (
            PieceFormat::Binary,
            "places 0110 on 12, gives 1110",
            "places 0110 on 12",
            "gives 1110",
        ),
        (
            PieceFormat::Decimal,
            "places 6 on 12, gives 14",
            "places 6 on 12",
            "gives 14",
        ),
    ] {
        let edition = Edition {
            format,
            ..Edition::default()
        };
        assert_eq!(
            edition.describe(&before, turn(Some(12), Some(14)), Mood::Told),
            both
        );
        assert_eq!(
            edition.describe(&before, turn(Some(12), None), Mood::Told),
            placed
        );
        assert_eq!(
            edition.describe(&before, turn(None, Some(14)), Mood::Told),
            given
        );
    }
}

#[test]
fn moves_are_turns_only_in_the_order_of_play() {
    let (give, place) = (Move::Give(piece(3)), Move::Place(cell(7)));
    for moves in [&[give][..], &[place], &[place, give]] {
        let turn = Position::turn_of(moves).expect("a turn");
        assert_eq!(turn.moves().collect::<Vec<_>>(), moves);
    }
    for moves in [
        &[][..],
        &[give, place],
        &[give, give],
        &[place, place],
        &[place, give, place],
    ] {
        assert_eq!(Position::turn_of(moves), None);
    }
}

/// Judged answers and listed turns lead to the same positions.
#[test]
fn every_turn_is_accepted_as_it_is_written() {
    let edition = Edition::default();
    for request in [
        "................ -",
        "A..PC...J..EF... G",
        "MICHFAKEL.JDBNGP O",
    ] {
        let before = position(request);
        let turns = before.turns();
        assert!(!turns.is_empty());
        for (turn, after) in turns {
            let written = edition.turn_text(turn);
            assert_eq!(edition.judge(&before, &written), Ok((turn, after)));
            assert_eq!(before.after(turn), Ok(after));
        }
    }
}

#[test]
fn a_winning_placement_is_found_in_play_only() {
    let threat = position("ABC............. D");
    assert!(threat.can_win_at_once());
    assert_eq!(threat.winning_cell(piece(3)), Some(cell(4)));
    let safe = position("ABC............. P");
    assert!(!safe.can_win_at_once());
    assert_eq!(safe.winning_cell(piece(15)), None);
    assert!(!position("ABC............. -").can_win_at_once());
    let (_, won) = Edition::default().judge(&threat, "4").expect("a win");
    assert!(!won.can_win_at_once());
    for late in [Move::Give(piece(4)), Move::Place(cell(5))] {
        let illegal = { won }.play(late).expect_err("the game is over");
        assert_eq!(illegal, IllegalReason::GameOver);
    }
}

#[test]
fn moves_are_those_of_the_side_that_is_to_move() {
    // Nothing in hand: any piece that is left. A piece in hand: any free cell.
    let giving: Vec<Move> = Piece::all().skip(3).map(Move::Give).collect();
    let before = position("ABC............. -");
    assert_eq!(before.moves().collect::<Vec<_>>(), giving);
    let placing: Vec<Move> = Cell::all().skip(3).map(Move::Place).collect();
    let after = position("ABC............. D");
    assert_eq!(after.moves().collect::<Vec<_>>(), placing);
    let (_, won) = Edition::default().judge(&after, "4").expect("a win");
    assert_eq!(won.moves().count(), 0);
    let last = position("MICHFAKEL.JDBNGP O");
    let (_, drawn) = Edition::default().judge(&last, "10 -").expect("a draw");
    assert_eq!(drawn.moves().count(), 0);
}

#[test]
fn a_picture_shows_what_is_left_in_the_order_of_the_set() {
    let csv = include_str!("../../../../sets/english.csv");
    let mut rows: Vec<&str> = csv.lines().collect();
    rows[1..].reverse();
    let reversed = PieceSet::read(rows.join("\n").as_bytes()).expect("a set");
    let request = "MICHFAKEL....NGP D";
    for (set, left) in [(PieceSet::default(), "B J O"), (reversed, "O J B")] {
        let edition = Edition::new(Rules::Standard, set);
        let position = edition.read_request(request).expect("a request");
        let picture = edition.picture(&position, None);
        let symbols = |words: &[String]| {
            let symbols: Vec<&str> = words.iter().map(|words| &words[..1]).collect();
            symbols.join(" ")
        };
        assert_eq!(symbols(&picture.left), left);
        assert_eq!(picture.hand.as_deref(), Some("D small blue square hollow"));
        assert_eq!(picture.last, None);
    }
}
