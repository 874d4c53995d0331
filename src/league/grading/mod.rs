//! Grades that depend on nothing but the graded bot, the scale and its seed.
//!
//! A [`Scale`] is a ladder of reference bots. On each rung a bot plays the reference in pairs of games until a sequential
//! test has decided; [`Progress`] asks it after every pair, in the order of the schedule, so that how many games are
//! played at once changes nothing. Rungs are climbed in order, and the first that is not passed ends the climb: to get more points than it
//! should, a bot must pass the first rung that is too high for it by luck, which happens with a probability of at most α.

pub mod scale;

use serde::Serialize;
use sha2::{Digest as _, Sha256};

use self::scale::{Rung, Scale};
use crate::arena::results::Endings;
use crate::record::{BotIndex, Ending};
use crate::tournament::betting::{MeanTest, interval};
use crate::tournament::sprt::{Decision, Pentanomial};

/// How a rung ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// The bot is good enough.
    Passed,
    NotPassed,
    /// The budget is used up, and neither is certain.
    Undecided,
    /// A rung before it was not passed.
    NotPlayed,
}

impl Verdict {
    pub const fn words(self) -> &'static str {
        match self {
            Self::Passed => "passed",
            Self::NotPassed => "not passed",
            Self::Undecided => "undecided",
            Self::NotPlayed => "not played",
        }
    }
}

/// What a bot did on a rung.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct RungResult {
    /// The rung's name.
    pub rung: String,
    /// What it asks for.
    pub requirement: String,
    /// How it ended.
    pub verdict: Verdict,
    /// The points that the bot gets for it.
    pub points: u32,
    /// The points that there are.
    pub most_points: u32,
    /// The points of each pair, 0 to 2, in the order of the schedule.
    pub pairs: Vec<f64>,
    /// The share of points, 0 to 1; `None` before the first pair.
    pub score: Option<f64>,
    /// Its interval, which holds although the results decided the number of games: the true score is below it with a probability of
    /// at most α, above it with at most β.
    pub interval: Option<[f64; 2]>,
    /// Games that the bot forfeited.
    pub forfeits: u32,
    /// Games that the reference bot forfeited.
    pub forfeits_of_reference: u32,
    /// The seed of the games.
    pub seed: u64,
    /// The folder of the games, within that of the grades; `None` where none was played.
    pub folder: Option<String>,
}

/// The grade of a bot.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Grade {
    pub name: String,
    /// Its folder, within that of the grades.
    pub folder: String,
    /// The hash of its files.
    pub hash: String,
    pub points: u32,
    /// The points that there are.
    pub most_points: u32,
    /// Why it was not graded: a sentence.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub problem: Option<String>,
    /// All rungs, in order.
    pub rungs: Vec<RungResult>,
}

impl Grade {
    /// What a bot was given and why, in a line.
    pub fn feedback(&self) -> String {
        if let Some(problem) = &self.problem {
            return format!(
                "0 of {} points. It cannot play: {problem}",
                self.most_points
            );
        }
        let rungs: Vec<String> = self.rungs.iter().map(RungResult::sentence).collect();
        format!(
            "{} of {} points. {}",
            self.points,
            self.most_points,
            rungs.join(" ")
        )
    }
}

impl RungResult {
    pub fn not_played(rung: &Rung, seed: u64) -> Self {
        Self {
            rung: rung.name.clone(),
            requirement: rung.requirement(),
            verdict: Verdict::NotPlayed,
            points: 0,
            most_points: rung.points,
            pairs: Vec::new(),
            score: None,
            interval: None,
            forfeits: 0,
            forfeits_of_reference: 0,
            seed,
            folder: None,
        }
    }

    /// The result in a sentence.
    pub fn sentence(&self) -> String {
        let mut text = format!(
            "{}: {} ({} of {} points",
            self.rung,
            self.verdict.words(),
            self.points,
            self.most_points
        );
        if let (Some(score), Some([low, high])) = (self.score, self.interval) {
            text = format!(
                "{text}; {} pairs of games, score {score:.2}, true score {low:.2} to {high:.2}",
                self.pairs.len()
            );
        }
        if self.forfeits > 0 {
            text = format!("{text}; {} games forfeited", self.forfeits);
        }
        text + ")."
    }
}

/// The seed of a rung's games: it follows from the scale's seed, the rung and the graded bot's files.
pub fn seed_of(scale: &Scale, rung: &Rung, hash: &str) -> u64 {
    let text = format!("{}\n{}\n{}\n{hash}", scale.seed, rung.name, rung.bot);
    let digest = Sha256::digest(text.as_bytes());
    let number = digest.iter().take(4);
    // Short, so that it is easy to type.
    number.fold(0, |number, &byte| number << 8 | u64::from(byte))
}

/// The state of a rung's test.
#[derive(Clone, Debug)]
pub struct Progress {
    test: MeanTest,
    /// The number of the next pair.
    next: u64,
    pairs: Vec<f64>,
    counts: Pentanomial,
    decision: Decision,
    forfeits: [u32; 2],
}

impl Progress {
    /// Before the first pair.
    pub fn new(test: MeanTest) -> Self {
        Self {
            test,
            next: 1,
            pairs: Vec::new(),
            counts: Pentanomial::default(),
            decision: Decision::Continue,
            forfeits: [0; 2],
        }
    }

    /// Takes in the pairs that are complete, in their order, up to the decision. The graded bot is the first of every pairing. Returns
    /// whether the test is decided.
    pub fn advance(&mut self, endings: &Endings) -> bool {
        while self.decision == Decision::Continue
            && let [Some(one), Some(other)] = endings.of(self.next)
        {
            self.next += 1;
            let half_points = one.half_points() + other.half_points();
            self.counts.0[half_points] += 1;
            self.pairs.push([0.0, 0.5, 1.0, 1.5, 2.0][half_points]);
            for ending in [one, other] {
                if let Ending::Forfeit(by, _) = ending {
                    self.forfeits[by] += 1;
                }
            }
            self.decision = self.test.decide(&self.counts);
        }
        self.decision != Decision::Continue
    }

    pub fn result(self, scale: &Scale, rung: &Rung, seed: u64, folder: String) -> RungResult {
        let verdict = match self.decision {
            Decision::AcceptH1 => Verdict::Passed,
            Decision::AcceptH0 => Verdict::NotPassed,
            Decision::Continue => Verdict::Undecided,
        };
        let (low, high) = interval(&self.counts, [scale.alpha, scale.beta]);
        let is_played = !self.pairs.is_empty();
        RungResult {
            verdict,
            points: if verdict == Verdict::Passed {
                rung.points
            } else {
                0
            },
            score: is_played.then(|| self.counts.moments().0),
            interval: is_played.then_some([low, high]),
            pairs: self.pairs,
            forfeits: self.forfeits[BotIndex::A],
            forfeits_of_reference: self.forfeits[BotIndex::B],
            folder: Some(folder),
            ..RungResult::not_played(rung, seed)
        }
    }
}
