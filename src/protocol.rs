//! The frame of requests and answers: one line each way.
//!
//! The content of a line is defined by the game ([`crate::game::Game`]). All games share what is
//! here: the longest line, what may surround its text, and the names of a bot's environment
//! variables. No input or output happens here.

/// The longest line a bot may send, in bytes, without its newline.
pub const MAX_LINE_BYTES: usize = 1024;

/// Names of the environment variables of a bot.
pub mod env {
    /// `quarto` or another game's name.
    pub const GAME: &str = "REFEREE_GAME";
    /// The rule set's name.
    pub const RULES: &str = "REFEREE_RULES";
    /// Path of the piece set's CSV; only set when the set is not the built-in one.
    pub const PIECES: &str = "REFEREE_PIECES";
    /// Time for a move, in seconds, decimal.
    pub const MOVE_TIME: &str = "REFEREE_MOVE_TIME";
    /// The bot's own seed, from 0 to 2³¹ − 1.
    pub const SEED: &str = "REFEREE_SEED";
    /// All of them.
    pub const ALL: [&str; 5] = [GAME, RULES, PIECES, MOVE_TIME, SEED];
}

/// A line that is not UTF-8.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NotUtf8;

/// The text of an answer, without a carriage return before the newline and blanks around it.
///
/// ```
/// use referee::protocol::answer_text;
///
/// assert_eq!(answer_text(b" 6 A\t\r"), Ok("6 A"));
/// assert!(answer_text(b"\xff").is_err());
/// ```
pub fn answer_text(line: &[u8]) -> Result<&str, NotUtf8> {
    let line = line.strip_suffix(b"\r").unwrap_or(line);
    let text = std::str::from_utf8(line).map_err(|_| NotUtf8)?;
    Ok(text.trim_matches([' ', '\t']))
}
