//! The one limit of time that tests have.

use std::time::Duration;

/// What takes longer hangs, and fails its test: nothing takes so long on any machine, with a tenth of a core either. No test
/// knows what is quick.
pub(crate) const HANGS: Duration = Duration::from_mins(5);
