//! `referee league`: takes in submissions, plays the games that are new, and keeps a term's table.

mod final_tournament;
mod update;

use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::path::{Path, PathBuf, absolute};
use std::process::{Command, ExitStatus};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant, SystemTime};
use std::{fs, io, thread};

use clap::Subcommand;
use jiff::Timestamp;

use self::final_tournament::FinalArgs;
use self::update::Update;
use super::tournament::{BotOptions, Options};
use crate::arena::directory::TournamentDirectory;
use crate::arena::plan::Plan;
use crate::cli::support::failure::Failure;
use crate::cli::support::output::print_stderr;
use crate::cli::support::pages::Pages;
use crate::cli::support::runtime::{run_interruptible, with_bots};
use crate::cli::support::signals::{self, StopSignals};
use crate::cli::support::values;
use crate::league::intake::people::{self, Person};
use crate::league::intake::{self, Intake, SandboxChoice};
use crate::league::season::LeagueDirectory;
use crate::league::state::{self, League};
use crate::report::serve::State;
use crate::text::counted;

#[derive(Debug, clap::Args)]
#[command(args_conflicts_with_subcommands = true, subcommand_negates_reqs = true)]
pub(in crate::cli) struct LeagueArgs {
    #[command(flatten)]
    update: Args,

    #[command(subcommand)]
    command: Option<LeagueCommand>,
}

#[derive(Debug, Subcommand)]
enum LeagueCommand {
    /// Play the tournament that decides a term
    ///
    /// With the newest versions, new openings and a seed that is announced before.
    Final(FinalArgs),
}

pub(in crate::cli) fn run(args: &LeagueArgs) -> Result<(), Failure> {
    match &args.command {
        Some(LeagueCommand::Final(args)) => final_tournament::run(args),
        None => run_update(&args.update),
    }
}

#[derive(Debug, clap::Args)]
struct Args {
    /// The folder of the league; a new one is started where there is none
    #[arg(value_name = "DIR", required = true)]
    folder: Option<PathBuf>,

    /// Where submissions come from: a folder, a .zip or a .tar.gz (such as Moodle's) with a folder, an archive
    /// or a program for each student or team
    #[arg(long, value_name = "SOURCE")]
    from: Option<PathBuf>,

    /// A table in CSV of who takes part, with the columns name, team, email and id as far as these are
    /// known; it holds until another one is given
    #[arg(long, value_name = "FILE")]
    students: Option<PathBuf>,

    /// Only versions that were handed in by then play: 2026-01-31 (as the day begins, UTC) or 2026-01-31T10:00:00Z
    #[arg(long, value_name = "TIME", value_parser = values::time)]
    deadline: Option<Timestamp>,

    /// Go on until Ctrl-C: play whenever something is handed in
    #[arg(long, requires = "from", conflicts_with = "plan")]
    watch: bool,

    /// Play nothing: plan the games that are missing, to be played in parts by `referee shard run`
    #[arg(hide_short_help = true, long)]
    plan: bool,

    /// Run this command line after the games of an update, to publish pages or to tell others; it finds
    /// the folder in `$REFEREE_FOLDER` and the number of new games in `$REFEREE_NEW_GAMES`
    #[arg(
        hide_short_help = true,
        long,
        value_name = "COMMAND",
        conflicts_with = "plan"
    )]
    after: Option<String>,

    /// A TOML file with options; the command line takes precedence
    #[arg(long, value_name = "FILE")]
    config: Option<PathBuf>,

    #[command(flatten)]
    options: Options,
}

impl Args {
    fn folder(&self) -> &Path {
        self.folder.as_deref().unwrap_or(Path::new(""))
    }
}

fn run_update(args: &Args) -> Result<(), Failure> {
    let mut options = args.options.clone();
    options.bots = BotOptions::read(args.config.as_deref())?;
    if args.folder().is_file() {
        let shown = args.folder().display();
        return Err(Failure::Usage(format!(
            "{shown}: it is a file, and a league has a folder; submissions in it are taken in by --from {shown}"
        )));
    }
    let league = League::read(args.folder())?;
    if league.is_none() && TournamentDirectory::at(args.folder()).plan()?.is_some() {
        return Err(Failure::Usage(format!(
            "{}: this folder holds a tournament and no league; choose another one",
            args.folder().display()
        )));
    }
    if args.from.is_none() && league.is_none() {
        return Err(no_league(args));
    }
    if let Some(source) = &args.from
        && whole(args.folder()).starts_with(whole(source))
    {
        return Err(Failure::Usage(format!(
            "{}: the folder of the league, {}, is in it and would be taken for a submission; choose one outside",
            source.display(),
            args.folder().display()
        )));
    }
    let source = args.from.as_deref();
    let look = source.map(Look::at);
    let intake = source.map(|source| read(source, &options, args.folder()));
    let intake = intake.transpose().map_err(Failure::Usage)?;
    let people = args.students.as_deref().map(people::read).transpose();
    let people = people.map_err(Failure::Usage)?;
    let mut rounds = Rounds {
        args,
        options,
        directory: LeagueDirectory::open(args.folder())?,
        pages: None,
        heeded: None,
    };
    rounds.play(intake, people)?;
    match (source, look) {
        (Some(source), Some(look)) if args.watch => rounds.watch(source, look),
        _ => rounds.finish(State::Finished),
    }
}

/// Repositories are read in the sandbox of builds.
fn read(source: &Path, options: &Options, folder: &Path) -> Result<Intake, String> {
    let choose = || {
        let mut sandbox = options.sandbox.clone();
        // Options that are not given stay as they were.
        if let Ok(Some(plan)) = TournamentDirectory::at(folder).plan() {
            sandbox = sandbox.or_planned(&plan.sandbox);
        }
        let chosen = sandbox.for_builds().sandbox();
        chosen.map_err(|failure| failure.message(0).unwrap_or_default())
    };
    intake::read(source, &SandboxChoice::new(Box::new(choose)))
}

/// Without links, as far as the path exists.
fn whole(path: &Path) -> PathBuf {
    let path = absolute(path).unwrap_or_else(|_| path.to_owned());
    let mut known = path.ancestors();
    let real = known.find_map(|place| Some((place, place.canonicalize().ok()?)));
    match real {
        Some((place, real)) => path
            .strip_prefix(place)
            .map_or(real.clone(), |rest| real.join(rest)),
        None => path,
    }
}

fn no_league(args: &Args) -> Failure {
    Failure::Usage(format!(
        "{}: there is no league yet; say where submissions come from: --from FOLDER",
        args.folder().display()
    ))
}

struct Rounds<'a> {
    args: &'a Args,
    options: Options,
    directory: LeagueDirectory,
    /// Of the last update, shown until the next.
    pages: Option<Pages>,
    /// With `--watch`, from the end of an update until waiting: Ctrl-C then ends the wait.
    heeded: Option<StopSignals>,
}

impl Rounds<'_> {
    fn heed(&mut self) {
        self.heeded = self.args.watch.then(signals::heed);
    }

    fn play(
        &mut self,
        mut intake: Option<Intake>,
        people: Option<Vec<Person>>,
    ) -> Result<(), Failure> {
        let args = self.args;
        let mut options = self.options.clone();
        let old = self.directory.tournament().plan()?;
        let league = League::read(self.directory.path())?;
        if let Some(plan) = &old {
            // Options that are not given stay as they were.
            options = options.or_planned(plan)?;
        }
        let mut league = league.unwrap_or_default();
        if let Some(people) = people {
            league.enlist(people);
        }
        if let Some(intake) = &mut intake {
            people::join(intake, &league.people, |name, id| league.called(name, id));
            take_in(&mut league, &self.directory, intake)?;
        } else if league.members.is_empty() {
            return Err(no_league(args));
        }
        self.heed();
        let update = Update::new(args, &options, &self.directory, league, old)?;
        let new = with_bots(update.run(&mut self.pages))?;
        if let Some(command) = &args.after {
            // Ctrl-C ends the command and this program.
            self.heeded = None;
            run_after(command, self.directory.path(), new)?;
            self.heed();
        }
        Ok(())
    }

    /// Each update has written its page.
    fn finish(&mut self, state: State) -> Result<(), Failure> {
        match self.pages.take() {
            Some(pages) => pages.close(state),
            None => Ok(()),
        }
    }

    fn watch(&mut self, source: &Path, mut look: Look) -> Result<(), Failure> {
        loop {
            print_stderr(&format!(
                "referee: waiting for submissions in {}; Ctrl-C to end",
                source.display()
            ));
            let Some(now) = wait_for_change(source, look)? else {
                return self.finish(State::Interrupted);
            };
            self.heeded = None;
            look = now;
            match read(source, &self.options, self.directory.path()) {
                Ok(intake) => self.play(Some(intake), None)?,
                // It may be being replaced.
                Err(error) => print_stderr(&format!("referee: {error}")),
            }
        }
    }
}

fn take_in(
    league: &mut League,
    directory: &LeagueDirectory,
    intake: &Intake,
) -> Result<(), Failure> {
    let mut new = 0_u64;
    for submission in &intake.submissions {
        match state::take_in(league, directory.path(), submission)? {
            Ok(is_new) => new += u64::from(is_new),
            Err(problem) if problem.is_for_want_of_space() => {
                return Err(Failure::Referee(format!(
                    "{}: no space is left here for the files of {}; free some, then give the same command again",
                    directory.path().display(),
                    submission.name
                )));
            }
            Err(problem) => league.refuse(&submission.name, problem.to_string()),
        }
    }
    for refused in &intake.refused {
        league.refuse(&refused.name, refused.reason.clone());
    }
    league.write(directory.path())?;
    for note in &intake.notes {
        print_stderr(&format!("referee: {note}; it is left out"));
    }
    for refused in &intake.refused {
        print_stderr(&format!(
            "referee: the submission of {} cannot be used: {}",
            refused.name, refused.reason
        ));
    }
    print_stderr(&format!(
        "referee: {}, {new} of them new",
        counted(intake.submissions.len() as u64, "submission", "submissions")
    ));
    let (missing, unknown) = league.missing_and_unknown();
    for (names, problem) in [
        (missing, "have handed in nothing"),
        (unknown, "are not in the list of students"),
    ] {
        if !names.is_empty() {
            print_stderr(&format!("referee: {problem}: {}", names.join(", ")));
        }
    }
    Ok(())
}

fn is_same(old: &Plan, new: &Plan) -> bool {
    let versions = |plan: &Plan| -> Vec<(String, Option<String>)> {
        let bots = plan.bots.iter();
        bots.map(|bot| (bot.name.clone(), bot.version.clone()))
            .collect()
    };
    let absent = |plan: &Plan| -> Vec<(String, String)> {
        let bots = plan.rejected.iter();
        bots.map(|bot| (bot.bot.name.clone(), bot.reason.clone()))
            .collect()
    };
    old.pairs == new.pairs
        && old.pairs_so_far() == new.pairs_so_far()
        && versions(old) == versions(new)
        && absent(old) == absent(new)
}

/// A sentence for each setting in which the plans differ and on which games depend.
fn changed_settings(old: &Plan, new: &Plan) -> Vec<String> {
    let mut same_bots = new.clone();
    same_bots.bots.clone_from(&old.bots);
    same_bots.rejected.clone_from(&old.rejected);
    same_bots.pairs = old.pairs;
    same_bots.openings.clone_from(&old.openings);
    let mut changed = old.differences(&same_bots);
    let limits = |plan: &Plan| plan.bots.first().map(|bot| bot.limits);
    if let (Some(before), Some(now)) = (limits(old), limits(new))
        && before != now
    {
        changed.push("the time limits are other ones".to_owned());
    }
    changed
}

const INTERVAL: Duration = Duration::from_secs(2);

const TICK: Duration = Duration::from_millis(100);

/// A hash of names, sizes and times of the files of a source.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Look(u64);

impl Look {
    /// What cannot be read looks empty: taking it in says why.
    fn at(source: &Path) -> Self {
        let mut hasher = DefaultHasher::new();
        hash_tree(source, &mut hasher);
        Self(hasher.finish())
    }
}

fn hash_tree(path: &Path, hasher: &mut DefaultHasher) {
    let Ok(meta) = fs::symlink_metadata(path) else {
        return;
    };
    path.hash(hasher);
    if meta.is_symlink()
        && let Ok(target) = fs::metadata(path)
    {
        hash_meta(&target, hasher);
    }
    if !meta.is_dir() {
        hash_meta(&meta, hasher);
        return;
    }
    let Ok(entries) = fs::read_dir(path) else {
        return;
    };
    let mut entries: Vec<_> = entries.flatten().map(|entry| entry.path()).collect();
    entries.sort();
    // In `.git` only files that name commits.
    let is_repository = path.file_name().is_some_and(|name| name == ".git");
    let counts = |path: &Path| {
        let name = path.file_name().unwrap_or_default();
        !is_repository
            || ["HEAD", "packed-refs", "refs"]
                .iter()
                .any(|own| name == *own)
    };
    for entry in entries.iter().filter(|entry| counts(entry)) {
        hash_tree(entry, hasher);
    }
}

fn hash_meta(meta: &fs::Metadata, hasher: &mut DefaultHasher) {
    meta.len().hash(hasher);
    let modified = meta.modified().unwrap_or(SystemTime::UNIX_EPOCH);
    modified.hash(hasher);
}

/// Waits until a source has changed and then stayed the same for a while: files may still be being copied. `None` when
/// interrupted.
fn wait_for_change(source: &Path, before: Look) -> Result<Option<Look>, Failure> {
    let (look, _) = run_interruptible(|stop| {
        let mut last = before;
        while pause(stop) {
            let now = Look::at(source);
            if now != before && now == last {
                return Ok(Some(now));
            }
            last = now;
        }
        Ok(None)
    })?;
    Ok(look)
}

/// Returns false when stopped.
fn pause(stop: &AtomicBool) -> bool {
    let begun = Instant::now();
    while begun.elapsed() < INTERVAL {
        if stop.load(Ordering::Relaxed) {
            return false;
        }
        thread::sleep(TICK);
    }
    true
}

const FOLDER: &str = "REFEREE_FOLDER";

const NEW_GAMES: &str = "REFEREE_NEW_GAMES";

/// `--after`: runs a command line in the system's shell. A command that fails is reported and changes no result.
fn run_after(command: &str, folder: &Path, new_games: u64) -> Result<(), Failure> {
    let folder = folder.canonicalize().unwrap_or_else(|_| folder.to_owned());
    let mut shell = shell_command(command);
    shell
        .env(FOLDER, folder)
        .env(NEW_GAMES, new_games.to_string())
        // The results stay last on stdout.
        .stdout(io::stderr());
    match shell.status() {
        Ok(status) if status.success() => {}
        Ok(status) => print_stderr(&format!(
            "referee: warning: the command of --after failed ({}): {command}",
            shown_status(status)
        )),
        Err(error) => {
            return Err(Failure::Referee(format!(
                "the command of --after cannot be started: {}",
                crate::text::cause(&error)
            )));
        }
    }
    Ok(())
}

#[cfg(unix)]
fn shell_command(command: &str) -> Command {
    let mut shell = Command::new("/bin/sh");
    shell.args(["-c", command]);
    shell
}

#[cfg(windows)]
fn shell_command(command: &str) -> Command {
    use std::os::windows::process::CommandExt as _;
    let mut shell = Command::new("cmd");
    // The shell has rules of its own for quotes.
    shell.arg("/C").raw_arg(command);
    shell
}

fn shown_status(status: ExitStatus) -> String {
    match status.code() {
        Some(code) => format!("exit status {code}"),
        None => "ended by a signal".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_look_sees_what_is_handed_in() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = |name: &str| folder.path().join(name);
        let look = || Look::at(folder.path());
        let mut looks = vec![look()];
        fs::create_dir_all(path("anna/.git/objects")).expect("a folder");
        fs::write(path("anna/.git/HEAD"), "a").expect("a file");
        looks.push(look());
        fs::write(path("anna/bot.py"), "print()").expect("a file");
        looks.push(look());
        fs::write(path("anna/.git/HEAD"), "a branch").expect("a file");
        looks.push(look());
        for pair in looks.windows(2) {
            assert_ne!(pair[0], pair[1]);
        }
        fs::write(path("anna/.git/objects/a"), "of another branch").expect("a file");
        assert_eq!(looks.pop(), Some(look()));
    }
}
