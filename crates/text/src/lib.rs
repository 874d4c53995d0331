#![doc = include_str!("../README.md")]

use std::fmt::{Display, Write as _};
use std::io;
use std::ops::Range;
use std::path::Path;
use std::time::Duration;

/// Quotations are cut to this many characters.
const QUOTE_CHARS: usize = 80;

const MAX_NAME: usize = 60;

/// What is kept of the end of such a name.
const KEPT_END: usize = 20;

const JOINER: char = '\u{200d}';

/// Whether a terminal or a page may act on this character, or hide it, instead of showing it.
fn is_unsafe(c: char) -> bool {
    c.is_control()
        || matches!(c,
            '\u{00ad}' | '\u{061c}' | '\u{180e}' | '\u{feff}'
            | '\u{200b}'..='\u{200f}'
            | '\u{2028}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}'
            | '\u{fff9}'..='\u{fffb}'
            | '\u{e0000}'..='\u{e007f}')
}

/// Whether it looks like an ASCII character or a space in most fonts: quoted as it is, a reader would not see why it
/// was rejected.
const fn is_lookalike(c: char) -> bool {
    matches!(c,
        '\u{00a0}' | '\u{1680}' | '\u{2000}'..='\u{200a}' | '\u{202f}' | '\u{205f}' | '\u{3000}'
        | '\u{ff01}'..='\u{ff5e}')
}

fn push_escaped(out: &mut String, c: char) {
    match c {
        '\\' => out.push_str("\\\\"),
        '\n' => out.push_str("\\n"),
        '\r' => out.push_str("\\r"),
        '\t' => out.push_str("\\t"),
        c if is_unsafe(c) && c.is_ascii() => {
            let _ = write!(out, "\\x{:02x}", u32::from(c));
        }
        c if is_unsafe(c) || is_lookalike(c) => {
            let _ = write!(out, "\\u{{{:x}}}", u32::from(c));
        }
        c => out.push(c),
    }
}

/// Bytes as printable text that can be read back: control, bidirectional, invisible and full-width characters and
/// other spaces than ASCII's become `\n`, `\x1b` or `\u{202e}`, bytes that are not UTF-8 `\xff`, and a backslash is
/// doubled.
///
/// ```
/// use referee_text::escape;
///
/// assert_eq!(escape(b"6 A"), "6 A");
/// assert_eq!(escape(b"\x1b[2J\xff\n"), r"\x1b[2J\xff\n");
/// assert_eq!(escape("a\u{202e}b".as_bytes()), r"a\u{202e}b");
/// assert_eq!(escape("6\u{a0}\u{ff21}".as_bytes()), r"6\u{a0}\u{ff21}");
/// ```
pub fn escape(bytes: &[u8]) -> String {
    let mut out = String::with_capacity(bytes.len());
    for chunk in bytes.utf8_chunks() {
        for c in chunk.valid().chars() {
            push_escaped(&mut out, c);
        }
        push_bytes(&mut out, chunk.invalid());
    }
    out
}

fn push_bytes(out: &mut String, bytes: &[u8]) {
    for byte in bytes {
        let _ = write!(out, "\\x{byte:02x}");
    }
}

/// A path, or a command line with paths, escaped as by [`escape`]. On Windows backslashes stay single.
pub fn escape_path(path: &str) -> String {
    let escaped = escape(path.as_bytes());
    // No name on Windows has what else is escaped with a backslash.
    if cfg!(windows) {
        escaped.replace("\\\\", "\\")
    } else {
        escaped
    }
}

/// Text with only the unsafe characters escaped: control, bidirectional and invisible ones. Idempotent: for names and
/// sentences from records.
///
/// ```
/// assert_eq!(referee_text::escape_controls("a\\b \u{1b}[1m"), r"a\b \x1b[1m");
/// ```
pub fn escape_controls(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut before = None;
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        let is_joiner = c == '\u{200d}'
            && before.is_some_and(can_be_joined)
            && chars.peek().copied().is_some_and(is_pictograph);
        if is_unsafe(c) && !is_joiner {
            push_escaped(&mut out, c);
        } else {
            out.push(c);
        }
        before = Some(c);
    }
    out
}

/// JSON with the same values, in which unsafe characters are written as `\u202e`: they stand in strings only. For documents
/// that a program prints, since a person may read them at a terminal.
///
/// ```
/// assert_eq!(referee_text::escape_json("{\"name\":\"a\u{202e}b\u{7f}\"}"), r#"{"name":"a\u202eb\u007f"}"#);
/// assert_eq!(referee_text::escape_json("\"\u{e0001}\""), r#""\udb40\udc01""#);
/// ```
pub fn escape_json(json: &str) -> String {
    let mut out = String::with_capacity(json.len());
    for c in json.chars() {
        // Of those that JSON has between values.
        if is_unsafe(c) && !matches!(c, '\n' | '\r' | '\t') {
            for unit in c.encode_utf16(&mut [0; 2]) {
                let _ = write!(out, "\\u{unit:04x}");
            }
        } else {
            out.push(c);
        }
    }
    out
}

/// A text of several parts, each a line, with this between them; unsafe characters of the parts are escaped.
///
/// ```
/// assert_eq!(referee_text::join_parts("it ended\nFix: run it\u{1b}", "; "), r"it ended; Fix: run it\x1b");
/// ```
pub fn join_parts(text: impl Display, between: &str) -> String {
    let text = text.to_string();
    let parts: Vec<String> = text.lines().map(escape_controls).collect();
    parts.join(between)
}

/// A printable name, cut in the middle when it is long, since names often differ in their ends only. Idempotent.
///
/// ```
/// use referee_text::short_name;
///
/// assert_eq!(short_name("anna\u{2028}"), r"anna\u{2028}");
/// assert_eq!(short_name(r"anna\u{2028}"), r"anna\u{2028}");
/// ```
pub fn short_name(name: &str) -> String {
    let name = escape_controls(name);
    let length = name.chars().count();
    if length <= MAX_NAME {
        return name;
    }
    let begin: String = name.chars().take(MAX_NAME - KEPT_END - 1).collect();
    let end: String = name.chars().skip(length - KEPT_END).collect();
    let begin = begin.trim_end_matches(JOINER);
    format!("{begin}…{}", end.trim_start_matches(JOINER))
}

/// Text in which Markdown finds nothing to format.
///
/// ```
/// assert_eq!(referee_text::escape_markdown("a_b"), "a&#95;b");
/// ```
pub fn escape_markdown(text: &str) -> String {
    let mut out = String::new();
    for c in text.chars() {
        if r"\`*_{}[]<>#|~!&@".contains(c) {
            // An entity, since a backslash does not keep a name with @ from notifying people.
            let _ = write!(out, "&#{};", u32::from(c));
        } else {
            out.push(c);
        }
    }
    out
}

/// A sentence with code between single backticks, in which Markdown formats that code and nothing else: what others wrote may
/// be in it. Unlike [`escape_markdown`] it leaves what has no meaning there, so that the sentence can still be read as it is.
///
/// ```
/// let sentence = "it answered `<b>`, correct my_bot.py";
/// assert_eq!(referee_text::prose_in_markdown(sentence), sentence);
/// assert_eq!(referee_text::prose_in_markdown("<b>"), "&#60;b&#62;");
/// ```
pub fn prose_in_markdown(text: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some(place) = rest.find('`') {
        let (before, from) = rest.split_at(place);
        escape_prose(before, &mut out);
        let run = from.len() - from.trim_start_matches('`').len();
        let inside = &from[run..];
        let end = inside.find(['`', '\n']).unwrap_or(inside.len());
        let (code, after) = inside.split_at(end);
        let is_closed = after.starts_with('`') && !after.starts_with("``");
        if run == 1 && is_closed && !code.trim().is_empty() {
            out += &from[..=run + end];
            rest = &after[1..];
        } else {
            out += &"&#96;".repeat(run);
            rest = inside;
        }
    }
    escape_prose(rest, &mut out);
    out
}

/// Code of Markdown, or text where it has a backtick that would end it.
pub fn code_in_markdown(text: &str) -> String {
    if text.trim().is_empty() || text.contains(['`', '\n']) {
        escape_markdown(text)
    } else {
        format!("`{text}`")
    }
}

fn escape_prose(text: &str, out: &mut String) {
    let mut before = out.chars().next_back();
    let mut rest = text.chars().peekable();
    while let Some(c) = rest.next() {
        let is_word = |c: Option<char>| c.is_some_and(char::is_alphanumeric);
        let next = rest.peek().copied();
        let is_formatted = match c {
            '\\' | '*' | '[' | ']' | '<' | '>' | '&' | '|' | '~' => true,
            '_' => !(is_word(before) && is_word(next)),
            // It would notify a person.
            '@' => !is_word(before) && is_word(next),
            '#' | '-' | '+' | '=' => before.is_none_or(|c| c == '\n'),
            _ => false,
        };
        if is_formatted {
            let _ = write!(out, "&#{};", u32::from(c));
        } else {
            out.push(c);
        }
        before = Some(c);
    }
}

/// Whether emoji modifiers and joiners may follow it; includes symbols such as arrows.
const fn is_pictograph(c: char) -> bool {
    matches!(c, '\u{2190}'..='\u{2bff}' | '\u{1f000}'..='\u{1faff}')
}

/// An emoji, or what modifies one.
const fn can_be_joined(c: char) -> bool {
    is_pictograph(c) || c == '\u{fe0f}'
}

/// Two digits a byte.
///
/// ```
/// assert_eq!(referee_text::hexadecimal(&[0, 255]), "00ff");
/// ```
pub fn hexadecimal(bytes: &[u8]) -> String {
    let digits = bytes.iter().flat_map(|byte| [byte >> 4, byte & 15]);
    digits
        .filter_map(|digit| char::from_digit(digit.into(), 16))
        .collect()
}

/// What a program says to people: as by [`escape_controls`], and bytes that are not UTF-8 in hexadecimal.
///
/// ```
/// assert_eq!(referee_text::escape_said(b"C:\\bots\xff\x1b"), r"C:\bots\xff\x1b");
/// ```
pub fn escape_said(bytes: &[u8]) -> String {
    let mut out = String::with_capacity(bytes.len());
    for chunk in bytes.utf8_chunks() {
        out.push_str(&escape_controls(chunk.valid()));
        push_bytes(&mut out, chunk.invalid());
    }
    out
}

/// [`escape_said`] for several lines: newlines are kept, carriage returns before them removed.
pub fn escape_lines(bytes: &[u8]) -> String {
    let lines = bytes.split(|&byte| byte == b'\n');
    let lines = lines.map(|line| escape_said(line.strip_suffix(b"\r").unwrap_or(line)));
    lines.collect::<Vec<_>>().join("\n")
}

/// Bytes escaped, between back quotes, cut when they are long.
///
/// ```
/// assert_eq!(referee_text::quote(b"6 A"), "`6 A`");
/// ```
pub fn quote(bytes: &[u8]) -> String {
    let escaped = escape(&bytes[..bytes.len().min(4 * QUOTE_CHARS)]);
    match escaped.char_indices().nth(QUOTE_CHARS) {
        None if bytes.len() <= 4 * QUOTE_CHARS => format!("`{escaped}`"),
        cut => {
            let end = cut.map_or(escaped.len(), |(end, _)| end);
            format!("`{}…` ({} bytes)", &escaped[..end], bytes.len())
        }
    }
}

/// In words: `256 MiB`.
pub fn size(bytes: u64) -> String {
    match bytes {
        0x4000_0000.. if bytes.is_multiple_of(1 << 30) => format!("{} GiB", bytes >> 30),
        0x10_0000.. if bytes.is_multiple_of(1 << 20) => format!("{} MiB", bytes >> 20),
        0x400.. if bytes.is_multiple_of(1 << 10) => format!("{} KiB", bytes >> 10),
        _ => format!("{bytes} bytes"),
    }
}

/// A cause, and what a program said of it, if anything.
pub fn with_stderr(cause: &str, stderr: &str) -> String {
    if stderr.is_empty() {
        cause.to_owned()
    } else {
        format!("{cause} ({stderr})")
    }
}

/// What a message about a place in a text of TOML ends with, if the place is at or after a backslash between double
/// quotes, as in a path of Windows.
///
/// ```
/// let text = r#"program = "C:\Users\ann\bot.exe""#;
/// assert!(referee_text::backslash_hint(text, &(13..14)).contains("single quotes"));
/// assert_eq!(referee_text::backslash_hint("program = 7", &(10..11)), "");
/// ```
pub fn backslash_hint(text: &str, place: &Range<usize>) -> &'static str {
    let before = text.get(..place.start).unwrap_or_default();
    let line = before.rfind('\n').map_or(0, |end| end + 1);
    let opened = before[line..].find('"').map(|quote| line + quote);
    let is_there = opened.is_some_and(|quote| {
        let string = quote..place.end.saturating_add(1).min(text.len());
        text.as_bytes()[string].contains(&b'\\')
    });
    if is_there {
        "; between double quotes a backslash begins an escape: write the path between single quotes, or with /"
    } else {
        ""
    }
}

/// Why a file cannot be read, as a sentence with the fix.
pub fn unreadable(path: &Path, error: &io::Error) -> String {
    let fix = match error.kind() {
        io::ErrorKind::NotFound => "; check the spelling and the directory",
        io::ErrorKind::PermissionDenied => "; check its permissions",
        io::ErrorKind::IsADirectory => "; give a file within it",
        _ if is_full(error) => "; free some space, then give the same command again",
        _ => "",
    };
    format!("{}: {}{fix}", path.display(), cause(error))
}

/// Whether the disk or quota is full, which is not a bot's fault.
pub fn is_full(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded
    )
}

/// The cause of an error of a file or a process, as a clause: the same on all systems and in all languages. Errors
/// that this program has made stay as they are.
///
/// ```
/// use referee_text::cause;
///
/// let missing = std::fs::read("no/such/file").unwrap_err();
/// assert_eq!(cause(&missing), "there is no such file or directory");
/// assert_eq!(cause(&std::io::Error::other("it is torn")), "it is torn");
/// ```
pub fn cause(error: &io::Error) -> String {
    let words = error.to_string();
    // A crate may have appended the path of a temporary file.
    let by_kind =
        error.raw_os_error().is_some() || words.contains(NUMBER) || error.get_ref().is_none();
    let known = match error.kind() {
        _ if !by_kind => return words,
        io::ErrorKind::NotFound => "there is no such file or directory",
        io::ErrorKind::PermissionDenied => "permission denied",
        io::ErrorKind::AlreadyExists => "there is such a file already",
        io::ErrorKind::IsADirectory => "it is a directory",
        io::ErrorKind::NotADirectory => "a part of the path is a file and no directory",
        io::ErrorKind::StorageFull => "no space is left on the disk",
        io::ErrorKind::QuotaExceeded => "your quota of the disk is used up",
        io::ErrorKind::FileTooLarge => "the file would be larger than is allowed",
        io::ErrorKind::ReadOnlyFilesystem => "it is on a file system that cannot be written",
        io::ErrorKind::InvalidFilename => "this cannot be the name of a file",
        io::ErrorKind::AddrInUse => "another program uses this address",
        io::ErrorKind::AddrNotAvailable => "it is not an address of this machine",
        io::ErrorKind::TimedOut => "it took too long",
        _ => {
            let words = words.split(NUMBER).next().unwrap_or(&words);
            return words.trim_end_matches('.').to_owned();
        }
    };
    known.to_owned()
}

const NUMBER: &str = " (os error ";

/// The candidate that was probably meant by `word`: a letter of three may be wrong, missing or in excess, or be
/// swapped with the next.
///
/// ```
/// use referee_text::meant;
///
/// assert_eq!(meant("gredy", &["random", "greedy"]), Some("greedy"));
/// assert_eq!(meant("x", &["random", "greedy"]), None);
/// ```
pub fn meant<'a>(word: &str, candidates: &[&'a str]) -> Option<&'a str> {
    let word = word.to_lowercase();
    let most = (word.chars().count() / 3).max(1);
    let distance = |candidate: &&str| strsim::osa_distance(&word, &candidate.to_lowercase());
    let nearest = candidates.iter().copied().min_by_key(distance)?;
    (distance(&nearest) <= most && word.len() > 1).then_some(nearest)
}

/// Exact to the millisecond: `10 s`, `1.5 s`, `250 ms`, `0.03 ms`.
pub fn format_duration(duration: Duration) -> String {
    let ms = duration.as_secs_f64() * 1000.0;
    if ms >= 1000.0 {
        let s = format!("{:.3}", ms / 1000.0);
        format!("{} s", s.trim_end_matches('0').trim_end_matches('.'))
    } else {
        format_milliseconds(ms)
    }
}

/// Exact to the microsecond.
pub fn milliseconds(duration: Duration) -> f64 {
    (duration.as_secs_f64() * 1e6).round() / 1e3
}

/// As columns of times show them: `1.25 s`, `58 ms`, `0.03 ms`.
pub fn format_milliseconds(ms: f64) -> String {
    if ms >= 1000.0 {
        format!("{:.2} s", ms / 1000.0)
    } else if ms >= 10.0 {
        format!("{ms:.0} ms")
    } else {
        format!("{ms:.2} ms")
    }
}

/// The first `chars` characters, and `…` for the rest.
pub fn cut(text: &str, chars: usize) -> String {
    match text.char_indices().nth(chars) {
        None => text.to_owned(),
        Some((end, _)) => format!("{}…", &text[..end]),
    }
}

/// A number of things: `1 win`, `2 wins`.
///
/// ```
/// assert_eq!(referee_text::counted(1, "loss", "losses"), "1 loss");
/// assert_eq!(referee_text::counted(0, "loss", "losses"), "0 losses");
/// ```
pub fn counted(count: u64, one: &str, more: &str) -> String {
    format!("{count} {}", if count == 1 { one } else { more })
}

/// `21st`.
pub fn ordinal(number: usize) -> String {
    let ending = match (number % 10, number % 100 / 10) {
        (1, tens) if tens != 1 => "st",
        (2, tens) if tens != 1 => "nd",
        (3, tens) if tens != 1 => "rd",
        _ => "th",
    };
    format!("{number}{ending}")
}

/// 12,345,678.
pub fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let groups = digits
        .as_bytes()
        .rchunks(3)
        .rev()
        .map(String::from_utf8_lossy);
    groups.collect::<Vec<_>>().join(",")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prose_formats_its_code_alone() {
        for (text, expected) in [
            ("`a` and `b`", "`a` and `b`"),
            ("x <img onerror=y>", "x &#60;img onerror=y&#62;"),
            ("`<img>``", "&#96;&#60;img&#62;&#96;&#96;"),
            ("a `b\n\nc` d", "a &#96;b\n\nc&#96; d"),
            ("``a`` `b`", "&#96;&#96;a&#96;&#96; `b`"),
            (
                "# a\n- b *c* [d](e)",
                "&#35; a\n&#45; b &#42;c&#42; &#91;d&#93;(e)",
            ),
            ("_a_ my_bot a@b.c @all", "&#95;a&#95; my_bot a@b.c &#64;all"),
            ("a \\` b", "a &#92;&#96; b"),
        ] {
            assert_eq!(prose_in_markdown(text), expected, "{text}");
        }
        assert_eq!(code_in_markdown("6 A"), "`6 A`");
        assert_eq!(code_in_markdown("6`<"), "6&#96;&#60;");
    }

    /// As `CommonMark` finds code: a run of backticks ends with the next run that is as long.
    #[test]
    fn no_markup_is_left_outside_of_code() {
        let pieces = ["`", "``", "<i>", "a", " ", "\\", "\n"];
        let mut texts = vec![String::new()];
        for _ in 0..6 {
            let longer = texts
                .iter()
                .flat_map(|text| pieces.map(|piece| format!("{text}{piece}")));
            texts = longer.collect();
        }
        for text in texts {
            let markdown = prose_in_markdown(&text);
            let mut rest = &*markdown;
            while let Some(place) = rest.find('`') {
                assert!(!rest[..place].contains('<'), "{text:?}: {markdown:?}");
                let from = &rest[place..];
                let code = from[1..].find('`').expect("an end");
                assert!(
                    code > 0 && !from[..code].contains('\n'),
                    "{text:?}: {markdown:?}"
                );
                rest = &from[code + 2..];
            }
            assert!(!rest.contains('<'), "{text:?}: {markdown:?}");
        }
    }

    #[test]
    fn joined_emoji_are_one_and_joiners_elsewhere_are_shown() {
        for whole in [
            "👩\u{200d}💻",
            "🏳\u{fe0f}\u{200d}🌈",
            "👩🏽\u{200d}❤\u{fe0f}\u{200d}👨",
        ] {
            assert_eq!(escape_controls(whole), whole);
        }
        for (text, escaped) in [
            ("a\u{200d}b", r"a\u{200d}b"),
            ("👩\u{200d}", "👩\\u{200d}"),
            ("👩\u{200d}a", "👩\\u{200d}a"),
            ("👩\u{200d}\u{202e}", "👩\\u{200d}\\u{202e}"),
        ] {
            assert_eq!(escape_controls(text), escaped);
        }
    }

    #[test]
    fn names_keep_emoji_that_are_joined_and_nothing_else_that_is_not_seen() {
        assert_eq!(
            short_name("👩\u{200d}👩\u{200d}👧 nora"),
            "👩\u{200d}👩\u{200d}👧 nora"
        );
        assert_eq!(short_name("no\u{200d}ra\u{202e}"), r"no\u{200d}ra\u{202e}");
    }

    #[test]
    fn a_name_that_was_shortened_stays_as_it_is() {
        let long = "exercise-of-the-course-on-artificial-intelligence-in-spring-";
        for name in [
            "a\u{2028}b",
            "a\\b",
            "a\\\\b",
            &format!("{long}\u{202e}anna"),
            &"\u{e9}".repeat(61),
            &"\u{2028}".repeat(40),
            &"👩\u{200d}".repeat(40),
        ] {
            let short = short_name(name);
            assert!(short.chars().count() <= MAX_NAME, "{short}");
            assert_eq!(short_name(&short), short, "{name}");
        }
        let [anna, ben] = ["anna", "ben"].map(|name| short_name(&format!("{long}{name}")));
        assert!(anna.ends_with("-anna") && ben.ends_with("-ben"), "{anna}");
    }

    #[test]
    fn times_are_said_as_people_say_them() {
        let sentence = |micros| format_duration(Duration::from_micros(micros));
        let column = |micros: u32| format_milliseconds(f64::from(micros) / 1000.0);
        assert_eq!(
            [sentence(10_000_000), column(10_000_000)],
            ["10 s", "10.00 s"]
        );
        assert_eq!(
            [sentence(1_256_000), column(1_256_000)],
            ["1.256 s", "1.26 s"]
        );
        assert_eq!([sentence(250_400), column(250_400)], ["250 ms"; 2]);
        assert_eq!([sentence(34), column(34)], ["0.03 ms"; 2]);
    }
}
