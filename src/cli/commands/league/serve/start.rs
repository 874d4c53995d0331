//! Opens a class: its folder, its links, its address.

use std::future::pending;
use std::path::Path;
use std::rc::Rc;
use std::sync::Arc;

use tokio::sync::mpsc;

use super::ServeArgs;
use super::tables::TableGames;
use super::worker::Worker;
use crate::cli::commands::league::update::Update;
use crate::cli::commands::tournament::{TournamentOptions, Venue};
use crate::cli::support::failure::{Failure, Result, bail, usage};
use crate::cli::support::folder::title_of_folder;
use crate::cli::support::output::print_stderr;
use crate::cli::support::runtime::with_bots;
use crate::cli::support::sandbox::announce;
use crate::cli::support::setup::drawn_seed;
use referee::class::league::roster::{Person, student_list};
use referee::class::league::season::LeagueDirectory;
use referee::class::league::state::League;
use referee::class::league::switch::SERVER_FOLDER;
use referee::class_server::desk::{Desk, DeskOptions, OpenError, Order, Reach};
use referee::class_server::links::{HANDOUT, Links, LinksError};
use referee::class_server::tables::NEW_TABLE;
use referee::class_server::{ClassListener, ClassServer};
use referee::game::Ruleset;
use referee::report::html::ReportPageOptions;
use referee::server::{Feed, Proxy};
use referee::text::{cause, counted};
use referee::tournament::directory::TournamentDirectory;

pub(super) fn run(args: &ServeArgs) -> Result<()> {
    let folder = &args.folder;
    check_folder(folder)?;
    let students = args.students.as_deref().map(student_list::read);
    let students = students.transpose()?;
    let listener = listen(args)?;
    let directory = LeagueDirectory::open_for(folder, "referee league serve")?;
    let old = directory.tournament().plan()?;
    let options = TournamentOptions {
        request: args.request.clone(),
        play: args.play.clone(),
        changes: args.changes,
        ..TournamentOptions::default()
    };
    let options = options.or_planned(old.as_ref());
    let mut league = open_league(args, students)?;
    league.write(directory.path())?;
    let ruleset = options.ruleset(old.as_ref())?;
    let (desk, orders) = open_desk(args, &league, &listener, &ruleset)?;
    let seed = options.request.games.seed;
    let seed = seed.or(old.as_ref().map(|plan| plan.seed));
    let sandbox = options.play.sandbox.sandbox()?;
    announce(&sandbox);
    let tournament = directory.tournament();
    let feed = feed(folder, &ruleset);
    let stage = feed.stage(&ruleset);
    let update = Update {
        folder,
        venue: Venue::new(options, ruleset, sandbox, &[], &tournament)?,
        directory: &directory,
        league,
        old,
        seed: seed.unwrap_or_else(drawn_seed),
    };
    let tables = TableGames::new(&desk, &update.venue);
    let worker = Worker::new(update, Arc::clone(&desk), Arc::clone(&feed), stage, orders);
    tell(args, &listener, &desk, folder);
    let shown = Rc::clone(&worker.shown);
    // Who opens a page before the games of the term are read waits for them.
    let serve = async {
        shown.notified().await;
        let _server = ClassServer::start(listener, desk, feed)?;
        pending().await
    };
    with_bots(async {
        tokio::select! {
            biased;
            done = worker.run() => done,
            () = tables.run() => Ok(()),
            failed = serve => failed,
        }
    })
}

/// As it is on the disk, with the deadline and the students that are given now.
fn open_league(args: &ServeArgs, students: Option<Vec<Person>>) -> Result<League> {
    let mut league = League::read(&args.folder)?.unwrap_or_default();
    args.deadline.remember(&mut league)?;
    if let Some(students) = students {
        league.enlist(students);
    }
    check_entrance(args, &league)?;
    Ok(league)
}

/// And the orders that come in there.
fn open_desk(
    args: &ServeArgs,
    league: &League,
    listener: &ClassListener,
    ruleset: &Arc<dyn Ruleset>,
) -> Result<(Arc<Desk>, mpsc::UnboundedReceiver<Order>)> {
    let folder = &args.folder;
    let options = DeskOptions {
        title: title_of_folder(folder),
        reach: reach(args, listener),
        people: league.roster.people.clone(),
        code: args.open.clone(),
        ruleset: Arc::clone(ruleset),
    };
    Desk::open(folder, options).map_err(opened)
}

fn check_folder(folder: &Path) -> Result<()> {
    let shown = folder.display();
    if folder.is_file() {
        bail!("{shown}: it is a file, and a league has a folder");
    }
    if League::read(folder)?.is_none() && TournamentDirectory::at(folder).plan()?.is_some() {
        bail!("{shown}: this folder holds a tournament and no league; choose another one");
    }
    Ok(())
}

fn listen(args: &ServeArgs) -> Result<ClassListener> {
    ClassListener::bind(args.listen).map_err(|error| {
        usage!(
            "--listen {}: {}; choose another address, or port 0 for any that is free",
            args.listen,
            cause(&error)
        )
    })
}

/// Refuses a class into which no student could come.
fn check_entrance(args: &ServeArgs, league: &League) -> Result<()> {
    let folder = &args.folder;
    if args.open.is_none() && !league.roster.has_list() && !is_opened(folder) {
        bail!(
            "{}: no student could hand in; give a list of students, --students FILE, or a code with which they join, --open CODE",
            folder.display()
        );
    }
    Ok(())
}

/// The standings and games that all see.
fn feed(folder: &Path, ruleset: &Arc<dyn Ruleset>) -> Arc<Feed> {
    Feed::new(ReportPageOptions {
        title: title_of_folder(folder),
        private: true,
        game: Some(Arc::clone(ruleset)).filter(|game| game.program().is_some()),
        play_at: Some(NEW_TABLE),
        ..ReportPageOptions::default()
    })
}

/// Whether a code was given at an earlier start.
fn is_opened(folder: &Path) -> bool {
    Links::read(&folder.join(SERVER_FOLDER)).is_ok_and(|links| links.is_open())
}

fn reach(args: &ServeArgs, listener: &ClassListener) -> Reach {
    Reach {
        base: args.trust_proxy.clone().unwrap_or_else(|| listener.base()),
        proxy: args.trust_proxy.as_ref().map(|_| {
            let at = args.proxy_from.map(Proxy::At);
            at.unwrap_or(Proxy::OnThisMachine)
        }),
    }
}

pub(super) fn opened(error: OpenError) -> Failure {
    match error {
        OpenError::Links(error @ LinksError::Alike(_)) => Failure::Usage(error.to_string()),
        error => Failure::Referee(error.to_string()),
    }
}

fn tell(args: &ServeArgs, listener: &ClassListener, desk: &Desk, folder: &Path) {
    let base = &desk.reach.base;
    let links = folder.join(HANDOUT);
    let students = counted(desk.students() as u64, "student", "students");
    print_stderr(&format!("class at {base}/"));
    if let Some(proxy) = desk.reach.proxy {
        let from = match proxy {
            Proxy::OnThisMachine => "on this machine".to_owned(),
            Proxy::At(address) => format!("at {address}"),
        };
        print_stderr(&format!(
            "  the proxy, {from}, reaches it at http://{}/",
            listener.address
        ));
    }
    print_stderr(&format!(
        "  your own link and those of {students} are in {}; hand them out, then delete it",
        links.display()
    ));
    if args.open.is_some() {
        print_stderr("  everybody who knows the code joins there");
        if !desk.withstands_guessing() {
            print_stderr(
                "  this code is short: while it is guessed, students of the guesser's network are refused; four different words withstand guessing, such as green-owl-reads-maps",
            );
        }
    }
    if !listener.address.ip().is_loopback() {
        print_stderr(
            "  other machines reach it: the table, the games and the boards without a link; all else by a link",
        );
        if !base.starts_with("https://") {
            print_stderr("  nothing is encrypted: who listens in on the network can read links");
        }
    }
}
