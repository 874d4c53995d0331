//! The runtime of a command that waits for processes, signals or connections.

use tokio::runtime::{Builder, Runtime};

use super::failure::Failure;
use crate::bot::exhaustion::explain;

/// A runtime on this thread. The failure says which limit of the system is reached.
pub(in crate::cli) fn runtime() -> Result<Runtime, Failure> {
    let built = Builder::new_current_thread().enable_all().build();
    built.map_err(|error| explain("the runtime", &error).into())
}
