//! Asks the bots of a class block after block, several at a time, until it is certain which pairs can stand out or the time
//! is over.

use std::collections::{HashMap, HashSet};
use std::fmt::{self, Display, Formatter};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use super::asking_queue::{AskedPart, AskingQueue};
use super::findings::AlikeFindings;
use super::kept_answers::{KeptAnswers, key};
use super::questions::{Drawn, QuestionSource, draw};
use super::stages::{Stages, questions};
use super::{AnsweredPart, Answers, BLOCK, Part, QUESTIONS, Questionnaire};
use referee_games::game::Ruleset;
use referee_games::solver::SolverOptions;
use referee_host::threads::{self, locked, processors};
use referee_match::analysis::{Analyst, Effort};
use referee_match::bot::runtime;
use referee_match::bot::shell::quoted;
use referee_match::bot::spec::CannotStart;
use referee_match::play::game_runner::GameError;
use referee_match::play::setup::options_of;
use referee_match::seed::{Purpose, generator};
use referee_stats::alike::{ROUNDS, pairs};
use referee_tournament::entrants::Entrant;

/// Of the solver, for each turn of a position.
const NODES: u64 = 1 << 22;

/// The share of the time that is left in which positions are drawn.
const DRAWING: f64 = 0.5;

/// What bots are asked, and for how long.
#[derive(Clone, Debug)]
pub struct InterviewSettings<'a> {
    pub ruleset: &'a Arc<dyn Ruleset>,
    /// The piece set's file, for the bots, unless it is built in.
    pub pieces: Option<&'a str>,
    /// Draws the positions, and is that of the bots in the first round.
    pub seed: u32,
    pub until: Instant,
    /// Set from outside, it ends the interview as the end of the time does.
    pub stop: &'a Arc<AtomicBool>,
}

#[derive(Debug, thiserror::Error)]
pub enum InterviewError {
    #[error(transparent)]
    Game(#[from] GameError),
    /// Starter code, started by this command, explains nothing, since it answers nothing.
    #[error(
        "--starter {bot}: it {silence}; `referee check{game} {}` shows what is wrong with it",
        quoted(bot)
    )]
    SilentStarter {
        bot: String,
        silence: Silence,
        /// The options that choose the game, each with a space before it.
        game: String,
    },
}

/// That a bot gave no answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Silence {
    /// Its first fault, a sentence; `None` where it was asked in an earlier run only.
    pub fault: Option<String>,
}

impl Display for Silence {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str("gave no answer")?;
        match &self.fault {
            Some(fault) => write!(f, ": {fault}"),
            None => Ok(()),
        }
    }
}

/// Called once for each bot that cannot be started here and now. It is asked nothing; that is not kept.
pub type LeaveOut<'a> = &'a (dyn Fn(&Entrant, &CannotStart) + Sync);

/// Bots that are asked the same questions, among them starter code, whose answers explain those of others.
///
/// Each process runs on a thread of its own, as many at a time as there are CPUs. How far the interview is can be asked
/// meanwhile, by [`Self::answered`].
#[derive(Debug)]
pub struct Interview<'a> {
    settings: InterviewSettings<'a>,
    bots: &'a [Entrant],
    starters: &'a [Entrant],
    /// Answers, and those that need not be asked.
    done: AtomicUsize,
    /// By key: bots that cannot be started here and now. They answer nothing, which is not kept.
    missing: Mutex<HashSet<String>>,
    /// By key: the first fault of a bot in this run.
    faults: Mutex<HashMap<String, String>>,
}

/// What came of a part.
enum AskedOutcome {
    Answered(AnsweredPart),
    TimeOver,
    CannotStart,
}

impl<'a> Interview<'a> {
    /// `starters`: starter code.
    pub fn new(
        settings: InterviewSettings<'a>,
        bots: &'a [Entrant],
        starters: &'a [Entrant],
    ) -> Self {
        Self {
            settings,
            bots,
            starters,
            done: AtomicUsize::new(0),
            missing: Mutex::default(),
            faults: Mutex::default(),
        }
    }

    /// All that can be asked.
    pub const fn questions(&self) -> usize {
        (self.bots.len() + self.starters.len()) * QUESTIONS * ROUNDS
    }

    /// How many of all questions are answered, or need not be asked.
    pub fn answered(&self) -> usize {
        self.done.load(Ordering::Relaxed)
    }

    /// Asks block after block who may still be in a pair that stands out, until the time is over. Keeps every answer; of
    /// those that were kept before, none is asked again.
    pub fn ask(
        &self,
        kept: &mut KeptAnswers,
        leave_out: LeaveOut<'_>,
    ) -> Result<Stages, InterviewError> {
        let mut stages = Stages::new(self.bots.len(), self.starters.len());
        loop {
            self.draw(stages.positions(), &mut kept.drawn);
            let drawn = &kept.drawn;
            let is_drawn =
                drawn.is_complete(QUESTIONS) || drawn.positions.len() >= stages.positions();
            let is_complete = self.ask_block(&stages, kept, leave_out)?;
            self.check_starters(kept)?;
            if !is_complete || !is_drawn {
                return Ok(stages);
            }
            let positions = kept.drawn.positions.len().min(stages.positions());
            let answers = self.counted(&stages, kept);
            let goes_on = stages.advance(&kept.drawn.positions[..positions], &answers);
            self.count_decided(&stages);
            if !goes_on {
                return Ok(stages);
            }
        }
    }

    /// The bots that gave no answer, of those that could be started.
    pub fn silent(&self, kept: &KeptAnswers) -> impl Iterator<Item = (&'a Entrant, Silence)> {
        let is_silent = move |bot: &&Entrant| !self.is_missing(bot) && kept.is_silent(bot);
        let silent = self.all().filter(is_silent);
        silent.map(move |bot| (bot, self.silence(bot)))
    }

    /// What the answers say; `None` where no position was found in which a choice says something. `stages` are those that
    /// [`Self::ask`] came to.
    pub fn findings(&self, stages: Stages, kept: &KeptAnswers) -> Option<AlikeFindings> {
        let wanted = stages.positions();
        let drawn = &kept.drawn.positions;
        let positions = &drawn[..wanted.min(drawn.len())];
        if positions.is_empty() {
            return None;
        }
        let undrawn = if kept.drawn.is_complete(QUESTIONS) {
            0
        } else {
            wanted - positions.len()
        };
        let answers = self.counted(&stages, kept);
        let names = self.bots.iter().map(|bot| bot.plan.name.clone());
        Some(AlikeFindings {
            seed: self.settings.seed,
            names: names.collect(),
            pairs: pairs(&questions(positions, &answers), self.bots.len()),
            positions: positions.to_vec(),
            undrawn,
            answers,
            stages,
        })
    }

    fn all(&self) -> impl Iterator<Item = &'a Entrant> + use<'a> {
        self.bots.iter().chain(self.starters)
    }

    fn bot(&self, number: usize) -> &'a Entrant {
        let starter = || &self.starters[number - self.bots.len()];
        self.bots.get(number).unwrap_or_else(starter)
    }

    fn is_stopped(&self) -> bool {
        self.settings.stop.load(Ordering::Relaxed)
    }

    fn is_over(&self) -> bool {
        self.is_stopped() || Instant::now() >= self.settings.until
    }

    fn time_left(&self) -> Duration {
        let until = self.settings.until;
        until.saturating_duration_since(Instant::now())
    }

    fn check_starters(&self, kept: &KeptAnswers) -> Result<(), InterviewError> {
        for starter in self.starters {
            if self.is_missing(starter) || kept.is_silent(starter) {
                return Err(InterviewError::SilentStarter {
                    bot: starter.plan.bot.clone(),
                    silence: self.silence(starter),
                    game: options_of(&**self.settings.ruleset),
                });
            }
        }
        Ok(())
    }

    fn is_missing(&self, bot: &Entrant) -> bool {
        locked(&self.missing).contains(&key(bot))
    }

    fn silence(&self, bot: &Entrant) -> Silence {
        Silence {
            fault: locked(&self.faults).get(&key(bot)).cloned(),
        }
    }

    /// Up to so many positions, in half of the time that is left.
    fn draw(&self, positions: usize, drawn: &mut Drawn) {
        if drawn.is_complete(QUESTIONS) || drawn.positions.len() >= positions {
            return;
        }
        let until = Instant::now() + self.time_left().mul_f64(DRAWING);
        let InterviewSettings {
            ruleset,
            seed,
            stop,
            ..
        } = self.settings;
        let effort = Effort::Nodes(NODES);
        let analyst = Analyst::new(effort, SolverOptions::default(), stop);
        let appraiser = analyst.appraiser(&**ruleset);
        let source = QuestionSource {
            ruleset: &**ruleset,
            appraiser: appraiser.as_ref(),
            random: generator(seed.into(), Purpose::Alike, [0, 0]),
        };
        let is_over = |found| found >= positions || self.is_stopped() || Instant::now() >= until;
        let more = draw(source, QUESTIONS, drawn.clone(), is_over);
        // The solver gave up the last position.
        if !self.is_stopped() {
            *drawn = more;
        }
    }

    /// The answers that count, of all bots.
    fn counted(&self, stages: &Stages, kept: &KeptAnswers) -> Vec<Answers> {
        let positions = kept.drawn.positions.len();
        let bots = self.all().enumerate();
        bots.map(|(number, bot)| {
            let is_missing = self.is_missing(bot);
            let answers = kept.of(bot).filter(|_| !is_missing);
            let none = || is_missing.then(|| Answers::none(positions));
            let mut answers = answers.cloned().or_else(none).unwrap_or_default();
            answers.fit(positions);
            stages.counted(number, &answers)
        })
        .collect()
    }

    fn count_decided(&self, stages: &Stages) {
        let all = self.bots.len() + self.starters.len();
        let decided = all - stages.open().count();
        let blocks = QUESTIONS.div_ceil(BLOCK);
        let spared = decided * (blocks - stages.block()) * BLOCK;
        let asked = stages.block() * BLOCK * all;
        self.done
            .store((asked + spared) * ROUNDS, Ordering::Relaxed);
    }

    /// What is not known of a block.
    fn queue(&self, stages: &Stages, kept: &mut KeptAnswers) -> AskingQueue {
        let mut keys = HashSet::new();
        let mut queue = AskingQueue::default();
        for number in stages.open() {
            let bot = self.bot(number);
            // Two bots of the same files are asked once.
            if !keys.insert(key(bot)) || self.is_missing(bot) {
                continue;
            }
            let answers = kept.of_mut(bot);
            for part in Part::of(stages.block()).filter(|part| !answers.has(*part)) {
                queue.add(AskedPart {
                    bot: number,
                    part,
                    faults: answers.faults_before(part),
                });
            }
        }
        queue
    }

    /// Asks what is not known of a block: whether all has been answered.
    fn ask_block(
        &self,
        stages: &Stages,
        kept: &mut KeptAnswers,
        leave_out: LeaveOut<'_>,
    ) -> Result<bool, GameError> {
        let queue = Mutex::new(self.queue(stages, kept));
        let positions = &kept.drawn.positions;
        let questionnaire = Questionnaire {
            ruleset: self.settings.ruleset,
            positions: &positions[..positions.len().min(stages.positions())],
            seed: self.settings.seed,
        };
        let found = Mutex::new(Vec::new());
        threads::share(processors(), || {
            loop {
                let Some(part) = locked(&queue).next(self.time_left(), processors()) else {
                    return;
                };
                let begun = Instant::now();
                let asked = self.ask_part(&questionnaire, part, leave_out);
                locked(&queue).took(part.bot, begun.elapsed());
                self.done.fetch_add(BLOCK, Ordering::Relaxed);
                locked(&found).push((part, asked));
            }
        });
        let mut is_complete = true;
        let found = found.into_inner().unwrap_or_else(PoisonError::into_inner);
        for (part, asked) in found {
            match asked? {
                AskedOutcome::Answered(AnsweredPart { choices, fault }) => {
                    let bot = self.bot(part.bot);
                    if let Some(fault) = fault {
                        let mut faults = locked(&self.faults);
                        faults.entry(key(bot)).or_insert(fault);
                    }
                    kept.of_mut(bot).keep(part.part, &choices);
                }
                AskedOutcome::TimeOver => is_complete = false,
                AskedOutcome::CannotStart => {}
            }
        }
        Ok(is_complete)
    }

    fn ask_part(
        &self,
        questionnaire: &Questionnaire<'_>,
        asked: AskedPart,
        leave_out: LeaveOut<'_>,
    ) -> Result<AskedOutcome, GameError> {
        let bot = self.bot(asked.bot);
        if self.is_over() {
            return Ok(AskedOutcome::TimeOver);
        }
        if self.is_missing(bot) {
            return Ok(AskedOutcome::CannotStart);
        }
        let seat = bot.seat(&**self.settings.ruleset, self.settings.pieces, None);
        let is_over = || self.is_over();
        let asking = questionnaire.ask(seat, asked.part, asked.faults, is_over);
        match runtime::block_on(asking) {
            Err(GameError::CannotStart(error)) => {
                if locked(&self.missing).insert(key(bot)) {
                    leave_out(bot, &error);
                }
                Ok(AskedOutcome::CannotStart)
            }
            answered => Ok(answered?.map_or(AskedOutcome::TimeOver, AskedOutcome::Answered)),
        }
    }
}
