mod folders;

use std::ffi::OsStr;
use std::fs::{self, OpenOptions};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use crate::cli::support::failure::{Result, bail};
use crate::cli::support::output::Stdout;
use crate::cli::support::setup::{unreadable, unwritable, wrong_at};
use crate::cli::support::values::hint;
use referee::bot::shell;
use referee::system::create_executable;
use referee::text::quote;

use self::folders::{FOLDERS, FolderStarter};

struct Starter {
    language: &'static str,
    file: &'static str,
    text: &'static str,
    /// With `FILE` and `BOT` for the two paths; empty when it runs uncompiled.
    compile: &'static str,
}

macro_rules! starter {
    ($language:literal, $file:literal, $compile:literal) => {
        starter!($language, "players/", $file, $compile)
    };
    ($language:literal, $folder:literal, $file:literal, $compile:literal) => {
        Starter {
            language: $language,
            file: $file,
            text: include_str!(concat!("../../../../", $folder, $file)),
            compile: $compile,
        }
    };
}

const STARTERS: &[Starter] = &[
    starter!("c", "random.c", "cc -O2 -o BOT FILE"),
    starter!("c++", "random.cpp", "c++ -O2 -o BOT FILE"),
    starter!("common-lisp", "random.lisp", ""),
    starter!("go", "random.go", "go build -o BOT FILE"),
    starter!("guile", "random.scm", ""),
    starter!("haskell", "random.hs", "ghc -O -o BOT FILE"),
    starter!("java", "Random.java", ""),
    starter!("javascript", "random.js", ""),
    starter!("lua", "random.lua", ""),
    starter!("ocaml", "random.ml", ""),
    starter!("perl", "random.pl", ""),
    starter!("php", "random.php", ""),
    starter!("prolog", "random.pro", ""),
    starter!("python", "random.py", ""),
    starter!("ruby", "random.rb", ""),
    starter!("rust", "random.rs", "rustc -O -o BOT FILE"),
    starter!("sh", "random.sh", ""),
    starter!("tcl", "random.tcl", ""),
];

const GAMES: &[Starter] = &[
    starter!("c", "games/", "tic-tac-toe.c", "cc -O2 -o BOT FILE"),
    starter!("javascript", "games/", "tic-tac-toe.js", ""),
    starter!("python", "games/", "tic-tac-toe.py", ""),
];

const HELPER: &str = "referee_bot.py";

const HELPER_TEXT: &str = include_str!("../../../../players/helper/referee_bot.py");

const WITH_HELPER: Starter = starter!("python", "players/helper/", "first.py", "");

#[derive(Debug, clap::Args)]
pub(crate) struct BotArgs {
    #[command(flatten)]
    args: Args,

    /// Write a shorter bot, and beside it `referee_bot.py`: the loop, the pieces and the rules (Python)
    #[arg(long)]
    with_helper: bool,
}

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// The language; without it, the languages are listed
    language: Option<String>,

    /// Where to write it [default: mybot or mygame with the language's extension]. In C, C++, Go, Java, JavaScript, Python,
    /// Rust and TypeScript a name without an extension is a folder: a bot of several files
    file: Option<PathBuf>,
}

pub(crate) fn bot(args: &BotArgs) -> Result<()> {
    let commands = ["referee -v BOT builtin:greedy", "referee check BOT"];
    if !args.with_helper {
        if let Some((starter, folder)) = folder_starter(&args.args)? {
            return starter.write(folder);
        }
        let folders = FOLDERS.iter().map(|starter| starter.language);
        let folders: Vec<&str> = folders.filter(|language| !has_file(language)).collect();
        return run(&args.args, (STARTERS, &folders), "bot", commands);
    }
    let file = args.args.file.as_deref().unwrap_or(Path::new("mybot.py"));
    if file.file_stem() == Some(OsStr::new("random")) {
        bail!(
            "{} would hide Python's module `random` from {HELPER}; give another name",
            file.display()
        );
    }
    run(&args.args, (&[WITH_HELPER], &[]), "bot", commands)?;
    let helper = file.with_file_name(HELPER);
    // It may lie there for another bot.
    if fs::read(&helper).is_ok_and(|text| text == HELPER_TEXT.as_bytes()) {
        return Ok(());
    }
    write_new(&helper, HELPER_TEXT)?;
    writeln!(Stdout, "wrote {}", helper.display())?;
    Ok(())
}

/// Whether there is a starter of one file in this language.
fn has_file(language: &str) -> bool {
    STARTERS.iter().any(|starter| starter.language == language)
}

/// Where a folder is named, or the language has no other starter, and there is one of several files in it.
fn folder_starter(args: &Args) -> Result<Option<(&'static FolderStarter, &Path)>> {
    // The language may have been named by its extension.
    let language = args.language.as_deref().unwrap_or_default().to_lowercase();
    let is_it =
        |starter: &&FolderStarter| [starter.language, starter.extension].contains(&&*language);
    let Some(starter) = FOLDERS.iter().find(is_it) else {
        return Ok(None);
    };
    let has_file = has_file(starter.language);
    Ok(match args.file.as_deref() {
        Some(folder) if folder.extension().is_none() || folder.is_dir() => Some((starter, folder)),
        Some(file) if !has_file => bail!(
            "{}: a bot in {} is a folder; give a name without an extension: {}",
            file.display(),
            starter.language,
            shell::quoted(&file.with_extension("").to_string_lossy())
        ),
        None if !has_file => Some((starter, Path::new("mybot"))),
        Some(_) | None => None,
    })
}

pub(crate) fn game(args: &Args) -> Result<()> {
    let commands = [
        "referee -v --game BOT human builtin:random",
        "referee game check BOT",
    ];
    run(args, (GAMES, &[]), "game", commands)
}

/// `folders`: languages of which there is a starter of several files alone.
fn run(
    args: &Args,
    (starters, folders): (&[Starter], &[&str]),
    kind: &str,
    commands: [&str; 2],
) -> Result<()> {
    let mut out = Stdout;
    let Some(language) = &args.language else {
        for starter in starters {
            writeln!(out, "{}", starter.language)?;
        }
        for language in folders {
            writeln!(out, "{language} (a folder)")?;
        }
        return Ok(());
    };
    let wanted = language.to_lowercase();
    let is_it = |starter: &&Starter| starter.language == wanted || ending(starter) == wanted;
    let Some(starter) = starters.iter().find(is_it) else {
        let known = starters.iter().map(|starter| starter.language);
        let known: Vec<&str> = known.chain(folders.iter().copied()).collect();
        let fix = hint(language, &known, "expected ");
        bail!(
            "there is no starter {kind} in {}; {fix}",
            quote(language.as_bytes())
        );
    };
    let file = match &args.file {
        Some(file) => with_ending(file, starter),
        // A Java class has a capital letter, and its file the same name.
        None if starter.language == "java" => PathBuf::from("MyBot.java"),
        None => PathBuf::from(format!("my{kind}.{}", ending(starter))),
    };
    write_new(&file, &text_for(starter, &file))?;
    writeln!(out, "wrote {}", file.display())?;
    let file = file.to_string_lossy();
    let mut program = shown(&file);
    if !starter.compile.is_empty() {
        // Windows needs an extension.
        let ending = if cfg!(windows) { "exe" } else { "out" };
        let compile = starter.compile.replace("FILE", &program);
        program = shown(&format!("{file}.{ending}"));
        writeln!(out, "compile it: {}", compile.replace("BOT", &program))?;
    }
    let [play, check] = commands.map(|command| command.replace("BOT", &program));
    writeln!(out, "play:       {play}")?;
    writeln!(out, "check it:   {check}")?;
    Ok(())
}

fn shown(file: &str) -> String {
    let shown = shell::quoted(file).into_owned();
    if cfg!(windows) || shown.contains('/') {
        shown
    } else {
        format!("./{shown}")
    }
}

fn ending(starter: &Starter) -> &'static str {
    starter.file.rsplit('.').next().unwrap_or("")
}

fn with_ending(file: &Path, starter: &Starter) -> PathBuf {
    if file.extension().is_some() || starter.text.starts_with("#!") {
        return file.to_owned();
    }
    file.with_extension(ending(starter))
}

const HIDES_RANDOM: &str = "
# Python looks for modules beside the script first, and would find this very file
# when it is asked for `random`.
del sys.path[0]

";

fn text_for(starter: &Starter, file: &Path) -> String {
    let name = |part: Option<&OsStr>| part.unwrap_or_default().to_string_lossy().into_owned();
    let (file, stem) = (name(file.file_name()), name(file.file_stem()));
    // The document is not beside the new bot.
    let mut text = starter.text.replace(
        "; see ../protocol.md",
        &format!(": `referee check {file}` tries them"),
    );
    if stem != "random" {
        // Only a file of this name hides Python's own module.
        text = text.replace(HIDES_RANDOM, "");
    }
    if !starter.compile.is_empty() {
        text = text.replace(
            &format!("random-{}", ending(starter)),
            &format!("{file}.out"),
        );
    }
    if starter.language != "java" {
        return text.replace(starter.file, &file);
    }
    // The class is called as its file, and another class of Java as the starter's.
    let [name, other] = ["\u{1}", "\u{2}"];
    text.replace(starter.file, name)
        .replace("java.util.Random", other)
        .replace("Random", &class_name(&stem))
        .replace(other, "java.util.Random")
        .replace(name, &file)
}

fn class_name(stem: &str) -> String {
    let is_word = |c: &char| c.is_ascii_alphanumeric() || *c == '_';
    let name: String = stem.chars().filter(is_word).collect();
    if name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_') {
        name
    } else {
        format!("Bot{name}")
    }
}

/// Never overwrites a file.
fn write_new(file: &Path, text: &str) -> Result<()> {
    let script = text.starts_with("#!");
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    create_executable(&mut options, script);
    let exists = "the file exists already and was not changed; give another name";
    let mut target = options.open(file).map_err(|error| match error.kind() {
        io::ErrorKind::AlreadyExists => wrong_at(file, exists),
        _ => unreadable(file, &error),
    })?;
    target.write_all(text.as_bytes()).map_err(|error| {
        // It would block the next attempt.
        let _ = fs::remove_file(file);
        unwritable(file, &error)
    })
}
