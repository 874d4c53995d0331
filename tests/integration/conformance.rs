//! What every game must keep to, checked over random games: the one suite that all games
//! share. A further game is one more line at the end of this file.

use proptest::prelude::{ProptestConfig, Strategy, any, prop, prop_oneof};
use proptest::test_runner::{RngSeed, TestRunner};
use rand::rngs::ChaCha8Rng;
use rand::seq::IndexedRandom as _;
use rand::{RngExt as _, SeedableRng as _};
use referee::game::builtin::{MoveOf, TurnOf};
use referee::game::four_in_a_row::FourInARow;
use referee::game::quarto::{Edition, PieceSet, Rules};
use referee::game::{
    BuiltinGame, BuiltinRuleset, IllegalReason, Mood, Outcome, Position as _, Ruleset as _, Side,
};
use referee::play::game::{End, play};
use referee::play::{Clock, TimeControl};

use crate::scripted::Scripted;

/// No game has more turns.
const MOST_TURNS: usize = 64;

/// How many random games each game is checked over.
const PLAYOUTS: u64 = 120;

/// A game that was played at random.
struct Playout<G: BuiltinGame> {
    /// Positions before each turn, and the last one.
    positions: Vec<G::Position>,
    /// The turns, canonical.
    turns: Vec<String>,
}

fn written<G: BuiltinGame>(game: &G, turn: TurnOf<G>) -> String {
    game.turn_text(turn)
}

fn request_of<G: BuiltinGame>(game: &G, position: &G::Position) -> String {
    game.request(position)
}

fn board_of<G: BuiltinGame>(game: &G, position: &G::Position) -> String {
    game.board(position)
}

/// What any position must keep to; `last` is the turn that led to it.
fn check_position<G: BuiltinGame>(game: &G, position: &G::Position, last: Option<TurnOf<G>>) {
    let moves: Vec<_> = position.moves().collect();
    let turns = position.turns();
    let lines = game.winning_lines(position);
    if position.outcome().is_some() {
        assert!(moves.is_empty(), "moves after the end: {moves:?}");
        assert!(turns.is_empty(), "turns after the end: {turns:?}");
    } else {
        assert!(!moves.is_empty(), "stuck: {position:?}");
        assert!(!turns.is_empty(), "stuck: {position:?}");
    }
    let won = matches!(position.outcome(), Some(Outcome::Win(_)));
    assert_eq!(!lines.is_empty(), won, "{lines:?} in {position:?}");
    for (i, &mv) in moves.iter().enumerate() {
        assert!(!moves[..i].contains(&mv), "{mv:?} twice");
        let mut after = position.clone();
        after.play(mv).expect("a move that is offered is legal");
        assert_ne!(after, *position, "{mv:?} changes nothing");
    }
    let won = Outcome::Win(position.to_move());
    assert_eq!(
        position.can_win_at_once(),
        turns.iter().any(|(_, after)| after.outcome() == Some(won)),
        "{position:?}"
    );
    check_turns(game, position, &turns);
    check_picture(game, position, last);
}

/// Every turn is accepted as written, in canonical form, with the same effect.
fn check_turns<G: BuiltinGame>(
    game: &G,
    position: &G::Position,
    turns: &[(TurnOf<G>, G::Position)],
) {
    let mut texts = Vec::new();
    for (turn, after) in turns {
        let text = written(game, *turn);
        assert!(!text.is_empty() && text.trim() == text, "{text:?}");
        assert!(!text.contains(['\n', '\r']), "{text:?}");
        let (judged, reached) = game
            .judge(position, &text)
            .unwrap_or_else(|rejection| panic!("{text:?} is legal: {rejection:?}"));
        assert_eq!(judged, *turn, "{text:?}");
        assert_eq!(reached, *after, "{text:?}");
        assert_eq!(written(game, judged), text, "canonical form changes");
        // One answer is one side's; then the other answers, unless it was the last.
        match after.outcome() {
            None => assert_eq!(after.to_move(), position.to_move().other(), "{text:?}"),
            Some(Outcome::Win(side)) => assert_eq!(side, position.to_move(), "{text:?}"),
            Some(Outcome::Draw) => {}
        }
        assert!(
            !game.describe(position, *turn, Mood::Told).is_empty(),
            "{text:?}"
        );
        texts.push(text);
    }
    texts.sort();
    let count = texts.len();
    texts.dedup();
    assert_eq!(texts.len(), count, "two turns are written alike: {texts:?}");
}

/// A bot that reads a request is in the position that was written.
fn check_request<G: BuiltinGame>(game: &G, position: &G::Position) {
    let request = request_of(game, position);
    assert!(!request.contains(['\n', '\r']), "{request:?}");
    let read = game
        .read_request(&request)
        .unwrap_or_else(|problem| panic!("{request:?}: {problem}"));
    assert_eq!(request_of(game, &read), request);
    assert_eq!(board_of(game, &read), board_of(game, position));
    // What matters for playing on is the same.
    let mine: Vec<_> = position.moves().collect();
    let theirs: Vec<_> = read.moves().collect();
    assert_eq!(mine, theirs, "{request:?}");
    let texts = |position: &G::Position| -> Vec<String> {
        let turns = position.turns().into_iter();
        turns.map(|(turn, _)| written(game, turn)).collect()
    };
    assert_eq!(texts(&read), texts(position), "{request:?}");
}

/// The board of a game that goes on can start another.
fn check_start<G: BuiltinGame>(game: &G, position: &G::Position) {
    let board = board_of(game, position);
    let start = game
        .start_from(&board)
        .unwrap_or_else(|problem| panic!("{board}: {problem}"));
    assert_eq!(board_of(game, &start), board);
    assert_eq!(start.outcome(), None);
    // So can the position, with what is in hand.
    let text = game.as_start(position);
    let start = game.start_from(&text);
    let start = start.unwrap_or_else(|problem| panic!("{text}: {problem}"));
    assert_eq!(game.request(&start), game.request(position));
    assert_eq!(game.as_start(&start), text);
}

fn check_picture<G: BuiltinGame>(game: &G, position: &G::Position, last: Option<TurnOf<G>>) {
    let picture = game.picture(position, last);
    let height = picture.cells.len();
    let width = picture.cells.first().map_or(0, Vec::len);
    assert!(height > 0 && width > 0, "{picture:?}");
    let rectangular = |rows: &[Vec<String>]| rows.iter().all(|row| row.len() == width);
    assert!(rectangular(&picture.cells), "{picture:?}");
    assert!([0, width].contains(&picture.columns.len()), "{picture:?}");
    assert!([0, height].contains(&picture.rows.len()), "{picture:?}");
    assert!(
        [0, height].contains(&picture.cell_names.len()),
        "{picture:?}"
    );
    assert!(rectangular(&picture.cell_names), "{picture:?}");
    let won = matches!(position.outcome(), Some(Outcome::Win(_)));
    assert_eq!(!picture.winning.is_empty(), won, "{picture:?}");
    for &(row, column) in picture.winning.iter().chain(&picture.last) {
        assert!(row < height && column < width, "{picture:?}");
        assert!(!picture.cells[row][column].is_empty(), "{picture:?}");
    }
    if last.is_none() {
        assert_eq!(picture.last, None);
    }
}

/// Plays one game at random and checks every position on the way.
fn playout<G: BuiltinGame>(game: &G, rng: &mut ChaCha8Rng) -> Playout<G> {
    let mut position = game.start();
    let mut playout = Playout {
        positions: vec![position.clone()],
        turns: Vec::new(),
    };
    let mut last = None;
    loop {
        check_position(game, &position, last);
        if position.outcome().is_some() {
            return playout;
        }
        check_request(game, &position);
        check_start(game, &position);
        let turns = position.turns();
        // Mostly avoid to win at once, so that long games come too.
        let quiet: Vec<_> = turns
            .iter()
            .filter(|(_, after)| after.outcome().is_none())
            .collect();
        let (turn, after) = match quiet.choose(rng) {
            Some(&quiet) if rng.random_bool(0.9) => quiet,
            _ => turns.choose(rng).expect("a turn"),
        };
        playout.turns.push(written(game, *turn));
        last = Some(*turn);
        position = after.clone();
        playout.positions.push(position.clone());
        assert!(playout.turns.len() <= MOST_TURNS, "no end in sight");
    }
}

/// Moves of other positions are refused, and nothing changes.
fn check_illegal_moves<G: BuiltinGame>(position: &G::Position, pool: &[MoveOf<G>]) {
    let legal: Vec<_> = position.moves().collect();
    for &mv in pool {
        let mut after = position.clone();
        match after.play(mv) {
            Ok(()) => assert!(
                legal.contains(&mv),
                "{mv:?} was not offered in {position:?}"
            ),
            Err(reason) => {
                assert!(!legal.contains(&mv), "{mv:?} was offered");
                assert_eq!(after, *position, "{mv:?} was refused and changed something");
                assert_eq!(
                    reason == IllegalReason::GameOver,
                    position.outcome().is_some()
                );
            }
        }
    }
}

/// Whatever is answered: a turn that was offered, or a reason and nothing changed.
fn check_answer<G: BuiltinGame>(game: &G, position: &G::Position, answer: &str) {
    let before = position.clone();
    let judged = game.judge(position, answer);
    assert_eq!(*position, before, "{answer:?} changed the position");
    if let Ok((turn, after)) = judged {
        assert!(
            position.turns().contains(&(turn, after.clone())),
            "{answer:?} is accepted on {} (outcome {:?}) as {turn:?}, which was not offered",
            board_of(game, position),
            position.outcome()
        );
        // What was written differently becomes canonical, and then stays.
        let canonical = written(game, turn);
        assert_eq!(game.judge(position, &canonical), Ok((turn, after)));
    } else if let Err(rejection) = judged {
        assert!(
            !rejection.problem.is_empty(),
            "{answer:?} is refused without a reason"
        );
    }
}

/// Two players who answer as in the playout are asked in turn, and the game ends the same.
fn check_played<G: BuiltinGame>(game: &G, playout: &Playout<G>) {
    let mut answers: [Vec<&str>; 2] = Default::default();
    let mut requests: [Vec<String>; 2] = Default::default();
    for (position, turn) in playout.positions.iter().zip(&playout.turns) {
        answers[position.to_move().index()].push(turn);
        requests[position.to_move().index()].push(request_of(game, position));
    }
    let [mut first, mut second] = answers.map(Scripted::new);
    let clocks = [Clock::new(TimeControl::default()); 2];
    let runtime = tokio::runtime::Builder::new_current_thread()
        .build()
        .expect("a runtime");
    let players = [&mut first, &mut second];
    let mut session = BuiltinRuleset::new(game.clone()).start();
    let played = runtime
        .block_on(play(&mut *session, players, clocks, false, &mut |_| Ok(())))
        .expect("nothing that can fail");
    let last = playout.positions.last().expect("a position");
    assert_eq!(
        played.end,
        End::Outcome(last.outcome().expect("an outcome"))
    );
    let request = session.request();
    assert_eq!(request, request_of(game, last));
    assert_eq!(session.outcome(), last.outcome());
    assert!(played.turns.iter().eq(&playout.turns));
    assert_eq!([first.asked, second.asked], requests);
}

/// Lines that mean nothing, or something else, at the wrong time.
fn garbage() -> impl Strategy<Value = String> {
    prop_oneof![
        any::<String>(),
        "[ \t0-9A-Pa-p.@O?-]{0,12}",
        "[0-9]{1,3}[ \t]+[A-P♔-♟-]",
        "-{0,3} ?-{0,3} ?[A-Z0-9]{0,3}",
        "\\PC{0,40}",
    ]
}

fn check_garbage<G: BuiltinGame>(game: &G, positions: &[G::Position], config: ProptestConfig) {
    let strategy = (any::<prop::sample::Index>(), garbage());
    TestRunner::new(config)
        .run(&strategy, |(index, line)| {
            check_answer(game, index.get(positions), &line);
            if let Ok(read) = game.read_request(&line) {
                check_position(game, &read, None);
            }
            if let Ok(start) = game.start_from(&line) {
                check_position(game, &start, None);
            }
            Ok(())
        })
        .unwrap_or_else(|error| panic!("{error}"));
}

/// The suite.
fn conformance<G: BuiltinGame>(game: &G, seed: u64) {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let start = game.start();
    assert_eq!(start.outcome(), None);
    assert_eq!(start.to_move(), Side::First);
    let board = board_of(game, &start);
    assert_eq!(game.start_from(&board).ok(), Some(start.clone()));
    assert!(!game.info().name.is_empty() && !game.info().rules.is_empty());

    let playouts: Vec<Playout<G>> = (0..PLAYOUTS).map(|_| playout(game, &mut rng)).collect();
    let ended = |wanted: fn(&Outcome) -> bool| {
        let mut last = playouts
            .iter()
            .filter_map(|playout| playout.positions.last());
        last.any(|position| position.outcome().as_ref().is_some_and(wanted))
    };
    for side in Side::BOTH {
        assert!(
            ended(match side {
                Side::First => |o| *o == Outcome::Win(Side::First),
                Side::Second => |o| *o == Outcome::Win(Side::Second),
            }),
            "{side:?} never wins"
        );
    }

    // All moves and all answers that came up anywhere.
    let positions: Vec<G::Position> = playouts
        .iter()
        .flat_map(|playout| playout.positions.iter().cloned())
        .collect();
    let mut moves: Vec<MoveOf<G>> = Vec::new();
    for mv in positions.iter().flat_map(referee::game::Position::moves) {
        if !moves.contains(&mv) {
            moves.push(mv);
        }
    }
    let mut answers: Vec<&String> = playouts.iter().flat_map(|p| &p.turns).collect();
    answers.sort();
    answers.dedup();
    for position in &positions {
        check_illegal_moves::<G>(position, &moves);
        for _ in 0..4 {
            let answer = answers.choose(&mut rng).expect("an answer");
            check_answer(game, position, answer);
            check_answer(game, position, &answer.replace(' ', " \t"));
            check_answer(game, position, &format!("0{answer}"));
            check_answer(game, position, answer.split(' ').next().unwrap_or(""));
            check_answer(game, position, answer.split(' ').next_back().unwrap_or(""));
        }
        for answer in ["", "-", "- -", "0", "1 -", "99 -"] {
            check_answer(game, position, answer);
        }
    }
    for playout in &playouts {
        check_played(game, playout);
    }
    check_garbage(
        game,
        &positions,
        ProptestConfig {
            cases: 600,
            failure_persistence: None,
            rng_seed: RngSeed::Fixed(seed),
            ..ProptestConfig::default()
        },
    );
}

/// Characters of one to four bytes, digits among them, as pieces.
fn custom() -> PieceSet {
    let english = include_str!("../../sets/english.csv");
    let symbols = "♔é😀ß1234567890*♟".chars();
    let mut csv = "piece,size,color,form,fill".to_owned();
    for (row, symbol) in english.lines().skip(1).zip(symbols) {
        csv.push('\n');
        csv.push(symbol);
        csv.push_str(&row[1..]);
    }
    let set = PieceSet::parse(&csv).expect("a good set");
    assert_eq!(set.check_for_match(), Ok(()));
    set
}

#[test]
fn quarto_conforms() {
    let game = Edition::new(Rules::Standard, PieceSet::default());
    conformance(&game, 1);
}

#[test]
fn quarto_with_squares_conforms() {
    let game = Edition::new(Rules::Squares, PieceSet::default());
    conformance(&game, 2);
}

#[test]
fn quarto_with_other_pieces_conforms() {
    let game = Edition::new(Rules::Standard, custom());
    conformance(&game, 3);
}

#[test]
fn four_in_a_row_conforms() {
    let game = FourInARow;
    conformance(&game, 4);
}
