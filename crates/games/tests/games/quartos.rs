//! Quartos, held against a second opinion that knows words only: a line is a quarto when the words of its four pieces
//! have one in common.

use std::collections::{HashMap, HashSet};

use proptest::prelude::*;
use proptest::test_runner::RngSeed;
use referee_games::game::quarto::{Board, Cell, Piece, PieceSet, Rules};

const ENGLISH: &str = include_str!("../../../../sets/english.csv");

const CUSTOM: &str = "\
stukje,hoogte,Farbe,forme,gat
♔,laag,schwarz,ronde,dicht
♕,hoog,weiß,carrée,open
♖,laag,weiß,carrée,open
♗,hoog,schwarz,carrée,open
♘,laag,schwarz,carrée,open
♙,hoog,weiß,ronde,open
♚,laag,weiß,ronde,open
♛,hoog,schwarz,ronde,open
♜,laag,schwarz,ronde,open
♝,hoog,weiß,carrée,dicht
♞,laag,weiß,carrée,dicht
♟,hoog,schwarz,carrée,dicht
é,laag,schwarz,carrée,dicht
😀,hoog,weiß,ronde,dicht
a,laag,weiß,ronde,dicht
.,hoog,schwarz,ronde,dicht
";

/// As people count cells.
const LINES: [(&str, [usize; 4]); 19] = [
    ("H1", [1, 2, 3, 4]),
    ("H2", [5, 6, 7, 8]),
    ("H3", [9, 10, 11, 12]),
    ("H4", [13, 14, 15, 16]),
    ("V1", [1, 5, 9, 13]),
    ("V2", [2, 6, 10, 14]),
    ("V3", [3, 7, 11, 15]),
    ("V4", [4, 8, 12, 16]),
    ("D1", [1, 6, 11, 16]),
    ("D2", [4, 7, 10, 13]),
    ("S1", [1, 2, 5, 6]),
    ("S2", [2, 3, 6, 7]),
    ("S3", [3, 4, 7, 8]),
    ("S4", [5, 6, 9, 10]),
    ("S5", [6, 7, 10, 11]),
    ("S6", [7, 8, 11, 12]),
    ("S7", [9, 10, 13, 14]),
    ("S8", [10, 11, 14, 15]),
    ("S9", [11, 12, 15, 16]),
];

fn lines(rules: Rules) -> &'static [(&'static str, [usize; 4])] {
    match rules {
        Rules::Standard => &LINES[..10],
        Rules::Squares => &LINES,
    }
}

fn words(csv: &'static str) -> HashMap<char, Vec<&'static str>> {
    let rows = csv.lines().skip(1).map(|row| row.split(','));
    rows.map(|mut fields| {
        let symbol = fields.next().and_then(|field| field.chars().next());
        (symbol.expect("a character"), fields.collect())
    })
    .collect()
}

fn by_words(
    csv: &'static str,
    configuration: &str,
    rules: Rules,
) -> Vec<(&'static str, &'static str)> {
    let words = words(csv);
    let cells: Vec<Option<&Vec<&str>>> = configuration.chars().map(|c| words.get(&c)).collect();
    let mut found = Vec::new();
    for (name, numbers) in lines(rules) {
        let pieces: Option<Vec<_>> = numbers.iter().map(|&number| cells[number - 1]).collect();
        let Some(pieces) = pieces else { continue };
        let sets = pieces.iter().map(|&piece| {
            let set: HashSet<&str> = piece.iter().copied().collect();
            set
        });
        let common = sets.reduce(|a, b| &a & &b).unwrap_or_default();
        // In the order of the file's features.
        let common = pieces[0].iter().filter(|word| common.contains(*word));
        found.extend(common.map(|word| (*name, *word)));
    }
    found
}

/// Sixteen numbers: below 16 the piece of that row, otherwise an empty cell.
fn sketch() -> impl Strategy<Value = Vec<usize>> {
    let any = || prop::collection::vec(0..20_usize, 16);
    prop_oneof![
        any(),
        // A few pieces only, which gives many quartos.
        (any(), 1..16_usize).prop_map(|(cells, mask)| {
            let thin = |cell: usize| if cell < 16 { cell & mask } else { cell };
            cells.into_iter().map(thin).collect()
        }),
        // As in games: every piece once, some cells empty.
        (
            Just((0..16).collect::<Vec<usize>>()).prop_shuffle(),
            0..8_usize,
            any()
        )
            .prop_map(|(cells, holes, dice)| {
                let cells = cells.into_iter().zip(dice);
                cells
                    .map(|(cell, die)| if die < holes { 16 } else { cell })
                    .collect()
            }),
    ]
}

/// Empty cells are written in several ways.
fn configuration(csv: &str, sketch: &[usize], empty: char) -> String {
    let symbols: Vec<char> = csv
        .lines()
        .skip(1)
        .filter_map(|row| row.chars().next())
        .collect();
    sketch
        .iter()
        .map(|&cell| symbols.get(cell).copied().unwrap_or(empty))
        .collect()
}

fn empty() -> impl Strategy<Value = char> {
    prop::sample::select(vec!['?', '#', ' ', '_', '\u{0}', 'Z', '漢', '\u{1f601}'])
}

fn rules() -> impl Strategy<Value = Rules> {
    prop::sample::select(vec![Rules::Standard, Rules::Squares])
}

fn config(cases: u32) -> ProptestConfig {
    ProptestConfig {
        cases,
        failure_persistence: None,
        rng_seed: RngSeed::Fixed(1),
        ..ProptestConfig::default()
    }
}

proptest! {
    #![proptest_config(config(400))]

    #[test]
    fn quartos_are_lines_with_a_word_in_common(
        sketch in sketch(),
        empty in empty(),
        rules in rules(),
    ) {
        let set = PieceSet::default();
        let text = configuration(ENGLISH, &sketch, empty);
        prop_assert_eq!(set.quartos(&text, rules), Ok(by_words(ENGLISH, &text, rules)), "{}", text);
    }

    #[test]
    fn quartos_of_other_words_too(
        sketch in sketch(),
        empty in empty(),
        rules in rules(),
    ) {
        let set = PieceSet::parse(CUSTOM).expect("a good set");
        let text = configuration(CUSTOM, &sketch, empty);
        prop_assert_eq!(set.quartos(&text, rules), Ok(by_words(CUSTOM, &text, rules)), "{}", text);
    }

    #[test]
    fn grids_hold_the_words(sketch in sketch(), empty in empty()) {
        let set = PieceSet::parse(CUSTOM).expect("a good set");
        let text = configuration(CUSTOM, &sketch, empty);
        let words = words(CUSTOM);
        let grid = set.grid(&text).expect("16 characters");
        for (cell, symbol) in grid.iter().flatten().zip(text.chars()) {
            prop_assert_eq!(cell.map(|cell| cell.to_vec()), words.get(&symbol).cloned());
        }
    }
}

proptest! {
    #![proptest_config(config(150))]

    #[test]
    fn a_win_is_seen_before_the_piece_is_placed(sketch in sketch(), rules in rules()) {
        let text = configuration(ENGLISH, &sketch, '.');
        let board = PieceSet::default().configuration(&text).expect("16 characters");
        prop_assert_eq!(
            board.has_quarto(rules),
            !by_words(ENGLISH, &text, rules).is_empty()
        );
        for cell in board.free() {
            for piece in Piece::all() {
                let mut after = board;
                prop_assert!(after.place(cell, piece));
                let made = after.quartos(rules).any(|quarto| quarto.line.cells().contains(&cell));
                prop_assert_eq!(board.would_win(cell, piece, rules), made);
                prop_assert_eq!(after.has_quarto_through(cell, rules), made);
            }
        }
    }

    #[test]
    fn an_occupied_cell_refuses_and_nothing_changes(sketch in sketch()) {
        let text = configuration(ENGLISH, &sketch, '.');
        let board = PieceSet::default().configuration(&text).expect("16 characters");
        prop_assert_eq!(board.free().count() + board.count(), 16);
        for (cell, _) in board.pieces() {
            let mut after = board;
            prop_assert!(!after.place(cell, Piece::all().next().expect("a piece")));
            prop_assert_eq!(after, board);
        }
    }

    #[test]
    fn the_order_of_placing_does_not_matter(
        sketch in sketch(),
        order in Just((0..16_u8).collect::<Vec<_>>()).prop_shuffle(),
    ) {
        let text = configuration(ENGLISH, &sketch, '.');
        let expected = PieceSet::default().configuration(&text).expect("16 characters");
        let mut board = Board::default();
        for index in order {
            let cell = Cell::from_index(index).expect("a cell");
            if let Some(piece) = expected.get(cell) {
                prop_assert!(board.place(cell, piece));
            }
        }
        prop_assert_eq!(board, expected);
    }
}

#[test]
fn the_second_opinion_knows_the_examples() {
    assert_eq!(
        by_words(ENGLISH, "N?BI??JO?FDLMEAG", Rules::Standard),
        [("H4", "big"), ("V3", "square"), ("D2", "red")]
    );
    assert_eq!(
        by_words(ENGLISH, "KHEF#DCMXABJPGOL", Rules::Standard),
        [("H4", "blue"), ("V2", "hollow"), ("D1", "square")]
    );
}

#[test]
fn lines_have_the_names_and_cells_that_people_know() {
    for rules in [Rules::Standard, Rules::Squares] {
        let found: Vec<(&str, [usize; 4])> = rules
            .lines()
            .map(|line| {
                (
                    line.name(),
                    line.cells().map(|cell| usize::from(cell.number())),
                )
            })
            .collect();
        assert_eq!(found, lines(rules));
    }
}

#[test]
fn a_line_can_be_a_quarto_in_several_properties() {
    let set = PieceSet::default();
    assert_eq!(
        set.quartos("AAAA............", Rules::Squares),
        Ok(vec![
            ("H1", "big"),
            ("H1", "red"),
            ("H1", "square"),
            ("H1", "hollow")
        ])
    );
    // Of a full board of one piece every line is a quarto in every property.
    for (rules, count) in [(Rules::Standard, 40), (Rules::Squares, 76)] {
        let found = set.quartos("PPPPPPPPPPPPPPPP", rules).expect("16");
        assert_eq!(found.len(), count);
    }
}

#[test]
fn a_configuration_is_sixteen_characters() {
    let set = PieceSet::default();
    for (text, found) in [
        ("", 0),
        ("A", 1),
        ("ABCDEFGHIJKLMNO", 15),
        ("ABCDEFGHIJKLMNOPA", 17),
        ("éééééééé", 8),
    ] {
        let error = set.configuration(text).expect_err("not 16 characters");
        assert_eq!(error.found, found, "{text:?}");
        let s = if found == 1 { "" } else { "s" };
        assert_eq!(
            error.to_string(),
            format!(
                "a configuration is 16 characters, one a cell, row by row; found {found} character{s}"
            )
        );
        assert_eq!(
            set.quartos(text, Rules::Standard).map_err(|e| e.found),
            Err(found)
        );
    }
    assert!(set.configuration("éééééééééééééééé").is_ok());
}
