//! The file of `--config`: options under their long names, laid under the command line.
//!
//! What it says becomes words of a command line, so every option has one declaration, one parser and one message.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::num::{IntErrorKind, ParseIntError};
use std::ops::Range;
use std::path::{Path, PathBuf};

use clap::builder::ValueParser;
use clap::error::ErrorKind;
use clap::parser::ValueSource;
use clap::{Arg, ArgAction, ArgMatches, Command};
use toml::{Spanned, Value};

use super::failure::{Failure, Result, usage};
use super::folder::read_text;
use referee::text::{backslash_hint, meant};

const CONFIG: &str = "config";

/// A file would accept whatever changes later.
const NOT_SET: [&str; 2] = [CONFIG, "accept-changes"];

const BOTS: &str = "bots";

type Table = BTreeMap<Spanned<String>, Spanned<Value>>;

/// The words of the command line with those of the file of `--config`, where that is given.
///
/// `program` is what parsed `matches` from `arguments`.
pub(crate) fn expand(
    arguments: &[OsString],
    program: &Command,
    matches: &ArgMatches,
) -> Result<Option<Vec<OsString>>> {
    let (mut matches, mut command, mut after) = (matches, program, 0);
    while let Some((name, inner)) = matches.subcommand()
        && let Some(found) = command.find_subcommand(name)
    {
        (matches, command) = (inner, found);
        let place = arguments[after..].iter().position(|word| word == name);
        after += place.map_or(0, |place| place + 1);
    }
    let Ok(Some(path)) = matches.try_get_one::<PathBuf>(CONFIG) else {
        return Ok(None);
    };
    let text = read_text(path)?;
    let words = File::new(path, text).words(command, matches)?;
    let mut arguments = arguments.to_vec();
    arguments.splice(after..after, words);
    Ok(Some(arguments))
}

struct File<'a> {
    path: &'a Path,
    text: String,
}

impl<'a> File<'a> {
    /// Numbers that TOML cannot hold become texts, which the option then refuses with its range.
    fn new(path: &'a Path, mut text: String) -> Self {
        while let Some(place) = large_number(&text) {
            let number = text[place.clone()].replace('_', "");
            text.replace_range(place, &format!("\"{number}\""));
        }
        Self { path, text }
    }

    fn wrong(&self, place: usize, problem: &str) -> Failure {
        let before = self.text.get(..place).unwrap_or_default();
        let line = before.matches('\n').count() + 1;
        usage!("{}:{line}: {problem}", self.path.display())
    }

    fn words(&self, command: &Command, given: &ArgMatches) -> Result<Vec<OsString>> {
        let table: Table = toml::from_str(&self.text).map_err(|error| {
            let span = error.span().unwrap_or(0..0);
            let hint = backslash_hint(&self.text, &span);
            self.wrong(span.start, &format!("{}{hint}", error.message()))
        })?;
        let mut words = Vec::new();
        for (key, value) in table {
            if key.get_ref() == BOTS {
                continue;
            }
            let option = command
                .get_arguments()
                .find(|arg| arg.get_long() == Some(key.get_ref()) && is_settable(arg));
            if value.get_ref().is_table() {
                let problem = format!(
                    "there are no sections such as [{}]; write each option by its long name, such as `memory = \"1G\"`",
                    key.get_ref()
                );
                return Err(self.wrong(key.span().start, &problem));
            }
            let option = option.ok_or_else(|| self.unknown(&key, command))?;
            let own = self.option_words(option, &value)?;
            self.check(command, &own, value.span().start)?;
            if !is_overruled(option, command, given) {
                words.extend(own);
            }
        }
        // Two may exclude each other.
        self.check(command, &words, 0)?;
        Ok(words)
    }

    fn check(&self, command: &Command, words: &[OsString], place: usize) -> Result<()> {
        let all = [command.get_name().into()].into_iter();
        match command
            .clone()
            .try_get_matches_from(all.chain(words.to_vec()))
        {
            Err(error) if error.kind() != ErrorKind::MissingRequiredArgument => {
                let message = in_range(command, words, &error).unwrap_or_else(|| error.to_string());
                let lines = message.lines().map(str::trim);
                let lines: Vec<&str> = lines.take_while(|line| !line.is_empty()).collect();
                Err(self.wrong(place, lines.join(" ").trim_start_matches("error: ")))
            }
            _ => Ok(()),
        }
    }

    /// Relative paths start from the folder of the file.
    fn option_words(&self, option: &Arg, value: &Spanned<Value>) -> Result<Vec<OsString>> {
        let name = option.get_long().unwrap_or_default();
        let wrong = |name: &str, expected: &str| {
            let problem = format!("`{name}` takes {expected}");
            self.wrong(value.span().start, &problem)
        };
        let text_of = |name: &str, value: &Value| {
            scalar(value).ok_or_else(|| wrong(name, "a text or a number"))
        };
        let base = self.path.parent().unwrap_or(Path::new(""));
        let word = |value: &Value| -> Result<OsString> {
            let text = text_of(name, value)?;
            let is_path = option.get_value_parser().type_id() == ValueParser::path_buf().type_id();
            let is_program = name == "game" && base.join(&text).is_file();
            let text = if is_path || is_program {
                base.join(text).into_os_string()
            } else {
                text.into()
            };
            let mut word = OsString::from(format!("--{name}="));
            word.push(text);
            Ok(word)
        };
        let is_flag = matches!(option.get_action(), ArgAction::SetTrue);
        let is_list = matches!(option.get_action(), ArgAction::Append);
        let count = option.get_num_args();
        let may_be_bare = count.is_some_and(|count| count.min_values() == 0);
        match value.get_ref() {
            Value::Boolean(false) if is_flag || may_be_bare => Ok(Vec::new()),
            Value::Boolean(true) if is_flag || may_be_bare => Ok(vec![format!("--{name}").into()]),
            _ if is_flag => Err(wrong(name, "true or false")),
            Value::Array(values) if is_list => values.iter().map(word).collect(),
            Value::Table(pairs) if is_list => pairs
                .iter()
                .map(|(key, value)| {
                    let value = text_of(&format!("{name}.{key}"), value)?;
                    Ok(format!("--{name}={key}={value}").into())
                })
                .collect(),
            value => Ok(vec![word(value)?]),
        }
    }

    fn unknown(&self, key: &Spanned<String>, command: &Command) -> Failure {
        let name = key.get_ref();
        let known = command.get_arguments().filter(|arg| is_settable(arg));
        let known: Vec<&str> = known.filter_map(Arg::get_long).collect();
        let hint = match meant(name, &known) {
            Some(near) => format!("did you mean `{near}`?"),
            None => format!("expected one of {}, {BOTS}", known.join(", ")),
        };
        self.wrong(
            key.span().start,
            &format!("unknown option `{name}`; {hint}"),
        )
    }
}

/// Where a whole number stands that is beyond 64 bits.
fn large_number(text: &str) -> Option<Range<usize>> {
    let place = toml::from_str::<Table>(text).err()?.span()?;
    let word = text.get(place.clone())?;
    let digits = word.trim_start_matches(['+', '-']).replace('_', "");
    let is_number = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    is_number.then_some(place)
}

/// The message for a number that is too large, with the numbers that are not: it is known only of one within 64 bits.
fn in_range(command: &Command, words: &[OsString], error: &clap::Error) -> Option<String> {
    use std::error::Error as _;

    let parsed = error.source()?.downcast_ref::<ParseIntError>()?;
    let nearest = match parsed.kind() {
        IntErrorKind::PosOverflow => i64::MAX,
        IntErrorKind::NegOverflow => i64::MIN,
        _ => return None,
    };
    let [word] = words else { return None };
    let (option, number) = word.to_str()?.split_once('=')?;
    let within = format!("{option}={nearest}");
    let parsed = command
        .clone()
        .try_get_matches_from([command.get_name(), &within]);
    let message = match parsed {
        Err(error) if error.kind() == ErrorKind::ValueValidation => error.to_string(),
        _ => {
            return Some(format!(
                "{option} is {number}; expected at most {}",
                u64::MAX
            ));
        }
    };
    Some(message.replace(&nearest.to_string(), number))
}

fn is_settable(arg: &Arg) -> bool {
    !arg.is_global_set()
        && !NOT_SET.contains(&arg.get_long().unwrap_or_default())
        && matches!(
            arg.get_action(),
            ArgAction::Set | ArgAction::Append | ArgAction::SetTrue
        )
}

fn is_overruled(option: &Arg, command: &Command, given: &ArgMatches) -> bool {
    let is_given =
        |arg: &Arg| given.value_source(arg.get_id().as_str()) == Some(ValueSource::CommandLine);
    let is_list =
        matches!(option.get_action(), ArgAction::Append) && option.get_value_delimiter().is_none();
    let excludes = |one: &Arg, other: &Arg| {
        let excluded = command.get_arg_conflicts_with(one);
        excluded.iter().any(|arg| arg.get_id() == other.get_id())
    };
    command
        .get_arguments()
        .filter(|arg| is_given(arg))
        .any(|arg| {
            (arg.get_id() == option.get_id() && !is_list)
                || excludes(arg, option)
                || excludes(option, arg)
        })
}

fn scalar(value: &Value) -> Option<String> {
    match value {
        Value::String(text) => Some(text.clone()),
        Value::Integer(number) => Some(number.to_string()),
        Value::Float(number) => Some(number.to_string()),
        Value::Boolean(truth) => Some(truth.to_string()),
        Value::Datetime(time) => Some(time.to_string()),
        Value::Array(_) | Value::Table(_) => None,
    }
}
