use std::fmt::Write as _;

use serde_json::json;

use crate::cli::support::failure::{Result, WRONG};
use crate::cli::support::games::{self, program};
use crate::cli::support::output::print_found;
use referee::bot::shell::quoted;
use referee::game_program::checks::{Finding, Level, check};
use referee::report::html;
use referee::report::terminal::Palette;
use referee::text::escape_controls;

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The game's program: a file, or a command line
    #[arg(value_name = "PROGRAM")]
    program: String,

    /// An option of the game; may be repeated
    #[arg(long, value_name = "NAME=VALUE", value_parser = games::option, help_heading = "Game", hide_short_help = true)]
    game_option: Vec<(String, String)>,

    /// Print the findings as JSON
    #[arg(long, help_heading = "Output")]
    json: bool,
}

pub(crate) fn run(args: &Args) -> Result<()> {
    let options = args.game_option.iter().cloned().collect();
    let game = program("", &args.program, options)?;
    let check_svg = |text: &str| html::check_svg(text).map_err(|error| error.to_string());
    let findings = check(&game, check_svg);
    let is_fit = findings.iter().all(|finding| finding.level != Level::Wrong);
    let json = || json!({"fit": is_fit, "findings": findings});
    print_found(args.json, json, |palette| {
        words(&findings, &game.about().name, args, palette)
    })?;
    if is_fit { Ok(()) } else { Err(WRONG) }
}

fn words(findings: &[Finding], name: &str, args: &Args, palette: &Palette) -> String {
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
        None => {
            let mut command = format!("referee --game {}", quoted(&escape_controls(&args.program)));
            for (name, value) in &args.game_option {
                let _ = write!(
                    command,
                    " --game-option {}",
                    quoted(&format!("{name}={value}"))
                );
            }
            writeln!(text, "{name} can be played: {command} BOT1 BOT2")
        }
        Some(first) => writeln!(text, "fix first: {}", first.what),
    };
    text
}
