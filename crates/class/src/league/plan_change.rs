//! How the plan of a league follows its versions: what may change, what is reused, and which places bots had before.

use std::fs;

use super::error::LeagueError;
use super::season::LeagueDirectory;
use super::state::{Bot, League};
use referee_report::tournament_summary::tables;
use referee_tournament::analysing::add_analysis;
use referee_tournament::bot_files::{KnownFiles, Settled};
use referee_tournament::directory::TournamentDirectory;
use referee_tournament::plan::Plan;
use referee_tournament::plan::difference::PlanDifference;

/// Said, and logged, of a program of the game that is accepted in place of another one.
pub const GAME_ACCEPTED: &str = "accepted: the games from now on are by its program as it is now";

/// A plan that counts.
#[derive(Clone, Debug, PartialEq)]
pub struct Adopted {
    pub plan: Plan,
    /// Games that it has from the archive; `None` if the plan before has the same games.
    pub reused: Option<usize>,
}

impl LeagueDirectory {
    /// Refuses a plan whose games could not be compared with those of `old`, but for the program of the game, where
    /// another one is accepted. Returns whether one was.
    pub fn settle_game(
        &self,
        league: &mut League,
        old: &Plan,
        plan: &mut Plan,
        accept: bool,
    ) -> Result<bool, LeagueError> {
        let tournament = self.tournament();
        let mut known = KnownFiles::read(&tournament)?;
        let mut settled = Settled::default();
        known.settle_game(old, plan, accept, &mut settled);
        let changed = changed_settings(old, plan, &settled);
        if !changed.is_empty() {
            return Err(LeagueError::Incomparable {
                path: self.path().to_owned(),
                changed,
            });
        }
        if settled.has_accepted {
            league.note("changed", "the game", GAME_ACCEPTED);
            league.write(self.path())?;
            known.write(&tournament)?;
        }
        Ok(settled.has_accepted)
    }

    /// Has `plan` count in place of `old`, with the games of it that are in the archive. A plan of the same games is not
    /// changed.
    pub fn adopt(
        &self,
        league: &League,
        old: Option<&Plan>,
        mut plan: Plan,
    ) -> Result<Adopted, LeagueError> {
        if let Some(old) = old {
            if is_same(old, &plan) {
                let plan = self.keep(league, old, plan)?;
                return Ok(Adopted { plan, reused: None });
            }
            self.note_places(league, old, &mut plan)?;
        }
        let reused = Some(self.change(old, &mut plan)?);
        Ok(Adopted { plan, reused })
    }

    /// The old plan, with places of its tables.
    fn keep(&self, league: &League, old: &Plan, new: Plan) -> Result<Plan, LeagueError> {
        let tournament = self.tournament();
        let mut same = old.clone();
        if are_written(&tournament, old)? {
            self.note_places(league, old, &mut same)?;
        }
        if same != *old {
            tournament.write_plan(&mut same)?;
        }
        // That another program plays is not written.
        if let (Some(same), Some(now)) = (&mut same.game_program, new.game_program) {
            same.changed = now.changed;
        }
        Ok(same)
    }

    /// Notes in `new` the places of the last table: those of `old`, if all its games are played.
    pub fn note_places(
        &self,
        league: &League,
        old: &Plan,
        new: &mut Plan,
    ) -> Result<(), LeagueError> {
        let journal = self.tournament().journal_file();
        let results = TournamentDirectory::read_journal(&journal, old)?;
        let ranking = results.ranking(old);
        let mut places = ranking.before.clone();
        if results.is_done(old) {
            let standings = results.collector.standings(&ranking)?;
            let ranks = standings.places.into_iter();
            places = ranks.map(|place| (place.name, place.rank)).collect();
        }
        for bot in &mut new.bots {
            // Names change.
            let now = league.bot(&bot.name);
            let folders: Vec<&str> = now.iter().flat_map(Bot::folders).collect();
            let before = old.bots.iter().filter(|old| folders.contains(&&*old.slug));
            let before = before.filter_map(|old| places.get(&old.name));
            bot.place_before = before.min().copied();
        }
        Ok(())
    }
}

fn is_same(old: &Plan, new: &Plan) -> bool {
    let mut bots = old.bots.iter().zip(&new.bots);
    let mut absent = old.rejected.iter().zip(&new.rejected);
    old.pairs == new.pairs
        && old.pairs_so_far() == new.pairs_so_far()
        && (old.bots.len(), old.rejected.len()) == (new.bots.len(), new.rejected.len())
        && bots.all(|(a, b)| (&a.name, &a.version) == (&b.name, &b.version))
        && absent.all(|(a, b)| (&a.bot.name, &a.absence) == (&b.bot.name, &b.absence))
}

/// `settled`: what is known of the program of the game.
fn changed_settings(old: &Plan, new: &Plan, settled: &Settled) -> Vec<PlanDifference> {
    let mut same_bots = new.clone();
    same_bots.bots.clone_from(&old.bots);
    same_bots.rejected.clone_from(&old.rejected);
    same_bots.pairs = old.pairs;
    same_bots.openings.clone_from(&old.openings);
    let mut changed = old.differences_with(&same_bots, settled);
    let limits = |plan: &Plan| plan.bots.first().map(|bot| bot.limits);
    if let (Some(before), Some(now)) = (limits(old), limits(new))
        && before != now
    {
        changed.push(PlanDifference::TimeLimits);
    }
    changed
}

/// Whether the tables in the folder are those of its games: a referee that was killed before has shown others.
fn are_written(directory: &TournamentDirectory, plan: &Plan) -> Result<bool, LeagueError> {
    let mut results = TournamentDirectory::read_journal(&directory.journal_file(), plan)?;
    if add_analysis(&mut results, directory).is_err() {
        return Ok(false);
    }
    let is_written = |(name, text): &(&str, String)| {
        let found = fs::read(directory.path().join(name));
        found.is_ok_and(|found| found == text.as_bytes())
    };
    Ok(tables(plan, &results)?.iter().all(is_written))
}
