//! Differences between a tournament's plan and the options of resuming it.

use std::collections::BTreeMap;

use serde::Serialize;
use serde_json::Value;

use super::{BotPlan, Plan, SandboxPlan};

impl Plan {
    /// A sentence each. Rounds follow from the rest and are not compared.
    pub fn differences(&self, now: &Self) -> Vec<String> {
        let mut differences = Vec::new();
        let mut differ =
            |what: &str, before: &dyn std::fmt::Display, after: &dyn std::fmt::Display| {
                differences.push(format!("{what} was {before} and is now {after}"));
            };
        macro_rules! compare {
            ($($field:ident as $what:literal),* $(,)?) => {
                $(if self.$field != now.$field {
                    differ($what, &shown(&self.$field), &shown(&now.$field));
                })*
            };
        }
        compare!(
            game as "the game",
            rules as "the rules",
            seed as "the seed",
            format as "the format",
            groups as "the number of groups",
            rounds_planned as "the number of rounds",
            pairs as "the number of pairs",
            opening_plies as "the number of plies of an opening",
            restart as "--restart",
            bench_after as "--bench-after",
            adjudicate as "--adjudicate",
            sprt as "--sprt",
            tie_breaks as "--tie-break",
        );
        if !self.sandbox.is_like(&now.sandbox) {
            differences.push(self.sandbox.difference(&now.sandbox));
        }
        let file = |plan: &Self| {
            plan.game_program
                .as_ref()
                .map(|program| program.hash.clone())
        };
        if self.game == now.game && file(self) != file(now) {
            differences.push(
                "the game's program has been changed: it is not the one with which the tournament began".to_owned(),
            );
        }
        if self.pieces != now.pieces {
            differences.push("the piece set is another one".to_owned());
        }
        if self.openings != now.openings {
            differences.push("the openings are other ones".to_owned());
        }
        // Rejected bots play no games: changes to them do not matter.
        let absent = |bot: &BotPlan| {
            let mut rejected = self.rejected.iter();
            rejected.any(|rejected| rejected.bot.name == bot.name)
        };
        let mut new: BTreeMap<&str, &BotPlan> = now
            .all_bots()
            .filter(|bot| !absent(bot))
            .map(|bot| (bot.name.as_str(), bot))
            .collect();
        for old in &self.bots {
            match new.remove(old.name.as_str()) {
                None => differences.push(format!("{} does not enter any more", old.name)),
                Some(bot) => bot_differences(old, bot, &mut differences),
            }
        }
        differences.extend(new.keys().map(|name| format!("{name} was not there")));
        if differences.is_empty() && !self.names().eq(now.names()) {
            differences.push("the bots are in another order".to_owned());
        }
        differences
    }

    /// New or changed bots of the plan `now`, without those rejected by this one.
    pub fn late<'a>(&'a self, now: &'a Self) -> impl Iterator<Item = &'a BotPlan> {
        let is_as_it_was = |bot: &BotPlan| {
            let same = |known: &&BotPlan| known.name == bot.name;
            let known = self.bots.iter().find(same);
            let absent = self
                .rejected
                .iter()
                .any(|rejected| rejected.bot.name == bot.name);
            absent || known.is_some_and(|known| known.hash == bot.hash)
        };
        now.bots.iter().filter(move |bot| !is_as_it_was(bot))
    }

    fn names(&self) -> impl Iterator<Item = &str> {
        self.bots.iter().map(|bot| bot.name.as_str())
    }
}

impl SandboxPlan {
    fn is_like(&self, now: &Self) -> bool {
        let bare = |plan: &Self| Self {
            memory_by: None,
            ..plan.clone()
        };
        bare(self) == bare(now)
    }

    fn difference(&self, now: &Self) -> String {
        if self.kind == now.kind && self.env != now.env {
            let shown = |env: &[String]| match env {
                [] => "none".to_owned(),
                env => env.join(", "),
            };
            format!(
                "--env was {} and is now {}",
                shown(&self.env),
                shown(&now.env)
            )
        } else if self.kind == now.kind {
            format!("the limits of the sandbox ({}) are other ones", self.kind)
        } else {
            format!("the sandbox was {} and is now {}", self.kind, now.kind)
        }
    }
}

/// In a sentence.
fn shown(value: &impl Serialize) -> String {
    match serde_json::to_value(value) {
        Ok(Value::String(text)) => text,
        Ok(Value::Null) | Err(_) => "none".to_owned(),
        Ok(value) => value.to_string(),
    }
}

fn bot_differences(old: &BotPlan, new: &BotPlan, differences: &mut Vec<String>) {
    let name = &old.name;
    if old.hash != new.hash {
        differences.push(format!(
            "{name} has been changed: its files are not those with which the tournament began"
        ));
    }
    if (&old.bot, &old.directory) != (&new.bot, &new.directory) {
        differences.push(format!(
            "{name} was started by {} and is now by {}",
            old.bot, new.bot
        ));
    }
    if old.environment != new.environment {
        differences.push(format!("{name} has another environment"));
    }
    if old.limits != new.limits {
        differences.push(format!("{name} has other limits on its time"));
    }
}
