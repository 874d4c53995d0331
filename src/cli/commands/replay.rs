use std::io::{self, BufWriter, Write as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::report::check_not_input;
use crate::cli::support::destination::{Form, destination};
use crate::cli::support::failure::{Failure, Result, bail};
use crate::cli::support::folder::{GameChoice, Records, pieces_of, records_of};
use crate::cli::support::output::{Channel, Notes, Stdout, print_stderr};
use crate::cli::support::pages::{write, write_file};
use crate::cli::support::recorded::{Recorded, RecordedRules, UnknownRules};
use crate::cli::support::setup::{palette, terminal_width, wrong_at};
use referee::game::Ruleset;
use referee::play::replay::{replay, start_of};
use referee::play::setup::reproduce_forfeit;
use referee::record::Record;
use referee::report::html;
use referee::report::picture::stills;
use referee::report::terminal_view::{Detail, TerminalView, ViewOptions};
use referee::server::Feed;
use referee::text::{counted, escape_controls, short_name};

/// N is the game's number.
const DEFAULT_PAGE: &str = "game-N.html";

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// A file of records, as --record writes it, or the folder of a tournament; - is standard input
    file: PathBuf,

    /// Only this game: 1 for the first of the file, or its id, such as p000012a
    #[arg(long, value_name = "N|ID")]
    number: Option<GameChoice>,

    #[command(flatten)]
    game: RecordedRules,

    /// Check only: print nothing but errors
    #[arg(short, long)]
    quiet: bool,

    /// Write the game to this file: a page to step through it in a browser (.html), or a picture of one position (.svg,
    /// with --turn); - is stdout
    #[arg(
        short,
        long,
        alias = "output",
        value_name = "FILE",
        conflicts_with = "quiet"
    )]
    out: Option<PathBuf>,

    /// The form, where no extension of a file says it
    #[arg(long, conflicts_with = "quiet", help_heading = "Output")]
    format: Option<Form>,

    /// The turn after which a picture is drawn; 0 is the start
    #[arg(long, value_name = "N")]
    turn: Option<usize>,

    /// Leave what bots wrote to stderr, and their commands, out of pages
    ///
    /// What they answered stays in
    #[arg(long, help_heading = "Pages", hide_short_help = true)]
    private: bool,

    /// Another name of --out FILE.html.
    #[arg(long, hide = true, value_name = "FILE", num_args = 0..=1, require_equals = true, default_missing_value = DEFAULT_PAGE, conflicts_with_all = ["quiet", "out", "format"])]
    html: Option<PathBuf>,

    /// Another name of --out FILE.svg.
    #[arg(long, hide = true, value_name = "FILE", conflicts_with_all = ["quiet", "out", "format", "html"])]
    svg: Option<PathBuf>,
}

impl Args {
    fn destination(&self) -> Result<Option<(&Path, Form)>> {
        let page = self.html.as_deref().map(|path| (path, Form::Html));
        let picture = self.svg.as_deref().map(|path| (path, Form::Svg));
        let chosen = match page.or(picture) {
            Some(chosen) => Some(chosen),
            None => destination(self.out.as_deref(), self.format)?,
        };
        let form = chosen.map(|(_, form)| form);
        if self.turn.is_some() && form != Some(Form::Svg) {
            bail!("--turn is for a picture; add --out FILE.svg or --format svg, or leave it out");
        }
        if self.private && form != Some(Form::Html) {
            bail!("--private is for a page; add --out FILE.html or --format html, or leave it out");
        }
        Ok(chosen)
    }
}

pub(crate) fn run(args: &Args) -> Result<()> {
    match args.destination()? {
        Some((target, Form::Html)) => return write_page(args, target),
        Some((target, Form::Svg)) => return write_picture(args, target),
        None => {}
    }
    let file = &records_of(&args.file)?;
    let mut reader = Records::open(file)?;
    let detail = detail(args, file)?;
    let mut tally = ReplayTally::default();
    let mut out = BufWriter::new(Stdout);
    while let Some(line) = reader.next_line()? {
        let number = line.number();
        if let Some(torn) = line.torn() {
            out.flush()?;
            print_stderr(&torn.to_string());
            break;
        }
        tally.games = number;
        if !GameChoice::chooses(args.number.as_ref(), &line) {
            continue;
        }
        tally.checked += 1;
        let problem = match line.record() {
            Ok(record) => match args.game.of(&record) {
                Ok(ruleset) => {
                    let game = ReplayedGame {
                        ruleset: &*ruleset,
                        record: &record,
                        file,
                        number,
                    };
                    game.show(detail, &mut out)?
                }
                Err(unknown) if tally.unknown.as_ref() == Some(&unknown) => {
                    tally.wrong += 1;
                    continue;
                }
                Err(unknown) => {
                    let problem = unknown.to_string();
                    tally.unknown = Some(unknown);
                    Some(problem)
                }
            },
            Err(error) => Some(error.problem.to_string()),
        };
        if let Some(problem) = problem {
            tally.wrong += 1;
            out.flush()?;
            print_stderr(&line.error(problem).to_string());
        }
    }
    out.flush()?;
    tally.conclude(args, file)?;
    if detail == Some(Detail::Results) {
        print_stderr("--number N shows one");
    }
    Ok(())
}

/// One game is shown, several are listed.
fn detail(args: &Args, file: &Path) -> Result<Option<Detail>> {
    let mut ahead = Records::open(file)?;
    let mut is_more = || Ok::<_, Failure>(ahead.next_line()?.is_some());
    let is_list = args.number.is_none() && file.is_file() && is_more()? && is_more()?;
    Ok(match is_list {
        _ if args.quiet => None,
        true => Some(Detail::Results),
        false => Some(Detail::Turns),
    })
}

#[derive(Debug, Default)]
struct ReplayTally {
    /// In the file, as far as it was read.
    games: u64,
    checked: u64,
    wrong: u64,
    /// Why the rules of games are not known. The same for all games of its program: said once.
    unknown: Option<UnknownRules>,
}

impl ReplayTally {
    fn conclude(&self, args: &Args, file: &Path) -> Result<()> {
        let Self { checked, wrong, .. } = *self;
        if let Some(game) = &args.number
            && checked == 0
        {
            return Err(game.missing(file, self.games));
        }
        let of_all = counted(checked, "game", "games");
        if wrong > 0 {
            let breaks = if wrong == 1 { "breaks" } else { "break" };
            let problem = format!("{wrong} of {of_all} {breaks} the rules or cannot be read");
            return Err(wrong_at(file, &problem));
        }
        print_stderr(&match checked {
            0 => format!("{}: no games", file.display()),
            _ => format!("{of_all} checked: all follow the rules"),
        });
        Ok(())
    }
}

fn one_game(args: &Args, shows: &str) -> Result<Recorded> {
    let several = format!(
        " and {shows} shows one; choose one with --number N, or use referee report for all"
    );
    let game = Recorded::read(&args.file, args.number.as_ref(), &args.game, &several)?;
    let replayed = ReplayedGame {
        ruleset: &*game.ruleset,
        record: &game.record,
        file: &game.file,
        number: game.number,
    };
    match replayed.show(None, &mut BufWriter::new(Stdout))? {
        Some(problem) => Err(game.invalid(&problem)),
        None => Ok(game),
    }
}

fn write_picture(args: &Args, target: &Path) -> Result<()> {
    let Some(turn) = args.turn else {
        bail!(
            "a picture shows one position, so add --turn N; a page of the whole game is --out FILE.html"
        );
    };
    let game = one_game(args, "a picture")?;
    let drawn = stills(&*game.ruleset, &game.record).map_err(|problem| game.invalid(&problem))?;
    check_not_input(std::slice::from_ref(&game.file), target)?;
    let Some(picture) = drawn.get(turn) else {
        let (number, last) = (game.number, drawn.len() - 1);
        let turns = counted(last as u64, "turn", "turns");
        if !game.record.was_played() {
            bail!(
                "--turn {turn}: game {number} was not played, since a bot was benched; --turn 0 draws its board"
            );
        }
        if turn == last + 1 && game.record.result.by.is_some() {
            bail!(
                "--turn {turn}: game {number} was forfeited in that turn, which changes no board; --turn {last} draws the one before it"
            );
        }
        bail!("--turn {turn}: game {number} has {turns}; expected 0 to {last}");
    };
    write_file(target, picture, &format!("after turn {turn}"))
}

fn write_page(args: &Args, target: &Path) -> Result<()> {
    let game = one_game(args, "a page")?;
    let (number, record) = (game.number, &game.record);
    let names = record.bots.each_ref().map(|bot| short_name(&bot.name));
    let feed = Feed::new(html::ReportPageOptions {
        title: names.join(" vs "),
        private: args.private,
        one: true,
        game: Some(Arc::clone(&game.ruleset)),
        ..html::ReportPageOptions::default()
    });
    feed.publish(record)
        .map_err(|problem| game.invalid(&problem))?;
    let target = if target == Path::new(DEFAULT_PAGE) {
        PathBuf::from(format!("game-{number}.html"))
    } else {
        target.to_owned()
    };
    check_not_input(std::slice::from_ref(&game.file), &target)?;
    write(&feed.report(), &target)
}

/// A game of a file that is gone through once more.
struct ReplayedGame<'a> {
    ruleset: &'a dyn Ruleset,
    record: &'a Record,
    file: &'a Path,
    /// Its line.
    number: u64,
}

impl ReplayedGame<'_> {
    /// Returns what is wrong with it. Without a `detail` nothing is printed.
    fn show(&self, detail: Option<Detail>, out: &mut BufWriter<Channel>) -> Result<Option<String>> {
        let Self {
            ruleset,
            record,
            file,
            number,
        } = *self;
        let of_game = |problem: String| Ok(Some(format!("game {}: {problem}", record.id)));
        let options = ViewOptions {
            detail: Detail::Turns,
            palette: palette(&io::stdout()),
            err_palette: palette(&io::stderr()),
            columns: terminal_width(&io::stdout()),
            json: false,
            people: [false; 2],
        };
        let names = record.bots.each_ref().map(|bot| short_name(&bot.name));
        let mut view = TerminalView::new(names, u64::MAX, options, &mut *out, Notes);
        let replayed = if detail == Some(Detail::Turns) {
            match start_of(ruleset, record) {
                Ok(start) => {
                    let bots = [record.first, record.first.other()];
                    view.heading(number - 1, bots, &*start)?;
                }
                Err(violation) => return of_game(violation.problem.to_string()),
            }
            let mut shown = Ok(());
            let replayed = replay(ruleset, record, &mut |event| {
                if shown.is_ok() {
                    shown = view.note(event);
                }
            });
            shown?;
            replayed
        } else {
            replay(ruleset, record, &mut |_| {})
        };
        match replayed {
            Ok(_) if detail.is_none() => Ok(None),
            Ok(_) if detail == Some(Detail::Results) => {
                let [a, b] = record.bots.each_ref().map(|bot| short_name(&bot.name));
                let result = escape_controls(&record.result_line());
                writeln!(out, "{number:>4}  {}  {a} against {b}: {result}", record.id)?;
                Ok(None)
            }
            Ok(last) => {
                let request = last.request();
                // A benched bot was not asked.
                let by = record.result.by.filter(|_| record.was_played());
                let pieces = record.pieces.as_ref().and_then(|_| pieces_of(file));
                let reproduce =
                    by.and_then(|by| reproduce_forfeit(ruleset, record, by, pieces.as_deref()));
                view.closing(record, &request, reproduce.as_deref())?;
                Ok(None)
            }
            Err(violation) => of_game(violation.to_string()),
        }
    }
}
