//! What a teacher decides between two updates: who plays no more, and which game is played again.

use std::path::{Path, PathBuf};

use super::final_tournament::no_league;
use crate::bot::shell;
use crate::cli::support::folder::Records;
use crate::cli::support::prelude::*;
use crate::league::archive;
use crate::league::intake::people;
use crate::league::season::LeagueDirectory;
use crate::league::state::League;
use crate::record::Record;

#[derive(Debug, clap::Args)]
pub(crate) struct Decision {
    /// The folder of the league
    #[arg(value_name = "DIR")]
    folder: PathBuf,

    /// The bot, as in the table, or its student; or the game's id, such as p12345678001a
    #[arg(value_name = "NAME|GAME")]
    of: String,

    /// The reason, for the league's log and tables
    #[arg(long, value_name = "TEXT", default_value = "by the teacher")]
    why: String,
}

fn open(folder: &Path) -> Result<(LeagueDirectory, League), Failure> {
    let league = League::read(folder)?.ok_or_else(|| no_league(folder))?;
    Ok((LeagueDirectory::open(folder)?, league))
}

/// The next update follows the decision.
fn done(folder: &Path, what: &str) {
    let folder = shell::quoted(&folder.to_string_lossy()).into_owned();
    note!("{what}; now: referee league {folder}");
}

/// Withdraws a bot, or brings it back.
pub(super) fn decide(args: &Decision, withdraws: bool) -> Result<(), Failure> {
    let (directory, mut league) = open(&args.folder)?;
    let given = &args.of;
    let found = if league.members.contains_key(given) {
        Some(given.clone())
    } else {
        people::bot_of(&league.people, given, None)
    };
    let known = found.and_then(|name| league.members.get_mut(&name).map(|member| (name, member)));
    let Some((name, member)) = known else {
        bail!("{given}: there is no such bot in this league");
    };
    member.withdrawn = withdraws.then(|| args.why.clone());
    let action = if withdraws { "withdrawn" } else { "restored" };
    league.note(action, &name, &args.why);
    league.write(directory.path())?;
    done(&args.folder, &format!("{name} is {action}"));
    Ok(())
}

/// The game's record no longer counts, and is kept in the archive.
pub(super) fn replay_game(args: &Decision) -> Result<(), Failure> {
    let (directory, mut league) = open(&args.folder)?;
    let tournament = directory.tournament();
    let games = tournament.journal_file();
    let Some(mut plan) = tournament.plan()? else {
        return Err(no_league(&args.folder));
    };
    let record = find(&games, &args.of)?;
    let [a, b] = record.bots.each_ref().map(|bot| bot.name.clone());
    archive::make_void(directory.path(), record, &args.why)?;
    league.note(
        "played again",
        &format!("{} ({a} and {b})", args.of),
        &args.why,
    );
    league.write(directory.path())?;
    let old = plan.clone();
    directory.change(&league, Some(&old), &mut plan)?;
    done(
        &args.folder,
        &format!("game {} of {a} and {b} is to be played again", args.of),
    );
    Ok(())
}

fn find(games: &Path, id: &str) -> Result<Record, Failure> {
    for record in Records::open(games)? {
        let (_, record) = record?;
        if record.id == id && record.was_played() {
            return Ok(record);
        }
    }
    Err(usage!(
        "{id}: no game of the league's table has this id; the page and games.jsonl show the ids"
    ))
}
