//! Which entries of a bot's folder are not its files: rules as in `.gitignore`.

use std::path::Path;

use glob::{MatchOptions, Pattern};

/// The file with rules in a bot's folder.
pub(super) const FILE: &str = ".refereeignore";

/// In bytes; what follows is refused.
pub(super) const LONGEST: u64 = 1 << 16;

/// What version control, systems, editors, tools and shells leave in a folder.
pub const BUILT_IN: &str = "\
# version control
.git
.hg
.svn
.jj
# systems
.DS_Store
._*
.Spotlight-V100
.Trashes
.fseventsd
Thumbs.db
desktop.ini
$RECYCLE.BIN
.Trash-*
.directory
.nfs*
.fuse_hidden*
# editors
.*.sw[a-p]
*~
\\#*#
.#*
.~lock.*#
.goutputstream-*
.*.kate-swp
*.bak
*.tmp
.idea
.vscode
.vs
*.sublime-workspace
# tools
__pycache__
.mypy_cache
.pytest_cache
.ruff_cache
.ipynb_checkpoints
.hypothesis
core.[0-9]*
# logs
*.log
nohup.out
typescript
screenlog.[0-9]*
";

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct IgnoreRules(Vec<Rule>);

#[derive(Clone, Debug, PartialEq, Eq)]
struct Rule {
    pattern: Pattern,
    /// Takes entries back that an earlier rule leaves out.
    is_negated: bool,
    is_for_directories: bool,
    /// Matched with the whole path, not with the last name alone.
    is_path: bool,
}

/// A line that is not a pattern, from 1.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct InvalidRule {
    pub(super) line: usize,
    pub(super) problem: &'static str,
}

impl IgnoreRules {
    pub(super) fn built_in() -> Self {
        let rules = BUILT_IN.lines().filter_map(Rule::parse);
        Self(rules.filter_map(Result::ok).collect())
    }

    /// Adds the rules of a file, which take precedence.
    pub(super) fn add(&mut self, text: &str) -> Result<(), InvalidRule> {
        for (line, number) in text.trim_start_matches('\u{feff}').lines().zip(1..) {
            match Rule::parse(line) {
                None => {}
                Some(Ok(rule)) => self.0.push(rule),
                Some(Err(problem)) => {
                    let line = number;
                    return Err(InvalidRule { line, problem });
                }
            }
        }
        Ok(())
    }

    /// `path` begins at the folder and has slashes. What is in a directory that is left out is left out with it.
    pub(super) fn leaves_out(&self, path: &str, is_directory: bool) -> bool {
        let name = path.rsplit('/').next().unwrap_or(path);
        let matches = |rule: &&Rule| {
            let text = if rule.is_path { path } else { name };
            (is_directory || !rule.is_for_directories) && rule.pattern.matches_with(text, OPTIONS)
        };
        let deciding = self.0.iter().rev().find(matches);
        deciding.is_some_and(|rule| !rule.is_negated)
    }

    /// Whether a path that may be gone is left out, or a directory above it.
    pub(super) fn would_leave_out(&self, path: &str) -> bool {
        let mut above = Path::new(path).ancestors().skip(1);
        self.leaves_out(path, false)
            || self.leaves_out(path, true)
            || above.any(|above| {
                above
                    .to_str()
                    .is_some_and(|above| !above.is_empty() && self.leaves_out(above, true))
            })
    }
}

/// As Git matches.
const OPTIONS: MatchOptions = MatchOptions {
    case_sensitive: true,
    require_literal_separator: true,
    require_literal_leading_dot: false,
};

impl Rule {
    /// `None` for a comment or an empty line.
    fn parse(line: &str) -> Option<Result<Self, &'static str>> {
        let line = line.trim_end_matches('\r');
        let kept = line.trim_end_matches([' ', '\t']);
        // A space after a backslash belongs to the name.
        let is_escaped = kept.ends_with('\\') && kept.len() < line.len();
        let text = if is_escaped {
            &line[..=kept.len()]
        } else {
            kept
        };
        if text.is_empty() || text.starts_with('#') {
            return None;
        }
        let (is_negated, text) = match text.strip_prefix('!') {
            Some(text) => (true, text),
            None => (false, text),
        };
        let (is_for_directories, text) = match text.strip_suffix('/') {
            Some(text) => (true, text),
            None => (false, text),
        };
        let is_path = text.contains('/');
        let text = text.strip_prefix('/').unwrap_or(text);
        if text.is_empty() {
            return Some(Err("it names nothing"));
        }
        let pattern = Pattern::new(&translated(text)).map_err(|error| error.msg);
        Some(pattern.map(|pattern| Self {
            pattern,
            is_negated,
            is_for_directories,
            is_path,
        }))
    }
}

/// A pattern of Git in the words of the crate `glob`, which knows no backslash, and `**` only as a whole name.
fn translated(text: &str) -> String {
    let mut names = Vec::new();
    for name in text.split('/') {
        if name == "**" {
            names.push(name.to_owned());
            continue;
        }
        let mut out = String::new();
        let mut chars = name.chars().peekable();
        let mut is_in_class = false;
        while let Some(c) = chars.next() {
            match c {
                '\\' => match chars.next() {
                    Some(c @ ('*' | '?' | '[' | ']')) => out.extend(['[', c, ']']),
                    Some(c) => out.push(c),
                    None => out.push('\\'),
                },
                '*' if !is_in_class && out.ends_with('*') => {}
                '[' if !is_in_class => {
                    is_in_class = true;
                    out.push('[');
                    if chars.next_if_eq(&'^').is_some() || chars.next_if_eq(&'!').is_some() {
                        out.push('!');
                    }
                    // A bracket in the first place is one of the class.
                    out.extend(chars.next_if_eq(&']'));
                }
                ']' => {
                    is_in_class = false;
                    out.push(']');
                }
                c => out.push(c),
            }
        }
        names.push(out);
    }
    names.join("/")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rules(text: &str) -> IgnoreRules {
        let mut rules = IgnoreRules(Vec::new());
        rules.add(text).unwrap();
        rules
    }

    #[test]
    fn the_built_in_rules_are_valid() {
        let lines = BUILT_IN.lines().filter_map(Rule::parse);
        let problems: Vec<_> = lines.filter_map(Result::err).collect();
        assert_eq!(problems, [""; 0]);
        let rules = IgnoreRules::built_in();
        for path in [
            "cup.log",
            ".DS_Store",
            "lib/.DS_Store",
            ".bot.py.swp",
            "bot.py~",
            "#bot.py#",
            ".#bot.py",
            "core.1234",
            "nohup.out",
            "._bot.py",
            "desktop.ini",
            ".nfs0000012",
            "x/__pycache__",
            "bot.py.bak",
        ] {
            assert!(rules.leaves_out(path, false), "{path}");
        }
        for path in [
            "bot.py",
            "core",
            "core.py",
            "log",
            "log.txt",
            "data.swp",
            ".env",
            "lib/login.py",
            "weights.npz",
            "swp",
            ".venv",
            "node_modules",
            "core.rs",
        ] {
            assert!(!rules.leaves_out(path, false), "{path}");
        }
    }

    #[test]
    fn patterns_match_as_those_of_git() {
        for (text, left_out, kept) in [
            ("*.csv", &["a.csv", "b/a.csv"][..], &["a.csv.py"][..]),
            ("/out", &["out"], &["a/out"]),
            ("a/b", &["a/b"], &["b", "c/a/b"]),
            ("a/*.txt", &["a/x.txt"], &["a/b/x.txt", "x.txt"]),
            ("**/b.txt", &["b.txt", "a/b.txt", "c/a/b.txt"], &["ab.txt"]),
            ("a/**/b", &["a/b", "a/x/b", "a/x/y/b"], &["b"]),
            ("a**b", &["ab", "axb"], &["a/b"]),
            ("[^a].txt", &["b.txt"], &["a.txt"]),
            ("[]x].txt", &["].txt", "x.txt"], &["a.txt"]),
            ("\\#x", &["#x"], &["x"]),
            ("\\!x", &["!x"], &["x"]),
            ("\\*x", &["*x"], &["ax"]),
            ("a\\ ", &["a "], &["a"]),
            ("a  ", &["a"], &["a "]),
            (
                "# a\n\n*.txt\r\n!keep.txt",
                &["a.txt"],
                &["keep.txt", "# a"],
            ),
        ] {
            let rules = rules(text);
            for path in left_out {
                assert!(rules.leaves_out(path, false), "{text:?} {path}");
            }
            for path in kept {
                assert!(!rules.leaves_out(path, false), "{text:?} {path}");
            }
        }
        let directories = rules("out/");
        assert!(directories.leaves_out("a/out", true) && !directories.leaves_out("out", false));
        assert!(directories.would_leave_out("a/out/b/c.txt"));
        assert!(!directories.would_leave_out("a/outer/b"));
    }

    #[test]
    fn a_line_that_is_not_a_pattern_is_named() {
        let mut rules = IgnoreRules::built_in();
        let invalid = rules.add("*.csv\n[a\n").unwrap_err();
        assert_eq!((invalid.line, invalid.problem.is_empty()), (2, false));
        assert!(rules.add("/").is_err());
    }
}
