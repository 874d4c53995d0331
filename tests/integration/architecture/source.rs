//! The code of a crate as these tests read it: words and marks, without comments and without what
//! is inside of literals.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use super::paths::{Named, named};

/// A file of `src/`.
pub(super) struct File {
    /// Its path in `src/`: `bot/channel.rs`.
    pub(super) path: String,
    /// Its module: `["bot", "channel"]`, and `["bot"]` for `bot/mod.rs`. That of `lib.rs` is empty.
    pub(super) module: Vec<String>,
    /// Words, numbers, `::`, literals (`""`) and all other marks, character by character.
    pub(super) tokens: Vec<String>,
    /// All paths in the code.
    pub(super) paths: Vec<Named>,
    pub(super) lines: usize,
}

impl File {
    fn new(path: &str, text: &str) -> Self {
        let name = path.strip_suffix(".rs").unwrap_or(path);
        let name = name.strip_suffix("/mod").unwrap_or(name);
        let module = match name {
            "lib" => Vec::new(),
            name => name.split('/').map(str::to_owned).collect(),
        };
        Self {
            path: path.to_owned(),
            module,
            // `tests.rs` is compiled for tests only.
            tokens: tokens(if name.ends_with("/tests") { "" } else { text }),
            paths: Vec::new(),
            lines: text.lines().count(),
        }
    }

    /// The module of `src/` that it belongs to: `bot`, `lib` or `main`.
    pub(super) fn top(&self) -> &str {
        self.module.first().map_or("lib", String::as_str)
    }

    /// Whether it is `place` (`bot/process.rs`) or lies in it (`sandbox/supervisor`).
    pub(super) fn is_in(&self, place: &str) -> bool {
        let rest = self.path.strip_prefix(place);
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    }

    /// Whether this follows anywhere in the code, word by word and mark by mark.
    pub(super) fn has(&self, sequence: &[&str]) -> bool {
        self.tokens
            .windows(sequence.len())
            .any(|window| window.iter().eq(sequence))
    }
}

static PROJECT: LazyLock<Vec<File>> = LazyLock::new(read_project);

/// The files of `src/`.
///
/// # Panics
///
/// When there are so few that this cannot be all.
pub(super) fn of_project() -> &'static [File] {
    &PROJECT
}

fn read_project() -> Vec<File> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut paths = Vec::new();
    find(&root, &mut paths);
    paths.sort();
    let read = |path: &PathBuf| {
        let text = fs::read_to_string(path).expect("a text");
        let inside = path.strip_prefix(&root).expect("it is in src");
        File::new(inside.to_str().expect("a name"), &text)
    };
    let files: Vec<File> = paths.iter().map(read).collect();
    assert!(files.len() > 100, "only {} files were found", files.len());
    with_paths(files)
}

/// Files that a test makes up: path and text.
pub(super) fn sample(files: &[(&str, &str)]) -> Vec<File> {
    let files = files.iter().map(|(path, text)| File::new(path, text));
    with_paths(files.collect())
}

/// Finds the paths, which needs all files: some begin with the name of a file.
fn with_paths(mut files: Vec<File>) -> Vec<File> {
    let found: Vec<_> = files.iter().map(|file| named(file, &files)).collect();
    for (file, found) in files.iter_mut().zip(found) {
        file.paths = found;
    }
    files
}

fn find(directory: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(directory).expect("a directory") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            find(&path, found);
        } else if path.extension().is_some_and(|ending| ending == "rs") {
            found.push(path);
        }
    }
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// Splits code into words and marks. A literal becomes `""`, whatever it is a literal of.
fn tokens(text: &str) -> Vec<String> {
    let code: Vec<char> = text.chars().collect();
    let mut tokens = Vec::new();
    let mut at = 0;
    while let Some(&c) = code.get(at) {
        let next = code.get(at + 1).copied();
        if c.is_whitespace() {
            at += 1;
        } else if c == '/' && next == Some('/') {
            at += length(&code[at..], |c| c != '\n');
        } else if c == '/' && next == Some('*') {
            at = after_comment(&code, at);
        } else if c == '"' {
            at = after_string(&code, at + 1);
            tokens.push("\"\"".to_owned());
        } else if c == '\'' {
            // A character, or a lifetime: only the first has its end so soon.
            if next == Some('\\') || code.get(at + 2) == Some(&'\'') {
                let inside = if next == Some('\\') { at + 3 } else { at + 2 };
                at = inside + length(&code[inside..], |c| c != '\'') + 1;
                tokens.push("\"\"".to_owned());
            } else {
                at += 1;
            }
        } else if is_word(c) {
            let end = at + length(&code[at..], is_word);
            let hashes = length(&code[end..], |c| c == '#');
            let word: String = code[at..end].iter().collect();
            let is_raw = matches!(&*word, "r" | "br" | "cr");
            if is_raw && code.get(end + hashes) == Some(&'"') {
                at = after_raw_string(&code, end + hashes + 1, hashes);
                tokens.push("\"\"".to_owned());
            } else if matches!(&*word, "b" | "c") && code.get(end) == Some(&'"') {
                // What follows is the literal.
                at = end;
            } else {
                at = end;
                tokens.push(word);
            }
        } else if c == ':' && next == Some(':') {
            at += 2;
            tokens.push("::".to_owned());
        } else {
            at += 1;
            tokens.push(c.to_string());
        }
    }
    tokens
}

/// How many characters from the beginning are such.
fn length(code: &[char], is: impl Fn(char) -> bool) -> usize {
    code.iter().take_while(|&&c| is(c)).count()
}

/// Comments of this kind may hold each other.
fn after_comment(code: &[char], mut at: usize) -> usize {
    let mut depth = 0;
    while at < code.len() {
        match (code[at], code.get(at + 1)) {
            ('/', Some('*')) => (depth, at) = (depth + 1, at + 2),
            ('*', Some('/')) => (depth, at) = (depth - 1, at + 2),
            _ => at += 1,
        }
        if depth == 0 {
            break;
        }
    }
    at
}

fn after_string(code: &[char], mut at: usize) -> usize {
    while let Some(c) = code.get(at) {
        match c {
            '\\' => at += 2,
            '"' => return at + 1,
            _ => at += 1,
        }
    }
    at
}

fn after_raw_string(code: &[char], mut at: usize, hashes: usize) -> usize {
    while at < code.len() {
        at += 1;
        if code[at - 1] == '"' && length(&code[at..], |c| c == '#') >= hashes {
            return at + hashes;
        }
    }
    at
}

#[test]
fn code_is_read_without_comments_and_literals() {
    let text = r##"
        // println!("no");
        /* a /* nested */ comment */
        fn f<'a>(x: &'a str) -> char { let _ = (b"y\"es", r#"a "raw" one"#, '\'', 'c'); g::<u8>() }
    "##;
    let found = tokens(text).join(" ");
    let expected = "fn f < a > ( x : & a str ) - > char { let _ = ( \"\" , \"\" , \"\" , \"\" ) ; g :: < u8 > ( ) }";
    assert_eq!(found, expected);
}
