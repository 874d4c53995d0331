//! The `referee` program: its command line; what it does is in the library.

mod cli;

fn main() -> std::process::ExitCode {
    cli::run()
}
