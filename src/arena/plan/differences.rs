//! Differences between a tournament's plan and the options of resuming it.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::{BotPlan, Plan};

impl Plan {
    /// A sentence each. Rounds follow from the rest and are not compared.
    pub fn differences(&self, now: &Self) -> Vec<String> {
        let mut differences = Vec::new();
        let same_sandbox = self.sandbox.kind == now.sandbox.kind;
        let both = self.settings(same_sandbox).into_iter();
        for ((what, before), (_, after)) in both.zip(now.settings(same_sandbox)) {
            if before != after {
                let [before, after] = [before, after].map(shown);
                differences.push(format!("{what} was {before} and is now {after}"));
            }
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
        let mut new: BTreeMap<&str, &BotPlan> = now
            .all_bots()
            .filter(|bot| !self.has_rejected(&bot.name))
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
            self.has_rejected(&bot.name) || known.is_some_and(|known| known.hash == bot.hash)
        };
        now.bots.iter().filter(move |bot| !is_as_it_was(bot))
    }

    fn names(&self) -> impl Iterator<Item = &str> {
        self.bots.iter().map(|bot| bot.name.as_str())
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

fn shown(value: Value) -> String {
    match value {
        Value::String(text) => text,
        Value::Null => "none".to_owned(),
        Value::Array(values) if values.is_empty() => "none".to_owned(),
        Value::Array(values) => {
            let values: Vec<String> = values.into_iter().map(shown).collect();
            values.join(", ")
        }
        value => value.to_string(),
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
