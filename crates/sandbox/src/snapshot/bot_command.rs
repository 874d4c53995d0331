use std::path::Path;

use super::files::FileScope;
use super::written_files::WrittenFiles;

/// A bot to confine.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BotCommand<'a> {
    /// For messages; escaped.
    pub name: &'a str,
    pub argv: &'a [String],
    /// What of it the caller's own program runs, for a built-in bot.
    pub builtin: Option<&'a str>,
    pub directory: Option<&'a Path>,
    /// Programs that it starts, which it has to see as if they ran it.
    pub starts: &'a [String],
    /// Which files of its folder are looked at; `None` for all that are its own.
    pub scope: Option<&'a FileScope>,
    /// What may lie in its folder and is not the bot.
    pub written: WrittenFiles,
}
