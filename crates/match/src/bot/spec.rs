//! A program that plays: how it is called, started and confined.

use std::path::{Path, PathBuf};

use super::naming::bot_name;
use super::referee_files::REFEREE_FILES;
use super::shell::{self, Question};
use crate::protocol::env;
pub use referee_host::executable::CannotStart;
use referee_host::executable::interpreter::Language;
use referee_host::executable::{find_in_path, is_executable_file};
use referee_host::system::is_path;
use referee_sandbox::snapshot::{BotFiles, FileScope, FileSet, bot_program};
use referee_sandbox::{BotCommand, Confinement, Sandbox};

/// The word that stands for a person at the terminal.
pub const PERSON: &str = "human";

#[derive(Clone, Debug)]
pub struct Program {
    /// Escaped.
    pub name: String,
    pub argv: Vec<String>,
    /// The command as people write it and records hold it.
    pub command: Vec<String>,
    /// The language by extension, first line or command.
    pub language: Option<Language>,
    /// Working directory; the referee's when `None`.
    pub directory: Option<PathBuf>,
    /// Which files of its folder are looked at.
    pub scope: FileScope,
    /// Paths of other bots in its folder, each as a command: it may see nothing of them, whether they play or not.
    pub beside: Vec<[String; 1]>,
    pub confinement: Option<Confinement>,
    /// What it was built of, if the referee built it.
    pub sources: Option<Sources>,
    /// Whether the referee has built or unpacked it: then `argv` is a place of the referee's own, and people start it by
    /// `command` as a bot.
    pub is_prepared: bool,
}

/// The files of which a program was built, and what was found of them then.
#[derive(Clone, Debug)]
pub struct Sources {
    pub files: BotFiles,
    pub found: FileSet,
}

impl Program {
    pub fn new(
        name: String,
        argv: Vec<String>,
        command: Vec<String>,
        language: Option<Language>,
    ) -> Self {
        Self {
            name,
            argv,
            command,
            language,
            directory: None,
            scope: FileScope::default(),
            beside: Vec::new(),
            confinement: None,
            sources: None,
            is_prepared: false,
        }
    }

    /// A program that is not a bot, such as a compiler, confined like one: it sees its folder, and what it starts by
    /// name. Only a sandbox's refusal is an error.
    pub fn tool(
        name: &str,
        argv: Vec<String>,
        directory: &Path,
        sandbox: &Sandbox,
        starts: &[String],
    ) -> Result<Self, CannotStart> {
        let command = BotCommand {
            name,
            argv: &argv,
            builtin: None,
            directory: Some(directory),
            starts,
            scope: None,
            written: REFEREE_FILES,
        };
        let confinement = sandbox.confine(command, &[])?;
        Ok(Self {
            directory: Some(directory.to_owned()),
            confinement,
            ..Self::new(name.to_owned(), argv.clone(), argv, None)
        })
    }

    /// The program of a command in a record, which need not exist here; `None` for a person.
    pub fn recorded(command: &[String]) -> Option<Self> {
        let first = command.first().filter(|first| *first != PERSON)?;
        let mut argv = command.to_vec();
        if command.len() == 1 && !first.starts_with("builtin:") && find_in_path(first).is_none() {
            // A record holds what was typed; a shell searches `PATH` for a lone name.
            argv[0] = with_slash(first);
        }
        let name = file_name(first);
        let path = Path::new(&argv[0]);
        // A folder, sources or an archive; not what happens to be called as an interpreter before a script.
        let is_word = command.len() > 1 && !is_path(first) && find_in_path(first).is_some();
        let is_prepared = !is_word && path.exists() && !is_executable_file(path);
        Some(Self {
            is_prepared,
            ..Self::new(name, argv, command.to_vec(), None)
        })
    }

    pub fn builtin(&self) -> Option<&str> {
        self.command.first()?.strip_prefix("builtin:")
    }

    pub fn sandbox_command(&self) -> BotCommand<'_> {
        BotCommand {
            name: &self.name,
            argv: &self.argv,
            builtin: self.builtin(),
            directory: self.directory.as_deref(),
            starts: &[],
            scope: Some(&self.scope),
            written: REFEREE_FILES,
        }
    }

    pub fn own_file(&self) -> Option<PathBuf> {
        bot_program(&self.argv).filter(|_| self.builtin().is_none())
    }

    /// Its own files; `others` are the other entrants, of which it may see nothing.
    pub fn files(&self, others: &[&Self]) -> Result<BotFiles, CannotStart> {
        BotFiles::of(self.sandbox_command(), &self.unseen(others))
    }

    /// Takes it into a sandbox in which it sees nothing of `others`. Reports now what would keep it
    /// from starting.
    pub fn confine(self, sandbox: &Sandbox, others: &[&Self]) -> Result<Self, CannotStart> {
        let confinement = sandbox.confine(self.sandbox_command(), &self.unseen(others))?;
        Ok(Self {
            confinement,
            ..self
        })
    }

    /// The other entrants and the other bots of its folder, of which it may see nothing.
    fn unseen<'a>(&'a self, others: &[&'a Self]) -> Vec<BotCommand<'a>> {
        // All of a directory that was given with it is its own.
        let beside = self.beside.iter().filter(|_| self.directory.is_none());
        let beside = beside.map(|argv| BotCommand {
            name: &argv[0],
            argv,
            ..BotCommand::default()
        });
        let others = others.iter().map(|other| other.sandbox_command());
        others.chain(beside).collect()
    }
}

/// The command that asks a program the same again, quoted for this system's shell. With `stays_open` the input ends
/// some seconds later. `has_rules`: the game can be told by its name, so that `referee ask` knows what a question means.
pub fn reproduce_command(
    program: &Program,
    environment: &[(String, String)],
    questions: &[&str],
    stays_open: bool,
    has_rules: bool,
) -> String {
    let (words, environment) = match program.builtin() {
        Some(name) => (
            ["referee", "bot", name].map(str::to_owned).to_vec(),
            environment,
        ),
        None if program.is_prepared && has_rules => (ask_command(program, environment), &[][..]),
        None if program.is_prepared => (in_directory(program), environment),
        None => (program.argv.clone(), environment),
    };
    shell::asking(&Question {
        words: &words,
        environment,
        lines: questions,
        stays_open,
    })
}

/// What starts a program of the referee's own folders as it is started in a game.
fn in_directory(program: &Program) -> Vec<String> {
    let directory = program.directory.as_ref().filter(|_| cfg!(unix));
    let Some(directory) = directory else {
        return program.argv.clone();
    };
    let directory = shell::quoted(&directory.to_string_lossy()).into_owned();
    let script = format!("cd {directory} && exec \"$0\" \"$@\"");
    let shell = ["sh".to_owned(), "-c".to_owned(), script];
    shell.into_iter().chain(program.argv.clone()).collect()
}

/// What has the referee ask a bot, with the options that stand for this environment.
fn ask_command(program: &Program, environment: &[(String, String)]) -> Vec<String> {
    let mut words = ["referee", "ask"].map(str::to_owned).to_vec();
    for (name, value) in environment {
        let option = match &**name {
            env::SEED => "--seed",
            env::GAME => "--game",
            env::RULES => "--rules",
            env::PIECES => "--pieces",
            _ => continue,
        };
        words.extend([option.to_owned(), value.clone()]);
    }
    words.push(shell::command_line(&program.command));
    words
}

/// The last part of a path, escaped.
pub fn file_name(path: &str) -> String {
    let name = Path::new(path).file_name().unwrap_or(path.as_ref());
    bot_name(&name.to_string_lossy())
}

/// With a slash, so that exec does not search `PATH`.
pub fn with_slash(path: &str) -> String {
    if is_path(path) {
        path.to_owned()
    } else {
        format!("./{path}")
    }
}
