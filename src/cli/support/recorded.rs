//! The recorded game that a bot is asked about again, and what was known of its process.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use super::duration::MoveTime;
use super::failure::Failure;
use super::folder::{GameChoice, pieces_of, plan_of, records_of};
use super::pieces_file::PiecesFile;
use super::recorded_game::RecordedRules;
use super::setup::{bot, unreadable};
use crate::bot::spec::{BotSpec, Program};
use crate::play::TimeControl;
use crate::play::questions::{Question, questions};
use crate::record::reader::Reader;
use crate::record::{BotIndex, ProcessEntry, Record};
use crate::session::Ruleset;
use crate::text::{escape_controls, quote, short_name};

/// A game of a file.
#[derive(Clone)]
pub(in crate::cli) struct Recorded {
    file: PathBuf,
    pub(in crate::cli) number: u64,
    pub(in crate::cli) record: Record,
    pub(in crate::cli) ruleset: Arc<dyn Ruleset>,
}

impl Recorded {
    /// Reads the chosen game, which need not be chosen if it is the only one.
    pub(in crate::cli) fn read(
        path: &Path,
        choice: Option<&GameChoice>,
        rules: &RecordedRules,
    ) -> Result<Self, Failure> {
        let file = records_of(path)?;
        let failed = |error| unreadable(&file, &error);
        let mut reader = Reader::open(&file).map_err(failed)?;
        let (mut games, mut chosen) = (0, None);
        while let Some(line) = reader.next_line().map_err(failed)? {
            if line.bytes().trim_ascii().is_empty() {
                continue;
            }
            games = line.number();
            let id = || Some(line.summary().ok()?.id.into_owned());
            if chosen.is_none() && choice.is_none_or(|choice| choice.is(line.number(), id)) {
                chosen = Some((games, line.bytes().to_vec()));
            }
        }
        let path = file.display();
        if choice.is_none() && games > 1 {
            return Err(Failure::Usage(format!(
                "{path}: it has {games} games; choose one with --game N"
            )));
        }
        let Some((number, line)) = chosen else {
            let first = GameChoice::Number(1);
            return Err(choice.unwrap_or(&first).missing(&file, games));
        };
        let invalid = |problem: String| Failure::Usage(format!("{path}: line {number}: {problem}"));
        let record = Record::from_line(&line).map_err(invalid)?;
        Self::of(&file, number, record, rules)
    }

    /// The game of this record, which is that of line `number` of a file.
    pub(in crate::cli) fn of(
        file: &Path,
        number: u64,
        record: Record,
        rules: &RecordedRules,
    ) -> Result<Self, Failure> {
        let ruleset = rules.of(&record).map_err(|problem| {
            Failure::Usage(format!("{}: line {number}: {problem}", file.display()))
        })?;
        Ok(Self {
            file: file.to_owned(),
            number,
            record,
            ruleset,
        })
    }

    /// A failure about this game.
    fn failure(&self, problem: &str) -> Failure {
        let file = self.file.display();
        Failure::Usage(format!("{file}: game {}: {problem}", self.number))
    }

    /// The name of a bot, safe to show.
    pub(in crate::cli) fn name(&self, bot: BotIndex) -> String {
        short_name(&self.record.bots[bot].name)
    }

    /// The bots whose part a program may play.
    fn parts(&self, program: &Program, given: Option<&str>) -> Vec<BotIndex> {
        parts(&self.record, program, given)
    }

    /// Whose part a program plays.
    pub(in crate::cli) fn part(
        &self,
        program: &Program,
        given: Option<&str>,
    ) -> Result<BotIndex, Failure> {
        let found = self.parts(program, given);
        let [a, b] = BotIndex::ALL.map(|bot| self.name(bot));
        match (&found[..], given) {
            (&[bot], _) if is_person(&self.record, bot) => {
                Err(self.failure(&format!("{} was a person", self.name(bot))))
            }
            (&[bot], _) => Ok(bot),
            (_, Some(given)) => Err(self.failure(&format!(
                "nobody in it is called {}; it is {a} against {b}: --as 1 or --as 2",
                quote(given.as_bytes())
            ))),
            (found, None) => Err(self.failure(&format!(
                "it is {a} against {b}, and {} could be {}; say whose part it plays: --as 1 or --as 2",
                program.name,
                if found.is_empty() { "neither" } else { "both" }
            ))),
        }
    }

    /// All that this bot was asked, which is something.
    pub(in crate::cli) fn questions(&self, bot: BotIndex) -> Result<Vec<Question>, Failure> {
        let found = self.questions_if_any(bot)?;
        if found.is_empty() {
            return Err(self.failure(&format!("{} was not asked anything", self.name(bot))));
        }
        Ok(found)
    }

    /// All that this bot was asked.
    pub(in crate::cli) fn questions_if_any(&self, bot: BotIndex) -> Result<Vec<Question>, Failure> {
        questions(&*self.ruleset, &self.record, bot).map_err(|violation| {
            let turn = violation
                .turn
                .map_or_else(String::new, |turn| format!("turn {turn}: "));
            self.failure(&format!("{turn}{}", violation.problem))
        })
    }

    /// The index of the question to stop after, and the numbers of all turns of the bot.
    pub(in crate::cli) fn stop(
        &self,
        bot: BotIndex,
        questions: &[Question],
        turn: Option<usize>,
    ) -> Result<(usize, String), Failure> {
        let numbers: Vec<String> = questions
            .iter()
            .map(|question| question.turn.to_string())
            .collect();
        let numbers = numbers.join(" ");
        let index = match turn {
            Some(turn) => questions
                .iter()
                .position(|question| question.turn == turn)
                .ok_or_else(|| {
                    self.failure(&format!(
                        "turn {turn} was not one of {}; its turns: {numbers}",
                        self.name(bot)
                    ))
                })?,
            None => questions
                .iter()
                .position(|question| question.answered.is_none())
                .unwrap_or(0),
        };
        Ok((index, numbers))
    }

    /// What was known of the process of a bot.
    pub(in crate::cli) fn process(&self, bot: BotIndex) -> Option<&ProcessEntry> {
        process(&self.record, bot)
    }

    /// The id of the first game of its process, where that is not this one.
    pub(in crate::cli) fn since(&self, bot: BotIndex) -> Option<&str> {
        self.process(bot)?.since.as_deref()
    }

    /// Whether the same process had played this game, which is before this one in the file.
    pub(in crate::cli) fn is_earlier(&self, bot: BotIndex, record: &Record) -> bool {
        let (Some(since), Some(own)) = (self.since(bot), process(record, bot)) else {
            return false;
        };
        let is_of_it = record.id == since || own.since.as_deref() == Some(since);
        is_of_it && record.bots[bot] == self.record.bots[bot]
    }

    /// The time for a move that its process was told of, unless another one is given.
    pub(in crate::cli) fn move_time(
        &self,
        bot: BotIndex,
        given: Option<MoveTime>,
    ) -> Option<Duration> {
        match (given, self.process(bot)) {
            (Some(MoveTime(given)), _) => given,
            (None, Some(process)) => process
                .move_time
                .and_then(|seconds| Duration::try_from_secs_f64(seconds).ok()),
            (None, None) => TimeControl::default().move_time,
        }
    }

    /// The seed of its process, unless another one is given.
    pub(in crate::cli) fn seed(&self, bot: BotIndex, given: Option<u32>) -> u32 {
        let recorded = self.process(bot).map(|process| process.seed);
        given.or(recorded).unwrap_or(0)
    }

    /// What its process was asked in games before this one, each with its number in the file.
    pub(in crate::cli) fn earlier(
        &self,
        bot: BotIndex,
        rules: &RecordedRules,
    ) -> Result<Vec<(u64, Vec<Question>)>, Failure> {
        let Some(since) = self.since(bot) else {
            return Ok(Vec::new());
        };
        let failed = |error| unreadable(&self.file, &error);
        let mut reader = Reader::open(&self.file).map_err(failed)?;
        let (mut found, mut begun) = (Vec::new(), false);
        while let Some(line) = reader.next_line().map_err(failed)? {
            let number = line.number();
            if number >= self.number {
                break;
            }
            let Ok(record) = Record::from_line(line.bytes()) else {
                continue;
            };
            if !self.is_earlier(bot, &record) {
                continue;
            }
            begun |= record.id == *since;
            let game = Self::of(&self.file, number, record, rules)?;
            found.push((number, game.questions(bot)?));
        }
        if begun {
            Ok(found)
        } else {
            let since = escape_controls(since);
            Err(self.failure(&format!(
                "its process began with game {since}, which is not before it in this file; leave out --from-first"
            )))
        }
    }

    /// Its piece set as a file, if it is not the built-in one: the one of then, where it is still there.
    pub(in crate::cli) fn pieces(&self) -> Result<Option<PiecesFile>, Failure> {
        let Some(text) = &self.record.pieces else {
            return Ok(None);
        };
        let file = match pieces_of(&self.file) {
            Some(path) => PiecesFile::new(Path::new(&path), text),
            None => PiecesFile::copy(text),
        };
        file.map(Some)
    }

    /// The variables that the plan of its tournament sets for this bot.
    pub(in crate::cli) fn environment(&self, bot: BotIndex) -> Vec<(String, String)> {
        let name = &self.record.bots[bot].name;
        let plan = plan_of(&self.file).ok().flatten();
        let own = plan.and_then(|plan| plan.bots.into_iter().find(|bot| bot.name == *name));
        own.map_or_else(Vec::new, |own| own.environment.into_iter().collect())
    }

    /// Which game it is, and who plays whose part.
    pub(in crate::cli) fn heading(&self, bot: BotIndex, program: &Program) -> String {
        let [a, b] = BotIndex::ALL.map(|bot| self.name(bot));
        let id = escape_controls(&self.record.id);
        let (own, number) = (self.name(bot), self.number);
        let begins = self.name(self.record.first);
        let played = if own == program.name {
            String::new()
        } else {
            format!("; {} plays the part of {own}", program.name)
        };
        format!(
            "Game {number} ({id}): {a} against {b}, {begins} begins{played}\n{}",
            self.record.result_line()
        )
    }
}

/// Whether a program is called as in a record, or is the file that it names.
fn is_same(program: &Program, name: &str, command: &[String]) -> bool {
    let file = |word: &String| Path::new(word).canonicalize().ok();
    let own = program.own_file().and_then(|path| path.canonicalize().ok());
    program.name == name
        || program.command == command
        || (own.is_some() && command.iter().any(|word| file(word) == own))
}

/// The bots of a record whose part a program may play: those with the given name or number, or else those that it is.
pub(in crate::cli) fn parts(
    record: &Record,
    program: &Program,
    given: Option<&str>,
) -> Vec<BotIndex> {
    let is_it = |bot: &BotIndex| {
        let entry = &record.bots[*bot];
        match given {
            Some(given) => entry.name == given || (bot.index() + 1).to_string() == given,
            None => is_same(program, &entry.name, &entry.command),
        }
    };
    BotIndex::ALL.into_iter().filter(is_it).collect()
}

/// Whether this bot of a record was a person.
pub(in crate::cli) fn is_person(record: &Record, bot: BotIndex) -> bool {
    let command = &record.bots[bot].command;
    command.first().is_some_and(|word| word == "human")
}

fn process(record: &Record, bot: BotIndex) -> Option<&ProcessEntry> {
    record.processes.as_ref()?[bot].as_ref()
}

/// The program that a BOT on the command line means. Nobody else can be asked again; `done` is what cannot be done
/// with a person.
pub(in crate::cli) fn program(text: &str, done: &str) -> Result<Program, Failure> {
    match bot(text)? {
        BotSpec::Program(program) => Ok(program),
        BotSpec::Human => Err(Failure::Usage(format!(
            "a person cannot be {done}; give a program"
        ))),
    }
}
