//! Which commands build which files.

use std::collections::{BTreeMap, HashSet};
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};

use crate::bot::submission::{OWN, entries, own};
use crate::text::escape;

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
const COMPILERS: [&str; 24] = [
    "cabal",
    "cargo",
    "clang",
    "clang++",
    "cmake",
    "crystal",
    "dune",
    "ghc",
    "go",
    "java",
    "javac",
    "jar",
    "kotlinc",
    "ldc2",
    "ninja",
    "nim",
    "node",
    "ocamlfind",
    "ocamlopt",
    "python3",
    "runghc",
    "rustc",
    "swiftc",
    "zig",
];

struct Project {
    /// `*` stands for any beginning.
    files: &'static [&'static str],
    what: &'static str,
    needs: &'static [&'static str],
    commands: &'static str,
    made: &'static str,
}

/// The first match counts: a Makefile may run the others.
const PROJECTS: [Project; 5] = [
    Project {
        files: &["Makefile", "makefile", "GNUmakefile"],
        what: "the Makefile",
        needs: &["make"],
        commands: "make",
        made: "./*",
    },
    Project {
        files: &["Cargo.toml"],
        what: "the package of Cargo.toml",
        needs: &["cargo", "rustc", "cc"],
        commands: "cargo build --quiet --release --offline --target-dir target",
        made: "target/release/* target/*/release/*",
    },
    Project {
        files: &["go.mod"],
        what: "the module of go.mod",
        needs: &["go"],
        commands: "mkdir \"$TMPDIR/made\"\ngo build -o \"$TMPDIR/made/\" ./...",
        made: "\"$TMPDIR\"/made/*",
    },
    Project {
        files: &["dune-project"],
        what: "the project of dune-project",
        needs: &["dune", "ocamlopt"],
        commands: "dune build --root . --profile release",
        made: "_build/default/*.exe _build/default/*/*.exe _build/default/*/*/*.exe",
    },
    // With Cabal, a part of GHC; the command `cabal` would need a package list from the network.
    Project {
        files: &["*.cabal"],
        what: "the package of its .cabal file",
        needs: &["ghc", "runghc"],
        commands: "[ -f Setup.hs ] || printf 'import Distribution.Simple\\nmain = defaultMain\\n' >Setup.hs\n\
                   runghc Setup.hs configure -v0 --builddir=\"$TMPDIR/made\"\n\
                   runghc Setup.hs build -v1 --builddir=\"$TMPDIR/made\"",
        made: "\"$TMPDIR\"/made/build/*/*",
    },
];

struct Language {
    name: &'static str,
    endings: &'static [&'static str],
    needs: &'static [&'static str],
    /// `{in}`: the sources; `{main}`: the main one.
    commands: &'static str,
}

/// Places in [`LANGUAGES`].
const CPP: usize = 0;
const C: usize = 1;

/// Mixed sources are built as C++.
const LANGUAGES: [Language; 7] = [
    Language {
        name: "C++",
        endings: &["cpp", "cc", "cxx", "c"],
        needs: &["g++"],
        commands: "g++ -O2 -o \"$TMPDIR/out/bot\" {in} -lm -pthread",
    },
    Language {
        name: "C",
        endings: &["c"],
        needs: &["gcc"],
        commands: "gcc -O2 -o \"$TMPDIR/out/bot\" {in} -lm -pthread",
    },
    Language {
        name: "Java",
        endings: &["java"],
        needs: &["javac", "jar"],
        commands: "javac -d \"$TMPDIR/classes\" {in}\njar --create --file \"$TMPDIR/out/bot\" --main-class {main} -C \"$TMPDIR/classes\" .",
    },
    Language {
        name: "Rust",
        endings: &["rs"],
        needs: &["rustc", "cc"],
        commands: "rustc -O --edition 2021 -o \"$TMPDIR/out/bot\" {main}",
    },
    Language {
        name: "Go",
        endings: &["go"],
        needs: &["go"],
        commands: "go build -o \"$TMPDIR/out/bot\" {in}",
    },
    Language {
        name: "Haskell",
        endings: &["hs"],
        needs: &["ghc"],
        commands: "ghc -O -outputdir \"$TMPDIR/classes\" -o \"$TMPDIR/out/bot\" {main}",
    },
    Language {
        name: "OCaml",
        endings: &["ml"],
        needs: &["ocamlopt", "ocamldep"],
        commands: "ocamlopt -I +unix -I +str -o \"$TMPDIR/out/bot\" unix.cmxa str.cmxa $(ocamldep -sort {in})",
    },
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

    /// Adds the compilers named in this text.
    fn naming(mut self, text: &str) -> Self {
        let is_part = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '.' | '+');
        let words: HashSet<&str> = text.split(|c| !is_part(c)).collect();
        let named = COMPILERS.iter().filter(|name| words.contains(*name));
        self.names = named.map(|&name| name.to_owned()).collect();
        self
    }

    /// Run in the folder of the files, which it does not change. Writes the program to standard output, or on
    /// failure the beginning of the commands' output.
    pub(super) fn script(&self) -> String {
        format!(
            "mkdir \"$TMPDIR/build\" \"$TMPDIR/out\" \"$TMPDIR/classes\" && cp -R . \"$TMPDIR/build\" && \
             cd \"$TMPDIR/build\" && chmod -R u+w . && : >\"$TMPDIR/start\" || exit 2\n\
             if sh -ec {} >\"$TMPDIR/log\" 2>&1 </dev/null; then exec cat \"$TMPDIR/out/bot\"; fi\n\
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
        // The command may leave it in another folder.
        let commands = format!("( {build}\n)\ncp -- {made} \"$TMPDIR/out/bot\"");
        let recipe = Recipe::new(OWN, &["sh"], commands);
        return Ok(Some(recipe.naming(&build)));
    }
    let files = entries(folder).unwrap_or_default();
    let name = |path: &PathBuf| path.file_name().unwrap_or_default().to_owned();
    let names: Vec<_> = files
        .iter()
        .filter(|path| path.is_file())
        .map(name)
        .collect();
    let has = |file: &str| {
        let is = |name: &OsString| match file.strip_prefix('*') {
            Some(ending) => name.to_string_lossy().ends_with(ending),
            None => name == file,
        };
        names.iter().any(is)
    };
    for project in &PROJECTS {
        let Some(file) = project.files.iter().find(|file| has(file)) else {
            continue;
        };
        let commands = format!(
            "{}{}",
            project.commands,
            FIND.replace("{made}", project.made)
        );
        let text = fs::read(folder.join(file)).unwrap_or_default();
        let recipe = Recipe::new(project.what, project.needs, commands);
        return Ok(Some(recipe.naming(&String::from_utf8_lossy(&text))));
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
        let mut languages = LANGUAGES.iter();
        languages.any(|language| language.endings.contains(&ending))
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
        let is_of = |language: &Language| ending.is_some_and(|own| language.endings.contains(&own));
        let is_test = path.to_string_lossy().ends_with("_test.go");
        if let Some(language) = LANGUAGES.iter().position(is_of)
            && path.is_file()
            && !is_test
        {
            found.entry(language).or_default().push(path);
        }
    }
    let is_c = |path: &PathBuf| path.extension().is_some_and(|ending| ending == "c");
    if found
        .get(&CPP)
        .is_some_and(|sources| sources.iter().all(is_c))
        && let Some(sources) = found.remove(&CPP)
    {
        found.insert(C, sources);
    }
    let mut found = found
        .iter()
        .map(|(&place, sources)| (&LANGUAGES[place], sources));
    let Some((language, sources)) = found.next() else {
        return Ok(None);
    };
    if let Some((other, _)) = found.next() {
        return Err(format!(
            "there are sources of {} and {}; leave one of them, or add a Makefile",
            language.name, other.name
        ));
    }
    let name = |path: &Path| {
        path.file_name()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned()
    };
    let quoted = |path: &Path| shell_words::quote(&format!("./{}", name(path))).into_owned();
    let Some(main) = main_of(sources) else {
        return Ok(None);
    };
    let main = match language.name {
        "Java" => java_class(main),
        _ => quoted(main),
    };
    let all: Vec<String> = sources.iter().map(|path| quoted(path)).collect();
    let commands = language
        .commands
        .replace("{in}", &all.join(" "))
        .replace("{main}", &main);
    let commands = if folder.ends_with("src") {
        format!("cd src\n{commands}")
    } else {
        commands
    };
    let what = match &sources[..] {
        [only] => escape(name(only).as_bytes()),
        _ => format!("its {}", language.name),
    };
    Ok(Some(Recipe::new(&what, language.needs, commands)))
}

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
        let marks = [
            "void main(",
            "fn main(",
            "main ::",
            "main =",
            "int main(",
            "func main(",
        ];
        marks.iter().any(|mark| text.contains(mark))
    };
    let called = sources.iter().find(is_called);
    called
        .or_else(|| sources.iter().find(has_main))
        .or(sources.first())
}

fn java_class(path: &Path) -> String {
    let text = fs::read(path).unwrap_or_default();
    let text = String::from_utf8_lossy(&text);
    let class = path
        .file_stem()
        .unwrap_or_default()
        .to_string_lossy()
        .into_owned();
    let package = text
        .lines()
        .find_map(|line| line.trim().strip_prefix("package "));
    let class = match package.and_then(|rest| rest.split(';').next()) {
        Some(package) => format!("{}.{class}", package.trim()),
        None => class,
    };
    shell_words::quote(&class).into_owned()
}
