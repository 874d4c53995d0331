use crate::cli::support::prelude::*;
use crate::cli::support::recorded::{AskedBotOptions, fault_lines};
use referee::analysis::appraisal::Comparison;
use referee::analysis::rerun::{Departure, Finding, Verdict, judge};
use referee::bot::info::{Info, as_text};
use referee::play::game_runner::GameFault;
use referee::solver::Value;

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
pub(crate) struct Args {
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

pub(crate) fn run(args: &Args) -> Result<()> {
    let program = recorded::program(&args.bot, "asked again")?;
    let file = records_of(&args.file)?;
    let games = read(args, &program, &file)?;
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
        note!(
            "in {} its process had played others before, which are not all in this file; it was not sent those lines",
            counted(asking.unseen, "game", "games")
        );
    }
    if !matches!(done, Ok(()) | Err(Failure::Interrupted)) {
        return done;
    }
    let json = || asking.json(done.is_ok());
    print_found(args.json, json, |palette| asking.text(palette))?;
    done?;
    if asking.findings().any(|finding| finding.verdict.is_wrong()) {
        return Err(WRONG);
    }
    Ok(())
}

struct OwnGame {
    recorded: Recorded,
    by: BotIndex,
    /// It is to be judged; otherwise it is only a part of what a process was asked before.
    is_chosen: bool,
}

impl OwnGame {
    fn result(&self) -> &'static str {
        match self.recorded.record.result.winner {
            None => "draw",
            Some(winner) if winner == self.by => "win",
            Some(_) => "loss",
        }
    }
}

fn read(args: &Args, program: &Program, file: &Path) -> Result<Vec<OwnGame>> {
    let part = args.asked.part.as_deref();
    let (mut games, mut others) = (Vec::new(), None);
    let (mut count, mut is_there) = (0, false);
    for record in Records::open(file)? {
        let (number, record) = record?;
        count = number;
        let is_named = match args.one() {
            Some(game) => !is_there && game.is(count, || Some(record.id.clone())),
            None => true,
        };
        is_there |= is_named;
        let is_only = is_named && args.one().is_some();
        let recorded = Recorded::of(file, count, record, &args.asked.game)?;
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
    questions: Vec<Question>,
    departure: Option<Departure>,
    forfeit: Option<GameFault>,
    info: Info,
    findings: Vec<Finding>,
}

struct Live {
    /// The number of its first game.
    first: u64,
    examiner: Examiner,
    /// Kept while it may be read.
    _pieces: PiecesFile,
}

struct Asking<'a> {
    args: &'a Args,
    program: &'a Program,
    games: &'a [OwnGame],
    analyst: Analyst,
    results: Vec<Rerun<'a>>,
    unseen: u64,
}

impl<'a> Asking<'a> {
    async fn run(&mut self) -> Result<()> {
        let games = self.games;
        let chosen = || games.iter().enumerate().filter(|(_, game)| game.is_chosen);
        let bar = ProgressBar::new(chosen().count() as u64, "games");
        let mut live = None;
        for (index, game) in chosen() {
            bar.set_message(format!("game {}", game.recorded.number));
            let questions = game.recorded.questions_if_any(game.by)?;
            if !questions.is_empty() {
                let examiner = self.examiner(index, &mut live).await?;
                let result = self.ask(game, questions, examiner).await?;
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
    ) -> Result<&'b mut Examiner> {
        let game = &self.games[index];
        let OwnGame { recorded, by, .. } = game;
        let is_earlier =
            |game: &&OwnGame| game.by == *by && recorded.is_earlier(*by, &game.recorded.record);
        let earlier: Vec<_> = self.games[..index].iter().filter(is_earlier).collect();
        let Recorded { record, number, .. } = &earlier.first().unwrap_or(&game).recorded;
        let since = recorded.since(*by);
        self.unseen += u64::from(since.is_some_and(|since| record.id != since));
        let mut lines = Vec::new();
        for game in &earlier {
            let questions = game.recorded.questions_if_any(*by)?;
            lines.extend(questions.into_iter().map(|question| question.line));
        }
        let live = match live.take() {
            Some(same) if same.first == *number => live.insert(same),
            other => {
                if let Some(mut other) = other {
                    other.examiner.stop().await?;
                }
                live.insert(self.fresh(*number, game)?)
            }
        };
        live.examiner.catch_up(lines.iter()).await?;
        Ok(&mut live.examiner)
    }

    fn fresh(&self, first: u64, OwnGame { recorded, by, .. }: &OwnGame) -> Result<Live> {
        let pieces = recorded.pieces()?;
        let given = self.args.move_time;
        let seat = recorded.seat(*by, self.program, &pieces, given);
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

    async fn ask(
        &self,
        game: &'a OwnGame,
        questions: Vec<Question>,
        examiner: &mut Examiner,
    ) -> Result<Rerun<'a>> {
        let (mut departure, mut forfeit) = (None, None);
        for (index, question) in questions.iter().enumerate() {
            let asked = examiner.ask(&question.line).await?;
            let now = asked.as_ref().ok().map(|answer| answer.turn.clone());
            forfeit = asked.err();
            if now.as_deref() != question.answered.as_deref() {
                departure = Some(Departure {
                    index,
                    now,
                    ..Departure::default()
                });
            }
            if departure.is_some() || forfeit.is_some() {
                break;
            }
        }
        let info = examiner.info().clone();
        let ruleset = Arc::clone(&game.recorded.ruleset);
        let appraiser = self.analyst.appraiser(&*ruleset);
        let asked = questions.clone();
        // Ctrl-C does not wait for it.
        let judging = tokio::task::spawn_blocking(move || {
            let judged = judge(&*ruleset, appraiser.as_ref(), &asked, departure.as_mut());
            judged.map(|findings| (findings, departure))
        });
        let judged = judging.await;
        let judged = judged.map_err(|error| Failure::Referee(error.to_string()))?;
        let (mut findings, departure) = judged?;
        let ruleset = &*game.recorded.ruleset;
        let appraiser = self.analyst.appraiser(ruleset);
        for finding in &mut findings {
            let mut asked = questions.iter();
            let question = asked.find(|question| question.turn == finding.turn);
            if let (Some(question), Verdict::NotReached) = (question, finding.verdict) {
                let asked = examiner.ask(&question.line).await?.ok();
                let now = asked.as_ref().map(|answer| answer.turn.as_str());
                finding.judge_directly(ruleset, appraiser.as_ref(), question, now)?;
            }
        }
        Ok(Rerun {
            game,
            questions,
            departure,
            forfeit,
            info,
            findings,
        })
    }

    fn findings(&self) -> impl Iterator<Item = &Finding> {
        self.results.iter().flat_map(|game| &game.findings)
    }

    fn count(&self, verdict: Verdict) -> usize {
        let found = self.findings();
        found.filter(|found| found.verdict == verdict).count()
    }

    fn departures(&self) -> usize {
        let games = self.results.iter();
        games.filter(|game| game.departure.is_some()).count()
    }

    fn text(&self, palette: &Palette) -> String {
        if self.results.is_empty() {
            return "no games\n".to_owned();
        }
        let heads = ["game", "opponent", "result", "departs", "then", "now", ""];
        let mut rows = vec![heads.map(str::to_owned).to_vec()];
        rows.extend(self.results.iter().map(Rerun::row));
        let mut out = aligned(&rows, palette, &[1, 2, 4, 5, 6]);
        for game in &self.results {
            let number = game.game.recorded.number;
            if let Some(turn) = game.departs_at() {
                for (label, info) in [("then", game.info_then()), ("now", Some(&game.info))] {
                    if let Some(info) = info.filter(|info| !info.is_empty()) {
                        // A record may come from elsewhere.
                        let said = escape_controls(&as_text(info));
                        let _ = writeln!(out, "Game {number}, turn {turn}, {label}: {said}");
                    }
                }
            }
            if let (Some(fault), Some(last)) = (&game.forfeit, game.last_asked()) {
                let fault = fault_lines(fault, usize::MAX);
                let _ = writeln!(out, "Game {number}, turn {}: {fault}", last.turn);
            }
        }
        if let Some(game) = self.results.iter().find(|game| !game.has_solver()) {
            let name = escape_controls(&game.game.recorded.record.game);
            let _ = writeln!(
                out,
                "There is no solver for {name}: its turns are not judged."
            );
        }
        let mut parts = vec![format!("it departs in {}", self.departures())];
        for (verdict, words) in [
            (Verdict::Gone, "gone"),
            (Verdict::StillThere, "still there"),
            (Verdict::New, "new"),
            (Verdict::Unproven, "not proven"),
            (Verdict::NotReached, "not reached"),
        ] {
            let count = self.count(verdict);
            if count > 0 || !matches!(verdict, Verdict::Unproven | Verdict::NotReached) {
                parts.push(format!("{count} {words}"));
            }
        }
        let games = counted(self.results.len() as u64, "game", "games");
        let name = escape_controls(&self.program.name);
        out + &format!("{name}, {games}: {}\n", parts.join(", "))
    }

    fn json(&self, is_complete: bool) -> Json {
        let forfeits = self.results.iter().filter(|game| game.forfeit.is_some());
        json!({
            "bot": self.program.name,
            "games": self.results.iter().map(Rerun::json).collect::<Vec<_>>(),
            "departs": self.departures(),
            "forfeits": forfeits.count(),
            "gone": self.count(Verdict::Gone),
            "still_there": self.count(Verdict::StillThere),
            "new": self.count(Verdict::New),
            "unproven": self.count(Verdict::Unproven),
            "not_reached": self.count(Verdict::NotReached),
            "complete": is_complete,
        })
    }
}

impl Rerun<'_> {
    fn has_solver(&self) -> bool {
        self.game.recorded.ruleset.info().is_solvable()
    }

    fn departs(&self) -> Option<(&Departure, &Question)> {
        let departure = self.departure.as_ref()?;
        Some((departure, &self.questions[departure.index]))
    }

    fn last_asked(&self) -> Option<&Question> {
        let departed = self.departs().map(|(_, question)| question);
        departed.or(self.questions.last())
    }

    fn departs_at(&self) -> Option<usize> {
        Some(self.departs()?.1.turn)
    }

    fn info_then(&self) -> Option<&Info> {
        let turn = self.departs_at()?;
        let mut said = self.game.recorded.record.info.iter();
        Some(&said.find(|said| said.turn == turn)?.values)
    }

    fn verdict(&self) -> String {
        let findings = &self.findings;
        let mut texts: Vec<String> = findings.iter().map(Finding::text).collect();
        if let Some((departure, Question { turn, .. })) = self.departs() {
            if departure.now.is_some() && findings.iter().all(|finding| finding.turn != *turn) {
                let [_, now] = departure.values;
                let text = match now.and_then(|now| now.best.zip(now.turn.value)) {
                    _ if !self.has_solver() => "another turn".to_owned(),
                    None => "the new turn is not proven".to_owned(),
                    Some((Value::Loss, _)) => "every turn loses".to_owned(),
                    Some((best, _)) => format!("the new turn keeps the {}", best.name()),
                };
                let before = findings.iter().filter(|finding| finding.turn < *turn);
                texts.insert(before.count(), text);
            }
        } else if texts.is_empty() {
            return "answers as before".to_owned();
        }
        texts.join("; ")
    }

    fn row(&self) -> Vec<String> {
        let recorded = &self.game.recorded;
        let mut row = vec![
            recorded.number.to_string(),
            recorded.name(self.game.by.other()),
            self.game.result().to_owned(),
        ];
        row.extend(match self.departs() {
            None => ["", "", ""].map(str::to_owned),
            Some((departure, question)) => {
                let now = match &self.forfeit {
                    Some(fault) => fault.fault.reason().to_string(),
                    None => valued(departure.now.as_deref(), departure.values[1]),
                };
                let then = valued(question.answered.as_deref(), departure.values[0]);
                [format!("turn {}", question.turn), then, now]
            }
        });
        row.push(self.verdict());
        row
    }

    fn json(&self) -> Json {
        let recorded = &self.game.recorded;
        let side = |turn: Option<&str>, found: Option<Comparison>, info: Option<&Info>| {
            let mut side = json!({
                "turn": turn,
                "value": found.and_then(|found| found.turn.value).map(Value::name),
                "in": found.and_then(|found| found.turn.plies),
            });
            if let Some(info) = info.filter(|info| !info.is_empty()) {
                side["info"] = json!(info);
            }
            side
        };
        let departs = self.departs().map(|(departure, question)| {
            let [then, now] = departure.values;
            let best = now.or(then).and_then(|found| found.best);
            json!({
                "turn": question.turn,
                "asked": question.line.request(&*recorded.ruleset).ok(),
                "then": side(question.answered.as_deref(), then, self.info_then()),
                "now": side(departure.now.as_deref(), now, Some(&self.info)),
                "best": best.map(Value::name),
            })
        });
        let forfeits = self.forfeit.as_ref().map(|fault| {
            json!({
                "turn": self.last_asked().map(|last| last.turn),
                "reason": fault.fault.reason().name(),
                "detail": fault.fault.to_string(),
                "stderr": fault.stderr.trim_end(),
            })
        });
        let finding = |finding: &Finding| {
            json!({
                "turn": finding.turn,
                "mistake": finding.name(),
                "best": finding.mistake.map(|(best, _)| best.name()),
                "value": finding.mistake.map(|(_, value)| value.name()),
                "verdict": finding.verdict,
                "directly": finding.directly,
            })
        };
        json!({
            "game": recorded.number,
            "id": recorded.record.id,
            "bots": recorded.record.bots.each_ref().map(|bot| &bot.name),
            "bot": self.game.by,
            "result": self.game.result(),
            "turns": self.questions.iter().map(|asked| asked.turn).collect::<Vec<_>>(),
            "departs": departs,
            "forfeits": forfeits,
            "solver": self.has_solver(),
            "findings": self.findings.iter().map(finding).collect::<Vec<_>>(),
        })
    }
}

/// A turn with its value: `5 G (loss)`.
fn valued(turn: Option<&str>, comparison: Option<Comparison>) -> String {
    let Some(turn) = turn else {
        return "forfeit".to_owned();
    };
    let turn = escape_controls(turn);
    match comparison.and_then(|found| found.turn.value) {
        Some(value) => format!("{turn} ({})", value.name()),
        None => turn,
    }
}
