//! What a BOT on the command line means: its program and name, or why it cannot be started and the
//! fix. Checked before the first game: a typing error must not become a forfeit.

use std::fs;
use std::path::{Path, PathBuf};

use super::naming::folder_name;
use super::no_program;
use super::shell::{self, Question, quoted};
use super::submission::only_program;
pub use crate::executable::CannotStart;
use crate::executable::interpreter::{self, Language};
use crate::executable::{check_header, find_in_path, has_windows_lines, install};
use crate::sandbox::snapshot::{BotFiles, own_program};
use crate::sandbox::{BotCommand, Confinement, Sandbox};
use crate::strategy::builtin::{Builtin, UnknownBuiltin, base_name};
use crate::system::{command_word, is_executable, is_path, make_executable, split_command};
use crate::text::{cause, escape_path, meant, short_name};

#[allow(clippy::large_enum_variant, reason = "on Linux it is smaller")]
#[derive(Clone, Debug)]
pub enum BotSpec {
    Human,
    Program(Program),
}

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
    pub confinement: Option<Confinement>,
}

impl BotSpec {
    /// Finds out what `text` means.
    ///
    /// `builtins` are the strategies in this program; they run as `this_program bot NAME`. An error
    /// names the cause and the fix.
    ///
    /// ```
    /// use std::path::Path;
    ///
    /// use referee::bot::spec::BotSpec;
    ///
    /// let parse = |text| BotSpec::parse(text, Path::new("referee"), &["random"]);
    /// assert!(parse("human")?.program().is_none());
    /// assert_eq!(parse("builtin:random")?.name(), "builtin:random");
    /// assert!(parse("./no-such-file").is_err());
    /// # Ok::<(), referee::bot::spec::CannotStart>(())
    /// ```
    pub fn parse(text: &str, this_program: &Path, builtins: &[&str]) -> Result<Self, CannotStart> {
        let cannot = |cause: &str, fix: &str| {
            let is_empty = text.trim().is_empty();
            let bot = if is_empty {
                format!("\"{text}\"")
            } else {
                escape_path(text)
            };
            CannotStart::new(&bot, cause, fix)
        };
        if text == "human" {
            return Ok(Self::Human);
        }
        if let Some(name) = text.strip_prefix("builtin:") {
            let builtin = builtin(name, this_program, builtins);
            return builtin.map_err(|error| cannot(&error.cause, &error.fix));
        }
        if Path::new(text).exists() {
            return file(text, &[]).map(Self::Program);
        }
        let words = split_command(text).map_err(|_| {
            cannot(
                "the command line has a quote that is not closed",
                "close it, or put a backslash before it",
            )
        })?;
        let Some((command, arguments)) = words.split_first() else {
            return Err(cannot(
                "its name is empty",
                "give a file, a command line, builtin:NAME or human",
            ));
        };
        let is_file = is_path(command) || arguments.is_empty();
        let found = find_in_path(command).filter(|_| !is_file);
        let Some(found) = found else {
            if Path::new(command).exists() {
                return file(command, arguments).map(Self::Program);
            }
            if !is_file {
                return Err(cannot(
                    &format!("there is no command {} in PATH", escape_path(command)),
                    &install(command),
                ));
            }
            let mut error = missing_file(command, builtins);
            if !arguments.is_empty() {
                error.fix.push_str("; spaces separate the program from its arguments, so put quotes around a path that has some");
            }
            return Err(error);
        };
        check_header(&found, command)?;
        let language = interpreter::by_interpreter(command);
        // `python3 my_bot.py --depth 3` is called my_bot.py.
        let script = arguments
            .iter()
            .find(|word| !word.starts_with('-') && Path::new(word).is_file());
        let mut words_given = arguments.iter().filter(|word| !word.starts_with('-'));
        if let (Some(language), None, Some(missing)) = (language, script, words_given.next())
            && language
                .endings
                .iter()
                .any(|e| missing.ends_with(&format!(".{e}")))
        {
            return Err(missing_file(missing, builtins));
        }
        let name = match (language, script) {
            (_, Some(script)) => file_name(script),
            // `java -cp classes Bot`
            (Some(_), None) if !words.iter().any(|word| word.contains(' ')) => short_name(text),
            (_, None) => file_name(command),
        };
        let mut argv = words.clone();
        argv[0] = command_word(command, &found);
        Ok(Self::Program(Program::new(name, argv, words, language)))
    }

    pub fn name(&self) -> &str {
        match self {
            Self::Human => "human",
            Self::Program(program) => &program.name,
        }
    }

    /// `None` for a person.
    pub const fn program(&self) -> Option<&Program> {
        match self {
            Self::Human => None,
            Self::Program(program) => Some(program),
        }
    }
}

impl Program {
    const fn new(
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
            confinement: None,
        }
    }

    /// The program of a command in a record, which need not exist here; `None` for a person.
    pub fn recorded(command: &[String]) -> Option<Self> {
        let first = command.first().filter(|first| *first != "human")?;
        let mut argv = command.to_vec();
        if command.len() == 1 && !first.starts_with("builtin:") && find_in_path(first).is_none() {
            // A record holds what was typed; a shell searches `PATH` for a lone name.
            argv[0] = with_slash(first);
        }
        let name = file_name(first);
        Some(Self::new(name, argv, command.to_vec(), None))
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
        }
    }

    pub fn own_file(&self) -> Option<PathBuf> {
        own_program(&self.argv).filter(|_| self.builtin().is_none())
    }

    /// Its own files; `others` are the other entrants, of which it may see nothing.
    pub fn files(&self, others: &[&Self]) -> Result<BotFiles, CannotStart> {
        BotFiles::of(self.sandbox_command(), &commands(others))
    }

    /// Takes it into a sandbox in which it sees nothing of `others`. Reports now what would keep it
    /// from starting.
    pub fn confine(self, sandbox: &Sandbox, others: &[&Self]) -> Result<Self, CannotStart> {
        let confinement = sandbox.confine(self.sandbox_command(), &commands(others))?;
        Ok(Self {
            confinement,
            ..self
        })
    }
}

/// `name` is what follows `builtin:`.
fn builtin(name: &str, this_program: &Path, known: &[&str]) -> Result<BotSpec, UnknownBuiltin> {
    let base = base_name(name);
    if !known.contains(&base) {
        let fix = meant(base, known).map_or_else(
            || format!("the built-in ones are builtin:{}", known.join(", builtin:")),
            |near| format!("did you mean builtin:{near}?"),
        );
        return Err(UnknownBuiltin {
            cause: "there is no such built-in strategy".to_owned(),
            fix,
        });
    }
    let strategy = name.parse::<Builtin>()?.to_string();
    let command = format!("builtin:{strategy}");
    let this = this_program.to_string_lossy().into_owned();
    let argv = vec![this, "bot".to_owned(), strategy];
    let program = Program::new(command.clone(), argv, vec![command], None);
    Ok(BotSpec::Program(program))
}

/// The command that asks a program the same again, quoted for this system's shell. With `stays_open` the input ends
/// some seconds later.
pub fn reproduce_command(
    program: &Program,
    environment: &[(String, String)],
    questions: &[&str],
    stays_open: bool,
) -> String {
    let words = match program.builtin() {
        Some(name) => &["referee".to_owned(), "bot".to_owned(), name.to_owned()],
        None => &program.argv[..],
    };
    shell::asking(&Question {
        words,
        environment,
        lines: questions,
        stays_open,
    })
}

/// The last part of a path, escaped.
fn file_name(path: &str) -> String {
    let name = Path::new(path).file_name().unwrap_or(path.as_ref());
    short_name(&name.to_string_lossy())
}

/// With a slash, so that exec does not search `PATH`.
fn with_slash(path: &str) -> String {
    if is_path(path) {
        path.to_owned()
    } else {
        format!("./{path}")
    }
}

fn missing_file(path: &str, builtins: &[&str]) -> CannotStart {
    let fix = if builtins.contains(&base_name(path)) {
        format!("did you mean builtin:{path}?")
    } else if let Some(found) = find_in_path(path) {
        if interpreter::by_interpreter(path).is_some() {
            format!("an interpreter and its script are one bot, in quotes (\"{path} mybot\")")
        } else {
            format!(
                "did you mean the program {}?",
                escape_path(&found.to_string_lossy())
            )
        }
    } else if let Some(near) = no_program::near(path, builtins) {
        format!("did you mean {near}?")
    } else {
        "check the spelling and the directory".to_owned()
    };
    let is_folder = path.ends_with('/');
    let what = if is_folder { "folder" } else { "file" };
    CannotStart::new(&escape_path(path), format!("there is no such {what}"), fix)
}

/// The only program of a folder, called by the folder's name.
fn of_folder(folder: &str, arguments: &[String]) -> Result<Program, CannotStart> {
    let program = only_program(Path::new(folder))?;
    let mut program = file(&program.to_string_lossy(), arguments)?;
    if let Some(name) = folder_name(Path::new(folder)) {
        program.name = short_name(&name);
    }
    Ok(program)
}

fn file(path: &str, arguments: &[String]) -> Result<Program, CannotStart> {
    let shown = escape_path(path);
    let cannot = |cause: &str, fix: &str| CannotStart::new(&shown, cause, fix);
    let meta = fs::metadata(path).map_err(|error| {
        let problem = format!("it cannot be read: {}", cause(&error));
        cannot(&problem, "check its permissions")
    })?;
    if meta.is_dir() {
        return of_folder(path, arguments);
    }
    if !meta.is_file() {
        return Err(cannot("it is not a regular file", "give a program's file"));
    }
    if meta.len() == 0 {
        return Err(cannot("the file is empty", "save the program into it"));
    }
    if let Some((cause, fix)) = no_program::why(path) {
        return Err(cannot(cause, &fix));
    }
    let ending = Path::new(path)
        .extension()
        .and_then(|ending| ending.to_str())
        .unwrap_or("");
    let by_ending = interpreter::by_ending(ending);
    let mut argv = Vec::new();
    let mut language = by_ending;
    if !is_executable(Path::new(path), &meta) {
        // Not executable: run by the interpreter of its extension.
        let Some(known) = by_ending.filter(|language| !language.run.is_empty()) else {
            let fix = if let Some((language, command)) = interpreter::compiling(path) {
                format!(
                    "compile it and give the compiled program ({language} is not interpreted): {command}"
                )
            } else {
                let file = quoted(path);
                let executable = make_executable(&file);
                let interpreter = if ending.is_empty() {
                    "python3"
                } else {
                    "INTERPRETER"
                };
                format!("{executable} or name its interpreter (\"{interpreter} {file}\")")
            };
            return Err(cannot("the file is not executable", &fix));
        };
        let Some(interpreter) = known.installed() else {
            return Err(cannot(
                &format!("it needs {}, which is not installed", known.run[0]),
                &install(known.run[0]),
            ));
        };
        if cfg!(unix) && known.name == "shell" && has_windows_lines(Path::new(path)) {
            return Err(cannot(
                "its lines end in CRLF, as on Windows, which the shell takes for a part of each command",
                "save it with Unix line ends (LF), for example with dos2unix",
            ));
        }
        let options = known.options(&interpreter);
        argv.push(interpreter);
        argv.extend(options);
    } else if let Some(interpreter) = check_header(Path::new(path), path)? {
        language = interpreter::by_interpreter(&interpreter).or(by_ending);
    }
    // Records hold what was typed.
    let command = [&argv[..], &[path.to_owned()], arguments].concat();
    argv.push(with_slash(path));
    argv.extend_from_slice(arguments);
    Ok(Program::new(file_name(path), argv, command, language))
}

fn commands<'a>(programs: &[&'a Program]) -> Vec<BotCommand<'a>> {
    programs
        .iter()
        .map(|program| program.sandbox_command())
        .collect()
}
