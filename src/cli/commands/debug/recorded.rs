//! The recorded game that a bot is asked about again, and what was known of its process.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::bot::spec::Program;
use crate::cli::support::failure::Failure;
use crate::cli::support::folder::{GameChoice, pieces_of, plan_of, records_of};
use crate::cli::support::pieces_file::PiecesFile;
use crate::cli::support::setup::{recorded_ruleset, unreadable};
use crate::play::questions::{Question, questions};
use crate::record::reader::Reader;
use crate::record::{BotIndex, Record};
use crate::session::Ruleset;
use crate::text::{escape_controls, quote};

/// A game of a file.
pub(super) struct Recorded {
    file: PathBuf,
    number: u64,
    pub(super) record: Record,
    pub(super) ruleset: Arc<dyn Ruleset>,
}

impl Recorded {
    /// Reads the chosen game, which need not be chosen if it is the only one.
    pub(super) fn read(path: &Path, choice: Option<&GameChoice>) -> Result<Self, Failure> {
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
        let ruleset = recorded_ruleset(&record).map_err(invalid)?;
        Ok(Self {
            file,
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
    fn name(&self, bot: BotIndex) -> String {
        escape_controls(&self.record.bots[bot].name)
    }

    /// Whose part a program plays.
    pub(super) fn part(&self, program: &Program, given: Option<&str>) -> Result<BotIndex, Failure> {
        let is_it = |bot: BotIndex| {
            let entry = &self.record.bots[bot];
            match given {
                Some(given) => entry.name == given || (bot.index() + 1).to_string() == given,
                None => is_same(program, &entry.name, &entry.command),
            }
        };
        let found: Vec<BotIndex> = BotIndex::ALL
            .into_iter()
            .filter(|&bot| is_it(bot))
            .collect();
        let [a, b] = BotIndex::ALL.map(|bot| self.name(bot));
        match (&found[..], given) {
            (&[bot], _) if self.record.bots[bot].command.first().is_some_and(|word| word == "human") => {
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

    /// All that this bot was asked.
    pub(super) fn questions(&self, bot: BotIndex) -> Result<Vec<Question>, Failure> {
        let found = questions(&*self.ruleset, &self.record, bot).map_err(|violation| {
            let turn = violation
                .turn
                .map_or_else(String::new, |turn| format!("turn {turn}: "));
            self.failure(&format!("{turn}{}", violation.problem))
        })?;
        if found.is_empty() {
            return Err(self.failure(&format!("{} was not asked anything", self.name(bot))));
        }
        Ok(found)
    }

    /// The index of the question to stop after, and the numbers of all turns of the bot.
    pub(super) fn stop(
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

    /// What its process was asked in games before this one, each with its number in the file.
    pub(super) fn earlier(&self, bot: BotIndex) -> Result<Vec<(u64, Vec<Question>)>, Failure> {
        let process = self
            .record
            .processes
            .as_ref()
            .and_then(|both| both[bot].as_ref());
        let Some(since) = process.and_then(|process| process.since.as_ref()) else {
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
            let own = record
                .processes
                .as_ref()
                .and_then(|both| both[bot].as_ref());
            let Some(own) = own.filter(|_| record.bots[bot] == self.record.bots[bot]) else {
                continue;
            };
            begun |= record.id == *since;
            if record.id == *since || own.since.as_ref() == Some(since) {
                let game = Self {
                    file: self.file.clone(),
                    number,
                    record,
                    ruleset: Arc::clone(&self.ruleset),
                };
                found.push((number, game.questions(bot)?));
            }
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
    pub(super) fn pieces(&self) -> Result<Option<PiecesFile>, Failure> {
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
    pub(super) fn environment(&self, bot: BotIndex) -> Vec<(String, String)> {
        let name = &self.record.bots[bot].name;
        let plan = plan_of(&self.file);
        let own = plan.and_then(|(_, plan)| plan.bots.into_iter().find(|bot| bot.name == *name));
        own.map_or_else(Vec::new, |own| own.environment.into_iter().collect())
    }

    /// Which game it is, and who plays whose part.
    pub(super) fn heading(&self, bot: BotIndex, program: &Program) -> String {
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
