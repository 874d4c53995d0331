//! The cases of `tests/golden` whose commands run a file of Python or Perl: no part of `cargo test`, which needs only Rust.
//!
//! ```text
//! cargo test --test golden_interpreters
//! UPDATE_GOLDEN=1 cargo test --test golden_interpreters matches/
//! ```

#[cfg(unix)]
mod case;
#[cfg(unix)]
#[path = "../common/hangs.rs"]
mod hangs;
#[cfg(unix)]
mod normalise;
#[cfg(unix)]
mod world;

#[cfg(unix)]
fn main() -> std::process::ExitCode {
    world::run_all(world::Cases::WithInterpreters)
}

/// The cases are written for a Unix shell.
#[cfg(not(unix))]
fn main() {}
