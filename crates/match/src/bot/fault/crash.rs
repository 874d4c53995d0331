//! What the end of a program's stderr says of why it exited.

use std::fmt;

use referee_text::quote;

/// Beginnings of lines that name the error in the runtimes of Go, Java, OCaml, SBCL and PHP, whatever follows.
const ERRORS: [&str; 8] = [
    "panic: ",
    "fatal error: ",
    "Exception in thread ",
    "Caused by: ",
    "Fatal error: ",
    "PHP Fatal error: ",
    "Unhandled ",
    "Uncaught ",
];

/// Beginnings of lines that follow the error: frames, hints, versions.
const AFTERWARDS: [&str; 14] = [
    "Node.js v",
    "- ",
    "note: ",
    "}",
    "#",
    "Require stack:",
    "Stack trace:",
    "stack traceback:",
    "CallStack (from ",
    "Raised at ",
    "Re-raised at ",
    "Called from ",
    "[Previous line repeated",
    "at ",
];

/// Words of errors that an attempt to use the network ends with, in lower case.
const NETWORK: [&str; 9] = [
    "network",
    "socket",
    "connect",
    "not permitted",
    "permission denied",
    "eperm",
    "name resolution",
    "unknownhost",
    "fetch failed",
];

/// What runtimes say when the system gives them no memory, in lower case.
const NO_MEMORY: [&str; 9] = [
    "memoryerror",
    "bad_alloc",
    "outofmemoryerror",
    "out of memory",
    "out-of-memory",
    "cannot allocate memory",
    "insufficient memory",
    "memory allocation of",
    "failed to allocate memory",
];

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Cause {
    /// A file or a module is not seen.
    Missing,
    Other,
}

/// What Python and Node say of a module that is not there, in lower case.
const NO_MODULE: [&str; 2] = ["no module named", "cannot find module"];

/// What an error in a sandbox says, in lower case, what it comes from, and what its author does about it.
const SANDBOX: [(&str, Cause, &str); 9] = [
    (
        "read-only file system",
        Cause::Other,
        "in the sandbox the bot's folder is read-only: write to stderr, or to a file in the folder that TMPDIR names",
    ),
    (
        NO_MODULE[0],
        Cause::Missing,
        "the sandbox shows the bot its own folder and what is installed for everyone: keep a module of yours beside the bot, and install a package for everyone, or into a virtual environment there",
    ),
    (
        NO_MODULE[1],
        Cause::Missing,
        "the sandbox shows the bot its own folder and what is installed for everyone: keep a module of yours beside the bot, and install a package into node_modules there (npm install)",
    ),
    (
        "no such file or directory",
        Cause::Missing,
        "the sandbox shows the bot its own folder, and neither home folders nor /tmp of others: keep the file beside the bot, and open it relative to the program",
    ),
    (
        "permission denied",
        Cause::Other,
        "the sandbox forbids it: keep what the bot reads in its own folder, and write only to the folder that TMPDIR names",
    ),
    (
        "resource temporarily unavailable",
        Cause::Other,
        "the sandbox limits processes and threads (--processes): start fewer",
    ),
    (
        "too many open files",
        Cause::Other,
        "the sandbox limits open files: close what is not needed",
    ),
    (
        "file too large",
        Cause::Other,
        "the sandbox limits the size of a file: write less",
    ),
    (
        "no space left on device",
        Cause::Other,
        "the sandbox limits the space for temporary files: write less",
    ),
];

/// The line that says why the program exited: the last that names an error, else a compiler's first error, else the
/// last that is not a stack frame, a hint or a version. After `panicked at` of Rust also the next line, its message.
pub fn explaining_line(stderr: &str) -> Option<String> {
    let lines: Vec<&str> = stderr.lines().map(str::trim_end).collect();
    let is_frame = |line: &str| line.starts_with([' ', '\t']) || line.starts_with("\\t");
    let begins = |line: &str, beginnings: &[&str]| {
        beginnings
            .iter()
            .any(|&beginning| line.starts_with(beginning))
    };
    let tells = |line: &str| !line.is_empty() && !is_frame(line) && !begins(line, &AFTERWARDS);
    let named = lines.iter().rposition(|line| begins(line, &ERRORS));
    let named = named.or_else(|| lines.iter().position(|line| line.contains(": error: ")));
    let told = named.or_else(|| lines.iter().rposition(|line| tells(line)));
    let at = told.or_else(|| lines.iter().rposition(|line| !line.is_empty()))?;
    let panicked = (at > 0 && lines[at - 1].contains("panicked at")).then(|| lines[at - 1]);
    Some(match panicked {
        Some(place) => format!("{place} {}", lines[at]),
        None => lines[at].trim_start().to_owned(),
    })
}

/// Where the error was raised, as Python, Node and Java say it: `line 3 of bot.py`.
pub fn place(stderr: &str) -> Option<String> {
    let in_python = |line: &str| {
        let (file, rest) = line
            .trim_start()
            .strip_prefix("File \"")?
            .split_once("\", line ")?;
        Some((file.to_owned(), rest.split(',').next()?.to_owned()))
    };
    // Node's first line is the place; a frame of Java ends with it.
    let elsewhere = |line: &str| {
        let is_frame = line
            .trim_start_matches("\\t")
            .trim_start()
            .starts_with("at ");
        let place = match line.rsplit_once('(') {
            Some((before, place)) if is_frame && !before.contains("java.base/") => {
                place.strip_suffix(')')?
            }
            None if !is_frame => line,
            _ => return None,
        };
        let (file, number) = place.rsplit_once(':')?;
        let is_source = [".js", ".mjs", ".cjs", ".java"]
            .iter()
            .any(|end| file.ends_with(end));
        is_source.then(|| (file.to_owned(), number.to_owned()))
    };
    let python = stderr.lines().rev().find_map(in_python);
    let (file, number) = python.or_else(|| stderr.lines().find_map(elsewhere))?;
    let name = file.rsplit(['/', '\\']).next()?;
    let is_number = !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit());
    is_number.then(|| format!("line {number} of {name}"))
}

/// Whether the error that ended the program may come from a refused connection.
pub fn is_about_network(stderr: &str) -> bool {
    explaining_line(stderr).is_some_and(|line| {
        let line = line.to_lowercase();
        NETWORK.iter().any(|word| line.contains(word))
    })
}

/// Whether a program says that it was given no memory.
pub fn is_about_memory(said: &str) -> bool {
    let said = said.to_lowercase();
    NO_MEMORY.iter().any(|words| said.contains(words))
}

/// What lies beside a bot, and is not found by it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum UnseenFile {
    /// A program of another bot, or its folder.
    OfAnother(String),
    /// It is looked for with other capital letters.
    OtherCase(String),
    /// Its folder can be no bot's own, such as a home folder.
    AllBesideIt,
}

impl UnseenFile {
    fn advice(&self) -> String {
        match self {
            Self::OfAnother(name) => format!(
                "{} is another bot, so the sandbox hides it: put what both need into a module of its own, or give each bot a folder with a copy",
                quote(name.as_bytes())
            ),
            Self::OtherCase(name) => format!(
                "beside the bot there is {}, which differs in capital letters: write the name as the file has it",
                quote(name.as_bytes())
            ),
            Self::AllBesideIt => "its folder is a home folder, one for temporary files or a very large one, of which the sandbox shows it nothing but its own file: put the bot and what it needs into a folder of their own".to_owned(),
        }
    }
}

/// Whether the line that says why the program exited has this file or module in it.
pub fn speaks_of(stderr: &str, file: &str) -> bool {
    let stem = file.split_once('.').map_or(file, |(stem, _)| stem);
    let is_part = |c: char| c.is_alphanumeric() || c == '_';
    explaining_line(stderr).is_some_and(|line| {
        line.match_indices(stem).any(|(at, _)| {
            let (before, after) = (
                line[..at].chars().next_back(),
                line[at + stem.len()..].chars().next(),
            );
            !before.is_some_and(is_part) && !after.is_some_and(is_part)
        })
    })
}

/// The one of these files that the line speaks of, but for capital letters, if it does not speak of that file itself.
pub fn in_other_case<'a>(
    stderr: &str,
    files: impl IntoIterator<Item = &'a str>,
) -> Option<&'a str> {
    let line = explaining_line(stderr)?;
    let is_part = |c: char| c.is_alphanumeric() || "_-.".contains(c);
    let words: Vec<&str> = line.split(|c| !is_part(c)).collect();
    let is_of = |word: &str, file: &str| {
        let stem = file.rsplit_once('.').map_or(file, |(stem, _)| stem);
        word.eq_ignore_ascii_case(file) || word.eq_ignore_ascii_case(stem)
    };
    let paths: Vec<&str> = line.split(|c| !is_part(c) && c != '/').collect();
    files.into_iter().find(|path| {
        let file = path.rsplit('/').next().unwrap_or(path);
        let mut spoken = words.iter().filter(|word| is_of(word, file)).peekable();
        let differs = spoken.peek().is_some() && spoken.all(|word| !file.starts_with(word));
        differs || paths.iter().any(|spoken| folder_differs(spoken, path))
    })
}

/// Whether a path, or the name of a module, ends in this file's path but for capital letters of a folder.
fn folder_differs(spoken: &str, path: &str) -> bool {
    let stem = path.rsplit_once('.').map_or(path, |(stem, _)| stem);
    let module = stem.replace('/', ".");
    let ends_in = |name: &str| {
        let (before, end) = spoken.split_at_checked(spoken.len().checked_sub(name.len())?)?;
        let is_whole = before.is_empty() || before.ends_with('/');
        Some(is_whole && end != name && end.eq_ignore_ascii_case(name))
    };
    path.contains('/')
        && [path, &module]
            .into_iter()
            .any(|name| ends_in(name) == Some(true))
}

/// What programs call memory that processes share by name, as a pool of processes in Python does.
const SHARED_MEMORY: [&str; 3] = ["SemLock", "shm_open", "/dev/shm"];

const NO_SHARED_MEMORY: &str = "this sandbox has no memory that processes share by name (/dev/shm), which pools of processes need: use threads, or \
     processes that talk through pipes; with bubblewrap, or where Landlock has name spaces, it is there";

/// What to do about an error that ended a program: in words an imperative, without a full stop.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CrashAdvice {
    /// A file of the bot, which hides this module of Python's library.
    Rename(String),
    /// A sandbox is likely to have caused it, by what it does not show.
    Unseen(UnseenFile),
    /// A sandbox is likely to have caused it.
    Sandbox(&'static str),
    InstallModule,
    /// `line 3 of bot.py`.
    CorrectAt(String),
    /// Nothing on stderr says where.
    FindIt,
}

impl CrashAdvice {
    /// By the end of the program's stderr; `None` where that says no more than how it exited.
    pub fn of(stderr: &str, is_sandboxed: bool, unseen: Option<&UnseenFile>) -> Option<Self> {
        hidden_module(stderr)
            .map(Self::Rename)
            .or_else(|| sandbox_advice(stderr, unseen).filter(|_| is_sandboxed))
            .or_else(|| lacks_module(stderr).then_some(Self::InstallModule))
            .or_else(|| place(stderr).map(Self::CorrectAt))
            .or_else(|| stderr.trim().is_empty().then_some(Self::FindIt))
    }
}

impl fmt::Display for CrashAdvice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const ELSEWHERE: &str = "without a sandbox the same question may be answered";
        match self {
            Self::Rename(module) => write!(
                f,
                "rename {module}.py: it hides the module {module} of Python's library, which others import, too"
            ),
            Self::Unseen(unseen @ UnseenFile::OtherCase(_)) => f.write_str(&unseen.advice()),
            Self::Unseen(unseen) => write!(f, "{}; {ELSEWHERE}", unseen.advice()),
            Self::Sandbox(advice) => write!(f, "{advice}; {ELSEWHERE}"),
            Self::InstallModule => f.write_str(
                "install the package that it names, or keep a module of yours beside the bot",
            ),
            Self::CorrectAt(place) => write!(f, "correct the error at {place}"),
            Self::FindIt => f.write_str("find what ends it: it wrote nothing to stderr"),
        }
    }
}

fn sandbox_advice(stderr: &str, unseen: Option<&UnseenFile>) -> Option<CrashAdvice> {
    let line = explaining_line(stderr)?.to_lowercase();
    let is_refused = ["permission denied", "no such file"]
        .iter()
        .any(|words| line.contains(words));
    if is_refused && SHARED_MEMORY.iter().any(|name| stderr.contains(name)) {
        return Some(CrashAdvice::Sandbox(NO_SHARED_MEMORY));
    }
    let (_, cause, advice) = SANDBOX.iter().find(|(words, ..)| line.contains(words))?;
    Some(match unseen.filter(|_| *cause == Cause::Missing) {
        Some(unseen) => CrashAdvice::Unseen(unseen.clone()),
        None => CrashAdvice::Sandbox(advice),
    })
}

/// Modules of Python's library by whose names programs are often called.
const LIBRARY: [&str; 48] = [
    "abc",
    "array",
    "ast",
    "asyncio",
    "bisect",
    "calendar",
    "cmd",
    "code",
    "collections",
    "copy",
    "csv",
    "dataclasses",
    "datetime",
    "decimal",
    "enum",
    "fractions",
    "functools",
    "glob",
    "heapq",
    "inspect",
    "io",
    "itertools",
    "json",
    "logging",
    "math",
    "numbers",
    "operator",
    "os",
    "pickle",
    "platform",
    "profile",
    "queue",
    "random",
    "re",
    "secrets",
    "select",
    "signal",
    "socket",
    "statistics",
    "string",
    "struct",
    "subprocess",
    "tempfile",
    "threading",
    "time",
    "token",
    "types",
    "typing",
];

/// Whether programs in Python may mean its library by this name.
pub fn is_library_module(name: &str) -> bool {
    LIBRARY.contains(&name)
}

/// The module of Python's library in whose place it takes a file of the bot.
fn hidden_module(stderr: &str) -> Option<String> {
    let line = explaining_line(stderr)?;
    let between = |begin: &str, end: &str| line.split_once(begin)?.1.split_once(end);
    let is_of_library = |path: &str| path.contains("/lib/python") || path.contains("\\Lib\\");
    // Python says it itself from 3.13 on.
    let renamed = || {
        let (path, _) = between("consider renaming '", "'")?;
        let file = path.rsplit(['/', '\\']).next()?;
        file.strip_suffix(".py")
    };
    let imported = || {
        let (module, rest) = between(" from '", "'")?;
        let (path, _) = rest.strip_prefix(" (")?.split_once(')')?;
        (path.ends_with(&format!("{module}.py")) && !is_of_library(path)).then_some(module)
    };
    let initialized = || {
        let (module, _) = between("module '", "' has no attribute")?;
        let files = stderr
            .lines()
            .filter_map(|line| line.trim_start().strip_prefix("File \""));
        let mut files = files.filter_map(|file| Some(file.split_once('"')?.0));
        let is_own = |file: &str| {
            let name = file.rsplit(['/', '\\']).next().unwrap_or_default();
            name.strip_suffix(".py") == Some(module) && !is_of_library(file)
        };
        files.any(is_own).then_some(module)
    };
    let module = renamed().or_else(imported).or_else(initialized)?;
    is_library_module(module).then(|| module.to_owned())
}

/// Whether a module is not there.
fn lacks_module(stderr: &str) -> bool {
    explaining_line(stderr).is_some_and(|line| {
        let line = line.to_lowercase();
        NO_MODULE.iter().any(|words| line.contains(words))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_line_that_says_why_is_found_in_each_runtime() {
        let cases = [
            (
                "Traceback (most recent call last):\n  File \"bot.py\", line 3, in <module>\n    x[5]\nIndexError: list index out of range\n",
                "IndexError: list index out of range",
            ),
            (
                "/b.js:1\nundefined.x\n          ^\n\nTypeError: Cannot read properties of undefined (reading 'x')\n    at Interface.<anonymous> (/b.js:1:5)\n    at Interface.emit (node:events:524:28)\n\nNode.js v20.20.2\n",
                "TypeError: Cannot read properties of undefined (reading 'x')",
            ),
            (
                "Error: ENOENT: no such file or directory, open 'w.txt'\n    at Object.openSync (node:fs:573:18) {\n  errno: -2,\n  code: 'ENOENT'\n}\n\nNode.js v20.20.2\n",
                "Error: ENOENT: no such file or directory, open 'w.txt'",
            ),
            (
                "Bot.java:3: error: ';' expected\n  x\n   ^\n1 error\nerror: compilation failed\n",
                "Bot.java:3: error: ';' expected",
            ),
            (
                "loader:1\n  throw err;\n  ^\n\nError: Cannot find module 'x'\nRequire stack:\n- /b.js\n    at X {\n  code: 1\n}\n\nNode.js v20\n",
                "Error: Cannot find module 'x'",
            ),
            (
                "Exception in thread \"main\" java.lang.NullPointerException: x\n\tat Npe.main(Npe.java:2)\n",
                "Exception in thread \"main\" java.lang.NullPointerException: x",
            ),
            (
                "thread 'main' panicked at src/main.rs:3:5:\nindex out of bounds: the len is 3\nnote: run with `RUST_BACKTRACE=1` environment variable to display a backtrace\n",
                "thread 'main' panicked at src/main.rs:3:5: index out of bounds: the len is 3",
            ),
            (
                "panic: runtime error: index out of range [5] with length 3\n\ngoroutine 1 [running]:\nmain.main()\n\t/x.go:5 +0x1d\nexit status 2\n",
                "panic: runtime error: index out of range [5] with length 3",
            ),
            (
                "lua: bot.lua:3: attempt to index a nil value\nstack traceback:\n\t[C]: in ?\n",
                "lua: bot.lua:3: attempt to index a nil value",
            ),
            (
                "debug: 3 pieces\nbot.sh: line 3: foo: command not found\n",
                "bot.sh: line 3: foo: command not found",
            ),
            ("  only a frame\n", "only a frame"),
        ];
        for (stderr, line) in cases {
            assert_eq!(explaining_line(stderr).as_deref(), Some(line));
        }
        assert_eq!(explaining_line("\n"), None);
    }

    #[test]
    fn a_file_that_hides_the_library_is_to_be_renamed() {
        let advice = CrashAdvice::Rename("fractions".to_owned());
        assert_eq!(
            advice.to_string(),
            "rename fractions.py: it hides the module fractions of Python's library, which others import, too"
        );
        for line in [
            "ImportError: cannot import name 'Fraction' from 'fractions' (/w/b/fractions.py)",
            "ImportError: cannot import name 'Fraction' from 'fractions' (consider renaming '/w/fractions.py' since it has the same name as the standard library module named 'fractions' and prevents importing that standard library module)",
            "AttributeError: partially initialized module 'fractions' has no attribute 'Fraction' (most likely due to a circular import)",
        ] {
            let stderr = format!(
                "Traceback (most recent call last):\n  File \"/w/b/fractions.py\", line 3, in <module>\n    x\n{line}\n"
            );
            let found = CrashAdvice::of(&stderr, true, None);
            assert_eq!(found.as_ref(), Some(&advice), "{line}");
        }
        for line in [
            "ImportError: cannot import name 'think' from 'helper' (/w/b/helper.py)",
            "ImportError: cannot import name 'chioce' from 'random' (/usr/lib/python3.12/random.py)",
            "AttributeError: module 'random' has no attribute 'chioce'",
        ] {
            let stderr = format!(
                "Traceback (most recent call last):\n  File \"/w/bot.py\", line 3, in <module>\n    x\n{line}\n"
            );
            assert_eq!(hidden_module(&stderr), None, "{line}");
        }
    }

    #[test]
    fn a_file_in_other_capitals_is_found() {
        let files = ["bot.py", "data/weights.txt", "Helper.py"];
        for (line, found) in [
            (
                "FileNotFoundError: [Errno 2] No such file or directory: 'Weights.txt'",
                Some("data/weights.txt"),
            ),
            (
                "FileNotFoundError: [Errno 2] No such file or directory: '/x/data/WEIGHTS.TXT'",
                Some("data/weights.txt"),
            ),
            (
                "ModuleNotFoundError: No module named 'helper'",
                Some("Helper.py"),
            ),
            ("ModuleNotFoundError: No module named 'Helper'", None),
            (
                "FileNotFoundError: [Errno 2] No such file or directory: 'Data/weights.txt'",
                Some("data/weights.txt"),
            ),
            (
                "ModuleNotFoundError: No module named 'Data.weights'",
                Some("data/weights.txt"),
            ),
            (
                "cat: other-Data/weights.txt: No such file or directory",
                None,
            ),
            ("cat: data/weights.txt: No such file or directory", None),
            ("cat: weights.txt: No such file or directory", None),
            ("cat: table.csv: No such file or directory", None),
        ] {
            assert_eq!(in_other_case(line, files), found, "{line}");
        }
    }

    #[test]
    fn each_runtime_says_that_it_has_no_memory() {
        for said in [
            "Traceback (most recent call last):\n  File \"b.py\", line 5\nMemoryError\n",
            "terminate called after throwing an instance of 'std::bad_alloc'\n  what():  std::bad_alloc\n",
            "Exception in thread \"main\" java.lang.OutOfMemoryError: Java heap space\n",
            "# There is insufficient memory for the Java Runtime Environment to continue.\n",
            "FATAL ERROR: Reached heap limit Allocation failed - JavaScript heap out of memory\n",
            "fatal error: runtime: out of memory\n",
            "memory allocation of 2147483648 bytes failed\n",
            "sh: cannot fork: Cannot allocate memory\n",
        ] {
            assert!(is_about_memory(said), "{said}");
        }
        assert!(!is_about_memory("IndexError: my memory is full\n"));
    }

    #[test]
    fn a_package_that_is_not_installed_is_to_be_installed() {
        for stderr in [
            "Traceback:\nModuleNotFoundError: No module named 'numpy'\n",
            "Error: Cannot find module 'chess.js'\n",
        ] {
            let in_sandbox = CrashAdvice::of(stderr, true, None).expect("advice");
            let words = in_sandbox.to_string();
            assert!(words.contains("install a package"), "{words}");
            let outside = CrashAdvice::of(stderr, false, None);
            assert_eq!(outside, Some(CrashAdvice::InstallModule));
        }
        let other = "IndexError: list index out of range\n";
        assert_eq!(CrashAdvice::of(other, true, None), None);
    }

    #[test]
    fn the_place_of_an_error_is_found() {
        let cases = [
            (
                "Traceback (most recent call last):\n  File \"/a/bot.py\", line 9, in <module>\n    f()\n  File \"bot.py\", line 3, in f\n    x[5]\nIndexError: list index out of range\n",
                "line 3 of bot.py",
            ),
            (
                "  File \"bot.py\", line 2\n    if x\n        ^\nSyntaxError: expected ':'\n",
                "line 2 of bot.py",
            ),
            (
                "/a/b.js:1\nundefined.x\n          ^\n\nTypeError: Cannot read\n    at Interface.<anonymous> (/a/b.js:1:5)\n    at Interface.emit (node:events:524:28)\n",
                "line 1 of b.js",
            ),
            (
                "Exception in thread \"main\" java.lang.NumberFormatException: x\n\tat java.base/java.lang.Integer.parseInt(Integer.java:652)\n\tat Npe.main(Npe.java:2)\n",
                "line 2 of Npe.java",
            ),
        ];
        for (stderr, place) in cases {
            assert_eq!(super::place(stderr).as_deref(), Some(place));
        }
        for stderr in ["", "bot.sh: line 3: foo: command not found\n", "at 12:30\n"] {
            assert_eq!(super::place(stderr), None);
        }
    }

    #[test]
    fn the_network_is_blamed_only_by_an_error_that_speaks_of_it() {
        let socket = "Traceback:\n  s = socket.socket()\nPermissionError: [Errno 1] Operation not permitted\n";
        assert!(is_about_network(socket));
        assert!(is_about_network(
            "Exception in thread \"main\" java.net.SocketException: Operation not permitted\n\tat X\n"
        ));
        assert!(!is_about_network(
            "Exception in thread \"main\" java.lang.ArrayIndexOutOfBoundsException: Index 3\n\tat java.net.Socket.x\n"
        ));
        assert!(!is_about_network(""));
    }
}
