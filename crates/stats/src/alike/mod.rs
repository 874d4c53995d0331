//! Which bots decide alike? Bots that were asked the same questions are compared two at a time.
//!
//! Each bot is first predicted without its partner: by what turns there are, by how often the others chose each, by
//! *habits* (simple rules, starter code), and by every other bot that is like it. How much each of these counts is fitted
//! to the bot's own answers. Evidence is only what the partner's answers tell beyond that.

mod decided;

use serde::Serialize;

use referee_host::threads;

pub use self::decided::{MISTAKEN, UNLIKELY, undecided};

/// How often a question is asked, each time seen from another side and with another seed. Bots that take the first or the
/// last of several turns, or any of them, then show more of those turns than one.
pub const ROUNDS: usize = 4;

/// By round; `None` where there is no answer.
pub type Choices = [Option<usize>; ROUNDS];

#[derive(Clone, Debug, Default, PartialEq)]
pub struct AlikeQuestion {
    /// How probable each turn is before anything is known of a bot; positive, with the sum 1.
    pub prior: Vec<f64>,
    /// Indices of the turns of each bot, then of each habit.
    pub choices: Vec<Choices>,
}

#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct AlikePair {
    pub a: usize,
    pub b: usize,
    /// Answers that both gave.
    pub answers: usize,
    /// The share of those that are equal.
    pub equal: f64,
    /// The share of independent bots, each of which answers as is expected of one of these.
    pub expected: f64,
    /// One in so many pairs of independent bots is so much alike.
    pub odds: f64,
}

impl AlikePair {
    pub fn stands_out(&self) -> bool {
        self.odds >= LINE
    }

    /// Whether both answer alike nearly everywhere. A ring explains its own pairs, and in a small class a few copies are much
    /// of what is expected: such a pair then has low odds.
    pub fn is_nearly_equal(&self) -> bool {
        self.answers >= LEAST_ANSWERS && self.equal >= NEARLY
    }
}

/// Odds from which a pair stands out.
pub const LINE: f64 = 10_000.0;

/// The share of equal answers from which a pair is nearly equal.
pub const NEARLY: f64 = 0.9;

/// With fewer answers the share says little.
const LEAST_ANSWERS: usize = 40;

/// How many of the pairs of so many independent bots are expected to stand out.
pub fn expected_by_chance(bots: usize) -> f64 {
    count(bots) * (count(bots) - 1.0).max(0.0) / 2.0 / LINE
}

/// Bots that are linked by pairs, in order, and the indices of these pairs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct AlikeGroup {
    pub bots: Vec<usize>,
    pub pairs: Vec<usize>,
}

/// Those of the pairs that are chosen, each pair with all that share a bot with it: a ring is one group. In the order of
/// their first pairs.
pub fn groups(pairs: &[AlikePair], is_chosen: impl Fn(&AlikePair) -> bool) -> Vec<AlikeGroup> {
    let mut groups = Vec::<AlikeGroup>::new();
    for (number, pair) in pairs.iter().enumerate().filter(|(_, pair)| is_chosen(pair)) {
        let has = |group: &AlikeGroup| group.bots.contains(&pair.a) || group.bots.contains(&pair.b);
        let mut linked = AlikeGroup {
            bots: vec![pair.a, pair.b],
            pairs: vec![number],
        };
        let place = groups.iter().position(has).unwrap_or(groups.len());
        groups.retain(|group| {
            let is_linked = has(group);
            if is_linked {
                linked.bots.extend(&group.bots);
                linked.pairs.extend(&group.pairs);
            }
            !is_linked
        });
        linked.bots.sort_unstable();
        linked.bots.dedup();
        linked.pairs.sort_unstable();
        groups.insert(place, linked);
    }
    groups
}

/// So many bots that are most like a bot do not predict it: together with it they may have one source.
const KIN: usize = 3;

/// How many bots the prior is worth beside the others.
const PRIOR: f64 = 1.0;

/// Passes of expectation maximisation.
const FITS: usize = 20;

/// One partner may make at most this share of what is expected of a bot.
const MOST: f64 = 0.999;

const LEAST: f64 = 1e-9;

/// One in at least how many pairs of independent bots has so much evidence, the natural logarithm of a likelihood ratio.
/// Answers of a bot depend on each other, as it uses an idea everywhere; so this was measured, in simulated classes of 30
/// that answered 100 questions: 1 in 10 pairs has 1.4, 1 in 100 has 20, 1 in 1000 has 72, 1 in 10 000 has 155.
fn odds(evidence: f64) -> f64 {
    10_f64.powf((0.9 + 0.23 * evidence.max(0.0).sqrt()).min(100.0))
}

fn count(all: usize) -> f64 {
    u32::try_from(all).map_or(f64::INFINITY, f64::from)
}

/// How often this turn was the answer, 0 to 1, over all rounds.
fn share(choices: &Choices, turn: usize) -> f64 {
    let same = choices.iter().flatten().filter(|choice| **choice == turn);
    count(same.count()) / count(choices.iter().flatten().count().max(1))
}

/// Parts of a mixture: the prior, the frequencies among bots, and two of each bot or habit that predicts.
const COMMON: usize = 2;

/// The likelihoods of an observation by some parts of a mixture; that of all others is 0.
type Likelihoods = Vec<(usize, f64)>;

fn likelihood(weights: &[f64], parts: &Likelihoods) -> f64 {
    parts
        .iter()
        .map(|(part, value)| weights[*part] * value)
        .sum()
}

/// The weights of a mixture that make the observations most probable.
fn fitted(mut weights: Vec<f64>, observations: &[Likelihoods]) -> Vec<f64> {
    for _ in 0..FITS {
        let mut sums = vec![0.0; weights.len()];
        for parts in observations {
            let all = likelihood(&weights, parts);
            for (part, value) in parts {
                sums[*part] += weights[*part] * value / all;
            }
        }
        let all: f64 = sums.iter().sum();
        if all > 0.0 {
            weights = sums.into_iter().map(|sum| sum / all).collect();
        }
    }
    weights
}

/// What is expected of one bot.
struct AnswerModel {
    /// The probability of each turn, by question and round.
    expected: Vec<[Vec<f64>; ROUNDS]>,
    /// By bot: how much of it is due to its answer in the same round, and to all of its answers.
    due: Vec<[f64; 2]>,
    /// By question: how much of it is due to each bot that answered, as one of those whose answers are counted.
    counted: Vec<f64>,
}

/// The bots and habits that predict one bot, each with two parts of the mixture.
struct Experts<'a> {
    questions: &'a [AlikeQuestion],
    /// Indices as in [`AlikeQuestion::choices`].
    columns: Vec<usize>,
}

impl<'a> Experts<'a> {
    /// All but the bot itself and those that are most like it.
    fn of(questions: &'a [AlikeQuestion], bot: usize, kin: &[usize]) -> Self {
        let columns = questions.first().map_or(0, |first| first.choices.len());
        let predicts = |other: &usize| *other != bot && !kin.contains(other);
        Self {
            questions,
            columns: (0..columns).filter(predicts).collect(),
        }
    }

    /// The part of the answer that this expert gave in the same round.
    const fn same_round(number: usize) -> usize {
        COMMON + 2 * number
    }

    /// The part of all the answers of this expert.
    const fn any_round(number: usize) -> usize {
        COMMON + 2 * number + 1
    }

    /// What each part says of the answers that the bot gave.
    fn observations(&self, bot: usize, frequencies: &[Vec<f64>]) -> Vec<Likelihoods> {
        let mut observations = Vec::new();
        for (question, frequencies) in self.questions.iter().zip(frequencies) {
            for (round, choice) in question.choices[bot].iter().enumerate() {
                let Some(choice) = *choice else { continue };
                let mut parts = vec![(0, question.prior[choice]), (1, frequencies[choice])];
                for (number, expert) in self.columns.iter().enumerate() {
                    let answers = &question.choices[*expert];
                    if answers[round] == Some(choice) {
                        parts.push((Self::same_round(number), 1.0));
                    }
                    let any = share(answers, choice);
                    if any > 0.0 {
                        parts.push((Self::any_round(number), any));
                    }
                }
                observations.push(parts);
            }
        }
        observations
    }

    /// Weights of the parts, before they are fitted.
    fn first_weights(&self) -> Vec<f64> {
        let each = 0.25 / count(self.columns.len().max(1));
        let mut weights = vec![each; COMMON + 2 * self.columns.len()];
        (weights[0], weights[1]) = (0.2, 0.3);
        weights
    }

    /// By bot: see [`AnswerModel::due`].
    fn due(&self, weights: &[f64], bots: usize) -> Vec<[f64; 2]> {
        let mut due = vec![[0.0; 2]; bots];
        for (number, expert) in self.columns.iter().enumerate() {
            if let Some(due) = due.get_mut(*expert) {
                due[0] += weights[Self::same_round(number)];
                due[1] += weights[Self::any_round(number)];
            }
        }
        due
    }

    /// The probability of each turn of a question in a round.
    fn expected(
        &self,
        question: &AlikeQuestion,
        frequencies: &[f64],
        weights: &[f64],
        round: usize,
    ) -> Vec<f64> {
        let mut expected: Vec<f64> = frequencies.iter().map(|p| p * weights[1]).collect();
        for (number, expert) in self.columns.iter().enumerate() {
            let answers = &question.choices[*expert];
            if let Some(choice) = answers[round] {
                expected[choice] += weights[Self::same_round(number)];
            }
            let given = count(answers.iter().flatten().count());
            for choice in answers.iter().flatten() {
                expected[*choice] += weights[Self::any_round(number)] / given;
            }
        }
        // Who did not answer predicts nothing: the prior does.
        let rest = 1.0 - expected.iter().sum::<f64>();
        for (expected, p) in expected.iter_mut().zip(&question.prior) {
            *expected += rest * p;
        }
        expected
    }
}

impl AnswerModel {
    fn new(questions: &[AlikeQuestion], bots: usize, bot: usize, kin: &[usize]) -> Self {
        let experts = Experts::of(questions, bot, kin);
        let of_question = |question| frequencies(question, bots, bot);
        let frequencies: Vec<Vec<f64>> = questions.iter().map(of_question).collect();
        let observations = experts.observations(bot, &frequencies);
        let weights = fitted(experts.first_weights(), &observations);
        let all = questions.iter().zip(&frequencies);
        let expected = all.map(|(question, frequencies)| {
            std::array::from_fn(|round| experts.expected(question, frequencies, &weights, round))
        });
        Self {
            expected: expected.collect(),
            due: experts.due(&weights, bots),
            counted: questions
                .iter()
                .map(|question| weights[1] / answering(question, bots, bot))
                .collect(),
        }
    }

    /// The probability of each turn without what `other`, which gave these answers, adds to it.
    fn without(
        &self,
        [question, round]: [usize; 2],
        other: usize,
        answers: Choices,
    ) -> impl Fn(usize) -> f64 {
        let [same, any] = self.due[other];
        let (given, counted) = (answered(&answers), self.counted[question]);
        let any = if given > 0.0 {
            any + given * counted
        } else {
            0.0
        };
        let same = answers[round].map_or(0.0, |_| same);
        let too_much = ((same + any) / MOST).max(1.0);
        let [same, any] = [same, any].map(|due| due / too_much);
        move |turn| {
            let is_same = f64::from(u8::from(answers[round] == Some(turn)));
            let due = same * is_same + any * share(&answers, turn);
            ((self.expected[question][round][turn] - due) / (1.0 - same - any)).max(LEAST)
        }
    }
}

/// The share of the rounds in which there is an answer.
fn answered(answers: &Choices) -> f64 {
    count(answers.iter().flatten().count()) / count(ROUNDS)
}

/// How many bots but this one answered a question, and what the prior is worth beside them.
fn answering(question: &AlikeQuestion, bots: usize, bot: usize) -> f64 {
    let others = question.choices[..bots].iter().enumerate();
    let others = others.filter(|(other, _)| *other != bot);
    PRIOR + others.map(|(_, answers)| answered(answers)).sum::<f64>()
}

/// How often bots but this one choose each turn.
fn frequencies(question: &AlikeQuestion, bots: usize, bot: usize) -> Vec<f64> {
    let mut found: Vec<f64> = question.prior.iter().map(|p| p * PRIOR).collect();
    let others = question.choices[..bots].iter().enumerate();
    for (_, answers) in others.filter(|(other, _)| *other != bot) {
        for choice in answers.iter().flatten() {
            found[*choice] += 1.0 / count(ROUNDS);
        }
    }
    let all: f64 = found.iter().sum();
    found.into_iter().map(|p| p / all).collect()
}

/// How much more probable the answers of `bot` become when those of `other` are known, as a logarithm.
fn evidence(questions: &[AlikeQuestion], model: &AnswerModel, bot: usize, other: usize) -> f64 {
    let mut observations = Vec::new();
    for (number, question) in questions.iter().enumerate() {
        let known = question.choices[other];
        for (round, choice) in question.choices[bot].iter().enumerate() {
            let (Some(choice), Some(same)) = (*choice, known[round]) else {
                continue;
            };
            let expected = model.without([number, round], other, known)(choice);
            let mut parts = vec![(0, 1.0), (2, share(&known, choice) / expected)];
            if choice == same {
                parts.push((1, 1.0 / expected));
            }
            observations.push(parts);
        }
    }
    let weights = fitted(vec![0.4, 0.3, 0.3], &observations);
    let gains = observations
        .iter()
        .map(|parts| likelihood(&weights, parts).ln());
    // The answers of a bot in all rounds are mostly one decision.
    gains.sum::<f64>() / count(ROUNDS)
}

/// Answers that both gave, and how many of them are equal.
fn agreement(questions: &[AlikeQuestion], a: usize, b: usize) -> (usize, usize) {
    let rounds = questions.iter().flat_map(|question| {
        let both = question.choices[a].into_iter().zip(question.choices[b]);
        both.filter_map(|(a, b)| a.zip(b))
    });
    rounds.fold((0, 0), |(answers, equal), (a, b)| {
        (answers + 1, equal + usize::from(a == b))
    })
}

/// The most like this one.
fn kin(questions: &[AlikeQuestion], bots: usize, bot: usize) -> Vec<usize> {
    let alike = |other| {
        let (answers, equal) = agreement(questions, bot, other);
        (count(equal) / count(answers.max(1)), other)
    };
    let others = (0..bots).filter(|other| *other != bot);
    let mut others: Vec<(f64, usize)> = others.map(alike).collect();
    others.sort_by(|a, b| b.0.total_cmp(&a.0));
    others
        .into_iter()
        .take(KIN)
        .map(|(_, other)| other)
        .collect()
}

/// All pairs of the first `bots` that answered something, the most striking first.
pub fn pairs(questions: &[AlikeQuestion], bots: usize) -> Vec<AlikePair> {
    let threads = threads::processors();
    let all: Vec<usize> = (0..bots).collect();
    let models = threads::map(threads, &all, |&bot| {
        let kin = kin(questions, bots, bot);
        AnswerModel::new(questions, bots, bot, &kin)
    });
    let pairs = (0..bots).flat_map(|a| (a + 1..bots).map(move |b| (a, b)));
    let pairs: Vec<(usize, usize)> = pairs.collect();
    let compared = |&(a, b): &_| compared(questions, &models, a, b);
    let mut found = threads::map(threads, &pairs, compared);
    found.retain(|pair| pair.answers > 0);
    found.sort_by(|a, b| b.odds.total_cmp(&a.odds).then(b.equal.total_cmp(&a.equal)));
    found
}

fn compared(questions: &[AlikeQuestion], models: &[AnswerModel], a: usize, b: usize) -> AlikePair {
    let (answers, equal) = agreement(questions, a, b);
    let mut expected = 0.0;
    for (number, question) in questions.iter().enumerate() {
        let [of_a, of_b] = [a, b].map(|bot| question.choices[bot]);
        for round in 0..ROUNDS {
            if of_a[round].is_none() || of_b[round].is_none() {
                continue;
            }
            let like_a = models[a].without([number, round], b, of_b);
            let like_b = models[b].without([number, round], a, of_a);
            let turns = 0..question.prior.len();
            expected += turns.map(|turn| like_a(turn) * like_b(turn)).sum::<f64>();
        }
    }
    let of_a = evidence(questions, &models[a], a, b);
    let of_b = evidence(questions, &models[b], b, a);
    let all = count(answers.max(1));
    AlikePair {
        a,
        b,
        answers,
        equal: count(equal) / all,
        expected: expected / all,
        odds: odds(of_a.min(of_b)),
    }
}

#[cfg(test)]
mod tests {
    use rand::rngs::ChaCha8Rng;
    use rand::{RngExt as _, SeedableRng as _};

    use super::*;

    const TURNS: usize = 20;
    const ASKED: usize = 100;

    /// A bot takes the turn to which it gives the highest marks, its own for each question.
    fn marks(random: &mut ChaCha8Rng) -> Vec<Choices> {
        let own = |random: &mut ChaCha8Rng| [Some(random.random_range(0..TURNS)); ROUNDS];
        (0..ASKED).map(|_| own(random)).collect()
    }

    fn asked(bots: &[Vec<Choices>]) -> Vec<AlikeQuestion> {
        let prior = vec![1.0 / count(TURNS); TURNS];
        let question = |number: usize| AlikeQuestion {
            prior: prior.clone(),
            choices: bots.iter().map(|bot| bot[number]).collect(),
        };
        (0..ASKED).map(question).collect()
    }

    fn class(seed: u64, bots: usize) -> (Vec<Vec<Choices>>, ChaCha8Rng) {
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        ((0..bots).map(|_| marks(&mut random)).collect(), random)
    }

    fn mixed(
        of: &[Choices],
        with: &[Choices],
        share: f64,
        random: &mut ChaCha8Rng,
    ) -> Vec<Choices> {
        let both = of.iter().zip(with);
        both.map(|(of, with)| {
            if random.random_bool(share) {
                *of
            } else {
                *with
            }
        })
        .collect()
    }

    #[test]
    fn independent_bots_do_not_stand_out_and_agree_as_expected() {
        for seed in 0..3 {
            let found = pairs(&asked(&class(seed, 12).0), 12);
            assert_eq!(found.len(), 66);
            assert!(found.iter().all(|pair| pair.odds < 100.0), "{:?}", found[0]);
            let mean = |value: fn(&AlikePair) -> f64| found.iter().map(value).sum::<f64>() / 66.0;
            let [equal, expected] = [mean(|pair| pair.equal), mean(|pair| pair.expected)];
            assert!((equal - expected).abs() < 0.02, "{equal} {expected}");
        }
    }

    #[test]
    fn a_copy_and_half_a_copy_stand_out_whatever_the_order() {
        let (mut bots, mut random) = class(7, 12);
        bots.push(bots[3].clone());
        let half = mixed(&bots[5], &bots[0], 0.7, &mut random);
        bots[0] = marks(&mut random);
        bots.push(half);
        let found = pairs(&asked(&bots), 14);
        let first: Vec<(usize, usize)> = found[..2].iter().map(|pair| (pair.a, pair.b)).collect();
        assert_eq!(first, [(3, 12), (5, 13)]);
        assert!(
            found[1].odds > 1000.0 && found[2].odds < 100.0,
            "{:?}",
            &found[..3]
        );
        assert!(found[0].stands_out() && found[0].equal > 0.999 && found[0].expected < 0.2);
        bots.reverse();
        let again = pairs(&asked(&bots), 14);
        for (pair, other) in found.iter().zip(&again).take(2) {
            assert_eq!((13 - pair.a, 13 - pair.b), (other.b, other.a));
            // Which of several that are equally like a bot predict it may depend on the order.
            assert!((pair.odds / other.odds).ln().abs() < 0.2);
        }
    }

    /// What a habit or starter code explains is no evidence, and neither is what a large group has in common.
    #[test]
    fn what_others_explain_is_no_evidence() {
        let (mut bots, mut random) = class(8, 14);
        let starter = marks(&mut random);
        let (one, two) = (marks(&mut random), marks(&mut random));
        bots[1] = mixed(&starter, &one, 0.7, &mut random);
        bots[2] = mixed(&starter, &two, 0.7, &mut random);
        let striking = pairs(&asked(&bots), 14)[0];
        assert_eq!((striking.a, striking.b), (1, 2));
        let without = striking.odds;
        bots.push(starter.clone());
        let odds = pairs(&asked(&bots), 14)
            .iter()
            .find(|pair| (pair.a, pair.b) == (1, 2))
            .map(|pair| pair.odds);
        assert!(
            odds.is_some_and(|odds| odds < 100.0 && odds < without),
            "{odds:?} {without}"
        );
        bots.pop();
        for bot in &mut bots[3..9] {
            let own = marks(&mut random);
            *bot = mixed(&starter, &own, 0.7, &mut random);
        }
        let found = pairs(&asked(&bots), 14);
        assert!(!found[0].stands_out(), "{:?}", found[0]);
    }

    #[test]
    fn a_random_tie_break_hides_a_copy_only_in_part() {
        let (mut bots, mut random) = class(9, 12);
        // One of three turns each time.
        let source: Vec<[usize; 3]> = (0..ASKED)
            .map(|_| std::array::from_fn(|_| random.random_range(0..TURNS)))
            .collect();
        for _ in 0..2 {
            let any = |turns: &[usize; 3]| -> Choices {
                std::array::from_fn(|_| Some(turns[random.random_range(0..3)]))
            };
            bots.push(source.iter().map(any).collect());
        }
        let found = pairs(&asked(&bots), 14);
        assert_eq!((found[0].a, found[0].b), (12, 13));
        assert!(
            found[0].odds > 1000.0 && found[1].odds < 100.0,
            "{:?}",
            &found[..2]
        );
    }

    #[test]
    fn a_ring_is_one_group_and_its_pairs_are_chosen_whatever_the_class_is_like() {
        let (mut bots, mut random) = class(11, 4);
        let other = marks(&mut random);
        bots.extend(vec![bots[0].clone(); 5]);
        bots.push(mixed(&bots[0], &other, 0.98, &mut random));
        let found = pairs(&asked(&bots), 10);
        let linked = groups(&found, |pair| pair.stands_out() || pair.is_nearly_equal());
        assert_eq!(linked.len(), 1, "{linked:?}");
        assert_eq!(linked[0].bots, [0, 4, 5, 6, 7, 8, 9]);
        assert_eq!(linked[0].pairs, (0..21).collect::<Vec<_>>());
        // By their odds alone they would not all be there.
        assert!(
            groups(&found, AlikePair::stands_out).is_empty(),
            "{:?}",
            &found[..3]
        );
    }

    #[test]
    fn groups_are_joined_by_a_pair_between_them() {
        let pair = |a, b, odds| AlikePair {
            a,
            b,
            odds,
            answers: 400,
            equal: 0.5,
            expected: 0.1,
        };
        let found = [
            pair(4, 5, 9e9),
            pair(0, 1, 9e8),
            pair(2, 3, 9e7),
            pair(1, 3, 9e6),
            pair(0, 6, 10.0),
        ];
        let linked = groups(&found, AlikePair::stands_out);
        let bots: Vec<&[usize]> = linked.iter().map(|group| &group.bots[..]).collect();
        assert_eq!(bots, [&[4, 5][..], &[0, 1, 2, 3]]);
        assert_eq!(linked[1].pairs, [1, 2, 3]);
        assert!((expected_by_chance(30) - 0.0435).abs() < 1e-12);
    }

    #[test]
    fn who_does_not_answer_is_in_no_pair() {
        let (mut bots, _) = class(10, 4);
        bots[2] = vec![[None; ROUNDS]; ASKED];
        bots[3][..80].fill([None; ROUNDS]);
        let found = pairs(&asked(&bots), 4);
        assert_eq!(found.len(), 3);
        assert!(found.iter().all(|pair| pair.a != 2 && pair.b != 2));
        assert!(
            found
                .iter()
                .all(|pair| pair.odds.is_finite() && pair.expected.is_finite())
        );
        assert_eq!(pairs(&[], 3), []);
    }
}
