//! Executable files: where commands are found, whether the kernel would run a file, and what to
//! install when it would not.

#[cfg(all(target_os = "linux", not(portable)))]
pub mod installation;
pub mod interpreter;
#[cfg(all(target_os = "linux", not(portable)))]
mod shim;

use std::collections::VecDeque;
use std::env::{self, consts::ARCH};
use std::fs;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

use crate::system::{command_files, is_executable};
use referee_text::{escape, escape_path, is_full, meant};

/// A bot that cannot be started, why, and the fix.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("cannot start {bot}: {cause}; {fix}")]
pub struct CannotStart {
    /// The bot as given; escaped.
    pub bot: String,
    pub cause: String,
    pub fix: String,
    /// The machine lacks space, which is not the bot's fault.
    pub is_for_want_of_space: bool,
    /// What a tool printed of it, of which `cause` quotes the beginning.
    pub printed: Option<Box<ToolOutput>>,
}

/// What a compiler or another tool printed when it failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ToolOutput {
    /// A clause that these lines explain: `its C cannot be built`.
    pub of: String,
    /// Escaped.
    pub lines: Vec<String>,
}

/// The fix when there is no space for copies.
const FREE_SPACE: &str = "free some space there, or set TMPDIR to a folder with more of it, then give the same command again";

impl CannotStart {
    pub fn new(bot: &str, cause: impl Into<String>, fix: impl Into<String>) -> Self {
        Self {
            bot: bot.to_owned(),
            cause: cause.into(),
            fix: fix.into(),
            is_for_want_of_space: false,
            printed: None,
        }
    }

    /// The same on several lines, with all that a tool printed of it.
    pub fn in_full(&self) -> String {
        match self.printed.as_deref() {
            Some(ToolOutput { of, lines }) if lines.len() > 1 => {
                let (bot, fix) = (&self.bot, &self.fix);
                let lines = lines.join("\n  ");
                format!("cannot start {bot}: {of}:\n  {lines}\n{fix}")
            }
            _ => self.to_string(),
        }
    }

    /// For a bot that cannot be copied; `fix` applies unless there is no space.
    pub fn copying(bot: &str, cause: String, error: &io::Error, fix: &str) -> Self {
        let is_for_want_of_space = is_full(error);
        let fix = if is_for_want_of_space {
            FREE_SPACE
        } else {
            fix
        };
        Self {
            is_for_want_of_space,
            ..Self::new(bot, cause, fix)
        }
    }
}

pub fn find_in_path(command: &str) -> Option<PathBuf> {
    all_in_path(command).next()
}

pub fn all_in_path(command: &str) -> impl Iterator<Item = PathBuf> {
    let path = env::var_os("PATH").unwrap_or_default();
    let directories: Vec<PathBuf> = env::split_paths(&path).collect();
    let files = directories
        .into_iter()
        .flat_map(move |directory| command_files(&directory, command));
    files.filter(|candidate| is_executable_file(candidate))
}

/// The first folder of a path that is not there, for a file that is not, either.
pub fn missing_folder(path: &Path) -> Option<&Path> {
    let folders = path.ancestors().skip(1);
    let named = folders.filter(|folder| !folder.as_os_str().is_empty());
    named.take_while(|folder| !folder.exists()).last()
}

/// Whether a path is a regular file that any user may run.
pub fn is_executable_file(path: &Path) -> bool {
    fs::metadata(path).is_ok_and(|meta| is_executable(path, &meta))
}

/// The advice for a missing command: install it, or use a language that runs here.
pub fn install(command: &str) -> String {
    // A misspelt one, one at another place, or `python`, which Debian and Ubuntu do not have.
    let name = Path::new(command).file_name().unwrap_or_default();
    let name = &*name.to_string_lossy();
    let known = interpreter::LANGUAGES
        .iter()
        .filter_map(|language| language.run.first());
    let near = meant(name, &known.copied().collect::<Vec<_>>());
    let mut names = [name].into_iter().chain(near);
    if let Some(near) = names.find(|near| find_in_path(near).is_some()) {
        let is_shebang = command.contains('/');
        let env = if is_shebang { "#!/usr/bin/env " } else { "" };
        let near = escape(near.as_bytes());
        return format!("write {env}{near} instead, which is installed");
    }
    let package = interpreter::by_interpreter(command).map_or_else(String::new, |language| {
        format!(" (on Debian and Ubuntu: apt install {})", language.package)
    });
    let here = interpreter::names_of_installed();
    let here = match &here[..] {
        [] => String::new(),
        [only] => format!("; bots in {only} run here"),
        [others @ .., last] => format!("; bots in {} and {last} run here", others.join(", ")),
    };
    format!("install it{package} or correct PATH{here}")
}

/// The first bytes of a file.
pub fn start_of(path: &Path, most: u64) -> io::Result<Vec<u8>> {
    let mut start = Vec::new();
    fs::File::open(path)?.take(most).read_to_end(&mut start)?;
    Ok(start)
}

/// Why the kernel would not run a file, and what to do.
struct HeaderProblem {
    cause: String,
    fix: String,
}

impl HeaderProblem {
    fn new(cause: impl Into<String>, fix: impl Into<String>) -> Self {
        Self {
            cause: cause.into(),
            fix: fix.into(),
        }
    }
}

/// Checks the start of an executable, called `given` in errors: the interpreter of its shebang
/// line, `None` for machine code, or why the kernel would not run it.
pub fn check_header(path: &Path, given: &str) -> Result<Option<String>, CannotStart> {
    let Ok(header) = start_of(path, 512) else {
        // A program may be executable but unreadable; the kernel reports other problems.
        return Ok(None);
    };
    let cannot =
        |problem: HeaderProblem| CannotStart::new(&escape_path(given), problem.cause, problem.fix);
    let marks: [&[u8]; 3] = [b"\xef\xbb\xbf", b"\xff\xfe", b"\xfe\xff"];
    if marks.iter().any(|mark| header.starts_with(mark)) {
        return Err(cannot(HeaderProblem::new(
            "it begins with a byte order mark, as Windows editors write it, so the system does not see its first line",
            "save it as UTF-8 without a byte order mark",
        )));
    }
    if let Some(line) = header.strip_prefix(b"#!") {
        let line = line.split(|&byte| byte == b'\n').next().unwrap_or(line);
        let folder = path.parent().unwrap_or(Path::new(""));
        return check_shebang(line, folder).map(Some).map_err(cannot);
    }
    let checked = match header.strip_prefix(b"\x7fELF") {
        Some(elf) => check_elf(elf),
        None => check_other(&header, given),
    };
    checked.map(|()| None).map_err(cannot)
}

/// Machine code, which must be of this machine.
fn check_elf(elf: &[u8]) -> Result<(), HeaderProblem> {
    let ours = MACHINES.iter().find(|(_, arch, _)| *arch == ARCH);
    match (elf_machine(elf), ours) {
        (Some(theirs), Some((number, _, ours))) if theirs != *number => {
            let known = MACHINES.iter().find(|(number, ..)| *number == theirs);
            let named = known.map(|(.., name)| (*name).to_owned());
            let theirs = named.unwrap_or_else(|| format!("ELF machine {theirs}"));
            Err(HeaderProblem::new(
                format!("it is a program for another kind of CPU ({theirs})"),
                format!("compile it on this machine ({ours})"),
            ))
        }
        _ => Ok(()),
    }
}

/// What is neither machine code of this system nor begins with a shebang line.
fn check_other(header: &[u8], given: &str) -> Result<(), HeaderProblem> {
    let foreign = [
        (&b"MZ"[..], "a Windows program"),
        (b"\xcf\xfa\xed\xfe", "a macOS program"),
        (b"\xca\xfe\xba\xbe", "a Java class file or a macOS program"),
    ];
    // A shell would run it as a script.
    let looks_like_text = !header.contains(&0);
    let other = "neither a program of this system nor a script";
    let mut foreign = foreign.into_iter();
    let foreign = foreign.find_map(|(magic, what)| header.starts_with(magic).then_some(what));
    if cfg!(target_os = "linux")
        && let Some(what) = foreign.or((!looks_like_text).then_some(other))
    {
        let fix = "compile it for this system, or give the command line that runs it";
        return Err(HeaderProblem::new(format!("it is {what}"), fix));
    }
    if looks_like_text && let Some((language, command)) = interpreter::compiling(given) {
        return Err(HeaderProblem::new(
            format!("it is source of {language} that has not been compiled"),
            format!("compile it and give the program: {command}"),
        ));
    }
    if looks_like_text && cfg!(target_os = "linux") {
        let example = Path::new(given)
            .extension()
            .and_then(|ending| interpreter::by_ending(ending.to_str()?))
            .and_then(|language| language.run.first())
            .unwrap_or(&"python3");
        let file = escape(given.as_bytes());
        return Err(HeaderProblem::new(
            "it is a script without a first line that names its interpreter",
            format!(
                "begin the file with a line such as #!/usr/bin/env {example}, or name the interpreter (\"{example} {file}\")"
            ),
        ));
    }
    Ok(())
}

pub fn has_windows_lines(path: &Path) -> bool {
    let start = start_of(path, 4096).unwrap_or_default();
    let first = start.split(|&byte| byte == b'\n').next();
    start.contains(&b'\n') && first.is_some_and(|line| line.ends_with(b"\r"))
}

/// The shebang line as the kernel reads it: the interpreter, and the rest as one argument.
#[cfg(all(target_os = "linux", not(portable)))]
pub fn shebang(path: &Path) -> Option<(String, Option<String>)> {
    let header = start_of(path, 512).ok()?;
    let line = header.split(|&byte| byte == b'\n').next()?;
    let line = String::from_utf8_lossy(line.strip_prefix(b"#!")?);
    let (interpreter, rest) = split_shebang(&line);
    let rest = Some(rest.to_owned()).filter(|rest| !rest.is_empty());
    Some((interpreter.to_owned(), rest))
}

fn split_shebang(line: &str) -> (&str, &str) {
    let line = line.trim_ascii();
    let (interpreter, rest) = line.split_once([' ', '\t']).unwrap_or((line, ""));
    (interpreter, rest.trim_ascii())
}

/// The interpreter of a shebang line (without `#!`); a relative one is in the bot's folder, where it runs.
fn check_shebang(line: &[u8], folder: &Path) -> Result<String, HeaderProblem> {
    let shown = escape(line.trim_ascii());
    if line.ends_with(b"\r") {
        return Err(HeaderProblem::new(
            "its lines end in CRLF, as on Windows, so its first line names an interpreter that does not exist",
            "save it with Unix line ends (LF), for example with dos2unix",
        ));
    }
    let line = String::from_utf8_lossy(line);
    let (interpreter, rest) = split_shebang(&line);
    if interpreter.is_empty() {
        return Err(HeaderProblem::new(
            "its first line is #! without an interpreter",
            "name one, such as #!/usr/bin/env python3",
        ));
    }
    let is_env = ["/usr/bin/env", "/bin/env"].contains(&interpreter);
    let started = is_env.then(|| started_by_env(interpreter, rest, &shown));
    let needed = started.transpose()?.flatten();
    let needed = needed.unwrap_or_else(|| interpreter.to_owned());
    if !needed.contains('/') && needed != interpreter {
        if find_in_path(&needed).is_some() {
            return Ok(needed);
        }
        let command = escape(needed.as_bytes());
        return Err(HeaderProblem::new(
            format!("it needs {command}, which is not installed (its first line is #!{shown})"),
            install(&needed),
        ));
    }
    let path = folder.join(&needed);
    if is_executable_file(&path) {
        return Ok(path.to_string_lossy().into_owned());
    }
    let shown = escape(needed.as_bytes());
    if path.exists() {
        return Err(HeaderProblem::new(
            format!("its first line names {shown} as its interpreter, which is not a program"),
            "name an interpreter, such as #!/usr/bin/env python3",
        ));
    }
    Err(HeaderProblem::new(
        format!("its first line names the interpreter {shown}, which does not exist"),
        if Path::new(&needed).is_absolute() {
            install(&needed)
        } else {
            "install it there: a relative path begins in the bot's folder".to_owned()
        },
    ))
}

/// The command that `env` starts, by the rest of the line after it; `shown` is the line for people.
fn started_by_env(env: &str, rest: &str, shown: &str) -> Result<Option<String>, HeaderProblem> {
    // Linux passes the rest as one word.
    let is_one = cfg!(target_os = "linux") && !rest.is_empty();
    let words = if is_one {
        vec![rest]
    } else {
        rest.split_ascii_whitespace().collect()
    };
    let (command, is_split) = command_of_env(&words);
    if is_one && !is_split && rest.contains([' ', '\t']) {
        let rest = escape(rest.as_bytes());
        return Err(HeaderProblem::new(
            format!(
                "the system passes all that follows {env} in its first line (#!{shown}) as one word, so it looks for a program called `{rest}`"
            ),
            format!("write #!{env} -S {rest}"),
        ));
    }
    Ok(command)
}

/// The command that `env` starts with these words, and whether one was split (`-S`).
fn command_of_env(words: &[&str]) -> (Option<String>, bool) {
    let mut words: VecDeque<String> = words.iter().map(|&word| word.to_owned()).collect();
    let mut is_split = false;
    while words.front().is_some_and(|word| word.starts_with('-')) {
        let word = words.pop_front().unwrap_or_default();
        // An option that takes a word, and what is joined to it.
        let option = match word.strip_prefix("--") {
            Some("") => break,
            Some(long) => {
                let (name, value) = long.split_once('=').unwrap_or((long, ""));
                let known = ["split-string", "unset", "chdir", "argv0"];
                let meant = known.into_iter().find(|known| known.starts_with(name));
                meant.map(|known| (known, value))
            }
            None => word
                .find(['S', 'u', 'C', 'a'])
                .map(|at| word[at..].split_at(1)),
        };
        let Some((option, joined)) = option else {
            continue;
        };
        let value = match joined {
            "" => words.pop_front().unwrap_or_default(),
            joined => joined.to_owned(),
        };
        if option.starts_with(['S', 's']) {
            is_split = true;
            let split = shell_words::split(&value).unwrap_or_default();
            words = split.into_iter().chain(words).collect();
        }
    }
    (words.into_iter().find(|word| !word.contains('=')), is_split)
}

/// The machine field of an ELF header, after the magic.
fn elf_machine(after_magic: &[u8]) -> Option<u16> {
    let little = *after_magic.get(1)? == 1;
    let bytes = [*after_magic.get(14)?, *after_magic.get(15)?];
    Some(if little {
        u16::from_le_bytes(bytes)
    } else {
        u16::from_be_bytes(bytes)
    })
}

/// Kinds of CPU: the number in an ELF header, Rust's name, and the name for people.
const MACHINES: [(u16, &str, &str); 5] = [
    (3, "x86", "x86, 32 bits"),
    (40, "arm", "ARM, 32 bits"),
    (62, "x86_64", "x86-64"),
    (183, "aarch64", "ARM, 64 bits"),
    (243, "riscv64", "RISC-V"),
];
