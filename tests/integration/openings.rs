//! Openings: legal, undecided, drawn from seed and number alone, or read from a file.

use std::collections::BTreeSet;

use referee::game::four_in_a_row::FourInARow;
use referee::game::quarto::{Edition, PieceSet, Rules};
use referee::game::{BuiltinGame as _, BuiltinRuleset, Position as _, Side};
use referee::stats::schedule::round_robin;
use referee::tournament::openings::{DrawError, OpeningsError, at, draw, parse};
use referee::tournament::plan::request::{GamesRequest, PlanRequest};

fn are_different(openings: &[String]) -> bool {
    openings.iter().collect::<BTreeSet<_>>().len() == openings.len()
}

/// What the documentation promises, asked of the board and not of the code that draws.
fn assert_open(edition: &Edition, opening: &str, plies: usize) {
    let position = edition.start_from(opening).expect("a board");
    assert_eq!(position.board().count(), plies);
    assert!(!position.board().has_quarto(position.rules()));
    assert_eq!(position.hand(), None);
    assert_eq!(position.to_move(), Side::First);
    assert!(
        position
            .left()
            .any(|piece| position.winning_cell(piece).is_none()),
        "{opening} is decided"
    );
}

#[test]
fn quarto_openings_are_legal_and_open() {
    for rules in [Rules::Standard, Rules::Squares] {
        let edition = Edition::new(rules, PieceSet::default());
        for plies in [0, 1, 2, 3, 4, 5, 8, 12, 15] {
            let openings = draw(&BuiltinRuleset::new(edition.clone()), 7, plies, 10).unwrap();
            assert_eq!(openings.len(), 10);
            for opening in &openings {
                assert_open(&edition, opening, plies as usize);
            }
            assert_eq!(are_different(&openings), plies > 0);
        }
    }
}

/// Some random boards of ten pieces are decided: without the check they would be drawn.
#[test]
fn decided_boards_exist_and_are_not_drawn() {
    let edition = Edition::default();
    let openings = draw(&BuiltinRuleset::new(edition.clone()), 1, 10, 300).unwrap();
    let tight = openings.iter().filter(|opening| {
        let position = edition.start_from(opening).expect("a board");
        position
            .left()
            .any(|piece| position.winning_cell(piece).is_some())
    });
    assert!(tight.count() > 200, "most have pieces that lose");
    for opening in &openings {
        assert_open(&edition, opening, 10);
    }
}

#[test]
fn four_in_a_row_openings_are_legal_and_open() {
    for plies in [0, 2, 4, 8, 20] {
        let openings = draw(&BuiltinRuleset::new(FourInARow), 3, plies, 20).unwrap();
        for opening in &openings {
            let position = FourInARow.start_from(opening).expect("a board");
            let pieces = opening.chars().filter(|&c| c != '.').count();
            assert_eq!(pieces, plies as usize);
            assert_eq!(position.to_move(), Side::First);
            assert!(position.outcome().is_none());
            assert!(!position.can_win_at_once());
            assert!(
                position
                    .turns()
                    .iter()
                    .any(|(_, after)| { after.outcome().is_none() && !after.can_win_at_once() })
            );
        }
        assert_eq!(are_different(&openings), plies > 0);
    }
}

#[test]
fn the_same_seed_draws_the_same() {
    // Written down: a plan made today is played next year.
    let openings = draw(&BuiltinRuleset::new(Edition::default()), 42, 4, 3).unwrap();
    assert_eq!(
        openings,
        [".FE......P.N....", "C..ED...G.......", ".H.C.I....P....."]
    );
}

#[test]
fn another_seed_draws_others() {
    let edition = Edition::default();
    let seen: BTreeSet<Vec<String>> = (0..50)
        .map(|seed| draw(&BuiltinRuleset::new(edition.clone()), seed, 4, 2).unwrap())
        .collect();
    assert_eq!(seen.len(), 50);
}

#[test]
fn the_number_alone_decides() {
    // However many are drawn, and also when they get rare and come round again.
    for (plies, count) in [(4, 60), (1, 400)] {
        let edition = Edition::default();
        let all = draw(&BuiltinRuleset::new(edition.clone()), 11, plies, count).unwrap();
        for shorter in [1, 2, count / 3, 250.min(count), count - 1] {
            assert_eq!(
                draw(&BuiltinRuleset::new(edition.clone()), 11, plies, shorter).unwrap(),
                all[..shorter]
            );
        }
    }
}

#[test]
fn all_are_used_before_one_comes_again() {
    let openings = draw(&BuiltinRuleset::new(Edition::default()), 5, 1, 600).unwrap();
    assert!(are_different(&openings[..256]), "16 cells, 16 pieces");
    assert_eq!(openings[..256], openings[256..512]);
    assert_eq!(openings[..88], openings[512..]);

    let openings = draw(&BuiltinRuleset::new(FourInARow), 5, 2, 60).unwrap();
    assert!(are_different(&openings[..49]), "7 columns, twice");
    assert_eq!(openings[0], openings[49]);
}

#[test]
fn a_tournament_s_openings_are_different() {
    let openings = draw(&BuiltinRuleset::new(Edition::default()), 1, 4, 2000).unwrap();
    assert!(are_different(&openings));
}

#[test]
fn all_pairings_of_a_round_play_the_same() {
    let rounds: Vec<_> = round_robin(6, 5, 2).collect();
    let openings = draw(&BuiltinRuleset::new(Edition::default()), 1, 4, 10).unwrap();
    for round in &rounds {
        let mut met = BTreeSet::new();
        for pair in round.pairs() {
            met.insert(at(&openings, pair.opening).unwrap());
        }
        assert_eq!(met.len(), 2);
    }
}

#[test]
fn impossible_wishes_are_refused() {
    assert_eq!(
        draw(&BuiltinRuleset::new(FourInARow), 1, 3, 1)
            .unwrap_err()
            .to_string(),
        "after 3 plies it would be the second player's turn; choose an even number of plies"
    );
    for refused in [
        draw(&BuiltinRuleset::new(Edition::default()), 1, 16, 1),
        draw(&BuiltinRuleset::new(FourInARow), 1, u32::MAX - 1, 1),
    ] {
        assert!(matches!(refused, Err(DrawError::NoneOpen { .. })));
    }
    assert_eq!(
        draw(&BuiltinRuleset::new(Edition::default()), 1, 16, 0),
        Ok(vec![])
    );
}

#[test]
fn files_are_read() {
    let text = "\u{feff}# openings for the final\r\n\
        \r\n\
        AB..............\r\n\
        \t................  # the empty board\n\
        #...............\n\
        ..............BA";
    let openings = parse(&BuiltinRuleset::new(Edition::default()), text).unwrap();
    assert_eq!(
        openings,
        ["AB..............", "................", "..............BA"]
    );
    assert_eq!(at(&openings, 4), Some("................"));
    assert_eq!(at(&[], 4), None);
}

#[test]
fn a_piece_may_look_like_a_comment() {
    let csv = include_str!("../../sets/english.csv").replace("\nA,", "\n#,");
    let set = PieceSet::parse(&csv).unwrap();
    let openings = parse(
        &BuiltinRuleset::new(Edition::new(Rules::Standard, set)),
        "#B..............\n# B\n",
    );
    assert_eq!(openings.unwrap(), ["#B.............."]);
}

fn refusal(text: &str) -> String {
    let refused = parse(&BuiltinRuleset::new(Edition::default()), text);
    refused.unwrap_err().to_string()
}

#[test]
fn errors_name_the_line() {
    assert_eq!(
        refusal("# one\n\nAB.............\n"),
        "line 3: a board is 16 characters, one a cell, row by row; found 15"
    );
    assert_eq!(
        refusal("AB..............\n.B.....?........\n"),
        "line 2: cell 8 holds `?`, which is not a piece of this set; expected a piece or `.`"
    );
    assert_eq!(
        refusal("A.............A.\n"),
        "line 1: the piece A stands on cells 1 and 15; every piece exists once"
    );
    assert!(refusal("\n\nABCD............").starts_with("line 3: there is a quarto already"));
    assert_eq!(
        refusal("AB..............\n# again\n  AB..............\n"),
        "line 3: the same board as in line 1"
    );
    for empty in ["", "\n\n", "# nothing\n"] {
        assert!(refusal(empty).starts_with("there is no opening in it"));
    }
    let hanging = format!("{}\n@{}\n", ".".repeat(42), ".".repeat(41));
    let error = parse(&BuiltinRuleset::new(FourInARow), &hanging).unwrap_err();
    assert!(matches!(error, OpeningsError::Board { line: 2, .. }));
}

#[test]
fn openings_of_a_file_are_checked_and_none_are_drawn() {
    let file = tempfile::NamedTempFile::new().unwrap();
    let request = PlanRequest {
        games: GamesRequest {
            openings: Some(file.path().to_owned()),
            opening_plies: Some(16),
            ..GamesRequest::default()
        },
        ..PlanRequest::default()
    };
    let check = || request.check_openings(&BuiltinRuleset::new(Edition::default()), 7);
    let empty = check().unwrap_err().to_string();
    assert!(empty.contains("there is no opening in it"), "{empty}");
    std::fs::write(file.path(), "AB..............\n").unwrap();
    check().unwrap();
}
