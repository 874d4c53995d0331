//! A file of cases: reading and writing.

use std::fmt::{self, Display, Write as _};

/// What a command printed, and its exit status.
#[derive(Debug, Default, Clone)]
pub(crate) struct Output {
    pub(crate) stdout: String,
    pub(crate) stderr: String,
    pub(crate) status: i32,
}

#[derive(Debug, Clone)]
pub(crate) struct Step {
    pub(crate) command: String,
    pub(crate) output: Output,
}

#[derive(Debug, Clone)]
pub(crate) struct Case {
    pub(crate) name: String,
    /// The lines before the first command, with their marks.
    pub(crate) head: Vec<String>,
    pub(crate) steps: Vec<Step>,
}

impl Case {
    /// Whether its head has this line.
    pub(crate) fn has(&self, line: &str) -> bool {
        self.head.iter().any(|head| head == line)
    }

    pub(crate) fn mentions(&self, text: &str) -> bool {
        self.steps.iter().any(|step| step.command.contains(text))
    }
}

/// The text before the first case, and the cases.
///
/// # Panics
///
/// At a line that is none of a case, so that a typing error is not a case that compares nothing.
pub(crate) fn parse(file: &str, text: &str) -> (String, Vec<Case>) {
    let mut before = String::new();
    let mut cases: Vec<Case> = Vec::new();
    for (number, line) in text.lines().enumerate() {
        let wrong = || -> ! { panic!("{file}:{}: not a line of a case: {line}", number + 1) };
        let (mark, rest) = line.split_once(' ').unwrap_or((line, ""));
        let Some(case) = cases.last_mut() else {
            if mark == "==" {
                cases.push(new(rest));
            } else {
                before += line;
                before += "\n";
            }
            continue;
        };
        let output = case.steps.last_mut().map(|step| &mut step.output);
        match (mark, output) {
            ("", _) if rest.is_empty() => {}
            ("==", _) => cases.push(new(rest)),
            ("#" | "~", None) => case.head.push(line.into()),
            ("$", _) => case.steps.push(Step {
                command: rest.into(),
                output: Output::default(),
            }),
            ("|", Some(output)) => push(&mut output.stdout, rest),
            ("!", Some(output)) => push(&mut output.stderr, rest),
            ("=", Some(output)) => output.status = rest.parse().unwrap_or_else(|_| wrong()),
            _ => wrong(),
        }
    }
    (before, cases)
}

fn new(name: &str) -> Case {
    Case {
        name: name.into(),
        head: Vec::new(),
        steps: Vec::new(),
    }
}

/// How a last line without a newline ends in the file.
const NO_NEWLINE: &str = "\\ no newline";

fn push(text: &mut String, line: &str) {
    if let Some(line) = line.strip_suffix(NO_NEWLINE) {
        text.push_str(line);
    } else {
        text.push_str(line);
        text.push('\n');
    }
}

impl Display for Case {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "== {}", self.name)?;
        for line in &self.head {
            writeln!(f, "{line}")?;
        }
        for Step { command, output } in &self.steps {
            writeln!(f, "$ {command}")?;
            for (mark, text) in [("|", &output.stdout), ("!", &output.stderr)] {
                for line in text.split_inclusive('\n') {
                    let line = match line.strip_suffix('\n') {
                        Some(line) => line.into(),
                        None => format!("{line}{NO_NEWLINE}"),
                    };
                    let space = if line.is_empty() { "" } else { " " };
                    writeln!(f, "{mark}{space}{line}")?;
                }
            }
            if output.status != 0 {
                writeln!(f, "= {}", output.status)?;
            }
        }
        Ok(())
    }
}

/// The whole file again.
pub(crate) fn unparse(before: &str, cases: &[Case]) -> String {
    let mut text = before.trim_end().to_owned();
    text.push('\n');
    for case in cases {
        write!(text, "\n{case}").expect("a string takes everything");
    }
    text
}
