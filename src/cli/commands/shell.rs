//! `referee print completions SHELL` and `referee print man [COMMAND]`.

use clap::Command;
use clap_complete::Shell;

use crate::cli::support::prelude::*;
use crate::cli::support::values::hint;

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The shell
    #[arg()]
    shell: Shell,
}

pub(crate) fn completions(args: &Args, mut command: Command) -> Result<(), Failure> {
    // The generator panics when it cannot write.
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut command, "referee", &mut script);
    Ok(Stdout.write_all(&script)?)
}

#[derive(Debug, clap::Args)]
pub(crate) struct ManArgs {
    /// The command that it is about, such as `tournament` or `league final` [default: the program itself]
    command: Vec<String>,
}

pub(crate) fn man(args: &ManArgs, mut command: Command) -> Result<(), Failure> {
    // Gives commands their full names, such as `referee-tournament`.
    command.build();
    let source = command.render_version();
    for name in &args.command {
        command = match command.find_subcommand(name) {
            Some(found) => found.clone(),
            None => return Err(no_command(name, &command)),
        };
    }
    let mut page = Vec::new();
    let manual = clap_mangen::Man::new(command).source(source.trim_end());
    manual.render(&mut page)?;
    Ok(Stdout.write_all(&page)?)
}

fn no_command(name: &str, command: &Command) -> Failure {
    let known: Vec<&str> = command.get_subcommands().map(Command::get_name).collect();
    let fix = hint(name, &known, "the commands are ");
    usage!("there is no command {}; {fix}", quote(name.as_bytes()))
}
