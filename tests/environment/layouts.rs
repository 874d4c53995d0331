//! A bot is the same in every command: folders in eight languages and five layouts, given to nine commands.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};

use libtest_mimic::{Failed, Trial};

use crate::common::files::executable;
use crate::common::{Referee, Run};
use crate::requirements::{program, unavailable};

const SOURCES: &str = env!("CARGO_MANIFEST_DIR");

/// Stands where there is a typing error: it is defined nowhere.
const TYPO: &str = "missing_word";

struct Language {
    /// As `referee new` knows it, or a folder beside this file.
    name: &'static str,
    needs: [&'static str; 2],
    /// The one that is built or run by itself.
    one_file: &'static str,
    build_file: &'static str,
    /// What is replaced in which file, for a strategy in a folder of its own; the file's new place.
    package: &'static [(&'static str, &'static str, &'static str)],
    moved: &'static [(&'static str, &'static str)],
    added: &'static [(&'static str, &'static str)],
    /// In the file of the strategy: what becomes the typing error.
    strategy: [&'static str; 2],
}

const LANGUAGES: [Language; 8] = [
    Language {
        name: "python",
        needs: ["python3", "python3"],
        one_file: "random.py",
        build_file: "referee.toml",
        package: &[("bot.py", "from strategy", "from engine.strategy")],
        moved: &[("strategy.py", "engine/strategy.py")],
        added: &[("engine/__init__.py", "")],
        strategy: ["strategy.py", "random.choice(cells)"],
    },
    Language {
        name: "c",
        needs: ["gcc", "gcc"],
        one_file: "random.c",
        build_file: "Makefile",
        package: &[],
        moved: &[
            ("bot.c", "src/bot.c"),
            ("strategy.c", "src/strategy.c"),
            ("strategy.h", "src/strategy.h"),
        ],
        added: &[],
        strategy: ["strategy.c", "rand()"],
    },
    Language {
        name: "c++",
        needs: ["g++", "g++"],
        one_file: "random.cpp",
        build_file: "Makefile",
        package: &[],
        moved: &[
            ("bot.cpp", "src/bot.cpp"),
            ("strategy.cpp", "src/strategy.cpp"),
            ("strategy.hpp", "src/strategy.hpp"),
        ],
        added: &[],
        strategy: ["strategy.cpp", "numbers()"],
    },
    Language {
        name: "java",
        needs: ["javac", "default-jdk-headless"],
        one_file: "Random.java",
        build_file: "referee.toml",
        package: &[
            (
                "Strategy.java",
                "import java.util.List;",
                "package engine;\nimport java.util.List;",
            ),
            ("Strategy.java", "class Strategy", "public class Strategy"),
            (
                "Strategy.java",
                "    String choose",
                "    public String choose",
            ),
            (
                "Bot.java",
                "import java.util.Scanner;",
                "import java.util.Scanner;\nimport engine.Strategy;",
            ),
        ],
        moved: &[("Strategy.java", "engine/Strategy.java")],
        added: &[],
        strategy: ["Strategy.java", "random.nextInt(all.size())"],
    },
    Language {
        name: "javascript",
        needs: ["node", "nodejs"],
        one_file: "random.js",
        build_file: "referee.toml",
        package: &[("bot.js", "./strategy.js", "./engine/strategy.js")],
        moved: &[("strategy.js", "engine/strategy.js")],
        added: &[],
        strategy: ["strategy.js", "one(cells)"],
    },
    Language {
        name: "go",
        needs: ["go", "golang-go"],
        one_file: "random.go",
        build_file: "go.mod",
        package: &[
            ("strategy.go", "package main", "package engine"),
            ("strategy.go", "func choose", "func Choose"),
            ("main.go", "\t\"bufio\"", "\t\"bot/engine\"\n\t\"bufio\""),
            ("main.go", "choose(", "engine.Choose("),
        ],
        moved: &[("strategy.go", "engine/strategy.go")],
        added: &[("go.mod", "module bot\n\ngo 1.18\n")],
        strategy: ["strategy.go", "random.Intn(len(cells))"],
    },
    Language {
        name: "rust",
        needs: ["rustc", "rustc"],
        one_file: "random.rs",
        build_file: "Cargo.toml",
        package: &[
            ("src/main.rs", "mod strategy;", "mod engine;"),
            (
                "src/main.rs",
                "strategy::Strategy",
                "engine::strategy::Strategy",
            ),
        ],
        moved: &[("src/strategy.rs", "src/engine/strategy.rs")],
        added: &[("src/engine/mod.rs", "pub mod strategy;\n")],
        strategy: ["src/strategy.rs", "self.below(cells.len())"],
    },
    Language {
        name: "ocaml",
        needs: ["dune", "ocaml-dune"],
        one_file: "random.ml",
        build_file: "dune-project",
        package: &[("bot.ml", "Strategy.choose", "Engine.Strategy.choose")],
        moved: &[
            ("bot.ml", "bin/bot.ml"),
            ("strategy.ml", "engine/strategy.ml"),
        ],
        added: &[
            ("dune-project", "(lang dune 2.9)\n"),
            (
                "bin/dune",
                "(executable\n (name bot)\n (libraries engine))\n",
            ),
            ("engine/dune", "(library\n (name engine))\n"),
        ],
        strategy: ["strategy.ml", "(one cells"],
    },
];

/// Text by path.
type Files = BTreeMap<String, String>;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Layout {
    OneFile,
    TwoFiles,
    BuildFile,
    Package,
    Typo,
}

const LAYOUTS: [Layout; 5] = [
    Layout::OneFile,
    Layout::TwoFiles,
    Layout::BuildFile,
    Layout::Package,
    Layout::Typo,
];

/// What `referee new` writes for a language, or the folder beside this file.
fn starter(language: &Language) -> Result<Files, Failed> {
    let beside = Path::new(SOURCES)
        .join("tests/environment/layouts")
        .join(language.name);
    if beside.is_dir() {
        return files_of(&beside);
    }
    let place = tempfile::tempdir()?;
    let run = Referee::new(["new", language.name, "bot"])
        .directory(place.path())
        .run();
    if run.code != Some(0) {
        return Err(run.to_string().into());
    }
    files_of(&place.path().join("bot"))
}

fn files_of(folder: &Path) -> Result<Files, Failed> {
    let mut files = Files::new();
    let mut folders = vec![folder.to_owned()];
    while let Some(inside) = folders.pop() {
        for entry in fs::read_dir(inside)? {
            let path = entry?.path();
            if path.is_dir() {
                folders.push(path);
                continue;
            }
            let name = path.strip_prefix(folder)?.to_string_lossy().into_owned();
            files.insert(name, fs::read_to_string(path)?);
        }
    }
    Ok(files)
}

fn replace(files: &mut Files, file: &str, from: &str, to: &str) -> Result<(), Failed> {
    let text = files
        .get_mut(file)
        .ok_or_else(|| format!("there is no {file}"))?;
    if !text.contains(from) {
        return Err(format!("{file} has no {from}").into());
    }
    *text = text.replacen(from, to, 1);
    Ok(())
}

impl Layout {
    fn files(self, language: &Language) -> Result<Files, Failed> {
        if self == Self::OneFile {
            let name = language.one_file;
            let text = fs::read_to_string(Path::new(SOURCES).join("players").join(name))?;
            return Ok(Files::from([(name.to_owned(), text)]));
        }
        let mut files = starter(language)?;
        match self {
            Self::OneFile | Self::BuildFile => {}
            Self::TwoFiles => {
                files.remove(language.build_file);
                files.remove("dune");
            }
            Self::Package => {
                files.remove(language.build_file);
                files.remove("dune");
                for (file, from, to) in language.package {
                    replace(&mut files, file, from, to)?;
                }
                for (from, to) in language.moved {
                    let text = files.remove(*from).ok_or_else(|| format!("no {from}"))?;
                    files.insert((*to).to_owned(), text);
                }
                let added = language.added.iter();
                files.extend(added.map(|(file, text)| ((*file).to_owned(), (*text).to_owned())));
            }
            Self::Typo => {
                let [file, word] = language.strategy;
                let typo = format!("{}{TYPO}", if word.starts_with('(') { "(" } else { "" });
                replace(&mut files, file, word, &typo)?;
            }
        }
        Ok(files)
    }

    fn write(self, language: &Language, folder: &Path) -> Result<(), Failed> {
        for (name, text) in self.files(language)? {
            let path = folder.join(name);
            fs::create_dir_all(path.parent().unwrap_or(folder))?;
            fs::write(path, text)?;
        }
        Ok(())
    }
}

/// A command, and with which exit statuses it ends for a bot that plays: a finding of hunt is none about the folder.
struct Command {
    name: &'static str,
    /// `BOT` stands for the folder.
    line: &'static str,
    plays: &'static [i32],
}

const COMMANDS: [Command; 9] = [
    Command {
        name: "match",
        line: "BOT builtin:random --seed 1",
        plays: &[0],
    },
    Command {
        name: "check",
        line: "check BOT",
        plays: &[0],
    },
    Command {
        name: "debug",
        line: "debug BOT --start '................ -'",
        plays: &[0],
    },
    Command {
        name: "rerun",
        line: "rerun game.jsonl BOT --as 1",
        plays: &[3],
    },
    Command {
        name: "hunt",
        line: "hunt BOT --time 1s",
        plays: &[0, 3],
    },
    Command {
        name: "puzzles",
        line: "puzzles run two.jsonl BOT",
        plays: &[0],
    },
    Command {
        name: "compare",
        line: "compare BOT builtin:random --pairs 1",
        plays: &[4],
    },
    Command {
        name: "tournament",
        line: "tournament BOT builtin:random --pairs 1 --out cup",
        plays: &[0],
    },
    Command {
        name: "grade",
        line: "grade BOT --scale scale.toml --out grades",
        plays: &[0],
    },
];

/// One rung, of which it does not matter whether it is passed.
const SCALE: &str = "alpha = 0.05\nbeta = 0.05\nbudget = 1\nseed = 1\n\
    [[rung]]\nname = \"plays\"\nbot = \"builtin:random\"\nelo0 = -400\nelo1 = 0\npoints = 10\n";

/// What a person learns of the bot from a command.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Verdict {
    Plays,
    /// The typing error is named.
    Typo,
    Other(String),
}

fn verdict(command: &Command, run: &Run) -> Verdict {
    let names_typo = [&run.stdout, &run.stderr]
        .iter()
        .any(|text| text.contains(TYPO));
    let forfeits = [
        "forfeits (exited)",
        "cannot start",
        "cannot play",
        "does not enter",
    ];
    let is_fault = forfeits
        .iter()
        .any(|words| run.stdout.contains(words) || run.stderr.contains(words));
    match (names_typo, is_fault) {
        (true, _) => Verdict::Typo,
        (false, false) if run.code.is_some_and(|code| command.plays.contains(&code)) => {
            Verdict::Plays
        }
        _ => Verdict::Other(run.to_string()),
    }
}

/// The place that a command may write to; a second one finds what the first has built.
fn prepare(place: &Path) -> Result<(), Failed> {
    let set = fs::read_to_string(Path::new(SOURCES).join("puzzles/quarto.jsonl"))?;
    let two: Vec<&str> = set.lines().take(2).collect();
    fs::write(place.join("two.jsonl"), two.join("\n") + "\n")?;
    fs::write(place.join("scale.toml"), SCALE)?;
    let options = ["builtin:random", "builtin:random", "--seed", "1"];
    let run = Referee::new([&options[..], &["--record", "game.jsonl"]].concat())
        .directory(place)
        .run();
    if run.code == Some(0) {
        Ok(())
    } else {
        Err(run.to_string().into())
    }
}

fn every_command_sees_the_same_bot(language: &Language) -> Result<(), Failed> {
    let place = tempfile::tempdir()?;
    prepare(place.path())?;
    let cache = place.path().join("cache");
    let mut table = String::new();
    let mut wrong = String::new();
    for layout in LAYOUTS {
        let name = format!("{layout:?}").to_lowercase();
        let folder: PathBuf = place.path().join(&name);
        layout.write(language, &folder)?;
        let _ = write!(table, "{:<10} {name:<10}", language.name);
        for command in &COMMANDS {
            let words = shell_words::split(&command.line.replace("BOT", &name))?;
            let run = Referee::new(words)
                .env("XDG_CACHE_HOME", &cache)
                .directory(place.path())
                .run();
            for written in ["cup", "grades"] {
                let _ = fs::remove_dir_all(place.path().join(written));
            }
            let expected = if layout == Layout::Typo {
                Verdict::Typo
            } else {
                Verdict::Plays
            };
            let found = verdict(command, &run);
            let word = match &found {
                Verdict::Plays => "plays",
                Verdict::Typo => "typo",
                Verdict::Other(_) => "OTHER",
            };
            let _ = write!(table, " {}: {word}", command.name);
            if found != expected {
                let line = command.line;
                let _ = writeln!(wrong, "{} {name}: {line}\n{run}", language.name);
            }
        }
        table.push('\n');
    }
    print!("{table}");
    if wrong.is_empty() {
        Ok(())
    } else {
        Err(format!("{table}\n{wrong}").into())
    }
}

/// Two versions of a bot and the helper that both import, all in one folder: both see it, and it is no bot itself.
fn two_versions_share_a_helper() -> Result<(), Failed> {
    let place = tempfile::tempdir_in("/tmp")?;
    let referee = |words: &[&str]| {
        let referee = Referee::new(words).directory(place.path());
        referee.default_sandbox().run()
    };
    let new = referee(&["new", "python", "--with-helper", "v1.py"]);
    if new.code != Some(0) {
        return Err(new.to_string().into());
    }
    let text = fs::read_to_string(place.path().join("v1.py"))?;
    executable(
        &place.path().join("v2.py"),
        format!("{text}\n# Changed.\n"),
        0o755,
    );
    let checked = referee(&["check", "--each", "."]);
    let compared = referee(&[
        "compare", "v2.py", "v1.py", "--pairs", "1", "--all", "--seed", "1", "--json",
    ]);
    if checked.code != Some(0) || !checked.stdout.contains("2 of 2 ") {
        return Err(checked.to_string().into());
    }
    // Undecided after one pair.
    if compared.code != Some(4) {
        return Err(compared.to_string().into());
    }
    Ok(())
}

pub(crate) fn trials() -> Vec<Trial> {
    let trial = |language: &'static Language| {
        let name = format!(
            "layouts::every_command_sees_the_same_bot in {}",
            language.name
        );
        let [command, package] = language.needs;
        match program(command, &[]) {
            Some(_) => Trial::test(name, || every_command_sees_the_same_bot(language)),
            None => unavailable(name, command, package),
        }
    };
    let helper = "layouts::two_versions_share_a_helper";
    let helper = match program("python3", &[]) {
        Some(_) => Trial::test(helper, two_versions_share_a_helper),
        None => unavailable(helper.to_owned(), "python3", "python3"),
    };
    LANGUAGES.iter().map(trial).chain([helper]).collect()
}
