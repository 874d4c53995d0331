//! Which bots decide alike: a table, evidence for each pair, JSON and a page. For teachers only.

use std::cmp::Reverse;
use std::fmt::Write as _;

use serde::Serialize;
use serde_json::{Value, json};

use super::picture::{Pieces, Shown, still};
use super::{escaped, integer};
use crate::alike::Answers;
use crate::alike::questions::Position;
use crate::game::Game;
use crate::text::{counted, escape_controls, grouped};
use crate::tournament::alike::{LINE, Pair, ROUNDS};

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
pre{background:var(--card);padding:1rem;overflow:auto}.all{display:flex;flex-wrap:wrap;gap:1rem}\
.warning{background:var(--blame-paper);border-left:4px solid var(--blame);padding:.6rem 1rem}\
figure{margin:0;width:15rem}svg{width:100%;height:auto}";

#[derive(Debug)]
pub struct Report<'a> {
    pub ruleset: &'a dyn Game,
    pub positions: &'a [Position],
    /// Of the bots, then of starter code.
    pub answers: &'a [Answers],
    /// Of the bots.
    pub names: &'a [String],
    /// The most striking first.
    pub pairs: &'a [Pair],
    pub seed: u32,
}

/// A question to which both gave the same answer, in the same round or in different ones.
#[derive(Serialize)]
struct Evidence<'a> {
    question: &'a str,
    answer: &'a str,
    same_round: bool,
    /// How many of the other bots gave it in some round.
    others: usize,
    /// How many others answered.
    of: usize,
    right: bool,
    right_turns: usize,
    turns: usize,
}

impl Evidence<'_> {
    fn words(&self) -> String {
        let worth = match (self.right, self.right_turns) {
            (true, 1) => "the only right turn".to_owned(),
            (true, right) => format!("one of {right} equally good turns"),
            (false, right) => format!("wrong, {right} of {} turns are right", self.turns),
        };
        let sides = ["; seen from different sides", ""][usize::from(self.same_round)];
        let [question, answer] = [self.question, self.answer].map(escape_controls);
        let (others, of) = (self.others, self.of);
        format!("{question} → {answer}: {others} of {of} others chose it; {worth}{sides}")
    }
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

impl<'a> Report<'a> {
    fn name(&self, bot: usize) -> String {
        escape_controls(&self.names[bot])
    }

    fn both(&self, pair: &Pair) -> String {
        format!("{} and {}", self.name(pair.a), self.name(pair.b))
    }

    /// Those that stand out, or the first ones, with their evidence.
    fn shown(&self) -> impl Iterator<Item = (&Pair, Vec<Evidence<'a>>)> {
        let shown = self.pairs.iter().enumerate();
        let shown = shown.filter(|(number, pair)| *number < LEAST || pair.stands_out());
        shown.map(|(_, pair)| (pair, self.evidence(pair)))
    }

    /// What the fewest others chose, without what starter code answers.
    fn evidence(&self, pair: &Pair) -> Vec<Evidence<'a>> {
        let mut found: Vec<Evidence<'a>> = Vec::new();
        for (number, position) in self.positions.iter().enumerate() {
            let of = |bot: usize| self.answers[bot].choices[number];
            let (a, b) = (of(pair.a), of(pair.b));
            let others = || (0..self.names.len()).filter(|bot| *bot != pair.a && *bot != pair.b);
            let answered = others().filter(|bot| of(*bot).iter().any(Option::is_some));
            let answered = answered.count();
            let shared = (0..ROUNDS).filter_map(|round| {
                let choice = a[round].filter(|_| b.contains(&a[round]))?;
                let gave = |bot: &usize| of(*bot).contains(&a[round]);
                let mut starters = self.names.len()..self.answers.len();
                (!starters.any(|starter| gave(&starter))).then(|| Evidence {
                    question: &position.starts[round],
                    answer: &position.turns[round][choice],
                    same_round: a[round] == b[round],
                    others: others().filter(gave).count(),
                    of: answered,
                    right: position.best[choice],
                    right_turns: position.right(),
                    turns: position.best.len(),
                })
            });
            found.extend(shared.min_by_key(|one| (one.others, !one.same_round)));
        }
        found.sort_by_key(|one| (one.others, one.right, Reverse(one.turns)));
        found.truncate(SHOWN);
        found
    }

    fn table(&self) -> String {
        let bots = counted(self.names.len() as u64, "bot", "bots");
        let questions = counted(self.positions.len() as u64, "position", "positions");
        let seed = self.seed;
        let mut text =
            format!("{bots} were asked {questions}, each in {ROUNDS} rounds (seed {seed}).\n");
        let slow = (0..self.names.len()).filter(|bot| !self.answers[*bot].is_complete);
        let slow: Vec<String> = slow.map(|bot| self.name(bot)).collect();
        if !slow.is_empty() {
            let slow = slow.join(", ");
            let _ = writeln!(text, "Slow, and asked less: {slow}; --time gives more.");
        }
        let above = self.pairs.iter().filter(|pair| pair.stands_out()).count();
        let what = match above as u64 {
            0 => "No pair stands out".to_owned(),
            count => counted(count, "pair stands out", "pairs stand out"),
        };
        let line = odds_text(LINE);
        let _ = writeln!(text, "{what}: odds of {line} or more.\n");
        text += "        odds  equal  expected  bots\n";
        for (number, (pair, _)) in self.shown().enumerate() {
            if number == above && number > 0 {
                text += "  --- these do not stand out:\n";
            }
            let (odds, names) = (odds_text(pair.odds), self.both(pair));
            let [equal, expected] = [pair.equal, pair.expected].map(percent);
            let _ = writeln!(text, "{odds:>12}  {equal:>5}  {expected:>8}  {names}");
        }
        text + "odds: one in so many pairs of independent bots is so much alike; expected: the share of equal\n\
                answers of independent bots that play like these\n"
    }

    pub fn text(&self) -> String {
        let mut text = self.table();
        for (pair, evidence) in self.shown() {
            let _ = writeln!(text, "\n{} answer alike:", self.both(pair));
            for one in evidence {
                let _ = writeln!(text, "  {}", one.words());
            }
        }
        format!("{text}\n{NO_VERDICT}\n")
    }

    pub fn json(&self) -> Value {
        let pairs = self.pairs.iter().map(|pair| {
            json!({
                "a": self.names[pair.a],
                "b": self.names[pair.b],
                "answers": pair.answers,
                "equal": pair.equal,
                "expected": pair.expected,
                "odds": pair.odds,
                "stands_out": pair.stands_out(),
            })
        });
        let mut pairs: Vec<Value> = pairs.collect();
        for (pair, (_, evidence)) in pairs.iter_mut().zip(self.shown()) {
            pair["evidence"] = json!(evidence);
        }
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
            "pairs": pairs,
        })
    }

    /// One file without scripts.
    pub fn html(&self) -> String {
        let light = include_str!("html/assets/light.css");
        let note = format!("<p class=\"warning\">{}</p>", escaped(NO_VERDICT));
        let mut page = format!(
            "<!doctype html>\n<html lang=\"en\"><meta charset=\"utf-8\"><meta name=\"viewport\" \
             content=\"width=device-width\"><title>Bots that decide alike</title><style>{light}{STYLE}</style>\n\
             <h1>Bots that decide alike</h1>\n{note}\n<pre>{}</pre>\n",
            escaped(&self.table()),
        );
        let pieces = Pieces::of_game(self.ruleset).ok();
        for (pair, evidence) in self.shown() {
            let both = escaped(&self.both(pair));
            let _ = writeln!(page, "<h2>{both}</h2>\n<div class=\"all\">");
            for one in evidence {
                let game = self.ruleset.start_from(one.question).ok();
                let drawn = pieces.as_ref().zip(game);
                let drawn =
                    drawn.map(|(pieces, game)| still(pieces, &Shown::of(pieces, &*game), ""));
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
