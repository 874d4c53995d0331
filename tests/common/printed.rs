//! The commands that a run prints for a person to give, and giving them as they stand.

use std::path::Path;

use super::{Referee, Run};

/// How a command begins that may be copied into a shell.
const BEGINNINGS: [&str; 2] = ["referee ", "printf "];

/// What stands before a command that goes to the end of its line.
const BEFORE: [&str; 5] = [": ", ", then ", ", or ", "; or ", "   "];

/// What ends a command within a sentence.
const AFTER: [&str; 5] = [", then ", ", or ", "; if ", "; with ", ", with "];

/// The commands in what was printed: in backquotes, or after a colon to the end of the line.
pub(crate) fn commands(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    for line in text.lines() {
        let quoted: Vec<&str> = line.split('`').skip(1).step_by(2).collect();
        if !quoted.is_empty() {
            found.extend(quoted.into_iter().filter(|text| is_command(text)));
            continue;
        }
        for (start, _) in line.char_indices() {
            let (before, rest) = line.split_at(start);
            let begins = before.is_empty() || BEFORE.iter().any(|mark| before.ends_with(mark));
            if begins && is_command(rest) {
                let ends = AFTER.iter().filter_map(|mark| rest.find(mark));
                found.push(rest[..ends.min().unwrap_or(rest.len())].trim_end());
            }
        }
    }
    found.into_iter().map(str::to_owned).collect()
}

fn is_command(text: &str) -> bool {
    BEGINNINGS
        .iter()
        .any(|beginning| text.starts_with(beginning))
}

/// Gives a printed command to a shell in `place`, with words in capitals that stand for something replaced.
pub(crate) fn run(place: &Path, command: &str, placeholders: &[(&str, &str)]) -> Run {
    let words = command.split(' ').map(|word| {
        let value = placeholders.iter().find(|(name, _)| *name == word);
        value.map_or(word, |(_, value)| value)
    });
    shell(place, &words.collect::<Vec<_>>().join(" "))
}

/// Runs a script of a shell in `place`, where `referee` is the program that was built.
pub(crate) fn shell(place: &Path, script: &str) -> Run {
    let script = format!("PATH=\"${{0%/*}}:$PATH\"; export PATH\n{script}\n");
    let referee = Referee::new([""; 0]).default_sandbox();
    referee.shell(script).directory(place).run()
}
