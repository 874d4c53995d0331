//! The frame around requests and answers: one line each way. Pure.
//!
//! What stands in a line is the game's business ([`crate::game::Game`]); this is
//! what all games share: how long a line may be, what surrounds it, and what a
//! bot finds in its environment.

/// The longest line a bot may send, in bytes, without its newline.
pub const MAX_LINE_BYTES: usize = 1024;

/// Names of the variables in a bot's environment.
pub mod env {
    /// `quarto` or another game's name.
    pub const GAME: &str = "REFEREE_GAME";
    /// The rule set's name.
    pub const RULES: &str = "REFEREE_RULES";
    /// Path of the piece set's CSV; only set when the set is not the built-in one.
    pub const PIECES: &str = "REFEREE_PIECES";
    /// Time for a move, in seconds, decimal.
    pub const MOVE_TIME: &str = "REFEREE_MOVE_TIME";
    /// A number of the bot's own, to seed its randomness from.
    pub const SEED: &str = "REFEREE_SEED";
    /// All of them.
    pub const ALL: [&str; 5] = [GAME, RULES, PIECES, MOVE_TIME, SEED];
}

/// A line that is not UTF-8.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NotUtf8;

/// The text of an answer: a carriage return before the newline and blanks around it do not count.
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
