//! The questions of a recorded game, asked again of a changed bot: up to where it answers as before, and what became of
//! its mistakes.

use std::fmt;
use std::sync::Arc;

use serde::{Serialize, Serializer};
use tokio::task::{JoinError, spawn_blocking};

use referee_games::game::Ruleset;
use referee_games::solver::Value;
use referee_match::analysis::Analyst;
use referee_match::analysis::appraisal::Comparison;
use referee_match::analysis::rerun::{Departure, Finding, RerunVerdict, judge};
use referee_match::bot::info::Info;
use referee_match::play::examiner::{Examiner, Question};
use referee_match::play::game_runner::{GameError, GameFault};
use referee_match::record::{BotIndex, Record};
use referee_text::{escape_controls, short_name};

/// A game of a file, whose bot `by` is asked again.
#[derive(Clone, Copy)]
pub struct RecordedGame<'a> {
    /// From 1, in the file.
    pub number: u64,
    pub record: &'a Record,
    pub by: BotIndex,
    pub ruleset: &'a Arc<dyn Ruleset>,
}

pub struct RerunGame<'a> {
    pub game: RecordedGame<'a>,
    pub questions: Vec<Question>,
    pub departure: Option<Departure>,
    pub forfeit: Option<GameFault>,
    /// What it said with its last answer.
    pub info: Info,
    pub findings: Vec<Finding>,
}

/// As JSON what `referee rerun --json` prints.
pub struct RerunSummary<'a> {
    pub bot: String,
    pub games: Vec<RerunGame<'a>>,
    /// All games were asked.
    pub is_complete: bool,
}

#[derive(Debug)]
pub enum RerunError {
    Game(GameError),
    /// A sentence about a recorded question.
    Question(String),
    Judging(JoinError),
}

impl RerunError {
    fn question(error: impl fmt::Display) -> Self {
        Self::Question(error.to_string())
    }
}

impl fmt::Display for RerunError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Game(error) => error.fmt(formatter),
            Self::Question(problem) => problem.fmt(formatter),
            Self::Judging(error) => error.fmt(formatter),
        }
    }
}

impl std::error::Error for RerunError {}

impl From<GameError> for RerunError {
    fn from(error: GameError) -> Self {
        Self::Game(error)
    }
}

impl RecordedGame<'_> {
    /// `win`, `loss` or `draw`.
    pub fn result(&self) -> &'static str {
        match self.record.result.winner {
            None => "draw",
            Some(winner) if winner == self.by => "win",
            Some(_) => "loss",
        }
    }

    pub fn has_solver(&self) -> bool {
        self.ruleset.info().is_solvable()
    }
}

impl<'a> RerunGame<'a> {
    /// `examiner` has sent its bot what the recorded process was sent before this game.
    pub async fn ask(
        game: RecordedGame<'a>,
        questions: Vec<Question>,
        examiner: &mut Examiner,
        analyst: &Analyst,
    ) -> Result<Self, RerunError> {
        let mut rerun = Self {
            game,
            questions,
            departure: None,
            forfeit: None,
            info: Info::default(),
            findings: Vec::new(),
        };
        rerun.ask_as_recorded(examiner).await?;
        rerun.info = examiner.info().clone();
        rerun.judge(analyst).await?;
        rerun.ask_directly(examiner, analyst).await?;
        Ok(rerun)
    }

    /// Until an answer is another one.
    async fn ask_as_recorded(&mut self, examiner: &mut Examiner) -> Result<(), RerunError> {
        for (index, question) in self.questions.iter().enumerate() {
            let asked = examiner.ask(&question.line).await?;
            let now = asked.as_ref().ok().map(|answer| answer.turn.clone());
            self.forfeit = asked.err();
            if now.as_deref() != question.answered.as_deref() {
                self.departure = Some(Departure {
                    index,
                    now,
                    ..Departure::default()
                });
            }
            if self.departure.is_some() || self.forfeit.is_some() {
                break;
            }
        }
        Ok(())
    }

    async fn judge(&mut self, analyst: &Analyst) -> Result<(), RerunError> {
        let ruleset = Arc::clone(self.game.ruleset);
        let appraiser = analyst.appraiser(&*ruleset);
        let asked = self.questions.clone();
        let mut departure = self.departure.take();
        // Ctrl-C does not wait for it.
        let judging = spawn_blocking(move || {
            let judged = judge(&*ruleset, appraiser.as_ref(), &asked, departure.as_mut());
            judged.map(|findings| (findings, departure))
        });
        let judged = judging.await.map_err(RerunError::Judging)?;
        (self.findings, self.departure) = judged.map_err(RerunError::question)?;
        Ok(())
    }

    /// The questions of mistakes that were not reached: the protocol has no memory.
    async fn ask_directly(
        &mut self,
        examiner: &mut Examiner,
        analyst: &Analyst,
    ) -> Result<(), RerunError> {
        let ruleset = &**self.game.ruleset;
        let appraiser = analyst.appraiser(ruleset);
        for finding in &mut self.findings {
            let mut asked = self.questions.iter();
            let question = asked.find(|question| question.turn == finding.turn);
            if let (Some(question), RerunVerdict::NotReached) = (question, finding.verdict) {
                let asked = examiner.ask(&question.line).await?.ok();
                let now = asked.as_ref().map(|answer| answer.turn.as_str());
                finding
                    .judge_directly(ruleset, appraiser.as_ref(), question, now)
                    .map_err(RerunError::question)?;
            }
        }
        Ok(())
    }

    fn departs(&self) -> Option<(&Departure, &Question)> {
        let departure = self.departure.as_ref()?;
        Some((departure, &self.questions[departure.index]))
    }

    pub fn last_asked(&self) -> Option<&Question> {
        let departed = self.departs().map(|(_, question)| question);
        departed.or(self.questions.last())
    }

    /// The turn of its first other answer.
    pub fn departs_at(&self) -> Option<usize> {
        Some(self.departs()?.1.turn)
    }

    /// What the recorded bot said with the answer from which this one departs.
    pub fn info_then(&self) -> Option<&Info> {
        let turn = self.departs_at()?;
        let mut recorded = self.game.record.info.iter();
        Some(&recorded.find(|info| info.turn == turn)?.values)
    }

    fn verdict(&self) -> String {
        let findings = &self.findings;
        let mut texts: Vec<String> = findings.iter().map(Finding::text).collect();
        if let Some((departure, Question { turn, .. })) = self.departs() {
            if departure.now.is_some() && findings.iter().all(|finding| finding.turn != *turn) {
                let [_, now] = departure.values;
                let text = match now.and_then(|now| now.best.zip(now.turn.value)) {
                    _ if !self.game.has_solver() => "another turn".to_owned(),
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

    /// The game's number, its opponent, its result, where the bot departs, then, now, and what that means.
    pub fn row(&self) -> [String; 7] {
        let RecordedGame {
            number, record, by, ..
        } = self.game;
        let [departs, then, now] = match self.departs() {
            None => ["", "", ""].map(str::to_owned),
            Some((departure, question)) => {
                let now = match &self.forfeit {
                    Some(fault) => fault.fault.reason().to_string(),
                    None => valued(departure.now.as_deref(), departure.values[1]),
                };
                let then = valued(question.answered.as_deref(), departure.values[0]);
                [format!("turn {}", question.turn), then, now]
            }
        };
        [
            number.to_string(),
            short_name(&record.bots[by.other()].name),
            self.game.result().to_owned(),
            departs,
            then,
            now,
            self.verdict(),
        ]
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

impl RerunSummary<'_> {
    pub fn findings(&self) -> impl Iterator<Item = &Finding> {
        self.games.iter().flat_map(|game| &game.findings)
    }

    pub fn count(&self, verdict: RerunVerdict) -> usize {
        let found = self.findings();
        found.filter(|found| found.verdict == verdict).count()
    }

    /// In how many games it gives another answer.
    pub fn departures(&self) -> usize {
        let games = self.games.iter();
        games.filter(|game| game.departure.is_some()).count()
    }
}

#[derive(Serialize)]
struct AnswerFields<'a> {
    turn: Option<&'a str>,
    value: Option<&'static str>,
    #[serde(rename = "in")]
    plies: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    info: Option<&'a Info>,
}

impl<'a> AnswerFields<'a> {
    fn new(turn: Option<&'a str>, found: Option<Comparison>, info: Option<&'a Info>) -> Self {
        Self {
            turn,
            value: found.and_then(|found| found.turn.value).map(Value::name),
            plies: found.and_then(|found| found.turn.plies),
            info: info.filter(|info| !info.is_empty()),
        }
    }
}

#[derive(Serialize)]
struct DepartureFields<'a> {
    turn: usize,
    asked: Option<String>,
    then: AnswerFields<'a>,
    now: AnswerFields<'a>,
    best: Option<&'static str>,
}

#[derive(Serialize)]
struct ForfeitFields<'a> {
    turn: Option<usize>,
    reason: &'a str,
    detail: String,
    stderr: &'a str,
}

#[derive(Serialize)]
struct FindingFields {
    turn: usize,
    mistake: &'static str,
    best: Option<&'static str>,
    value: Option<&'static str>,
    verdict: RerunVerdict,
    directly: bool,
}

impl From<&Finding> for FindingFields {
    fn from(finding: &Finding) -> Self {
        Self {
            turn: finding.turn,
            mistake: finding.name(),
            best: finding.mistake.map(|(best, _)| best.name()),
            value: finding.mistake.map(|(_, value)| value.name()),
            verdict: finding.verdict,
            directly: finding.directly,
        }
    }
}

#[derive(Serialize)]
struct GameFields<'a> {
    game: u64,
    id: &'a str,
    bots: [&'a str; 2],
    bot: BotIndex,
    result: &'static str,
    turns: Vec<usize>,
    departs: Option<DepartureFields<'a>>,
    forfeits: Option<ForfeitFields<'a>>,
    solver: bool,
    findings: Vec<FindingFields>,
}

impl Serialize for RerunGame<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let RecordedGame {
            number,
            record,
            by,
            ruleset,
        } = self.game;
        let departs = self.departs().map(|(departure, question)| {
            let [then, now] = departure.values;
            let best = now.or(then).and_then(|found| found.best);
            let answered = question.answered.as_deref();
            DepartureFields {
                turn: question.turn,
                asked: question.line.request(&**ruleset).ok(),
                then: AnswerFields::new(answered, then, self.info_then()),
                now: AnswerFields::new(departure.now.as_deref(), now, Some(&self.info)),
                best: best.map(Value::name),
            }
        });
        let forfeits = self.forfeit.as_ref().map(|fault| ForfeitFields {
            turn: self.last_asked().map(|last| last.turn),
            reason: fault.fault.reason().name(),
            detail: fault.fault.to_string(),
            stderr: fault.stderr.trim_end(),
        });
        GameFields {
            game: number,
            id: &record.id,
            bots: BotIndex::ALL.map(|bot| &*record.bots[bot].name),
            bot: by,
            result: self.game.result(),
            turns: self.questions.iter().map(|asked| asked.turn).collect(),
            departs,
            forfeits,
            solver: self.game.has_solver(),
            findings: self.findings.iter().map(FindingFields::from).collect(),
        }
        .serialize(serializer)
    }
}

#[derive(Serialize)]
struct SummaryFields<'a> {
    bot: &'a str,
    games: &'a [RerunGame<'a>],
    departs: usize,
    forfeits: usize,
    gone: usize,
    still_there: usize,
    new: usize,
    unproven: usize,
    not_reached: usize,
    complete: bool,
}

impl Serialize for RerunSummary<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let forfeits = self.games.iter().filter(|game| game.forfeit.is_some());
        SummaryFields {
            bot: &self.bot,
            games: &self.games,
            departs: self.departures(),
            forfeits: forfeits.count(),
            gone: self.count(RerunVerdict::Gone),
            still_there: self.count(RerunVerdict::StillThere),
            new: self.count(RerunVerdict::New),
            unproven: self.count(RerunVerdict::Unproven),
            not_reached: self.count(RerunVerdict::NotReached),
            complete: self.is_complete,
        }
        .serialize(serializer)
    }
}
