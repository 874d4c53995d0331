//! The help: `-h` lists the usual options of a command, `--help` all of them in the same layout, `referee help TOPIC`
//! tells what belongs to every command.

use std::ffi::OsString;
use std::fmt::Write as _;

use clap::{Arg, ArgAction, Command};

use super::commands::{self, GROUPS};
use super::support::logging::LogOptions;

const HELP: &str = "help";

/// What `referee help` tells besides the help of commands.
struct Topic {
    name: &'static str,
    content: fn() -> Command,
}

const TOPICS: [Topic; 1] = [Topic {
    name: "log",
    content: log,
}];

const ABOUT_LOG: &str = "\
The log says what led to a verdict: which processes were started and how they ended, each line
each way, times that ran out. Without these options only warnings are written, to stderr. It never
delays a game: when it cannot keep up, lines are left out and counted. All commands take them.";

const AFTER_LOG: &str = "\
Parts of the log, for filters such as `referee::wire=trace,referee::clock=info`:
  referee::command     the arguments, the exit status
  referee::tournament  begun, stopping, a bot benched
  referee::game        begun, fault, void and why, the result
  referee::process     what was started and with which limits, what it used, how it ended
  referee::clock       a time that ran out; with trace every deadline
  referee::wire        with trace every line each way
  referee::sandbox     which was chosen; with debug what a bot sees in it
  referee::journal     with debug the records that are on the disk
  referee::page        with debug the clients of the live page

Examples:
  referee players/greedy.py builtin:random --log-file match.log
  referee players/greedy.py builtin:random --log-file match.log --log referee::wire=trace

docs/log.md tells how to read it when a bot forfeits by time.";

/// The options of the log, with what it is.
fn log() -> Command {
    let command = Command::new("log").about(ABOUT_LOG).after_help(AFTER_LOG);
    let command = <LogOptions as clap::Args>::augment_args(command);
    with_all_options_shown(command)
        .disable_help_flag(true)
        .mut_args(|option| option.help_heading("Options"))
        .help_template("{about-with-newline}\n{all-args}{after-help}")
}

/// What `referee help TOPIC` prints.
pub(crate) fn topic(arguments: &[OsString]) -> Option<String> {
    let [_, help, name] = arguments else {
        return None;
    };
    let topic = TOPICS.iter().find(|topic| name == topic.name)?;
    (help == HELP).then(|| (topic.content)().render_long_help().to_string())
}

/// The arguments of who asks for all options of a command: `--help` is among them, or is put there for `help`.
pub(crate) fn arguments(arguments: &[OsString], program: &Command) -> Option<Vec<OsString>> {
    if arguments.iter().any(|word| word == "--help") {
        return Some(arguments.to_vec());
    }
    as_option(arguments, program)
}

/// `referee help shard plan` and `referee shard help plan` are `referee shard plan --help`. Words that are not commands
/// are left to the parser, which refuses them.
fn as_option(arguments: &[OsString], program: &Command) -> Option<Vec<OsString>> {
    let place = arguments.iter().position(|word| word == HELP)?;
    let mut words = arguments.to_vec();
    words.remove(place);
    let mut command = program;
    for (number, word) in words.iter().enumerate().skip(1) {
        if number == place && !command.has_subcommands() {
            return None;
        }
        command = command.find_subcommand(word)?;
    }
    if place == words.len() && !command.has_subcommands() {
        return None;
    }
    words.push("--help".into());
    Some(words)
}

/// The commands by what they are for, a line a group.
pub(crate) fn commands_in_short(command: Command) -> Command {
    with_commands(command, |listed| {
        for (group, commands) in GROUPS {
            let names: Vec<&str> = commands.iter().map(|command| command.name).collect();
            let _ = writeln!(listed, "  {group:<22} {}", names.join(", "));
        }
    })
}

/// The commands by what they are for, each with what it does.
fn commands_in_full(command: Command) -> Command {
    let heading = *command.get_styles().get_header();
    with_commands(command, |listed| {
        for (group, commands) in GROUPS {
            let _ = writeln!(listed, "{heading}{group}{heading:#}");
            for commands::Command { name, about, .. } in *commands {
                let _ = writeln!(listed, "  {name:<10}  {about}");
            }
        }
    })
}

fn with_commands(command: Command, list: impl FnOnce(&mut String)) -> Command {
    let heading = *command.get_styles().get_header();
    let mut listed = format!("{heading}Commands:{heading:#}\n");
    list(&mut listed);
    command.help_template(format!(
        "{{about-with-newline}}\n{{usage-heading}} {{usage}}\n       referee <COMMAND>\n\n{listed}\n{{all-args}}{{after-help}}"
    ))
}

/// For `--help`: every option but those that are told by a topic, in the layout of `-h`. Clap's own layout takes three
/// lines and more for each option.
pub(crate) fn in_full(program: Command) -> Command {
    commands_in_full(with_every_option(program))
}

fn with_every_option(command: Command) -> Command {
    let has_own_help = command
        .get_arguments()
        .any(|option| option.get_id() == HELP);
    let help = Arg::new(HELP)
        .short('h')
        .long(HELP)
        // Else it stands under the heading that was declared last.
        .help_heading(None)
        .help("Print help (see a summary with '-h')");
    let command = if has_own_help {
        command
    } else {
        command.disable_help_flag(true).arg(help)
    };
    let command = match command.get_after_long_help().cloned() {
        Some(text) => command.after_help(text),
        None => command,
    };
    command
        .mut_args(|option| {
            let is_told_elsewhere = option.is_hide_long_help_set();
            let is_help = option.get_id() == HELP;
            let option = option.hide_short_help(is_told_elsewhere);
            if is_help {
                option.action(ArgAction::HelpShort)
            } else {
                option
            }
        })
        .mut_subcommands(with_every_option)
}

/// Manual pages have no text for an option that is hidden somewhere.
pub(crate) fn with_all_options_shown(command: Command) -> Command {
    command
        .mut_args(|option| option.hide_short_help(false).hide_long_help(false))
        .mut_subcommands(with_all_options_shown)
}
