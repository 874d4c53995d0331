//! Where a program cannot be stopped at its terminal.

use super::failure::Failure;

/// Nothing.
#[expect(clippy::unnecessary_wraps, reason = "as on other systems")]
pub(in crate::cli) const fn start() -> Result<(), Failure> {
    Ok(())
}
