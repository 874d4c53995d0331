//! What a bot says of its thinking, on stderr before its answer, in the form of chess engines:
//! `info depth 6 score 0.35 nodes 12000 string take the corner`.

use serde_json::{Map, Number, Value};

/// Of a turn: numbers, and text that is safe to print. At most [`NAMES`] names.
pub type Info = Map<String, Value>;

pub const PREFIX: &[u8] = b"info ";

/// The number of the turn in a record.
const RESERVED: &str = "turn";

pub const NAMES: usize = 16;

/// Bytes of names and values together.
pub const BYTES: usize = 256;

/// Takes the rest of its line.
const TEXT: &str = "string";

/// As a line for people: `depth 6, score 0.35, nodes 12000: take the corner`.
pub fn as_text(info: &Info) -> String {
    let words = info.iter().filter(|(name, _)| *name != TEXT);
    let words = words.map(|(name, value)| match value {
        Value::String(text) => format!("{name} {text}"),
        other => format!("{name} {other}"),
    });
    let words = words.collect::<Vec<_>>().join(", ");
    match info.get(TEXT).and_then(Value::as_str) {
        None => words,
        Some(text) if words.is_empty() => text.to_owned(),
        Some(text) => format!("{words}: {text}"),
    }
}

/// Adds what a line says after [`PREFIX`]. The last value of a name counts; what exceeds the bounds is left out.
pub fn add(info: &mut Info, line: &str) {
    let mut rest = line;
    loop {
        let (name, after) = word(rest);
        let (value, after) = match name {
            TEXT => (after.trim(), ""),
            _ => word(after),
        };
        rest = after;
        if value.is_empty() {
            return;
        }
        let is_name = |byte: u8| byte.is_ascii_alphanumeric() || b"_-.".contains(&byte);
        if name == RESERVED || !name.bytes().all(is_name) {
            continue;
        }
        let others = info.iter().filter(|(other, _)| *other != name);
        let used = others
            .clone()
            .map(|(name, value)| size(name, value))
            .sum::<usize>()
            + name.len();
        if others.count() >= NAMES || used >= BYTES {
            continue;
        }
        let value = match number(value) {
            Some(number) if name != TEXT => Value::Number(number),
            _ => Value::from(&value[..value.floor_char_boundary(BYTES - used)]),
        };
        info.insert(name.to_owned(), value);
    }
}

fn word(text: &str) -> (&str, &str) {
    let text = text.trim_start();
    text.split_once(char::is_whitespace).unwrap_or((text, ""))
}

fn size(name: &str, value: &Value) -> usize {
    name.len() + value.as_str().map_or(size_of::<f64>(), str::len)
}

fn number(text: &str) -> Option<Number> {
    let whole = text.parse::<i64>().map(Number::from).ok();
    whole.or_else(|| Number::from_f64(text.parse().ok()?))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn info(lines: &[&str]) -> Value {
        let mut info = Info::new();
        for line in lines {
            add(&mut info, line);
        }
        info.into()
    }

    #[test]
    fn names_have_values_and_the_last_one_counts() {
        assert_eq!(
            info(&["depth 6 score 0.35 nodes 12000 string take the corner"]),
            json!({"depth": 6, "score": 0.35, "nodes": 12000, "string": "take the corner"})
        );
        assert_eq!(
            info(&["depth 1 score -.5", "  depth  2   pv 5A "]),
            json!({"depth": 2, "score": -0.5, "pv": "5A"})
        );
        assert_eq!(
            info(&["string 7", "depth", "", "string"]),
            json!({"string": "7"})
        );
    }

    #[test]
    fn what_is_no_number_is_text() {
        assert_eq!(
            info(&["a NaN b inf c 1e999 d 1e3 e 0x10"]),
            json!({"a": "NaN", "b": "inf", "c": "1e999", "d": 1000.0, "e": "0x10"})
        );
    }

    #[test]
    fn it_is_bounded() {
        let many: Vec<String> = (0..1000).map(|i| format!("n{i} {i}")).collect();
        assert_eq!(info(&[&many.join(" ")]).as_object().unwrap().len(), NAMES);
        let long = format!("depth 1 string {}", "é".repeat(1000));
        let found = info(&[&long, "depth 2 later 3"]);
        let text = found["string"].as_str().unwrap();
        assert!(
            text.len() <= BYTES && text.len() > BYTES - 30,
            "{}",
            text.len()
        );
        assert_eq!(found["depth"], 2);
        assert_eq!(info(&["turn 3 <b> 1 \u{1b}[m 2 a\u{200b} 4"]), json!({}));
    }
}
