//! Which bots decide alike: a table, evidence for each pair, JSON and a page. For teachers only.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::fmt::Write as _;

use serde::Serialize;
use serde_json::{Value, json};

use crate::alike::Answers;
use crate::alike::findings::AlikeFindings;
use referee_games::game::Ruleset;
use referee_report::html::LIGHT_THEME;
use referee_report::picture::{self, Pieces, still};
use referee_report::{escaped, integer};
use referee_stats::alike::{
    AlikeGroup, AlikePair, LINE, NEARLY, ROUNDS, expected_by_chance, groups,
};
use referee_text::{counted, escape_controls, grouped};

pub const NO_VERDICT: &str = "\
This is a reason to look at both programs and to talk with their authors, not a verdict: who had the same idea, the same \
teacher or the same book decides alike, too.";

/// Positions that are shown of a pair.
const SHOWN: usize = 10;

/// Pairs that are shown even where they do not stand out.
const LEAST: usize = 5;

/// Of a group no more pairs are reported.
const OF_GROUP: usize = 10;

/// Of greater odds no more is said.
const MOST: f64 = 1e9;

const STYLE: &str = "\
body{font:16px/1.5 system-ui,sans-serif;background:var(--paper);color:var(--ink);max-width:70rem;margin:2rem auto;padding:0 1rem}\
pre{background:var(--card);padding:1rem;overflow:auto}.all{display:flex;flex-wrap:wrap;gap:1rem}\
.warning{background:var(--blame-paper);border-left:4px solid var(--blame);padding:.6rem 1rem}\
figure{margin:0;width:15rem}svg{width:100%;height:auto}";

#[derive(Debug)]
pub struct AlikeReport<'a> {
    pub ruleset: &'a dyn Ruleset,
    pub found: &'a AlikeFindings,
    pub further: Further,
}

/// How what is missing is asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Further {
    /// Answers are kept: by the same command.
    SameCommand,
    /// They are not: with more time, or where they are kept.
    KeepAnswers,
}

/// What is printed of the pairs.
struct ReportedPairs {
    groups: Vec<AlikeGroup>,
    /// Indices of the first of the other pairs.
    others: Vec<usize>,
}

impl ReportedPairs {
    fn group_of(&self, pair: usize) -> Option<&AlikeGroup> {
        self.groups.iter().find(|group| group.pairs.contains(&pair))
    }

    fn pairs(&self) -> impl Iterator<Item = usize> {
        let of_groups = self.groups.iter();
        let of_groups = of_groups.flat_map(|group| group.pairs.iter().take(OF_GROUP));
        of_groups.chain(&self.others).copied()
    }
}

/// A question to which both gave the same answer, in the same round or in different ones.
#[derive(Serialize)]
struct PairEvidence<'a> {
    question: &'a str,
    answer: &'a str,
    same_round: bool,
    /// How many of the other bots gave it in some round.
    others: usize,
    /// How many others answered.
    of: usize,
    /// Whether the answer is right, and how many turns are: where a solver says it.
    #[serde(skip_serializing_if = "Option::is_none")]
    right: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    right_turns: Option<usize>,
    turns: usize,
}

impl PairEvidence<'_> {
    fn words(&self) -> String {
        let worth = match self.right.zip(self.right_turns) {
            None => format!("one of {} legal turns", self.turns),
            Some((true, 1)) => "the only right turn".to_owned(),
            Some((true, right)) => format!("one of {right} equally good turns"),
            Some((false, right)) => format!("wrong, {right} of {} turns are right", self.turns),
        };
        let sides = ["; seen from different sides", ""][usize::from(self.same_round)];
        let [question, answer] = [self.question, self.answer].map(escape_controls);
        let (others, of) = (self.others, self.of);
        format!("{question} → {answer}: {others} of {of} others chose it; {worth}{sides}")
    }
}

fn count(all: usize) -> f64 {
    u32::try_from(all).map_or(f64::INFINITY, f64::from)
}

fn percent(share: f64) -> String {
    format!("{:.0}%", 100.0 * share)
}

fn odds_text(odds: f64) -> String {
    let more = if odds > MOST { "> " } else { "" };
    // Two digits are as much as is known.
    let step = 10_f64.powf((odds.min(MOST).log10() - 1.0).floor()).max(1.0);
    let rounded = (odds.min(MOST) / step).round() * step;
    format!("{more}{}", grouped(integer(rounded.round())))
}

impl<'a> AlikeReport<'a> {
    fn name(&self, bot: usize) -> String {
        escape_controls(&self.found.names[bot])
    }

    fn both(&self, pair: &AlikePair) -> String {
        format!("{} and {}", self.name(pair.a), self.name(pair.b))
    }

    /// Those that stand out or are nearly equal, in groups, and some more where these are few.
    fn reported(&self) -> ReportedPairs {
        let groups = groups(&self.found.pairs, |pair| {
            pair.stands_out() || (pair.is_nearly_equal() && !self.is_of_starter(pair))
        });
        let grouped = groups.iter().map(|group| group.pairs.len()).sum::<usize>();
        let is_other = |pair: &usize| !groups.iter().any(|group| group.pairs.contains(pair));
        let others = (0..self.found.pairs.len()).filter(is_other);
        let others = others.take(LEAST.saturating_sub(grouped)).collect();
        ReportedPairs { groups, others }
    }

    /// Whether both answer as the same starter code does.
    fn is_of_starter(&self, pair: &AlikePair) -> bool {
        let is_of = |bot: usize, starter: &Answers| {
            let both = self.found.answers[bot].choices.iter().zip(&starter.choices);
            let both = both.flat_map(|(own, starter)| own.iter().zip(starter));
            let both = both.filter(|(own, starter)| own.is_some() && starter.is_some());
            let all = both.clone().count();
            let same = both.filter(|(own, starter)| own == starter).count();
            count(same) >= NEARLY * count(all)
        };
        let mut starters = self.found.answers[self.found.names.len()..].iter();
        starters.any(|starter| is_of(pair.a, starter) && is_of(pair.b, starter))
    }

    /// By how many positions they were asked: bots that were asked less than others, as none of their pairs can stand out.
    fn decided(&self) -> BTreeMap<usize, Vec<String>> {
        let mut decided = BTreeMap::<usize, Vec<String>>::new();
        for bot in 0..self.found.names.len() {
            let wanted = self.found.wanted(bot);
            if self.found.stages.is_decided(bot) && !self.found.answers[bot].is_silent() {
                decided.entry(wanted).or_default().push(self.name(bot));
            }
        }
        decided
    }

    /// What the fewest others chose, who are of another group, without what starter code answers.
    fn evidence(&self, pair: &AlikePair, group: Option<&AlikeGroup>) -> Vec<PairEvidence<'a>> {
        let mut found: Vec<PairEvidence<'a>> = Vec::new();
        let is_judged = self.ruleset.info().is_solvable();
        for (number, position) in self.found.positions.iter().enumerate() {
            let of = |bot: usize| self.found.answers[bot].choices[number];
            let (a, b) = (of(pair.a), of(pair.b));
            let is_other = |bot: &usize| match group {
                Some(group) => !group.bots.contains(bot),
                None => *bot != pair.a && *bot != pair.b,
            };
            let others = || (0..self.found.names.len()).filter(is_other);
            let answered = others().filter(|bot| of(*bot).iter().any(Option::is_some));
            let answered = answered.count();
            let shared = (0..ROUNDS).filter_map(|round| {
                let choice = a[round].filter(|_| b.contains(&a[round]))?;
                let gave = |bot: &usize| of(*bot).contains(&a[round]);
                let mut starters = self.found.names.len()..self.found.answers.len();
                (!starters.any(|starter| gave(&starter))).then(|| PairEvidence {
                    question: &position.starts[round],
                    answer: &position.turns[round][choice],
                    same_round: a[round] == b[round],
                    others: others().filter(gave).count(),
                    of: answered,
                    right: is_judged.then(|| position.best[choice]),
                    right_turns: is_judged.then(|| position.right()),
                    turns: position.best.len(),
                })
            });
            found.extend(shared.min_by_key(|one| (one.others, !one.same_round)));
        }
        found.sort_by_key(|one| (one.others, one.right, Reverse(one.turns)));
        found.truncate(SHOWN);
        found
    }

    /// What was asked, and how much of it says something.
    fn introduction(&self, above: usize) -> String {
        let bots = counted(self.found.names.len() as u64, "bot", "bots");
        let questions = counted(self.found.positions.len() as u64, "position", "positions");
        let seed = self.found.seed;
        let mut text =
            format!("{bots} were asked {questions}, each in {ROUNDS} rounds (seed {seed}).\n");
        text += &self.incomplete();
        let silent: Vec<String> = self.found.silent().map(|bot| self.name(bot)).collect();
        if !silent.is_empty() {
            let _ = writeln!(
                text,
                "Not compared, since they gave no answer: {}.",
                silent.join(", ")
            );
        }
        for (positions, names) in self.decided() {
            let names = names.join(", ");
            let _ = writeln!(
                text,
                "After {positions} positions it was certain that no pair of these stands out: {names}."
            );
        }
        let what = match above as u64 {
            0 => "No pair stands out".to_owned(),
            count => counted(count, "pair stands out", "pairs stand out"),
        };
        let so_far = if self.found.is_complete() {
            ""
        } else {
            " so far"
        };
        let (line, nearly) = (odds_text(LINE), percent(NEARLY));
        let _ = writeln!(
            text,
            "{what}{so_far}: odds of {line} or more, or at least {nearly} equal answers."
        );
        let count = self.found.names.len();
        let all = counted(
            (count * count.saturating_sub(1) / 2) as u64,
            "pair",
            "pairs",
        );
        let chance = expected_by_chance(count);
        let _ = writeln!(
            text,
            "Of {all} of independent bots, {chance:.4} are expected to have such odds.\n"
        );
        text
    }

    fn table(&self) -> String {
        let reported = self.reported();
        let above = reported
            .groups
            .iter()
            .map(|group| group.pairs.len())
            .sum::<usize>();
        let mut text = self.introduction(above);
        text += "        odds  equal  expected  bots\n";
        for group in &reported.groups {
            if group.bots.len() > 2 {
                let (of, names) = (group.bots.len(), self.members(group));
                let _ = writeln!(text, "  --- a group of {of}: {names}");
            }
            for number in group.pairs.iter().take(OF_GROUP) {
                text += &self.row(&self.found.pairs[*number]);
            }
            let more = group.pairs.len().saturating_sub(OF_GROUP) as u64;
            if more > 0 {
                let more = counted(more, "more pair", "more pairs");
                let _ = writeln!(text, "  ... {more} of this group (--json has all)");
            }
        }
        if above > 0 && !reported.others.is_empty() {
            text += "  --- these do not stand out:\n";
        }
        for number in &reported.others {
            text += &self.row(&self.found.pairs[*number]);
        }
        text + "odds: one in so many pairs of independent bots is so much alike; expected: the share of equal\n\
                answers of independent bots that play like these\n"
    }

    fn row(&self, pair: &AlikePair) -> String {
        let (odds, names) = (odds_text(pair.odds), self.both(pair));
        let [equal, expected] = [pair.equal, pair.expected].map(percent);
        format!("{odds:>12}  {equal:>5}  {expected:>8}  {names}\n")
    }

    fn members(&self, group: &AlikeGroup) -> String {
        let names = group.bots.iter().map(|bot| self.name(*bot));
        names.collect::<Vec<_>>().join(", ")
    }

    /// Who was asked less, and how it goes on.
    fn incomplete(&self) -> String {
        if self.found.is_complete() {
            return String::new();
        }
        let mut text =
            "Incomplete: the verdict can change until all bots have been asked everything.\n"
                .to_owned();
        let undrawn = self.found.undrawn;
        if undrawn > 0 {
            let wanted = self.found.positions.len() + undrawn;
            let _ = writeln!(text, "  {undrawn} of {wanted} positions are not drawn yet");
        }
        for bot in 0..self.found.answers.len() {
            let missing = self.found.missing(bot);
            if missing > 0 {
                let all = self.found.wanted(bot) * ROUNDS;
                let name = match self.found.names.get(bot) {
                    Some(name) => escape_controls(name),
                    None => "starter code".to_owned(),
                };
                let _ = writeln!(text, "  {name}: {missing} of {all} questions are missing");
            }
        }
        text + match self.further {
            Further::SameCommand => "Answers are kept: the same command asks what is missing.\n",
            Further::KeepAnswers => {
                "--time gives more time; with --answers FILE answers are kept, and the same command asks what is\n\
                 missing.\n"
            }
        }
    }

    pub fn text(&self) -> String {
        let mut text = self.table();
        let reported = self.reported();
        for number in reported.pairs() {
            let pair = &self.found.pairs[number];
            let _ = writeln!(text, "\n{} answer alike:", self.both(pair));
            for one in self.evidence(pair, reported.group_of(number)) {
                let _ = writeln!(text, "  {}", one.words());
            }
        }
        format!("{text}\n{NO_VERDICT}\n")
    }

    pub fn json(&self) -> Value {
        let reported = self.reported();
        let pairs = self.found.pairs.iter().enumerate().map(|(number, pair)| {
            json!({
                "a": self.found.names[pair.a],
                "b": self.found.names[pair.b],
                "answers": pair.answers,
                "equal": pair.equal,
                "expected": pair.expected,
                "odds": pair.odds,
                "stands_out": reported.group_of(number).is_some(),
                "nearly_equal": pair.is_nearly_equal(),
            })
        });
        let mut pairs: Vec<Value> = pairs.collect();
        for number in reported.pairs() {
            let evidence = self.evidence(&self.found.pairs[number], reported.group_of(number));
            pairs[number]["evidence"] = json!(evidence);
        }
        let name = |bot: &usize| &self.found.names[*bot];
        let groups = reported.groups.iter();
        let groups = groups.map(|group| group.bots.iter().map(name).collect::<Vec<_>>());
        let bots = self.found.names.iter().enumerate().map(|(bot, name)| {
            let (answers, missing) = (&self.found.answers[bot], self.found.missing(bot));
            json!({
                "name": name,
                "positions": self.found.wanted(bot),
                "repeated": answers.repeated(),
                "asked": answers.asked(),
                "answered": answers.answered(),
                "missing": missing,
                "complete": missing == 0,
            })
        });
        json!({
            "note": NO_VERDICT,
            "game": self.ruleset.name(),
            "rules": self.ruleset.rules(),
            "seed": self.found.seed,
            "questions": self.found.positions.len(),
            "complete": self.found.is_complete(),
            "line": LINE,
            "expected_by_chance": expected_by_chance(self.found.names.len()),
            "groups": groups.collect::<Vec<_>>(),
            "bots": bots.collect::<Vec<_>>(),
            "pairs": pairs,
        })
    }

    /// One file without scripts.
    pub fn html(&self) -> String {
        let light = LIGHT_THEME;
        let note = format!("<p class=\"warning\">{}</p>", escaped(NO_VERDICT));
        let mut page = format!(
            "<!doctype html>\n<html lang=\"en\"><meta charset=\"utf-8\"><meta name=\"viewport\" \
             content=\"width=device-width\"><title>Bots that decide alike</title><style>{light}{STYLE}</style>\n\
             <h1>Bots that decide alike</h1>\n{note}\n<pre>{}</pre>\n",
            escaped(&self.table()),
        );
        let pieces = Pieces::of_ruleset(self.ruleset).ok();
        let reported = self.reported();
        for number in reported.pairs() {
            let pair = &self.found.pairs[number];
            let evidence = self.evidence(pair, reported.group_of(number));
            let both = escaped(&self.both(pair));
            let _ = writeln!(page, "<h2>{both}</h2>\n<div class=\"all\">");
            for one in evidence {
                let game = self.ruleset.start_from(one.question).ok();
                let drawn = pieces.as_ref().zip(game);
                let drawn = drawn
                    .map(|(pieces, game)| still(pieces, &picture::Shown::of(pieces, &*game), ""));
                let (drawn, words) = (drawn.unwrap_or_default(), escaped(&one.words()));
                let figure = format!("{drawn}<figcaption>{words}</figcaption>");
                let _ = writeln!(page, "<figure>{figure}</figure>");
            }
            page += "</div>\n";
        }
        page + &note + "</html>\n"
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::alike::stages::Stages;
    use referee_games::game::registry;

    /// Also with odds that say nothing, as of a ring that explains its own pairs.
    #[test]
    fn pairs_that_agree_on_nine_of_ten_are_shown() {
        let names = ["ann", "ben", "cem", "dan", "eve", "fay"].map(str::to_owned);
        let pair = |a, b, answers, equal| AlikePair {
            a,
            b,
            answers,
            equal,
            expected: 0.5,
            odds: 1.0,
        };
        let pairs = [
            pair(0, 1, 40, 0.9),
            pair(2, 3, 4000, 0.89),
            pair(4, 5, 39, 1.0),
        ];
        let ruleset = registry::of_record("quarto", "standard", None).expect("rules");
        let found = AlikeFindings {
            seed: 1,
            answers: names.iter().map(|_| Answers::none(0)).collect(),
            names: names.into(),
            pairs: pairs.into(),
            positions: Vec::new(),
            undrawn: 0,
            stages: Stages::new(6, 0),
        };
        let report = AlikeReport {
            ruleset: &*ruleset,
            found: &found,
            further: Further::SameCommand,
        };
        let groups = report.reported().groups;
        let shown: Vec<&[usize]> = groups.iter().map(|group| &*group.bots).collect();
        assert_eq!(shown, [[0, 1]]);
    }

    #[test]
    fn odds_have_two_digits() {
        for (odds, text) in [
            (1.0, "1"),
            (7.94, "8"),
            (123.0, "120"),
            (9_999.0, "10,000"),
            (3.4e12, "> 1,000,000,000"),
        ] {
            assert_eq!(odds_text(odds), text);
        }
    }
}
