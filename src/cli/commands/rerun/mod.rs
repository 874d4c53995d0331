//! `referee rerun FILE BOT`: asks a changed bot the questions of recorded games again, up to its first other answer, and
//! judges what became of its mistakes.

mod output;

use std::cell::OnceCell;
use std::io;
use std::path::{Path, PathBuf};
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use crate::analysis::rerun::{Departure, Judgement, Verdict, judge};
use crate::analysis::{Analyst, Effort};
use crate::bot::info::Info;
use crate::bot::spec::Program;
use crate::cli::support::failure::Failure;
use crate::cli::support::folder::{GameChoice, records_of};
use crate::cli::support::output::{ProgressBar, print_stderr};
use crate::cli::support::recorded::{self, AskedBotOptions, Recorded, RecordedRules};
use crate::cli::support::runtime::examine;
use crate::cli::support::setup::{PiecesFile, palette, unreadable};
use crate::cli::support::values::{self, MoveTime};
use crate::play::examiner::{Examiner, Question};
use crate::play::game_runner::{GameFault, GameRunner};
use crate::record::BotIndex;
use crate::record::reader::Reader;
use crate::solver;
use crate::text::counted;

/// Where a move had no limit: a bot that hangs must not keep the other games waiting.
const LONGEST_ANSWER: Duration = Duration::from_mins(1);

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
#[command(after_help = AFTER_HELP)]
pub(in crate::cli) struct Args {
    /// A file of records, as --record writes it, or the folder of a tournament
    file: PathBuf,

    /// The bot: a file, a command line or builtin:NAME
    bot: String,

    /// Only this game: 1 for the first of the file, or its id, such as p000012a; or `lost`: those that it lost, by a
    /// forfeit or otherwise
    #[arg(long, value_name = "N|ID|lost")]
    number: Option<GameChoice>,

    /// The time for a move [default: as in the game, else 10s; where there was no limit, an answer has 1 min]
    #[arg(long, value_name = "TIME", value_parser = values::move_time)]
    move_time: Option<MoveTime>,

    /// Print one JSON document
    #[arg(long)]
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

pub(in crate::cli) fn run(args: &Args) -> Result<(), Failure> {
    let program = recorded::program(&args.bot, "asked again")?;
    let file = records_of(&args.file)?;
    let rules = RecordedRules::new(&args.asked.game);
    let games = read(args, &rules, &program, &file)?;
    let program = args.asked.sandbox.confine(&program)?;
    let effort = Effort::Time(args.asked.time_per_move);
    let mut asking = Asking {
        args,
        program: &program,
        games: &games,
        analyst: Analyst::new(effort, solver::Options::default(), &Arc::default()),
        results: Vec::new(),
        unseen: 0,
    };
    let done = examine(asking.run());
    if asking.unseen > 0 {
        print_stderr(&format!(
            "referee: in {} its process had played others before, which are not all in this file; it was not sent those lines",
            counted(asking.unseen, "game", "games")
        ));
    }
    let report = output::Report {
        name: &program.name,
        games: &asking.results,
        is_complete: done.is_ok(),
    };
    if !matches!(done, Ok(()) | Err(Failure::Interrupted)) {
        return done;
    }
    report.print(args.json, &palette(&io::stdout()))?;
    done?;
    if report.is_wrong() {
        return Err(Failure::Mistaken);
    }
    Ok(())
}

struct OwnGame {
    recorded: Recorded,
    by: BotIndex,
    /// It is to be judged; otherwise it is only a part of what a process was asked before.
    is_chosen: bool,
    /// What the bot was asked, once that is needed.
    questions: OnceCell<Vec<Question>>,
}

impl OwnGame {
    fn questions(&self) -> Result<&[Question], Failure> {
        if self.questions.get().is_none() {
            let found = self.recorded.questions_if_any(self.by)?;
            let _ = self.questions.set(found);
        }
        Ok(self.questions.get().map_or(&[], Vec::as_slice))
    }

    fn result(&self) -> &'static str {
        match self.recorded.record.result.winner {
            None => "draw",
            Some(winner) if winner == self.by => "win",
            Some(_) => "loss",
        }
    }
}

/// All games with the bot: a process may have played several.
fn read(
    args: &Args,
    rules: &RecordedRules,
    program: &Program,
    file: &Path,
) -> Result<Vec<OwnGame>, Failure> {
    let failed = |error| unreadable(file, &error);
    let part = args.asked.part.as_deref();
    let mut reader = Reader::open(file).map_err(failed)?;
    let (mut games, mut others) = (Vec::new(), None);
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
        let is_named = match args.one() {
            Some(game) => !is_there && game.is(count, || Some(record.id.clone())),
            None => true,
        };
        is_there |= is_named;
        let is_only = is_named && args.one().is_some();
        let recorded = Recorded::of(file, count, record, rules)?;
        let by = match recorded.part(program, part) {
            Ok(by) => by,
            Err(failure) if is_only || recorded.parts(program, part).len() == 2 => {
                return Err(failure);
            }
            Err(failure) => {
                others.get_or_insert(failure);
                continue;
            }
        };
        if is_only {
            // Without questions a game is an error only when it was chosen.
            recorded.questions(by)?;
        }
        // A benched bot was not asked.
        let is_chosen = is_named && recorded.record.was_played();
        let mut game = OwnGame {
            recorded,
            by,
            is_chosen,
            questions: OnceCell::new(),
        };
        game.is_chosen &= !args.is_of_lost() || game.result() == "loss";
        games.push(game);
    }
    match (args.one(), others) {
        (Some(game), _) if !is_there => Err(game.missing(file, count)),
        (_, Some(failure)) if games.is_empty() => Err(failure),
        _ => Ok(games),
    }
}

struct Rerun<'a> {
    game: &'a OwnGame,
    questions: &'a [Question],
    departure: Option<Departure>,
    /// Set where it makes no legal turn now.
    forfeit: Option<GameFault>,
    /// What it said of its thinking where it departs.
    info: Info,
    has_solver: bool,
    judgement: Judgement,
}

/// The bot, as it played the games of one process.
struct Live {
    /// The index of the first of them.
    first: usize,
    examiner: Examiner,
    /// Kept while it may be read.
    _pieces: Option<PiecesFile>,
}

struct Asking<'a> {
    args: &'a Args,
    program: &'a Program,
    games: &'a [OwnGame],
    analyst: Analyst,
    results: Vec<Rerun<'a>>,
    /// Games whose process lacked earlier questions.
    unseen: u64,
}

impl<'a> Asking<'a> {
    async fn run(&mut self) -> Result<(), Failure> {
        let games = self.games;
        let chosen = || games.iter().enumerate().filter(|(_, game)| game.is_chosen);
        let bar = ProgressBar::new(chosen().count() as u64, "games");
        let mut live = None;
        for (index, game) in chosen() {
            bar.set_message(format!("game {}", game.recorded.number));
            if !game.questions()?.is_empty() {
                let examiner = self.examiner(index, &mut live).await?;
                let result = ask(game, examiner).await?;
                let mut result = self.judge(result).await?;
                self.ask_directly(&mut result, examiner).await?;
                self.results.push(result);
            }
            bar.inc();
        }
        if let Some(live) = &mut live {
            live.examiner.stop().await?;
        }
        Ok(())
    }

    /// It was sent all that the recorded process was sent before this game.
    async fn examiner<'b>(
        &mut self,
        index: usize,
        live: &'b mut Option<Live>,
    ) -> Result<&'b mut Examiner, Failure> {
        let OwnGame { recorded, by, .. } = &self.games[index];
        let is_earlier =
            |game: &OwnGame| game.by == *by && recorded.is_earlier(*by, &game.recorded.record);
        let before = self.games[..index].iter().enumerate();
        let earlier: Vec<_> = before.filter(|(_, game)| is_earlier(game)).collect();
        let (first, begun) = earlier
            .first()
            .copied()
            .unwrap_or((index, &self.games[index]));
        let since = recorded.since(*by);
        self.unseen += u64::from(since.is_some_and(|since| begun.recorded.record.id != since));
        let mut lines = Vec::new();
        for (_, game) in &earlier {
            lines.extend(game.questions()?.iter().map(|question| &question.line));
        }
        let live = match live.take() {
            Some(same) if same.first == first => live.insert(same),
            other => {
                if let Some(mut other) = other {
                    other.examiner.stop().await?;
                }
                live.insert(self.fresh(first, &self.games[index])?)
            }
        };
        live.examiner.catch_up(lines.into_iter()).await?;
        Ok(&mut live.examiner)
    }

    /// Not started yet.
    fn fresh(&self, first: usize, OwnGame { recorded, by, .. }: &OwnGame) -> Result<Live, Failure> {
        let pieces = recorded.pieces()?;
        let given = self.args.move_time;
        let seat = recorded.seat(*by, self.program, pieces.as_ref(), given);
        let seed = recorded.seed(*by, self.args.asked.seed);
        let mut limit = seat.time();
        if given.is_none() {
            limit.move_time = limit.move_time.or(Some(LONGEST_ANSWER));
        }
        let runner = Rc::new(GameRunner::new(Arc::clone(&recorded.ruleset), false)?);
        Ok(Live {
            first,
            examiner: Examiner::new(&runner, seat, seed, limit),
            _pieces: pieces,
        })
    }

    /// Asks about the mistakes that come after its first different answer.
    async fn ask_directly(
        &self,
        rerun: &mut Rerun<'a>,
        examiner: &mut Examiner,
    ) -> Result<(), Failure> {
        let ruleset = &*rerun.game.recorded.ruleset;
        let appraiser = self.analyst.appraiser(ruleset);
        for finding in &mut rerun.judgement.findings {
            let mut questions = rerun.questions.iter();
            let Some(question) = questions.find(|question| question.turn == finding.turn) else {
                continue;
            };
            if finding.verdict == Verdict::NotReached {
                let asked = examiner.ask(&question.line).await?.ok();
                let now = asked.as_ref().map(|answer| answer.turn.as_str());
                let judged = finding.judge_directly(ruleset, appraiser.as_ref(), question, now);
                judged.map_err(Failure::Referee)?;
            }
        }
        Ok(())
    }

    async fn judge(&self, mut rerun: Rerun<'a>) -> Result<Rerun<'a>, Failure> {
        let ruleset = Arc::clone(&rerun.game.recorded.ruleset);
        let appraiser = self.analyst.appraiser(&*ruleset);
        rerun.has_solver = appraiser.is_some();
        let (questions, departure) = (rerun.questions.to_vec(), rerun.departure.clone());
        // Ctrl-C does not wait for it.
        let judging = tokio::task::spawn_blocking(move || {
            judge(
                &*ruleset,
                appraiser.as_ref(),
                &questions,
                departure.as_ref(),
            )
        });
        let judged = judging.await;
        let judged = judged.map_err(|error| Failure::Referee(error.to_string()))?;
        rerun.judgement = judged.map_err(Failure::Referee)?;
        Ok(rerun)
    }
}

/// Up to the first other answer, or the first fault.
async fn ask<'a>(game: &'a OwnGame, examiner: &mut Examiner) -> Result<Rerun<'a>, Failure> {
    let questions = game.questions()?;
    let (mut departure, mut forfeit) = (None, None);
    for (index, question) in questions.iter().enumerate() {
        let asked = examiner.ask(&question.line).await?;
        let now = asked.as_ref().ok().map(|answer| answer.turn.clone());
        forfeit = asked.err();
        if now.as_deref() != question.answered.as_deref() {
            departure = Some(Departure { index, now });
        }
        if departure.is_some() || forfeit.is_some() {
            break;
        }
    }
    Ok(Rerun {
        game,
        questions,
        departure,
        forfeit,
        info: examiner.info().clone(),
        has_solver: false,
        judgement: Judgement::default(),
    })
}
