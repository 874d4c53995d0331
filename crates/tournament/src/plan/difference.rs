//! How the options of resuming a tournament, and its bots, differ from the plan.

use std::collections::BTreeMap;
use std::fmt;

use serde_json::{Value, json};

use super::{BotPlan, Plan};
use crate::bot_files::{ChangedBot, Settled};

/// Displayed as a clause.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PlanDifference {
    Setting {
        what: &'static str,
        before: String,
        now: String,
    },
    GameProgram,
    Pieces,
    Openings,
    PairsOfGames,
    /// Of all bots.
    TimeLimits,
    BotLeft(String),
    BotJoined(String),
    /// It is known which of its files are others.
    BotFiles(ChangedBot),
    BotHash(String),
    BotCommand {
        name: String,
        before: String,
        now: String,
    },
    BotEnvironment(String),
    BotLimits(String),
    BotOrder,
}

impl fmt::Display for PlanDifference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Setting { what, before, now } => write!(f, "{what} was {before} and is now {now}"),
            Self::GameProgram => f.write_str(
                "the game's program has been changed: it is not the one by which this tournament is played",
            ),
            Self::Pieces => f.write_str("the piece set is another one"),
            Self::Openings => f.write_str("the openings are other ones"),
            Self::PairsOfGames => f.write_str("the pairs of games are others (--pairs)"),
            Self::TimeLimits => f.write_str("the time limits are other ones"),
            Self::BotLeft(name) => write!(f, "{name} does not enter any more"),
            Self::BotJoined(name) => write!(f, "{name} was not there"),
            Self::BotFiles(changed) => f.write_str(&changed.sentence()),
            Self::BotHash(name) => write!(
                f,
                "{name} has been changed: its files are not those with which the tournament began"
            ),
            Self::BotCommand { name, before, now } => {
                write!(f, "{name} was started by {before} and is now by {now}")
            }
            Self::BotEnvironment(name) => write!(f, "{name} has another environment"),
            Self::BotLimits(name) => write!(f, "{name} has other limits on its time"),
            Self::BotOrder => f.write_str("the bots are in another order"),
        }
    }
}

/// For people: how to go on where only files of bots or the program of the game have changed.
pub fn accept_advice(differences: &[PlanDifference]) -> &'static str {
    let is_of_files = |one: &PlanDifference| {
        matches!(
            one,
            PlanDifference::BotFiles(_) | PlanDifference::GameProgram
        )
    };
    if differences == [PlanDifference::GameProgram] {
        "\n--accept-changes goes on with the program as it is now"
    } else if differences.iter().all(is_of_files) {
        "\nfiles that are not part of a bot can be named in the file .refereeignore in its folder; --accept-changes goes on \
         with the files as they are now"
    } else {
        ""
    }
}

/// A line for each, indented.
pub fn listed(differences: &[PlanDifference]) -> String {
    let lines: Vec<String> = differences.iter().map(ToString::to_string).collect();
    lines.join("\n  ")
}

impl Plan {
    /// From the options of resuming it. Rounds follow from the rest and are not compared.
    pub fn differences(&self, now: &Self) -> Vec<PlanDifference> {
        self.differences_with(now, &Settled::default())
    }

    /// Like [`differences`](Self::differences), with what is known of changed files.
    pub fn differences_with(&self, now: &Self, settled: &Settled) -> Vec<PlanDifference> {
        let mut differences = self.changed_settings(now, settled);
        // Rejected bots play no games: changes to them do not matter.
        let mut new: BTreeMap<&str, &BotPlan> = now
            .all_bots()
            .filter(|bot| !self.has_rejected(&bot.name))
            .map(|bot| (bot.name.as_str(), bot))
            .collect();
        for old in &self.bots {
            match new.remove(old.name.as_str()) {
                None => differences.push(PlanDifference::BotLeft(old.name.clone())),
                Some(bot) => {
                    let mut changed = settled.changed.iter();
                    let changed = changed.find(|changed| changed.name == old.name);
                    differences.extend(bot_differences(old, bot, changed));
                }
            }
        }
        let joined = new.into_keys().map(str::to_owned);
        differences.extend(joined.map(PlanDifference::BotJoined));
        let is_in_order = self.bots.iter().map(|bot| &bot.name);
        if differences.is_empty() && is_in_order.ne(now.bots.iter().map(|bot| &bot.name)) {
            differences.push(PlanDifference::BotOrder);
        }
        differences
    }

    /// Those that are not about bots.
    fn changed_settings(&self, now: &Self, settled: &Settled) -> Vec<PlanDifference> {
        let mut differences = Vec::new();
        let same_sandbox = self.sandbox.kind == now.sandbox.kind;
        let both = self.settings(same_sandbox).into_iter();
        for ((what, before), (_, now)) in both.zip(now.settings(same_sandbox)) {
            if before != now {
                let [before, now] = [before, now].map(in_words);
                differences.push(PlanDifference::Setting { what, before, now });
            }
        }
        let file = |plan: &Self| Some(plan.game_program.as_ref()?.hash.clone());
        let is_other = settled.is_other_game || file(self) != file(now);
        if self.game == now.game && is_other {
            differences.push(PlanDifference::GameProgram);
        }
        if self.pieces != now.pieces {
            differences.push(PlanDifference::Pieces);
        }
        if self.openings != now.openings {
            differences.push(PlanDifference::Openings);
        }
        differences
    }

    /// What is compared as it is shown. Another sandbox has other limits.
    fn settings(&self, same_sandbox: bool) -> Vec<(&'static str, Value)> {
        let sandbox = &self.sandbox;
        let mut settings = vec![
            ("the game", json!(self.game)),
            ("the rules", json!(self.rules)),
            ("the seed", json!(self.seed)),
            ("the format", json!(self.format)),
            ("the number of groups", json!(self.groups)),
            ("the number of rounds", json!(self.rounds_planned)),
            ("the number of pairs", json!(self.pairs)),
            ("--tie-break-games", json!(self.tie_break_games)),
            (
                "the number of plies of an opening",
                json!(self.opening_plies),
            ),
            ("--restart", json!(self.restart)),
            ("--bench-after", json!(self.bench_after)),
            ("--adjudicate", json!(self.adjudicate)),
            ("--sprt", json!(self.sprt)),
            ("--tie-break", json!(self.tie_breaks)),
            ("the sandbox", json!(sandbox.kind)),
        ];
        if same_sandbox {
            settings.extend([
                ("the sandbox", json!(sandbox.layers)),
                ("--memory", json!(sandbox.memory)),
                ("--processes", json!(sandbox.processes)),
                ("the open files of a process", json!(sandbox.open_files)),
                ("--scratch", json!(sandbox.scratch)),
                ("--expose", json!(sandbox.expose)),
                ("--env", json!(sandbox.env)),
                ("--freeze", json!(sandbox.freeze)),
            ]);
        }
        settings
    }
}

fn in_words(value: Value) -> String {
    match value {
        Value::String(text) => text,
        Value::Null => "none".to_owned(),
        Value::Array(values) if values.is_empty() => "none".to_owned(),
        Value::Array(values) => {
            let values: Vec<String> = values.into_iter().map(in_words).collect();
            values.join(", ")
        }
        value => value.to_string(),
    }
}

fn bot_differences(
    old: &BotPlan,
    new: &BotPlan,
    changed: Option<&ChangedBot>,
) -> Vec<PlanDifference> {
    let name = &old.name;
    let mut differences = Vec::new();
    if let Some(changed) = changed {
        differences.push(PlanDifference::BotFiles(changed.clone()));
    } else if old.hash != new.hash {
        differences.push(PlanDifference::BotHash(name.clone()));
    }
    if (&old.bot, &old.directory) != (&new.bot, &new.directory) {
        differences.push(PlanDifference::BotCommand {
            name: name.clone(),
            before: old.bot.clone(),
            now: new.bot.clone(),
        });
    }
    if old.environment != new.environment {
        differences.push(PlanDifference::BotEnvironment(name.clone()));
    }
    if old.limits != new.limits {
        differences.push(PlanDifference::BotLimits(name.clone()));
    }
    differences
}
