//! `referee completions SHELL` and `referee man`.

use std::io::Write as _;

use clap::Command;
use clap_complete::Shell;

use crate::cli::support::failure::Failure;
use crate::cli::support::output::Stdout;

#[derive(Debug, clap::Args)]
pub(in crate::cli) struct Args {
    /// The shell
    #[arg(value_enum)]
    shell: Shell,
}

/// Prints a completion script.
pub(in crate::cli) fn completions(args: &Args, mut command: Command) -> Result<(), Failure> {
    // Generated into memory: the generator panics when it cannot write.
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut command, "referee", &mut script);
    Ok(Stdout.write_all(&script)?)
}

/// Prints the manual page, in roff.
pub(in crate::cli) fn man(command: Command) -> Result<(), Failure> {
    let mut page = Vec::new();
    clap_mangen::Man::new(command).render(&mut page)?;
    Ok(Stdout.write_all(&page)?)
}
