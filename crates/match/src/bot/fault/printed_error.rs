//! Error messages of interpreters on standard output, where an answer belongs: by the grammar of an answer they would be
//! "more than one line", and a sentence would quote the first line, not the one that says what is wrong.

use super::crash;

/// What an interpreter or a shell wrote to standard output about the end of a program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PrintedError {
    /// Whose message it is: `Python`.
    pub runtime: &'static str,
    /// The line that names the error.
    pub line: String,
    /// Where it was raised, as far as it says so: `line 3 of bot.py`.
    pub place: Option<String>,
}

/// Where in a line a sign of a message stands.
enum Sign {
    Begins(&'static str),
    Ends(&'static str),
    Has(&'static str),
}

/// What lines of each runtime's messages have, and an answer never has.
const SIGNS: [(&str, &[Sign]); 9] = [
    (
        "Python",
        &[
            Sign::Begins("Traceback (most recent call last):"),
            Sign::Begins("  File \""),
            Sign::Has("python3: can't open file"),
            Sign::Has("python: can't open file"),
        ],
    ),
    (
        "Java",
        &[
            Sign::Begins("Exception in thread "),
            Sign::Begins("Error: Unable to access jarfile"),
            Sign::Begins("Error: Could not find or load main class"),
            Sign::Begins("Error: Main method not found"),
            Sign::Begins("Error occurred during initialization of VM"),
            Sign::Begins("# There is insufficient memory for the Java"),
        ],
    ),
    (
        "Node",
        &[
            Sign::Begins("node:internal/"),
            Sign::Begins("internal/modules/"),
            Sign::Begins("Node.js v"),
            Sign::Begins("Error: Cannot find module"),
        ],
    ),
    (
        "Go",
        &[Sign::Begins("panic: "), Sign::Begins("fatal error: ")],
    ),
    ("Ruby", &[Sign::Has(".rb:"), Sign::Has("(LoadError)")]),
    ("Rust", &[Sign::Has("' panicked at ")]),
    (
        "C++",
        &[Sign::Begins(
            "terminate called after throwing an instance of",
        )],
    ),
    (
        "PHP",
        &[
            Sign::Begins("PHP Fatal error: "),
            Sign::Begins("Fatal error: "),
        ],
    ),
    (
        "a shell",
        &[
            Sign::Ends(": not found"),
            Sign::Ends(": command not found"),
            Sign::Ends(": No such file or directory"),
            Sign::Ends(": Permission denied"),
        ],
    ),
];

impl Sign {
    fn is_in(&self, line: &str) -> bool {
        match self {
            Self::Begins(sign) => line.starts_with(sign),
            Self::Ends(sign) => line.ends_with(sign),
            Self::Has(sign) => line.contains(sign),
        }
    }
}

/// Whose message begins within this output; the first line that says so decides.
fn runtime(output: &str) -> Option<&'static str> {
    let of_line = |line: &str| {
        let has_sign = |(_, signs): &&(_, &[Sign])| signs.iter().any(|sign| sign.is_in(line));
        SIGNS.iter().find(has_sign).map(|&(runtime, _)| runtime)
    };
    output.lines().map(str::trim_end).find_map(of_line)
}

impl PrintedError {
    /// In output of several lines, of which the first is not an answer.
    pub fn find(output: &[u8]) -> Option<Self> {
        let output = String::from_utf8_lossy(output);
        let runtime = runtime(&output)?;
        // The lines that Java's own report begins with say nothing.
        let text = output.trim_start_matches(['#', ' ', '\n', '\r']);
        Some(Self {
            runtime,
            line: crash::explaining_line(text)?,
            place: crash::place(&output),
        })
    }

    /// Whether it is the same error: what is in its message may differ.
    pub(super) fn is_like(&self, other: &Self) -> bool {
        let facts = |error: &Self| (error.runtime, crash::is_about_memory(&error.line));
        facts(self) == facts(other) && self.place == other.place
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_are_told_from_answers() {
        let found = |output: &str| {
            PrintedError::find(output.as_bytes())
                .map(|error| (error.runtime, error.line, error.place))
        };
        let cases = [
            (
                "Traceback (most recent call last):\n  File \"bot.py\", line 3, in <module>\n    x[5]\nIndexError: list index out of range\n",
                (
                    "Python",
                    "IndexError: list index out of range",
                    Some("line 3 of bot.py"),
                ),
            ),
            (
                "Error: Unable to access jarfile bot.jar\n",
                ("Java", "Error: Unable to access jarfile bot.jar", None),
            ),
            (
                "#\n# There is insufficient memory for the Java Runtime Environment to continue.\n# An error report file is saved as:\n",
                (
                    "Java",
                    "There is insufficient memory for the Java Runtime Environment to continue.",
                    None,
                ),
            ),
            (
                "node:internal/modules/cjs/loader:1080\n  throw err;\n  ^\n\nError: Cannot find module '/a/bot.js'\n    at Module._resolveFilename (node:internal/modules/cjs/loader:1077:15)\n\nNode.js v20.20.2\n",
                ("Node", "Error: Cannot find module '/a/bot.js'", None),
            ),
            (
                "panic: runtime error: index out of range [5] with length 3\n\ngoroutine 1 [running]:\n",
                (
                    "Go",
                    "panic: runtime error: index out of range [5] with length 3",
                    None,
                ),
            ),
            (
                "bot.rb:3:in `<main>': undefined method `x' for nil:NilClass (NoMethodError)\n",
                (
                    "Ruby",
                    "bot.rb:3:in `<main>': undefined method `x' for nil:NilClass (NoMethodError)",
                    None,
                ),
            ),
            (
                "./bot.sh: 3: frobnicate: not found\n",
                ("a shell", "./bot.sh: 3: frobnicate: not found", None),
            ),
            (
                "/usr/bin/env: 'python4': No such file or directory\n",
                (
                    "a shell",
                    "/usr/bin/env: 'python4': No such file or directory",
                    None,
                ),
            ),
        ];
        for (output, (runtime, line, place)) in cases {
            let place = place.map(str::to_owned);
            assert_eq!(
                found(output),
                Some((runtime, line.to_owned(), place)),
                "{output}"
            );
        }
        for answer in [
            "6 A\n",
            "- K",
            "hello\nworld\n",
            "thinking...\n6 A\n",
            "",
            "\u{1b}[1m\n",
        ] {
            assert_eq!(found(answer), None, "{answer}");
        }
    }
}
