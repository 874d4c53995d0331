//! Replaying tells what is wrong with a record, and where. And records keep what they hold.

use std::time::Duration;

use referee::game::quarto::{Edition, PieceSet, Rules};
use referee::game::{BuiltinRuleset, Game, Outcome, Ruleset as _, Side};
use referee::play::game::{End, Played, play};
use referee::play::replay::replay;
use referee::play::violation::Violation;
use referee::play::{Clock, GameEvent, TimeControl};
use referee::protocol::ForfeitReason;
use referee::record::{BotEntry, BotIndex, Reason as Word, Record, ResultEntry, TurnText, VERSION};
use serde_json::{Map, Value, json};

use crate::scripted::Scripted;

/// A game won by its first side: A, B, C and D on H1, which share two properties.
const WON: [&str; 5] = ["- A", "1 B", "2 C", "3 D", "4 -"];

/// A game that fills the board.
const DRAWN: [&str; 17] = [
    "- M", "1 P", "16 K", "7 E", "8 H", "4 N", "14 F", "5 A", "6 L", "9 I", "2 C", "3 G", "15 D",
    "12 B", "13 J", "11 O", "10 -",
];

/// Plays the answers, turn by turn.
fn played(answers: &[&str]) -> (Played, Box<dyn Game>) {
    let mut session = BuiltinRuleset::new(Edition::default()).start();
    // Sides answer in turn.
    let of = |side| Scripted::new(answers.iter().copied().skip(side).step_by(2));
    let (mut first, mut second) = (of(0), of(1));
    let clocks = [Clock::new(TimeControl::default()); 2];
    let players = [&mut first, &mut second];
    let played = tokio::runtime::Builder::new_current_thread()
        .build()
        .expect("a runtime")
        .block_on(play(&mut *session, players, clocks, false, &mut |_| Ok(())))
        .expect("nothing that can fail");
    (played, session)
}

/// All that decides how a game goes on.
fn position_of(session: &dyn Game) -> (String, Side, Option<Outcome>) {
    (session.request(), session.to_move(), session.outcome())
}

fn bot(name: &str) -> BotEntry {
    BotEntry {
        name: name.to_owned(),
        command: vec![format!("players/{name}")],
        changed: None,
        more: Map::new(),
    }
}

/// What a match would write of the game that these answers make; `first` began.
fn record(answers: &[&str], first: usize) -> Record {
    let (played, last) = played(answers);
    let first = BotIndex::ALL[first];
    let bots = [first, first.other()];
    let result = match &played.end {
        End::Outcome(Outcome::Draw) => ResultEntry {
            reason: Word::Draw,
            ..ResultEntry::default()
        },
        End::Outcome(Outcome::Win(side)) => ResultEntry {
            winner: Some(bots[side.index()]),
            reason: Word::from("quarto"),
            lines: last.winning_lines(),
            ..ResultEntry::default()
        },
        End::Adjudicated(_) => unreachable!("nobody asked for it"),
        End::Forfeit(side, fault) => ResultEntry {
            winner: Some(bots[side.other().index()]),
            reason: Word::Forfeit(fault.reason()),
            by: Some(bots[side.index()]),
            answer: Some(fault.answer()),
            detail: Some(fault.to_string()),
            ..ResultEntry::default()
        },
    };
    Record {
        v: VERSION,
        game: "quarto".to_owned(),
        rules: "standard".to_owned(),
        id: "7-1".to_owned(),
        bots: [bot("greedy.py"), bot("random.py")],
        first,
        seed: 7,
        start: "................".to_owned(),
        pieces: None,
        movers: None,
        times_ms: vec![0.25; played.turns.len()],
        charged_ms: Vec::new(),
        info: Vec::new(),
        turns: played.turns,
        result,
        started: "2026-01-31T10:00:00Z".to_owned(),
        usage: None,
        processes: None,
        delayed: None,
        voids: 0,
        tie_break: false,
        game_changed: None,
        more: Map::new(),
    }
}

fn violation(record: &Record) -> Option<Violation> {
    replay(
        &BuiltinRuleset::new(Edition::default()),
        record,
        &mut |_| {},
    )
    .err()
}

/// Changes a good record and expects a violation in this turn that names these words.
#[track_caller]
fn broken(record: &Record, change: impl FnOnce(&mut Record), turn: Option<usize>, words: &[&str]) {
    assert_eq!(violation(record), None, "the record is good to begin with");
    let mut changed = record.clone();
    change(&mut changed);
    let violation = violation(&changed).expect("a violation");
    assert_eq!(violation.turn, turn, "{}", violation.problem);
    let problem = violation.problem.to_string();
    for word in words {
        assert!(problem.contains(word), "no {word:?} in: {problem}");
    }
}

fn set_turn(index: usize, text: &str) -> impl FnOnce(&mut Record) {
    move |record| record.turns[index] = TurnText::from(text)
}

#[test]
fn played_games_replay() {
    for (first, bot) in BotIndex::ALL.into_iter().enumerate() {
        let won = record(&WON, first);
        assert_eq!(violation(&won), None);
        // The fifth turn is the beginner's.
        assert_eq!(won.result.winner, Some(bot));
        let lines = &won.result.lines;
        assert_eq!(lines.len(), 2, "{lines:?}");
        let drawn = record(&DRAWN, first);
        assert_eq!(violation(&drawn), None);
        assert_eq!(drawn.result.reason.name(), "draw");
        assert_eq!(drawn.turns.len(), 17);
        let forfeited = record(&WON[..3], first);
        assert_eq!(violation(&forfeited), None);
        // The scripted player has no fourth answer.
        assert_eq!(forfeited.result.reason.name(), "exited");
        assert_eq!(forfeited.result.by, Some(bot.other()));
        assert_eq!(forfeited.result.winner, Some(bot));
    }
}

#[test]
fn a_replay_ends_where_the_game_did() {
    for answers in [&WON[..], &DRAWN[..], &WON[..2]] {
        let replayed = replay(
            &BuiltinRuleset::new(Edition::default()),
            &record(answers, 1),
            &mut |_| {},
        );
        let replayed = replayed.expect("a good record");
        let (_, played) = played(answers);
        assert_eq!(position_of(&*replayed), position_of(&*played));
    }
}

#[test]
fn a_wrong_result_is_told() {
    let won = record(&WON, 0);
    let drawn = record(&DRAWN, 0);
    broken(
        &won,
        |r| r.result.winner = Some(BotIndex::B),
        None,
        &["winner"],
    );
    broken(&won, |r| r.result.winner = None, None, &["winner"]);
    broken(
        &drawn,
        |r| r.result.winner = Some(BotIndex::A),
        None,
        &["winner"],
    );
    // The same turns, but the other bot began: then it won.
    broken(&won, |r| r.first = BotIndex::B, None, &["winner"]);
    broken(
        &won,
        |r| r.result.reason = Word::from("draw"),
        None,
        &["draw", "quarto"],
    );
    broken(
        &drawn,
        |r| r.result.reason = Word::from("quarto"),
        None,
        &["draw", "quarto"],
    );
    broken(
        &won,
        |r| r.result.reason = Word::from("timeout"),
        None,
        &["timeout", "quarto"],
    );
    broken(
        &won,
        |r| r.result.reason = Word::from("victory"),
        None,
        &["victory", "quarto"],
    );
}

#[test]
fn wrong_lines_are_told() {
    let won = record(&WON, 0);
    broken(
        &won,
        |r| r.result.lines.clear(),
        None,
        &["lines", "H1", "square", "hollow"],
    );
    broken(&won, |r| r.result.lines.truncate(1), None, &["lines"]);
    broken(&won, |r| r.result.lines.reverse(), None, &["lines"]);
    broken(
        &won,
        |r| r.result.lines[0].0 = "V1".to_owned(),
        None,
        &["V1", "H1"],
    );
    broken(
        &won,
        |r| r.result.lines[0].1 = "round".to_owned(),
        None,
        &["round", "square"],
    );
    let line = ("H1".to_owned(), "big".to_owned());
    broken(
        &record(&DRAWN, 0),
        |r| r.result.lines.push(line),
        None,
        &["lines"],
    );
}

#[test]
fn an_illegal_turn_is_told_with_its_number() {
    let won = record(&WON, 0);
    let drawn = record(&DRAWN, 0);
    broken(&won, set_turn(0, "1 A"), Some(1), &["no piece in hand"]);
    broken(
        &won,
        set_turn(1, "17 B"),
        Some(2),
        &["no cell 17", "free cells"],
    );
    broken(&won, set_turn(1, "- B"), Some(2), &["must be placed"]);
    broken(
        &won,
        set_turn(2, "1 C"),
        Some(3),
        &["cell 1 is occupied by A"],
    );
    broken(
        &won,
        set_turn(2, "2 A"),
        Some(3),
        &["A is on the board", "pieces left"],
    );
    broken(
        &won,
        set_turn(2, "2 B"),
        Some(3),
        &["B is the piece that was in hand"],
    );
    broken(
        &won,
        set_turn(2, "2 Q"),
        Some(3),
        &["Q", "not a piece of this set"],
    );
    broken(&won, set_turn(2, "2 -"), Some(3), &["but one is due"]);
    broken(
        &drawn,
        set_turn(16, "1 -"),
        Some(17),
        &["cell 1 is occupied"],
    );
    broken(
        &drawn,
        set_turn(16, "10 A"),
        Some(17),
        &["no piece is left"],
    );
    broken(&won, |r| r.turns.swap(0, 1), Some(1), &["no piece in hand"]);
}

#[test]
fn a_malformed_turn_is_told_with_its_number() {
    let won = record(&WON, 0);
    broken(&won, set_turn(1, ""), Some(2), &["empty"]);
    broken(&won, set_turn(1, "one B"), Some(2), &["`one`"]);
    broken(&won, set_turn(1, "1 B C"), Some(2), &["two words"]);
    broken(&won, set_turn(1, "1"), Some(2), &["the gift is missing"]);
    broken(&won, set_turn(1, "1 B\n"), Some(2), &["\\n"]);
    broken(&won, set_turn(1, "\u{1b}[2J"), Some(2), &["\\x1b[2J"]);
}

#[test]
fn a_turn_that_is_not_canonical_is_told_with_its_number() {
    let won = record(&WON, 0);
    let drawn = record(&DRAWN, 0);
    for (index, text) in [
        (0, "A"),
        (1, "01 B"),
        (1, "1  B"),
        (1, "1\tB"),
        (1, " 1 B"),
        (1, "1 B "),
    ] {
        let canonical = format!("`{}`", WON[index]);
        let words = ["canonical", &canonical];
        broken(&won, set_turn(index, text), Some(index + 1), &words);
    }
    // A gift that came with the winning placement is not written.
    broken(&won, set_turn(4, "4 E"), Some(5), &["canonical", "`4 -`"]);
    broken(&won, set_turn(4, "4"), Some(5), &["canonical", "`4 -`"]);
    broken(
        &drawn,
        set_turn(16, "10"),
        Some(17),
        &["canonical", "`10 -`"],
    );
}

#[test]
fn turns_after_the_end_are_told_with_their_number() {
    let more = |text: &'static str| {
        move |record: &mut Record| {
            record.turns.push(TurnText::from(text));
            record.times_ms.push(0.25);
        }
    };
    let won = record(&WON, 0);
    broken(&won, more("5 E"), Some(6), &["5 E", "after the end"]);
    broken(&won, more("- E"), Some(6), &["after the end"]);
    let drawn = record(&DRAWN, 0);
    for text in ["-", "- -", "1 -", ""] {
        broken(&drawn, more(text), Some(18), &["after the end"]);
    }
}

#[test]
fn a_game_that_is_cut_short_is_told() {
    let cut = |record: &mut Record| {
        record.turns.pop();
        record.times_ms.pop();
    };
    broken(&record(&WON, 0), cut, None, &["not over", "quarto"]);
    broken(&record(&DRAWN, 0), cut, None, &["not over", "draw"]);
}

#[test]
fn times_belong_to_turns() {
    let won = record(&WON, 0);
    broken(
        &won,
        |r| r.times_ms.truncate(4),
        None,
        &["5 turns", "4 times"],
    );
    broken(
        &won,
        |r| r.times_ms.push(1.0),
        None,
        &["5 turns", "6 times"],
    );
    broken(&won, |r| r.times_ms[2] = -1.0, Some(3), &["-1"]);
    broken(&won, |r| r.times_ms[2] = f64::NAN, Some(3), &["time"]);
    broken(&won, |r| r.times_ms[4] = f64::INFINITY, Some(5), &["time"]);
}

/// Of games in which sides do not answer in turn, records say who did.
#[test]
fn turns_are_made_by_the_side_that_was_to_move() {
    let won = record(&WON, 0);
    let movers =
        |text: &'static str| move |record: &mut Record| record.movers = Some(text.to_owned());
    let mut told = won.clone();
    movers("01010")(&mut told);
    assert_eq!(violation(&told), None);
    broken(&won, movers("01110"), Some(3), &["the other side made it"]);
    broken(&won, movers("11010"), Some(1), &["the other side made it"]);
    broken(&won, movers("0101"), None, &["`0101`", "each of 5 turns"]);
    broken(&won, movers("01012"), None, &["`01012`", "0 or 1"]);
}

#[test]
fn only_who_was_to_move_can_have_forfeited() {
    let forfeited = record(&WON[..3], 0);
    let swap = |record: &mut Record| {
        record.result.by = Some(BotIndex::A);
        record.result.winner = Some(BotIndex::B);
    };
    broken(&forfeited, swap, None, &["forfeit"]);
    broken(&forfeited, |r| r.result.by = None, None, &["forfeit"]);
    broken(&forfeited, |r| r.result.winner = None, None, &["forfeit"]);
    broken(
        &forfeited,
        |r| r.result.winner = Some(BotIndex::B),
        None,
        &["forfeit"],
    );
    broken(&forfeited, |r| r.first = BotIndex::B, None, &["forfeit"]);
    broken(
        &forfeited,
        |r| r.result.reason = Word::from("boredom"),
        None,
        &["boredom"],
    );
    broken(
        &forfeited,
        |r| r.result.reason = Word::from("quarto"),
        None,
        &["quarto", "not over"],
    );
    // All reasons there are will do.
    for reason in ForfeitReason::ALL {
        let mut other = forfeited.clone();
        other.result.reason = Word::Forfeit(reason);
        assert_eq!(violation(&other), None, "{reason}");
    }
    // A bot that never got going forfeits games without being asked.
    let unplayed = record(&[], 0);
    assert_eq!(violation(&unplayed), None);
    let mut other = unplayed;
    swap(&mut other);
    other.result.by = Some(BotIndex::B);
    other.result.winner = Some(BotIndex::A);
    assert_eq!(violation(&other), None);
}

#[test]
fn a_game_that_ended_by_the_rules_was_not_forfeited() {
    broken(
        &record(&WON, 0),
        |r| r.result.by = Some(BotIndex::B),
        None,
        &["forfeit"],
    );
    broken(
        &record(&DRAWN, 0),
        |r| r.result.by = Some(BotIndex::B),
        None,
        &["forfeit"],
    );
}

#[test]
fn a_forfeited_game_has_no_winning_lines() {
    let line = ("H1".to_owned(), "big".to_owned());
    let forfeited = record(&WON[..3], 0);
    broken(&forfeited, |r| r.result.lines.push(line), None, &["lines"]);
}

#[test]
fn a_start_that_cannot_be_is_told() {
    let won = record(&WON, 0);
    for (start, words) in [
        ("", &["16 characters", "found 0"][..]),
        ("...............", &["found 15"]),
        ("AA..............", &["A", "cells 1 and 2"]),
        ("?...............", &["cell 1", "?"]),
        ("ABCD............", &["quarto already", "H1"]),
        ("MDBFEJPLHCINKGOA", &["start"]),
    ] {
        broken(&won, |r| r.start = start.to_owned(), None, words);
    }
    // A start with a piece that is given later.
    let start = |r: &mut Record| r.start = "............C...".to_owned();
    broken(&won, start, Some(3), &["C is on the board"]);
}

#[test]
fn rules_and_words_matter() {
    // The win holds no square; the draw does, and so ends earlier.
    let won = record(&WON, 0);
    let squares = BuiltinRuleset::new(Edition::new(Rules::Squares, PieceSet::default()));
    assert!(replay(&squares, &won, &mut |_| {}).is_ok());
    let drawn = record(&DRAWN, 0);
    let replayed = replay(&squares, &drawn, &mut |_| {});
    let Err(violation) = replayed else {
        panic!("a board without a quarto under the rules with squares");
    };
    assert!(violation.turn.is_some(), "{violation:?}");
    let dutch = PieceSet::parse(include_str!("../../sets/dutch.csv")).expect("a good set");
    let dutch = BuiltinRuleset::new(Edition::new(Rules::Standard, dutch));
    let Err(violation) = replay(&dutch, &won, &mut |_| {}) else {
        panic!("English words in a Dutch game");
    };
    let problem = violation.problem.to_string();
    assert!(problem.contains("vierkant"), "{problem}");
}

#[test]
fn records_are_written_and_read_again() {
    for record in [record(&WON, 0), record(&DRAWN, 1), record(&WON[..3], 1)] {
        let line = record.to_line().expect("JSON");
        assert!(!line.contains('\n'), "{line}");
        assert_eq!(Record::from_line(line.as_bytes()), Ok(record.clone()));
        // As lines are read from files.
        assert_eq!(
            Record::from_line(format!("{line}\r\n").as_bytes()),
            Ok(record)
        );
    }
}

/// The JSON of a good record.
fn json_of(answers: &[&str]) -> Value {
    serde_json::to_value(record(answers, 0)).expect("JSON")
}

#[test]
fn records_have_the_fields_that_scripts_rely_on() {
    let won = json_of(&WON);
    let keys: Vec<&String> = won.as_object().expect("an object").keys().collect();
    let expected = [
        "v", "game", "rules", "id", "bots", "first", "seed", "start", "turns", "times_ms",
        "result", "started",
    ];
    assert_eq!(keys, expected);
    assert_eq!(
        won["result"],
        json!({"winner": 0, "reason": "quarto", "lines": [["H1", "square"], ["H1", "hollow"]]})
    );
    assert_eq!(json_of(&DRAWN)["result"]["winner"], Value::Null);
    let forfeited = json_of(&WON[..3]);
    let keys: Vec<&String> = forfeited["result"]
        .as_object()
        .expect("an object")
        .keys()
        .collect();
    assert_eq!(
        keys,
        ["winner", "reason", "lines", "by", "answer", "detail"]
    );
}

/// A value with further fields is the same after reading and writing.
#[track_caller]
fn kept(value: &Value) {
    let record = Record::from_line(value.to_string().as_bytes()).expect("a record");
    let line = record.to_line().expect("JSON");
    let again: Value = serde_json::from_str(&line).expect("JSON");
    assert_eq!(again, *value);
}

#[test]
fn unknown_fields_of_a_record_are_kept() {
    let mut value = json_of(&WON);
    value["event"] = json!({"round": 3, "tables": [1, null, "é"]});
    value["comment"] = json!("…");
    kept(&value);
}

/// Not the nearest number but one, as a quick reader takes it.
#[test]
fn numbers_of_many_digits_stay_as_they_were() {
    let line = json_of(&WON).to_string();
    for number in [
        "3.3333333333333334e+48",
        "1.7976931348623157e+308",
        "8.41e+21",
        "123456789.12345679",
    ] {
        let line = line.replacen("{\"v\"", &format!("{{\"clock\":{number},\"v\""), 1);
        let record = Record::from_line(line.as_bytes()).expect("a record");
        let again = record.to_line().expect("JSON");
        assert!(again.contains(&format!("\"clock\":{number}")), "{again}");
    }
}

#[test]
fn unknown_fields_of_a_result_are_kept() {
    let mut value = json_of(&WON[..3]);
    value["result"]["memory_kb"] = json!([1, 2.5, {"x": false}]);
    kept(&value);
}

#[test]
fn unknown_fields_of_a_bot_are_kept() {
    let mut value = json_of(&WON);
    value["bots"][1]["elo"] = json!(1200);
    kept(&value);
}

#[test]
fn records_that_are_none_are_refused_with_a_reason() {
    let good = json_of(&WON);
    let refused = |change: &dyn Fn(&mut Value), word: &str| {
        let mut value = good.clone();
        change(&mut value);
        let problem = Record::from_line(value.to_string().as_bytes()).expect_err(word);
        let problem = problem.to_string();
        assert!(problem.contains(word), "no {word:?} in: {problem}");
    };
    refused(&|value| value["v"] = json!(2), "version 2");
    let two = "a bot has the number 2; expected 0 or 1";
    refused(&|value| value["first"] = json!(2), two);
    refused(&|value| value["result"]["winner"] = json!(2), two);
    refused(
        &|value| value["result"]["by"] = json!(7),
        "a bot has the number 7; expected 0 or 1",
    );
    refused(
        &|value| value["turns"] = json!("- A"),
        "expected a sequence",
    );
    refused(&|value| value["bots"] = json!([]), "expected an array");
    refused(
        &|value| {
            value.as_object_mut().map(|fields| fields.remove("turns"));
        },
        "turns",
    );
    for line in ["", "{", "[]", "null", "not JSON"] {
        let problem = Record::from_line(line.as_bytes()).expect_err("no record");
        let problem = problem.to_string();
        assert!(
            problem.contains("expected one record per line"),
            "{line:?}: {problem}"
        );
    }
}

#[test]
fn result_lines_are_those_of_the_contract() {
    let line = |answers: &[&str], first| record(answers, first).result_line();
    assert_eq!(line(&WON, 0), "greedy.py wins: H1 square, H1 hollow.");
    assert_eq!(line(&WON, 1), "random.py wins: H1 square, H1 hollow.");
    assert_eq!(line(&DRAWN, 0), "Draw.");
    assert_eq!(
        line(&WON[..3], 0),
        "greedy.py wins: random.py forfeits (exited)."
    );
}

// Adjudicated games

/// The game of these answers, ended there as the game of a proven value.
fn adjudicated(answers: &[&str], first: usize, winner: Option<BotIndex>) -> Record {
    Record {
        result: ResultEntry {
            winner,
            reason: winner.map_or(Word::Draw, |_| Word::from("quarto")),
            adjudicated: true,
            ..ResultEntry::default()
        },
        ..record(answers, first)
    }
}

#[test]
fn an_adjudicated_result_is_proven_again() {
    // One cell is left, where nothing is completed.
    for first in [0, 1] {
        assert_eq!(violation(&adjudicated(&DRAWN[..16], first, None)), None);
    }
    // A gift that completes a line, to the player that did not begin.
    let mut lost = DRAWN[..12].to_vec();
    lost.push("15 O");
    for (first, bot) in BotIndex::ALL.into_iter().enumerate() {
        let record = adjudicated(&lost, first, Some(bot.other()));
        assert_eq!(violation(&record), None);
    }
    let won = adjudicated(&lost, 0, Some(BotIndex::B));
    for (wrong, name) in [(Some(BotIndex::A), "greedy.py"), (None, "no bot")] {
        let wrong = violation(&adjudicated(&lost, 0, wrong)).expect("a violation");
        assert_eq!(wrong.turn, None);
        assert_eq!(
            wrong.problem.to_string(),
            format!("the winner is {name}; by best play it is random.py")
        );
    }
    let reason = "by best play it is `quarto`";
    broken(&won, |r| r.result.reason = Word::Draw, None, &[reason]);
    broken(
        &won,
        |r| r.result.reason = Word::from("timeout"),
        None,
        &[reason],
    );
    let forfeit = "a forfeit by random.py, but the game ended by best play";
    broken(&won, |r| r.result.by = Some(BotIndex::B), None, &[forfeit]);
    let line = ("H1".to_owned(), "square".to_owned());
    let lines = "the winning lines are H1 square; by best play they are none";
    broken(&won, |r| r.result.lines.push(line), None, &[lines]);
    broken(
        &adjudicated(&DRAWN[..16], 0, None),
        |r| r.result.reason = Word::from("quarto"),
        None,
        &["the result's reason is `quarto`; by best play it is `draw`"],
    );
    // What is over needs no verdict.
    broken(
        &record(&WON, 0),
        |r| r.result.adjudicated = true,
        None,
        &["the result is marked as adjudicated, but the game ended by the rules"],
    );
}

#[test]
fn a_violation_names_the_bots() {
    let won = record(&WON, 0);
    for (winner, problem) in [
        (
            Some(BotIndex::B),
            "the winner is random.py; by the rules it is greedy.py",
        ),
        (None, "the winner is no bot; by the rules it is greedy.py"),
    ] {
        broken(&won, |r| r.result.winner = winner, None, &[problem]);
    }
    let drawn = record(&DRAWN, 0);
    broken(
        &drawn,
        |r| r.result.winner = Some(BotIndex::A),
        None,
        &["the winner is greedy.py; by the rules it is no bot"],
    );
}

#[test]
fn an_observer_hears_the_recorded_times() {
    let mut won = record(&WON, 0);
    won.times_ms = vec![0.0, 0.25, 1.5, 1000.0, 62_500.0];
    let mut times = Vec::new();
    replay(
        &BuiltinRuleset::new(Edition::default()),
        &won,
        &mut |event| {
            if let GameEvent::Turn { elapsed, .. } = event {
                times.push(*elapsed);
            }
        },
    )
    .expect("a good record");
    let microseconds = [0, 250, 1500, 1_000_000, 62_500_000];
    assert_eq!(times, microseconds.map(Duration::from_micros));
}
