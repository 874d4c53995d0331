//! Where recorded games were won and lost: values against a search without pruning, sentences,
//! and `referee analyse`.

use std::collections::HashMap;
use std::fs;
use std::path::Path;
use std::sync::Arc;

use crate::common::{RECORDS, Referee, Run};
use rand::rngs::ChaCha8Rng;
use rand::seq::IndexedRandom as _;
use rand::{RngExt as _, SeedableRng as _};
use referee::analysis::{Analyst, Effort, with_analysis};
use referee::game::four_in_a_row::{self, FourInARow};
use referee::game::quarto::{Edition, PieceSet, Position, Rules, Turn};
use referee::game::{BuiltinGame as _, Outcome, Position as _};
use referee::protocol::ForfeitReason;
use referee::record::annotation::{Annotation, FIELD, Mark, Note};
use referee::record::{BotIndex, Reason, Record};
use referee::report::accuracy::game_text;
use referee::solver::{self, Value};
use serde_json::{Value as Json, json};

const DUTCH: &str = include_str!("../../sets/dutch.csv");

/// What a match writes of these turns; a game that is not over is forfeited by who is to move.
fn record(edition: &Edition, first: usize, turns: &[&str]) -> Record {
    record_from(edition, EMPTY, first, turns)
}

const EMPTY: &str = "................";

fn record_from(edition: &Edition, start: &str, first: usize, turns: &[&str]) -> Record {
    let mut position = edition.start_from(start).expect("a board");
    for turn in turns {
        position = edition.judge(&position, turn).expect("a legal turn").1;
    }
    let json = json!({
        "v": 1, "game": "quarto", "rules": edition.info().rules, "id": "1-1",
        "bots": [{"name": "ann", "command": ["ann"]}, {"name": "bob", "command": ["bob"]}],
        "first": first, "seed": 1, "start": start, "pieces": edition.info().pieces,
        "turns": turns, "times_ms": vec![1.25; turns.len()],
        "result": {"winner": null, "reason": "draw", "lines": []},
        "started": "2026-01-31T10:00:00Z", "later": {"kept": 1}
    });
    let mut record = Record::from_line(json.to_string().as_bytes()).expect("a record");
    let first = BotIndex::ALL[first];
    record.result.reason = match position.outcome() {
        Some(Outcome::Draw) => Reason::Draw,
        Some(Outcome::Win(side)) => {
            record.result.winner = Some([first, first.other()][side.index()]);
            record.result.lines = edition.winning_lines(&position);
            "quarto".into()
        }
        None => {
            let by = [first, first.other()][turns.len() % 2];
            record.result.winner = Some(by.other());
            record.result.by = Some(by);
            Reason::Forfeit(ForfeitReason::Timeout)
        }
    };
    record
}

/// With one thread and a limit in nodes, the same every time.
fn analyst(nodes: u64) -> Analyst {
    let options = solver::SolverOptions {
        tt_bytes: 8 << 20,
        threads: 1,
    };
    Analyst::new(Effort::Nodes(nodes), options, &Arc::default())
}

/// The value of a position for the side to move, by trying everything.
fn brute_force(edition: &Edition, position: &Position) -> Value {
    let turns = position.turns();
    let values = turns.iter().map(|(_, after)| value_of_turn(edition, after));
    values.max().expect("a game that goes on")
}

fn value_of_turn(edition: &Edition, after: &Position) -> Value {
    match after.outcome() {
        Some(Outcome::Win(_)) => Value::Win,
        Some(Outcome::Draw) => Value::Draw,
        None => brute_force(edition, after).opposite(),
    }
}

/// A game of random turns; those that lose at once are avoided, so that it lasts.
fn long_game(edition: &Edition, rng: &mut ChaCha8Rng) -> (Vec<String>, Vec<(Position, Turn)>) {
    let mut position = edition.start();
    let (mut turns, mut steps) = (Vec::new(), Vec::new());
    while position.outcome().is_none() {
        let mut choices = position.turns();
        let careful = rng.random_ratio(19, 20);
        if careful && choices.iter().any(|(_, after)| !after.can_win_at_once()) {
            choices.retain(|(_, after)| !after.can_win_at_once());
        }
        let &(turn, after) = choices.choose(rng).expect("a legal turn");
        let text = edition.turn_text(turn);
        turns.push(text);
        steps.push((position, turn));
        position = after;
    }
    (turns, steps)
}

#[test]
fn values_agree_with_a_search_without_pruning() {
    let mut rng = ChaCha8Rng::seed_from_u64(9);
    let mut marks = Vec::new();
    let mut falls = 0;
    for round in 0..15 {
        let (rules, set) = match round % 3 {
            0 => (Rules::Standard, PieceSet::default()),
            1 => (Rules::Squares, PieceSet::default()),
            _ => (Rules::Standard, PieceSet::parse(DUTCH).expect("a set")),
        };
        let edition = Edition::new(rules, set);
        let (turns, steps) = long_game(&edition, &mut rng);
        let texts: Vec<&str> = turns.iter().map(String::as_str).collect();
        let record = record(&edition, round % 2, &texts);
        let found = analyst(15_000).analyse(&record, |_| {}).expect("a game");
        for (index, (before, turn)) in steps.iter().enumerate() {
            let free = before.board().free().count();
            if free > 5 {
                continue;
            }
            let note = &found.turns[found.turns.len() - (steps.len() - index)];
            assert_eq!(note.turn, index + 1);
            let values: Vec<(Turn, Value)> = before
                .turns()
                .iter()
                .map(|(turn, after)| (*turn, value_of_turn(&edition, after)))
                .collect();
            let best = values.iter().map(|(_, value)| *value).max();
            let of = |played: &Turn| values.iter().find(|(turn, _)| turn == played).map(|v| v.1);
            let context = format!("turn {} of {turns:?}: {note:?}", index + 1);
            assert_eq!((note.value, note.best), (of(turn), best), "{context}");
            falls += u32::from(note.value_loss().is_some());
            if let Some(better) = &note.better {
                let (better, after) = edition.judge(before, better).expect("a legal turn");
                // A missed win is named also where others won, too.
                let wins = matches!(after.outcome(), Some(Outcome::Win(_)));
                assert_eq!(wins, note.missed_win, "{context}");
                assert_eq!(of(&better), best, "{context}");
            }
            assert_eq!(
                note.better.is_some(),
                note.value_loss().is_some() || note.missed_win,
                "{context}"
            );
            let as_good = values
                .iter()
                .filter(|(_, value)| Some(*value) == best)
                .count();
            match note.mark {
                Some(Mark::Only) => assert_eq!(as_good, 1, "{context}"),
                Some(Mark::Forced) => assert_eq!(as_good, values.len(), "{context}"),
                Some(Mark::Blunder | Mark::MissedWin) => {
                    assert!(note.value_loss().is_some(), "{context}");
                }
                None => assert!(note.value_loss().is_none(), "{context}"),
            }
            marks.push(note.mark);
        }
    }
    // The games have something of everything.
    assert!(falls > 3, "{falls}");
    for mark in [
        None,
        Some(Mark::Blunder),
        Some(Mark::Only),
        Some(Mark::Forced),
    ] {
        assert!(marks.contains(&mark), "{mark:?}");
    }
}

fn told(record: &Record) -> String {
    // So few cells are free that every turn is proven long before.
    let found = analyst(10_000_000).analyse(record, |_| {}).expect("a game");
    game_text(1, record, &found, None)
}

/// Both sides turned a win into a loss, again and again.
const BLUNDERS: &[&str] = &[
    "- N", "1 I", "2 K", "14 F", "7 L", "15 M", "9 A", "5 C", "12 H", "10 G", "8 B", "6 -",
];

/// A win in one is not taken, and the gift lets the other side take it.
const MISSED: &[&str] = &["- A", "1 B", "2 C", "3 D", "5 E", "4 -"];

/// The end of [`BLUNDERS`], from a prepared board: few free cells take no time.
const LATE_START: &str = "NI..A.F.M..C.KL.";
/// Its turns.
const LATE: &[&str] = &["- H", "10 G", "8 B", "6 -"];

/// The win in one at its end is not taken.
const LATE_MISSED: &[&str] = &["- H", "10 G", "8 B", "3 D"];

fn late(turns: &[&str]) -> Record {
    record_from(&Edition::default(), LATE_START, 0, turns)
}

/// The end of a game in which squares count.
const SQUARE_START: &str = "..N.FD....GM..AL";
/// Its turns.
const SQUARE: &[&str] = &["- E", "2 I", "4 J", "8 -"];

/// The end of a game that nobody won.
const DRAWN_START: &str = "CPN..BEM.....KO.";
/// Its turns.
const DRAWN: &[&str] = &[
    "- L", "5 A", "10 J", "11 G", "12 F", "16 D", "4 I", "13 H", "9 -",
];

#[test]
fn blunders_are_told_in_sentences() {
    insta::assert_snapshot!(told(&late(LATE)), @r"
    game 1, ann against bob, ann begins: bob wins: H2 hollow.
      turn 2, bob: `10 G` turned a draw into a loss: the other side now wins within 3 placements. `13 B` would have drawn.
      turn 3, ann: `8 B` turned a win into a loss: after B, cell 6 completes H2 (hollow). `3 D` would have won.
      all turns are proven
    ");
    insta::assert_snapshot!(told(&late(LATE_MISSED)), @r"
    game 1, ann against bob, ann begins: bob wins: ann forfeits (timeout).
      turn 2, bob: `10 G` turned a draw into a loss: the other side now wins within 3 placements. `13 B` would have drawn.
      turn 3, ann: `8 B` turned a win into a loss: after B, cell 6 completes H2 (hollow). `3 D` would have won.
      turn 4, bob: `3 D` missed the win in one: cell 6 completes H2 (hollow). And after D, cell 6 completes H2 (hollow).
      all turns are proven
    ");
    insta::assert_snapshot!(told(&late(&LATE[..2])), @r"
    game 1, ann against bob, ann begins: bob wins: ann forfeits (timeout).
      turn 2, bob: `10 G` turned a draw into a loss: the other side now wins within 3 placements. `13 B` would have drawn.
      all turns are proven
    ");
    let squares = Edition::new(Rules::Squares, PieceSet::parse(DUTCH).expect("a set"));
    let square = record_from(&squares, SQUARE_START, 1, SQUARE);
    insta::assert_snapshot!(told(&square), @r"
    game 1, ann against bob, bob begins: ann wins: V4 massief.
      turn 2, ann: `2 I` turned a win into a loss: the other side now wins within 5 placements. `1 I` would have won.
      turn 3, bob: `4 J` turned a win into a loss: after J, cell 1 completes H1 (rood). `9 J` would have won.
      all turns are proven
    ");
    let drawn = record_from(&Edition::default(), DRAWN_START, 1, DRAWN);
    insta::assert_snapshot!(told(&drawn), @r"
    game 1, ann against bob, bob begins: Draw.
      turn 2, ann: `5 A` turned a win into a draw. `9 D` would have won.
      turn 3, bob: `10 J` turned a draw into a loss: the other side now wins within 3 placements. `10 D` would have drawn.
      turn 4, ann: `11 G` turned a win into a loss: the other side now wins within 3 placements. `4 D` would have won.
      turn 5, bob: `12 F` turned a win into a draw. `16 F` would have won.
      turn 7, bob: `4 I` was the only turn that kept the draw.
      turn 8, ann: `13 H` was the only turn that kept the draw.
      all turns are proven
    ");
}

#[test]
fn sentences_break_between_words_on_a_terminal() {
    let record = late(LATE);
    let found = analyst(10_000_000)
        .analyse(&record, |_| {})
        .expect("a game");
    insta::assert_snapshot!(game_text(1, &record, &found, Some(60)), @r"
    game 1, ann against bob, ann begins: bob wins: H2 hollow.
      turn 2, bob: `10 G` turned a draw into a loss: the other
                   side now wins within 3 placements. `13 B`
                   would have drawn.
      turn 3, ann: `8 B` turned a win into a loss: after B, cell
                   6 completes H2 (hollow). `3 D` would have
                   won.
      all turns are proven
    ");
}

#[test]
fn the_record_gets_a_field_and_nothing_else_changes() {
    let edition = Edition::default();
    let plain = record(&edition, 1, BLUNDERS);
    let found = analyst(20_000).analyse(&plain, |_| {}).expect("a game");
    let line = plain.to_line().expect("a line");
    let line = with_analysis(line.as_bytes(), &found).expect("a record");
    let mut annotated = Record::from_line(line.as_bytes()).expect("a record");
    let field = annotated.more.remove(FIELD).expect("the field");
    assert_eq!(annotated, plain);
    assert_eq!(Annotation::from_json(&field), found);
    let last = field["turns"].as_array().and_then(|turns| turns.last());
    assert_eq!(
        last.expect("a turn"),
        &json!({"turn": 12, "value": "win", "best": "win"})
    );
    let blunder = &field["turns"][found.turns.len() - 2];
    assert_eq!(
        blunder,
        &json!({
            "turn": 11, "value": "loss", "best": "win", "mark": "blunder", "better": "3 D", "in": 1,
            "lost_at_once": true,
            "text": "`8 B` turned a win into a loss: after B, cell 6 completes H2 (hollow). `3 D` would have won.",
        })
    );
}

#[test]
fn what_is_not_proven_is_not_claimed() {
    let edition = Edition::default();
    let record = record_from(&edition, "FD...L....G....A", 0, &["- N", "15 M"]);
    let found = analyst(1).analyse(&record, |_| {}).expect("a game");
    assert_eq!(found.turns, []);
    assert!(game_text(1, &record, &found, None).ends_with("  no turn is proven\n\n"));
    // What is seen at a glance is told all the same.
    let record = self::record(&edition, 0, &MISSED[..4]);
    let found = analyst(1).analyse(&record, |_| {}).expect("a game");
    let last = found.turns.last().expect("a turn");
    assert_eq!(
        (last.turn, last.value, last.lost_at_once),
        (4, Some(Value::Loss), true)
    );
    let text = last.text.as_deref().unwrap_or_default();
    assert!(
        text.starts_with(
            "`3 D` lost immediately: after D, cell 4 completes H1 (square), H1 (hollow)"
        ),
        "{text}"
    );
}

fn analyse(file: &Path, more: &[&str]) -> Run {
    let path = file.to_str().expect("a name");
    let quick = ["--time-per-move", "20s", "--hash", "1M", "--threads", "1"];
    Referee::new(["analyse", path]).args(quick).args(more).run()
}

fn written(records: &[Record]) -> (tempfile::TempDir, std::path::PathBuf) {
    let place = tempfile::tempdir().expect("a directory");
    let path = place.path().join("games.jsonl");
    let lines: Vec<String> = records
        .iter()
        .map(|r| r.to_line().expect("a line") + "\n")
        .collect();
    fs::write(&path, lines.concat()).expect("a file");
    (place, path)
}

#[test]
fn the_command_tells_people_and_programs() {
    let (_place, path) = written(&[late(LATE), late(LATE_MISSED)]);
    let run = analyse(&path, &[]);
    assert_eq!(run.code, Some(0), "{run}");
    assert!(
        run.stdout
            .starts_with("game 1, ann against bob, ann begins: bob wins: H2 hollow.\n"),
        "{run}"
    );
    let sentence = "  turn 3, ann: `8 B` turned a win into a loss: after B, cell 6 completes H2 (hollow). `3 D` would have won.\n";
    assert!(run.stdout.contains(sentence), "{run}");
    assert!(
        run.stdout
            .contains("\nbot  turns  proven  kept  accuracy  "),
        "{run}"
    );

    let run = analyse(&path, &["--json"]);
    let json: Json = serde_json::from_str(&run.stdout).unwrap_or_else(|e| panic!("{e}: {run}"));
    assert_eq!(
        (
            json["games"][1]["game"].as_u64(),
            json["complete"].as_bool()
        ),
        (Some(2), Some(true))
    );
    let turns = json["games"][1]["analysis"]["turns"]
        .as_array()
        .expect("a list");
    assert!(turns.iter().any(|turn| turn["missed_win"] == true), "{run}");
    assert_eq!(json["bots"][0]["name"], "ann");
    assert_eq!(json["bots"][1]["missed_wins"], 1);
    assert_eq!(json["bots"][0]["turns"], 4);

    let run = analyse(&path, &["--json", "--number", "2"]);
    let json: Json = serde_json::from_str(&run.stdout).unwrap_or_else(|e| panic!("{e}: {run}"));
    assert_eq!(json["games"].as_array().map(Vec::len), Some(1));
}

#[test]
fn annotated_records_go_into_another_file() {
    let (place, path) = written(&[late(LATE), late(LATE_MISSED)]);
    let before = fs::read_to_string(&path).expect("the file");
    let target = place.path().join("annotated.jsonl");
    let name = target.to_str().expect("a name");
    let run = analyse(&path, &["--number", "2", "-o", name]);
    assert_eq!(run.code, Some(0), "{run}");
    assert_eq!(fs::read_to_string(&path).expect("the file"), before);
    let after = fs::read_to_string(&target).expect("the file");
    let (old, new): (Vec<_>, Vec<_>) = (before.lines().collect(), after.lines().collect());
    assert_eq!((new.len(), new[0]), (2, old[0]));
    let field = new[1].strip_prefix(old[1].strip_suffix('}').expect("an object"));
    assert!(
        field
            .expect("the same line")
            .starts_with(",\"analysis\":{\"by\":\"referee ")
    );
    let replayed = Referee::new(["replay", "--quiet", name]).run();
    assert_eq!(replayed.code, Some(0), "{replayed}");
    // Nothing half-written is left, and the input is never written to.
    assert_eq!(fs::read_dir(place.path()).expect("a directory").count(), 2);
    let run = analyse(&path, &["-o", path.to_str().expect("a name")]);
    assert_eq!(run.code, Some(2), "{run}");
    assert!(run.stderr.contains("it would be overwritten"), "{run}");
    assert_eq!(fs::read_to_string(&path).expect("the file"), before);
}

#[test]
fn what_cannot_be_analysed_is_named() {
    let good = late(LATE_MISSED);
    let mut wrong = good.clone();
    wrong.turns[2] = "1 C".into();
    let (_place, path) = written(&[good.clone(), wrong]);
    let run = analyse(&path, &[]);
    assert_eq!(run.code, Some(2), "{run}");
    assert!(
        run.stderr
            .contains(":2: turn 3: `1 C`: cell 1 is occupied by N"),
        "{run}"
    );
    assert_eq!(
        run.stdout, "",
        "nothing is analysed before everything has been looked at"
    );

    let mut other = good.clone();
    "chess".clone_into(&mut other.game);
    let (_place, path) = written(&[good.clone(), good.clone(), other]);
    let run = analyse(&path, &[]);
    assert_eq!(run.code, Some(2), "{run}");
    let sentence = ":3: it is a game of chess; there is no solver for it";
    assert!(run.stderr.contains(sentence), "{run}");
    let run = analyse(&path, &["--number", "4"]);
    assert!(
        run.stderr.contains("there is no game 4; the file has 3"),
        "{run}"
    );

    let (_place, path) = written(&[good]);
    let mut text = fs::read_to_string(&path).expect("the file");
    text.push_str("{\"v\":1,\"ga");
    fs::write(&path, &text).expect("a file");
    let run = analyse(&path, &[]);
    assert_eq!(run.code, Some(0), "{run}");
    assert!(
        run.stderr.contains(":2: incomplete last line, left out"),
        "{run}"
    );
}

#[test]
fn interrupted_it_gives_what_it_has() {
    let edition = Edition::default();
    // Together they take seconds.
    let games = vec![record(&edition, 0, BLUNDERS); 3000];
    let (place, path) = written(&games);
    let target = place.path().join("annotated.jsonl");
    let name = target.to_str().expect("a name");
    let arguments = [
        "analyse",
        path.to_str().expect("a name"),
        "-o",
        name,
        "--json",
    ];
    let mut running = Referee::new(arguments)
        .args(["--time-per-move", "1h"])
        .start();
    // It listens to signals before it begins to write.
    running.wait_until(|_| fs::read_dir(place.path()).is_ok_and(|files| files.count() == 2));
    running.signal("INT");
    let run = running.finish();
    assert_eq!(run.code, Some(130), "{run}");
    let json: Json = serde_json::from_str(&run.stdout).unwrap_or_else(|e| panic!("{e}: {run}"));
    assert_eq!(json["complete"], false, "{run}");
    assert!(
        json["games"]
            .as_array()
            .is_some_and(|done| done.len() < games.len()),
        "{run}"
    );
    // No game is lost.
    assert_eq!(
        fs::read_to_string(&target)
            .expect("the file")
            .lines()
            .count(),
        games.len()
    );
}

#[test]
fn a_note_with_every_field_survives_its_json() {
    let note = Note {
        turn: 9,
        value: Some(Value::Loss),
        best: Some(Value::Draw),
        mark: Some(Mark::MissedWin),
        better: Some("6 B".to_owned()),
        plies: Some(3),
        missed_win: true,
        lost_at_once: true,
        text: Some("a sentence".to_owned()),
        better_line: vec!["6 B".to_owned(), "7 -".to_owned()],
    };
    let annotation = Annotation {
        by: "a test".to_owned(),
        turns: vec![note],
    };
    let text = annotation.to_json().to_string();
    let json: Json = serde_json::from_str(&text).expect("JSON");
    assert_eq!(Annotation::from_json(&json), annotation);
}

#[test]
fn a_tournament_is_analysed_when_it_is_over() {
    let place = tempfile::tempdir().expect("a directory");
    let out = place.path().join("t");
    let name = out.to_str().expect("a name");
    // Few cells are free after so many plies.
    let options = ["--out", name, "--analyse", "--time-per-move", "20s"];
    let begin = [
        "--pairs",
        "3",
        "--opening-plies",
        "10",
        "--seed",
        "5",
        "--no-check",
    ];
    let run = Referee::new(["tournament", "builtin:greedy", "builtin:random"])
        .args(begin)
        .args(options)
        .run();
    assert_eq!(run.code, Some(0), "{run}");
    assert!(
        run.stdout
            .contains("  proven  accuracy  blunders  missed wins in 1\n"),
        "{run}"
    );
    let read = |file: &str| fs::read_to_string(out.join(file)).expect("a file");
    let standings = read("standings.csv");
    assert!(
        standings
            .lines()
            .next()
            .is_some_and(|heads| heads.contains(",proven,kept,"))
    );
    let analysed = read("analysis.jsonl");
    let games = read("games.jsonl");
    assert_eq!(analysed.lines().count(), 6);
    for (game, analysed) in games.lines().zip(analysed.lines()) {
        assert!(
            analysed.starts_with(game.strip_suffix('}').expect("an object")),
            "{analysed}"
        );
    }
    let path = out.join("analysis.jsonl");
    let table = Referee::new(["standings", path.to_str().expect("a name")]).run();
    assert!(table.stdout.contains("accuracy"), "{table}");

    // It goes on where it was, and a line that was cut off is made again.
    let cut = &analysed[..analysed.len() - 20];
    fs::write(&path, cut).expect("a file");
    let run = Referee::new(["tournament"]).args(options).run();
    assert_eq!(run.code, Some(0), "{run}");
    assert!(
        run.stderr.contains("referee: analysing 1 of 6 games"),
        "{run}"
    );
    assert_eq!(read("analysis.jsonl").lines().count(), 6);
    assert_eq!(read("standings.csv"), standings);
    // Without being asked for, what is there is shown.
    let run = Referee::new(["tournament", "--out", name]).run();
    assert!(run.stdout.contains("accuracy"), "{run}");

    // An analysis of other games is not taken for this one.
    let mut lines: Vec<&str> = analysed.lines().collect();
    lines.swap(0, 1);
    fs::write(&path, lines.join("\n") + "\n").expect("a file");
    let run = Referee::new(["tournament"]).args(options).run();
    assert_eq!(run.code, Some(2), "{run}");
    assert!(
        run.stderr
            .contains(":1: it is not of the game in games.jsonl"),
        "{run}"
    );
}

#[test]
fn tournaments_of_games_without_a_solver_are_not_analysed() {
    let arguments = [
        "tournament",
        "--game",
        "games/countdown.sh",
        "--analyse",
        "--out",
    ];
    let place = tempfile::tempdir().expect("a directory");
    let out = place.path().join("t");
    let run = Referee::new(arguments)
        .args([
            out.to_str().expect("a name"),
            "builtin:random",
            "builtin:random",
        ])
        .run();
    assert_eq!(run.code, Some(2), "{run}");
    let sentence = "--analyse needs a solver, and there is none for countdown";
    assert!(run.stderr.contains(sentence), "{run}");
}

/// The value for the side to move, by trying everything.
fn four_by_force(
    position: &four_in_a_row::Position,
    known: &mut HashMap<[u64; 2], Value>,
) -> Value {
    let side = position.to_move();
    match position.outcome() {
        Some(Outcome::Win(winner)) if winner == side => return Value::Win,
        Some(Outcome::Win(_)) => return Value::Loss,
        Some(Outcome::Draw) => return Value::Draw,
        None => {}
    }
    if let Some(value) = known.get(&position.discs()) {
        return *value;
    }
    let turns = position.turns();
    let values = turns.iter().map(|(_, after)| {
        let value = four_by_force(after, known);
        if after.to_move() == side {
            value
        } else {
            value.opposite()
        }
    });
    let value = values.max().expect("a turn");
    known.insert(position.discs(), value);
    value
}

/// Games of Four In A Row, near the end: values, better turns and perfect games after mistakes.
#[test]
fn four_in_a_row_is_analysed() {
    let run = Referee::new(["--game", "four-in-a-row", "-n", "12", "--seed", "5"])
        .args(["builtin:search?depth=2", "builtin:search?depth=1"])
        .recorded()
        .run();
    assert_eq!(run.code, Some(0), "{run}");
    let file = run.scratch().join(RECORDS);
    let analysed = Referee::new(["analyse", "--json", "--time-per-move", "50ms"])
        .args([&file])
        .run();
    assert_eq!(analysed.code, Some(0), "{analysed}");
    let document: Json = serde_json::from_str(&analysed.stdout).expect("JSON");
    let mut judged = 0;
    for (record, game) in run
        .records()
        .iter()
        .zip(document["games"].as_array().expect("games"))
    {
        let annotation = Annotation::from_json(&game["analysis"]);
        let mut position = FourInARow.start();
        let mut known = HashMap::new();
        for (index, turn) in record["turns"]
            .as_array()
            .expect("turns")
            .iter()
            .enumerate()
        {
            let before = position;
            let judge = |answer: &str| FourInARow.judge(&before, answer).expect("a legal turn").1;
            position = judge(turn.as_str().expect("a turn"));
            let discs: u32 = before.discs().iter().map(|side| side.count_ones()).sum();
            if discs < 28 {
                continue;
            }
            let mut worth = |after: &four_in_a_row::Position| {
                let value = four_by_force(after, &mut known);
                if after.to_move() == before.to_move() {
                    value
                } else {
                    value.opposite()
                }
            };
            let note = annotation.turns.iter().find(|note| note.turn == index + 1);
            let note = note.expect("every turn is proven here");
            assert_eq!(note.value, Some(worth(&position)), "{record} {note:?}");
            let best = before.turns().iter().map(|(_, after)| worth(after)).max();
            assert_eq!(note.best, best, "{record} {note:?}");
            judged += 1;
            if note.value < note.best {
                let better = note.better.as_deref().expect("a better turn");
                assert_eq!(Some(worth(&judge(better))), best, "{record} {note:?}");
            }
        }
    }
    assert!(judged > 20, "{judged} turns: {analysed}");
}
