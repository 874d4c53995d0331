//! `referee replay FILE`: checks recorded games against the rules and shows them.

use std::io::{self, BufWriter};
use std::path::{Path, PathBuf};

use super::report::check_not_input;
use crate::cli::support::failure::Failure;
use crate::cli::support::output::{Notes, Stdout, print_stderr};
use crate::cli::support::pages::write;
use crate::cli::support::setup::{palette, unreadable};
use crate::game::quarto::{PieceSet, Rules};
use crate::play::replay::{ReplayError, replay, start_of};
use crate::record::Record;
use crate::record::reader::Reader;
use crate::report::html;
use crate::report::serve::Feed;
use crate::report::terminal_view::{Detail, TerminalView, ViewOptions};
use crate::session::Ruleset;
use crate::session::registry::{self, Choices};
use crate::text::{counted, escape_controls};

/// The default file of a game's page; N is the game's number.
const DEFAULT_PAGE: &str = "game-N.html";

#[derive(Debug, clap::Args)]
pub(in crate::cli) struct Args {
    /// A file of records, as --record writes it
    file: PathBuf,

    /// Only this game: 1 for the first of the file
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    game: Option<u64>,

    /// Check only: print nothing but errors
    #[arg(short, long)]
    quiet: bool,

    /// Write a page to step through the game in a browser, instead of showing it here; game-N.html when no file is given
    #[arg(
        long,
        value_name = "FILE",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = DEFAULT_PAGE,
        conflicts_with = "quiet"
    )]
    html: Option<PathBuf>,

    /// Leave what bots wrote to stderr, and their commands, out of the page
    #[arg(long, requires = "html")]
    private: bool,
}

pub(in crate::cli) fn run(args: &Args) -> Result<(), Failure> {
    if let Some(target) = &args.html {
        return write_page(args, target);
    }
    let failed = |error| unreadable(&args.file, &error);
    let mut reader = Reader::open(&args.file).map_err(failed)?;
    let (mut games, mut checked, mut wrong) = (0, 0, 0);
    let mut out = BufWriter::new(Stdout);
    while let Some(line) = reader.next_line().map_err(failed)? {
        let number = line.number();
        games = number;
        if args.game.is_some_and(|game| game != number) {
            continue;
        }
        checked += 1;
        let problem = match Record::from_line(line.bytes()) {
            Ok(record) => check_record(&record, number, args.quiet, &mut out)?,
            Err(problem) => Some(problem),
        };
        if let Some(problem) = problem {
            wrong += 1;
            io::Write::flush(&mut out)?;
            print_stderr(&format!(
                "{}: line {number}: {problem}",
                args.file.display()
            ));
        }
    }
    io::Write::flush(&mut out)?;
    if let Some(game) = args.game
        && checked == 0
    {
        return Err(Failure::Usage(format!(
            "{}: there is no game {game}; the file has {games}",
            args.file.display()
        )));
    }
    let of_all = counted(checked, "game", "games");
    if wrong > 0 {
        return Err(Failure::Usage(format!(
            "{}: {wrong} of {of_all} break the rules or cannot be read",
            args.file.display()
        )));
    }
    print_stderr(&match checked {
        0 => format!("{}: no games", args.file.display()),
        _ => format!("{of_all} checked: all follow the rules"),
    });
    Ok(())
}

/// Checks one game and writes its page.
fn write_page(args: &Args, target: &Path) -> Result<(), Failure> {
    let failed = |error| unreadable(&args.file, &error);
    let mut reader = Reader::open(&args.file).map_err(failed)?;
    let (mut games, mut chosen) = (0, None);
    while let Some(line) = reader.next_line().map_err(failed)? {
        if line.bytes().trim_ascii().is_empty() {
            continue;
        }
        games = line.number();
        if args.game.unwrap_or(1) == games {
            chosen = Some(line.bytes().to_vec());
        }
    }
    let path = args.file.display();
    let number = match args.game {
        None if games > 1 => {
            return Err(Failure::Usage(format!(
                "{path}: it has {games} games and a page shows one; choose one with --game N, or use referee report for all"
            )));
        }
        chosen => chosen.unwrap_or(1),
    };
    let Some(line) = chosen else {
        return Err(Failure::Usage(format!(
            "{path}: there is no game {number}; the file has {games}"
        )));
    };
    let invalid = |problem: String| Failure::Usage(format!("{path}: line {number}: {problem}"));
    let record = Record::from_line(&line).map_err(invalid)?;
    if let Some(problem) = check_record(&record, number, true, &mut BufWriter::new(Stdout))? {
        return Err(invalid(problem));
    }
    let names = record.bots.each_ref().map(|bot| escape_controls(&bot.name));
    let feed = Feed::new(html::Options {
        title: names.join(" vs "),
        private: args.private,
        one: true,
        limits: Vec::new(),
        skip_copies: false,
    });
    feed.publish(&record).map_err(invalid)?;
    let target = if target == Path::new(DEFAULT_PAGE) {
        PathBuf::from(format!("game-{number}.html"))
    } else {
        target.to_owned()
    };
    check_not_input(std::slice::from_ref(&args.file), &target)?;
    write(&feed, &target)
}

/// Checks a record and, unless `quiet`, shows it. Returns the problem, if there is one.
fn check_record(
    record: &Record,
    number: u64,
    quiet: bool,
    out: &mut BufWriter<Stdout>,
) -> Result<Option<String>, Failure> {
    let Some(game) = registry::find(&record.game) else {
        return Ok(Some(format!(
            "the game {} is unknown",
            crate::text::quote(record.game.as_bytes())
        )));
    };
    let Some(rules) = Rules::from_name(&record.rules) else {
        return Ok(Some(format!(
            "the rules {} are unknown",
            crate::text::quote(record.rules.as_bytes())
        )));
    };
    let set = match record.pieces.as_deref().map(PieceSet::parse) {
        None => PieceSet::default(),
        Some(Ok(set)) => set,
        Some(Err(error)) => return Ok(Some(format!("its piece set: {error}"))),
    };
    let ruleset = game.ruleset(Choices {
        rules,
        set,
        ..Choices::default()
    });
    show(&*ruleset, record, number, quiet, out)
}

fn show(
    ruleset: &dyn Ruleset,
    record: &Record,
    number: u64,
    quiet: bool,
    out: &mut BufWriter<Stdout>,
) -> Result<Option<String>, Failure> {
    let of_game = |problem: String| Ok(Some(format!("game {}: {problem}", record.id)));
    let options = ViewOptions {
        detail: Detail::Turns,
        palette: palette(&io::stdout()),
        err_palette: palette(&io::stderr()),
        json: false,
    };
    let names = record.bots.each_ref().map(|bot| escape_controls(&bot.name));
    let mut view = TerminalView::new(names, u64::MAX, options, out, Notes);
    let replayed = if quiet {
        replay(ruleset, record, &mut ()).map(drop)
    } else {
        match start_of(ruleset, record) {
            Ok(start) => {
                let bots = [record.first, record.first.other()];
                view.heading(number - 1, bots, &*start)?;
            }
            Err(violation) => return of_game(violation.problem),
        }
        replay(ruleset, record, &mut view).map(drop)
    };
    match replayed {
        Ok(()) if quiet => Ok(None),
        Ok(()) => {
            view.closing(record)?;
            Ok(None)
        }
        Err(ReplayError::Io(error)) => Err(error.into()),
        Err(ReplayError::Violation(violation)) => of_game(match violation.turn {
            Some(turn) => format!("turn {turn}: {}", violation.problem),
            None => violation.problem,
        }),
    }
}
