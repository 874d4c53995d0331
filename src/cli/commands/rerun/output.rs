//! What became of the games: as a table, or as JSON.

use std::fmt::Write as _;

use serde_json::{Value as Json, json};

use super::Rerun;
use crate::analysis::appraisal::Comparison;
use crate::analysis::rerun::{Finding, Verdict};
use crate::bot::info::{Info, as_text};
use crate::cli::support::prelude::*;
use crate::cli::support::recorded::{fault_json, fault_lines};
use crate::play::examiner::Question;
use crate::report::terminal::{Palette, aligned};
use crate::solver::Value;

pub(super) struct Report<'a> {
    pub(super) name: &'a str,
    pub(super) games: &'a [Rerun<'a>],
    /// All games were asked.
    pub(super) is_complete: bool,
}

impl Report<'_> {
    fn findings(&self) -> impl Iterator<Item = &Finding> {
        self.games.iter().flat_map(|game| &game.judgement.findings)
    }

    fn count(&self, verdict: Verdict) -> usize {
        let found = self.findings();
        found.filter(|found| found.verdict == verdict).count()
    }

    fn departures(&self) -> usize {
        let games = self.games.iter();
        games.filter(|game| game.departure.is_some()).count()
    }

    pub(super) fn is_wrong(&self) -> bool {
        self.findings().any(|finding| finding.verdict.is_wrong())
    }

    pub(super) fn print(&self, json: bool, palette: &Palette) -> Result<(), Failure> {
        if json {
            writeln!(Stdout, "{}", self.json()?)?;
        } else {
            Stdout.write_all(self.text(palette).as_bytes())?;
        }
        Ok(())
    }

    fn text(&self, palette: &Palette) -> String {
        if self.games.is_empty() {
            return "no games\n".to_owned();
        }
        let heads = ["game", "opponent", "result", "departs", "then", "now", ""];
        let mut rows = vec![heads.map(str::to_owned).to_vec()];
        rows.extend(self.games.iter().map(Rerun::row));
        let mut out = aligned(&rows, palette, &[1, 2, 4, 5, 6]);
        for game in self.games {
            if let Some(turn) = game.departs_at() {
                let number = game.game.recorded.number;
                for (label, info) in [("then", game.info_then()), ("now", Some(&game.info))] {
                    if let Some(info) = info.filter(|info| !info.is_empty()) {
                        // A record may come from elsewhere.
                        let said = escape_controls(&as_text(info));
                        let _ = writeln!(out, "Game {number}, turn {turn}, {label}: {said}");
                    }
                }
            }
            if let (Some(fault), Some(last)) = (&game.forfeit, game.last_asked()) {
                let number = game.game.recorded.number;
                let fault = fault_lines(fault, usize::MAX);
                let _ = writeln!(out, "Game {number}, turn {}: {fault}", last.turn);
            }
        }
        if let Some(game) = self.games.iter().find(|game| !game.has_solver) {
            let name = escape_controls(&game.game.recorded.record.game);
            let _ = writeln!(
                out,
                "There is no solver for {name}: its turns are not judged."
            );
        }
        let mut parts = vec![format!("it departs in {}", self.departures())];
        for (verdict, words) in [
            (Verdict::Gone, "gone"),
            (Verdict::StillThere, "still there"),
            (Verdict::New, "new"),
            (Verdict::Unproven, "not proven"),
            (Verdict::NotReached, "not reached"),
        ] {
            let count = self.count(verdict);
            if count > 0 || !matches!(verdict, Verdict::Unproven | Verdict::NotReached) {
                parts.push(format!("{count} {words}"));
            }
        }
        let games = counted(self.games.len() as u64, "game", "games");
        let name = escape_controls(self.name);
        out + &format!("{name}, {games}: {}\n", parts.join(", "))
    }

    fn json(&self) -> Result<Json, Failure> {
        let forfeits = self.games.iter().filter(|game| game.forfeit.is_some());
        let games: Result<Vec<_>, String> = self.games.iter().map(Rerun::json).collect();
        Ok(json!({
            "bot": self.name,
            "games": games.map_err(Failure::Referee)?,
            "departs": self.departures(),
            "forfeits": forfeits.count(),
            "gone": self.count(Verdict::Gone),
            "still_there": self.count(Verdict::StillThere),
            "new": self.count(Verdict::New),
            "unproven": self.count(Verdict::Unproven),
            "not_reached": self.count(Verdict::NotReached),
            "complete": self.is_complete,
        }))
    }
}

impl Rerun<'_> {
    fn last_asked(&self) -> Option<&Question> {
        match &self.departure {
            Some(departure) => self.questions.get(departure.index),
            None => self.questions.last(),
        }
    }

    fn departs_at(&self) -> Option<usize> {
        Some(self.questions[self.departure.as_ref()?.index].turn)
    }

    /// What it said of its thinking in the game, where it departs now.
    fn info_then(&self) -> Option<&Info> {
        let turn = self.departs_at()?;
        let mut said = self.game.recorded.record.info.iter();
        Some(&said.find(|said| said.turn == turn)?.values)
    }

    fn verdict(&self) -> String {
        let findings = &self.judgement.findings;
        let mut texts: Vec<String> = findings.iter().map(Finding::text).collect();
        if let Some(departure) = &self.departure {
            let turn = self.questions[departure.index].turn;
            if departure.now.is_some() && findings.iter().all(|finding| finding.turn != turn) {
                let now = self.judgement.now;
                let text = match now.and_then(|now| now.best.zip(now.turn.value)) {
                    _ if !self.has_solver => "another turn".to_owned(),
                    None => "the new turn is not proven".to_owned(),
                    Some((Value::Loss, _)) => "every turn loses".to_owned(),
                    Some((best, _)) => format!("the new turn keeps the {}", best.name()),
                };
                let before = findings.iter().filter(|finding| finding.turn < turn);
                texts.insert(before.count(), text);
            }
        } else if texts.is_empty() {
            return "answers as before".to_owned();
        }
        texts.join("; ")
    }

    fn row(&self) -> Vec<String> {
        let (recorded, judged) = (&self.game.recorded, &self.judgement);
        let mut row = vec![
            recorded.number.to_string(),
            recorded.name(self.game.by.other()),
            self.game.result().to_owned(),
        ];
        row.extend(match &self.departure {
            None => ["", "", ""].map(str::to_owned),
            Some(departure) => {
                let question = &self.questions[departure.index];
                let now = match &self.forfeit {
                    Some(fault) => fault.fault.reason().to_string(),
                    None => valued(departure.now.as_deref(), judged.now),
                };
                let then = valued(question.answered.as_deref(), judged.then);
                [format!("turn {}", question.turn), then, now]
            }
        });
        row.push(self.verdict());
        row
    }

    fn json(&self) -> Result<Json, String> {
        let (recorded, judged) = (&self.game.recorded, &self.judgement);
        let side = |turn: Option<&str>, found: Option<Comparison>, info: Option<&Info>| {
            let mut side = json!({
                "turn": turn,
                "value": found.and_then(|found| found.turn.value).map(Value::name),
                "in": found.and_then(|found| found.turn.plies),
            });
            if let Some(info) = info.filter(|info| !info.is_empty()) {
                side["info"] = json!(info);
            }
            side
        };
        let departs = self.departure.as_ref().map(|departure| {
            let question = &self.questions[departure.index];
            let found = judged.now.or(judged.then);
            Ok::<_, String>(json!({
                "turn": question.turn,
                "asked": question.line.request(&*recorded.ruleset)?,
                "then": side(question.answered.as_deref(), judged.then, self.info_then()),
                "now": side(departure.now.as_deref(), judged.now, Some(&self.info)),
                "best": found.and_then(|found| found.best).map(Value::name),
            }))
        });
        let forfeits = self.forfeit.as_ref().map(|fault| {
            let mut json = json!({ "turn": self.last_asked().map(|last| last.turn) });
            if let (Json::Object(fields), Json::Object(more)) = (&mut json, fault_json(fault)) {
                fields.extend(more);
            }
            json
        });
        let finding = |finding: &Finding| {
            json!({
                "turn": finding.turn,
                "mistake": finding.name(),
                "best": finding.mistake.map(|(best, _)| best.name()),
                "value": finding.mistake.map(|(_, value)| value.name()),
                "verdict": finding.verdict,
                "directly": finding.directly,
            })
        };
        Ok(json!({
            "game": recorded.number,
            "id": recorded.record.id,
            "bots": recorded.record.bots.each_ref().map(|bot| &bot.name),
            "bot": self.game.by,
            "result": self.game.result(),
            "turns": self.questions.iter().map(|asked| asked.turn).collect::<Vec<_>>(),
            "departs": departs.transpose()?,
            "forfeits": forfeits,
            "solver": self.has_solver,
            "findings": judged.findings.iter().map(finding).collect::<Vec<_>>(),
        }))
    }
}

/// A turn with its value: `5 G (loss)`.
fn valued(turn: Option<&str>, comparison: Option<Comparison>) -> String {
    let Some(turn) = turn else {
        return "forfeit".to_owned();
    };
    let turn = escape_controls(turn);
    match comparison.and_then(|found| found.turn.value) {
        Some(value) => format!("{turn} ({})", value.name()),
        None => turn,
    }
}
