//! Languages: how to run or compile a file, what to install, how to flush.

use std::env::consts::EXE_SUFFIX;
use std::path::Path;

use super::find_in_path;
use crate::system::{command_word, names_of_command};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Language {
    pub name: &'static str,
    pub endings: &'static [&'static str],
    /// The command that runs a file; empty for compiled languages.
    pub run: &'static [&'static str],
    /// Debian's package with that command.
    pub package: &'static str,
    /// How to flush standard output; `None` when every line is flushed.
    pub flush: Option<&'static str>,
    /// The command that compiles a source `{in}`; `{out}` is the source without its extension.
    pub compile: Option<&'static str>,
}

impl Language {
    /// How to read lines as they come, where a common way does not.
    pub fn read_lines(&self) -> Option<&'static str> {
        Some(match self.name {
            "awk" => "mawk needs -W interactive",
            "C" => "fgets, not fread",
            "C++" => "std::getline",
            "Go" => "a bufio.Scanner, not io.ReadAll",
            "Haskell" => "getLine, not getContents",
            "JavaScript" => "the line events of readline, not fs.readFileSync(0)",
            "Lua" => "io.lines(), not io.read(\"a\")",
            "PHP" => "fgets(STDIN), not stream_get_contents",
            "Perl" => "while (<STDIN>), not a list",
            "Python" => "for line in sys.stdin, not read() or readlines()",
            "Ruby" => "$stdin.each_line, not read or readlines",
            "Rust" => "stdin().lines(), not read_to_string",
            _ => return None,
        })
    }

    /// What hides an error from its author, where there is such a thing.
    pub fn hides_errors(&self) -> Option<&'static str> {
        Some(match self.name {
            "Python" => "`except` with `pass` or `continue`",
            "Ruby" => "an empty `rescue`",
            "Perl" => "`eval` without a look at $@",
            "Lua" => "`pcall` without a look at its result",
            "C#" | "C++" | "D" | "Java" | "JavaScript" | "Kotlin" | "PHP" | "Scala"
            | "TypeScript" => "an empty `catch`",
            "OCaml" => "`try … with _`",
            "Common Lisp" => "`ignore-errors`",
            _ => return None,
        })
    }

    /// How to write to standard error, where that is not obvious.
    pub fn to_stderr(&self) -> Option<&'static str> {
        Some(match self.name {
            "C" => "fprintf(stderr, ...)",
            "C++" => "std::cerr << ...",
            "Go" => "fmt.Fprintln(os.Stderr, ...)",
            "Java" => "System.err.println(...)",
            "JavaScript" => "console.error(...)",
            "Lua" => "io.stderr:write(...)",
            "Perl" => "print STDERR ...",
            "PHP" => "fwrite(STDERR, ...)",
            "Python" => "print(..., file=sys.stderr), and input() without a text",
            "Ruby" => "warn ...",
            "Rust" => "eprintln!(...)",
            _ => return None,
        })
    }

    /// The words between the interpreter and the file: those of `run`, and what the installed one
    /// needs to pass lines on as they come.
    pub fn options(&self, interpreter: &str) -> Vec<String> {
        let mut words = Vec::new();
        if is_mawk(interpreter) {
            // Otherwise it reads ahead and answers when the game is over.
            words.push("-Winteractive".to_owned());
        }
        words.extend(self.run.iter().skip(1).map(|&word| word.to_owned()));
        words
    }

    /// The command that runs a file, by the first of its names in `PATH`.
    pub fn installed(&self) -> Option<String> {
        let mut names = names_of_command(self.run.first()?).into_iter();
        names.find_map(|name| Some(command_word(name, &find_in_path(name)?)))
    }
}

const fn language(
    name: &'static str,
    endings: &'static [&'static str],
    run: &'static [&'static str],
    package: &'static str,
    flush: &'static str,
) -> Language {
    Language {
        name,
        endings,
        run,
        package,
        flush: if flush.is_empty() { None } else { Some(flush) },
        compile: None,
    }
}

const fn compiled(
    name: &'static str,
    endings: &'static [&'static str],
    flush: &'static str,
    command: &'static str,
) -> Language {
    Language {
        compile: Some(command),
        ..language(name, endings, &[], "", flush)
    }
}

/// Sorted by name.
#[rustfmt::skip]
pub const LANGUAGES: &[Language] = &[
    language("awk", &["awk"], &["awk", "-f"], "mawk", "fflush()"),
    compiled("Ada", &["adb"], "", "gnatmake -o {out} {in}"),
    compiled("C", &["c"], "fflush(stdout), or setvbuf(stdout, NULL, _IOLBF, 0) once", "gcc -O2 -o {out} {in}"),
    compiled("C#", &["cs"], "", "mcs -out:{out}.exe {in}"),
    compiled("C++", &["cpp", "cc", "cxx"], "std::cout << ... << std::endl", "g++ -O2 -o {out} {in}"),
    language("Common Lisp", &["lisp"], &["sbcl", "--script"], "sbcl", "(finish-output)"),
    compiled("Crystal", &["cr"], "", "crystal build --release -o {out} {in}"),
    compiled("D", &["d"], "", "gdc -O2 -o {out} {in}"),
    compiled("Fortran", &["f90", "f95"], "", "gfortran -O2 -o {out} {in}"),
    language("Go", &["go"], &["go", "run"], "golang-go", "writer.Flush() if the output is a bufio.Writer"),
    language("Guile Scheme", &["scm"], &["guile"], "guile-3.0", "(force-output)"),
    language("Haskell", &["hs"], &["runghc"], "ghc", "hSetBuffering stdout LineBuffering once"),
    language("Java", &["java"], &["java"], "default-jdk-headless", "System.out.flush()"),
    language("Java", &["jar"], &["java", "-jar"], "default-jre-headless", "System.out.flush()"),
    language("JavaScript", &["js", "mjs", "cjs"], &["node"], "nodejs", ""),
    language("Julia", &["jl"], &["julia"], "julia", "flush(stdout)"),
    compiled("Kotlin", &["kt"], "", "kotlinc {in} -include-runtime -d {out}.jar"),
    language("Lua", &["lua"], &["lua"], "lua5.4", "io.stdout:flush(), or io.stdout:setvbuf(\"line\") once"),
    compiled("Nim", &["nim"], "", "nim compile -d:release -o:{out} {in}"),
    language("OCaml", &["ml"], &["ocaml"], "ocaml", "print_endline, or flush stdout"),
    compiled("Pascal", &["pas", "pp"], "", "fpc {in}"),
    language("Perl", &["pl"], &["perl"], "perl", "$| = 1 once"),
    language("PHP", &["php"], &["php"], "php-cli", "fflush(STDOUT)"),
    language("Prolog", &["pro", "prolog"], &["swipl"], "swi-prolog", "flush_output"),
    language("Python", &["py"], &["python3"], "python3", "print(..., flush=True)"),
    language("R", &["R", "r"], &["Rscript"], "r-base-core", "flush(stdout())"),
    language("Racket", &["rkt"], &["racket"], "racket", "(flush-output)"),
    language("Ruby", &["rb"], &["ruby"], "ruby", "$stdout.sync = true once"),
    compiled("Rust", &["rs"], "std::io::stdout().flush()", "rustc -O -o {out} {in}"),
    language("shell", &["sh"], &["sh"], "dash", ""),
    language("shell", &["bash"], &["bash"], "bash", ""),
    compiled("Swift", &["swift"], "", "swiftc -O -o {out} {in}"),
    language("Tcl", &["tcl"], &["tclsh"], "tcl", "flush stdout, or fconfigure stdout -buffering line once"),
    compiled("Zig", &["zig"], "", "zig build-exe -O ReleaseFast -femit-bin={out} {in}"),
];

pub fn names_of_installed() -> Vec<&'static str> {
    let installed = |language: &Language| language.installed().map(|_| language.name);
    let mut names: Vec<_> = LANGUAGES.iter().filter_map(installed).collect();
    names.dedup();
    names
}

pub fn by_ending(ending: &str) -> Option<Language> {
    LANGUAGES
        .iter()
        .find(|language| language.endings.contains(&ending))
        .copied()
}

/// The language of a source that must be compiled, and the shell command that does it.
///
/// ```
/// use referee_host::executable::interpreter::compiling;
///
/// let (language, command) = compiling("my bot.pas").ok_or("unknown")?;
/// assert_eq!((language, &*command), ("Pascal", "fpc 'my bot.pas'"));
/// # Ok::<(), &str>(())
/// ```
pub fn compiling(source: &str) -> Option<(&'static str, String)> {
    let path = Path::new(source);
    let language = by_ending(path.extension()?.to_str()?)?;
    let out = path.with_extension("").to_string_lossy().into_owned();
    let command = language
        .compile?
        .replace("{in}", &shell_words::quote(source));
    Some((
        language.name,
        command.replace("{out}", &shell_words::quote(&out)),
    ))
}

/// The language of an interpreter such as `python3.11` or `/usr/bin/guile`.
pub fn by_interpreter(command: &str) -> Option<Language> {
    let file = Path::new(command).file_name();
    let file = file.and_then(|file| file.to_str()).unwrap_or(command);
    let file = file.strip_suffix(EXE_SUFFIX).unwrap_or(file);
    let stem = file.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.' || c == '-');
    let stem = match stem {
        "python" | "pypy" | "py" => "python3",
        "nodejs" => "node",
        "mawk" | "gawk" | "nawk" | "busybox" => "awk",
        "luajit" => "lua",
        "dash" | "ksh" | "zsh" => "sh",
        "wish" => "tclsh",
        other => other,
    };
    LANGUAGES
        .iter()
        .find(|language| language.run.first() == Some(&stem) || language.run.first() == Some(&file))
        .copied()
}

/// Also under another name: Debian's `awk` is a link to mawk.
fn is_mawk(command: &str) -> bool {
    let program = find_in_path(command).and_then(|path| path.canonicalize().ok());
    program.is_some_and(|path| path.file_stem().is_some_and(|name| name == "mawk"))
}
