//! Schedules: who meets whom, fairly, under ids that never change.

use std::collections::{BTreeMap, BTreeSet};

use proptest::prelude::{Just, ProptestConfig, Strategy as _, any, prop, prop_assert_eq, proptest};
use proptest::test_runner::RngSeed;
use referee_stats::schedule::knockout::{
    self, BracketError, DecidedBy, Match, Next, Tally, TieBreakGames,
};
use referee_stats::schedule::swiss::{self, SwissResults};
use referee_stats::schedule::{
    EntrantId, GameId, Half, PairOfGames, Pairing, Round, cycle, gauntlet, round_robin,
};

const fn pairing(a: u32, b: u32) -> Pairing {
    Pairing::new(EntrantId(a), EntrantId(b))
}

fn assert_everybody_once(round: &Round, entrants: impl IntoIterator<Item = EntrantId>) {
    let mut seen: Vec<EntrantId> = round.pairings.iter().flat_map(|p| [p.a, p.b]).collect();
    seen.extend(&round.byes);
    seen.sort_unstable();
    assert_eq!(seen, Vec::from_iter(entrants), "round {}", round.number);
}

fn everybody(entrants: u32) -> impl Iterator<Item = EntrantId> {
    (0..entrants).map(EntrantId)
}

#[test]
fn ids_are_those_of_the_documentation() {
    let pair = PairOfGames {
        number: 123,
        round: 7,
        pairing: pairing(4, 2),
        opening: 9,
        tie_break: false,
    };
    let [a, b] = pair.games();
    assert_eq!(a.to_string(), "p000123a");
    assert_eq!(b.to_string(), "p000123b");
}

#[test]
fn other_texts_are_no_ids() {
    for text in [
        "",
        "p",
        "pa",
        "p123a",
        "p0000123a",
        "p000123",
        "p000123c",
        "P000123a",
        "p+00123a",
        "p000123a ",
        "p00012éa",
        "000123a",
        "p99999999999999999999999a",
    ] {
        let error = text.parse::<GameId>().expect_err(text);
        assert!(error.to_string().contains("p000123a"));
    }
}

#[test]
fn openings_are_the_round_s_not_the_pairing_s() {
    let round = round_robin(6, 5, 3).nth(1).unwrap();
    let mut openings: BTreeMap<Pairing, Vec<u64>> = BTreeMap::new();
    for pair in round.pairs() {
        assert_eq!(pair.round, 2);
        openings.entry(pair.pairing).or_default().push(pair.opening);
    }
    assert_eq!(openings.len(), 3);
    assert!(openings.values().all(|own| *own == [3, 4, 5]));
}

fn assert_numbers_run_on(rounds: &[Round]) {
    let numbers = rounds.iter().flat_map(Round::pairs).map(|pair| pair.number);
    let count: u64 = rounds.iter().map(Round::count).sum();
    assert!(numbers.eq(1..=count));
}

#[test]
fn a_known_round_robin() {
    let rounds: Vec<Vec<[u32; 2]>> = round_robin(4, 3, 1)
        .map(|round| round.pairings.iter().map(|p| [p.a.0, p.b.0]).collect())
        .collect();
    assert_eq!(
        rounds,
        [[[0, 3], [1, 2]], [[3, 1], [2, 0]], [[2, 3], [0, 1]]]
    );
}

#[test]
fn nobody_plays_alone() {
    for entrants in [0, 1] {
        assert_eq!(round_robin(entrants, 5, 2).count(), 0);
        assert_eq!(gauntlet(entrants, 5, 2).count(), 0);
        let round = swiss::next_round(&SwissResults::new(entrants), 1, 2);
        assert!(round.pairings.is_empty() && round.byes.is_empty());
    }
}

#[test]
fn the_first_runs_the_gauntlet() {
    let rounds: Vec<Round> = gauntlet(4, 2, 5).collect();
    assert_eq!(rounds.len(), 2);
    assert_eq!(
        rounds[0].pairings,
        [pairing(0, 1), pairing(0, 2), pairing(0, 3)]
    );
    assert_eq!(
        rounds[1].pairings,
        [pairing(1, 0), pairing(2, 0), pairing(3, 0)]
    );
    assert_numbers_run_on(&rounds);
    let openings = rounds[1].pairs().map(|pair| pair.opening);
    assert!(openings.eq((5..10).cycle().take(15)));
}

fn config(cases: u32) -> ProptestConfig {
    ProptestConfig {
        cases,
        rng_seed: RngSeed::Fixed(4),
        failure_persistence: None,
        ..ProptestConfig::default()
    }
}

proptest! {
    #![proptest_config(config(120))]

    #[test]
    fn ids_survive_as_text(number in any::<u64>(), second in any::<bool>()) {
        let half = if second { Half::Second } else { Half::First };
        let id = GameId { pair: number, half };
        prop_assert_eq!(id.to_string().parse(), Ok(id));
    }

    #[test]
    fn everybody_meets_everybody_once_a_cycle(
        entrants in 2u32..=40,
        cycles in 1u32..=3,
        pairs in 1u32..=3,
    ) {
        let cycle = cycle(entrants);
        let rounds: Vec<Round> = round_robin(entrants, cycles * cycle, pairs).collect();
        prop_assert_eq!(rounds.len(), (cycles * cycle) as usize);
        assert_numbers_run_on(&rounds);
        let mut named_first = vec![0i32; entrants as usize];
        for cycle in rounds.chunks(cycle as usize) {
            let mut met = BTreeSet::new();
            let mut byes = BTreeSet::new();
            for round in cycle {
                assert_everybody_once(round, everybody(entrants));
                for pairing in &round.pairings {
                    assert!(met.insert(pairing.sorted()), "{pairing:?} again");
                    named_first[pairing.a.index()] += 1;
                    named_first[pairing.b.index()] -= 1;
                }
                for bye in &round.byes {
                    assert!(byes.insert(*bye), "{bye:?} sits out again");
                }
            }
            prop_assert_eq!(met.len(), (entrants * (entrants - 1) / 2) as usize);
            prop_assert_eq!(byes.len(), (entrants % 2 * entrants) as usize);
            assert!(named_first.iter().all(|more| more.abs() <= 1), "{named_first:?}");
        }
        if cycles == 2 {
            assert!(named_first.iter().all(|more| *more == 0), "{named_first:?}");
        }
    }

    #[test]
    fn a_shorter_round_robin_begins_the_longer_one(entrants in 2u32..=20, rounds in 0u32..30) {
        let short = round_robin(entrants, rounds, 2);
        let long = round_robin(entrants, 60, 2);
        assert!(short.eq(long.take(rounds as usize)));
    }

    #[test]
    fn swiss_pairings_are_the_best(
        (points, byes, benched, met) in (2usize..=8).prop_flat_map(|entrants| (
            prop::collection::vec(0u64..5, entrants),
            prop::collection::vec(0u32..3, entrants),
            prop::collection::vec(prop::bool::weighted(0.2), entrants),
            prop::collection::vec((Just(entrants), 0u32..8, 0u32..8), 0..24),
        )),
    ) {
        let mut results = SwissResults::new(u32::try_from(points.len()).unwrap());
        results.points = points;
        results.byes = byes;
        results.benched = benched;
        for (entrants, a, b) in met {
            let entrants = u32::try_from(entrants).unwrap();
            if a % entrants != b % entrants {
                results.meeting(pairing(a % entrants, b % entrants), [0, 0]);
            }
        }
        let round = swiss::next_round(&results, 1, 1);
        assert_everybody_once(&round, everybody(u32::try_from(results.points.len()).unwrap()));
        let best = all_pairings(&results.ranking())
            .into_iter()
            .map(|(pairings, byes)| badness(&results, &pairings, &byes))
            .min();
        prop_assert_eq!(Some(badness(&results, &round.pairings, &round.byes)), best);
    }
}

fn all_pairings(ranking: &[EntrantId]) -> Vec<(Vec<Pairing>, Vec<EntrantId>)> {
    let Some((&first, rest)) = ranking.split_first() else {
        return vec![(Vec::new(), Vec::new())];
    };
    let mut all = Vec::new();
    for (place, &other) in rest.iter().enumerate() {
        let mut left = rest.to_vec();
        left.remove(place);
        for (mut pairings, byes) in all_pairings(&left) {
            pairings.push(Pairing::new(first, other));
            all.push((pairings, byes));
        }
    }
    if ranking.len() % 2 == 1 {
        for (pairings, mut byes) in all_pairings(rest) {
            byes.push(first);
            all.push((pairings, byes));
        }
    }
    all
}

/// The criteria of the documentation, in its order: the smaller the better.
fn badness(results: &SwissResults, pairings: &[Pairing], byes: &[EntrantId]) -> [u64; 6] {
    let ranking = results.ranking();
    let rank = |entrant| ranking.iter().position(|&other| other == entrant).unwrap();
    let points = |rank: usize| results.points[ranking[rank].index()];
    let scores: BTreeSet<u64> = results.points.iter().copied().collect();
    let group = |rank: usize| scores.iter().filter(|&&s| s > points(rank)).count();
    let mut badness = [0; 6];
    for pairing in pairings {
        let mut ranks = [rank(pairing.a), rank(pairing.b)];
        ranks.sort_unstable();
        let [upper, lower] = ranks;
        let apart = group(lower) - group(upper);
        let size = (0..ranking.len()).filter(|&r| points(r) == points(upper));
        let wanted = if apart == 0 { size.count() / 2 } else { 1 };
        badness[2] += u64::from(results.times_met(*pairing));
        badness[4] += apart.pow(2) as u64;
        badness[5] += (lower - upper).abs_diff(wanted).pow(2) as u64;
    }
    for bye in byes {
        badness[0] += u64::from(!results.benched[bye.index()]);
        badness[1] += u64::from(results.byes[bye.index()]);
        badness[3] += (ranking.len() - 1 - rank(*bye)) as u64;
    }
    badness
}

/// The better seed usually wins.
fn play(results: &mut SwissResults, round: &Round) {
    for pairing in &round.pairings {
        let upset = (pairing.a.0 * 7 + pairing.b.0 * 3 + round.number).is_multiple_of(4);
        let a_wins = (pairing.a < pairing.b) != upset;
        results.meeting(*pairing, if a_wins { [4, 0] } else { [0, 4] });
    }
    for bye in &round.byes {
        results.bye(*bye, 4);
    }
}

#[test]
fn a_swiss_tournament_is_fair() {
    for entrants in 2..=33 {
        let mut results = SwissResults::new(entrants);
        let mut rounds = Vec::new();
        // So many rounds that no bot needs to meet another twice.
        for number in 1..=entrants.div_ceil(3) {
            let round = swiss::next_round(&results, number, 2);
            assert_everybody_once(&round, everybody(entrants));
            for pairing in &round.pairings {
                assert_eq!(results.times_met(*pairing), 0, "of {entrants}: {pairing:?}");
            }
            for bye in &round.byes {
                assert_eq!(results.byes[bye.index()], 0, "of {entrants}: {bye:?}");
            }
            play(&mut results, &round);
            rounds.push(round);
        }
        assert_numbers_run_on(&rounds);
        let next = swiss::next_round(&results, 99, 2);
        assert_eq!(next, swiss::next_round(&results, 99, 2));
    }
}

/// However many rounds there are, and whatever the results.
#[test]
fn nobody_has_a_second_bye_before_all_have_had_one() {
    for entrants in (3..=13).step_by(2) {
        for salt in 0..24 {
            let mut results = SwissResults::new(entrants);
            for number in 1..=2 * entrants + 1 {
                let round = swiss::next_round(&results, number, 1);
                for pairing in &round.pairings {
                    let drawn = (pairing.a.0 * 5 + pairing.b.0 * 3 + number * salt) % 7;
                    let points = [[4, 0], [0, 4], [2, 2]][drawn as usize % 3];
                    results.meeting(*pairing, points);
                }
                for bye in &round.byes {
                    results.bye(*bye, 4);
                }
                let [least, most] = [results.byes.iter().min(), results.byes.iter().max()];
                let apart = most.unwrap() - least.unwrap();
                assert!(
                    apart <= 1,
                    "{entrants} entrants, round {number}: {:?}",
                    results.byes
                );
            }
        }
    }
}

#[test]
fn a_long_swiss_tournament_repeats_evenly() {
    let mut results = SwissResults::new(5);
    for number in 1..=40 {
        let round = swiss::next_round(&results, number, 1);
        play(&mut results, &round);
    }
    let [least, most] = [results.met.values().min(), results.met.values().max()];
    assert_eq!(results.met.len(), 10);
    assert!(most.unwrap() - least.unwrap() <= 2, "{:?}", results.met);
    let [least, most] = [results.byes.iter().min(), results.byes.iter().max()];
    assert!(most.unwrap() - least.unwrap() <= 4, "{:?}", results.byes);
}

#[test]
fn the_first_swiss_round_pairs_the_halves() {
    let round = swiss::next_round(&SwissResults::new(7), 1, 1);
    assert_eq!(
        round.pairings,
        [pairing(0, 3), pairing(1, 4), pairing(2, 5)]
    );
    assert_eq!(round.byes, [EntrantId(6)]);
}

/// The others have opponents that play, as when it had withdrawn. If nobody plays, it does not matter who.
#[test]
fn a_benched_bot_sits_out() {
    let mut results = SwissResults::new(5);
    results.benched[1] = true;
    let round = swiss::next_round(&results, 1, 1);
    assert_eq!(round.byes, [EntrantId(1)]);
    // The first is still the best pairing of those that play.
    assert_eq!(round.pairings, [pairing(0, 3), pairing(2, 4)]);
    results.benched = vec![true; 5];
    assert_eq!(swiss::next_round(&results, 1, 1).byes, [EntrantId(4)]);
}

#[test]
fn swiss_results_rank_by_points_then_by_seed() {
    let mut results = SwissResults::new(3);
    results.meeting(pairing(2, 0), [1, 3]);
    results.bye(EntrantId(1), 4);
    assert_eq!(results.ranking(), [1, 0, 2].map(EntrantId));
    assert_eq!(results.times_met(pairing(0, 2)), 1);
}

/// The solver keeps its buffers: earlier pairings must not show.
#[test]
fn earlier_pairings_leave_no_trace() {
    let some = |entrants: u32, salt: u32| {
        let mut results = SwissResults::new(entrants);
        for number in 1..=salt % 4 + 1 {
            let round = swiss::next_round(&results, number + salt % 3, 1);
            play(&mut results, &round);
        }
        results
    };
    for salt in 0..60 {
        let results = some(4 + salt * 7 % 22, salt);
        let warm = swiss::next_round(&results, 9, 1);
        let fresh = std::thread::spawn(move || swiss::next_round(&results, 9, 1));
        assert_eq!(warm, fresh.join().unwrap());
    }
}

fn bracket(entrants: u32, a_wins: impl Fn(Pairing) -> bool) -> (Vec<Round>, EntrantId) {
    let seeds: Vec<EntrantId> = everybody(entrants).collect();
    let mut played: Vec<Vec<Match>> = Vec::new();
    let mut rounds = Vec::new();
    loop {
        match knockout::next_round(&seeds, 3, &rounds, &played).unwrap() {
            Next::Winner(winner) => return (rounds, winner),
            Next::Round(round) => {
                let result = |&pairing: &Pairing| {
                    let mut tallies = [Tally::default(); 2];
                    tallies[usize::from(!a_wins(pairing))].win(false, 12);
                    Match {
                        pairing,
                        tallies,
                        tie_break: None,
                    }
                };
                played.push(round.pairings.iter().map(result).collect());
                rounds.push(round);
            }
        }
    }
}

#[test]
fn brackets_end_with_one_winner() {
    for entrants in 1..=33 {
        for favourite in [true, false] {
            let (rounds, winner) = bracket(entrants, |p| (p.a < p.b) == favourite);
            assert_eq!(rounds.len(), knockout::rounds(entrants) as usize);
            assert_numbers_run_on(&rounds);
            let matches: usize = rounds.iter().map(|round| round.pairings.len()).sum();
            assert_eq!(matches, entrants as usize - 1, "one is out in each match");
            if favourite {
                assert_eq!(winner, EntrantId(0));
            }
            let byes = entrants.next_power_of_two() - entrants;
            for round in &rounds {
                let expected = if round.number == 1 { byes } else { 0 };
                assert!(round.byes.iter().copied().eq(everybody(expected)));
            }
            if let Some(first) = rounds.first() {
                assert_everybody_once(first, everybody(entrants));
            }
        }
    }
}

#[test]
fn favourites_meet_late() {
    let (rounds, _) = bracket(16, |p| p.a < p.b);
    for (round, left) in rounds.iter().zip([16, 8, 4, 2]) {
        for pairing in &round.pairings {
            assert_eq!(pairing.a.0 + pairing.b.0, left - 1, "best against worst");
        }
    }
}

#[test]
fn ties_are_broken_as_documented() {
    let decide = |a: Tally, b: Tally| {
        let tallies = [a, b];
        let pairing = pairing(5, 3);
        let seeds: Vec<EntrantId> = everybody(6).collect();
        let (winner, by) = Match {
            pairing,
            tallies,
            tie_break: None,
        }
        .decision(&seeds);
        (winner.0, by)
    };
    let tally = |wins: &[(bool, u64)], draws: u64| {
        let mut tally = Tally::default();
        for &(as_second, turns) in wins {
            tally.win(as_second, turns);
        }
        for _ in 0..draws {
            tally.draw();
        }
        tally
    };
    let won = |as_second, turns| tally(&[(as_second, turns)], 0);
    assert_eq!(decide(tally(&[], 3), won(true, 9)), (5, DecidedBy::Points));
    assert_eq!(
        decide(won(true, 16), won(false, 7)),
        (5, DecidedBy::WinsAsSecond)
    );
    assert_eq!(
        decide(won(false, 9), won(false, 11)),
        (5, DecidedBy::QuickerWins)
    );
    assert_eq!(
        decide(won(true, 11), won(true, 10)),
        (3, DecidedBy::QuickerWins)
    );
    assert_eq!(decide(tally(&[], 4), tally(&[], 4)), (3, DecidedBy::Seed));
    // Its opponent crashed in its second turn.
    let mut by_forfeit = Tally::default();
    by_forfeit.win_by_forfeit();
    assert_eq!(decide(won(false, 7), by_forfeit), (5, DecidedBy::Wins));
    assert_eq!(decide(by_forfeit, by_forfeit), (3, DecidedBy::Seed));
}

/// With tie-break games a tied match goes on until one leads in them, or the bound is reached; then the seed decides.
#[test]
fn tied_matches_are_followed_by_tie_break_games() {
    let seeds: Vec<EntrantId> = everybody(4).collect();
    let drawn = Tally {
        half_points: 4,
        wins: 2,
        wins_as_second: 2,
        turns_of_wins: 0,
    };
    let quicker = Tally {
        wins_as_second: 1,
        ..drawn
    };
    let games = |pairs, half_points| TieBreakGames {
        most: 2,
        pairs,
        half_points,
    };
    let played = |a, b, tie_break| Match {
        pairing: pairing(a, b),
        tallies: [quicker, drawn],
        tie_break: Some(tie_break),
    };
    let first = knockout::next_round(&seeds, 2, &[], &[]).unwrap();
    let Next::Round(first) = first else {
        panic!("{first:?}");
    };
    let mut rounds = vec![first];
    let mut next = |one: TieBreakGames, other: TieBreakGames| {
        let matches = vec![played(0, 3, one), played(1, 2, other)];
        let next = knockout::next_round(&seeds, 2, &rounds, &[matches]).unwrap();
        let Next::Round(round) = next else {
            panic!("{next:?}");
        };
        rounds.push(round.clone());
        let Round {
            number,
            first_pair,
            pairs_each,
            tie_break,
            pairings,
            ..
        } = round;
        (number, first_pair, pairs_each, tie_break, pairings)
    };
    let (none, one) = (games(0, [0, 0]), games(1, [2, 2]));
    let both = vec![pairing(0, 3), pairing(1, 2)];
    assert_eq!(next(none, none), (1, 5, 1, true, both));
    let second = vec![pairing(1, 2)];
    assert_eq!(next(games(1, [1, 3]), one), (1, 7, 1, true, second));
    // The one by the games, the other by its seed, however many wins it has as the second to move.
    let last = vec![pairing(3, 1)];
    assert_eq!(
        next(games(1, [1, 3]), games(2, [4, 4])),
        (2, 8, 2, false, last)
    );
    let decision = |tie_break| played(1, 2, tie_break).decision(&seeds);
    assert_eq!(decision(games(2, [4, 4])), (EntrantId(1), DecidedBy::Seed));
    assert_eq!(
        decision(games(1, [1, 3])),
        (EntrantId(2), DecidedBy::TieBreakGames)
    );
}

#[test]
fn results_of_another_bracket_are_refused() {
    let tallies = [Tally::default(); 2];
    let played = |a, b| Match {
        pairing: pairing(a, b),
        tallies,
        tie_break: None,
    };
    let seeds: Vec<EntrantId> = everybody(3).collect();
    let next = |played: &[Vec<Match>]| knockout::next_round(&seeds, 1, &[], played);
    assert_eq!(
        knockout::next_round(&[], 1, &[], &[]),
        Err(BracketError::NoEntrants)
    );
    for wrong in [vec![], vec![played(0, 2)], vec![played(2, 1)]] {
        assert_eq!(next(&[wrong]), Err(BracketError::OtherMatches { round: 1 }));
    }
    let first = vec![played(1, 2)];
    let last = vec![played(0, 1)];
    assert_eq!(
        next(&[first.clone(), last.clone()]),
        Ok(Next::Winner(EntrantId(0)))
    );
    let error = next(&[first, last, vec![]]).unwrap_err();
    assert_eq!(
        error.to_string(),
        "there are results of a round 3, but round 2 was the final"
    );
}

#[test]
fn groups_are_balanced_by_seed_and_play_round_robins() {
    use referee_stats::schedule::groups;

    let ids = |group: &[EntrantId]| group.iter().map(|id| id.0).collect::<Vec<_>>();
    let dealt: Vec<_> = groups::groups(8, 2)
        .iter()
        .map(|group| ids(group))
        .collect();
    assert_eq!(dealt, [[0, 3, 4, 7], [1, 2, 5, 6]]);
    for (entrants, count) in [(8, 2), (9, 2), (12, 3), (7, 3), (2, 1), (16, 4), (10, 5)] {
        let dealt = groups::groups(entrants, count);
        let sizes = dealt.iter().map(Vec::len);
        assert!(sizes.clone().max().unwrap() - sizes.min().unwrap() <= 1);
        let rounds = groups::rounds(entrants, count, 3);
        assert_numbers_run_on(&rounds);
        let mut met = BTreeMap::<Pairing, u32>::new();
        for pairing in rounds.iter().flat_map(|round| &round.pairings) {
            *met.entry(pairing.sorted()).or_default() += 1;
        }
        let within = dealt
            .iter()
            .map(|group| group.len() * (group.len() - 1) / 2);
        assert_eq!(met.len(), within.sum::<usize>());
        assert!(met.values().all(|&times| times == 1));
        for pairing in met.keys() {
            assert!(
                dealt
                    .iter()
                    .any(|group| group.contains(&pairing.a) && group.contains(&pairing.b))
            );
        }
        for round in &rounds {
            let playing = round
                .pairings
                .iter()
                .flat_map(|pairing| [pairing.a, pairing.b]);
            let playing: Vec<_> = playing.collect();
            assert_eq!(playing.iter().collect::<BTreeSet<_>>().len(), playing.len());
        }
        // The two best of each go on, and no bot meets its own group's winner in the first round.
        let seeds = groups::qualified(&dealt);
        assert_eq!(seeds.len(), 2 * count as usize);
        assert_eq!(groups::qualifiers(entrants, count), 2 * count);
        if count > 1 {
            for (seed, id) in seeds.iter().enumerate() {
                let opponent = seeds[seeds.len() - 1 - seed];
                let group = dealt.iter().find(|group| group.contains(id)).unwrap();
                assert!(!group.contains(&opponent), "{entrants} {count} {seeds:?}");
            }
        }
    }
}

#[test]
fn rounds_are_plain_data() {
    let round = round_robin(5, 5, 2).nth(2).unwrap();
    let text = serde_json::to_string(&round).unwrap();
    assert_eq!(serde_json::from_str::<Round>(&text).unwrap(), round);
}

/// Test cases of bbpPairings for the rules that are the same here (docs/internals/ratings.md).
#[test]
fn pairings_of_bbp_pairings() {
    let pairs = |round: &Round| -> BTreeSet<[u32; 2]> {
        let pairings = round.pairings.iter().map(|pairing| pairing.sorted());
        pairings
            .map(|pairing| [pairing.a.0 + 1, pairing.b.0 + 1])
            .collect()
    };
    let results = |entrants: u32, games: &[[u32; 2]], absent: &[u32]| {
        let mut results = SwissResults::new(entrants);
        for &[winner, loser] in games {
            results.meeting(pairing(winner - 1, loser - 1), [2, 0]);
        }
        for id in absent {
            results.bye(EntrantId(id - 1), 0);
        }
        results
    };
    // dutch_2025_C9: a bot that was absent has no further unplayed round.
    let round = swiss::next_round(&results(5, &[[1, 3], [2, 4]], &[5]), 2, 1);
    assert_eq!(pairs(&round), BTreeSet::from([[1, 2], [3, 5]]));
    assert_eq!(round.byes, [EntrantId(3)]);
    // dutch_2025_C5: the bye must leave the others pairings without repetition. Its player 4 has left before the
    // third round: the games against it are points here, and player 6 is the fifth.
    let mut five = results(5, &[[2, 4], [1, 2], [4, 5]], &[]);
    for winner in [0, 2, 2] {
        five.points[winner] += 2;
    }
    *five.met.entry(pairing(2, 4)).or_default() += 1;
    let round = swiss::next_round(&five, 3, 1);
    assert_eq!(pairs(&round), BTreeSet::from([[1, 4], [2, 3]]));
    assert_eq!(round.byes, [EntrantId(4)]);
}
