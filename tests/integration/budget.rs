//! A league with a budget: only some pairings are played, those that say most about the order.

use std::fs;
use std::thread;
use std::time::Duration;

use proptest::prelude::*;
use referee::tournament::budget::comparison::{Comparison, compare, saving, saving_of_oracle};
use referee::tournament::budget::{Bounds, Played, batch, next};
use referee::tournament::ratings::{Model, Outcome, Results, rate};
use referee::tournament::schedule::{EntrantId, Pairing};
use serde_json::Value;

use crate::classroom::{Class, GREEDY, RANDOM};
use crate::common::{self, Referee, Run};

const OUTCOMES: [Outcome; 3] = [Outcome::FirstWins, Outcome::Draw, Outcome::SecondWins];

/// A class of this many bots, every third of which is better than the others.
fn class(bots: usize) -> Class {
    let class = Class::of(&[]);
    for bot in 0..bots {
        hand_in(&class, bot, "");
    }
    class
}

fn hand_in(class: &Class, bot: usize, more: &str) {
    let text = if bot.is_multiple_of(3) {
        GREEDY
    } else {
        RANDOM
    };
    class.write(
        &format!("submissions/bot{bot}/bot.sh"),
        &format!("{text}# {bot}{more}\n"),
    );
}

fn league(class: &Class, name: &str, more: &[&str]) -> Referee {
    let options = [
        "league",
        name,
        "--from",
        "submissions",
        "--sandbox",
        "none",
        "--seed",
        "3",
        "--pairs",
        "2",
        "--no-check",
    ];
    class.referee(&[&options, more].concat())
}

fn update(class: &Class, name: &str, more: &[&str]) -> Run {
    let run = league(class, name, more).run();
    assert_eq!(run.code, Some(0), "{run}");
    common::schema::PLAN.check(&class.json(&format!("{name}/plan.json")));
    run
}

/// What has to be the same however often a league is interrupted: ids, bots, boards, turns and results.
fn games(class: &Class, name: &str) -> Vec<[Value; 5]> {
    let text = class.read(&format!("{name}/games.jsonl"));
    let records = common::records(&text).into_iter();
    let games = records.map(|game| {
        let names = [0, 1].map(|bot| game["bots"][bot]["name"].clone());
        let parts = ["id", "start", "turns", "result"].map(|part| game[part].clone());
        let [id, start, turns, result] = parts;
        [id, Value::from(names.to_vec()), start, turns, result]
    });
    let mut games: Vec<_> = games.collect();
    games.sort_by_key(|game| game[0].as_str().map(str::to_owned));
    games
}

#[test]
fn a_budget_of_games_is_played_and_not_again() {
    let class = class(8);
    // All pairings would be 112 games.
    let run = update(&class, "term", &["--budget", "60"]);
    assert_eq!(run.last_line(), "60 new games, 0 kept");
    assert!(run.stdout.contains("place (95 %)"), "{run}");
    assert!(
        run.stdout
            .contains("52 of the 112 games that all pairings would take are left out"),
        "{run}"
    );
    assert!(
        run.stdout
            .contains("what it bought: two bots are in the right order"),
        "{run}"
    );
    let standings = class.json("term/standings.json");
    for (rank, place) in standings["standings"]
        .as_array()
        .expect("places")
        .iter()
        .enumerate()
    {
        let [first, last] = [0, 1].map(|end| place["places"][end].as_u64().expect("a place"));
        let rank = rank as u64 + 1;
        assert!(
            (1..=rank).contains(&first) && (rank..=8).contains(&last),
            "{place}"
        );
        // Nobody starves.
        assert!(place["games"].as_u64() >= Some(10), "{place}");
    }
    let heads = class.read("term/standings.csv");
    assert!(
        heads
            .lines()
            .next()
            .expect("heads")
            .ends_with("first_place,last_place"),
        "{heads}"
    );
    // What was played counts.
    let run = update(&class, "term", &["--budget", "60"]);
    assert_eq!(run.last_line(), "0 new games, 60 kept");
    let run = update(&class, "term", &[]);
    assert_eq!(run.last_line(), "0 new games, 60 kept");
    let run = update(&class, "term", &["--budget", "80"]);
    assert_eq!(run.last_line(), "20 new games, 60 kept");
    // Nothing is played twice, and without a budget all of the rest.
    let run = update(&class, "term", &["--budget", "none"]);
    assert_eq!(run.last_line(), "32 new games, 80 kept");
    assert!(!run.stdout.contains("place (95 %)"), "{run}");
    let mut known: Vec<_> = games(&class, "term")
        .into_iter()
        .map(|[id, names, start, ..]| {
            let half = id.as_str().expect("an id").chars().next_back();
            format!("{names} {start} {half:?}")
        })
        .collect();
    known.sort();
    known.dedup();
    assert_eq!(known.len(), 112);
}

#[test]
fn a_newcomer_meets_a_spread_of_the_others() {
    let class = class(8);
    update(&class, "term", &["--budget", "60"]);
    hand_in(&class, 4, " better");
    let run = update(&class, "term", &["--budget", "20"]);
    assert!(run.last_line().starts_with("20 new games, "), "{run}");
    let met: std::collections::BTreeSet<String> = games(&class, "term")
        .iter()
        .filter(|[_, names, ..]| names.to_string().contains("bot4"))
        .map(|[_, names, ..]| names.to_string())
        .collect();
    assert!(met.len() >= 5, "{met:?}");
}

#[test]
fn a_killed_league_goes_on_as_if_nothing_had_happened() {
    let class = class(7);
    for round in 0..5 {
        let started = league(&class, "term", &["--budget", "50", "--jobs", "2"]).start();
        thread::sleep(Duration::from_millis(60 * round));
        // As by `kill -9`.
        drop(started);
    }
    update(&class, "term", &["--budget", "50", "--jobs", "2"]);
    update(&class, "fresh", &["--budget", "50"]);
    assert_eq!(games(&class, "term"), games(&class, "fresh"));
    let table = |league: &str| fs::read(class.path(league).join("standings.csv"));
    assert_eq!(
        table("term").expect("a table"),
        table("fresh").expect("a table")
    );
}

#[test]
#[cfg(unix)]
fn an_interrupted_league_goes_on_with_the_same_choices() {
    let class = class(7);
    let journal = class.path("term/games.jsonl");
    let played = || fs::read_to_string(&journal).map_or(0, |text| text.lines().count());
    for _ in 0..3 {
        // Once it plays it heeds signals; before, it just ends.
        let before = played();
        let mut started = league(&class, "term", &["--budget", "50", "--jobs", "2"]).start();
        started.wait_until(|_| played() > before);
        started.signal("INT");
        let run = started.finish();
        assert_eq!(run.code, Some(130), "{run}");
        assert!(
            run.stderr.contains("continue: referee league term"),
            "{run}"
        );
    }
    update(&class, "term", &["--budget", "50", "--jobs", "2"]);
    update(&class, "fresh", &["--budget", "50"]);
    assert_eq!(games(&class, "term"), games(&class, "fresh"));
}

#[test]
fn a_budget_of_time_is_kept_over_runs() {
    let class = class(6);
    let run = update(&class, "term", &["--budget", "1ms"]);
    let first = games(&class, "term").len();
    // The games that were begun are finished, and no more are begun.
    assert!(first < 60, "{run}");
    let spent = class.json("term/plan.json")["budget"]["spent"].clone();
    assert!(spent.as_f64() >= Some(0.001), "{spent}");
    let run = update(&class, "term", &[]);
    assert_eq!(run.last_line(), format!("0 new games, {first} kept"));
    let run = update(&class, "term", &["--budget", "10h"]);
    let rest = 60 - first;
    assert_eq!(run.last_line(), format!("{rest} new games, {first} kept"));
}

#[test]
fn a_budget_is_not_played_in_parts() {
    let class = class(3);
    let run = league(&class, "term", &["--budget", "6", "--plan"]).run();
    assert_eq!(run.code, Some(2), "{run}");
    assert!(run.stderr.contains("add --budget none"), "{run}");
    assert!(!class.path("term/plan.json").exists());
}

#[test]
fn wrong_budgets_are_refused() {
    let class = class(2);
    for wrong in ["0", "1", "-4", "2.5", "soon", "0s"] {
        let run = league(&class, "term", &["--budget", wrong]).run();
        assert_eq!(run.code, Some(2), "{run}");
        assert!(
            run.stderr
                .contains("a number of games of at least 2, a time such as 2h"),
            "{run}"
        );
    }
    assert!(!class.path("term").exists());
    let run = Referee::new(["simulate", "--bots", "4", "--pairs", "1", "--budget", "100"]).run();
    assert_eq!(run.code, Some(2), "{run}");
    assert!(run.stderr.contains("play 12 games at most"), "{run}");
}

#[test]
fn chosen_games_need_fewer_for_the_same_order() {
    let found = compare(&Comparison {
        games: 400,
        bots: 10,
        pairs: 100,
        draws: 0.2,
        spread: 300.0,
        tournaments: 20,
        oracle: true,
        seed: 1,
    })
    .expect("ratings");
    let saving = saving(&found.steps).expect("fewer games");
    assert!(saving.games < 0.75 * 400.0, "{saving:?}");
    let oracle = saving_of_oracle(&found.steps).expect("fewer games");
    assert!(oracle.games < 0.75 * 400.0, "{oracle:?}");
    let last = found.steps.last().expect("steps");
    assert!(last.chosen.rating < 1.2 * last.equal.rating, "{last:?}");
    assert!(found.places > 0.9 && last.chosen.interval > 0.9, "{last:?}");
}

#[test]
fn simulations_say_what_a_budget_saves() {
    let options = [
        "simulate",
        "--bots",
        "6",
        "--budget",
        "100",
        "--tournaments",
        "5",
    ];
    let run = Referee::new(options).run();
    assert_eq!(run.code, Some(0), "{run}");
    assert!(
        run.stdout
            .contains("The order of 100 games in equal shares takes"),
        "{run}"
    );
    assert!(!run.stdout.contains("knew the strengths"), "{run}");
    let run = Referee::new(options).args(["--json"]).run();
    let found: Value = serde_json::from_str(&run.stdout).expect("JSON");
    assert_eq!(found["steps"][19]["games"], 100, "{found}");
    assert_eq!(found["steps"][19]["oracle"], Value::Null, "{found}");
    let run = Referee::new(options).args(["--oracle"]).run();
    assert!(
        run.stdout.contains("Somebody who knew the strengths"),
        "{run}"
    );
}

fn pairing(a: u32, b: u32) -> Pairing {
    Pairing::new(EntrantId(a), EntrantId(b))
}

/// Plays what is chosen, with results drawn from these numbers, until nothing is left or so many pairs were played.
fn play(bots: u32, bounds: Bounds, count: u64, luck: &[usize]) -> (Vec<Vec<Pairing>>, Played) {
    let mut played = Played::new(bots);
    let mut batches = Vec::new();
    let mut total = 0;
    let mut luck = luck.iter().copied().cycle();
    while total < count {
        let size = batch(bots, total).min(count - total);
        let chosen = next(&played, bounds, size).expect("ratings");
        assert!(chosen.len() as u64 <= size);
        if chosen.is_empty() {
            break;
        }
        for &pairing in &chosen {
            let outcomes = [0, 1].map(|_| OUTCOMES[luck.next().unwrap_or(0) % 3]);
            played.add(pairing, outcomes).expect("bots of the field");
        }
        total += chosen.len() as u64;
        batches.push(chosen);
    }
    (batches, played)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn every_choice_keeps_its_bounds(
        bots in 2_u32..14,
        most in 1_u32..7,
        seed in any::<u64>(),
        count in 1_u64..200,
        luck in prop::collection::vec(0_usize..3, 1..40),
    ) {
        let bounds = Bounds { pairs: most, seed };
        let (batches, _) = play(bots, bounds, count, &luck);
        let all = batches.concat();
        let possible = u64::from(bots * (bots - 1) / 2 * most);
        prop_assert_eq!(all.len() as u64, count.min(possible));
        let mut pairs = std::collections::BTreeMap::<Pairing, u32>::new();
        let mut totals = vec![0_u32; bots as usize];
        for &Pairing { a, b } in &all {
            prop_assert!(a < b && b.0 < bots);
            *pairs.entry(Pairing { a, b }).or_default() += 1;
            totals[a.index()] += 1;
            totals[b.index()] += 1;
        }
        prop_assert!(pairs.values().all(|&pairs| pairs <= most));
        // Nobody starves: the least has nearly half of the mean, or everything that is possible.
        let mean = 2.0 * f64::from(u32::try_from(all.len()).expect("a number")) / f64::from(bots);
        let least = f64::from(*totals.iter().min().expect("bots"));
        let whole = f64::from((bots - 1) * most);
        prop_assert!(least >= (mean / 2.0).min(whole) - 3.0, "{least} of {mean}");
        // The same results lead to the same choice.
        let (again, _) = play(bots, bounds, count, &luck);
        prop_assert_eq!(batches, again);
    }

    #[test]
    fn possible_places_are_around_the_place(
        bots in 2_usize..12,
        games in prop::collection::vec((0_usize..12, 0_usize..12, 0_usize..3, 0_usize..3), 1..80),
    ) {
        let mut results = Results::new(bots);
        for (a, b, one, other) in games {
            let (a, b) = (a % bots, b % bots);
            if a != b {
                let _ = results.add_pair(a, b, [OUTCOMES[one], OUTCOMES[other]]);
            }
        }
        let ratings = rate(&results, &Model::default()).expect("ratings");
        let places = ratings.places();
        let order = ratings.ranking();
        for (bot, found) in places.iter().enumerate() {
            let group = ratings.bots[bot].group;
            let mates: Vec<usize> =
                order.iter().copied().filter(|&mate| ratings.bots[mate].group == group).collect();
            let Some([first, last]) = *found else {
                prop_assert_eq!(mates.len(), 1);
                continue;
            };
            let place = mates.iter().position(|&mate| mate == bot).expect("a mate") + 1;
            prop_assert!(1 <= first && first <= place && place <= last && last <= mates.len());
        }
        prop_assert_eq!(places, ratings.places());
    }
}

#[test]
fn a_newcomer_first_meets_the_best_the_last_and_some_between() {
    let bots = 12;
    let bounds = Bounds { pairs: 10, seed: 1 };
    let mut played = Played::new(bots);
    // Bot a beats all with a higher number, and the last bot has not played.
    for a in 0..bots - 1 {
        for b in a + 1..bots - 1 {
            let wins = [Outcome::FirstWins, Outcome::SecondWins];
            played.add(pairing(a, b), wins).expect("bots of the field");
        }
    }
    let chosen = next(&played, bounds, 100).expect("ratings");
    let met: Vec<u32> = chosen.iter().map(|pairing| pairing.a.0).collect();
    assert_eq!(met, [0, 2, 5, 7, 10]);
    assert!(chosen.iter().all(|pairing| pairing.b.0 == 11));
    assert_eq!(next(&played, bounds, 3).expect("ratings").len(), 3);
}

#[test]
fn games_go_where_the_order_is_uncertain() {
    // Bots 0 and 1 are equal, and far better than the equal 2 and 3, and so on.
    let bots = 8;
    let mut played = Played::new(bots);
    for a in 0..bots {
        for b in a + 1..bots {
            let wins = [Outcome::FirstWins, Outcome::SecondWins];
            let one_each = [Outcome::FirstWins, Outcome::FirstWins];
            for _ in 0..6 {
                let outcomes = if a / 2 == b / 2 { one_each } else { wins };
                played
                    .add(pairing(a, b), outcomes)
                    .expect("bots of the field");
            }
        }
    }
    let chosen = next(
        &played,
        Bounds {
            pairs: 100,
            seed: 1,
        },
        4,
    )
    .expect("ratings");
    assert!(
        chosen
            .iter()
            .all(|pairing| pairing.a.0 / 2 == pairing.b.0 / 2),
        "{chosen:?}"
    );
}

#[test]
fn a_hundred_bots_are_no_problem() {
    let bots = 100;
    let luck: Vec<usize> = (0..997).map(|number| number * number % 3).collect();
    let (batches, _) = play(bots, Bounds { pairs: 4, seed: 1 }, 300, &luck);
    assert!(batches.len() >= 2);
}
