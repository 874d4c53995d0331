//! Asks the bot, game by game, and has its answers judged.

use std::io;
use std::time::Duration;

use super::{Args, OwnGame};
use crate::analysis::appraisal::Appraiser;
use crate::analysis::rerun::{Asked, Departure, Judgement, judge};
use crate::bot::spec::Program;
use crate::cli::support::failure::Failure;
use crate::cli::support::output::ProgressBar;
use crate::cli::support::setup::PiecesFile;
use crate::play::TimeControl;
use crate::play::questions::{Answer, Conversation, Question};
use crate::play::seat::{Seat, StartError};
use crate::session::Solvers;
use crate::solver;

/// Where a move had no limit: a bot that hangs must not keep the other games waiting.
const LONGEST_ANSWER: Duration = Duration::from_mins(1);

#[derive(Clone, Debug)]
pub(super) struct Forfeit {
    /// As in records.
    pub(super) reason: &'static str,
    /// Without a full stop.
    pub(super) detail: String,
    /// Its end, escaped.
    pub(super) stderr: String,
}

pub(super) struct Rerun<'a> {
    pub(super) game: &'a OwnGame,
    pub(super) asked: Vec<Asked>,
    pub(super) departure: Option<Departure>,
    /// Set where it makes no legal turn now.
    pub(super) forfeit: Option<Forfeit>,
    pub(super) has_solver: bool,
    pub(super) judgement: Judgement,
}

struct Live<'a> {
    bot: Conversation<'a>,
    /// Indices of the games whose questions it was sent.
    games: Vec<usize>,
    /// Questions of the last game that were not sent after it departed.
    pending: Vec<Question>,
    /// Kept while it may be read.
    _pieces: Option<PiecesFile>,
}

pub(super) struct Asking<'a> {
    args: &'a Args,
    program: Program,
    games: &'a [OwnGame],
    live: Option<Live<'a>>,
    solvers: Solvers,
    results: Vec<Rerun<'a>>,
    unseen: u64,
    bar: ProgressBar,
}

impl<'a> Asking<'a> {
    pub(super) fn new(args: &'a Args, program: Program, games: &'a [OwnGame]) -> Self {
        Self {
            args,
            program,
            games,
            live: None,
            solvers: Solvers::new(solver::Options::default()),
            results: Vec::new(),
            unseen: 0,
            bar: ProgressBar::new(0, "games"),
        }
    }

    pub(super) async fn run(&mut self, chosen: &[usize]) -> Result<(), Failure> {
        self.bar = ProgressBar::new(chosen.len() as u64, "games");
        for &index in chosen {
            let result = self.game(index).await?;
            self.results.extend(result);
            self.bar.inc();
        }
        self.bar.line.clear();
        Ok(())
    }

    pub(super) async fn stop(&mut self) -> io::Result<()> {
        match &mut self.live {
            Some(live) => live.bot.stop().await,
            None => Ok(()),
        }
    }

    /// Results, and the number of games whose process lacked earlier questions.
    pub(super) fn finish(self) -> (Vec<Rerun<'a>>, u64) {
        (self.results, self.unseen)
    }

    async fn game(&mut self, index: usize) -> Result<Option<Rerun<'a>>, Failure> {
        let games = self.games;
        let game = &games[index];
        let number = game.recorded.number;
        self.bar.set_message(format!("game {number}"));
        let questions = game.recorded.questions_if_any(game.by)?;
        if questions.is_empty() {
            return Ok(None);
        }
        let asked = asked(game, &questions)?;
        let live = self.process(index).await?;
        let (mut departure, mut forfeit) = (None, None);
        for (at, question) in questions.iter().enumerate() {
            let answer = live.bot.ask(&question.line).await?;
            if let Answer::Fault(fault, ended) = &answer {
                forfeit = Some(Forfeit {
                    reason: fault.reason().name(),
                    detail: fault.to_string(),
                    stderr: ended.stderr.trim_end().to_owned(),
                });
            }
            if answer.turn() != question.answered.as_deref() {
                departure = Some(Departure {
                    index: at,
                    now: answer.turn().map(str::to_owned),
                });
            }
            if departure.is_some() || forfeit.is_some() {
                live.pending = questions[at + 1..].to_vec();
                break;
            }
        }
        let time = self.args.asked.time_per_move;
        let appraiser = Appraiser::new(&*game.recorded.ruleset, &self.solvers, time);
        let has_solver = appraiser.is_some();
        // Ctrl-C does not wait for it.
        let judging = tokio::task::spawn_blocking(move || {
            let judged = judge(appraiser.as_ref(), &asked, departure.as_ref());
            (judged, asked, departure)
        });
        let (judged, asked, departure) = judging
            .await
            .map_err(|error| Failure::Referee(error.to_string()))?;
        Ok(Some(Rerun {
            game,
            asked,
            departure,
            forfeit,
            has_solver,
            judgement: judged.map_err(Failure::Referee)?,
        }))
    }

    /// It was sent all that the recorded process was sent before this game.
    async fn process(&mut self, index: usize) -> Result<&mut Live<'a>, Failure> {
        let games = self.games;
        let OwnGame { recorded, by } = &games[index];
        let before = || games[..index].iter().enumerate();
        let earlier: Vec<usize> = before()
            .filter(|(_, game)| game.by == *by && recorded.is_earlier(*by, &game.recorded.record))
            .map(|(index, _)| index)
            .collect();
        if let Some(since) = recorded.since(*by)
            && earlier
                .first()
                .is_none_or(|&first| games[first].recorded.record.id != since)
        {
            self.unseen += 1;
        }
        let continues =
            |live: &Live<'_>| live.bot.is_running() && is_continued(&live.games, &earlier);
        if !self.live.as_ref().is_some_and(continues) {
            self.stop().await?;
            self.live = None;
            let live = self.fresh(index)?;
            start(&mut self.live.insert(live).bot).await?;
        }
        let live = self.live.as_mut().ok_or_else(lost)?;
        let pending = std::mem::take(&mut live.pending);
        send(&mut live.bot, &pending).await?;
        for &at in &earlier[live.games.len()..] {
            let game = &games[at];
            let questions = game.recorded.questions_if_any(game.by)?;
            send(&mut live.bot, &questions).await?;
            live.games.push(at);
        }
        live.games.push(index);
        Ok(live)
    }

    /// Not started yet.
    fn fresh(&self, index: usize) -> Result<Live<'a>, Failure> {
        let OwnGame { recorded, by } = &self.games[index];
        let pieces = recorded.pieces()?;
        let time = TimeControl {
            move_time: recorded.move_time(*by, self.args.move_time),
            ..TimeControl::default()
        };
        let path = pieces.as_ref().map(PiecesFile::path);
        let seat = Seat::program(&*recorded.ruleset, path, self.program.clone(), time)
            .with_environment(recorded.environment(*by));
        let seed = recorded.seed(*by, self.args.asked.seed);
        let limit = if self.args.move_time.is_some() {
            time.move_time
        } else {
            time.move_time.or(Some(LONGEST_ANSWER))
        };
        let bot = Conversation::new(&*recorded.ruleset, seat, seed).with_limit(TimeControl {
            move_time: limit,
            ..time
        });
        Ok(Live {
            bot,
            games: Vec::new(),
            pending: Vec::new(),
            _pieces: pieces,
        })
    }
}

fn lost() -> Failure {
    Failure::Referee("the bot has no process".to_owned())
}

/// A process that was sent these games may go on after those of `earlier`.
fn is_continued(sent: &[usize], earlier: &[usize]) -> bool {
    !sent.is_empty() && earlier.starts_with(sent)
}

async fn start(bot: &mut Conversation<'_>) -> Result<(), Failure> {
    let started = bot.start().await;
    started.map(|_| ()).map_err(|error| match error {
        StartError::CannotStart(error) => error.into(),
        StartError::Exhausted(limit) => Failure::Exhausted(limit),
    })
}

/// Ignores the answers. After a forfeit a fresh process goes on.
async fn send(bot: &mut Conversation<'_>, questions: &[Question]) -> Result<(), Failure> {
    for question in questions {
        if let Answer::Fault(..) = bot.ask(&question.line).await? {
            start(bot).await?;
        }
    }
    Ok(())
}

fn asked(game: &OwnGame, questions: &[Question]) -> Result<Vec<Asked>, Failure> {
    let lines = questions.iter().map(|question| {
        let session = question.line.session(&*game.recorded.ruleset)?;
        let mut request = String::new();
        session.write_request(&mut request);
        Ok(Asked {
            turn: question.turn,
            request,
            then: question.answered.as_deref().map(str::to_owned),
        })
    });
    lines
        .collect::<Result<_, String>>()
        .map_err(Failure::Referee)
}
