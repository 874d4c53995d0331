mod asking;

use std::fmt::Write as _;
use std::io;
use std::path::PathBuf;

use serde_json::json;

use self::asking::{Asking, read};
use crate::cli::support::failure::{Failure, Result, WRONG};
use crate::cli::support::folder::{GameChoice, records_of};
use crate::cli::support::output::{note, print_found};
use crate::cli::support::recorded::{self, AskedBotOptions, fault_lines};
use crate::cli::support::runtime::examine;
use crate::cli::support::setup::terminal_width;
use crate::cli::support::values::{self, MoveTime};
use referee::analysis::rerun::RerunVerdict;
use referee::bot::info::as_text;
use referee::report::terminal::{Palette, aligned, labelled};
use referee::study::rerun::RerunSummary;
use referee::text::{counted, escape_controls};

const AFTER_HELP: &str = "\
The bot is asked what it was asked in the game, with the same seed, environment and time for a
move, as long as it answers as before. Its first other answer is judged, if the game has a solver;
the questions of later mistakes are then asked directly, as the protocol has no memory.
Of a process that had played other games of the file before, all lines are sent, from the first.

Examples:
  referee rerun games.jsonl --number lost ./mybot
  referee rerun tournament-2026-01-31-100000 --number p000012a ./mybot
  referee rerun games.jsonl --number lost --as oldbot --json ./newbot

Exit status: 0 nothing that was wrong is still there, and nothing is new; 3 otherwise; 2 wrong
usage or input, or a bot that cannot be started; 1 the referee itself failed; 130 interrupted.";

#[derive(Debug, clap::Args)]
#[command(after_long_help = AFTER_HELP)]
pub(crate) struct Args {
    /// A file of records, as --record writes it, or the folder of a tournament; - is standard input
    file: PathBuf,

    /// The bot: a file, a command line or builtin:NAME
    bot: String,

    /// Only this game: 1 for the first of the file, or its id, such as p000012a; or `lost`: those that it lost, by a
    /// forfeit or otherwise
    #[arg(long, value_name = "N|ID|lost")]
    number: Option<GameChoice>,

    /// The time for a move [default: as in the game, else 10s; where there was no limit, an answer has 1 min]
    #[arg(long, value_name = "TIME", value_parser = values::move_time, help_heading = "Time")]
    move_time: Option<MoveTime>,

    /// Print one JSON document
    #[arg(long, help_heading = "Output")]
    json: bool,

    #[command(flatten)]
    asked: AskedBotOptions,
}

impl Args {
    fn is_of_lost(&self) -> bool {
        matches!(&self.number, Some(GameChoice::Id(id)) if id == "lost")
    }

    fn one(&self) -> Option<&GameChoice> {
        self.number.as_ref().filter(|_| !self.is_of_lost())
    }
}

pub(crate) fn run(args: &Args) -> Result<()> {
    let asked = &args.asked;
    let program = recorded::program(
        &args.bot,
        "asked again",
        &asked.sandbox,
        &asked.game.typed(),
    )?;
    let file = records_of(&args.file)?;
    let games = read(args, &program, &file)?;
    let program = args.asked.sandbox.confine(&program)?;
    let mut asking = Asking::new(args, &program, &games);
    let done = examine(asking.run());
    if asking.unseen > 0 {
        note!(
            "in {} its process had played others before, which are not all in this file; it was not sent those lines",
            counted(asking.unseen, "game", "games")
        );
    }
    if !matches!(done, Ok(()) | Err(Failure::Interrupted)) {
        return done;
    }
    let summary = RerunSummary {
        bot: program.name.clone(),
        games: asking.results,
        is_complete: done.is_ok(),
    };
    print_found(
        args.json,
        || json!(&summary),
        |palette| text(&summary, palette),
    )?;
    done?;
    if summary.findings().any(|finding| finding.verdict.is_wrong()) {
        return Err(WRONG);
    }
    Ok(())
}

fn text(summary: &RerunSummary<'_>, palette: &Palette) -> String {
    if summary.games.is_empty() {
        return "no games\n".to_owned();
    }
    let heads = ["game", "opponent", "result", "departs", "then", "now", ""];
    let mut rows = vec![heads.map(str::to_owned).to_vec()];
    rows.extend(summary.games.iter().map(|game| game.row().to_vec()));
    let columns = terminal_width(&io::stdout());
    let mut out = aligned(&rows, palette, &[1, 2, 4, 5, 6]);
    for game in &summary.games {
        let number = game.game.number;
        if let Some(turn) = game.departs_at() {
            for (label, info) in [("then", game.info_then()), ("now", Some(&game.info))] {
                if let Some(info) = info.filter(|info| !info.is_empty()) {
                    // A record may come from elsewhere.
                    let said = escape_controls(&as_text(info));
                    let label = format!("Game {number}, turn {turn}, {label}: ");
                    let _ = writeln!(out, "{}", labelled(&label, &said, columns));
                }
            }
        }
        if let (Some(fault), Some(last)) = (&game.forfeit, game.last_asked()) {
            let fault = fault_lines(fault);
            let label = format!("Game {number}, turn {}: ", last.turn);
            let _ = writeln!(out, "{}", labelled(&label, &fault, columns));
        }
    }
    if let Some(game) = summary.games.iter().find(|game| !game.game.has_solver()) {
        let name = escape_controls(&game.game.record.game);
        let _ = writeln!(
            out,
            "There is no solver for {name}: its turns are not judged."
        );
    }
    let mut parts = vec![format!("it departs in {}", summary.departures())];
    for (verdict, words) in [
        (RerunVerdict::Gone, "gone"),
        (RerunVerdict::StillThere, "still there"),
        (RerunVerdict::New, "new"),
        (RerunVerdict::Unproven, "not proven"),
        (RerunVerdict::NotReached, "not reached"),
    ] {
        let count = summary.count(verdict);
        if count > 0 || !matches!(verdict, RerunVerdict::Unproven | RerunVerdict::NotReached) {
            parts.push(format!("{count} {words}"));
        }
    }
    let games = counted(summary.games.len() as u64, "game", "games");
    let name = escape_controls(&summary.bot);
    out + &format!("{name}, {games}: {}\n", parts.join(", "))
}
