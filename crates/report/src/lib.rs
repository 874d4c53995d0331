#![doc = include_str!("../README.md")]

pub mod accuracy;
pub mod bot_page;
pub mod checks;
pub mod comparison;
pub mod html;
pub mod markup;
pub mod picture;
pub mod standings;
pub mod terminal;
pub mod terminal_view;
pub mod tournament_summary;

/// Whether a word is one of these.
pub fn has_word(words: &str, word: &str) -> bool {
    words.split(' ').any(|known| known == word)
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "the cast saturates; a forged record may hold any number"
)]
pub const fn integer(number: f64) -> u64 {
    number as u64
}

/// For an element or a quoted attribute. What XML 1.0 forbids (most control characters, U+FFFE, U+FFFF) becomes
/// U+FFFD.
pub fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            '\t' | '\n' | '\r' => out.push(c),
            '\u{fffe}' | '\u{ffff}' | ..' ' => out.push('\u{fffd}'),
            c => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::escaped;

    #[test]
    fn no_text_leaves_its_place() {
        assert_eq!(
            escaped("</p a='1' b=\"2\">&amp;\n\0\u{1b}é\u{ffff}"),
            "&lt;/p a=&#39;1&#39; b=&quot;2&quot;&gt;&amp;amp;\n\u{fffd}\u{fffd}é\u{fffd}"
        );
    }
}
