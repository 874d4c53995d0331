//! Which commands build which files.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashSet};
use std::fs;
use std::path::{Path, PathBuf};

use crate::bot::submission::{OWN, entries, own};
use crate::text::escape;

/// The program that a compiler or a Makefile made.
pub(super) const PROGRAM: &str = "referee-built-bot";

const KEPT: usize = 1 << 16;

/// Caches go to the scratch folder; nothing is fetched.
const SETTINGS: &str =
    "export CARGO_HOME=\"$TMPDIR/cargo\" CARGO_NET_OFFLINE=true DUNE_CACHE=disabled
export GOCACHE=\"$TMPDIR/cache\" GOPATH=\"$TMPDIR/go\" GOENV=off GOPROXY=off GOTOOLCHAIN=local
[ -d vendor ] || export GOFLAGS=-mod=mod
";

/// Takes the program called `bot` from `{made}`, or the only new one.
const FIND: &str = r#"
for made in {made}; do
  case "${made##*/}" in bot | bot.exe | bot.jar)
    if [ -f "$made" ]; then cp "$made" "$TMPDIR/out/bot"; exit 0; fi ;;
  esac
done
for made in {made}; do
  if [ -f "$made" ] && [ -x "$made" ] && [ "$made" -nt "$TMPDIR/start" ]; then
    if [ -e "$TMPDIR/out/bot" ]; then echo "there are several programs; call the right one bot"; exit 1; fi
    cp "$made" "$TMPDIR/out/bot"
  fi
done
if [ ! -e "$TMPDIR/out/bot" ]; then echo "there is no program afterwards; call it bot"; exit 1; fi
"#;

/// Compilers outside the system's folders that a Makefile or command may name.
const COMPILERS: &str = "cabal cargo clang clang++ cmake crystal dune ghc go java javac jar kotlinc ldc2 ninja nim node \
                         ocamlfind ocamlopt python3 runghc rustc swiftc zig";

/// What it is called, its files (`*` stands for any beginning), what builds it, the commands, and what they make.
type Project = (
    &'static str,
    &'static [&'static str],
    &'static [&'static str],
    &'static str,
    &'static str,
);

/// The first match counts: a Makefile may run the others.
#[rustfmt::skip]
const PROJECTS: [Project; 5] = [
    ("the Makefile", &["Makefile", "makefile", "GNUmakefile"], &["make"], "make", "./*"),
    ("the package of Cargo.toml", &["Cargo.toml"], &["cargo", "rustc", "cc"],
     "cargo build --quiet --release --offline --target-dir target", "target/release/* target/*/release/*"),
    ("the module of go.mod", &["go.mod"], &["go"],
     "mkdir \"$TMPDIR/made\"\ngo build -o \"$TMPDIR/made/\" ./...", "\"$TMPDIR\"/made/*"),
    ("the project of dune-project", &["dune-project"], &["dune", "ocamlopt"],
     "dune build --root . --profile release", "_build/default/*.exe _build/default/*/*.exe _build/default/*/*/*.exe"),
    // With Cabal, a part of GHC; the command `cabal` would need a package list from the network.
    ("the package of its .cabal file", &["*.cabal"], &["ghc", "runghc"],
     "[ -f Setup.hs ] || printf 'import Distribution.Simple\\nmain = defaultMain\\n' >Setup.hs\n\
      runghc Setup.hs configure -v0 --builddir=\"$TMPDIR/made\"\n\
      runghc Setup.hs build -v1 --builddir=\"$TMPDIR/made\"", "\"$TMPDIR\"/made/build/*/*"),
];

/// Its name, extensions, what builds it, and the commands: `{in}` are the sources, `{main}` is the main one.
type Language = (
    &'static str,
    &'static [&'static str],
    &'static [&'static str],
    &'static str,
);

const CPP: usize = 0;
const C: usize = 1;

/// C may be mixed with C++.
#[rustfmt::skip]
const LANGUAGES: [Language; 7] = [
    ("C++", &["cpp", "cc", "cxx"], &["g++"], "g++ -O2 -o \"$TMPDIR/out/bot\" {in} -lm -pthread"),
    ("C", &["c"], &["gcc"], "gcc -O2 -o \"$TMPDIR/out/bot\" {in} -lm -pthread"),
    ("Java", &["java"], &["javac", "jar"],
     "javac -d \"$TMPDIR/classes\" {in}\njar --create --file \"$TMPDIR/out/bot\" --main-class {main} -C \"$TMPDIR/classes\" ."),
    ("Rust", &["rs"], &["rustc", "cc"], "rustc -O --edition 2021 -o \"$TMPDIR/out/bot\" {main}"),
    ("Go", &["go"], &["go"], "go build -o \"$TMPDIR/out/bot\" {in}"),
    ("Haskell", &["hs"], &["ghc"], "ghc -O -outputdir \"$TMPDIR/classes\" -o \"$TMPDIR/out/bot\" {main}"),
    ("OCaml", &["ml"], &["ocamlopt", "ocamldep"],
     "ocamlopt -I +unix -I +str -o \"$TMPDIR/out/bot\" unix.cmxa str.cmxa $(ocamldep -sort {in})"),
];

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Recipe {
    pub(super) what: String,
    pub(super) needs: Vec<String>,
    /// Compilers named by its commands; optional.
    pub(super) names: Vec<String>,
    /// For a shell; they leave the program in `$TMPDIR/out/bot`.
    commands: String,
}

impl Recipe {
    fn new(what: &str, needs: &[&str], commands: String) -> Self {
        Self {
            what: what.to_owned(),
            needs: needs.iter().map(|&need| need.to_owned()).collect(),
            names: Vec::new(),
            commands,
        }
    }

    fn naming(mut self, text: &str) -> Self {
        let is_part = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '.' | '+');
        let words: HashSet<&str> = text.split(|c| !is_part(c)).collect();
        let named = COMPILERS.split(' ').filter(|name| words.contains(name));
        self.names = named.map(str::to_owned).collect();
        self
    }

    /// Run in the folder of the files, which it does not change. Writes all files to standard output afterwards, as a
    /// tar archive, or on failure the beginning of the commands' output.
    pub(super) fn script(&self) -> String {
        format!(
            "mkdir \"$TMPDIR/build\" \"$TMPDIR/out\" \"$TMPDIR/classes\" && cp -R . \"$TMPDIR/build\" && \
             cd \"$TMPDIR/build\" && chmod -R u+w . && : >\"$TMPDIR/start\" && find . -type f >\"$TMPDIR/files\" || exit 2\n\
             if sh -ec {} >\"$TMPDIR/log\" 2>&1 </dev/null; then\n\
             if [ -e \"$TMPDIR/out/bot\" ]; then rm -rf target _build; cp \"$TMPDIR/out/bot\" {PROGRAM}; fi\n\
             exec tar -cf - .; fi\n\
             head -c {KEPT} \"$TMPDIR/log\"\nexit 1\n",
            shell_words::quote(&format!("{SETTINGS}{}", self.commands))
        )
    }
}

/// `None`: nothing to build. The error says what is wrong.
pub(super) fn of(folder: &Path) -> Result<Option<Recipe>, String> {
    if let Some(own) = own(folder)? {
        let Some(build) = own.build else {
            return Ok(None);
        };
        let made = shell_words::quote(&own.program).into_owned();
        // The command may leave the shell in another folder.
        let commands = format!(
            "( {build}\n)\nif [ ! -e {made} ]; then\n\
             new=$(find . -type f | grep -vxF -f \"$TMPDIR/files\" | head -n 5)\n\
             echo {made} is not there afterwards\"${{new:+; these were made: }}\"$new\n\
             exit 1; fi"
        );
        let recipe = Recipe::new(OWN, &["sh"], commands);
        return Ok(Some(recipe.naming(&build)));
    }
    let mut files = entries(folder).unwrap_or_default();
    files.retain(|path| path.is_file());
    let has = |file: &str| {
        let is = |path: &PathBuf| match file.strip_prefix('*') {
            Some(ending) => name(path).ends_with(ending),
            None => name(path) == file,
        };
        files.iter().any(is)
    };
    for (what, files, needs, commands, made) in PROJECTS {
        if let Some(file) = files.iter().find(|file| has(file)) {
            let commands = format!("{commands}{}", FIND.replace("{made}", made));
            let text = fs::read(folder.join(file)).unwrap_or_default();
            let recipe = Recipe::new(what, needs, commands);
            return Ok(Some(recipe.naming(&String::from_utf8_lossy(&text))));
        }
    }
    for folder in [folder.to_owned(), folder.join("src")] {
        if let Some(recipe) = of_sources(&folder)? {
            return Ok(Some(recipe));
        }
    }
    Ok(None)
}

/// Whether a program is a source to compile although an interpreter could run it. Scripts begin with `#!` or have
/// the interpreter's directives.
pub(super) fn is_source(program: &Path) -> bool {
    let ending = program.extension().and_then(|ending| ending.to_str());
    let is_compiled = |ending| {
        LANGUAGES
            .iter()
            .any(|(_, endings, ..)| endings.contains(&ending))
    };
    if !ending.is_some_and(is_compiled) {
        return false;
    }
    let text = fs::read(program).unwrap_or_default();
    let directive = |line: &[u8]| ending == Some("ml") && line.starts_with(b"#");
    !text.starts_with(b"#!") && !text.split(|&byte| byte == b'\n').any(directive)
}

fn of_sources(folder: &Path) -> Result<Option<Recipe>, String> {
    let mut found: BTreeMap<usize, Vec<PathBuf>> = BTreeMap::new();
    for path in entries(folder).unwrap_or_default() {
        let ending = path.extension().and_then(|ending| ending.to_str());
        let is_of = |(_, endings, ..): &Language| ending.is_some_and(|own| endings.contains(&own));
        if let Some(language) = LANGUAGES.iter().position(is_of)
            && path.is_file()
            && !path.to_string_lossy().ends_with("_test.go")
        {
            found.entry(language).or_default().push(path);
        }
    }
    if found.contains_key(&CPP)
        && let Some(sources) = found.remove(&C)
    {
        found.entry(CPP).or_default().extend(sources);
    }
    let mut found = found
        .iter()
        .map(|(&place, sources)| (LANGUAGES[place], sources));
    let Some(((language, _, needs, commands), sources)) = found.next() else {
        return Ok(None);
    };
    if let Some(((other, ..), _)) = found.next() {
        return Err(format!(
            "there are sources of {language} and {other}; leave one of them, or add a Makefile"
        ));
    }
    let quoted = |path: &PathBuf| shell_words::quote(&format!("./{}", name(path))).into_owned();
    let Some(main) = main_of(sources) else {
        return Ok(None);
    };
    let main = match language {
        "Java" => java_class(main),
        _ => quoted(main),
    };
    let all: Vec<String> = sources.iter().map(quoted).collect();
    let commands = commands
        .replace("{in}", &all.join(" "))
        .replace("{main}", &main);
    let entering = if folder.ends_with("src") {
        "cd src\n"
    } else {
        ""
    };
    let commands = format!("{entering}{commands}");
    let what = match &sources[..] {
        [only] => escape(name(only).as_bytes()),
        _ => format!("its {language}"),
    };
    Ok(Some(Recipe::new(&what, needs, commands)))
}

fn name(path: &Path) -> Cow<'_, str> {
    path.file_name().unwrap_or_default().to_string_lossy()
}

const MAIN: &str = "void main(, int main(, fn main(, func main(, main ::, main =";

/// The only source, one called so, or the first with a main function.
fn main_of(sources: &[PathBuf]) -> Option<&PathBuf> {
    if let [only] = sources {
        return Some(only);
    }
    let is_called = |path: &&PathBuf| {
        let stem = path.file_stem().unwrap_or_default();
        stem.eq_ignore_ascii_case("main")
    };
    let has_main = |path: &&PathBuf| {
        let text = fs::read(path).unwrap_or_default();
        let text = String::from_utf8_lossy(&text);
        MAIN.split(", ").any(|mark| text.contains(mark))
    };
    let called = sources.iter().find(is_called);
    let called = called.or_else(|| sources.iter().find(has_main));
    called.or(sources.first())
}

fn java_class(path: &Path) -> String {
    let text = fs::read(path).unwrap_or_default();
    let text = String::from_utf8_lossy(&text);
    let class = path.file_stem().unwrap_or_default().to_string_lossy();
    let mut lines = text.lines();
    let package = lines.find_map(|line| line.trim().strip_prefix("package "));
    let class = match package.and_then(|rest| rest.split(';').next()) {
        Some(package) => format!("{}.{class}", package.trim()).into(),
        None => class,
    };
    shell_words::quote(&class).into_owned()
}
