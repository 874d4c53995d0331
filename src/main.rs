//! The `referee` program. Everything is in the library.

fn main() -> std::process::ExitCode {
    referee::cli::run()
}
