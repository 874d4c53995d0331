use std::fmt::Write as _;
use std::path::PathBuf;

use clap::builder::TypedValueParser;

use crate::cli::support::failure::Result;
use crate::cli::support::output::print;
use crate::cli::support::values::one_of;
use referee::bot::shell;
use referee::entrants::adapter::{ADAPTERS, Adapter};
use referee::text::escape_controls;

const AFTER_HELP: &str = "\
Each agent becomes a folder that is a bot: the agent, and a program in Python that speaks for it.
docs/coming-from.md says more, also of bots that need no adapter.

Examples:
  referee adapt kaggle-connectx agents/ --out bots
  referee tournament --game four-in-a-row bots
  referee tournament --adapter kaggle-connectx agents/      # the same in one step

Exit status: 0 the bots are written; 2 wrong usage or input; 1 the referee itself failed.";

#[derive(Debug, clap::Args)]
#[command(after_long_help = AFTER_HELP)]
pub(crate) struct Args {
    /// The protocol that the agents speak
    #[arg(value_parser = adapter())]
    adapter: &'static Adapter,

    /// Agents, or folders with agents
    #[arg(required = true, value_name = "AGENT")]
    agents: Vec<PathBuf>,

    /// The folder for the bots, each in a folder of its own
    #[arg(long, value_name = "DIR")]
    out: PathBuf,
}

/// An adapter by its name.
pub(crate) fn adapter() -> impl TypedValueParser<Value = &'static Adapter> {
    one_of(
        ADAPTERS
            .iter()
            .map(|adapter| (adapter.name, adapter.about, adapter)),
    )
}

pub(crate) fn run(args: &Args) -> Result<()> {
    let mut text = String::new();
    for path in &args.agents {
        for bot in args.adapter.adapt(path, &args.out)? {
            let _ = writeln!(text, "wrote {}", escape_controls(&bot.to_string_lossy()));
        }
    }
    let out = shell::quoted(&args.out.to_string_lossy()).into_owned();
    let _ = match args.adapter.game {
        Some(game) => writeln!(text, "play: referee tournament --game {game} {out}"),
        None => writeln!(
            text,
            "play: referee tournament --game GAME {out}, with the program of the game for GAME"
        ),
    };
    print(&text)
}
