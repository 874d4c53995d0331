//! What a teacher decides, by a command or on the page of a served class: both call the same function, so that the state and
//! the line of `log.jsonl` are the same.

use std::path::{Path, PathBuf};

use clap::ValueEnum;

use super::{no_league, open_league};
use crate::cli::support::failure::{Result, bail, usage};
use crate::cli::support::folder::Records;
use crate::cli::support::output::note;
use referee::class::league::archive;
use referee::class::league::season::LeagueDirectory;
use referee::class::league::state::League;
use referee::class::league::switch::Switch;
use referee::class::league::zone::Deadline;
use referee::record::Record;

#[derive(Debug, clap::Args)]
pub(super) struct DecisionArgs {
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

#[derive(Debug, clap::Args)]
pub(super) struct DeadlineArgs {
    /// The folder of the league
    #[arg(value_name = "DIR")]
    folder: PathBuf,

    /// The deadline, such as 2026-01-31T18:00; a date alone is that day to its end; or none
    ///
    /// A time without an offset such as +01:00 is in the zone of the league
    #[arg(value_name = "TIME")]
    deadline: Deadline,
}

#[derive(Debug, clap::Args)]
pub(super) struct SwitchArgs {
    /// The folder of the league
    #[arg(value_name = "DIR")]
    folder: PathBuf,

    /// Off takes it back
    #[arg(value_name = "STATE", default_value = "on")]
    state: SwitchState,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum SwitchState {
    On,
    Off,
}

/// Withdraws a bot, or brings it back.
pub(super) fn decide(args: &DecisionArgs, withdraws: bool) -> Result<()> {
    let (directory, mut league) = open_league(&args.folder)?;
    let done = decide_of(&mut league, &args.of, withdraws, &args.why)?;
    league.write(directory.path())?;
    tell_next(&directory, &done);
    Ok(())
}

pub(super) fn set_deadline(args: &DeadlineArgs) -> Result<()> {
    let (directory, mut league) = open_league(&args.folder)?;
    let done = set_deadline_of(&mut league, args.deadline);
    league.write(directory.path())?;
    tell_next(&directory, &done);
    Ok(())
}

/// Says what was done, and how the games are played that it asks for.
fn tell_next(directory: &LeagueDirectory, done: &str) {
    let folder = directory.tournament().quoted();
    note!("{done}; now: referee league {folder}");
}

pub(super) fn turn(args: &SwitchArgs, switch: Switch) -> Result<()> {
    let (directory, mut league) = open_league(&args.folder)?;
    let is_on = args.state == SwitchState::On;
    let done = turn_of(directory.path(), &mut league, switch, is_on)?;
    league.write(directory.path())?;
    note!("{done}");
    Ok(())
}

pub(super) fn replay_game(args: &DecisionArgs) -> Result<()> {
    let (directory, mut league) = open_league(&args.folder)?;
    let done = replay_of(&directory, &mut league, &args.of, &args.why)?;
    tell_next(&directory, &done);
    Ok(())
}

/// Withdraws a bot, or brings it back. Says so.
pub(super) fn decide_of(
    league: &mut League,
    given: &str,
    withdraws: bool,
    why: &str,
) -> Result<String> {
    let mut names = league.roster.find(given);
    names.retain(|name| league.bot(name).is_some());
    let name = match &names[..] {
        [] => bail!("{given}: there is no such bot in this league"),
        [name] => name.clone(),
        several => bail!(
            "{given}: this may be {}; name one of them as here, in quotes",
            several.join(" or ")
        ),
    };
    league.decide(&name, withdraws.then_some(why));
    let action = if withdraws { "withdrawn" } else { "restored" };
    league.note(action, &name, why);
    Ok(format!("{name} is {action}"))
}

/// The zone is that of the league. Says which instant it is.
pub(super) fn set_deadline_of(league: &mut League, deadline: Deadline) -> String {
    league.set_deadline(None, Some(deadline), None);
    let now = log_deadline(league);
    format!("the deadline is {now}")
}

/// Which it is now.
pub(super) fn log_deadline(league: &mut League) -> String {
    let now = league.deadline_text().unwrap_or_else(|| "none".to_owned());
    league.note("set", "deadline", &now);
    now
}

/// It is on the disk when this returns, and to be logged. Says so.
pub(super) fn turn_of(
    folder: &Path,
    league: &mut League,
    switch: Switch,
    is_on: bool,
) -> Result<String> {
    let (of, done) = match (switch, is_on) {
        (Switch::Frozen, true) => ("class", "frozen"),
        (Switch::Frozen, false) => ("class", "open again"),
        (Switch::OpenTables, true) => ("visitors", "may play"),
        (Switch::OpenTables, false) => ("visitors", "may not play"),
    };
    switch.set(folder, is_on)?;
    league.note(done, of, "");
    Ok(match switch {
        Switch::Frozen => format!("the class is {done}"),
        Switch::OpenTables => format!("visitors {done}"),
    })
}

/// What came of a final that was to be played.
pub(super) fn log_end_of_final(league: &mut League, played: &Result<()>) {
    match played {
        Ok(()) => league.note("played", "final", ""),
        Err(failure) => {
            let why = failure.message(0).unwrap_or_default();
            league.note("stopped", "final", &why);
        }
    }
}

/// Of a student's link, which has been replaced.
#[cfg(feature = "class-server")]
pub(super) fn log_renewal(league: &mut League, student: &str) {
    league.note("replaced", &format!("link of {student}"), "");
}

/// The game's record no longer counts, and is kept in the archive. Says so.
pub(super) fn replay_of(
    directory: &LeagueDirectory,
    league: &mut League,
    id: &str,
    why: &str,
) -> Result<String> {
    let tournament = directory.tournament();
    let games = tournament.journal_file();
    let Some(mut plan) = tournament.plan()? else {
        return Err(no_league(directory.path()));
    };
    let record = game_of(&games, id)?;
    let [a, b] = record.bots.each_ref().map(|bot| bot.name.clone());
    archive::make_void(directory.path(), record, why)?;
    let game = format!("{id} ({a} and {b})");
    league.note("played again", &game, why);
    league.write(directory.path())?;
    let old = plan.clone();
    directory.note_places(league, &old, &mut plan)?;
    directory.change(Some(&old), &mut plan)?;
    Ok(format!("game {id} of {a} and {b} is to be played again"))
}

fn game_of(games: &Path, id: &str) -> Result<Record> {
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
