//! The command that starts a bot, as the sandbox needs to know it.

use std::path::Path;

/// A command that is to be confined: plain data, borrowed from the module above, which knows more of the bot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BotCommand<'a> {
    /// What the bot is called, for messages; safe to show.
    pub name: &'a str,
    /// What is started, and its arguments.
    pub argv: &'a [String],
    /// The strategy, when it is one of this program's own.
    pub builtin: Option<&'a str>,
    /// The directory that was given with it, if one was.
    pub directory: Option<&'a Path>,
    /// Names of programs that it starts: it has to see them as if it were run by them.
    pub starts: &'a [String],
}
