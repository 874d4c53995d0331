//! Which bots decide alike: a table, evidence for each pair, JSON and a page. For teachers only.

use std::cmp::Reverse;
use std::fmt::Write as _;

use serde_json::{Value, json};

use super::escaped;
use super::picture::{Pieces, Shown, still};
use crate::alike::Answers;
use crate::alike::questions::Position;
use crate::game::Game;
use crate::text::{counted, escape_controls, grouped};
use crate::tournament::alike::{Choices, LINE, Pair, ROUNDS};

pub const NO_VERDICT: &str = "\
This is a reason to look at both programs and to talk with their authors, not a verdict: who had the same idea, the same \
teacher or the same book decides alike, too.";

/// Positions that are shown of a pair.
const SHOWN: usize = 10;

/// Pairs that are shown even where they do not stand out.
const LEAST: usize = 5;

/// Of greater odds no more is said.
const MOST: f64 = 1e9;

const STYLE: &str = "\
body{font:16px/1.5 system-ui,sans-serif;background:var(--paper);color:var(--ink);max-width:70rem;margin:2rem auto;padding:0 1rem}\
table{border-collapse:collapse;background:var(--card)}td,th{padding:.3rem .8rem;border:1px solid var(--rule);text-align:right}\
td:first-child,th:first-child{text-align:left}tr.line td{border-top:3px solid var(--blame)}\
.warning{background:var(--blame-paper);border-left:4px solid var(--blame);padding:.6rem 1rem}\
.all{display:flex;flex-wrap:wrap;gap:1rem}figure{margin:0;width:15rem}svg{width:100%;height:auto}";

#[derive(Debug)]
pub struct Report<'a> {
    pub ruleset: &'a dyn Game,
    pub positions: &'a [Position],
    /// Of the bots, then of starter code.
    pub answers: &'a [Answers],
    /// Of the bots, as people write them.
    pub names: &'a [String],
    /// The most striking first.
    pub pairs: &'a [Pair],
    pub seed: u32,
}

/// A question to which both gave the same answer, in the same round or in different ones.
struct Evidence<'a> {
    start: &'a str,
    answer: &'a str,
    is_same_round: bool,
    /// How many of the other bots gave it in some round, and how many answered.
    others: [usize; 2],
    is_right: bool,
    right: usize,
    turns: usize,
}

impl Evidence<'_> {
    fn words(&self) -> String {
        let [same, all] = self.others;
        let worth = match (self.is_right, self.right) {
            (true, 1) => "the only right turn".to_owned(),
            (true, right) => format!("one of {right} equally good turns"),
            (false, right) => format!("wrong, {right} of {} turns are right", self.turns),
        };
        let round = if self.is_same_round {
            ""
        } else {
            "; seen from different sides"
        };
        format!("{same} of {all} others chose it; {worth}{round}")
    }
}

fn percent(share: f64) -> String {
    format!("{:.0}%", 100.0 * share)
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "odds are at least 1, and those above the most are cut"
)]
fn odds_text(odds: f64) -> String {
    let more = if odds > MOST { "> " } else { "" };
    // Two digits are as much as is known.
    let step = 10_f64.powf((odds.min(MOST).log10() - 1.0).floor()).max(1.0);
    let rounded = (odds.min(MOST) / step).round() * step;
    format!("{more}{}", grouped(rounded.round() as u64))
}

impl<'a> Report<'a> {
    fn name(&self, bot: usize) -> String {
        escape_controls(&self.names[bot])
    }

    /// Those that stand out, or the first ones.
    fn shown(&self) -> impl Iterator<Item = &Pair> {
        let shown = self.pairs.iter().enumerate();
        shown
            .filter(|(number, pair)| *number < LEAST || pair.stands_out())
            .map(|(_, pair)| pair)
    }

    fn standing_out(&self) -> usize {
        self.pairs.iter().filter(|pair| pair.stands_out()).count()
    }

    /// What the fewest others chose, without what starter code answers.
    fn evidence(&self, pair: &Pair) -> Vec<Evidence<'a>> {
        let mut found: Vec<Evidence<'a>> = Vec::new();
        for (number, position) in self.positions.iter().enumerate() {
            let of = |bot: usize| self.answers[bot].choices[number];
            let (a, b) = (of(pair.a), of(pair.b));
            let starters = self.names.len()..self.answers.len();
            let others = (0..self.names.len()).filter(|bot| *bot != pair.a && *bot != pair.b);
            let others: Vec<Choices> = others
                .map(of)
                .filter(|answers| answers.iter().any(Option::is_some))
                .collect();
            let shared = (0..ROUNDS).filter_map(|round| {
                let choice = a[round].filter(|_| b.contains(&a[round]))?;
                let is_starter = |starter: usize| of(starter).contains(&a[round]);
                if starters.clone().any(is_starter) {
                    return None;
                }
                let same = others.iter().filter(|answers| answers.contains(&a[round]));
                Some(Evidence {
                    start: &position.starts[round],
                    answer: &position.turns[round][choice],
                    is_same_round: a[round] == b[round],
                    others: [same.count(), others.len()],
                    is_right: position.best[choice],
                    right: position.right(),
                    turns: position.best.len(),
                })
            });
            found.extend(shared.min_by_key(|one| (one.others[0], !one.is_same_round)));
        }
        found.sort_by_key(|one| (one.others[0], one.is_right, Reverse(one.turns)));
        found.truncate(SHOWN);
        found
    }

    fn asked(&self) -> String {
        let bots = counted(self.names.len() as u64, "bot", "bots");
        let questions = counted(self.positions.len() as u64, "position", "positions");
        let cut: Vec<String> = (0..self.names.len())
            .filter(|bot| !self.answers[*bot].is_complete)
            .map(|bot| self.name(bot))
            .collect();
        let cut = if cut.is_empty() {
            String::new()
        } else {
            format!(
                " Slow, and asked fewer: {}; --time gives more.",
                cut.join(", ")
            )
        };
        format!(
            "{bots} were asked {questions}, each in {ROUNDS} rounds (seed {}).{cut}",
            self.seed
        )
    }

    fn line(&self) -> String {
        let what = match self.standing_out() as u64 {
            0 => "No pair stands out".to_owned(),
            count => counted(count, "pair stands out", "pairs stand out"),
        };
        format!("{what}: odds of {} or more.", odds_text(LINE))
    }

    pub fn text(&self) -> String {
        let mut text = format!("{}\n{}\n\n", self.asked(), self.line());
        if self.pairs.is_empty() {
            return text;
        }
        text += "        odds  equal  expected  bots\n";
        let mut was_above = true;
        for (number, pair) in self.shown().enumerate() {
            if was_above && !pair.stands_out() && number > 0 {
                text += "  --- these do not stand out:\n";
            }
            was_above = pair.stands_out();
            let _ = writeln!(
                text,
                "{:>12}  {:>5}  {:>8}  {} and {}",
                odds_text(pair.odds),
                percent(pair.equal),
                percent(pair.expected),
                self.name(pair.a),
                self.name(pair.b)
            );
        }
        text += "odds: one in so many pairs of independent bots is so much alike; expected: the share of equal\n\
                 answers of independent bots that play like these\n";
        for pair in self.shown() {
            let (a, b) = (self.name(pair.a), self.name(pair.b));
            let _ = writeln!(text, "\n{a} and {b} answer alike:");
            for one in self.evidence(pair) {
                let _ = writeln!(text, "  {} → {}: {}", one.start, one.answer, one.words());
            }
        }
        format!("{text}\n{NO_VERDICT}\n")
    }

    pub fn json(&self) -> Value {
        let pairs = self.pairs.iter().enumerate().map(|(number, pair)| {
            let mut json = json!({
                "a": self.names[pair.a],
                "b": self.names[pair.b],
                "answers": pair.answers,
                "equal": pair.equal,
                "expected": pair.expected,
                "odds": pair.odds,
                "stands_out": pair.stands_out(),
            });
            if number < LEAST || pair.stands_out() {
                let evidence = self.evidence(pair).into_iter().map(|one| {
                    json!({
                        "question": one.start,
                        "answer": one.answer,
                        "others": one.others[0],
                        "of": one.others[1],
                        "right": one.is_right,
                        "same_round": one.is_same_round,
                    })
                });
                json["evidence"] = evidence.collect();
            }
            json
        });
        let bots = self.names.iter().zip(self.answers).map(|(name, answers)| {
            json!({"name": name, "repeated": answers.repeated(), "complete": answers.is_complete})
        });
        json!({
            "note": NO_VERDICT,
            "game": self.ruleset.name(),
            "rules": self.ruleset.rules(),
            "seed": self.seed,
            "questions": self.positions.len(),
            "line": LINE,
            "bots": bots.collect::<Vec<_>>(),
            "pairs": pairs.collect::<Vec<_>>(),
        })
    }

    /// One file without scripts.
    pub fn html(&self) -> String {
        let light = include_str!("html/assets/light.css");
        let note = escaped(NO_VERDICT);
        let mut page = format!(
            "<!doctype html>\n<html lang=\"en\"><meta charset=\"utf-8\"><meta name=\"viewport\" \
             content=\"width=device-width\"><title>Bots that decide alike</title><style>{light}{STYLE}</style>\n\
             <h1>Bots that decide alike</h1>\n<p class=\"warning\">{note}</p>\n<p>{}</p>\n<p>{} Odds: one in so many \
             pairs of independent bots is so much alike.</p>\n<table><tr><th>bots<th>odds<th>equal<th>expected\n",
            escaped(&self.asked()),
            escaped(&self.line()),
        );
        let mut was_above = true;
        for pair in self.shown() {
            let is_line = was_above && !pair.stands_out();
            was_above = pair.stands_out();
            let _ = writeln!(
                page,
                "<tr{}><td>{} and {}<td>{}<td>{}<td>{}",
                if is_line { " class=\"line\"" } else { "" },
                escaped(&self.name(pair.a)),
                escaped(&self.name(pair.b)),
                escaped(&odds_text(pair.odds)),
                percent(pair.equal),
                percent(pair.expected),
            );
        }
        page += "</table>\n";
        let pieces = Pieces::of_game(self.ruleset).ok();
        for pair in self.shown() {
            let (a, b) = (escaped(&self.name(pair.a)), escaped(&self.name(pair.b)));
            let _ = writeln!(page, "<h2>{a} and {b}</h2>\n<div class=\"all\">");
            for one in self.evidence(pair) {
                let game = self.ruleset.start_from(one.start).ok();
                let drawn = pieces
                    .as_ref()
                    .zip(game)
                    .map(|(pieces, game)| still(pieces, &Shown::of(pieces, &*game), one.start));
                let _ = writeln!(
                    page,
                    "<figure>{}<figcaption><code>{}</code> → <b>{}</b><br>{}</figcaption></figure>",
                    drawn.unwrap_or_default(),
                    escaped(one.start),
                    escaped(one.answer),
                    escaped(&one.words()),
                );
            }
            page += "</div>\n";
        }
        let _ = writeln!(page, "<p class=\"warning\">{note}</p></html>");
        page
    }
}

#[cfg(test)]
mod tests {
    use super::odds_text;

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
