use crate::cli::support::games::{self, program};
use crate::cli::support::prelude::*;
use referee::bot::shell::quoted;
use referee::game_program::checks::{Finding, Level, check};

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The game's program: a file, or a command line
    #[arg(value_name = "PROGRAM")]
    program: String,

    /// An option of the game; may be repeated
    #[arg(long, value_name = "NAME=VALUE", value_parser = games::option)]
    game_option: Vec<(String, String)>,

    /// Print the findings as JSON
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(args: &Args) -> Result<()> {
    let options = args.game_option.iter().cloned().collect();
    let game = program("", &args.program, options)?;
    let findings = check(&game, html::check_svg);
    let is_fit = findings.iter().all(|finding| finding.level != Level::Wrong);
    let json = || json!({"fit": is_fit, "findings": findings});
    print_found(args.json, json, |palette| {
        words(&findings, &game.about().name, &args.program, palette)
    })?;
    if is_fit { Ok(()) } else { Err(WRONG) }
}

fn words(findings: &[Finding], name: &str, program: &str, palette: &Palette) -> String {
    let mut text = String::new();
    for finding in findings {
        let style = match finding.level {
            Level::Ok => palette.faint,
            Level::Note => palette.heading,
            Level::Wrong => palette.winning,
        };
        let mark = finding.level.name();
        let _ = write!(text, "{style}{mark:>5}{style:#}  {}", finding.what);
        if !finding.detail.is_empty() {
            text.push_str(": ");
            text.push_str(&escape_controls(&finding.detail));
        }
        text.push('\n');
    }
    let mut findings = findings.iter();
    let wrong = findings.find(|finding| finding.level == Level::Wrong);
    let _ = match wrong {
        None => writeln!(
            text,
            "{name} can be played: referee --game {} BOT1 BOT2",
            quoted(&escape_controls(program))
        ),
        Some(first) => writeln!(text, "fix first: {}", first.what),
    };
    text
}
