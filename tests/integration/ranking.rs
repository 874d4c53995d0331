//! The order of tables: Swiss tournaments with byes, knockouts, groups that never met, tie-breaks.

use std::collections::{BTreeMap, BTreeSet};

use rand::rngs::ChaCha8Rng;
use rand::{RngExt as _, SeedableRng as _};
use referee::record::RecordSummary;
use referee::stats::schedule::swiss::{self, SwissResults};
use referee::stats::schedule::{EntrantId, Half, Pairing};
use referee::stats::standings::{
    Byes, Collector, Order, Place, RankBy, Ranking, Standings, TieBreak, UnplayedRound,
};
use serde_json::json;

/// The record of a game: its id, the names, who begins, and the winner's index.
fn record(id: &str, names: [&str; 2], first: usize, winner: Option<usize>) -> String {
    json!({
        "v": 1, "game": "quarto", "rules": "standard", "id": id,
        "bots": names.map(|name| json!({"name": name, "command": []})), "first": first,
        "seed": 1, "start": "", "turns": [], "times_ms": [], "started": "",
        "result": {"winner": winner, "reason": if winner.is_some() { "quarto" } else { "draw" }},
    })
    .to_string()
}

fn add(collector: &mut Collector, record: &str) {
    let game = RecordSummary::parse(record.as_bytes()).expect("a record");
    collector.add(&game.with_times(game.times()));
}

/// Games of (first mover, second mover, winner's index), each on its own.
fn games(list: &[(&str, &str, Option<usize>)]) -> Collector {
    let mut collector = Collector::new();
    for (number, &(first, second, winner)) in list.iter().enumerate() {
        add(
            &mut collector,
            &record(&format!("1-{number}"), [first, second], 0, winner),
        );
    }
    collector
}

fn ranked(collector: &Collector, ranking: &Ranking) -> Standings {
    collector.standings(ranking).expect("ratings")
}

fn names(places: &[Place]) -> Vec<&str> {
    places.iter().map(|place| place.name.as_str()).collect()
}

/// A Swiss tournament of bots that win as often as drawn by lot: its table, who met whom, and the half
/// points, byes included.
fn swiss_tournament(entrants: u32, rounds: u32, seed: u64) -> (Standings, SwissResults) {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let name = |id: EntrantId| format!("bot {}", id.0);
    let mut results = SwissResults::new(entrants);
    let mut collector = Collector::new();
    let mut byes = BTreeMap::<String, Byes>::new();
    for number in 1..=rounds {
        let round = swiss::next_round(&results, number, 1);
        let mut points = BTreeMap::<Pairing, [u64; 2]>::new();
        for pair in round.pairs() {
            let Pairing { a, b } = pair.pairing;
            for half in Half::BOTH {
                let winner = [None, Some(0), Some(1)][random.random_range(0..3)];
                let id = format!(
                    "p{:06}{}",
                    pair.number,
                    if half == Half::First { 'a' } else { 'b' }
                );
                let record = record(&id, [&name(a), &name(b)], half as usize, winner);
                add(&mut collector, &record);
                let made = match winner {
                    None => [1, 1],
                    Some(0) => [2, 0],
                    Some(_) => [0, 2],
                };
                let sum = points.entry(pair.pairing).or_default();
                *sum = [sum[0] + made[0], sum[1] + made[1]];
            }
        }
        for (pairing, points) in points {
            results.meeting(pairing, points);
        }
        for bye in round.byes {
            results.bye(bye, 4);
            let byes = byes.entry(name(bye)).or_default();
            byes.count += 1;
            byes.points += 2.0;
        }
    }
    let ranking = Ranking {
        by: RankBy::Points,
        byes,
        games_a_meeting: Some(2),
        ..Ranking::default()
    };
    (ranked(&collector, &ranking), results)
}

#[test]
fn a_swiss_table_of_an_odd_field_is_in_points_with_those_for_byes() {
    let half_points = |place: &Place| format!("{}", 2.0 * place.points);
    for seed in 0..30 {
        let (table, results) = swiss_tournament(9, 4, seed);
        assert_eq!(table.places.len(), 9);
        for place in &table.places {
            let id: usize = place.name["bot ".len()..].parse().unwrap();
            assert_eq!(half_points(place), results.points[id].to_string(), "{seed}");
            assert_eq!(place.byes.count, results.byes[id]);
            assert_eq!(place.games, 8 - 2 * u64::from(results.byes[id]));
        }
        let points: Vec<f64> = table.places.iter().map(|place| place.points).collect();
        assert!(points.is_sorted_by(|a, b| a >= b), "{seed}: {points:?}");
        let ranks: Vec<usize> = table.places.iter().map(|place| place.rank).collect();
        assert_eq!(ranks, [1, 2, 3, 4, 5, 6, 7, 8, 9]);
    }
}

/// Ties are ordered by direct encounter only where all of the tied have met; then by Buchholz cut 1, then
/// by Sonneborn–Berger, each computed anew here.
#[test]
fn swiss_ties_are_broken_in_the_documented_order() {
    let (mut met_groups, mut other_groups) = (0, 0);
    for seed in 0..60 {
        let (table, results) = swiss_tournament(9, 4, seed);
        let id = |place: &Place| place.name["bot ".len()..].parse::<u32>().unwrap();
        let met = |a: &Place, b: &Place| {
            let pairing = Pairing::new(EntrantId(id(a)), EntrantId(id(b)));
            results.times_met(pairing) > 0
        };
        for (place, against) in table.places.iter().map(|place| (place, &place.against)) {
            let opponents = table
                .places
                .iter()
                .zip(against)
                .filter(|(_, made)| made.is_some());
            let mut points: Vec<f64> = opponents.clone().map(|(other, _)| other.points).collect();
            points.extend((0..place.byes.count).map(|_| place.points));
            points.sort_by(f64::total_cmp);
            assert_eq!(
                place.buchholz.to_bits(),
                points.iter().sum::<f64>().to_bits()
            );
            assert_eq!(
                place.buchholz_cut_1.to_bits(),
                points[1..].iter().sum::<f64>().to_bits()
            );
            let made = opponents.map(|(other, made)| made.unwrap() * other.points);
            let berger = made.sum::<f64>() + place.byes.points * place.points;
            assert_eq!(place.sonneborn_berger.to_bits(), berger.to_bits());
        }
        for tied in table
            .places
            .chunk_by(|a, b| a.points.total_cmp(&b.points).is_eq())
        {
            let pairs = || {
                tied.iter()
                    .enumerate()
                    .flat_map(|(i, a)| tied[..i].iter().map(move |b| (a, b)))
            };
            let all_met = pairs().all(|(a, b)| met(a, b));
            if tied.len() > 1 {
                *(if all_met {
                    &mut met_groups
                } else {
                    &mut other_groups
                }) += 1;
            }
            for two in tied.windows(2) {
                let key = |place: &Place| {
                    let direct = if all_met { place.direct } else { 0.0 };
                    [direct, place.buchholz_cut_1, place.sonneborn_berger]
                };
                if !all_met {
                    assert_eq!((two[0].direct.to_bits(), two[1].direct.to_bits()), (0, 0));
                }
                // Among three, a direct encounter is compared again between those still tied.
                if tied.len() == 2 || !all_met {
                    assert!(key(&two[0]) >= key(&two[1]), "{seed}: {two:?}");
                }
            }
        }
    }
    assert!(
        met_groups > 10 && other_groups > 10,
        "{met_groups} {other_groups}"
    );
}

/// A round of one bot, as the tie-break regulations see it (FIDE handbook C.07, in force from August 2024).
#[derive(Clone, Copy, Debug)]
enum OfRound {
    /// Against this bot, over the board, and the points made.
    Played(usize, f64),
    /// 16.2.1: a bye that the pairing allocated.
    Bye(f64),
    /// 16.2.2 and 16.2.4: forfeits. Whether the bot itself was not available: a voluntary unplayed round (16.1.2).
    Forfeit {
        opponent: usize,
        points: f64,
        voluntary: bool,
    },
}

impl OfRound {
    const fn points(self) -> f64 {
        match self {
            Self::Played(_, points) | Self::Bye(points) | Self::Forfeit { points, .. } => points,
        }
    }
}

/// A Swiss tournament in which bots are benched now and then: the rounds of each bot, and its table.
fn swiss_with_absent_bots(entrants: u32, rounds: u32, seed: u64) -> (Vec<Vec<OfRound>>, Standings) {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let name = |id: usize| format!("bot {id}");
    let mut results = SwissResults::new(entrants);
    let mut collector = Collector::new();
    let mut histories = vec![Vec::new(); entrants as usize];
    let mut absent = vec![false; entrants as usize];
    for number in 1..=rounds {
        let round = swiss::next_round(&results, number, 1);
        for pair in round.pairs() {
            let bots = [pair.pairing.a, pair.pairing.b].map(EntrantId::index);
            let away = bots.map(|bot| absent[bot]);
            let mut made = [0_u32; 2];
            for half in Half::BOTH {
                let first = half as usize;
                let winner = match away {
                    [true, true] => Some(1 - first),
                    [true, false] => Some(1),
                    [false, true] => Some(0),
                    [false, false] => [None, Some(0), Some(1)][random.random_range(0..3)],
                };
                let letter = ['a', 'b'][first];
                let id = format!("p{:06}{letter}", pair.number);
                add(
                    &mut collector,
                    &record(
                        &id,
                        bots.map(name).each_ref().map(String::as_str),
                        first,
                        winner,
                    ),
                );
                for side in [0, 1] {
                    made[side] += winner.map_or(1, |winner| 2 * u32::from(winner == side));
                }
            }
            results.meeting(pair.pairing, made.map(u64::from));
            for side in [0, 1] {
                let (opponent, points) = (bots[1 - side], f64::from(made[side]) / 2.0);
                histories[bots[side]].push(if away == [false, false] {
                    OfRound::Played(opponent, points)
                } else {
                    let voluntary = away[side];
                    OfRound::Forfeit {
                        opponent,
                        points,
                        voluntary,
                    }
                });
            }
        }
        for bye in round.byes {
            results.bye(bye, 4);
            histories[bye.index()].push(OfRound::Bye(2.0));
        }
        absent[random.random_range(0..entrants as usize)] |= random.random_bool(0.5);
    }
    let mut ranking = Ranking {
        by: RankBy::Points,
        games_a_meeting: Some(2),
        ..Ranking::default()
    };
    for (bot, history) in histories.iter().enumerate() {
        for &of_round in history {
            match of_round {
                OfRound::Played(..) => {}
                OfRound::Bye(points) => {
                    let byes = ranking.byes.entry(name(bot)).or_default();
                    byes.count += 1;
                    byes.points += points;
                }
                OfRound::Forfeit {
                    opponent,
                    points,
                    voluntary,
                } => {
                    let rounds = ranking.unplayed.entry(name(bot)).or_default();
                    let opponent = name(opponent);
                    rounds.push(UnplayedRound {
                        opponent,
                        points,
                        voluntary,
                    });
                }
            }
        }
    }
    (histories, ranked(&collector, &ranking))
}

/// Each figure is computed anew, round by round, as C.07 defines it.
#[test]
fn unplayed_rounds_count_as_the_tie_break_regulations_say() {
    let (mut forfeits, mut exceptions) = (0, 0);
    for seed in 0..200 {
        let (histories, table) =
            swiss_with_absent_bots(5 + u32::try_from(seed % 5).unwrap(), 4, seed);
        let score = |bot: usize| -> f64 { histories[bot].iter().map(|of| of.points()).sum() };
        for place in &table.places {
            let bot: usize = place.name["bot ".len()..].parse().unwrap();
            assert_eq!(place.points.to_bits(), score(bot).to_bits());
            let (mut buchholz, mut berger) = (0.0, 0.0);
            let (mut least, mut least_voluntary) = (f64::INFINITY, f64::INFINITY);
            for &of_round in &histories[bot] {
                // 16.4: a dummy that has as many points as the bot itself.
                let (opponent, is_voluntary) = match of_round {
                    OfRound::Played(opponent, _) => (score(opponent), false),
                    OfRound::Bye(_) => (score(bot), false),
                    OfRound::Forfeit { voluntary, .. } => {
                        forfeits += 1;
                        (score(bot), voluntary)
                    }
                };
                buchholz += opponent;
                berger += opponent * of_round.points();
                least = opponent.min(least);
                if is_voluntary {
                    least_voluntary = opponent.min(least_voluntary);
                }
            }
            // 16.5: a voluntary unplayed round is cut first.
            let cut = if least_voluntary.is_finite() {
                least_voluntary
            } else {
                least
            };
            exceptions += u32::from(cut > least);
            let figures = [place.buchholz, place.buchholz_cut_1, place.sonneborn_berger];
            assert_eq!(
                figures.map(f64::to_bits),
                [buchholz, buchholz - cut, berger].map(f64::to_bits),
                "{seed}: {place:?} {:?}",
                histories[bot]
            );
        }
        // 6.1.1: forfeits are not encounters.
        for tied in table
            .places
            .chunk_by(|a, b| a.points.total_cmp(&b.points).is_eq())
        {
            let bots: Vec<usize> = tied
                .iter()
                .map(|place| place.name["bot ".len()..].parse().unwrap())
                .collect();
            let played = |bot: usize, other: usize| {
                let of = histories[bot].iter().filter_map(move |of| match *of {
                    OfRound::Played(opponent, points) if opponent == other => Some(points),
                    _ => None,
                });
                of.collect::<Vec<f64>>()
            };
            let others = |bot: usize| bots.iter().filter(move |&&other| other != bot);
            let all_met = bots
                .iter()
                .all(|&bot| others(bot).all(|&other| !played(bot, other).is_empty()));
            for (place, &bot) in tied.iter().zip(&bots) {
                let made: f64 = others(bot)
                    .flat_map(|&other| played(bot, other))
                    .fold(0.0, |sum, points| sum + points);
                let direct = if all_met { made } else { 0.0 };
                assert_eq!(
                    place.direct.to_bits(),
                    direct.to_bits(),
                    "{seed}: {place:?}"
                );
            }
        }
    }
    assert!(forfeits > 500 && exceptions > 20, "{forfeits} {exceptions}");
}

/// The example of docs/standings.md, computed there by hand.
#[test]
fn the_example_of_the_documents() {
    let pair = |number: u32, names: [&str; 2], winners: [Option<usize>; 2]| {
        let half = |half: usize| {
            record(
                &format!("p{number:06}{}", ['a', 'b'][half]),
                names,
                half,
                winners[half],
            )
        };
        [half(0), half(1)]
    };
    let (a, b) = (Some(0), Some(1));
    let mut collector = Collector::new();
    for record in [
        pair(1, ["ada", "cem"], [a, a]),
        pair(2, ["ben", "dov"], [b, b]),
        pair(3, ["ben", "ada"], [b, b]),
        // Dov is benched.
        pair(4, ["eva", "dov"], [a, a]),
        pair(5, ["ben", "eva"], [a, b]),
        pair(6, ["cem", "dov"], [a, a]),
    ]
    .concat()
    {
        add(&mut collector, &record);
    }
    let bye = Byes {
        count: 1,
        points: 2.0,
        voluntary: false,
    };
    let unplayed = |opponent: &str, points| UnplayedRound {
        opponent: opponent.to_owned(),
        points,
        voluntary: points == 0.0,
    };
    let ranking = Ranking {
        by: RankBy::Points,
        byes: ["eva", "cem", "ada"]
            .map(|name| (name.to_owned(), bye))
            .into(),
        unplayed: [
            ("eva", vec![unplayed("dov", 2.0)]),
            ("cem", vec![unplayed("dov", 2.0)]),
            ("dov", vec![unplayed("eva", 0.0), unplayed("cem", 0.0)]),
        ]
        .map(|(name, rounds)| (name.to_owned(), rounds))
        .into(),
        games_a_meeting: Some(2),
        ..Ranking::default()
    };
    let table = ranked(&collector, &ranking);
    let figures = |place: &Place| {
        let Place {
            points,
            buchholz,
            buchholz_cut_1,
            sonneborn_berger,
            ..
        } = *place;
        (
            place.name.clone(),
            [points, buchholz, buchholz_cut_1, sonneborn_berger],
        )
    };
    let figures: BTreeMap<String, [f64; 4]> = table.places.iter().map(figures).collect();
    let document =
        std::fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/docs/standings.md"));
    let document = document.expect("the document");
    for (name, figures) in figures {
        let row = format!(
            "| {name} | {} |",
            figures.map(|figure| figure.to_string()).join(" | ")
        );
        assert!(document.contains(&row), "{row}");
    }
}

#[test]
fn direct_encounters_are_compared_again_between_those_still_tied() {
    // a, b and c have beaten each other in a circle or drawn; a and b remain tied, and b beat a.
    let collector = games(&[
        ("b", "a", Some(0)),
        ("a", "c", Some(0)),
        ("b", "c", None),
        ("c", "d", Some(0)),
        ("a", "d", Some(0)),
        ("b", "d", None),
        ("c", "e", Some(0)),
        ("a", "e", None),
        ("b", "e", None),
        ("d", "e", None),
    ]);
    let table = ranked(&collector, &Ranking::default());
    let points: Vec<f64> = table.places.iter().map(|place| place.points).collect();
    // a 2.5, b 2.5, c 2.5: among them b 1.5, a 1, c ½.
    assert_eq!(points[..3], [2.5; 3], "{table:?}");
    assert_eq!(names(&table.places)[..3], ["b", "a", "c"]);
}

#[test]
fn tie_breaks_can_be_chosen() {
    let collector = games(&[
        ("a", "b", Some(1)),
        ("a", "c", Some(0)),
        ("a", "d", Some(0)),
        ("b", "c", Some(1)),
        ("b", "d", Some(0)),
        ("c", "d", Some(1)),
    ]);
    // a and b have two points each. b beat a; a won none as the second to move, b one.
    let first = |tie_breaks: &[TieBreak]| {
        let ranking = Ranking {
            tie_breaks: tie_breaks.to_vec(),
            ..Ranking::default()
        };
        let table = ranked(&collector, &ranking);
        table.places[0].name.clone()
    };
    assert_eq!(first(&[]), "b");
    assert_eq!(first(&[TieBreak::Direct]), "b");
    assert_eq!(first(&[TieBreak::WinsAsSecond]), "b");
    for tie_break in TieBreak::ALL {
        assert_eq!(tie_break.name().parse(), Ok(tie_break));
    }
    assert!("nonsense".parse::<TieBreak>().is_err());
}

#[test]
fn groups_that_never_met_have_tables_of_their_own() {
    let collector = games(&[
        ("a", "b", Some(0)),
        ("b", "a", Some(0)),
        ("b", "c", Some(0)),
        ("c", "b", Some(0)),
        ("x", "y", Some(0)),
        ("y", "x", Some(1)),
    ]);
    let table = ranked(&collector, &Ranking::default());
    assert_eq!(table.tables, 2);
    let tables: BTreeSet<(usize, usize, &str)> = table
        .places
        .iter()
        .map(|place| (place.table, place.rank, place.name.as_str()))
        .collect();
    let of = |number: usize| -> Vec<&str> {
        let places = tables.iter().filter(|place| place.0 == number);
        places.map(|place| place.2).collect()
    };
    // The larger first.
    assert_eq!(of(0).len(), 3);
    assert_eq!(of(1), ["x", "y"]);
    assert!(tables.contains(&(1, 1, "x")));
    let all = ranked(
        &collector,
        &Ranking {
            by: RankBy::Points,
            ..Ranking::default()
        },
    );
    assert_eq!((all.tables, all.connected), (1, 2));
}

#[test]
fn a_bot_that_has_only_had_a_bye_is_in_the_table() {
    let collector = games(&[("a", "b", Some(0))]);
    let byes = BTreeMap::from([(
        "c".to_owned(),
        Byes {
            count: 1,
            points: 2.0,
            voluntary: false,
        },
    )]);
    let ranking = Ranking {
        by: RankBy::Points,
        byes,
        ..Ranking::default()
    };
    assert_eq!(names(&ranked(&collector, &ranking).places), ["c", "a", "b"]);
}

#[test]
fn few_games_have_neither_a_superiority_nor_an_advantage() {
    let few = games(&[("a", "b", Some(0)); 9]);
    assert_eq!(ranked(&few, &Ranking::default()).places[0].los, None);
    let one = games(&[("a", "b", Some(0))]);
    assert_eq!(ranked(&one, &Ranking::default()).advantage, None);
    let mut list = vec![("a", "b", Some(0)); 6];
    list.extend([("b", "a", None); 4]);
    let table = ranked(&games(&list), &Ranking::default());
    assert!(table.places[0].los.is_some());
    assert!(
        table
            .advantage
            .is_some_and(|advantage| advantage.error.is_some())
    );
}

#[test]
fn bots_that_are_equal_in_every_criterion_share_a_rank() {
    let collector = games(&[
        ("b", "a", Some(0)),
        ("a", "b", Some(0)),
        ("a", "c", Some(0)),
        ("b", "c", Some(0)),
        ("c", "a", Some(1)),
        ("c", "b", Some(1)),
    ]);
    let table = ranked(&collector, &Ranking::default());
    let ranks = |places: &[Place]| -> Vec<(usize, bool)> {
        let all = places.iter().map(|place| (place.rank, place.shared));
        all.collect()
    };
    assert_eq!(names(&table.places), ["a", "b", "c"]);
    assert_eq!(ranks(&table.places), [(1, true), (1, true), (3, false)]);
    // A tie-break that decides leaves nothing to share.
    let ranking = Ranking {
        tie_breaks: vec![TieBreak::WinsAsSecond],
        ..Ranking::default()
    };
    let collector = games(&[("a", "b", None), ("c", "a", Some(1)), ("b", "c", Some(0))]);
    let table = ranked(&collector, &ranking);
    assert_eq!(ranks(&table.places), [(1, false), (2, false), (3, false)]);
}

/// In an interrupted round robin points depend on how much was played, and ratings on very few games.
#[test]
fn an_unfinished_round_robin_is_in_the_order_of_points_per_game() {
    let collector = games(&[
        ("a", "b", Some(0)),
        ("a", "b", None),
        ("b", "a", Some(0)),
        ("b", "c", Some(0)),
        ("c", "a", None),
    ]);
    let ranking = Ranking {
        by: RankBy::Score,
        ..Ranking::default()
    };
    let table = ranked(&collector, &ranking);
    assert_eq!(table.order, Order::Score);
    assert_eq!(names(&table.places), ["b", "a", "c"]);
    let scores: Vec<f64> = table.places.iter().map(|place| place.score).collect();
    assert!(scores.is_sorted_by(|a, b| a >= b), "{scores:?}");
}
