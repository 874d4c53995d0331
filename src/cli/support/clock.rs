//! `--clock`

use clap::ValueEnum;

use crate::bot::ClockKind;

/// What clocks measure.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub(in crate::cli) enum ClockName {
    /// Time, without waiting for a processor
    Wall,
    /// Processor time of a bot's processes
    // Other systems do not report that of another process.
    #[cfg(all(target_os = "linux", not(portable)))]
    Cpu,
}

impl From<ClockName> for ClockKind {
    fn from(name: ClockName) -> Self {
        match name {
            ClockName::Wall => Self::Wall,
            #[cfg(all(target_os = "linux", not(portable)))]
            ClockName::Cpu => Self::Cpu,
        }
    }
}
