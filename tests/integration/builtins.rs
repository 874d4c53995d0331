//! Built-in bots in steps: the same answers for the same seed, each step stronger than the one below, at a bounded cost.

use std::sync::Arc;
use std::time::Duration;

use crate::common::Referee;
use rand::SeedableRng as _;
use rand::rngs::ChaCha8Rng;
use rand::seq::SliceRandom as _;
use referee::game::four_in_a_row::FourInARow;
use referee::game::quarto::{Board, Cell, Edition, Piece, Position, Rules};
use referee::game::registry::{self, Choices};
use referee::game::{BuiltinGame as _, Outcome, Position as _, Side};
use referee::strategy::greedy;
use referee::strategy::search::Search;

fn quarto() -> Arc<dyn referee::game::Ruleset> {
    let game = registry::find("quarto").expect("a game");
    game.ruleset(Choices::default())
}

/// A board with this many free cells, without a quarto.
fn board(rng: &mut ChaCha8Rng, free: usize) -> String {
    loop {
        let mut pieces: Vec<Piece> = Piece::all().collect();
        let mut cells: Vec<Cell> = Cell::all().collect();
        pieces.shuffle(rng);
        cells.shuffle(rng);
        let mut board = Board::default();
        for (cell, piece) in cells.iter().zip(&pieces).take(16 - free) {
            assert!(board.place(*cell, *piece));
        }
        if let Some(position) = Position::from_board(board, Rules::Standard) {
            let text = Edition::default().board(&position);
            return text;
        }
    }
}

/// Plays from each of `boards` boards with both in each seat; the points of the first, of twice as many.
fn points(bots: [&str; 2], boards: u64, free: usize) -> f64 {
    let ruleset = quarto();
    let mut points = 0.0;
    for game in 0..2 * boards {
        // Both games of a pair begin alike.
        let mut rng = ChaCha8Rng::seed_from_u64(game / 2);
        let start = board(&mut rng, free);
        let mut session = ruleset.start_from(&start).expect("a board");
        let mut players = bots.map(|name| {
            let bot = ruleset.builtin_bot(name, game, Duration::from_secs(1));
            bot.expect("a bot")
        });
        let is_swapped = game % 2 == 1;
        while session.outcome().is_none() {
            let request = session.request();
            let mover = session.to_move().index() ^ usize::from(is_swapped);
            let answer = players[mover](&request).expect("an answer");
            session.play(&answer, &mut String::new()).expect("legal");
        }
        points += match session.outcome() {
            Some(Outcome::Win(side)) if (side == Side::Second) == is_swapped => 1.0,
            Some(Outcome::Win(_)) => 0.0,
            _ => 0.5,
        };
    }
    points
}

#[test]
fn each_step_is_stronger_than_the_one_below() {
    // Everything follows from seeds: the same points on every machine.
    for (bots, boards, free, least) in [
        (["greedy", "random"], 20, 12, 30.0),
        (["search?depth=2", "search?depth=1"], 40, 10, 41.0),
        (["search?depth=3", "search?depth=1"], 40, 10, 41.0),
        (["perfect?slips=0", "search?depth=3"], 40, 8, 41.0),
        (["perfect?slips=0", "perfect?slips=0.3"], 20, 8, 21.0),
    ] {
        let made = points(bots, boards, free);
        println!("{bots:?}: {made} of {}", 2 * boards);
        assert!(made >= least, "{bots:?}: {made}");
    }
}

#[test]
fn the_first_depth_is_greedy_play() {
    let edition = Edition::default();
    let mut rng = ChaCha8Rng::seed_from_u64(3);
    for free in [15, 12, 9, 6, 3] {
        let position = edition.start_from(&board(&mut rng, free)).expect("a board");
        let mut both = [0, 1].map(|_| ChaCha8Rng::seed_from_u64(free as u64));
        let [one, other] = &mut both;
        assert_eq!(
            Search::new(1).choose(&position, one),
            greedy(&position, other)
        );
    }
}

#[test]
fn an_answer_follows_from_the_seed_and_no_clock() {
    let ruleset = quarto();
    for name in [
        "search?depth=2",
        "search?depth=3",
        "perfect?slips=0.5",
        "perfect?slips=0",
    ] {
        let answers = |seed: u64, time: Duration| -> Vec<String> {
            let mut rng = ChaCha8Rng::seed_from_u64(5);
            let mut bot = ruleset.builtin_bot(name, seed, time).expect("a bot");
            let boards = (0..12).map(|round| board(&mut rng, 4 + round % 5));
            boards
                .map(|board| bot(&format!("{board} -")).expect("an answer"))
                .collect()
        };
        let one = answers(1, Duration::from_millis(1));
        assert_eq!(one, answers(1, Duration::from_hours(1)), "{name}");
        assert_ne!(one, answers(2, Duration::from_millis(1)), "{name}");
    }
}

#[test]
fn without_slips_it_is_the_perfect_bot_and_with_nothing_else_the_random_one() {
    let ruleset = quarto();
    let mut rng = ChaCha8Rng::seed_from_u64(6);
    let long = Duration::from_mins(10);
    let bot = |name| ruleset.builtin_bot(name, 4, long).expect("a bot");
    let mut both = [bot("perfect"), bot("perfect?slips=0")];
    for round in 0..20 {
        let request = format!("{} -", board(&mut rng, 3 + round % 5));
        let [one, other] = both.each_mut().map(|bot| bot(&request).expect("an answer"));
        assert_eq!(one, other, "{request}");
    }
    // Twelve gifts from a board: each as often as by lot, where a perfect bot would give only some.
    let request = format!("{} -", board(&mut rng, 12));
    let mut always = bot("perfect?slips=1");
    let mut times = std::collections::BTreeMap::new();
    for _ in 0..2400 {
        *times
            .entry(always(&request).expect("an answer"))
            .or_insert(0_i32) += 1;
    }
    assert_eq!(times.len(), 12, "{times:?}");
    // Five standard deviations.
    assert!(
        times.values().all(|count| (count - 200).abs() < 70),
        "{times:?}"
    );
}

#[test]
fn the_cost_of_an_answer_is_bounded() {
    let edition = Edition::default();
    let mut rng = ChaCha8Rng::seed_from_u64(7);
    for depth in [1, 2, 3] {
        let mut most = 0;
        for free in (2..=15).rev() {
            let start = edition.start_from(&board(&mut rng, free)).expect("a board");
            let (_, position) = start.turns().swap_remove(0);
            let mut search = Search::new(depth);
            search.choose(&position, &mut rng);
            most = most.max(search.nodes());
        }
        println!("depth {depth}: at most {most} positions");
        assert!(most <= 200_000, "depth {depth}: {most}");
    }
}

#[test]
fn forced_wins_and_losses_are_seen_as_far_as_the_depth() {
    let game = FourInARow;
    let mut rng = ChaCha8Rng::seed_from_u64(8);
    // Two in the bottom row: with a third in column 2 there are two ways to complete four, and one reply.
    let position = game
        .read_request(&format!("@ {}..@@.OO", ".".repeat(35)))
        .expect("a request");
    let mut answers: Vec<String> = (0..20)
        .filter_map(|_| Search::new(2).choose(&position, &mut rng))
        .map(|turn| game.turn_text(turn))
        .collect();
    answers.sort();
    answers.dedup();
    assert_eq!(answers, ["2"], "{position:?}");
}

#[test]
fn they_are_entrants_of_their_own() {
    let run = Referee::new([
        "--seed",
        "1",
        "builtin:search?depth=2",
        "builtin:search?depth=01",
    ])
    .recorded()
    .run();
    assert_eq!(run.code, Some(0), "{run}");
    let records = run.records();
    assert_eq!(records[0]["bots"][0]["name"], "builtin:search?depth=2");
    assert_eq!(records[0]["bots"][1]["name"], "builtin:search?depth=1");
    let run = Referee::new(["builtin:search?dept=2", "builtin:random"]).run();
    assert_eq!(run.code, Some(2), "{run}");
    let sentence = "referee: cannot start builtin:search?dept=2: search has no parameter `dept`; the only one is depth";
    assert!(run.stderr.contains(sentence), "{run}");
    let game = ["--game", "four-in-a-row"];
    // Of a hundred games with other seeds it loses one or two.
    let bots = ["--seed", "1", "builtin:search?depth=4", "builtin:random"];
    let run = Referee::new([&game[..], &bots[..]].concat())
        .recorded()
        .run();
    assert_eq!(run.code, Some(0), "{run}");
    assert_eq!(run.records()[0]["result"]["winner"], 0, "{run}");
    let bots = ["builtin:perfect?slips=0.1", "builtin:random"];
    let arguments = [
        "-n",
        "2",
        "--start",
        "......................@......O......@O.O@@",
    ];
    let run = Referee::new([&game[..], &bots[..], &arguments[..]].concat())
        .recorded()
        .run();
    assert_eq!(run.code, Some(0), "{run}");
    for record in run.records() {
        assert_eq!(record["result"]["reason"], "four-in-a-row", "{run}");
    }
}
