//! Which versions of a league play, and which wait to be checked.

use std::collections::BTreeMap;

use jiff::Timestamp;

use super::state::{Bot, BotVersion, League, Status, VersionKey};

/// By the bot's label.
pub type Lineup = BTreeMap<String, VersionKey>;

impl League {
    /// The versions that play: while a new one is not checked, the one before.
    pub fn playing(&self) -> Lineup {
        self.lineup(Bot::fit)
    }

    /// The versions that are to play, and of which it is not known whether they can.
    pub fn unchecked(&self) -> Lineup {
        self.lineup(unchecked)
    }

    /// [`Self::unchecked`], with the label of the bot, in the order in which they came.
    pub fn queue(&self) -> Vec<(String, VersionKey)> {
        let until = self.accepted_until();
        let bots = self.bots().into_iter();
        let mut queue: Vec<_> = bots
            .filter_map(|bot| {
                let version = unchecked(&bot, until)?;
                Some((version.received, bot.label, version.key()))
            })
            .collect();
        queue.sort_by_key(|(received, ..)| *received);
        let in_order = queue.into_iter();
        in_order.map(|(_, label, key)| (label, key)).collect()
    }

    fn lineup<'a>(
        &'a self,
        of: impl Fn(&Bot<'a>, Option<Timestamp>) -> Option<BotVersion<'a>>,
    ) -> Lineup {
        let until = self.accepted_until();
        let versions = self.bots().into_iter();
        let versions = versions.filter_map(|bot| {
            let version = of(&bot, until)?.key();
            Some((bot.label, version))
        });
        versions.collect()
    }
}

fn unchecked<'a>(bot: &Bot<'a>, until: Option<Timestamp>) -> Option<BotVersion<'a>> {
    let version = bot.playing(until)?;
    (*version.status == Status::New).then_some(version)
}
