//! Recorded games whose questions are asked again: their rules, and what was known of each bot's process.

use std::cell::RefCell;
use std::collections::HashMap;
use std::fmt::Display;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use super::failure::{Failure, Result, bail, usage};
use super::folder::{GameChoice, Records, invalid, pieces_of, plan_of, records_of};
use super::games::{self, GameArg, GameOptions};
use super::output::print_stderr;
use super::sandbox::SandboxOptions;
use super::setup::{PiecesFile, bot};
use super::values::{self, MoveTime};
use referee::bot::fault::crash::explaining_line;
use referee::bot::spec::Program;
use referee::entrants::argument::BotSpec;
use referee::game::Ruleset;
use referee::game::registry::{self, UnknownRuleset};
use referee::game_program::GameProgram;
use referee::play::TimeControl;
use referee::play::examiner::{Question, questions};
use referee::play::game_runner::GameFault;
use referee::play::seat::Seat;
use referee::record::{BotIndex, ProcessEntry, Record};
use referee::text::{escape_controls, quote, short_name};

#[derive(Clone)]
pub(crate) struct Recorded {
    pub(crate) file: PathBuf,
    pub(crate) number: u64,
    pub(crate) record: Record,
    pub(crate) ruleset: Arc<dyn Ruleset>,
}

impl Recorded {
    pub(crate) fn read(
        path: &Path,
        choice: Option<&GameChoice>,
        rules: &RecordedRules,
        several: &str,
    ) -> Result<Self> {
        let file = records_of(path)?;
        let mut reader = Records::open(&file)?;
        let (mut games, mut chosen) = (0, None);
        while let Some(line) = reader.next_line()? {
            if let Some(torn) = line.torn() {
                print_stderr(&torn.to_string());
                break;
            }
            games = line.number();
            if chosen.is_none() && GameChoice::chooses(choice, &line) {
                chosen = Some((games, line.record()));
            }
        }
        let path = file.display();
        if choice.is_none() && games > 1 {
            bail!("{path}: it has {games} games{several}");
        }
        let Some((number, record)) = chosen else {
            let first = GameChoice::Number(1);
            return Err(choice.unwrap_or(&first).missing(&file, games));
        };
        Self::of(&file, number, record?, rules)
    }

    pub(crate) fn of(
        file: &Path,
        number: u64,
        record: Record,
        rules: &RecordedRules,
    ) -> Result<Self> {
        let ruleset = rules
            .of(&record)
            .map_err(|problem| invalid(file, number, &problem))?;
        Ok(Self {
            file: file.to_owned(),
            number,
            record,
            ruleset,
        })
    }

    pub(crate) fn invalid(&self, problem: &(impl Display + ?Sized)) -> Failure {
        invalid(&self.file, self.number, problem)
    }

    fn failure(&self, problem: &str) -> Failure {
        let file = self.file.display();
        usage!("{file}: game {}: {problem}", self.number)
    }

    /// Escaped.
    pub(crate) fn name(&self, bot: BotIndex) -> String {
        short_name(&self.record.bots[bot].name)
    }

    pub(crate) fn parts(&self, program: &Program, given: Option<&str>) -> Vec<BotIndex> {
        let is_it = |bot: &BotIndex| {
            let entry = &self.record.bots[*bot];
            match given {
                Some(given) => entry.name == given || (bot.index() + 1).to_string() == given,
                None => is_same(program, &entry.name, &entry.command),
            }
        };
        BotIndex::ALL.into_iter().filter(is_it).collect()
    }

    pub(crate) fn part(&self, program: &Program, given: Option<&str>) -> Result<BotIndex> {
        let found = self.parts(program, given);
        let [a, b] = BotIndex::ALL.map(|bot| self.name(bot));
        match (&found[..], given) {
            (&[bot], _) if self.record.is_person(bot) => {
                Err(self.failure(&format!("{} was a person", self.name(bot))))
            }
            (&[bot], _) => Ok(bot),
            (_, Some(given)) => Err(self.failure(&format!(
                "no bot in it is called {}; it is {a} against {b}: --as 1 or --as 2",
                quote(given.as_bytes())
            ))),
            (found, None) => Err(self.failure(&format!(
                "it is {a} against {b}, and {} could be {}; say whose part it plays: --as 1 or --as 2",
                program.name,
                if found.is_empty() { "neither" } else { "both" }
            ))),
        }
    }

    /// At least one.
    pub(crate) fn questions(&self, bot: BotIndex) -> Result<Vec<Question>> {
        let found = self.questions_if_any(bot)?;
        if found.is_empty() {
            return Err(self.failure(&format!("{} was not asked anything", self.name(bot))));
        }
        Ok(found)
    }

    pub(crate) fn questions_if_any(&self, bot: BotIndex) -> Result<Vec<Question>> {
        questions(&*self.ruleset, &self.record, bot)
            .map_err(|violation| self.failure(&violation.to_string()))
    }

    pub(crate) fn stop(
        &self,
        bot: BotIndex,
        questions: &[Question],
        turn: Option<usize>,
    ) -> Result<(usize, String)> {
        let numbers = questions.iter().map(|question| question.turn.to_string());
        let numbers = numbers.collect::<Vec<_>>().join(" ");
        let is_it = |question: &Question| match turn {
            Some(turn) => question.turn == turn,
            None => question.answered.is_none(),
        };
        match (questions.iter().position(is_it), turn) {
            (None, Some(turn)) => Err(self.failure(&format!(
                "turn {turn} was not one of {}; its turns: {numbers}",
                self.name(bot)
            ))),
            (found, _) => Ok((found.unwrap_or(0), numbers)),
        }
    }

    pub(crate) fn process(&self, bot: BotIndex) -> Option<&ProcessEntry> {
        process(&self.record, bot)
    }

    pub(crate) fn since(&self, bot: BotIndex) -> Option<&str> {
        self.process(bot)?.since.as_deref()
    }

    pub(crate) fn is_earlier(&self, bot: BotIndex, record: &Record) -> bool {
        let (Some(since), Some(own)) = (self.since(bot), process(record, bot)) else {
            return false;
        };
        let is_of_it = record.id == since || own.since.as_deref() == Some(since);
        is_of_it && record.bots[bot] == self.record.bots[bot]
    }

    pub(crate) fn seat(
        &self,
        bot: BotIndex,
        program: &Program,
        pieces: &PiecesFile,
        move_time: Option<MoveTime>,
    ) -> Seat {
        let mut time = TimeControl::default();
        if let Some(MoveTime(given)) = move_time {
            time.move_time = given;
        } else if let Some(process) = self.process(bot) {
            let told = process.move_time.map(Duration::try_from_secs_f64);
            time.move_time = told.and_then(Result::ok);
        }
        let name = &self.record.bots[bot].name;
        let plan = plan_of(&self.file).ok().flatten();
        let own = plan.and_then(|plan| plan.bots.into_iter().find(|bot| bot.name == *name));
        Seat::program(&*self.ruleset, pieces.path(), program.clone(), time)
            .with_environment(own.into_iter().flat_map(|own| own.environment))
    }

    pub(crate) fn seed(&self, bot: BotIndex, given: Option<u32>) -> u32 {
        let recorded = self.process(bot).map(|process| process.seed);
        given.or(recorded).unwrap_or(0)
    }

    pub(crate) fn earlier(
        &self,
        bot: BotIndex,
        rules: &RecordedRules,
    ) -> Result<Vec<(u64, Vec<Question>)>> {
        let Some(since) = self.since(bot) else {
            return Ok(Vec::new());
        };
        let (mut found, mut begun) = (Vec::new(), false);
        for record in Records::open(&self.file)? {
            let (number, record) = record?;
            if number >= self.number {
                break;
            }
            if self.is_earlier(bot, &record) {
                begun |= record.id == *since;
                let game = Self::of(&self.file, number, record, rules)?;
                found.push((number, game.questions(bot)?));
            }
        }
        if begun {
            return Ok(found);
        }
        let since = escape_controls(since);
        Err(self.failure(&format!(
            "its process began with game {since}, which is not before it in this file; leave out --from-first"
        )))
    }

    pub(crate) fn pieces(&self) -> Result<PiecesFile> {
        let path = pieces_of(&self.file);
        let path = path.as_ref().map(Path::new);
        PiecesFile::new(path, self.record.pieces.as_deref())
    }

    pub(crate) fn heading(&self, bot: BotIndex, program: &Program) -> String {
        let [a, b] = BotIndex::ALL.map(|bot| self.name(bot));
        let id = escape_controls(&self.record.id);
        let (own, number) = (self.name(bot), self.number);
        let begins = self.name(self.record.first);
        let mut played = format!("; {} plays the part of {own}", program.name);
        if own == program.name {
            played.clear();
        }
        format!(
            "Game {number} ({id}): {a} against {b}, {begins} begins{played}\n{}",
            self.record.result_line()
        )
    }
}

fn is_same(program: &Program, name: &str, command: &[String]) -> bool {
    let file = |word: &String| Path::new(word).canonicalize().ok();
    let own = program.own_file().and_then(|path| path.canonicalize().ok());
    program.name == name
        || program.command == command
        || (own.is_some() && command.iter().any(|word| file(word) == own))
}

fn process(record: &Record, bot: BotIndex) -> Option<&ProcessEntry> {
    record.processes.as_ref()?[bot].as_ref()
}

/// Without stderr.
pub(crate) fn fault_text(fault: &GameFault) -> String {
    fault_with(fault, [])
}

/// With all of stderr.
pub(crate) fn fault_lines(fault: &GameFault) -> String {
    fault_with(fault, fault.stderr.trim_end().lines())
}

/// With the line of stderr that says why.
pub(crate) fn fault_line(fault: &GameFault) -> String {
    let why = explaining_line(&fault.stderr);
    fault_with(fault, why.as_deref())
}

fn fault_with<'a>(fault: &GameFault, stderr: impl IntoIterator<Item = &'a str>) -> String {
    let mut text = format!("it forfeits ({}): {}", fault.fault.reason(), fault.fault);
    for line in stderr {
        text += "\n  stderr: ";
        text += line;
    }
    text
}

/// `game`: as it was typed, for a folder that may be a class.
pub(crate) fn program(
    text: &str,
    done: &str,
    sandbox: &SandboxOptions,
    game: &str,
) -> Result<Program> {
    no_person(bot(text, sandbox, game)?, done)
}

pub(crate) fn no_person(bot: BotSpec, done: &str) -> Result<Program> {
    match bot {
        BotSpec::Program(program) => Ok(program),
        BotSpec::Human => Err(usage!("a person cannot be {done}; give a program")),
    }
}

/// The rules of recorded games.
#[derive(Clone, Debug, Default, clap::Args)]
pub(crate) struct RecordedRules {
    /// The game, if it is a program (protocol-games.md); records say which other one it is
    #[arg(long, value_parser = GameArg::read, help_heading = "Game")]
    pub(crate) game: Option<GameArg>,

    /// Games of that program, by their rules.
    #[arg(skip)]
    opened: RefCell<HashMap<String, Arc<dyn Ruleset>>>,
}

/// Why the rules of a recorded game are not known.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum UnknownRules {
    #[error(
        "the game {} is unknown; if it is a program, give it with --game",
        quote(.0.as_bytes())
    )]
    Game(String),
    #[error(transparent)]
    Ruleset(#[from] UnknownRuleset),
    /// Why the program of `--game` cannot be asked.
    #[error("{0}")]
    Program(String),
}

impl RecordedRules {
    /// As it was typed.
    pub(crate) fn typed(&self) -> String {
        let game = self.game.clone();
        let typed = GameOptions {
            game,
            ..GameOptions::default()
        };
        typed.typed()
    }

    pub(crate) fn program(&self) -> Option<&str> {
        match &self.game {
            Some(GameArg::Program(text)) => Some(text),
            _ => None,
        }
    }

    pub(crate) fn of(&self, record: &Record) -> Result<Arc<dyn Ruleset>, UnknownRules> {
        if let Some(text) = self.program() {
            let game = self.open(text, &record.rules)?;
            if game.name() == record.game {
                return Ok(game);
            }
        }
        if registry::find(&record.game).is_some() {
            return Ok(record.ruleset()?);
        }
        Err(UnknownRules::Game(record.game.clone()))
    }

    fn open(&self, text: &str, rules: &str) -> Result<Arc<dyn Ruleset>, UnknownRules> {
        if let Some(game) = self.opened.borrow().get(rules) {
            return Ok(Arc::clone(game));
        }
        // Rules of a built-in game are not options.
        let options = GameProgram::options_of(rules).unwrap_or_default();
        let game = games::program("--game", text, options)
            .map_err(|failure| UnknownRules::Program(failure.message(0).unwrap_or_default()))?
            .into_ruleset();
        let mut opened = self.opened.borrow_mut();
        opened.insert(rules.to_owned(), Arc::clone(&game));
        Ok(game)
    }
}

const SOLVE_TIME: &str = "2s";

#[derive(Clone, Debug, clap::Args)]
pub(crate) struct AskedBotOptions {
    /// Whose part it plays, if its name does not say so: a name in the record, or 1 or 2
    #[arg(long = "as", value_name = "NAME|1|2")]
    pub(crate) part: Option<String>,

    /// What `REFEREE_SEED` says [default: as in the game, else 0]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(0..=0x7fff_ffff))]
    pub(crate) seed: Option<u32>,

    /// Time to find the value of a position, and again of a turn
    #[arg(long, value_name = "TIME", default_value = SOLVE_TIME, value_parser = values::positive_duration, help_heading = "Analysis")]
    pub(crate) time_per_move: Duration,

    #[command(flatten)]
    pub(crate) game: RecordedRules,

    #[command(flatten)]
    pub(crate) sandbox: SandboxOptions,
}
