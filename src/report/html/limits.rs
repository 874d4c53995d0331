//! Limits that keep a page small, whatever a record holds.

use crate::text::escape_controls;

/// Turns shown: more than any built-in game has. Longer games are cut.
pub(super) const MAX_TURNS: usize = 200;

/// With `…` when cut.
pub(super) fn cut(text: &str, chars: usize) -> String {
    match text.char_indices().nth(chars) {
        None => text.to_owned(),
        Some((end, _)) => format!("{}…", &text[..end]),
    }
}

/// The last `chars` characters, with control characters escaped.
pub(super) fn end_of(text: &str, chars: usize) -> String {
    let text = text.trim_end();
    let from = text.char_indices().rev().nth(chars.saturating_sub(1));
    let cut = from.filter(|&(start, _)| start > 0);
    let tail = cut.map_or(text, |(start, _)| &text[start..]);
    let lines: Vec<String> = tail.lines().map(escape_controls).collect();
    let mut out = if cut.is_some() { "…" } else { "" }.to_owned();
    out.push_str(&lines.join("\n"));
    out
}
