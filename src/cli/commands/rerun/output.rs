//! What became of the games: as a table, or as JSON.

use std::fmt::Write as _;
use std::io;

use serde_json::{Value as Json, json};

use super::asking::Rerun;
use super::result_for;
use crate::analysis::appraisal::Comparison;
use crate::analysis::rerun::{Finding, Mistake, Verdict};
use crate::cli::support::output::Stdout;
use crate::report::terminal::{Palette, aligned};
use crate::solver::Value;
use crate::text::{counted, escape_controls};

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

    fn count(&self, verdict: Verdict) -> u64 {
        self.findings()
            .filter(|finding| finding.verdict == verdict)
            .count() as u64
    }

    pub(super) fn is_wrong(&self) -> bool {
        self.findings().any(|finding| finding.verdict.is_wrong())
    }

    pub(super) fn print(&self, json: bool, palette: &Palette) -> io::Result<()> {
        let text = if json {
            format!("{}\n", self.json())
        } else {
            self.text(palette)
        };
        io::Write::write_all(&mut Stdout, text.as_bytes())
    }

    fn text(&self, palette: &Palette) -> String {
        if self.games.is_empty() {
            return "no games\n".to_owned();
        }
        let heads = ["game", "opponent", "result", "departs", "then", "now", ""];
        let mut rows = vec![heads.map(str::to_owned).to_vec()];
        rows.extend(self.games.iter().map(row));
        let mut out = aligned(&rows, palette, &[1, 2, 4, 5, 6]);
        for game in self.games {
            if let Some(forfeit) = &game.forfeit {
                let turn = game.last_asked().turn;
                let _ = writeln!(
                    out,
                    "Game {}, turn {turn}: it forfeits ({}): {}",
                    game.game.recorded.number, forfeit.reason, forfeit.detail
                );
                for line in forfeit.stderr.lines() {
                    let _ = writeln!(out, "  stderr: {line}");
                }
            }
        }
        if let Some(game) = self.games.iter().find(|game| !game.has_solver) {
            let name = escape_controls(&game.game.recorded.record.game);
            let _ = writeln!(
                out,
                "There is no solver for {name}: its turns are not judged."
            );
        }
        let departs = self.games.iter().filter(|game| game.departure.is_some());
        let mut parts = vec![format!("it departs in {}", departs.count())];
        for (verdict, words) in [
            (Verdict::Gone, "gone"),
            (Verdict::Still, "still there"),
            (Verdict::New, "new"),
            (Verdict::Unproven, "not proven"),
            (Verdict::NotReached, "not reached"),
        ] {
            let count = self.count(verdict);
            if count > 0 || matches!(verdict, Verdict::Gone | Verdict::Still | Verdict::New) {
                parts.push(format!("{count} {words}"));
            }
        }
        let games = counted(self.games.len() as u64, "game", "games");
        let name = escape_controls(self.name);
        out + &format!("{name}, {games}: {}\n", parts.join(", "))
    }

    fn json(&self) -> Json {
        let departs = self.games.iter().filter(|game| game.departure.is_some());
        let forfeits = self.games.iter().filter(|game| game.forfeit.is_some());
        json!({
            "bot": self.name,
            "games": self.games.iter().map(game_json).collect::<Vec<_>>(),
            "departs": departs.count(),
            "forfeits": forfeits.count(),
            "gone": self.count(Verdict::Gone),
            "still_there": self.count(Verdict::Still),
            "new": self.count(Verdict::New),
            "unproven": self.count(Verdict::Unproven),
            "not_reached": self.count(Verdict::NotReached),
            "complete": self.is_complete,
        })
    }
}

impl Rerun<'_> {
    fn last_asked(&self) -> &crate::analysis::rerun::Asked {
        let last = self.asked.len() - 1;
        let index = self
            .departure
            .as_ref()
            .map_or(last, |departed| departed.index);
        &self.asked[index]
    }

    fn verdict(&self) -> String {
        let findings = &self.judgement.findings;
        let mut texts: Vec<String> = findings.iter().map(Finding::text).collect();
        let Some(departure) = &self.departure else {
            if texts.is_empty() {
                return "answers as before".to_owned();
            }
            return texts.join("; ");
        };
        let turn = self.asked[departure.index].turn;
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
        texts.join("; ")
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

fn row(game: &Rerun<'_>) -> Vec<String> {
    let own = game.game;
    let record = &own.recorded.record;
    let mut row = vec![
        own.recorded.number.to_string(),
        own.recorded.name(own.by.other()),
        result_for(record, own.by).to_owned(),
    ];
    match &game.departure {
        None => row.extend(["", "", ""].map(str::to_owned)),
        Some(departure) => {
            let question = &game.asked[departure.index];
            let now = match &game.forfeit {
                Some(forfeit) => forfeit.reason.to_owned(),
                None => valued(departure.now.as_deref(), game.judgement.now),
            };
            row.push(format!("turn {}", question.turn));
            row.push(valued(question.then.as_deref(), game.judgement.then));
            row.push(now);
        }
    }
    row.push(game.verdict());
    row
}

fn game_json(game: &Rerun<'_>) -> Json {
    let own = game.game;
    let record = &own.recorded.record;
    let side = |turn: Option<&str>, found: Option<Comparison>| {
        json!({
            "turn": turn,
            "value": found.and_then(|found| found.turn.value).map(Value::name),
            "in": found.and_then(|found| found.turn.plies),
        })
    };
    let departs = game.departure.as_ref().map(|departure| {
        let question = &game.asked[departure.index];
        let found = game.judgement.now.or(game.judgement.then);
        json!({
            "turn": question.turn,
            "asked": question.request,
            "then": side(question.then.as_deref(), game.judgement.then),
            "now": side(departure.now.as_deref(), game.judgement.now),
            "best": found.and_then(|found| found.best).map(Value::name),
        })
    });
    let forfeits = game.forfeit.as_ref().map(|forfeit| {
        json!({
            "turn": game.last_asked().turn,
            "reason": forfeit.reason,
            "detail": forfeit.detail,
            "stderr": forfeit.stderr,
        })
    });
    json!({
        "game": own.recorded.number,
        "id": record.id,
        "bots": record.bots.each_ref().map(|bot| &bot.name),
        "bot": own.by,
        "result": result_for(record, own.by),
        "turns": game.asked.iter().map(|asked| asked.turn).collect::<Vec<_>>(),
        "departs": departs,
        "forfeits": forfeits,
        "solver": game.has_solver,
        "findings": game.judgement.findings.iter().map(finding_json).collect::<Vec<_>>(),
    })
}

fn finding_json(finding: &Finding) -> Json {
    let (best, value) = match finding.mistake {
        Mistake::Blunder { best, value } => (Some(best.name()), Some(value.name())),
        Mistake::Forfeit => (None, None),
    };
    json!({
        "turn": finding.turn,
        "mistake": finding.mistake.name(),
        "best": best,
        "value": value,
        "verdict": finding.verdict.name(),
    })
}
