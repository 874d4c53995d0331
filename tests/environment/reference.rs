//! The tables of docs/reference.md, and its examples for pandas.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use libtest_mimic::Failed;
use referee::report::standings::column_reference;
use serde_json::Value;

use crate::common::schema::{PLAN, RECORD, TOURNAMENT};
use crate::documents::{Folder, blocks, matches, source};

pub(crate) const DOCUMENT: &str = "docs/reference.md";

/// A schema's fields as rows of a table.
struct Fields<'a> {
    schema: &'a Value,
    rows: Vec<[String; 3]>,
    /// Definitions whose fields have been listed, and where: they are listed once.
    listed: BTreeMap<&'a str, String>,
    /// Definitions that stand in the table by their names, and what they are.
    named: BTreeSet<(&'a str, &'a str)>,
}

impl<'a> Fields<'a> {
    fn of(schema: &'a Value) -> Result<Self, Failed> {
        let mut fields = Self {
            schema,
            rows: Vec::new(),
            listed: BTreeMap::new(),
            named: BTreeSet::new(),
        };
        fields.list(schema, "")?;
        Ok(fields)
    }

    /// The definition to which this part refers, and its name.
    fn definition(&self, part: &Value) -> Option<(&'a str, &'a Value)> {
        let pointer = part["$ref"].as_str()?;
        let name = pointer.rsplit('/').next()?;
        let definitions = self.schema["definitions"].as_object()?;
        let (name, definition) = definitions.get_key_value(name)?;
        Some((name, definition))
    }

    /// Adds the fields of the objects in this part.
    fn list(&mut self, part: &'a Value, path: &str) -> Result<(), Failed> {
        if let Some((name, definition)) = self.definition(part) {
            if self.listed.contains_key(name) {
                return Ok(());
            }
            if definition["properties"].is_object() {
                self.listed.insert(name, path.to_owned());
            }
            return self.list(definition, path);
        }
        for choice in choices(part) {
            self.list(choice, path)?;
        }
        if part["items"].is_object() {
            self.list(&part["items"], &format!("{path}[]"))?;
        }
        for (name, field) in part["properties"].as_object().into_iter().flatten() {
            let path = if path.is_empty() {
                name.clone()
            } else {
                format!("{path}.{name}")
            };
            let description = field["description"].as_str();
            let description = description.ok_or(format!("{path} has no description"))?;
            if description.starts_with("Of earlier versions:") {
                continue;
            }
            let default = field.get("default").map(code);
            let default = default.map_or(String::new(), |value| format!(" Default: {value}."));
            let mut kind = self.kind(field);
            let refers = choices(field).find_map(|choice| self.definition(choice));
            if let Some(listed) = refers.and_then(|(name, _)| self.listed.get(name)) {
                kind.extend([", as `", listed, "`"]);
            }
            let required = part["required"].as_array();
            if required.is_some_and(|required| !required.iter().any(|other| other == name)) {
                kind += ", optional";
            }
            self.rows
                .push([path.clone(), kind, format!("{description}{default}")]);
            self.list(field, &path)?;
        }
        Ok(())
    }

    /// The type of a part, in words.
    fn kind(&mut self, part: &Value) -> String {
        if let Some((name, definition)) = self.definition(part) {
            return match definition["description"].as_str() {
                Some(text) => {
                    self.named.insert((name, text));
                    name.to_owned()
                }
                None => self.kind(definition),
            };
        }
        if choices(part).next().is_some() {
            let kinds: Vec<String> = choices(part).map(|choice| self.kind(choice)).collect();
            return kinds.join(" or ");
        }
        if let Some(words) = part["enum"].as_array() {
            return words.iter().map(code).collect::<Vec<_>>().join(", ");
        }
        if let Some(only) = part.get("const") {
            return code(only);
        }
        let types = match &part["type"] {
            Value::Array(types) => types.iter().collect(),
            one => vec![one],
        };
        let kinds = types.into_iter().map(|kind| match kind.as_str() {
            Some("array") => format!("list of {}", plural(&self.kind(&part["items"]))),
            Some("object") if part["additionalProperties"].is_object() => {
                let kind = self.kind(&part["additionalProperties"]);
                format!("object of {}", plural(&kind))
            }
            kind => kind.unwrap_or_default().to_owned(),
        });
        kinds.collect::<Vec<_>>().join(" or ")
    }

    /// Without the words that the option of this name has on the command line.
    fn without_options(mut self) -> Self {
        for [field, _, meaning] in &mut self.rows {
            if !field.starts_with("bots") {
                let default = meaning.split_once(" Default: ");
                *meaning = default
                    .map_or("", |(_, value)| value.trim_end_matches('.'))
                    .to_owned();
            }
        }
        self
    }

    fn table(&self) -> String {
        let named = self.named.iter();
        let named: String = named
            .flat_map(|(name, text)| ["\n", name, ": ", text, "\n"])
            .collect();
        format!("{}{named}", table(&self.rows))
    }
}

fn choices(part: &Value) -> impl Iterator<Item = &Value> {
    let lists = ["allOf", "anyOf"].map(|of| part[of].as_array());
    lists.into_iter().flatten().flatten()
}

fn code(value: &Value) -> String {
    match value {
        Value::String(text) => format!("`{text}`"),
        value => format!("`{value}`"),
    }
}

fn plural(kind: &str) -> String {
    let plural = |kind: &str| match kind.split_once(' ') {
        _ if kind.starts_with('`') || kind == "null" => kind.to_owned(),
        Some((first, rest)) => format!("{first}s {rest}"),
        None => format!("{kind}s"),
    };
    kind.split(" or ")
        .map(plural)
        .collect::<Vec<_>>()
        .join(" or ")
}

fn table(rows: &[[String; 3]]) -> String {
    let mut text = "| field | type | meaning |\n|---|---|---|\n".to_owned();
    for [field, kind, meaning] in rows {
        text.extend(["| `", field, "` | ", kind, " | ", meaning, " |\n"]);
    }
    text
}

pub(crate) fn tables_are_those_of_the_schemas() -> Result<(), Failed> {
    let file = source(DOCUMENT);
    let shown = fs::read_to_string(&file)?;
    let mut text = shown.clone();
    for (name, table) in [
        (
            "configuration",
            Fields::of(&TOURNAMENT.json)?
                .without_options()
                .table()
                .replacen("| meaning |", "| default, or meaning |", 1),
        ),
        ("record", Fields::of(&RECORD.json)?.table()),
        ("standings", table(&column_reference())),
        ("plan", Fields::of(&PLAN.json)?.table()),
    ] {
        let (begin, end) = (
            format!("<!-- generated: {name} -->\n"),
            format!("<!-- end of {name} -->\n"),
        );
        let (head, rest) = text.split_once(&begin).ok_or(begin.clone())?;
        let (_, tail) = rest.split_once(&end).ok_or(end.clone())?;
        text = format!("{head}{begin}\n{table}\n{end}{tail}");
    }
    if std::env::var_os("UPDATE").is_some() {
        fs::write(&file, text)?;
    } else if shown != text {
        let words = "fields have changed: UPDATE=1 cargo test --test environment documents::";
        return Err(format!("{DOCUMENT}: {words}").into());
    }
    Ok(())
}

/// A Python that can import pandas.
pub(crate) fn pandas() -> Option<PathBuf> {
    let pythons = [source("target/tools/bin/python"), "python3".into()];
    pythons.into_iter().find(|python| {
        let mut import = Command::new(python);
        import.args(["-c", "import pandas"]).stderr(Stdio::null());
        import.status().is_ok_and(|status| status.success())
    })
}

/// A block of `python` is a script of its own; the block of `text` that follows is what it prints.
pub(crate) fn examples_for_pandas(python: &Path) -> Result<(), Failed> {
    let text = fs::read_to_string(source(DOCUMENT))?;
    let folder = Folder::new()?;
    let mut printed: Option<String> = None;
    let mut compared = 0;
    for block in blocks(&text) {
        let lines = block.lines.join("\n");
        match (block.language.as_str(), printed.take()) {
            ("sh", _) => drop(folder.run(&lines)?),
            ("python", _) => {
                fs::write(folder.path().join("example.py"), lines)?;
                printed = Some(folder.run(&format!("{} example.py", python.display()))?);
            }
            ("text", Some(printed)) => {
                compared += 1;
                if !matches(&block.lines, &printed.lines().collect::<Vec<_>>()) {
                    return Err(format!("{DOCUMENT}:{}: prints\n{printed}", block.line).into());
                }
            }
            _ => {}
        }
    }
    if compared == 0 {
        return Err("no example".into());
    }
    Ok(())
}
