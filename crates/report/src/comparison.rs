//! A comparison of two versions: text, Markdown for a pull request, JSON.

use std::fmt::Write as _;
use std::time::Duration;

use serde::Serialize;
use serde_json::{Value as Json, json};

use super::standings::{markdown_table, percent};
use super::terminal::{Palette, aligned};
use referee_stats::betting::elo_of_score;
use referee_stats::comparison::{
    ComparisonQuestion, ComparisonTerms, ComparisonVerdict, Measured, Opponent,
};
use referee_text::{counted, escape_controls, escape_markdown};
use referee_tournament::comparison::{ComparisonForfeits, ComparisonProgress};
use referee_tournament::plan::BotPlan;

/// For intervals by opponent: 95 % in total.
const ERRORS: [f64; 2] = [0.025; 2];

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum ComparisonEnd {
    Decided,
    Complete,
    Budget,
    Interrupted,
    Unfit,
}

#[derive(Clone, Debug)]
pub struct ComparisonReport {
    pub new: BotPlan,
    pub opponents: Vec<BotPlan>,
    pub terms: ComparisonTerms,
    pub progress: ComparisonProgress,
    pub elapsed: Duration,
    /// `None`: no limit.
    pub budget: Option<Duration>,
    pub most: u32,
    pub seed: u64,
    pub ended: ComparisonEnd,
    pub problem: Option<String>,
}

/// `+79 (+9 to +160)`; with an open end `at least +9`, with two nothing.
fn elo_difference(measured: Measured) -> Option<String> {
    let elo = |score: f64| Some(elo_of_score(score)).filter(|elo| elo.is_finite());
    let ends = match measured.interval.map(elo) {
        [None, None] => return None,
        [Some(low), Some(high)] => format!("{low:+.0} to {high:+.0}"),
        [Some(low), None] => format!("at least {low:+.0}"),
        [None, Some(high)] => format!("at most {high:+.0}"),
    };
    Some(match elo(measured.mean) {
        Some(mean) => format!("{mean:+.0} ({ends})"),
        None => ends,
    })
}

/// `61.2% (53.1% to 69.0%)`.
fn with_interval(measured: Measured, show: fn(f64) -> String) -> String {
    let [low, high] = measured.interval.map(show);
    format!("{} ({low} to {high})", show(measured.mean))
}

/// `5%`, `0.1%`.
fn rate(share: f64) -> String {
    format!("{}%", (1e6 * share).round() / 1e4)
}

impl ComparisonReport {
    pub fn verdict(&self) -> ComparisonVerdict {
        if self.ended == ComparisonEnd::Unfit {
            ComparisonVerdict::Unfit
        } else {
            self.terms.verdict(self.progress.comparison.decision())
        }
    }

    fn old(&self) -> &str {
        self.opponents.first().map_or("", |old| &old.name)
    }

    fn has_pool(&self) -> bool {
        self.opponents.len() > 1
    }

    fn headline(&self) -> String {
        let [new, old] = [&self.new.name, self.old()].map(escape_controls);
        let margin = self.terms.margin;
        match self.verdict() {
            ComparisonVerdict::Better => format!("{new} is better than {old}."),
            ComparisonVerdict::NotBetter => {
                format!("{new} is not better than {old} by {margin} Elo.")
            }
            ComparisonVerdict::NotWorse => {
                format!("{new} is not worse than {old} by {margin} Elo.")
            }
            ComparisonVerdict::Worse => format!("{new} is worse than {old}."),
            ComparisonVerdict::Unfit => format!("{new} cannot play."),
            ComparisonVerdict::Undecided => {
                let asked = match self.terms.question {
                    ComparisonQuestion::Better => "better",
                    ComparisonQuestion::NotWorse => "not worse",
                };
                format!("Undecided whether {new} is {asked} than {old}.")
            }
        }
    }

    fn details(&self) -> Vec<String> {
        let mut lines = Vec::new();
        if let Some(problem) = &self.problem {
            return vec![problem.clone()];
        }
        if let Some(advantage) = self.progress.comparison.advantage() {
            let (new, score) = (
                escape_controls(&self.new.name),
                with_interval(advantage, percent),
            );
            lines.push(if self.has_pool() {
                format!("Advantage of {new}: {score}; 50% says that both are equal.")
            } else {
                let difference = elo_difference(advantage);
                let difference = difference.map(|elo| format!(", Elo difference {elo}"));
                format!("{new} scores {score}{}.", difference.unwrap_or_default())
            });
        }
        let games = counted(self.progress.games, "game", "games");
        let time = format!("{:.1} s", self.elapsed.as_secs_f64());
        let why = match self.ended {
            ComparisonEnd::Decided | ComparisonEnd::Unfit => "",
            ComparisonEnd::Complete => ", all that were planned",
            ComparisonEnd::Budget => "; then time was up",
            ComparisonEnd::Interrupted => "; then it was interrupted",
        };
        lines.push(format!("{games} in {time}{why}."));
        let ComparisonForfeits { new, old, others } = self.progress.forfeits;
        if new + old + others > 0 {
            let others = self.has_pool().then(|| format!(", {others} of the others"));
            let others = others.unwrap_or_default();
            lines.push(format!(
                "Forfeits: {new} of the new version, {old} of the old one{others}."
            ));
        }
        lines
    }

    fn counted(&self) -> impl Iterator<Item = (&BotPlan, &Opponent)> {
        let counts = self.progress.comparison.opponents();
        self.opponents.iter().zip(counts)
    }

    /// The rows of the table by opponent, the head first.
    fn rows(&self) -> Vec<Vec<String>> {
        let heads = ["opponent", "share", "games", "new", "old", "difference"];
        let mut rows = vec![heads.map(str::to_owned).to_vec()];
        let all = self.progress.comparison.count();
        for (bot, counts) in self.counted() {
            let mut row = vec![escape_controls(&bot.name)];
            row.push(share(counts, all).map_or_else(String::new, percent));
            row.push(games(counts).to_string());
            let show = |found: Option<Measured>, show: fn(f64) -> String| {
                found.map_or_else(String::new, |found| with_interval(found, show))
            };
            row.push(show(Measured::of(&counts.new, ERRORS), percent));
            row.push(show(Measured::of(&counts.old, ERRORS), percent));
            let difference = Measured::of(&counts.advantages, ERRORS);
            let difference = difference.map(Measured::as_difference);
            row.push(show(difference, |share| format!("{:+.1}%", 100.0 * share)));
            rows.push(row);
        }
        rows
    }

    fn terms(&self) -> String {
        let terms = &self.terms;
        let (yes, no) = match terms.question {
            ComparisonQuestion::Better => ("better", "not better"),
            ComparisonQuestion::NotWorse => ("not worse", "worse"),
        };
        let (alpha, beta) = (rate(terms.alpha), rate(terms.beta));
        format!(
            "\"{yes}\" is wrong with a probability of at most {alpha}, \"{no}\" with one of at most {beta}; intervals by \
             opponent hold with 95%. Seed {}.",
            self.seed
        )
    }

    pub fn text(&self, palette: &Palette) -> String {
        let mut out = String::new();
        for line in std::iter::once(self.headline()).chain(self.details()) {
            let _ = writeln!(out, "{line}");
        }
        if self.has_pool() && self.progress.games > 0 {
            let _ = write!(out, "\n{}", aligned(&self.rows(), palette, &[0]));
        }
        out
    }

    pub fn markdown(&self) -> String {
        let mut out = format!("### {}\n\n", escape_markdown(&self.headline()));
        for line in self.details() {
            let _ = writeln!(out, "- {}", escape_markdown(&line));
        }
        if self.progress.games > 0 {
            out.push('\n');
            out.push_str(&markdown_table(&self.rows(), &[0]));
        }
        if self.problem.is_none() {
            let _ = writeln!(out, "\n{}", escape_markdown(&self.terms()));
        }
        out
    }

    pub fn json(&self) -> Json {
        let terms = &self.terms;
        let advantage = self.progress.comparison.advantage();
        let all = self.progress.comparison.count();
        let opponents = self.counted().map(|(bot, counts)| {
            json!({
                "name": bot.name,
                "bot": bot.bot,
                "hash": bot.hash,
                "share": share(counts, all),
                "games": games(counts),
                "new": Measured::of(&counts.new, ERRORS),
                "old": Measured::of(&counts.old, ERRORS),
                "difference": Measured::of(&counts.advantages, ERRORS).map(Measured::as_difference),
            })
        });
        json!({
            "v": 1,
            "verdict": self.verdict(),
            "question": terms.question,
            "margin": terms.margin,
            "alpha": terms.alpha,
            "beta": terms.beta,
            "ended": self.ended,
            "problem": self.problem,
            "new": {"name": self.new.name, "bot": self.new.bot, "hash": self.new.hash},
            "advantage": advantage,
            "elo": (!self.has_pool()).then_some(advantage).flatten().map(|found| json!({
                "mean": elo_of_score(found.mean),
                "interval": found.interval.map(elo_of_score),
            })),
            "comparisons": all,
            "most_comparisons": self.most,
            "games": self.progress.games,
            "forfeits": self.progress.forfeits,
            "seconds": self.elapsed.as_secs_f64(),
            "budget": self.budget.map(|budget| budget.as_secs_f64()),
            "seed": self.seed,
            "opponents": opponents.collect::<Vec<_>>(),
        })
    }
}

fn share(counts: &Opponent, all: u64) -> Option<f64> {
    let all = u32::try_from(all).ok().filter(|&all| all > 0)?;
    Some(counts.advantages.total() / f64::from(all))
}

fn games(counts: &Opponent) -> u64 {
    let pairs = counts.new.0.iter().chain(&counts.old.0);
    2 * pairs.copied().map(u64::from).sum::<u64>()
}

#[cfg(test)]
mod tests {
    use super::*;
    use referee_stats::comparison::ComparisonUnit;

    const TERMS: ComparisonTerms = ComparisonTerms {
        question: ComparisonQuestion::Better,
        margin: 50.0,
        direct: 0.5,
        alpha: 0.05,
        beta: 0.05,
    };

    fn progress(opponents: usize) -> ComparisonProgress {
        ComparisonProgress::new(TERMS.test().expect("valid terms"), opponents, Vec::new())
    }

    fn bot(name: &str) -> BotPlan {
        BotPlan {
            name: name.to_owned(),
            ..BotPlan::default()
        }
    }

    fn report(mut progress: ComparisonProgress, games: u64) -> ComparisonReport {
        progress.games = games;
        progress.forfeits.new = 1;
        let names = ["old.py", "greedy", "a|b"];
        ComparisonReport {
            new: bot("new.py"),
            opponents: names[..progress.comparison.opponents().len()]
                .iter()
                .map(|name| bot(name))
                .collect(),
            terms: TERMS,
            progress,
            elapsed: Duration::from_millis(2500),
            budget: None,
            most: 100,
            seed: 7,
            ended: ComparisonEnd::Decided,
            problem: None,
        }
    }

    #[test]
    fn two_bots_have_a_score_and_no_table() {
        let mut two = progress(1);
        for _ in 0..7 {
            two.comparison.add(0, ComparisonUnit::Direct(4));
        }
        insta::assert_snapshot!(report(two, 14).text(&Palette::default()), @r#"
        new.py is better than old.py.
        new.py scores 100.0% (53.9% to 100.0%), Elo difference at least +27.
        14 games in 2.5 s.
        Forfeits: 1 of the new version, 0 of the old one.
        "#);
    }

    #[test]
    fn others_are_listed() {
        let mut four = progress(3);
        for _ in 0..30 {
            four.comparison.add(0, ComparisonUnit::Direct(4));
            four.comparison.add(1, ComparisonUnit::Pool([3, 2]));
        }
        let report = report(four, 180);
        insta::assert_snapshot!(report.text(&Palette::default()), @r#"
        new.py is better than old.py.
        Advantage of new.py: 81.3% (73.7% to 88.2%); 50% says that both are equal.
        180 games in 2.5 s.
        Forfeits: 1 of the new version, 0 of the old one, 0 of the others.

        opponent  share  games                       new                     old                   difference
        old.py    50.0%     60  100.0% (83.7% to 100.0%)                          +100.0% (+67.3% to +100.0%)
        greedy    50.0%    120    75.0% (62.7% to 79.1%)  50.0% (41.8% to 58.2%)     +25.0% (+4.6% to +37.3%)
        a|b        0.0%      0
        "#);
        insta::assert_snapshot!(report.markdown(), @r#"
        ### new.py is better than old.py.

        - Advantage of new.py: 81.3% (73.7% to 88.2%); 50% says that both are equal.
        - 180 games in 2.5 s.
        - Forfeits: 1 of the new version, 0 of the old one, 0 of the others.

        | opponent | share | games | new | old | difference |
        | --- | ---: | ---: | ---: | ---: | ---: |
        | old.py | 50.0% | 60 | 100.0% (83.7% to 100.0%) |  | +100.0% (+67.3% to +100.0%) |
        | greedy | 50.0% | 120 | 75.0% (62.7% to 79.1%) | 50.0% (41.8% to 58.2%) | +25.0% (+4.6% to +37.3%) |
        | a&#124;b | 0.0% | 0 |  |  |  |

        "better" is wrong with a probability of at most 5%, "not better" with one of at most 5%; intervals by opponent hold with 95%. Seed 7.
        "#);
    }

    #[test]
    fn nothing_is_known_at_first() {
        let unfit = ComparisonReport {
            ended: ComparisonEnd::Unfit,
            problem: Some("timeout: it did not answer <b>".to_owned()),
            ..report(progress(2), 0)
        };
        insta::assert_snapshot!(unfit.markdown(), @r#"
        ### new.py cannot play.

        - timeout: it did not answer &#60;b&#62;
        "#);
        assert_eq!(unfit.json()["advantage"], Json::Null);
        assert_eq!(unfit.json()["verdict"], "unfit");
    }
}
