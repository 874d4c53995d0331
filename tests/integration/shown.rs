//! A submission shows itself nothing: whatever its first line, its virtual environment or its build files name, its bot
//! sees in a sandbox what a bot sees that names nothing, or is refused. Only what the organiser's `PATH` leads to is more.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use serde_json::Value;
use tempfile::TempDir;

use crate::common::files::executable;
use crate::common::{Referee, Run};
use crate::sandbox::sandboxes;

/// The search path of a system.
const SYSTEM: &str = "/usr/local/bin:/usr/bin:/bin";

/// What the organiser has besides: shims of pyenv and asdf, and scripts of their own.
const PRIVATE: &str = "@HOME@/.pyenv/shims:@HOME@/.asdf/shims:@HOME@/tools";

/// The log of what bots see.
const LOG: [&str; 6] = [
    "--log",
    "referee::sandbox=debug",
    "--log-format",
    "json",
    "--log-file",
    "log",
];

/// The files of an organiser. `@HOME@` stands for the home; all are executable.
const FILES: [(&str, &str); 18] = [
    ("home/exam/grade.sh", "#!/bin/sh\necho secret\n"),
    (
        "home/exam/python3",
        "#!/bin/sh\nexec /usr/bin/python3 \"$@\"\n",
    ),
    ("home/exam/env", "#!/bin/sh\nexec /usr/bin/env \"$@\"\n"),
    ("home/exam/secret", "secret\n"),
    ("home/.ssh/id_rsa", "secret\n"),
    (
        "home/project/bin/python3",
        "#!/bin/sh\nexec /usr/bin/python3 \"$@\"\n",
    ),
    ("home/project/lib/secret", "secret\n"),
    ("home/environment/pyvenv.cfg", "home = /usr/bin\n"),
    (
        "home/environment/bin/python3",
        "#!/bin/sh\nexec /usr/bin/python3 \"$@\"\n",
    ),
    ("home/tools/grade", "#!/bin/sh\necho secret\n"),
    (
        "home/.pyenv/shims/python3",
        "#!/bin/sh\nexec \"@HOME@/.pyenv/libexec/pyenv\" exec python3 \"$@\"\n",
    ),
    (
        "home/.pyenv/libexec/pyenv",
        "#!/bin/sh\necho @HOME@/.pyenv/versions/3.11.4/bin/$2\n",
    ),
    (
        "home/.pyenv/versions/3.11.4/bin/python3",
        "#!/bin/sh\nexec /usr/bin/python3 \"$@\"\n",
    ),
    (
        "home/.pyenv/versions/3.9.9/bin/python3",
        "#!/bin/sh\nexec /usr/bin/python3 \"$@\"\n",
    ),
    (
        "home/.asdf/shims/node",
        "#!/bin/sh\n# asdf-plugin: nodejs 20.1.0\nexec @HOME@/.asdf/bin/asdf exec \"node\" \"$@\"\n",
    ),
    (
        "home/.asdf/bin/asdf",
        "#!/bin/sh\necho @HOME@/.asdf/installs/nodejs/20.1.0/bin/$2\n",
    ),
    ("home/.asdf/installs/nodejs/20.1.0/bin/node", "#!/bin/sh\n"),
    ("home/.asdf/installs/nodejs/18.0.0/bin/node", "#!/bin/sh\n"),
];

/// First lines, by the names of their bots. `@OWN@` stands for the bot's folder, `@CLASS@` for the folder above.
const FIRST_LINES: &[(&str, &str)] = &[
    ("unset", "/usr/bin/env -S -u @HOME@/exam/grade.sh python3"),
    (
        "unset-long",
        "/usr/bin/env -S --unset @HOME@/exam/grade.sh python3",
    ),
    (
        "unset-equals",
        "/usr/bin/env -S --unset=X @HOME@/exam/grade.sh",
    ),
    ("unset-joined", "/usr/bin/env -S -uX @HOME@/exam/grade.sh"),
    ("unset-cluster", "/usr/bin/env -S -iu X @HOME@/exam/python3"),
    ("chdir", "/usr/bin/env -S -C @HOME@/exam ./grade.sh"),
    ("chdir-joined", "/usr/bin/env -S -C@HOME@/exam python3"),
    (
        "chdir-long",
        "/usr/bin/env -S --chdir=@HOME@/exam ./python3",
    ),
    ("path", "/usr/bin/env -S PATH=@HOME@/exam grade.sh"),
    (
        "path-python",
        "/usr/bin/env -S PATH=@HOME@/exam:/usr/bin:/bin python3",
    ),
    (
        "python-home",
        "/usr/bin/env -S PYTHONHOME=@HOME@/project python3",
    ),
    (
        "user-base",
        "/usr/bin/env -S PYTHONUSERBASE=@HOME@/exam python3",
    ),
    (
        "environment",
        "/usr/bin/env -S VIRTUAL_ENV=@HOME@/project python3",
    ),
    (
        "pyenv-version",
        "/usr/bin/env -S PYENV_VERSION=../../../exam python3",
    ),
    (
        "pyenv-root",
        "/usr/bin/env -S PYENV_ROOT=@HOME@/exam python3",
    ),
    ("env-env", "/usr/bin/env -S env @HOME@/exam/grade.sh"),
    (
        "env-env-unset",
        "/usr/bin/env -S env -u X @HOME@/exam/python3",
    ),
    (
        "split-split",
        "/usr/bin/env -S -S\"@HOME@/exam/grade.sh\" python3",
    ),
    (
        "split-deeper",
        "/usr/bin/env -S -S'-S\"@HOME@/exam/python3\"' python3",
    ),
    ("split-verbose", "/usr/bin/env -vS @HOME@/exam/python3 -u"),
    ("split-empty", "/usr/bin/env -iS @HOME@/exam/python3"),
    (
        "split-long",
        "/usr/bin/env --split-string=@HOME@/exam/python3 -u",
    ),
    ("split-open", "/usr/bin/env -S '@HOME@/exam/python3"),
    ("dash", "/usr/bin/env -S - @HOME@/exam/python3"),
    ("dashes", "/usr/bin/env -S -- @HOME@/exam/python3"),
    ("argv0", "/usr/bin/env -S -a python3 @HOME@/exam/python3"),
    ("variable", "/usr/bin/env -S ${HOME}/exam/python3"),
    ("env-plain", "/usr/bin/env @HOME@/exam/python3"),
    ("env-private", "@HOME@/exam/env python3"),
    ("script", "@HOME@/exam/grade.sh"),
    ("python", "@HOME@/exam/python3"),
    ("blank", "  @HOME@/exam/python3   -u"),
    ("up", "@HOME@/exam/../exam/python3"),
    ("up-from-system", "/usr/bin/../..@HOME@/exam/python3"),
    (
        "up-from-pyenv",
        "@HOME@/.pyenv/versions/3.11.4/../../../exam/python3",
    ),
    ("installation", "@HOME@/project/bin/python3"),
    ("in-environment", "@HOME@/environment/bin/python3"),
    ("other-version", "@HOME@/.pyenv/versions/3.9.9/bin/python3"),
    ("other-node", "@HOME@/.asdf/installs/nodejs/18.0.0/bin/node"),
    ("in-path", "/usr/bin/env grade"),
    ("in-path-absolute", "@HOME@/tools/grade"),
    ("opponent", "@CLASS@/victim/victim.py"),
    ("opponent-relative", "class/victim/victim.py"),
    ("nice", "/usr/bin/nice @HOME@/exam/python3"),
    ("shell", "/bin/sh @HOME@/exam/grade.sh"),
    ("own-link", "@OWN@/lib/leads-out"),
    (
        "signal",
        "/usr/bin/env -S --default-signal=PIPE @HOME@/exam/python3",
    ),
    (
        "argv0-joined",
        "/usr/bin/env -S -apython3 @HOME@/exam/python3",
    ),
    ("chdir-short", "/usr/bin/env -S --ch=@HOME@/exam ./python3"),
    ("escaped", "/usr/bin/env -S @HOME@/ex\\_am/python3"),
    (
        "unset-variable",
        "/usr/bin/env -S ${NOTHING}@HOME@/exam/python3",
    ),
    ("timeout", "/usr/bin/timeout 5 @HOME@/exam/python3"),
    ("architecture", "/usr/bin/setarch -R @HOME@/exam/python3"),
    ("read-by-python", "/usr/bin/python3 @HOME@/exam/grade.sh"),
    ("loader", "/lib64/ld-linux-x86-64.so.2 @HOME@/exam/python3"),
    ("process", "/proc/self/cwd/home/exam/python3"),
];

/// What else lies in the folder of a bot: path and text, with `->` before it that of a link.
type Files = &'static [(&'static str, &'static str)];

/// Bots with the first line that follows, and with more files.
const MORE_FILES: &[(&str, &str, Files)] = &[
    (
        "python-version",
        "/usr/bin/env python3",
        &[(".python-version", "../../../exam")],
    ),
    (
        "python-version-absolute",
        "/usr/bin/env python3",
        &[(".python-version", "@HOME@/project")],
    ),
    (
        "python-version-other",
        "/usr/bin/env python3",
        &[(".python-version", "3.9.9")],
    ),
    (
        "python-version-link",
        "/usr/bin/env python3",
        &[
            (".python-version", "venv"),
            ("venv/bin/python3", "->/usr/bin/python3"),
        ],
    ),
    (
        "tool-versions",
        "/usr/bin/env node",
        &[(".tool-versions", "nodejs ../../../../exam\n")],
    ),
    (
        "tool-versions-path",
        "/usr/bin/env node",
        &[(".tool-versions", "nodejs path:@HOME@/exam\n")],
    ),
    (
        "tool-versions-ref",
        "/usr/bin/env node",
        &[(".tool-versions", "nodejs ref:../../exam\n")],
    ),
    (
        "tool-versions-other",
        "/usr/bin/env node",
        &[(".tool-versions", "nodejs 18.0.0\n")],
    ),
    (
        "tool-versions-system",
        "/usr/bin/env node",
        &[(".tool-versions", "nodejs system\n")],
    ),
    (
        "rust-toolchain",
        "/usr/bin/env python3",
        &[
            (
                "rust-toolchain.toml",
                "[toolchain]\npath = \"@HOME@/exam\"\n",
            ),
            ("rust-toolchain", "@HOME@/exam"),
        ],
    ),
    (
        "base",
        "@OWN@/venv/bin/python3",
        &[
            ("venv/pyvenv.cfg", "home = @HOME@/exam\n"),
            ("venv/bin/python3", "->/usr/bin/python3"),
        ],
    ),
    (
        "base-copied",
        "@OWN@/venv/bin/python3",
        &[
            ("venv/pyvenv.cfg", "home = @HOME@/exam\n"),
            ("venv/bin/python3", "#!/bin/sh\n"),
        ],
    ),
    (
        "base-key",
        "@OWN@/venv/bin/id_rsa",
        &[
            ("venv/pyvenv.cfg", "home = @HOME@/.ssh\n"),
            ("venv/bin/id_rsa", "#!/bin/sh\n"),
        ],
    ),
    (
        "base-up",
        "@OWN@/venv/bin/python3",
        &[
            ("venv/pyvenv.cfg", "home = /usr/bin/../..@HOME@/exam\n"),
            ("venv/bin/python3", "->/usr/bin/python3"),
        ],
    ),
    (
        "base-installation",
        "@OWN@/venv/bin/python",
        &[
            (
                "venv/pyvenv.cfg",
                "home = @HOME@/project/bin\ninclude-system-site-packages = true\n",
            ),
            ("venv/bin/python", "->/usr/bin/python3"),
        ],
    ),
    (
        "base-linked",
        "@OWN@/venv/bin/python3",
        &[
            ("venv/pyvenv.cfg", "home = /usr/bin\n"),
            ("venv/bin/python3", "->@HOME@/exam/python3"),
        ],
    ),
    (
        "base-linked-twice",
        "@OWN@/venv/bin/python",
        &[
            ("venv/pyvenv.cfg", "home = /usr/bin\n"),
            ("venv/bin/python", "->python3"),
            ("venv/bin/python3", "->@HOME@/exam/grade.sh"),
        ],
    ),
    ("base-of-other", "@CLASS@/base-key/venv/bin/id_rsa", &[]),
    (
        "base-with-env",
        "/usr/bin/env -S @OWN@/venv/bin/python3 -u",
        &[
            ("venv/pyvenv.cfg", "home = @HOME@/exam\n"),
            ("venv/bin/python3", "->/usr/bin/python3"),
        ],
    ),
    (
        "packages",
        "@OWN@/venv/bin/python3",
        &[
            (
                "venv/pyvenv.cfg",
                "home = @HOME@/exam\nexecutable = @HOME@/exam/python3\ncommand = @HOME@/exam/python3 -m venv x\n",
            ),
            ("venv/bin/python3", "->/usr/bin/python3"),
            ("venv/lib/python3.11/site-packages/x.pth", "@HOME@/exam\n"),
        ],
    ),
];

/// Bots that begin with nothing of note, by which the others are measured.
const MEASURES: [(&str, &str); 3] = [
    ("nothing", "/bin/sh"),
    ("python-only", "/usr/bin/env python3"),
    ("node-only", "/usr/bin/env node"),
];

/// Submissions that are built.
const BUILDS: &[(&str, Files)] = &[
    ("make-nothing", &[("Makefile", "all:\n\tfalse\n")]),
    (
        "make",
        &[(
            "Makefile",
            "all:\n\t@HOME@/exam/grade.sh; @HOME@/exam/python3; false\n",
        )],
    ),
    (
        "make-python",
        &[
            ("Makefile", "all:\n\tpython3 x; false\n"),
            (".python-version", "../../../exam\n"),
        ],
    ),
    (
        "make-absolute",
        &[
            ("Makefile", "all:\n\tpython3 x; false\n"),
            (".python-version", "@HOME@/project\n"),
        ],
    ),
    (
        "make-other",
        &[
            ("Makefile", "all:\n\tpython3 x; false\n"),
            (".python-version", "3.9.9\n"),
        ],
    ),
    (
        "make-node",
        &[
            ("Makefile", "all:\n\tnode x; false\n"),
            (".tool-versions", "nodejs ../../../../project\n"),
        ],
    ),
    (
        "toml",
        &[(
            "referee.toml",
            "build = \"cp @HOME@/exam/secret bot; false\"\nprogram = \"@HOME@/exam/secret\"\n",
        )],
    ),
    (
        "toml-python",
        &[
            (
                "referee.toml",
                "build = \"python3 x; false\"\nprogram = \"../../exam/secret\"\n",
            ),
            (".python-version", "../../../exam\n"),
        ],
    ),
    (
        "cargo",
        &[
            (
                "Cargo.toml",
                "[package]\nname = \"x\"\nversion = \"0.1.0\"\n[dependencies]\ny = { path = \"@HOME@/exam\" }\n",
            ),
            (
                "rust-toolchain.toml",
                "[toolchain]\npath = \"@HOME@/exam\"\n",
            ),
            (
                ".cargo/config.toml",
                "[build]\nrustc = \"@HOME@/exam/grade.sh\"\n",
            ),
            ("src/main.rs", "fn main() { nothing }\n"),
        ],
    ),
];

/// An organiser's home, and a class.
struct World(TempDir);

impl World {
    fn new() -> Self {
        // Not in TMPDIR: a first line can name no path with a space.
        let world = Self(crate::common::plain_directory());
        for (path, text) in FILES {
            world.write(path, text, "", 0o755);
        }
        fs::create_dir(world.path("tmp")).expect("a directory");
        world
    }

    fn path(&self, inside: &str) -> PathBuf {
        let root = self.0.path().canonicalize().expect("a path");
        root.join(inside)
    }

    fn filled(&self, text: &str, bot: &str) -> String {
        let shown = |inside: &str| self.path(inside).to_string_lossy().into_owned();
        text.replace("@HOME@", &shown("home"))
            .replace("@OWN@", &shown(&format!("class/{bot}")))
            .replace("@CLASS@", &shown("class"))
    }

    fn write(&self, path: &str, text: &str, bot: &str, mode: u32) {
        let path = self.path(path);
        fs::create_dir_all(path.parent().expect("a directory")).expect("a directory");
        let text = self.filled(text, bot);
        match text.strip_prefix("->") {
            Some(to) => symlink(to, path).expect("a link"),
            None => executable(&path, text, mode),
        }
    }

    fn hand_in(&self, bot: &str, first_line: &str, files: &[(&str, &str)], mode: u32) {
        let text = format!("#!{first_line}\nprint('- A')\n");
        self.write(&format!("class/{bot}/{bot}.py"), &text, bot, mode);
        for (path, text) in files {
            let mode = if text.starts_with("#!") { 0o755 } else { 0o644 };
            self.write(&format!("class/{bot}/{path}"), text, bot, mode);
        }
    }

    /// Runs the referee in the folder above the class.
    fn run(&self, arguments: &[&str], path: &str) -> Run {
        let _ = fs::remove_file(self.path("log"));
        Referee::new(arguments)
            .args(LOG)
            .env("HOME", self.path("home"))
            .env("PATH", self.filled(path, ""))
            .env("TMPDIR", self.path("tmp"))
            .directory(self.path(""))
            .shell("unset PYENV_VERSION ASDF_NODEJS_VERSION VIRTUAL_ENV PYTHONUSERBASE; exec \"$0\" \"$@\"")
            .run()
    }

    /// What each bot of the last run saw, but for copies of its own files.
    fn seen(&self) -> BTreeMap<String, BTreeSet<PathBuf>> {
        let log = fs::read_to_string(self.path("log")).expect("a log");
        let events = log.lines().map(|line| -> Value {
            serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}"))
        });
        let own = self.path("tmp");
        events
            .filter(|event| event["fields"]["message"] == "what the bot sees")
            .map(|event| {
                let fields = &event["fields"];
                let exposed = fields["exposed"].as_str().expect("paths");
                let exposed: Vec<PathBuf> = serde_json::from_str(exposed).expect("paths");
                let others = exposed.into_iter().filter(|path| !path.starts_with(&own));
                let bot = fields["bot"].as_str().expect("a name");
                let bot = bot.strip_suffix(".py").unwrap_or(bot);
                (bot.to_owned(), others.collect())
            })
            .collect()
    }
}

/// All of them, in a class.
fn class() -> (World, Vec<&'static str>) {
    let world = World::new();
    let mut names = Vec::new();
    for (name, line) in MEASURES {
        world.hand_in(name, line, &[], 0o755);
    }
    world.hand_in("victim", "/bin/sh", &[], 0o755);
    for &(name, line) in FIRST_LINES {
        world.hand_in(name, line, &[], 0o755);
        names.push(name);
    }
    world.write(
        "class/own-link/lib/leads-out",
        "->@HOME@/exam/python3",
        "",
        0,
    );
    for &(name, line, files) in MORE_FILES {
        world.hand_in(name, line, files, 0o755);
        names.push(name);
    }
    // Not executable: only its interpreter's file is run.
    world.hand_in("read-only", "@HOME@/exam/grade.sh", &[], 0o644);
    world.hand_in("read-only-opponent", "@CLASS@/victim/victim.py", &[], 0o644);
    // Called as an interpreter is.
    for (folder, name) in [("named-python", "python3"), ("named-node", "node")] {
        let program = format!("class/{folder}/{name}");
        world.write(&program, "#!@HOME@/exam/grade.sh\n", folder, 0o755);
    }
    world.write("class/linked/linked.py", "->@HOME@/exam/python3", "", 0);
    names.extend([
        "read-only",
        "read-only-opponent",
        "python3",
        "node",
        "linked",
    ]);
    (world, names)
}

#[test]
fn what_a_submission_names_is_not_shown_to_it() {
    let (world, names) = class();
    for kind in sandboxes() {
        let plan = [
            "shard",
            "plan",
            "--no-check",
            "--seed",
            "1",
            "--sandbox",
            kind,
        ];
        for (path, out) in [
            (SYSTEM, "system"),
            (&*format!("{PRIVATE}:{SYSTEM}"), "private"),
        ] {
            let out = format!("{kind}-{out}");
            let run = world.run(&[&plan[..], &["--out", &out, "class"]].concat(), path);
            assert_eq!(run.code, Some(0), "{run}");
            let seen = world.seen();
            // What the search path leads to may be seen by those that name it.
            let measures: Vec<_> = MEASURES
                .iter()
                .filter_map(|(name, _)| seen.get(*name))
                .collect();
            let mut refused = 0;
            for name in &names {
                if let Some(shown) = seen.get(*name) {
                    let more = shown.difference(measures[0]).collect::<Vec<_>>();
                    assert!(
                        measures.contains(&shown),
                        "{name} ({out}) sees {more:?}\n{run}"
                    );
                    continue;
                }
                let of = |line: &&str| {
                    let begins = [format!("{name} does not enter"), format!("start {name}: ")];
                    begins.iter().any(|begin| line.contains(begin))
                };
                // With the line of its fix.
                let lines: Vec<&str> = run.stderr.lines().collect();
                let place = lines.iter().position(of).unwrap_or_default();
                let told = lines[place..].iter().take(2).copied().collect::<String>();
                let fixes = [
                    "--expose",
                    "instead of the link",
                    "install it",
                    "which is installed",
                ];
                let is_fixed = fixes.iter().any(|fix| told.contains(fix));
                assert!(is_fixed, "{name} ({out}): {told}\n{run}");
                // Never all of the home, where something in it is enough.
                let all = format!("--expose {}", world.path("home").display());
                let is_narrow = told.split(&all).skip(1).all(|rest| rest.starts_with('/'));
                assert!(is_narrow, "{name} ({out}): {told}\n{run}");
                refused += 1;
            }
            assert!(refused < names.len(), "{run}");
        }
    }
}

#[test]
fn what_the_search_path_leads_to_is_shown() {
    let world = World::new();
    let version = world.path("home/.pyenv/versions/3.11.4");
    let config = [(
        "venv/pyvenv.cfg",
        "home = @HOME@/.pyenv/versions/3.11.4/bin\n",
    )];
    let link = (
        "venv/bin/python3",
        "->@HOME@/.pyenv/versions/3.11.4/bin/python3",
    );
    let copy = ("venv/bin/python3", "#!/bin/sh\n");
    for (name, line, files) in [
        ("named", "/usr/bin/env python3", &[][..]),
        ("options", "/usr/bin/env -S -u X -C / A=1 python3 -u", &[]),
        ("absolute", "@HOME@/.pyenv/versions/3.11.4/bin/python3", &[]),
        ("linked", "@OWN@/venv/bin/python3", &[config[0], link]),
        ("copied", "@OWN@/venv/bin/python3", &[config[0], copy]),
        ("shell", "/bin/sh\nexec python3 x.py", &[]),
    ] {
        world.hand_in(name, line, files, 0o755);
    }
    for kind in sandboxes() {
        let plan = [
            "shard",
            "plan",
            "--no-check",
            "--seed",
            "1",
            "--sandbox",
            kind,
        ];
        let path = format!("{PRIVATE}:{SYSTEM}");
        let run = world.run(&[&plan[..], &["--out", kind, "class"]].concat(), &path);
        assert_eq!(run.code, Some(0), "{run}");
        let seen = world.seen();
        assert_eq!(seen.len(), 6, "{run}");
        for (name, sees) in seen {
            let private = sees
                .iter()
                .filter(|path| path.starts_with(world.path("home")));
            assert_eq!(private.collect::<Vec<_>>(), [&version], "{name}\n{run}");
        }
    }
}

#[test]
fn what_the_files_of_a_build_name_is_not_shown_to_it() {
    let world = World::new();
    for &(name, files) in BUILDS {
        for (path, text) in files {
            world.write(&format!("class/{name}/{path}"), text, name, 0o644);
        }
    }
    for kind in sandboxes() {
        let league = ["league", kind, "--plan", "--seed", "1", "--from", "class"];
        let path = format!("{PRIVATE}:{SYSTEM}");
        let run = world.run(&[&league[..], &["--sandbox", kind]].concat(), &path);
        let seen = world.seen();
        let versions = [
            "home/.pyenv/versions/3.11.4",
            "home/.asdf/installs/nodejs/20.1.0",
        ];
        let versions = versions.map(|version| world.path(version));
        let is_private =
            |path: &&PathBuf| path.starts_with(world.path("home")) && !versions.contains(path);
        for (name, sees) in &seen {
            let private: Vec<&PathBuf> = sees.iter().filter(is_private).collect();
            assert!(private.is_empty(), "{name} sees {private:?}\n{run}");
        }
        // A machine may have no compiler of Rust.
        assert!(seen.len() + 1 >= BUILDS.len(), "{seen:?}\n{run}");
        assert!(!run.stdout.contains("secret"), "{run}");
    }
}

/// A league keeps earlier versions in its folder, where the next one can name what lies in them.
#[test]
fn an_earlier_version_shows_nothing_to_the_next() {
    for kind in sandboxes() {
        let world = World::new();
        let league = [
            "league", "term", "--seed", "1", "--pairs", "1", "--from", "class",
        ];
        let update = || world.run(&[&league[..], &["--sandbox", kind]].concat(), SYSTEM);
        let player = Path::new(env!("CARGO_MANIFEST_DIR")).join("players/random.sh");
        let bot = &fs::read_to_string(player).expect("a player");
        world.write("class/ben/bot.sh", bot, "", 0o755);
        world.write("class/anna/bot.sh", bot, "", 0o755);
        world.write(
            "class/anna/venv/pyvenv.cfg",
            "home = @HOME@/.ssh\n",
            "",
            0o644,
        );
        world.write(
            "class/anna/venv/bin/id_rsa",
            "#!/bin/sh\nexec /bin/sh \"$@\"\n",
            "",
            0o755,
        );
        let run = update();
        assert_eq!(run.code, Some(0), "{run}");
        let earlier = found(&world.path("term"), "id_rsa").expect("an earlier version");
        let shows = "cat @HOME@/.ssh/id_rsa >&2";
        let text = bot.replacen("#!/bin/sh", &format!("#!{}\n{shows}", earlier.display()), 1);
        world.write("class/anna/bot.sh", &text, "", 0o755);
        let run = update();
        assert!(run.stdout.contains("anna"), "{run}");
        let mut told = vec![run.to_string()];
        told.extend(texts(&world.path("term")));
        assert!(!told.iter().any(|text| text.contains("secret")), "{run}");
        for (name, sees) in world.seen() {
            let home = world.path("home");
            assert!(
                !sees.iter().any(|path| path.starts_with(&home)),
                "{name}: {sees:?}"
            );
        }
    }
}

/// The first file of this name in a folder.
fn found(folder: &Path, name: &str) -> Option<PathBuf> {
    let entries = fs::read_dir(folder).ok()?.flatten();
    entries.map(|entry| entry.path()).find_map(|path| {
        let is_it = path.file_name().is_some_and(|file| file == name);
        if is_it {
            Some(path)
        } else {
            found(&path, name)
        }
    })
}

/// The texts of all files in a folder.
fn texts(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let all = entries.map(|entry| entry.path()).flat_map(|path| {
        if path.is_dir() {
            texts(&path)
        } else {
            let bytes = fs::read(&path).unwrap_or_default();
            vec![String::from_utf8_lossy(&bytes).into_owned()]
        }
    });
    all.collect()
}
