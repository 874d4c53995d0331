//! `referee new LANGUAGE [FILE]`: writes a working starter bot.

use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use crate::cli::support::failure::Failure;
use crate::cli::support::output::Stdout;
use crate::cli::support::setup::unreadable;
use crate::system::create_executable;

/// A shipped random strategy.
struct Starter {
    /// The value of LANGUAGE.
    language: &'static str,
    /// The file's name here, and its text.
    file: &'static str,
    text: &'static str,
    /// The compile command, with `FILE` and `BOT` for the two paths; empty when it runs uncompiled.
    compile: &'static str,
}

macro_rules! starter {
    ($language:literal, $file:literal, $compile:literal) => {
        Starter {
            language: $language,
            file: $file,
            text: include_str!(concat!("../../../players/", $file)),
            compile: $compile,
        }
    };
}

const STARTERS: &[Starter] = &[
    starter!("c", "random.c", "cc -O2 -o BOT FILE"),
    starter!("c++", "random.cpp", "c++ -O2 -o BOT FILE"),
    starter!("common-lisp", "random.lisp", ""),
    starter!("go", "random.go", "go build -o BOT FILE"),
    starter!("guile", "random.scm", ""),
    starter!("haskell", "random.hs", "ghc -O -o BOT FILE"),
    starter!("java", "Random.java", ""),
    starter!("javascript", "random.js", ""),
    starter!("lua", "random.lua", ""),
    starter!("ocaml", "random.ml", ""),
    starter!("perl", "random.pl", ""),
    starter!("php", "random.php", ""),
    starter!("prolog", "random.pro", ""),
    starter!("python", "random.py", ""),
    starter!("ruby", "random.rb", ""),
    starter!("rust", "random.rs", "rustc -O -o BOT FILE"),
    starter!("sh", "random.sh", ""),
    starter!("tcl", "random.tcl", ""),
];

#[derive(Debug, clap::Args)]
pub(in crate::cli) struct Args {
    /// The language; without it, the languages are listed
    language: Option<String>,

    /// Where to write it [default: mybot with the language's ending]
    file: Option<PathBuf>,
}

pub(in crate::cli) fn run(args: &Args) -> Result<(), Failure> {
    let mut out = Stdout;
    let Some(language) = &args.language else {
        for starter in STARTERS {
            writeln!(out, "{}", starter.language)?;
        }
        return Ok(());
    };
    let wanted = language.to_lowercase();
    let starter = STARTERS
        .iter()
        .find(|starter| starter.language == wanted || ending(starter) == wanted)
        .ok_or_else(|| {
            let known: Vec<&str> = STARTERS.iter().map(|starter| starter.language).collect();
            Failure::Usage(format!(
                "there is no starter bot in {}; expected {}",
                crate::text::quote(language.as_bytes()),
                known.join(", ")
            ))
        })?;
    let file = args.file.clone().unwrap_or_else(|| default_file(starter));
    write_new(&file, starter)?;
    let shown = shell_words::quote(&file.to_string_lossy()).into_owned();
    let shown = if shown.contains('/') {
        shown
    } else {
        format!("./{shown}")
    };
    writeln!(out, "wrote {}", file.display())?;
    let bot = if starter.compile.is_empty() {
        shown
    } else {
        let program = format!("{shown}.out");
        let compile = starter
            .compile
            .replace("FILE", &shown)
            .replace("BOT", &program);
        writeln!(out, "compile it: {compile}")?;
        program
    };
    writeln!(out, "play:       referee -v {bot} builtin:greedy")?;
    writeln!(out, "check it:   referee check {bot}")?;
    Ok(())
}

fn ending(starter: &Starter) -> &'static str {
    starter.file.rsplit('.').next().unwrap_or("")
}

fn default_file(starter: &Starter) -> PathBuf {
    // Java requires a file to be named after its class.
    match starter.language {
        "java" => PathBuf::from(starter.file),
        _ => PathBuf::from(format!("mybot.{}", ending(starter))),
    }
}

/// Writes the file; never overwrites one.
fn write_new(file: &Path, starter: &Starter) -> Result<(), Failure> {
    let script = starter.text.starts_with("#!");
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    create_executable(&mut options, script);
    let mut target = options.open(file).map_err(|error| {
        if error.kind() == io::ErrorKind::AlreadyExists {
            return Failure::Usage(format!(
                "{}: the file exists already and was not changed; give another name",
                file.display()
            ));
        }
        unreadable(file, &error)
    })?;
    target.write_all(starter.text.as_bytes()).map_err(|error| {
        // An incomplete file would block the next attempt.
        let _ = fs::remove_file(file);
        Failure::Referee(format!("{}: cannot be written: {error}", file.display()))
    })
}
