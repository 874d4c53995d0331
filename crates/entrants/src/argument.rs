//! What a BOT on the command line means: its program and name, or why it cannot be started and the
//! fix. Checked before the first game: a typing error must not become a forfeit.

use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};

use crate::archive;
use crate::beside::{FolderReadings, other_bots};
use crate::build::Built;
use crate::build::recipe::Recipe;
use crate::folder::{BotFolder, Entry, MANIFEST};
use crate::no_program;
use referee_games::strategy::builtin::{Builtin, UnknownBuiltin, base_name};
use referee_host::executable::interpreter::{self, Language};
use referee_host::executable::{
    CannotStart, check_header, find_in_path, has_windows_lines, install, missing_folder,
};
use referee_host::system::{command_word, is_executable, is_path, make_executable, split_command};
use referee_match::bot::naming::{bot_name, folder_name};
use referee_match::bot::referee_files::REFEREE_FILES;
use referee_match::bot::shell::quoted;
use referee_match::bot::spec::{PERSON, Program, Sources, file_name, with_slash};
use referee_sandbox::BotCommand;
use referee_sandbox::snapshot::{BotFiles, FileScope};
use referee_text::{cause, escape_path, meant};

#[allow(clippy::large_enum_variant, reason = "on Linux it is smaller")]
#[derive(Clone, Debug)]
pub enum BotSpec {
    Human,
    Program(Program),
}

/// What an argument means, before anything is built.
#[allow(clippy::large_enum_variant, reason = "on Linux it is smaller")]
#[derive(Clone, Debug)]
pub enum Located {
    Human,
    Program(Program),
    Sources(SourceBot),
}

/// A bot that has to be built or unpacked.
#[derive(Clone, Debug)]
pub struct SourceBot {
    /// Escaped.
    pub name: String,
    /// The folder, or the one file.
    pub path: PathBuf,
    pub preparation: Preparation,
    /// As it was typed.
    command: Vec<String>,
    arguments: Vec<String>,
    /// The archive that it comes from.
    archive: Option<PathBuf>,
}

/// What has to be done before a bot can be started.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Preparation {
    Build(Recipe),
    /// It is an archive, and what it holds is not known yet.
    Unpack,
}

/// Builds and unpacks for [`SourceBot::prepare`].
pub trait PrepareBots {
    fn build(
        &self,
        bot: &SourceBot,
        files: &BotFiles,
        recipe: &Recipe,
    ) -> Result<Built, CannotStart>;

    /// The folder of its files, which stays there until this process ends.
    fn unpack(&self, bot: &SourceBot) -> Result<PathBuf, CannotStart>;
}

impl SourceBot {
    fn new(name: String, path: &str, preparation: Preparation, arguments: &[String]) -> Self {
        Self {
            name,
            path: PathBuf::from(path),
            preparation,
            command: [&[path.to_owned()], arguments].concat(),
            arguments: arguments.to_vec(),
            archive: None,
        }
    }

    /// Its program as it would be called, for comparisons with others: it cannot be started.
    pub fn unbuilt(&self) -> Program {
        let argv = vec![with_slash(&self.path.to_string_lossy())];
        Program::new(self.name.clone(), argv, self.command.clone(), None)
    }

    /// What its owner calls the file or folder: where it was unpacked means nothing to people.
    pub fn given(&self) -> &Path {
        self.archive.as_ref().unwrap_or(&self.path)
    }

    /// The program, after `builder` has done what is needed. `scope` says which files of its folder count.
    pub fn prepare(
        &self,
        builder: &dyn PrepareBots,
        scope: &FileScope,
    ) -> Result<Program, CannotStart> {
        match &self.preparation {
            Preparation::Build(recipe) => self.build(recipe, builder, scope),
            Preparation::Unpack => self.unpack(builder, scope),
        }
    }

    fn unpack(&self, builder: &dyn PrepareBots, scope: &FileScope) -> Result<Program, CannotStart> {
        let given = |error: CannotStart| CannotStart {
            bot: escape_path(&self.path.to_string_lossy()),
            ..error
        };
        let folder = builder.unpack(self)?;
        let inside = of_folder(&folder.to_string_lossy(), &self.arguments).map_err(given)?;
        let program = match inside {
            Located::Program(program) => program,
            Located::Sources(sources) => {
                let sources = Self {
                    name: self.name.clone(),
                    archive: Some(self.path.clone()),
                    ..sources
                };
                sources.prepare(builder, scope)?
            }
            Located::Human => return Err(self.refused()),
        };
        Ok(Program {
            name: self.name.clone(),
            command: self.command.clone(),
            is_prepared: true,
            ..program
        })
    }

    fn build(
        &self,
        recipe: &Recipe,
        builder: &dyn PrepareBots,
        scope: &FileScope,
    ) -> Result<Program, CannotStart> {
        let is_folder = self.path.is_dir();
        let argv = [self.path.to_string_lossy().into_owned()];
        let command = BotCommand {
            name: &self.name,
            argv: if is_folder { &[] } else { &argv },
            builtin: None,
            directory: is_folder.then_some(&*self.path),
            starts: &[],
            scope: Some(scope),
            written: REFEREE_FILES,
        };
        let beside = if is_folder {
            Vec::new()
        } else {
            beside(&self.path, &FolderReadings::default())
        };
        let others = beside.iter().map(|argv| BotCommand {
            name: &argv[0],
            argv,
            ..BotCommand::default()
        });
        let files = BotFiles::of(command, &others.collect::<Vec<_>>())?;
        let built = builder.build(self, &files, recipe)?;
        let program = file(&built.program.to_string_lossy(), &self.arguments, None)?;
        let Located::Program(program) = program else {
            let cause = "what was built is not a program";
            return Err(CannotStart::new(&self.name, cause, "call it bot"));
        };
        Ok(Program {
            name: self.name.clone(),
            command: self.command.clone(),
            is_prepared: true,
            directory: built.directory,
            sources: Some(Sources {
                files,
                found: built.sources,
            }),
            ..program
        })
    }
}

impl Located {
    pub fn name(&self) -> &str {
        match self {
            Self::Human => PERSON,
            Self::Program(program) => &program.name,
            Self::Sources(bot) => &bot.name,
        }
    }

    /// With what has to be built or unpacked prepared by `builder`; without one, that is an error.
    pub fn ready(self, builder: Option<&dyn PrepareBots>) -> Result<BotSpec, CannotStart> {
        match self {
            Self::Human => Ok(BotSpec::Human),
            Self::Program(program) => Ok(BotSpec::Program(program)),
            Self::Sources(bot) => match builder {
                Some(builder) => bot
                    .prepare(builder, &FileScope::default())
                    .map(BotSpec::Program),
                None => Err(bot.refused()),
            },
        }
    }
}

impl BotSpec {
    /// Finds out what `text` means; sources are refused with what compiles them. See [`locate`].
    ///
    /// ```
    /// use std::path::{Path, PathBuf};
    ///
    /// use referee_entrants::argument::BotSpec;
    ///
    /// let parse = |text| BotSpec::parse(text, Path::new("referee"), &["random"]);
    /// assert!(parse("human")?.program().is_none());
    /// assert_eq!(parse("builtin:random")?.name(), "builtin:random");
    /// assert!(parse("./no-such-file").is_err());
    /// # Ok::<(), referee_host::executable::CannotStart>(())
    /// ```
    pub fn parse(text: &str, this_program: &Path, builtins: &[&str]) -> Result<Self, CannotStart> {
        locate(text, this_program, builtins)?.ready(None)
    }

    pub fn name(&self) -> &str {
        match self {
            Self::Human => PERSON,
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

/// Finds out what `text` means.
///
/// `builtins` are the strategies in this program; they run as `this_program bot NAME`. An error
/// names the cause and the fix.
pub fn locate(text: &str, this_program: &Path, builtins: &[&str]) -> Result<Located, CannotStart> {
    locate_among(text, this_program, builtins, &FolderReadings::default())
}

/// Like [`locate`], for one of many, whose folders need not be read for each of them.
pub fn locate_among(
    text: &str,
    this_program: &Path,
    builtins: &[&str],
    readings: &FolderReadings,
) -> Result<Located, CannotStart> {
    let cannot = |cause: &str, fix: &str| {
        let is_empty = text.trim().is_empty();
        let bot = if is_empty {
            format!("\"{text}\"")
        } else {
            escape_path(text)
        };
        CannotStart::new(&bot, cause, fix)
    };
    if text == PERSON {
        return Ok(Located::Human);
    }
    if let Some(name) = text.strip_prefix("builtin:") {
        let builtin = builtin(name, this_program, builtins);
        return builtin.map_err(|error| cannot(&error.cause, &error.fix));
    }
    if Path::new(text).exists() {
        return file(text, &[], Some(readings));
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
            return file(command, arguments, Some(readings));
        }
        if is_file {
            return Err(missing_program(command, arguments, builtins));
        }
        let cause = format!("there is no command {} in PATH", escape_path(command));
        return Err(cannot(&cause, &install(command)));
    };
    let command = FoundCommand {
        text,
        words: &words,
        found: &found,
    };
    command.locate(builtins, readings)
}

/// A command line whose first word is this program of `PATH`.
struct FoundCommand<'a> {
    text: &'a str,
    /// At least one.
    words: &'a [String],
    found: &'a Path,
}

impl FoundCommand<'_> {
    fn locate(&self, builtins: &[&str], readings: &FolderReadings) -> Result<Located, CannotStart> {
        let (words, command, arguments) = (self.words, &self.words[0], &self.words[1..]);
        check_header(self.found, command)?;
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
            (Some(_), None) if !words.iter().any(|word| word.contains(' ')) => bot_name(self.text),
            (_, None) => file_name(command),
        };
        let mut argv = words.to_vec();
        argv[0] = command_word(command, self.found);
        let beside = script.map_or_else(Vec::new, |script| beside(Path::new(script), readings));
        Ok(Located::Program(Program {
            beside,
            ..Program::new(name, argv, words.to_vec(), language)
        }))
    }
}

/// The other bots in the folder of a file, each as a command.
fn beside(file: &Path, readings: &FolderReadings) -> Vec<[String; 1]> {
    let others = other_bots(file, readings).into_iter();
    others
        .map(|other| [with_slash(&other.to_string_lossy())])
        .collect()
}

/// A command line in which several words together are a file: `Engine 12/bot.py` where there is also `Engine`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LongerPath {
    /// As it is understood.
    pub word: String,
    pub longer: String,
}

/// So many words of a command line are looked at.
const MOST_WORDS: usize = 24;

/// The first file that a command line would name if it were quoted.
pub fn longer_path(text: &str) -> Option<LongerPath> {
    if text.starts_with("builtin:") || Path::new(text).exists() {
        return None;
    }
    let mut words = split_command(text).ok()?;
    words.truncate(MOST_WORDS);
    (0..words.len()).find_map(|first| {
        let longer = (first + 2..=words.len())
            .rev()
            .map(|end| words[first..end].join(" "));
        let longer = longer.into_iter().find(|path| Path::new(path).is_file())?;
        let word = words[first].clone();
        Some(LongerPath { word, longer })
    })
}

impl fmt::Display for LongerPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (word, longer) = (escape_path(&self.word), escape_path(&self.longer));
        let quoted = quoted(&self.longer);
        write!(
            f,
            "{word} ends at the space, and there is a file {longer}; if that is meant, quote it within the command: {quoted}"
        )
    }
}

/// `name` is what follows `builtin:`.
fn builtin(name: &str, this_program: &Path, known: &[&str]) -> Result<Located, UnknownBuiltin> {
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
    Ok(Located::Program(program))
}

fn missing_program(path: &str, arguments: &[String], builtins: &[&str]) -> CannotStart {
    let mut error = missing_file(path, builtins);
    if !arguments.is_empty() {
        error.fix.push_str("; spaces separate the program from its arguments, so put quotes around a path that has some");
    }
    error
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
    let folder = missing_folder(Path::new(path)).map_or_else(String::new, |folder| {
        format!(", and no folder {}", escape_path(&folder.to_string_lossy()))
    });
    CannotStart::new(
        &escape_path(path),
        format!("there is no such {what}{folder}"),
        fix,
    )
}

/// A program in a folder of the bot's folder starts in the latter, and sees all of it.
fn start_in(found: &mut Program, program: &Path, folder: &Path) -> Result<(), CannotStart> {
    let whole = |path: &Path| {
        fs::canonicalize(path).map_err(|error| {
            let problem = format!("it cannot be found: {}", cause(&error));
            CannotStart::new(
                &escape_path(&path.to_string_lossy()),
                problem,
                "check its permissions",
            )
        })
    };
    let given = with_slash(&program.to_string_lossy());
    let program = whole(program)?.to_string_lossy().into_owned();
    for word in found.argv.iter_mut().filter(|word| **word == given) {
        word.clone_from(&program);
    }
    found.directory = Some(whole(folder)?);
    Ok(())
}

/// The bot of a folder, called by the folder's name.
fn of_folder(folder: &str, arguments: &[String]) -> Result<Located, CannotStart> {
    let path = Path::new(folder);
    let bot = BotFolder::read(path).map_err(|problem| problem.of_bot(path))?;
    let name = folder_name(path).map(|name| bot_name(&name));
    match bot.entry {
        Entry::Program(program) => {
            let mut located = file(&program.to_string_lossy(), arguments, None)?;
            if let Located::Program(found) = &mut located {
                found.name = name.unwrap_or_else(|| found.name.clone());
                if program.parent() != Some(&bot.path) {
                    start_in(found, &program, &bot.path)?;
                }
            }
            Ok(located)
        }
        Entry::Sources(recipe) => {
            let name = name.unwrap_or_else(|| escape_path(folder));
            Ok(Located::Sources(SourceBot {
                path: bot.path,
                ..SourceBot::new(name, folder, Preparation::Build(recipe), arguments)
            }))
        }
    }
}

/// `readings` are for what else is in its folder; `None` where all of the folder is this one bot.
fn file(
    path: &str,
    arguments: &[String],
    readings: Option<&FolderReadings>,
) -> Result<Located, CannotStart> {
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
    if let Some(name) = archive::name_of(Path::new(path)) {
        let bot = SourceBot::new(bot_name(name), path, Preparation::Unpack, arguments);
        return Ok(Located::Sources(bot));
    }
    if let Some((cause, fix)) = no_program::why(path) {
        return Err(cannot(cause, &fix));
    }
    let ending = Path::new(path)
        .extension()
        .and_then(|ending| ending.to_str())
        .unwrap_or("");
    let by_ending = interpreter::by_ending(ending);
    let (mut argv, language) = if is_executable(Path::new(path), &meta) {
        let interpreter = check_header(Path::new(path), path)?;
        let known = interpreter.and_then(|interpreter| interpreter::by_interpreter(&interpreter));
        (Vec::new(), known.or(by_ending))
    } else if let Some(known) = by_ending.filter(|language| !language.run.is_empty()) {
        (interpreted(path, known)?, by_ending)
    } else if let Some(recipe) = Recipe::of_file(Path::new(path)) {
        let bot = SourceBot::new(file_name(path), path, Preparation::Build(recipe), arguments);
        return Ok(Located::Sources(bot));
    } else {
        return Err(not_executable(path));
    };
    // Records hold what was typed.
    let command = [&argv[..], &[path.to_owned()], arguments].concat();
    argv.push(with_slash(path));
    argv.extend_from_slice(arguments);
    Ok(Located::Program(Program {
        beside: readings.map_or_else(Vec::new, |readings| beside(Path::new(path), readings)),
        ..Program::new(file_name(path), argv, command, language)
    }))
}

/// What runs a file that is not executable: the interpreter of its extension, with its options.
fn interpreted(path: &str, language: Language) -> Result<Vec<String>, CannotStart> {
    let cannot = |cause: &str, fix: &str| CannotStart::new(&escape_path(path), cause, fix);
    let Some(interpreter) = language.installed() else {
        return Err(cannot(
            &format!("it needs {}, which is not installed", language.run[0]),
            &install(language.run[0]),
        ));
    };
    if cfg!(unix) && language.name == "shell" && has_windows_lines(Path::new(path)) {
        return Err(cannot(
            "its lines end in CRLF, as on Windows, which the shell takes for a part of each command",
            "save it with Unix line ends (LF), for example with dos2unix",
        ));
    }
    let options = language.options(&interpreter);
    Ok(std::iter::once(interpreter).chain(options).collect())
}

impl SourceBot {
    /// Where nothing builds it.
    pub fn refused(&self) -> CannotStart {
        match &self.preparation {
            Preparation::Unpack => CannotStart::new(
                &escape_path(&self.path.to_string_lossy()),
                "it is an archive",
                "unpack it and give the folder",
            ),
            Preparation::Build(_) if self.path.is_file() => {
                not_executable(&self.path.to_string_lossy())
            }
            Preparation::Build(recipe) => {
                let what = &recipe.what;
                let fix =
                    format!("build it, and name its program in {MANIFEST}: program = \"NAME\"");
                CannotStart::new(&self.name, format!("{what} has to be built first"), fix)
            }
        }
    }
}

fn not_executable(path: &str) -> CannotStart {
    let fix = if let Some((language, command)) = interpreter::compiling(path) {
        format!(
            "compile it and give the compiled program ({language} is not interpreted): {command}"
        )
    } else {
        let file = quoted(path);
        let executable = make_executable(&file);
        let has_extension = Path::new(path).extension().is_some();
        let interpreter = if has_extension {
            "INTERPRETER"
        } else {
            "python3"
        };
        format!("{executable} or name its interpreter (\"{interpreter} {file}\")")
    };
    CannotStart::new(&escape_path(path), "the file is not executable", fix)
}
