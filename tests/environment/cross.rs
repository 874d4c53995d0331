//! Programs for other systems and processors, compiled here.

use std::ffi::OsStr;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use libtest_mimic::{Failed, Trial};
use serde_json::Value;

use crate::requirements::{program, unavailable};

/// A test of what was built in a place.
pub(crate) type Test<P> = fn(&P) -> Result<(), Failed>;

/// A target of the compiler, and what its tests need.
pub(crate) struct Target {
    pub(crate) name: &'static str,
    /// What is reported when the standard library for it is missing.
    pub(crate) missing_library: &'static str,
    /// How to install that.
    pub(crate) install: &'static str,
    /// Commands, with their packages.
    pub(crate) needs: &'static [(&'static str, &'static str)],
}

impl Target {
    /// The trials of a module; each is given what `place` has built.
    pub(crate) fn trials<P: 'static>(
        &self,
        module: &str,
        tests: &'static [(&'static str, Test<P>)],
        place: fn() -> Result<&'static P, Failed>,
    ) -> Vec<Trial> {
        let missing = self.missing();
        let trials = tests.iter().map(|&(name, test)| {
            let name = format!("{module}::{name}");
            match missing {
                Some((command, package)) => unavailable(name, command, package),
                None => Trial::test(name, move || test(place()?)),
            }
        });
        trials.collect()
    }

    /// What is not installed here, and its package.
    pub(crate) fn missing(&self) -> Option<(&'static str, &'static str)> {
        let is_missing = |(command, _): &(&str, &str)| program(command, &[]).is_none();
        let missing = self.needs.iter().copied().find(is_missing);
        missing.or_else(|| (!self.is_installed()).then_some((self.missing_library, self.install)))
    }

    /// Whether the standard library for it is installed.
    fn is_installed(&self) -> bool {
        let asked = Command::new("rustc")
            .args(["--print", "target-libdir", "--target", self.name])
            .output();
        asked.is_ok_and(|output| {
            let path = String::from_utf8_lossy(&output.stdout).trim().to_owned();
            output.status.success() && Path::new(&path).is_dir()
        })
    }

    /// Runs cargo for it, such as `build --bin referee`, in the target directory of these tests.
    pub(crate) fn cargo<'a>(&self, arguments: impl IntoIterator<Item = &'a str>) -> Command {
        let mut cargo = Command::new(env!("CARGO"));
        cargo
            .current_dir(env!("CARGO_MANIFEST_DIR"))
            .args(arguments)
            .args(["--locked", "--quiet", "--target", self.name, "--target-dir"])
            .arg(target_directory());
        cargo
    }

    /// Where cargo puts the program.
    pub(crate) fn program(&self, file: &str) -> PathBuf {
        target_directory().join(self.name).join("debug").join(file)
    }
}

fn target_directory() -> &'static Path {
    let scratch = Path::new(env!("CARGO_TARGET_TMPDIR"));
    scratch.parent().unwrap_or(scratch)
}

/// Runs a command that builds something.
pub(crate) fn built(what: &str, command: &mut Command) -> Result<(), String> {
    let output = command
        .output()
        .map_err(|error| format!("{what}: {error}"))?;
    if output.status.success() {
        return Ok(());
    }
    Err(format!(
        "{what} cannot be built: {}{}",
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    ))
}

/// The referee for this system, run in `directory`.
pub(crate) fn here<A: AsRef<OsStr>>(
    directory: &Path,
    arguments: impl IntoIterator<Item = A>,
) -> Command {
    let mut command = crate::common::command(env!("CARGO_BIN_EXE_referee"));
    command
        .args(arguments)
        .env_remove("RUST_LOG")
        .current_dir(directory)
        .stdin(Stdio::null());
    command
}

/// What a run printed, and the directory that it ran in.
pub(crate) struct Ran {
    pub(crate) output: Output,
    pub(crate) scratch: tempfile::TempDir,
}

impl Ran {
    /// All that was printed, as it is on every system: the bot's name without `.exe`, and no times.
    pub(crate) fn text(&self) -> String {
        let Output {
            status,
            stdout,
            stderr,
        } = &self.output;
        let mut text = format!("exit {:?}\n", status.code());
        for stream in [stdout, stderr] {
            let stream = String::from_utf8_lossy(stream).replace("bot.exe", "bot");
            let _ = writeln!(text, "{}", without_times(&stream));
        }
        text
    }

    /// The records in a file, without times, commands as far as they differ, and what bots used.
    pub(crate) fn records(&self, file: &str) -> Vec<Value> {
        let path = self.scratch.path().join(file);
        assert!(path.is_file(), "{}", self.text());
        records(&path)
    }
}

/// The records in a file, without times, commands as far as they differ, and what bots used.
pub(crate) fn records(file: &Path) -> Vec<Value> {
    let text = fs::read_to_string(file).unwrap_or_default();
    let records = text.lines().map(|line| {
        let line = line.replace("bot.exe", "bot");
        let mut record: Value = serde_json::from_str(&line).expect("a record");
        let fields = record.as_object_mut().expect("an object");
        for field in ["times_ms", "started", "usage", "plan", "charged_ms"] {
            fields.remove(field);
        }
        record
    });
    records.collect()
}

/// Text in which times are replaced by a sign, without lines about the machine: root
/// is warned of what has none elsewhere, and games that are played again on a busy one are no difference.
fn without_times(text: &str) -> String {
    let mut found = String::new();
    let of_machine = ["the machine was so busy", "WARNING: you are root", " WARN "];
    for line in text.lines() {
        if of_machine.iter().any(|words| line.contains(words)) {
            continue;
        }
        let words: Vec<&str> = line.split(' ').collect();
        let shown = words.iter().enumerate().map(|(at, word)| {
            let unit = words
                .get(at + 1)
                .map_or("", |next| next.trim_matches(['(', ')', ',', '.', ':', ';']));
            let number = word.trim_start_matches('(').parse::<f64>().is_ok();
            if number && matches!(unit, "ms" | "s" | "seconds" | "second") {
                "#"
            } else {
                word
            }
        });
        let mut line = shown.collect::<Vec<_>>().join(" ");
        for unit in ["# ms", "# seconds", "# second", "# s"] {
            line = line.replace(unit, "#");
        }
        found.push_str(&line);
        found.push('\n');
    }
    found
}

/// Fails when two systems differ.
pub(crate) fn equal<T: PartialEq + std::fmt::Debug>(
    there: &T,
    here: &T,
    what: &str,
) -> Result<(), Failed> {
    if there == here {
        return Ok(());
    }
    Err(format!("{what} differ\nthere: {there:#?}\nhere: {here:#?}").into())
}
