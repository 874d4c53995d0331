//! Grades that depend only on the graded bot, the scale and its seed.
//!
//! On each rung of a [`Scale`] a bot plays pairs against a reference until a sequential test decides, in the order of the
//! schedule: the number of games at a time changes nothing. The first rung that is not passed ends the climb.

pub mod climb;
pub mod scale;

use serde::{Serialize, Serializer};

use self::scale::{Rung, Scale};
use referee_match::record::Ending;
use referee_stats::sprt::Decision;
use referee_stats::standings::Absence;
use referee_text::counted;
use referee_tournament::comparison::ComparisonProgress;
use referee_tournament::plan::number_of;
use referee_tournament::results::Endings;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum RungVerdict {
    Passed,
    NotPassed,
    /// The budget is used up without certainty.
    Undecided,
    /// The bot that is the measure has forfeited: what the games say of the other is not known.
    Unmeasured,
    NotPlayed,
}

impl RungVerdict {
    pub const fn words(self) -> &'static str {
        match self {
            Self::Passed => "passed",
            Self::NotPassed => "not passed",
            Self::Undecided => "undecided",
            Self::Unmeasured => "no verdict, as its reference bot failed",
            Self::NotPlayed => "not played",
        }
    }
}

#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct RungResult {
    pub rung: String,
    pub requirement: String,
    pub verdict: RungVerdict,
    pub points: u32,
    pub most_points: u32,
    /// Points of each pair, 0 to 2, in the order of the schedule.
    pub pairs: Vec<f64>,
    /// Share of points, 0 to 1; `None` before the first pair.
    pub score: Option<f64>,
    /// Valid although results decided the number of games: the true score is below with a probability of at most α,
    /// above with at most β.
    pub interval: Option<[f64; 2]>,
    pub forfeits: u32,
    pub forfeits_of_reference: u32,
    pub seed: u64,
    /// Of the games, within that of the grades; `None` if none was played.
    pub folder: Option<String>,
}

/// How late the graded version was.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Lateness {
    /// Begun hours after the league's deadline.
    pub hours: u64,
    /// With its offset.
    pub deadline: String,
    pub points_lost: u32,
}

impl Lateness {
    pub fn sentence(&self) -> String {
        let hours = counted(self.hours, "hour", "hours");
        let points = counted(self.points_lost.into(), "point", "points");
        let deadline = &self.deadline;
        format!("Handed in {hours} late, after {deadline}: {points} lost.")
    }
}

#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Grade {
    pub name: String,
    /// Within that of the grades.
    pub folder: String,
    pub hash: String,
    /// Without those that were lost by being late.
    pub points: u32,
    pub most_points: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub late: Option<Lateness>,
    /// Why it was not graded. In JSON the reason alone.
    #[serde(skip_serializing_if = "Option::is_none", serialize_with = "reason_of")]
    pub problem: Option<Absence>,
    pub rungs: Vec<RungResult>,
}

fn reason_of<S: Serializer>(absence: &Option<Absence>, to: S) -> Result<S::Ok, S::Error> {
    let reason = absence.as_ref().map(Absence::to_string);
    reason.serialize(to)
}

impl Grade {
    pub fn feedback(&self) -> String {
        if let Some(problem) = &self.problem {
            return format!(
                "0 of {} points. It cannot play: {problem}",
                self.most_points
            );
        }
        let rungs = self.rungs.iter().map(RungResult::sentence);
        let sentences: Vec<String> = self
            .late
            .as_ref()
            .map(Lateness::sentence)
            .into_iter()
            .chain(rungs)
            .collect();
        let (points, most) = (self.points, self.most_points);
        format!("{points} of {most} points. {}", sentences.join(" "))
    }
}

impl RungResult {
    pub fn not_played(rung: &Rung, seed: u64) -> Self {
        Self {
            rung: rung.name.clone(),
            requirement: rung.requirement(),
            verdict: RungVerdict::NotPlayed,
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

    pub fn sentence(&self) -> String {
        let pairs = counted(self.pairs.len() as u64, "pair", "pairs");
        let forfeits = self.forfeits;
        let measured = self.score.zip(self.interval).map(|(score, [low, high])| {
            format!("; {pairs} of games, score {score:.2}, true score {low:.2} to {high:.2}")
        });
        let forfeited = (forfeits > 0)
            .then(|| format!("; {} forfeited", counted(forfeits.into(), "game", "games")));
        format!(
            "{}: {} ({} of {} points{}{}).",
            self.rung,
            self.verdict.words(),
            self.points,
            self.most_points,
            measured.unwrap_or_default(),
            forfeited.unwrap_or_default()
        )
    }

    /// `played`: the games of the bot as the new version against the reference as the old one.
    pub fn new(
        rung: &Rung,
        seed: u64,
        folder: String,
        played: &ComparisonProgress,
        endings: &Endings,
    ) -> Self {
        let verdict = match played.comparison.decision() {
            _ if played.forfeits.old > 0 => RungVerdict::Unmeasured,
            Decision::AcceptH1 => RungVerdict::Passed,
            Decision::AcceptH0 => RungVerdict::NotPassed,
            Decision::Continue => RungVerdict::Undecided,
        };
        let pairs = (1..=played.comparison.count()).map(|pair| {
            let both = endings.of(pair).into_iter().flatten();
            [0.0, 0.5, 1.0, 1.5, 2.0][both.map(Ending::half_points).sum::<usize>()]
        });
        let measured = played.comparison.advantage();
        Self {
            verdict,
            points: rung.points * u32::from(verdict == RungVerdict::Passed),
            score: measured.map(|measured| measured.mean),
            interval: measured.map(|measured| measured.interval),
            pairs: pairs.collect(),
            forfeits: played.forfeits.new,
            forfeits_of_reference: played.forfeits.old,
            folder: Some(folder),
            ..Self::not_played(rung, seed)
        }
    }
}

pub fn seed_of(scale: &Scale, rung: &Rung, hash: &str) -> u64 {
    let text = format!("{}\n{}\n{}\n{hash}", scale.seed, rung.name, rung.bot);
    // Short: easy to type.
    number_of(&text) >> u32::BITS
}
