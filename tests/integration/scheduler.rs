//! The desk: which games are played and which are not must not depend on who is quicker.

use std::collections::BTreeMap;
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use proptest::prelude::*;
use referee::bot::ClockKind;
use referee::play::TimeControl;
use referee::record::{BotIndex, Ending, ForfeitReason, GameResult};
use referee::stats::schedule::PairOfGames;
use referee::stats::sprt::{Decision, Pentanomial, Sprt};
use referee::tournament::plan::{BotPlan, Format, Plan, Restart, SandboxPlan};
use referee::tournament::results::{Endings, Results};
use referee::tournament::scheduler::{GameLine, Scheduler, WorkItem};

fn plan(bots: usize, pairs: u32, bench_after: u32) -> Plan {
    let bot = |number: usize| BotPlan {
        name: format!("bot {number}"),
        slug: format!("bot-{number}"),
        bot: format!("./{number}"),
        directory: None,
        environment: BTreeMap::new(),
        limits: TimeControl {
            move_time: Some(Duration::from_secs(1)),
            start_time: Duration::from_secs(1),
            game_time: None,
            increment: Duration::ZERO,
            kind: ClockKind::Wall,
        },
        hash: String::new(),
        version: None,
        place_before: None,
    };
    let mut plan = Plan {
        v: 1,
        hash: String::new(),
        referee: String::new(),
        game_program: None,
        game: "quarto".to_owned(),
        rules: "standard".to_owned(),
        pieces: None,
        seed: 1,
        format: Format::RoundRobin,
        groups: None,
        rounds_planned: Format::RoundRobin.usual_rounds(u32::try_from(bots).unwrap()),
        pairs,
        tie_break_games: 0,
        by_version: false,
        opening_plies: Some(0),
        openings: vec!["................".to_owned()],
        restart: Restart::Pair,
        bench_after,
        adjudicate: false,
        sprt: None,
        tie_breaks: Vec::new(),
        seeded_by: None,
        begun_in: None,
        sandbox: SandboxPlan {
            kind: "none".to_owned(),
            layers: Vec::new(),
            memory: 0,
            memory_by: None,
            processes: 0,
            open_files: 0,
            scratch: 0,
            expose: Vec::new(),
            env: Vec::new(),
            freeze: false,
        },
        bots: (0..bots).map(bot).collect(),
        rejected: Vec::new(),
        rounds: Vec::new(),
    };
    plan.rounds = plan.first_rounds();
    plan
}

fn desk(plan: &Plan, tables: usize, sprt: Option<Sprt>) -> Scheduler<String> {
    let pairs = 1..plan.pairs_so_far() + 1;
    let plan = &Plan {
        sprt,
        ..plan.clone()
    };
    Scheduler::new(plan, pairs, Endings::default(), tables, false)
}

fn number(pair: &PairOfGames) -> usize {
    usize::try_from(pair.number).unwrap()
}

/// What a game's line is in these tests.
fn line(pair: &PairOfGames, half: usize, ending: Ending) -> String {
    format!("{} {ending:?}", pair.games()[half])
}

fn text(line: GameLine<String>) -> String {
    match line {
        GameLine::Played(line) => line,
        GameLine::Unplayed(pair, half, benched) => {
            let game = pair.games()[half as usize];
            let (bot, after) = (benched.bot.0, benched.after);
            format!("{game} {bot} benched after {after}")
        }
    }
}

/// Lets `tables` tables work; `choose` says which of those at work goes on. Gives all lines.
fn play(
    desk: &Scheduler<String>,
    tables: usize,
    result: impl Fn(&PairOfGames, usize) -> GameResult,
    mut choose: impl FnMut(usize) -> usize,
) -> Vec<String> {
    let mut lines = Vec::new();
    let mut at_work: Vec<(PairOfGames, usize)> = Vec::new();
    loop {
        while at_work.len() < tables {
            match desk.next() {
                Some(WorkItem::Play(pair, done)) => {
                    assert_eq!(done, [false; 2]);
                    at_work.push((pair, 0));
                }
                Some(WorkItem::Lines(more)) => {
                    for line in more {
                        lines.push(text(line));
                        desk.written();
                    }
                }
                None => break,
            }
        }
        if at_work.is_empty() {
            break;
        }
        let chosen = choose(at_work.len());
        let (pair, half) = at_work[chosen];
        let result = result(&pair, half);
        let games = pair.games();
        desk.thought(&pair, [1.0, 3.0]);
        let mut more = desk.finished(games[half], result, line(&pair, half, result.ending));
        if half == 0 {
            at_work[chosen].1 = 1;
        } else {
            at_work.remove(chosen);
            more.extend(desk.done(&pair));
        }
        for line in more {
            lines.push(text(line));
            desk.written();
        }
    }
    lines.sort();
    lines
}

/// Which games count, by going through the schedule one by one.
fn one_by_one(plan: &Plan, result: impl Fn(&PairOfGames, usize) -> GameResult) -> Vec<String> {
    let mut lines = Vec::new();
    let mut row = vec![0; plan.bots.len()];
    let mut benched: Vec<Option<u32>> = vec![None; plan.bots.len()];
    let mut moved = vec![false; plan.bots.len()];
    for pair in plan.pairs() {
        let bots = [pair.pairing.a.index(), pair.pairing.b.index()];
        // A bot that has made no turn plays on against benched ones: otherwise it would not be asked.
        let is_known = |bot: usize| moved[bot] || benched[bot].is_some();
        if bots.iter().any(|&bot| benched[bot].is_some()) && bots.into_iter().all(is_known) {
            for (half, game) in pair.games().iter().enumerate() {
                let (one, other) = (bots[half], bots[1 - half]);
                let by = if benched[one].is_some() { one } else { other };
                let after = benched[by].expect("one of them is");
                lines.push(format!("{game} {by} benched after {after}"));
            }
            // A game that is not played says nothing about the other one.
            continue;
        }
        for half in 0..2 {
            let GameResult {
                ending, answered, ..
            } = result(&pair, half);
            lines.push(line(&pair, half, ending));
            for (index, &bot) in bots.iter().enumerate() {
                moved[bot] |= answered[index];
                match ending {
                    Ending::Forfeit(by, _) if by.index() == index => row[bot] += 1,
                    _ if answered[index] => row[bot] = 0,
                    _ => {}
                }
            }
        }
        for &bot in &bots {
            if plan.bench_after > 0 && row[bot] >= plan.bench_after {
                benched[bot].get_or_insert(row[bot]);
            }
        }
    }
    lines.sort();
    lines
}

/// A game in which both bots made turns.
const fn played(ending: Ending) -> GameResult {
    GameResult {
        ending,
        answered: [true; 2],
        played: true,
    }
}

fn result(number: u8) -> GameResult {
    let ending = match number {
        0 => Ending::Draw,
        1 => Ending::Win(BotIndex::A),
        2 => Ending::Win(BotIndex::B),
        3..6 => Ending::Forfeit(BotIndex::A, ForfeitReason::Timeout),
        _ => Ending::Forfeit(BotIndex::B, ForfeitReason::Exited),
    };
    let answered = match number {
        // At its first turn, before and after the other one's.
        4 | 7 => [false, false],
        5 => [false, true],
        8 => [true, false],
        _ => [true; 2],
    };
    GameResult {
        answered,
        ..played(ending)
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn the_same_games_whoever_is_quicker(
        bots in 2usize..6,
        pairs in 1u32..5,
        bench_after in 0u32..7,
        tables in 1usize..6,
        is_fair in any::<bool>(),
        results in prop::collection::vec(0u8..9, 200),
        choices in prop::collection::vec(0usize..6, 400),
    ) {
        let plan = plan(bots, pairs, bench_after);
        let desk = desk(&plan, tables, None);
        if is_fair {
            desk.hand_out_fairly(Results::new(&plan).loads());
        }
        let result = |pair: &PairOfGames, half: usize| {
            result(results[(number(pair) * 2 + half) % results.len()])
        };
        let mut choices = choices.into_iter().cycle();
        let quick = play(&desk, tables, result, |count| {
            choices.next().unwrap_or(0) % count
        });
        prop_assert_eq!(quick, one_by_one(&plan, result));
    }

    #[test]
    fn a_sequential_test_ends_at_the_same_pair(
        tables in 1usize..6,
        wins in prop::collection::vec(0u8..3, 400),
        choices in prop::collection::vec(0usize..6, 400),
    ) {
        let plan = plan(2, 200, 0);
        let sprt = Sprt::new(-50.0, 50.0, 0.1, 0.1).unwrap();
        let result = |pair: &PairOfGames, half: usize| {
            result(wins[(number(pair) * 2 + half) % wins.len()])
        };
        let mut expected = Vec::new();
        let mut scores = Pentanomial::default();
        for pair in plan.pairs() {
            let endings = [0, 1].map(|half| result(&pair, half).ending);
            expected.extend([0, 1].map(|half| line(&pair, half, endings[half])));
            scores.0[endings[0].half_points() + endings[1].half_points()] += 1;
            if sprt.decide(&scores) != Decision::Continue {
                break;
            }
        }
        expected.sort();
        let mut choices = choices.into_iter().cycle();
        let played = play(&desk(&plan, tables, Some(sprt)), tables, result, |count| {
            choices.next().unwrap_or(0) % count
        });
        prop_assert_eq!(played, expected);
    }
}

/// With nobody near the bench a finished game is written at once, whatever else goes on.
#[test]
fn nothing_is_held_back_without_need() {
    let plan = plan(4, 3, 10);
    let desk = desk(&plan, 3, None);
    let mut at_work = Vec::new();
    for _ in 0..3 {
        let Some(WorkItem::Play(pair, _)) = desk.next() else {
            panic!("there is something to play");
        };
        at_work.push(pair);
    }
    let last = at_work[2];
    let game = last.games()[0];
    let lines = desk.finished(game, played(Ending::Draw), "a line".to_owned());
    assert_eq!(lines, [GameLine::Played("a line".to_owned())]);
}

#[test]
fn stopping_hands_out_nothing_more() {
    let plan = plan(2, 3, 10);
    let desk = desk(&plan, 1, None);
    assert!(matches!(desk.next(), Some(WorkItem::Play(..))));
    desk.stop();
    assert!(desk.next().is_none());
}

/// So many records may wait for the disk.
const MOST_UNWRITTEN: usize = 8192;

#[test]
fn a_slow_disk_delays_new_games_until_a_record_is_written() {
    let plan = plan(2, 5000, 0);
    let desk = desk(&plan, 1, None);
    let finish = |pair: PairOfGames| {
        for (half, game) in pair.games().into_iter().enumerate() {
            let line = line(&pair, half, Ending::Draw);
            desk.finished(game, played(Ending::Draw), line);
        }
        desk.done(&pair);
    };
    for _ in 0..MOST_UNWRITTEN / 2 {
        match desk.next() {
            Some(WorkItem::Play(pair, _)) => finish(pair),
            other => panic!("{other:?} instead of a pair"),
        }
    }
    let (hand_over, handed_over) = mpsc::channel();
    thread::scope(|scope| {
        scope.spawn(|| hand_over.send(desk.next()));
        let pause = Duration::from_millis(50);
        assert!(handed_over.recv_timeout(pause).is_err(), "too early");
        desk.written();
        let item = handed_over.recv_timeout(Duration::from_mins(1));
        assert!(matches!(item, Ok(Some(WorkItem::Play(..)))), "{item:?}");
    });
}

#[test]
fn nobody_advances_before_the_last_game_of_a_match() {
    let mut plan = plan(2, 2, 0);
    plan.format = Format::Knockout;
    let mut results = Results::new(&plan);
    let bracket = results.bracket(&plan);
    let winner = |results: &Results| results.meetings(&plan, 0, bracket.as_ref())[0].winner;
    for pair in plan.pairs() {
        assert_eq!(winner(&results), None);
        for game in pair.games() {
            assert!(results.endings.note(game, played(Ending::Draw)));
        }
    }
    assert_eq!(winner(&results), Some((0, "as the better seed")));
}
