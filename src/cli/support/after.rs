//! `--after`: a command of the organiser's, such as one that tells others of new results.

use std::io;
use std::path::Path;
use std::process::{Command, ExitStatus};

use super::failure::Failure;
use super::output::print_stderr;

/// The variable with the folder that the results are in.
const FOLDER: &str = "REFEREE_FOLDER";

/// The variable with the number of games that were played.
const NEW_GAMES: &str = "REFEREE_NEW_GAMES";

/// Runs a command line as the system's shell does, and waits for its end. A command that fails is reported, and changes no
/// result.
pub(in crate::cli) fn run(command: &str, folder: &Path, new_games: u64) -> Result<(), Failure> {
    let folder = folder.canonicalize().unwrap_or_else(|_| folder.to_owned());
    let mut shell = shell(command);
    shell
        .env(FOLDER, folder)
        .env(NEW_GAMES, new_games.to_string())
        // The last line of the results stays the last one.
        .stdout(io::stderr());
    match shell.status() {
        Ok(status) if status.success() => {}
        Ok(status) => print_stderr(&format!(
            "referee: warning: the command of --after failed ({}): {command}",
            shown(status)
        )),
        Err(error) => {
            return Err(Failure::Referee(format!(
                "the command of --after cannot be started: {}",
                crate::text::cause(&error)
            )));
        }
    }
    Ok(())
}

#[cfg(unix)]
fn shell(command: &str) -> Command {
    let mut shell = Command::new("/bin/sh");
    shell.args(["-c", command]);
    shell
}

#[cfg(windows)]
fn shell(command: &str) -> Command {
    use std::os::windows::process::CommandExt as _;
    let mut shell = Command::new("cmd");
    // The line is for the shell, which has rules of its own for quotes.
    shell.arg("/C").raw_arg(command);
    shell
}

fn shown(status: ExitStatus) -> String {
    match status.code() {
        Some(code) => format!("exit status {code}"),
        None => "ended by a signal".to_owned(),
    }
}
