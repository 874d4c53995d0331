//! `--clock`

use clap::ValueEnum;

use super::failure::Failure;
use crate::bot::ClockKind;
use crate::play::TimeControl;

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

/// Refuses a clock of processor time that has no limit to measure.
pub(in crate::cli) fn check_clock(time: TimeControl) -> Result<TimeControl, Failure> {
    let has_limit = time.move_time.is_some() || time.game_time.is_some();
    if time.kind == ClockKind::Cpu && !has_limit {
        return Err(Failure::Usage(
            "--clock cpu measures the processor time against a limit, and with --move-time none there is none; leave \
             one of them out"
                .to_owned(),
        ));
    }
    Ok(time)
}
