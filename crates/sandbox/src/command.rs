use std::path::Path;

/// The command that starts a bot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BotCommand<'a> {
    /// For messages; escaped.
    pub name: &'a str,
    /// The program and its arguments.
    pub argv: &'a [String],
    /// The strategy, for a built-in bot.
    pub builtin: Option<&'a str>,
    /// The directory given with it.
    pub directory: Option<&'a Path>,
    /// Programs that it starts, which it has to see as if they ran it.
    pub starts: &'a [String],
}
