//! A bot in a sandbox runs by the interpreter that runs it outside: one in a virtual environment, behind
//! a shim of pyenv, of nvm, or linked from a directory of the user's; and sees nothing else of the home.
//!
//! When root runs the tests, they are run as root and as an unprivileged user. Tests that cannot run here
//! are ignored; in CI (`CI=true`) they fail.

use std::fs::{self, Permissions};
use std::os::unix::fs::{PermissionsExt as _, chown, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::common::files::executable;
use crate::common::{Referee, Run};
use crate::hostile::{shared, without_name_spaces};
use crate::requirements::{is_ci, program, unavailable};
use libtest_mimic::{Failed, Trial};
use rustix::process::getuid;

/// The unprivileged user: `nobody` on every system.
const NOBODY: u32 = 65534;

/// A bot that answers with what it imports.
const PYTHON_BOT: &str =
    "import probe\nimport sys\nfor line in sys.stdin:\n    print(probe.ANSWER, flush=True)\n";

/// What it imports.
const PACKAGE: &str = "ANSWER = '- K'\n";

/// The first turn of a bot that found it.
const ANSWER: &str = "- K";

/// The system's Python, which virtual environments are made by.
const PYTHON: &str = "/usr/bin/python3";

/// A shim as pyenv writes it.
const SHIM: &str = "#!/usr/bin/env bash\nset -e\nprogram=\"${0##*/}\"\nexport PYENV_ROOT=\"@ROOT@\"\nexec \"@ROOT@/libexec/pyenv\" exec \"$program\" \"$@\"\n";

/// What the shim runs.
const MANAGER: &str = "#!/bin/sh\nroot=@ROOT@\ncommand=$1\nprogram=$root/versions/$(cat .python-version \"$root/version\" 2>/dev/null | head -n 1)/bin/$2\nshift 2\n[ \"$command\" = exec ] && exec \"$program\" \"$@\"\necho \"$program\"\n";

/// A Python that finds its packages in its own installation.
const INSTALLED_PYTHON: &str =
    "#!/bin/sh\nlib=${0%/*}/../lib/packages\nPYTHONPATH=$lib exec /usr/bin/python3 \"$@\"\n";

/// An interpreter of another language, whose answers lie in its library.
const INSTALLED_NODE: &str = "#!/bin/sh\nself=$(readlink -f \"$0\")\nwhile read -r line; do cat \"${self%/*}/../lib/node_modules/probe\"; done\n";

/// A home with interpreters in it, and a bot.
struct World {
    referee: Referee,
    home: PathBuf,
    bots: PathBuf,
}

impl World {
    fn new(kind: &str) -> Self {
        let referee = Referee::new([
            "--sandbox",
            kind,
            "--seed",
            "1",
            "--first",
            "1",
            "--json",
            "-vv",
        ]);
        let root = referee.scratch().to_owned();
        fs::set_permissions(&root, Permissions::from_mode(0o755)).expect("a mode");
        let [home, bots, tmp] = ["home", "bots", "tmp"].map(|name| root.join(name));
        for directory in [&home, &bots, &tmp] {
            fs::create_dir(directory).expect("a directory");
        }
        Self {
            referee,
            home,
            bots,
        }
    }

    /// A bot of its own directory.
    fn bot(&self, name: &str, text: &str) -> String {
        let path = self.bots.join(name);
        fs::create_dir_all(path.parent().expect("a directory")).expect("a directory");
        executable(&path, text, 0o755);
        path.to_string_lossy().into_owned()
    }

    /// Closes all of it to others.
    fn close(&self) {
        let only_mine = Permissions::from_mode(0o700);
        fs::set_permissions(self.referee.scratch(), only_mine).expect("a mode");
    }

    /// Plays the bot with these directories before those of the system in the search path.
    fn play(self, bot: &str, path: &[&Path], as_nobody: bool) -> Run {
        let user = if as_nobody {
            give(self.referee.scratch());
            format!("setpriv --reuid={NOBODY} --regid={NOBODY} --clear-groups -- ")
        } else {
            String::new()
        };
        self.play_by(&format!("exec {user}"), bot, path)
    }

    /// Likewise, with the beginning of a shell command that starts the referee.
    fn play_by(self, start: &str, bot: &str, path: &[&Path]) -> Run {
        let root = self.referee.scratch().to_owned();
        let directories: Vec<_> = path.iter().map(|path| path.to_string_lossy()).collect();
        let path = [directories.join(":"), "/usr/local/bin:/usr/bin:/bin".into()].join(":");
        let program = shared().join("referee");
        let opponent = if self.bots.join("b").exists() {
            &[bot][..]
        } else {
            &[bot, "builtin:random"]
        };
        self.referee
            .args(opponent)
            .env("HOME", &self.home)
            .env("PATH", path.trim_start_matches(':'))
            .env("TMPDIR", root.join("tmp"))
            .directory(&root)
            .shell(format!("{start}'{}' \"$@\"", program.display()))
            .run()
    }
}

/// Gives a directory with all that is in it to the unprivileged user.
fn give(path: &Path) {
    if !path.is_symlink() {
        chown(path, Some(NOBODY), Some(NOBODY)).expect("root");
        for entry in fs::read_dir(path).into_iter().flatten().flatten() {
            give(&entry.path());
        }
    }
}

/// A virtual environment with the package.
fn environment(at: &Path) {
    let status = Command::new(PYTHON)
        .args(["-m", "venv", "--without-pip"])
        .arg(at)
        .status()
        .expect("python3 starts");
    assert!(status.success(), "no virtual environment");
    let lib = fs::read_dir(at.join("lib")).expect("a directory");
    for python in lib.flatten() {
        fs::write(python.path().join("site-packages/probe.py"), PACKAGE).expect("a file");
    }
}

/// Something that pyenv has installed, in a home; where it is.
fn pyenv(home: &Path) -> PathBuf {
    let root = home.join(".pyenv");
    let version = root.join("versions/3.11.4");
    for directory in [
        root.join("shims"),
        root.join("libexec"),
        version.join("bin"),
        version.join("lib/packages"),
    ] {
        fs::create_dir_all(directory).expect("a directory");
    }
    let shim = SHIM.replace("@ROOT@", &root.to_string_lossy());
    executable(&root.join("shims/python3"), shim, 0o755);
    let manager = MANAGER.replace("@ROOT@", &root.to_string_lossy());
    executable(&root.join("libexec/pyenv"), manager, 0o755);
    executable(&version.join("bin/python3"), INSTALLED_PYTHON, 0o755);
    fs::write(version.join("lib/packages/probe.py"), PACKAGE).expect("a file");
    fs::write(root.join("version"), "3.11.4\n").expect("a file");
    root
}

/// Something that nvm has installed, in a home; where it is.
fn nvm(home: &Path) -> PathBuf {
    let version = home.join(".nvm/versions/node/v20.1.0");
    for directory in ["bin", "lib/node_modules"] {
        fs::create_dir_all(version.join(directory)).expect("a directory");
    }
    executable(&version.join("bin/node"), INSTALLED_NODE, 0o755);
    let answer = version.join("lib/node_modules/probe");
    fs::write(answer, format!("{ANSWER}\n")).expect("a file");
    version
}

/// Sets up a bot, and gives its command and the directories that the search path begins with.
type Setup = fn(&World) -> (String, Vec<PathBuf>);

const SETUPS: [(&str, Setup); 9] = [
    ("virtual environment that is active", |world| {
        let path = world.home.join("env");
        environment(&path);
        let bot = world.bot("a/bot.py", &format!("#!/usr/bin/env python3\n{PYTHON_BOT}"));
        (bot, vec![path.join("bin")])
    }),
    ("virtual environment in the first line", |world| {
        let path = world.home.join("env");
        environment(&path);
        let python = path.join("bin/python");
        let bot = world.bot("a/bot.py", &format!("#!{}\n{PYTHON_BOT}", python.display()));
        (bot, vec![path.join("bin")])
    }),
    ("virtual environment on the command line", |world| {
        let path = world.home.join("env");
        environment(&path);
        let bot = world.bot("a/bot.py", PYTHON_BOT);
        (
            format!("{} {bot}", path.join("bin/python").display()),
            Vec::new(),
        )
    }),
    ("virtual environment among its own files", |world| {
        let bot = world.bot("a/bot.py", PYTHON_BOT);
        let path = world.bots.join("a/env");
        environment(&path);
        (
            format!("{} {bot}", path.join("bin/python3").display()),
            Vec::new(),
        )
    }),
    ("own virtual environment in the first line", |world| {
        let path = world.bots.join("a/env");
        let python = path.join("bin/python3");
        let bot = world.bot(
            "a/bot.py",
            &format!("#!{} -u\n{PYTHON_BOT}", python.display()),
        );
        environment(&path);
        (bot, Vec::new())
    }),
    ("shim of pyenv", |world| {
        let root = pyenv(&world.home);
        let bot = world.bot("a/bot.py", &format!("#!/usr/bin/env python3\n{PYTHON_BOT}"));
        (bot, vec![root.join("shims")])
    }),
    ("shell script that starts what pyenv has", |world| {
        let root = pyenv(&world.home);
        let bot = world.bot("a/run.sh", "#!/bin/sh\nexec python3 \"${0%/*}/bot.py\"\n");
        fs::write(world.bots.join("a/bot.py"), PYTHON_BOT).expect("a file");
        (bot, vec![root.join("shims")])
    }),
    ("version of nvm", |world| {
        let version = nvm(&world.home);
        let bot = world.bot("a/bot.js", "#!/usr/bin/env node\n");
        (bot, vec![version.join("bin")])
    }),
    ("link to a version, in a directory of links", |world| {
        let version = nvm(&world.home);
        symlink("v20.1.0", version.with_file_name("current")).expect("a link");
        let links = world.home.join("bin");
        fs::create_dir(&links).expect("a directory");
        fs::write(links.join("private"), "secret").expect("a file");
        symlink("../.nvm/versions/node/current/bin/node", links.join("node")).expect("a link");
        let bot = world.bot("a/bot.js", "#!/usr/bin/env node\n");
        (bot, vec![links])
    }),
];

/// A bot that gives A if it can read a file of the organiser's, and else K.
const READER: &str = "import sys\nfor line in sys.stdin:\n    try:\n        open('@SECRET@').read()\n        print('- A', flush=True)\n    except OSError:\n        print('- K', flush=True)\n";

/// A program of the organiser's that runs any script.
const PRIVATE: &str = "#!/bin/sh\nexec /usr/bin/python3 \"$@\"\n";

/// The bot with this first line; its mode decides whether that counts.
fn reader(world: &World, first_line: &str, mode: u32) -> (String, Vec<PathBuf>) {
    let exam = world.home.join("exam");
    fs::create_dir(&exam).expect("a directory");
    executable(&exam.join("grade.sh"), PRIVATE, 0o755);
    fs::write(exam.join("secret"), "secret").expect("a file");
    let secret = exam.join("secret").to_string_lossy().into_owned();
    let line = first_line
        .replace("@EXAM@", &exam.to_string_lossy())
        .replace("@BOTS@", &world.bots.to_string_lossy());
    let text = format!("#!{line}\n{}", READER.replace("@SECRET@", &secret));
    let bot = world.bot("a/bot.py", &text);
    fs::set_permissions(&bot, Permissions::from_mode(mode)).expect("a mode");
    (bot, Vec::new())
}

/// Bots that try to be shown what their words or files name.
const ATTACKS: [(&str, Setup); 6] = [
    ("argument of env", |world| {
        reader(
            world,
            "/usr/bin/env -S -u @EXAM@/grade.sh /usr/bin/python3",
            0o755,
        )
    }),
    ("private program", |world| {
        reader(world, "@EXAM@/grade.sh", 0o755)
    }),
    (
        "private program of a script that is not executable",
        |world| reader(world, "@EXAM@/grade.sh", 0o644),
    ),
    ("base of an environment", |world| {
        let environment = world.bots.join("a/env");
        let settings = format!("home = {}\n", world.home.join("exam").display());
        fs::create_dir_all(environment.join("bin")).expect("a directory");
        fs::write(environment.join("pyvenv.cfg"), settings).expect("a file");
        executable(&environment.join("bin/grade.sh"), PRIVATE, 0o755);
        reader(world, "@BOTS@/a/env/bin/grade.sh", 0o755)
    }),
    ("base of an environment elsewhere", |world| {
        let environment = world.bots.join("earlier/env");
        let settings = format!("home = {}\n", world.home.join("exam").display());
        fs::create_dir_all(environment.join("bin")).expect("a directory");
        fs::write(environment.join("pyvenv.cfg"), settings).expect("a file");
        executable(&environment.join("bin/grade.sh"), PRIVATE, 0o755);
        reader(world, "@BOTS@/earlier/env/bin/grade.sh", 0o755)
    }),
    ("version by a path", |world| {
        let root = pyenv(&world.home);
        let (bot, _) = reader(world, "/usr/bin/env python3", 0o755);
        let exam = world.home.join("exam");
        fs::create_dir(exam.join("bin")).expect("a directory");
        executable(&exam.join("bin/python3"), PRIVATE, 0o755);
        // The referee starts in the folder above, as one does to play a class.
        let above = world.home.parent().expect("a directory");
        fs::write(above.join(".python-version"), "../../exam\n").expect("a file");
        (bot, vec![root.join("shims")])
    }),
];

/// Whether the bot read what it must not: a refusal is as good as a failure to.
fn reads(run: &Run) -> bool {
    let refused = run.code == Some(2) && run.stderr.contains("--expose");
    !refused && run.printed_records()[0]["turns"][0] != ANSWER
}

fn is_not_shown(setup: Setup, kind: &str, as_nobody: bool, is_closed: bool) -> Result<(), Failed> {
    let world = World::new(kind);
    let (bot, path) = setup(&world);
    let path: Vec<&Path> = path.iter().map(PathBuf::as_path).collect();
    let run = if is_closed {
        world.close();
        world.play_by(PRIVATELY, &bot, &path)
    } else {
        world.play(&bot, &path, as_nobody)
    };
    if reads(&run) == (kind == "none") {
        Ok(())
    } else {
        Err(run.to_string().into())
    }
}

/// A first line that names the opponent's program.
fn opponent_is_not_shown(kind: &str, as_nobody: bool) -> Result<(), Failed> {
    let world = World::new(kind);
    let opponent = world.bot("b/opponent.sh", "#!/bin/sh\nread x\necho - K\nread x\n");
    let text = format!("#!{opponent}\n{}", READER.replace("@SECRET@", &opponent));
    let bot = world.bot("a/bot.py", &text);
    fs::set_permissions(&bot, Permissions::from_mode(0o644))?;
    let World {
        referee,
        home,
        bots,
    } = world;
    let referee = referee.args([&bot]);
    let world = World {
        referee,
        home,
        bots,
    };
    let run = world.play(&opponent, &[], as_nobody);
    if reads(&run) == (kind == "none") {
        Ok(())
    } else {
        Err(run.to_string().into())
    }
}

fn plays(setup: Setup, kind: &str, as_nobody: bool) -> Result<(), Failed> {
    let world = World::new(kind);
    let (bot, path) = setup(&world);
    let path: Vec<&Path> = path.iter().map(PathBuf::as_path).collect();
    answered(&world.play(&bot, &path, as_nobody))
}

fn answered(run: &Run) -> Result<(), Failed> {
    if run.code == Some(0) && run.printed_records()[0]["turns"][0] == ANSWER {
        Ok(())
    } else {
        Err(run.to_string().into())
    }
}

/// An interpreter that lies open in a home is not shown, since all of the home would be.
fn is_refused_in_an_open_home(kind: &str, as_nobody: bool) -> Result<(), Failed> {
    let world = World::new(kind);
    for directory in ["bin", "lib/node_modules"] {
        fs::create_dir_all(world.home.join(directory)).expect("a directory");
    }
    executable(&world.home.join("bin/node"), b"\x7fELF", 0o755);
    let bot = world.bot("a/bot.js", "#!/usr/bin/env node\n");
    let bin = world.home.join("bin");
    let expose = format!("--expose {}", world.home.canonicalize()?.display());
    let run = world.play(&bot, &[&bin], as_nobody);
    let told = ["cannot start bot.js", "does not see", &expose]
        .iter()
        .all(|part| run.stderr.contains(part));
    if run.code == Some(2) && told {
        Ok(())
    } else {
        Err(run.to_string().into())
    }
}

/// The first words of a shell that makes files for its own user only, and starts a program.
const PRIVATELY: &str = "umask 077; exec ";

/// Root's bots have a user of their own, to whom the home, the bots and the place for temporary files may be closed.
fn plays_in_a_closed_home(setup: Setup, kind: &str) -> Result<(), Failed> {
    let world = World::new(kind);
    let (bot, path) = setup(&world);
    world.close();
    let path: Vec<&Path> = path.iter().map(PathBuf::as_path).collect();
    answered(&world.play_by(PRIVATELY, &bot, &path))
}

/// Of what is closed to a bot, it sees what it needs and what was exposed to it: nothing else, and that is
/// read-only.
fn shows_nothing_else_of_a_closed_home(kind: &str) -> Result<(), Failed> {
    let world = World::new(kind);
    let root = pyenv(&world.home);
    for name in ["secret", "models/data/weights"] {
        let path = world.home.join(name);
        fs::create_dir_all(path.parent().expect("a directory"))?;
        fs::write(path, "text")?;
    }
    let exposed = world.home.join("models/data");
    let text = format!(
        "#!/usr/bin/env python3\n\
         import os, probe\n\
         home = '{}'\n\
         input()\n\
         good = open(home + '/models/data/weights').read() == 'text'\n\
         for path in ['/secret', '/.pyenv/version', '/.pyenv/shims', '/../bots']:\n\
         \x20   good &= not os.path.exists(home + path)\n\
         for path in ['/new', '/.pyenv/new', '/.pyenv/versions/3.11.4/new', '/models/data/weights']:\n\
         \x20   try:\n\
         \x20       open(home + path, 'w')\n\
         \x20       good = False\n\
         \x20   except OSError:\n\
         \x20       pass\n\
         print(probe.ANSWER if good else '- A', flush=True)\n\
         input()\n",
        world.home.display()
    );
    let bot = world.bot("a/bot.py", &text);
    world.close();
    let expose = exposed.to_string_lossy().into_owned();
    let World {
        referee,
        home,
        bots,
    } = world;
    let referee = referee.args(["--expose", &expose]);
    let world = World {
        referee,
        home,
        bots,
    };
    let run = world.play_by(PRIVATELY, &bot, &[&root.join("shims")]);
    match (kind, answered(&run)) {
        ("none", Err(_)) => Ok(()),
        ("none", Ok(())) => Err(run.to_string().into()),
        (_, answered) => answered,
    }
}

/// Without name spaces Landlock makes no way around a closed home.
fn is_refused_in_a_closed_home() -> Result<(), Failed> {
    let world = World::new("landlock");
    let root = pyenv(&world.home);
    fs::set_permissions(&world.home, Permissions::from_mode(0o700))?;
    let home = world.home.canonicalize()?;
    let bot = world.bot("a/bot.py", &format!("#!/usr/bin/env python3\n{PYTHON_BOT}"));
    let start = format!("exec '{}' ", without_name_spaces().display());
    let run = world.play_by(&start, &bot, &[&root.join("shims")]);
    let parts = [
        "cannot start bot.py",
        &format!("chmod o+x {}", home.display()),
        "--sandbox bwrap",
    ];
    if run.code == Some(2) && parts.iter().all(|part| run.stderr.contains(part)) {
        Ok(())
    } else {
        Err(run.to_string().into())
    }
}

/// An installation that is closed itself cannot be read, whatever the way to it.
fn is_refused_when_closed_itself(kind: &str) -> Result<(), Failed> {
    let world = World::new(kind);
    let root = pyenv(&world.home);
    let version = root.join("versions/3.11.4").canonicalize()?;
    fs::set_permissions(&version, Permissions::from_mode(0o700))?;
    let bot = world.bot("a/bot.py", &format!("#!/usr/bin/env python3\n{PYTHON_BOT}"));
    let run = world.play(&bot, &[&root.join("shims")], false);
    let parts = [
        "cannot start bot.py",
        &format!("chmod o+rx {}", version.display()),
    ];
    if run.code == Some(2) && parts.iter().all(|part| run.stderr.contains(part)) {
        Ok(())
    } else {
        Err(run.to_string().into())
    }
}

/// What else is in the home stays out of sight.
fn shows_nothing_else(kind: &str, as_nobody: bool) -> Result<(), Failed> {
    let world = World::new(kind);
    let root = pyenv(&world.home);
    let secret = world.home.join("secret");
    fs::write(&secret, "secret").expect("a file");
    let text = format!(
        "#!/usr/bin/env python3\nimport os\ninput()\nopened = ''\nfor path in ['{}', '{}']:\n    try:\n        opened += open(path).read()\n    except OSError:\n        pass\nprint('- A' if opened else '- K', flush=True)\ninput()\n",
        secret.display(),
        root.join("version").display()
    );
    let bot = world.bot("a/bot.py", &text);
    let run = world.play(&bot, &[&root.join("shims")], as_nobody);
    let expected = if kind == "none" { "- A" } else { ANSWER };
    let found = run.printed_records()[0]["turns"][0] == expected;
    if found {
        Ok(())
    } else {
        Err(run.to_string().into())
    }
}

/// What a program in C is needed for.
const NO_NAME_SPACES: &str = "interpreter in a closed home, without name spaces";

pub(crate) fn trials() -> Vec<Trial> {
    let mut trials = Vec::new();
    if !Path::new(PYTHON).exists() || program("setpriv", &[]).is_none() {
        trials.push(unavailable("interpreters::all", "python3", "python3-venv"));
        return trials;
    }
    let users: &[bool] = if getuid().is_root() {
        &[false, true]
    } else {
        &[false]
    };
    let has_compiler = program("cc", &[]).is_some();
    if !has_compiler {
        let name = format!("interpreters::{NO_NAME_SPACES}");
        trials.push(unavailable(&name, "cc", "gcc"));
    }
    for kind in ["none", "bwrap", "landlock"] {
        let works = kind == "none" || crate::pieces::works(kind);
        for &as_nobody in users {
            let user = if as_nobody { ", as nobody" } else { "" };
            let mut add = |name: &str, test: Box<dyn FnOnce() -> Result<(), Failed> + Send>| {
                let trial = Trial::test(format!("interpreters::{name} ({kind}{user})"), test);
                trials.push(trial.with_ignored_flag(!works && !is_ci()));
            };
            for (name, setup) in SETUPS {
                add(name, Box::new(move || plays(setup, kind, as_nobody)));
            }
            for (name, setup) in ATTACKS {
                let name = format!("attack by {name}");
                add(
                    &name,
                    Box::new(move || is_not_shown(setup, kind, as_nobody, false)),
                );
                if getuid().is_root() && !as_nobody {
                    let name = format!("{name}, in a closed home");
                    add(
                        &name,
                        Box::new(move || is_not_shown(setup, kind, false, true)),
                    );
                }
            }
            add(
                "attack by the opponent's program",
                Box::new(move || opponent_is_not_shown(kind, as_nobody)),
            );
            add(
                "nothing else of the home",
                Box::new(move || shows_nothing_else(kind, as_nobody)),
            );
            if getuid().is_root() && !as_nobody {
                for (name, setup) in SETUPS {
                    let name = format!("{name}, in a closed home");
                    add(&name, Box::new(move || plays_in_a_closed_home(setup, kind)));
                }
                add(
                    "nothing else of a closed home",
                    Box::new(move || shows_nothing_else_of_a_closed_home(kind)),
                );
                if kind != "none" {
                    add(
                        "installation that is closed itself",
                        Box::new(move || is_refused_when_closed_itself(kind)),
                    );
                }
                if kind == "landlock" && has_compiler {
                    add(NO_NAME_SPACES, Box::new(is_refused_in_a_closed_home));
                }
            }
            if kind != "none" {
                add(
                    "interpreter in an open home",
                    Box::new(move || is_refused_in_an_open_home(kind, as_nobody)),
                );
            }
        }
    }
    trials
}
