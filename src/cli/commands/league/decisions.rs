//! What a teacher decides between two updates: who plays no more, and which game is played again.

use std::path::{Path, PathBuf};

use crate::arena::TournamentError;
use crate::bot::shell;
use crate::cli::support::failure::Failure;
use crate::cli::support::output::print_stderr;
use crate::cli::support::setup::unreadable;
use crate::league::archive;
use crate::league::intake::people;
use crate::league::season::LeagueDirectory;
use crate::league::state::League;
use crate::record::Record;
use crate::record::reader::Reader;
use crate::text::meant;

#[derive(Debug, clap::Args)]
pub(in crate::cli) struct BotArgs {
    /// The folder of the league
    #[arg(value_name = "DIR")]
    pub(super) folder: PathBuf,

    /// The bot, as in the table; or its student
    #[arg(value_name = "NAME")]
    name: String,

    /// The reason, for the league's log and tables
    #[arg(
        long,
        value_name = "TEXT",
        default_value = "",
        hide_default_value = true
    )]
    why: String,
}

#[derive(Debug, clap::Args)]
pub(in crate::cli) struct GameArgs {
    /// The folder of the league
    #[arg(value_name = "DIR")]
    pub(super) folder: PathBuf,

    /// The game's id, such as p12345678001a
    #[arg(value_name = "GAME")]
    id: String,

    /// The reason, for the league's log and tables
    #[arg(
        long,
        value_name = "TEXT",
        default_value = "",
        hide_default_value = true
    )]
    why: String,
}

fn open(folder: &Path) -> Result<(LeagueDirectory, League), Failure> {
    let league = League::read(folder)?.ok_or_else(|| super::final_tournament::no_league(folder))?;
    Ok((LeagueDirectory::open(folder)?, league))
}

/// The next update follows the decision.
fn done(folder: &Path, what: &str) {
    let folder = shell::quoted(&folder.to_string_lossy()).into_owned();
    print_stderr(&format!("referee: {what}; now: referee league {folder}"));
}

/// Withdraws a bot, or brings it back.
pub(super) fn decide(args: &BotArgs, withdraws: bool) -> Result<(), Failure> {
    let (directory, mut league) = open(&args.folder)?;
    let given = &args.name;
    let found = if league.members.contains_key(given) {
        Some(given.clone())
    } else {
        people::bot_of(&league.people, given, None)
    };
    let names: Vec<&str> = league.members.keys().map(String::as_str).collect();
    let near =
        meant(given, &names).map_or_else(String::new, |near| format!("; did you mean {near}?"));
    let known = found.and_then(|name| league.members.get_mut(&name).map(|member| (name, member)));
    let Some((name, member)) = known else {
        return Err(Failure::Usage(format!(
            "{given}: there is no such bot in this league{near}"
        )));
    };
    if member.withdrawn.is_some() == withdraws {
        let state = if withdraws {
            "withdrawn already"
        } else {
            "not withdrawn"
        };
        return Err(Failure::Usage(format!("{name}: it is {state}")));
    }
    let why = if args.why.is_empty() {
        "by the teacher"
    } else {
        &args.why
    };
    member.withdrawn = withdraws.then(|| why.to_owned());
    let action = if withdraws { "withdrawn" } else { "restored" };
    league.note(action, &name, &args.why);
    league.write(directory.path())?;
    done(&args.folder, &format!("{name} is {action}"));
    Ok(())
}

/// The game's record no longer counts, and is kept in the archive.
pub(super) fn replay_game(args: &GameArgs) -> Result<(), Failure> {
    let (directory, mut league) = open(&args.folder)?;
    let tournament = directory.tournament();
    let games = tournament.journal_file();
    let Some(mut plan) = tournament.plan()? else {
        return Err(Failure::Usage(format!(
            "{}: no games of this league have been planned",
            args.folder.display()
        )));
    };
    let record = find(&games, &args.id)?;
    let [a, b] = record.bots.each_ref().map(|bot| bot.name.clone());
    archive::make_void(directory.path(), record, &args.why)?;
    league.note(
        "played again",
        &format!("{} ({a} and {b})", args.id),
        &args.why,
    );
    league.write(directory.path())?;
    let old = plan.clone();
    directory.change(&league, Some(&old), &mut plan)?;
    done(
        &args.folder,
        &format!("game {} of {a} and {b} is to be played again", args.id),
    );
    Ok(())
}

fn find(games: &Path, id: &str) -> Result<Record, Failure> {
    let failed = |error| unreadable(games, &error);
    let mut reader = Reader::open(games).map_err(failed)?;
    while let Some(line) = reader.next_complete_line().map_err(failed)? {
        let record = line.record().map_err(TournamentError::from)?;
        if record.id == id && record.was_played() {
            return Ok(record);
        }
    }
    Err(Failure::Usage(format!(
        "{id}: no game of the league's table has this id; the page and games.jsonl show the ids"
    )))
}
