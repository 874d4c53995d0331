//! `referee rerun FILE BOT`: asks a changed bot the questions of recorded games again, up to its first other answer, and
//! judges what became of its mistakes.

mod asking;
mod output;

use std::io;
use std::path::{Path, PathBuf};

use self::asking::Asking;
use crate::bot::orphans;
use crate::bot::spec::{BotSpec, Program};
use crate::cli::support::failure::Failure;
use crate::cli::support::folder::{GameChoice, records_of};
use crate::cli::support::output::print_stderr;
use crate::cli::support::recorded::{
    self, AskedBotOptions, Recorded, RecordedRules, is_person, parts,
};
use crate::cli::support::runtime::{end_orphans, runtime, until_interrupted};
use crate::cli::support::setup::{palette, unreadable};
use crate::cli::support::signals;
use crate::cli::support::values::{self, MoveTime};
use crate::record::reader::Reader;
use crate::record::{BotIndex, Record};
use crate::text::counted;

const AFTER_HELP: &str = "\
The bot is asked what it was asked in the game, with the same seed, environment and time for a
move, as long as it answers as before. Its first other answer is judged, if the game has a solver.
Of a process that had played other games of the file before, all lines are sent, from the first.

Examples:
  referee rerun games.jsonl --lost ./mybot
  referee rerun tournament-2026-01-31-100000 --game p000012a ./mybot
  referee rerun games.jsonl --lost --as oldbot --json ./newbot

Exit status: 0 nothing that was wrong is still there, and nothing is new; 3 otherwise; 2 wrong
usage or input, or a bot that cannot be started; 1 the referee itself failed; 130 interrupted.";

#[derive(Debug, clap::Args)]
#[command(after_help = AFTER_HELP)]
pub(in crate::cli) struct Args {
    /// A file of records, as --record writes it, or the folder of a tournament
    file: PathBuf,

    /// The bot: a file, a command line or builtin:NAME
    bot: String,

    /// Only the games that it lost, by a forfeit or otherwise
    #[arg(long, conflicts_with = "game")]
    lost: bool,

    /// Only this game: 1 for the first of the file, or its id, such as p000012a
    #[arg(long, value_name = "N|ID")]
    game: Option<GameChoice>,

    /// The time for a move [default: as in the game, else 10s; where there was no limit, an answer has 1 min]
    #[arg(long, value_name = "TIME", value_parser = values::move_time)]
    move_time: Option<MoveTime>,

    /// Print one JSON document
    #[arg(long)]
    json: bool,

    #[command(flatten)]
    asked: AskedBotOptions,
}

pub(in crate::cli) fn run(args: &Args) -> Result<(), Failure> {
    let program = recorded::program(&args.bot, "asked again")?;
    let file = records_of(&args.file)?;
    let rules = RecordedRules::new(&args.asked.game_program);
    let Chosen { games, chosen } = Choice {
        rules: &rules,
        program: &program,
        part: args.asked.part.as_deref(),
        game: args.game.as_ref(),
        is_lost: args.lost,
    }
    .read(&file)?;
    let name = program.name.clone();
    let spec = [BotSpec::Program(program)];
    let [BotSpec::Program(program)] = args.asked.sandbox.of_bots(&spec)?.confine(&spec)? else {
        return Err(Failure::Referee("the bot is no program".to_owned()));
    };
    let mut asking = Asking::new(args, program, &games);
    let _heeded = signals::heed();
    let runtime = runtime()?;
    let done = runtime.block_on(async {
        orphans::adopt();
        let done = until_interrupted(Box::pin(asking.run(&chosen))).await;
        let stopped = asking.stop().await;
        end_orphans();
        done.and(stopped.map_err(Failure::from))
    });
    // The solver may still be working.
    runtime.shutdown_background();
    let (results, unseen) = asking.finish();
    if unseen > 0 {
        print_stderr(&format!(
            "referee: in {} its process had played others before, which are not all in this file; it was not sent those lines",
            counted(unseen, "game", "games")
        ));
    }
    let is_complete = done.is_ok();
    match &done {
        Err(Failure::Interrupted) | Ok(()) => {}
        Err(_) => return done,
    }
    let report = output::Report {
        name: &name,
        games: &results,
        is_complete,
    };
    report.print(args.json, &palette(&io::stdout()))?;
    done?;
    if report.is_wrong() {
        return Err(Failure::Mistaken);
    }
    Ok(())
}

struct Choice<'a> {
    rules: &'a RecordedRules,
    program: &'a Program,
    part: Option<&'a str>,
    game: Option<&'a GameChoice>,
    is_lost: bool,
}

struct OwnGame {
    recorded: Recorded,
    by: BotIndex,
}

struct Chosen {
    /// All with the bot: a process may have played several.
    games: Vec<OwnGame>,
    /// Indices of those to judge.
    chosen: Vec<usize>,
}

fn result_for(record: &Record, by: BotIndex) -> &'static str {
    match record.result.winner {
        None => "draw",
        Some(winner) if winner == by => "win",
        Some(_) => "loss",
    }
}

impl Choice<'_> {
    fn read(&self, file: &Path) -> Result<Chosen, Failure> {
        let failed = |error| unreadable(file, &error);
        let mut reader = Reader::open(file).map_err(failed)?;
        let (mut games, mut chosen, mut others) = (Vec::new(), Vec::new(), None);
        let (mut count, mut is_there) = (0, false);
        while let Some(line) = reader.next_line().map_err(failed)? {
            let record = match line.record() {
                Ok(record) => record,
                Err(torn) if !line.is_complete() => {
                    print_stderr(&torn.to_string());
                    break;
                }
                Err(damaged) => return Err(Failure::Usage(damaged.to_string())),
            };
            count = line.number();
            let id = || Some(record.id.clone());
            let is_named = self.game.is_none_or(|game| game.is(count, id));
            let is_first = is_named && !(is_there && self.game.is_some());
            is_there |= is_named;
            let by = match parts(&record, self.program, self.part)[..] {
                [by] if !is_person(&record, by) => by,
                // For its failure, which says what is wrong.
                _ if is_first && self.game.is_some() => {
                    let recorded = Recorded::of(file, count, record, self.rules)?;
                    recorded.part(self.program, self.part)?;
                    continue;
                }
                [_, _, ..] => {
                    let recorded = Recorded::of(file, count, record, self.rules)?;
                    recorded.part(self.program, self.part)?;
                    continue;
                }
                _ => {
                    others.get_or_insert((count, record));
                    continue;
                }
            };
            // A benched bot was not asked.
            let is_asked = record.was_played();
            let is_right = !self.is_lost || result_for(&record, by) == "loss";
            if is_first && is_right && is_asked {
                chosen.push(games.len());
            }
            let recorded = Recorded::of(file, count, record, self.rules)?;
            if is_first && self.game.is_some() {
                // Without questions a game is an error only when it was chosen.
                recorded.questions(by)?;
            }
            games.push(OwnGame { recorded, by });
        }
        if let (Some(game), false) = (self.game, is_there) {
            return Err(game.missing(file, count));
        }
        if let (true, Some((number, record))) = (games.is_empty(), others) {
            Recorded::of(file, number, record, self.rules)?.part(self.program, self.part)?;
        }
        Ok(Chosen { games, chosen })
    }
}
