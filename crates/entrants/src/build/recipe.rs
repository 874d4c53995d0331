//! Which commands build which files.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashSet};
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};

use crate::folder::{
    BOT_NAMES, FolderProblem, MANIFEST, Manifest, entries, has_stem, names_of_bot,
};
use referee_text::escape;

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
if [ ! -e "$TMPDIR/out/bot" ]; then echo "there is no program afterwards; call it bot, or name it in a file referee.toml"; exit 1; fi
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

/// Files by which Maven and Gradle build, and what they are called. Their sources are compiled without them: neither
/// builds without a network unless it has built the same before.
const JAVA_PROJECTS: [(&str, &str); 3] = [
    ("pom.xml", "the sources of pom.xml"),
    ("build.gradle", "the sources of build.gradle"),
    ("build.gradle.kts", "the sources of build.gradle.kts"),
];

/// Where both have them.
const JAVA_SOURCES: &str = "src/main/java";

/// `{main}` is the class, `{encoding}` that of the sources.
const JAVA_PROJECT: &str = "\
find src/main/java -name '*.java' -exec javac -encoding {encoding} -d \"$TMPDIR/classes\" {} +
[ ! -d src/main/resources ] || cp -R src/main/resources/. \"$TMPDIR/classes\"
jar --create --file \"$TMPDIR/out/bot\" --main-class {main} -C \"$TMPDIR/classes\" .";

/// Folders in one another below the sources of a project in Java: names of packages have fewer parts.
const DEEPEST: usize = 32;

/// Its name, extensions, what builds it, and the commands: `{in}` are the sources, `{main}` is the main one, `{encoding}` theirs.
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
     "javac -encoding {encoding} -d \"$TMPDIR/classes\" {in}\njar --create --file \"$TMPDIR/out/bot\" --main-class {main} -C \"$TMPDIR/classes\" ."),
    ("Rust", &["rs"], &["rustc", "cc"], "rustc -O --edition 2021 -o \"$TMPDIR/out/bot\" {main}"),
    ("Go", &["go"], &["go"], "go build -o \"$TMPDIR/out/bot\" {in}"),
    ("Haskell", &["hs"], &["ghc"], "ghc -O -outputdir \"$TMPDIR/classes\" -o \"$TMPDIR/out/bot\" {main}"),
    ("OCaml", &["ml"], &["ocamlopt", "ocamldep"],
     "ocamlopt -I +unix -I +str -o \"$TMPDIR/out/bot\" unix.cmxa str.cmxa $(ocamldep -sort {in})"),
];

/// How sources are built.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Recipe {
    /// What is built, in words: `the Makefile`, `bot.c`.
    pub what: String,
    /// Commands without which it cannot be built.
    pub needs: Vec<String>,
    /// Whether its main source is called `main`, `bot` or as the folder, and no other source could be a program.
    pub(crate) is_named: bool,
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
            is_named: false,
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

    /// The command of a manifest; `None` where it says that nothing is built.
    pub(crate) fn of_manifest(manifest: &Manifest) -> Option<Self> {
        let build = manifest.build.as_ref()?;
        let made = shell_words::quote(&manifest.program).into_owned();
        // The command may leave the shell in another folder.
        let commands = format!(
            "( {build}\n)\nif [ ! -e {made} ]; then\n\
             new=$(find . -type f | grep -vxF -f \"$TMPDIR/files\" | head -n 5)\n\
             echo {made} is not there afterwards\"${{new:+; these were made: }}\"$new\n\
             exit 1; fi"
        );
        Some(Self::new(MANIFEST, &["sh"], commands).naming(build))
    }

    /// That of the build file among the entries of a folder, if there is one.
    pub(crate) fn of_build_file(
        folder: &Path,
        entries: &[PathBuf],
    ) -> Result<Option<Self>, FolderProblem> {
        let is = |file: &str, path: &PathBuf| match file.strip_prefix('*') {
            Some(extension) => name(path).ends_with(extension),
            None => name(path) == file,
        };
        let found = |file: &str| entries.iter().find(|path| is(file, path) && path.is_file());
        let recipe = PROJECTS
            .iter()
            .find_map(|(what, files, needs, commands, made)| {
                let file = files.iter().find_map(|file| found(file))?;
                let commands = format!("{commands}{}", FIND.replace("{made}", made));
                let text = fs::read(folder.join(file)).unwrap_or_default();
                Some(Self::new(what, needs, commands).naming(&String::from_utf8_lossy(&text)))
            });
        match recipe {
            None => Self::of_java_project(folder, entries),
            recipe => Ok(recipe),
        }
    }

    /// That of a folder whose sources lie as Maven and Gradle have them, if it is one.
    fn of_java_project(folder: &Path, entries: &[PathBuf]) -> Result<Option<Self>, FolderProblem> {
        let found = JAVA_PROJECTS.iter().find_map(|&(file, what)| {
            let file = entries.iter().find(|path| name(path) == file);
            Some((file.filter(|file| file.is_file())?, what))
        });
        let Some((file, what)) = found else {
            return Ok(None);
        };
        let text = fs::read(file).unwrap_or_default();
        Self::of_java_tree(folder, what, main_class(&String::from_utf8_lossy(&text)))
    }

    /// That of the sources in `src/main/java`, if there are any: those of `src/test` are none of the bot. `class` is the one
    /// that a build file names.
    fn of_java_tree(
        folder: &Path,
        what: &str,
        class: Option<String>,
    ) -> Result<Option<Self>, FolderProblem> {
        let sources = java_below(&folder.join(JAVA_SOURCES), DEEPEST);
        if sources.is_empty() {
            return Ok(None);
        }
        let class = match class {
            Some(class) => class,
            None => main_of(&sources)?.map_or_else(String::new, |main| java_class(main)),
        };
        let commands = JAVA_PROJECT
            .replace("{encoding}", encoding(&sources))
            .replace("{main}", &class);
        Ok(Some(Self::new(what, &["javac", "jar"], commands)))
    }

    /// That of the sources in a folder, in its folder `src`, or in `src/main/java`; `None` where there are none.
    pub(crate) fn of_sources(folder: &Path) -> Result<Option<Self>, FolderProblem> {
        for place in [folder.to_owned(), folder.join("src")] {
            let files = entries(&place).unwrap_or_default();
            if let Some(recipe) = Self::of_files(&files, folder, place.ends_with("src"), None)? {
                return Ok(Some(recipe));
            }
        }
        Self::of_java_tree(folder, "the sources in src/main/java", None)
    }

    /// That of one source, in its folder; `None` for what is not compiled here.
    pub(crate) fn of_file(file: &Path) -> Option<Self> {
        let folder = file.parent().unwrap_or(file);
        Self::of_files(&[file.to_owned()], folder, false, None)
            .ok()
            .flatten()
    }

    /// That of the sources in a folder, or in its `src`, of which the manifest says which is the main one; `None` where it is
    /// none that is compiled.
    pub(crate) fn of_program(
        folder: &Path,
        manifest: &Manifest,
    ) -> Result<Option<Self>, FolderProblem> {
        let program: PathBuf = folder.join(&manifest.program).components().collect();
        let is_in_src = program.parent() == Some(&*folder.join("src"));
        let is_beside = is_in_src || program.parent() == Some(folder);
        if !is_beside || !program.is_file() || !is_source(&program) {
            return Ok(None);
        }
        let mut files = entries(program.parent().unwrap_or(folder)).unwrap_or_default();
        // A name such as `_bot.c` is left out elsewhere.
        if !files.contains(&program) {
            files.push(program.clone());
        }
        Self::of_files(&files, folder, is_in_src, Some(&program))
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

/// Whether a program is a source to compile although an interpreter could run it. Scripts begin with `#!` or have
/// the interpreter's directives.
pub(crate) fn is_source(program: &Path) -> bool {
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

impl Recipe {
    /// `folder` is the bot's, and may give its name to the main source, unless that is `given`: then sources of other languages
    /// are none of the bot.
    fn of_files(
        files: &[PathBuf],
        folder: &Path,
        is_in_src: bool,
        given: Option<&PathBuf>,
    ) -> Result<Option<Self>, FolderProblem> {
        let mut found = by_language(files);
        if let Some(given) = given {
            found.retain(|_, sources| sources.contains(given));
        }
        let mut found = found
            .iter()
            .map(|(&place, sources)| (LANGUAGES[place], sources));
        let Some(((language, _, needs, commands), sources)) = found.next() else {
            return Ok(None);
        };
        if let Some(((other, ..), _)) = found.next() {
            return Err(FolderProblem::SeveralLanguages(language, other));
        }
        let quoted = |path: &PathBuf| shell_words::quote(&format!("./{}", name(path))).into_owned();
        let main = match given {
            Some(given) => Some(given),
            None => main_of(sources)?,
        };
        let Some(main) = main else {
            return Ok(None);
        };
        // Each class in Java may have a main function, of which one counts; all other sources are linked.
        let is_other =
            |source: &&PathBuf| language != "Java" && *source != main && has_main(source);
        let linked = sources.iter().filter(|source| !is_other(source));
        let all: Vec<String> = linked.map(quoted).collect();
        let main = match language {
            "Java" => java_class(main),
            _ => quoted(main),
        };
        let commands = commands
            .replace("{encoding}", encoding(sources))
            .replace("{in}", &all.join(" "))
            .replace("{main}", &main);
        let entering = if is_in_src { "cd src\n" } else { "" };
        let commands = format!("{entering}{commands}");
        let what = match &sources[..] {
            [only] => escape(name(only).as_bytes()),
            _ => format!("its {language}"),
        };
        Ok(Some(Self {
            is_named: sources
                .iter()
                .any(|source| is_called(source, &names_of_bot(folder)))
                && sources.iter().filter(has_main).count() <= 1,
            ..Self::new(&what, needs, commands)
        }))
    }
}

/// The sources of each language, by its place among [`LANGUAGES`]; those in C beside some in C++ are of that.
fn by_language(files: &[PathBuf]) -> BTreeMap<usize, Vec<PathBuf>> {
    let mut found: BTreeMap<usize, Vec<PathBuf>> = BTreeMap::new();
    for path in files {
        let ending = path.extension().and_then(|ending| ending.to_str());
        let is_of = |(_, endings, ..): &Language| ending.is_some_and(|own| endings.contains(&own));
        if let Some(language) = LANGUAGES.iter().position(is_of)
            && path.is_file()
            && !path.to_string_lossy().ends_with("_test.go")
        {
            found.entry(language).or_default().push(path.clone());
        }
    }
    if found.contains_key(&CPP)
        && let Some(sources) = found.remove(&C)
    {
        found.entry(CPP).or_default().extend(sources);
    }
    found
}

/// Of sources in Java: the compiler refuses what is not in the encoding that it expects, in comments, too. `java FILE` takes it.
fn encoding(sources: &[PathBuf]) -> &'static str {
    let is_utf8 = |path: &PathBuf| fs::read(path).is_ok_and(|text| str::from_utf8(&text).is_ok());
    if sources.iter().all(is_utf8) {
        "UTF-8"
    } else {
        "ISO-8859-1"
    }
}

fn name(path: &Path) -> Cow<'_, str> {
    path.file_name().unwrap_or_default().to_string_lossy()
}

const MAIN: &str = "void main(, int main(, fn main(, func main(, main ::, main =";

/// The only source, the only one that is called `main` or `bot`, or the only one with a main function; the first where
/// none has one. Of several with a main function none is the main one.
fn main_of(sources: &[PathBuf]) -> Result<Option<&PathBuf>, FolderProblem> {
    if let [only] = sources {
        return Ok(Some(only));
    }
    let names = BOT_NAMES.map(OsString::from);
    let called: Vec<&PathBuf> = sources
        .iter()
        .filter(|source| is_called(source, &names))
        .collect();
    if let [only] = called[..] {
        return Ok(Some(only));
    }
    let with_main: Vec<&PathBuf> = sources.iter().filter(has_main).collect();
    match with_main[..] {
        [] => Ok(sources.first()),
        [only] => Ok(Some(only)),
        _ => Err(FolderProblem::Several(
            with_main.into_iter().cloned().collect(),
        )),
    }
}

fn is_called(path: &Path, names: &[OsString]) -> bool {
    names.iter().any(|name| has_stem(path, name))
}

fn has_main(path: &&PathBuf) -> bool {
    let text = fs::read(path).unwrap_or_default();
    let text = String::from_utf8_lossy(&text);
    MAIN.split(", ").any(|mark| text.contains(mark))
}

/// The sources in a folder and in those below it, sorted by path.
fn java_below(folder: &Path, depth: usize) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for path in entries(folder).unwrap_or_default() {
        if path.is_dir() && !path.is_symlink() && depth > 0 {
            found.extend(java_below(&path, depth - 1));
        } else if path.extension().is_some_and(|ending| ending == "java") && path.is_file() {
            found.push(path);
        }
    }
    found
}

/// The class that a build file names: `<mainClass>a.Bot</mainClass>`, `mainClass = 'a.Bot'`, `mainClass.set("a.Bot")`.
fn main_class(text: &str) -> Option<String> {
    let is_part = |c: char| c.is_alphanumeric() || matches!(c, '_' | '.' | '$');
    text.split("mainClass").skip(1).find_map(|rest| {
        let mut ends = [".set", "Name"].iter();
        let rest = ends.find_map(|end| rest.strip_prefix(end)).unwrap_or(rest);
        let rest = rest.trim_start_matches([' ', '=', '(', '"', '\'', '>']);
        let class = rest.split(|c| !is_part(c)).next().unwrap_or_default();
        (!class.is_empty()).then(|| shell_words::quote(class).into_owned())
    })
}

/// The class with the main function of a source: not every file is called as its class.
fn java_class(path: &Path) -> String {
    let text = fs::read(path).unwrap_or_default();
    let text = String::from_utf8_lossy(&text);
    let class = type_of_main(&text).map_or_else(
        || path.file_stem().unwrap_or_default().to_string_lossy(),
        Cow::Owned,
    );
    let mut lines = text.lines();
    let package = lines.find_map(|line| line.trim().strip_prefix("package "));
    let class = match package.and_then(|rest| rest.split(';').next()) {
        Some(package) => format!("{}.{class}", package.trim()).into(),
        None => class,
    };
    shell_words::quote(&class).into_owned()
}

/// The name of the type in which `void main(` stands, as the virtual machine has it: `Outer$Inner`.
fn type_of_main(text: &str) -> Option<String> {
    let code = java_code(text);
    let end = code.find("void main(")?;
    let is_word = |c: char| c.is_alphanumeric() || c == '_' || c == '$';
    // Each open brace, with the type that it begins.
    let mut open: Vec<Option<&str>> = Vec::new();
    let mut declared = None;
    let mut before = "";
    let mut rest = &code[..end];
    while let Some(c) = rest.chars().next() {
        if is_word(c) {
            let length = rest.find(|c| !is_word(c)).unwrap_or(rest.len());
            let (word, after) = rest.split_at(length);
            if ["class", "record", "enum", "interface"].contains(&before) {
                declared = Some(word);
            }
            (before, rest) = (word, after);
            continue;
        }
        match c {
            '{' => open.push(declared.take()),
            '}' => drop(open.pop()),
            _ => {}
        }
        rest = &rest[c.len_utf8()..];
    }
    let types: Vec<&str> = open.into_iter().flatten().collect();
    (!types.is_empty()).then(|| types.join("$"))
}

/// Without comments and the text of strings and characters.
fn java_code(text: &str) -> String {
    let mut code = String::new();
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        let end = match c {
            '/' if rest.starts_with("//") => rest.find('\n').unwrap_or(rest.len()),
            '/' if rest.starts_with("/*") => rest[2..].find("*/").map_or(rest.len(), |end| end + 4),
            '"' if rest.starts_with("\"\"\"") => {
                let end = rest[3..].find("\"\"\"");
                end.map_or(rest.len(), |end| end + 6)
            }
            '"' | '\'' => {
                let mut escaped = false;
                let end = rest[1..].char_indices().find(|&(_, inside)| {
                    let is_end = (inside == c || inside == '\n') && !escaped;
                    escaped = inside == '\\' && !escaped;
                    is_end
                });
                end.map_or(rest.len(), |(end, _)| end + 2)
            }
            _ => {
                code.push(c);
                rest = &rest[c.len_utf8()..];
                continue;
            }
        };
        code.push(' ');
        rest = &rest[end..];
    }
    code
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_type_of_a_main_function_is_found() {
        let main = "public static void main(String[] args) {}";
        for (text, found) in [
            (format!("class Bot {{ {main} }}"), Some("Bot")),
            (
                format!(
                    "class Node {{ int class_of; }}\nfinal class Bot extends A<B> {{ static class C {{}} {main} }}"
                ),
                Some("Bot"),
            ),
            (
                format!("class A {{ enum B {{ X {{}}; {main} }} }}"),
                Some("A$B"),
            ),
            (
                format!(
                    "// class X {{\n/* class Y {{ */ class Z {{ String s = \"class Q {{ \\\" }}\"; char c = '{{'; {main} }}"
                ),
                Some("Z"),
            ),
            (
                format!("interface Start {{ String s = \"\"\"\n class T {{\n\"\"\"; {main} }}"),
                Some("Start"),
            ),
            ("class Bot { // void main(\n}".to_owned(), None),
            ("void main() { }".to_owned(), None),
        ] {
            assert_eq!(type_of_main(&text).as_deref(), found, "{text}");
        }
    }

    /// Tests and old versions beside the main source are programs of their own.
    #[test]
    fn one_main_function_is_linked() {
        let place = tempfile::tempdir().unwrap();
        let main = "int main(void) { return 0; }";
        for (name, text) in [
            ("a.c", main),
            ("b.c", main),
            ("board.c", ""),
            ("old.go", "func main() {}"),
        ] {
            std::fs::write(place.path().join(name), text).unwrap();
        }
        let manifest = |program: &str| Manifest {
            program: program.to_owned(),
            build: None,
        };
        let built = |program: &str| {
            let recipe = Recipe::of_program(place.path(), &manifest(program));
            let commands = recipe.unwrap().unwrap().commands;
            let words = commands.split(' ').filter(|word| word.starts_with("./"));
            words.map(str::to_owned).collect::<Vec<_>>()
        };
        assert_eq!(built("a.c"), ["./a.c", "./board.c"]);
        assert_eq!(built("./b.c"), ["./b.c", "./board.c"]);
        assert_eq!(built("old.go"), ["./old.go"]);
        std::fs::remove_file(place.path().join("old.go")).unwrap();
        std::fs::rename(place.path().join("a.c"), place.path().join("bot.c")).unwrap();
        let recipe = Recipe::of_sources(place.path()).unwrap().unwrap();
        assert!(recipe.commands.contains("./board.c ./bot.c "));
    }

    #[test]
    fn build_files_name_the_main_class() {
        for (text, class) in [
            ("<mainClass>a.Bot</mainClass>", Some("a.Bot")),
            ("mainClass = 'a.b.Main'\n", Some("a.b.Main")),
            ("application { mainClass.set(\"Bot\") }", Some("Bot")),
            ("mainClassName = \"x.Bot\"", Some("x.Bot")),
            ("<artifactId>bot</artifactId>", None),
        ] {
            assert_eq!(main_class(text).as_deref(), class, "{text}");
        }
    }
}
