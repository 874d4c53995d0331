//! The options of commands that ask a bot the questions of recorded games again.

use std::time::Duration;

use super::duration;
use super::numbers;
use super::recorded_game::GameProgramOption;
use super::sandbox::SandboxOptions;

/// The time to value a position when none is given.
const SOLVE_TIME: &str = "2s";

/// See the [module](self).
#[derive(Clone, Debug, clap::Args)]
pub(in crate::cli) struct AskedBotOptions {
    /// Whose part it plays, if its name does not say so: a name in the record, or 1 or 2
    #[arg(long = "as", value_name = "NAME|1|2")]
    pub(in crate::cli) part: Option<String>,

    /// What `REFEREE_SEED` says [default: as in the game, else 0]
    #[arg(long, value_name = "N", value_parser = numbers::within::<u32>(0..=0x7fff_ffff), allow_negative_numbers = true)]
    pub(in crate::cli) seed: Option<u32>,

    /// Time to find the value of a position, and again of a turn
    #[arg(long, value_name = "TIME", default_value = SOLVE_TIME, value_parser = duration::parse_positive)]
    pub(in crate::cli) time_per_move: Duration,

    #[command(flatten)]
    pub(in crate::cli) game_program: GameProgramOption,

    #[command(flatten)]
    pub(in crate::cli) sandbox: SandboxOptions,
}
