//! `referee new-game LANGUAGE [FILE]`: writes a working game, tic-tac-toe, to be changed into another one.

use std::io::Write as _;
use std::path::PathBuf;

use super::new::{compiled, shown, write_new};
use crate::cli::support::failure::Failure;
use crate::cli::support::output::Stdout;
use crate::text::{meant, quote};

struct Starter {
    language: &'static str,
    ending: &'static str,
    text: &'static str,
    compile: &'static str,
}

const STARTERS: [Starter; 3] = [
    Starter {
        language: "c",
        ending: "c",
        text: include_str!("../../../games/tic-tac-toe.c"),
        compile: "cc -O2 -o BOT FILE",
    },
    Starter {
        language: "javascript",
        ending: "js",
        text: include_str!("../../../games/tic-tac-toe.js"),
        compile: "",
    },
    Starter {
        language: "python",
        ending: "py",
        text: include_str!("../../../games/tic-tac-toe.py"),
        compile: "",
    },
];

#[derive(Debug, clap::Args)]
pub(in crate::cli) struct Args {
    /// The language: python, javascript or c; without it, the languages are listed
    language: Option<String>,

    /// Where to write it [default: mygame with the language's ending]
    file: Option<PathBuf>,
}

pub(in crate::cli) fn run(args: &Args) -> Result<(), Failure> {
    let mut out = Stdout;
    let Some(language) = &args.language else {
        for starter in &STARTERS {
            writeln!(out, "{}", starter.language)?;
        }
        return Ok(());
    };
    let wanted = language.to_lowercase();
    let starter = STARTERS
        .iter()
        .find(|starter| starter.language == wanted || starter.ending == wanted)
        .ok_or_else(|| {
            let known = STARTERS.each_ref().map(|starter| starter.language);
            let fix = meant(language, &known).map_or_else(
                || {
                    format!(
                        "expected {}; protocol-games.md says what a game has to answer",
                        known.join(", ")
                    )
                },
                |near| format!("did you mean {near}?"),
            );
            let language = quote(language.as_bytes());
            Failure::Usage(format!("there is no starter game in {language}; {fix}"))
        })?;
    let default = || PathBuf::from(format!("mygame.{}", starter.ending));
    let file = args.file.clone().unwrap_or_else(default);
    write_new(&file, starter.text)?;
    writeln!(out, "wrote {}", file.display())?;
    let game = match compiled(starter.compile, &file) {
        None => shown(&file.to_string_lossy()),
        Some((program, compile)) => {
            writeln!(out, "compile it: {compile}")?;
            program
        }
    };
    writeln!(
        out,
        "play:       referee -v --game {game} human builtin:random"
    )?;
    writeln!(out, "check it:   referee check-game {game}")?;
    Ok(())
}
