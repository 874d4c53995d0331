//! Commands shown to people, quoted for their system's shell: POSIX, or `cmd` on Windows.

use std::borrow::Cow;
use std::fmt::Write as _;

use referee_text::escape_controls;

pub(super) struct Question<'a> {
    pub(super) words: &'a [String],
    pub(super) environment: &'a [(String, String)],
    pub(super) lines: &'a [&'a str],
    /// The input ends some seconds after the lines.
    pub(super) stays_open: bool,
}

/// A word of a command line, quoted where this system's shell needs it.
///
/// ```
/// use referee_match::bot::shell::quoted;
///
/// assert_eq!(quoted("spring"), "spring");
/// # #[cfg(unix)]
/// assert_eq!(quoted("my bots"), "'my bots'");
/// ```
pub fn quoted(word: &str) -> Cow<'_, str> {
    if cfg!(windows) {
        quoted_for_cmd(word)
    } else {
        shell_words::quote(word)
    }
}

/// A command as the one argument by which a bot is named: a file as it is, several words as a command line.
pub fn command_line(words: &[String]) -> String {
    match words {
        [one] => one.clone(),
        more => {
            let quoted: Vec<_> = more.iter().map(|word| quoted(word)).collect();
            quoted.join(" ")
        }
    }
}

pub(super) fn asking(question: &Question<'_>) -> String {
    if cfg!(windows) {
        asking_in_cmd(question)
    } else {
        asking_in_posix(question)
    }
}

fn asking_in_posix(question: &Question<'_>) -> String {
    let lines: Vec<String> = question.lines.iter().map(|line| posix_word(line)).collect();
    let mut command = format!("printf '%s\\n' {} | ", lines.join(" "));
    if question.stays_open {
        command.push_str("(cat; sleep 3) | ");
    }
    for (name, value) in question.environment {
        let _ = write!(command, "{name}={} ", posix_word(value));
    }
    let words: Vec<String> = question.words.iter().map(|word| posix_word(word)).collect();
    command.push_str(&words.join(" "));
    command
}

/// Safe to show and to run: characters that a terminal would act on are written in octal.
fn posix_word(word: &str) -> String {
    if escape_controls(word) == word {
        return shell_words::quote(word).into_owned();
    }
    let mut octal = String::new();
    for byte in word.bytes() {
        if byte.is_ascii_alphanumeric() || b"/._- ".contains(&byte) {
            octal.push(char::from(byte));
        } else {
            let _ = write!(octal, "\\{byte:03o}");
        }
    }
    format!("\"$(printf '{octal}')\"")
}

/// For `cmd`, which works in PowerShell too, whose own pipes and `echo` differ.
fn asking_in_cmd(question: &Question<'_>) -> String {
    let mut parts = Vec::new();
    for line in question.lines {
        parts.push(format!("echo {}", literal_for_cmd(line)));
    }
    if question.stays_open {
        // `timeout` needs a console.
        parts.push("ping -n 4 127.0.0.1 >nul".to_owned());
    }
    let mut command = "cmd /c \"".to_owned();
    for (name, value) in question.environment {
        // A space before `&` would be part of the value.
        let _ = write!(command, "set {name}={}& ", literal_for_cmd(value));
    }
    match &parts[..] {
        [one] => command.push_str(one),
        several => {
            let _ = write!(command, "({})", several.join("& "));
        }
    }
    command.push_str("| ");
    let words = question.words.iter().enumerate().map(|(at, word)| {
        let word = escape_controls(word);
        // With `/`, `cmd` would take the rest for an option.
        let word = if at == 0 {
            word.replace('/', "\\")
        } else {
            word
        };
        quoted_for_cmd(&word).into_owned()
    });
    command.push_str(&words.collect::<Vec<_>>().join(" "));
    command.push('"');
    command
}

/// Text that `cmd` passes on unchanged.
fn literal_for_cmd(text: &str) -> String {
    let mut literal = String::new();
    for c in escape_controls(text).chars() {
        if "&|<>^()\"".contains(c) {
            literal.push('^');
        }
        literal.push(c);
    }
    literal
}

/// Quoted for `cmd` and for how Windows programs split their command line.
fn quoted_for_cmd(word: &str) -> Cow<'_, str> {
    let is_plain = |c: char| c.is_alphanumeric() || r"-_./\:=+@,~#?*".contains(c);
    if !word.is_empty() && word.chars().all(is_plain) {
        return Cow::Borrowed(word);
    }
    let mut quoted = String::from("\"");
    let mut backslashes = 0;
    for c in word.chars() {
        // Backslashes are doubled only before quotes.
        if c == '"' {
            quoted.extend(std::iter::repeat_n('\\', backslashes + 1));
        }
        backslashes = if c == '\\' { backslashes + 1 } else { 0 };
        quoted.push(c);
    }
    quoted.extend(std::iter::repeat_n('\\', backslashes));
    quoted.push('"');
    Cow::Owned(quoted)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cmd_asks_as_a_posix_shell_does() {
        let words = ["./my bots/bot.exe", "plays \"well\"", "deep"].map(str::to_owned);
        let environment = [("REFEREE_PIECES".to_owned(), "a&b".to_owned())];
        let mut question = Question {
            words: &words,
            environment: &[],
            lines: &["................ -"],
            stays_open: false,
        };
        assert_eq!(
            asking_in_cmd(&question),
            r#"cmd /c "echo ................ -| ".\my bots\bot.exe" "plays \"well\"" deep""#
        );
        question.words = &words[2..];
        question.lines = &["a", "<b>"];
        question.environment = &environment;
        assert_eq!(
            asking_in_cmd(&question),
            r#"cmd /c "set REFEREE_PIECES=a^&b& (echo a& echo ^<b^>)| deep""#
        );
        question.stays_open = true;
        question.lines = &["a"];
        question.environment = &[];
        assert_eq!(
            asking_in_cmd(&question),
            r#"cmd /c "(echo a& ping -n 4 127.0.0.1 >nul)| deep""#
        );
        assert_eq!(
            asking_in_posix(&question),
            r"printf '%s\n' a | (cat; sleep 3) | deep"
        );
    }

    #[test]
    fn words_are_quoted_for_cmd() {
        for (word, expected) in [
            ("spring", "spring"),
            (r"C:\bots\bot.exe", r"C:\bots\bot.exe"),
            (r"C:\Jürgens bots\", r#""C:\Jürgens bots\\""#),
            ("", r#""""#),
            ("a&b", r#""a&b""#),
        ] {
            assert_eq!(quoted_for_cmd(word), expected);
        }
    }
}
