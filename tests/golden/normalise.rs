//! Takes out of an output what differs from run to run and from machine to machine.

use std::path::Path;

use serde_json::{Value, json};

/// How the line begins that warns root of bots without a sandbox.
const ROOT_WARNING: &str = "referee: WARNING: you are root";

/// `world` is the directory that holds all that cases see; `times` says that durations differ from run to run.
pub(crate) fn normalise(text: &str, world: &Path, times: bool) -> String {
    let canonical = world.canonicalize().unwrap_or_else(|_| world.into());
    let mut text = replace_path(text, env!("CARGO_BIN_EXE_referee"), "referee");
    for world in [&*canonical.to_string_lossy(), &*world.to_string_lossy()] {
        text = replace_path(&text, world, "$WORLD");
    }
    text = replace_after(&text, "referee: seed ", |c| c.is_ascii_digit(), "N");
    text = replace_after(&text, "Process ", |c| c.is_ascii_digit(), "N");
    let version = env!("CARGO_PKG_VERSION");
    text = text.replace(&format!("referee {version}"), "referee VERSION");
    text = text.replace(
        &format!("\"referee\": \"{version}\""),
        "\"referee\": \"VERSION\"",
    );
    text = replace_after(&text, "sha256:", |c| c.is_ascii_hexdigit(), "HASH");
    if times {
        text = without_times(&text);
    }
    let lines = text.split_inclusive('\n');
    let lines = lines.filter(|line| !line.starts_with(ROOT_WARNING) && !is_progress(line));
    // What `check-game` says of it depends on the machine.
    let lines = lines.filter(|line| !(times && line.contains(" is quick: ")));
    lines
        .map(|line| json_line(line, times).unwrap_or_else(|| line.into()))
        .map(|line| figures(&escape(&line)))
        .collect()
}

/// What is said of a run that takes longer than a few seconds.
fn is_progress(line: &str) -> bool {
    let Some(news) = line.strip_prefix("referee: ") else {
        return false;
    };
    let rest = news.trim_start_matches(|c: char| c.is_ascii_digit() || c == '/');
    news.starts_with("checked ")
        || news.starts_with(|c: char| c.is_ascii_digit())
            && rest.starts_with(" games, ")
            && rest.contains(" left")
}

/// Replaces a path, with the quotes that a shell needs only because of blanks in it.
fn replace_path(text: &str, path: &str, name: &str) -> String {
    let mut text = text.replace(path, name);
    let quoted = format!("'{name}");
    while let Some(start) = text.find(&quoted) {
        text.remove(start);
        if let Some(end) = text[start..].find('\'') {
            text.remove(start + end);
        }
    }
    text
}

/// Replaces the characters of this kind that come after `before`.
fn replace_after(text: &str, before: &str, kind: fn(char) -> bool, name: &str) -> String {
    let mut parts = text.split(before);
    let mut out = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let rest = part.trim_start_matches(kind);
        let name = if rest.len() < part.len() { name } else { "" };
        out.extend([before, name, rest]);
    }
    out
}

/// Durations as `TIME`, and numbers of games a second. Columns of a table are as wide as its times, so there runs of
/// blanks become two.
fn without_times(text: &str) -> String {
    let mut out = String::new();
    let mut in_table = false;
    for line in text.split_inclusive('\n') {
        in_table = line != "\n" && (in_table || line.contains("  median"));
        let replaced = without_times_in_line(line);
        if in_table || replaced != line {
            let words: Vec<&str> = replaced
                .split("  ")
                .filter(|word| !word.is_empty())
                .collect();
            let trimmed: Vec<&str> = words
                .iter()
                .map(|word| word.strip_prefix(' ').unwrap_or(word))
                .collect();
            out += &trimmed.join("  ");
        } else {
            out += &replaced;
        }
    }
    out
}

fn without_times_in_line(line: &str) -> String {
    const UNITS: [&str; 9] = [
        "µs", "ms", "s", "min", "seconds", "minutes", "games a", "game a", "a second",
    ];
    let mut out = String::new();
    let mut rest = line;
    while let Some(start) = rest.find(|c: char| c.is_ascii_digit()) {
        let in_word = rest[..start].ends_with(|c: char| c.is_alphanumeric() || "-_./#".contains(c));
        out += &rest[..start];
        let end = rest[start..]
            .find(|c: char| !c.is_ascii_digit() && c != '.')
            .map_or(rest.len(), |end| start + end);
        let after = rest[end..].strip_prefix(' ').unwrap_or(&rest[end..]);
        let unit = UNITS.iter().find(|unit| {
            after
                .strip_prefix(**unit)
                .is_some_and(|next| !next.starts_with(|c: char| c.is_alphanumeric()))
        });
        match unit {
            Some(unit) if !in_word => {
                out += match *unit {
                    "games a" | "game a" => "N games a",
                    "a second" => "N a second",
                    _ => "TIME",
                };
                rest = &after[unit.len()..];
            }
            _ => {
                out += &rest[start..end];
                rest = &rest[end..];
            }
        }
    }
    out + rest
}

/// A line that is a JSON object, with made-up times in place of those that were measured. Those of turns differ, so that
/// tables of them mean something. `None` when it is another line.
fn json_line(line: &str, times: bool) -> Option<String> {
    let text = line
        .strip_suffix('\n')
        .filter(|line| line.starts_with('{'))?;
    let mut value: Value = serde_json::from_str(text).ok()?;
    let object = value.as_object_mut()?;
    let id = object.get("id").and_then(Value::as_str).unwrap_or_default();
    let first = id
        .bytes()
        .fold(0, |sum, byte| (sum * 31 + u32::from(byte)) % 997);
    match object.get_mut("times_ms") {
        Some(Value::Array(times)) => {
            for (time, turn) in times.iter_mut().zip(0..) {
                let hundredths = (first + turn * 389) % 997 + 1;
                *time = json!(f64::from(hundredths) / 100.0);
            }
        }
        Some(Value::Object(summary)) => summary.values_mut().for_each(|time| *time = json!(0)),
        _ => {}
    }
    for field in ["charged_ms", "delayed", "voids"] {
        object.shift_remove(field);
    }
    if let Some(started) = object.get_mut("started") {
        *started = json!("2026-01-31T10:00:00Z");
    }
    for usage in object
        .get_mut("usage")
        .and_then(Value::as_array_mut)
        .into_iter()
        .flatten()
    {
        for (_, figure) in usage.as_object_mut().into_iter().flatten() {
            *figure = json!(0);
        }
    }
    if times {
        without_json_times(&mut value);
    }
    Some(format!("{value}\n"))
}

/// Sets fields of times to 0.
fn without_json_times(value: &mut Value) {
    match value {
        Value::Array(values) => values.iter_mut().for_each(without_json_times),
        Value::Object(values) => {
            for (key, value) in values {
                if value.is_number() && (key.ends_with("_ms") || key == "seconds") {
                    *value = json!(0);
                }
                without_json_times(value);
            }
        }
        _ => {}
    }
}

/// Numbers with as many digits as mean something: of decimals nine, and none of a page's size.
fn figures(line: &str) -> String {
    let mut out = String::new();
    let mut rest = line;
    while let Some(start) = rest.find(|c: char| c.is_ascii_digit()) {
        out += &rest[..start];
        rest = &rest[start..];
        let end = rest
            .find(|c: char| !c.is_ascii_digit() && c != '.')
            .unwrap_or(rest.len());
        let (mut number, mut after) = rest.split_at(end);
        let decimals = number
            .split_once('.')
            .map_or(0, |(_, decimals)| decimals.len());
        if decimals > 9 {
            if after.starts_with("e-") {
                number = "0.0";
                after = after[2..].trim_start_matches(|c: char| c.is_ascii_digit());
                out.truncate(out.trim_end_matches('-').len());
            }
            let rounded: Option<f64> = number.parse().ok();
            let rounded = rounded.and_then(|number| format!("{number:.8e}").parse::<f64>().ok());
            out += &rounded.map_or_else(|| number.into(), |number| format!("{number:?}"));
        } else if after.starts_with(" kB") {
            out += "N";
        } else {
            out += number;
        }
        rest = after;
    }
    out + rest
}

/// Control and bidirectional characters, so that the files are text that can be read.
fn escape(line: &str) -> String {
    let mut out = String::new();
    for c in line.chars() {
        match c {
            '\n' | '\t' => out.push(c),
            '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' => out.extend(c.escape_unicode()),
            c if c.is_control() => out.extend(c.escape_unicode()),
            c => out.push(c),
        }
    }
    out
}
