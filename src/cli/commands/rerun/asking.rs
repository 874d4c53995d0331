use std::path::Path;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

use super::Args;
use crate::cli::support::failure::Result;
use crate::cli::support::folder::Records;
use crate::cli::support::output::ProgressBar;
use crate::cli::support::recorded::Recorded;
use crate::cli::support::setup::PiecesFile;
use referee::analysis::{Analyst, Effort};
use referee::bot::spec::Program;
use referee::play::examiner::Examiner;
use referee::play::game_runner::GameRunner;
use referee::record::BotIndex;
use referee::solver;
use referee::study::rerun::{RecordedGame, RerunGame};

/// Where a move had no limit: a bot that hangs must not keep the other games waiting.
const LONGEST_ANSWER: Duration = Duration::from_mins(1);

/// A game of the file that the bot played.
pub(super) struct ReadGame {
    recorded: Recorded,
    by: BotIndex,
    /// It is to be judged; otherwise it is only a part of what a process was asked before.
    is_chosen: bool,
}

impl ReadGame {
    fn recorded_game(&self) -> RecordedGame<'_> {
        RecordedGame {
            number: self.recorded.number,
            record: &self.recorded.record,
            by: self.by,
            ruleset: &self.recorded.ruleset,
        }
    }
}

pub(super) fn read(args: &Args, program: &Program, file: &Path) -> Result<Vec<ReadGame>> {
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
        let mut game = ReadGame {
            recorded,
            by,
            is_chosen,
        };
        game.is_chosen &= !args.is_of_lost() || game.recorded_game().result() == "loss";
        games.push(game);
    }
    match (args.one(), others) {
        (Some(game), _) if !is_there => Err(game.missing(file, count)),
        (_, Some(failure)) if games.is_empty() => Err(failure),
        _ => Ok(games),
    }
}

struct Live {
    /// The number of its first game.
    first: u64,
    examiner: Examiner,
    /// Kept while it may be read.
    _pieces: PiecesFile,
}

/// Asks a bot again what it was asked in games of a file.
pub(super) struct Asking<'a> {
    args: &'a Args,
    program: &'a Program,
    games: &'a [ReadGame],
    analyst: Analyst,
    pub(super) results: Vec<RerunGame<'a>>,
    /// Games before which its process had been sent lines that are not in the file.
    pub(super) unseen: u64,
}

impl<'a> Asking<'a> {
    pub(super) fn new(args: &'a Args, program: &'a Program, games: &'a [ReadGame]) -> Self {
        let effort = Effort::Time(args.asked.time_per_move);
        Self {
            args,
            program,
            games,
            analyst: Analyst::new(effort, solver::SolverOptions::default(), &Arc::default()),
            results: Vec::new(),
            unseen: 0,
        }
    }

    pub(super) async fn run(&mut self) -> Result<()> {
        let games = self.games;
        let chosen = || games.iter().enumerate().filter(|(_, game)| game.is_chosen);
        let bar = ProgressBar::new(chosen().count() as u64, "games");
        let mut live = None;
        for (index, game) in chosen() {
            bar.set_message(format!("game {}", game.recorded.number));
            let questions = game.recorded.questions_if_any(game.by)?;
            if !questions.is_empty() {
                let examiner = self.examiner(index, &mut live).await?;
                let game = game.recorded_game();
                let rerun = RerunGame::ask(game, questions, examiner, &self.analyst).await?;
                self.results.push(rerun);
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
        let ReadGame { recorded, by, .. } = game;
        let is_earlier =
            |game: &&ReadGame| game.by == *by && recorded.is_earlier(*by, &game.recorded.record);
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

    fn fresh(&self, first: u64, ReadGame { recorded, by, .. }: &ReadGame) -> Result<Live> {
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
}
