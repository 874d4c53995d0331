//! What the programs of `examples/` and of `crates/games/examples/` print.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

/// The folder of the built examples. They are built here, so that they are never older than the
/// library when only some tests are run.
fn examples() -> &'static Path {
    static FOLDER: OnceLock<PathBuf> = OnceLock::new();
    FOLDER.get_or_init(|| {
        let referee = Path::new(env!("CARGO_BIN_EXE_referee"));
        let folder = referee.parent().expect("a folder");
        let mut cargo = Command::new(env!("CARGO"));
        cargo.args(["build", "--examples", "--quiet", "--offline", "--locked"]);
        if folder.ends_with("release") {
            cargo.arg("--release");
        }
        cargo.current_dir(env!("CARGO_MANIFEST_DIR"));
        cargo
            .arg("--target-dir")
            .arg(folder.parent().expect("a folder"));
        let built = cargo.output().expect("cargo");
        assert!(
            built.status.success(),
            "{}",
            String::from_utf8_lossy(&built.stderr)
        );
        folder.join("examples")
    })
}

fn run(example: &str, arguments: &[&str]) -> String {
    let mut command = Command::new(examples().join(example));
    let output = command.args(arguments).output().expect("a built example");
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{example}: {stderr}");
    String::from_utf8(output.stdout).expect("UTF-8")
}

/// A built-in bot as any other program is given.
fn builtin(name: &str) -> String {
    let referee = shell_words::quote(env!("CARGO_BIN_EXE_referee")).into_owned();
    format!("{referee} bot {name}")
}

#[test]
fn a_match() {
    let (greedy, random) = (builtin("greedy"), builtin("random"));
    let score = run("play_match", &[&greedy, &random]);
    assert_eq!(score, run("play_match", &[&greedy, &random]), "seeded");
    let points: Vec<f64> = score
        .split(' ')
        .filter_map(|word| word.parse().ok())
        .collect();
    assert!(points.iter().sum::<f64>() >= 10.0, "{score}");
}

#[test]
fn a_tournament() {
    let bots = ["greedy", "random", "greedy"].map(builtin);
    let table = run("tournament", &bots.each_ref().map(String::as_str));
    for part in ["bot", "referee#1", "referee#3", "12 games"] {
        assert!(table.to_lowercase().contains(part), "{part}: {table}");
    }
}

#[test]
fn a_position() {
    let solved = run("solve_position", &["KH.FN.CMDA.JP.O. B"]);
    assert!(solved.starts_with("Some(Win) in Some(1)\n"), "{solved}");
    assert!(solved.contains("\n16 -: Some(Win)\n"), "{solved}");
}

#[test]
fn a_bot_with_the_solver() {
    let bot = examples().join("solver_bot");
    let bot = shell_words::quote(&bot.to_string_lossy()).into_owned();
    let score = run("play_match", &[&bot, &builtin("random")]);
    assert!(score.contains(" - "), "{score}");
}

/// A folder with the launcher, and programs that it finds instead of those that are installed.
#[cfg(unix)]
struct Launcher(tempfile::TempDir);

#[cfg(unix)]
impl Launcher {
    fn new() -> Self {
        let launcher = Self(crate::common::plain_directory());
        launcher.script("a house/referee", include_str!("../../referee"));
        let manifest = launcher.path("a house/Cargo.toml");
        fs::write(manifest, "rust-version = \"1.95\"\n").expect("written");
        fs::create_dir(launcher.path("bin")).expect("created");
        let path = std::env::var_os("PATH").expect("a search path");
        for tool in [
            "chmod", "dirname", "grep", "mkdir", "mktemp", "mv", "rm", "sed", "sh", "sleep",
            "tail", "touch", "tr",
        ] {
            let mut all = std::env::split_paths(&path).map(|folder| folder.join(tool));
            let program = all.find(|program| program.is_file()).expect(tool);
            std::os::unix::fs::symlink(program, launcher.path("bin").join(tool)).expect(tool);
        }
        launcher
    }

    fn path(&self, path: &str) -> PathBuf {
        self.0.path().join(path)
    }

    fn script(&self, path: &str, text: &str) {
        let path = self.path(path);
        fs::create_dir_all(path.parent().expect("a parent")).expect("created");
        let _ = fs::remove_file(&path);
        crate::common::files::executable(&path, text, 0o755);
    }

    /// A `cargo` that builds.
    fn builds(&self, before: &str) {
        let text = r#"
            for word; do case $word in */Cargo.toml) manifest=$word ;; esac; done
            program=$(dirname "$manifest")/target/debug/referee
            mkdir -p "${program%/*}"
            printf '#!/bin/sh\nprintf "<%%s>" "$@"\nexit 3\n' >"$program.new"
            chmod +x "$program.new"
            mv "$program.new" "$program"
            echo '    Finished `dev` profile' >&2
        "#;
        self.script("bin/cargo", &format!("#!/bin/sh\n{before}\n{text}"));
    }

    /// What is printed when it builds with a `cargo` that fails with this sentence, and the status.
    fn fails(&self, sentence: &str) -> (String, Option<i32>) {
        let cargo = format!(
            "#!/bin/sh\nsed '' >&2 <<'E'\n   Compiling serde v1.0.0\nerror: {sentence}\nE\nexit 101\n"
        );
        self.script("bin/cargo", &cargo);
        let run = self.run("bin");
        (text(&run.stderr), run.status.code())
    }

    fn run(&self, path: &str) -> std::process::Output {
        let mut command = Command::new(self.path("a house/referee"));
        command
            .args(["-v", "python3 my bot.py", "*"])
            .env_clear()
            .env("PATH", self.path(path));
        command.output().expect("the launcher")
    }
}

#[cfg(unix)]
fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

#[cfg(unix)]
const ONCE: &str = "referee: building (once, one to two minutes on two cores)\n";

/// The launcher builds by the `cargo` in PATH and passes on arguments and status as they are.
#[cfg(unix)]
#[test]
fn the_launcher() {
    let launcher = Launcher::new();
    launcher.builds("");
    let built = launcher.run("bin");
    assert_eq!(text(&built.stdout), "<-v><python3 my bot.py><*>");
    assert_eq!(built.status.code(), Some(3));
    assert_eq!(text(&built.stderr), ONCE);
    assert_eq!(text(&launcher.run("bin").stderr), "", "it is built");
    launcher.builds("echo 'warning: unused' >&2");
    assert_eq!(text(&launcher.run("bin").stderr), "warning: unused\n");
}

/// Ten seconds are what a `sleep` says that ends once Cargo has told its progress; Cargo ends once that was passed on.
#[cfg(unix)]
#[test]
fn the_launcher_says_how_far_it_is() {
    let launcher = Launcher::new();
    let real = fs::read_link(launcher.path("bin/sleep")).expect("a link");
    let wait = |file: &str| {
        let nap = real.display();
        format!("until [ -e \"$here/{file}\" ]; do {nap} 0.01; done")
    };
    let here = format!("here='{}'", launcher.0.path().display());
    let told = wait("told");
    let again = format!(
        "#!/bin/sh\n{here}\n[ ! -e \"$here/slept\" ] || {{ touch \"$here/passed-on\"; exec {} 1000; }}\n\
        {told}\ntouch \"$here/slept\"\n",
        real.display()
    );
    launcher.script("bin/sleep", &again);
    let passed_on = wait("passed-on");
    launcher.builds(&format!(
        "{here}\nprintf '   Compiling serde v1.0.0\\n    Building [==>   ] 56/174: libc   \\r' >&2\n\
         printf '    Building [==>   ] 57/174: serde, syn(build)   \\r' >&2\ntouch \"$here/told\"\n{passed_on}"
    ));
    let run = launcher.run("bin");
    let progress = "referee: building for 10 s: compiled 57 of 174\n";
    assert_eq!(text(&run.stderr), format!("{ONCE}{progress}"));
    assert_eq!(run.status.code(), Some(3));
}

/// It says the one thing to do where it is seen what is missing, and what Cargo said.
#[cfg(unix)]
#[test]
fn the_launcher_says_what_is_missing() {
    let launcher = Launcher::new();
    let rustc = |version: &str| {
        let text = format!("#!/bin/sh\necho 'rustc {version} (a1b2c3d4e 2026-01-01)'\n");
        launcher.script("bin/rustc", &text);
    };
    let without = launcher.run("nothing");
    let sentence = "referee: cargo: not found; install Rust (https://rustup.rs), or use a built program (docs/install.md)\n";
    assert_eq!(text(&without.stderr), sentence);
    assert_eq!(without.status.code(), Some(2));

    let no_rustc = "could not execute process `rustc -vV` (never executed)";
    let old = "rustc 1.84.0 is not supported by the following package:";
    let no_linker = "linker `cc` not found";
    let part = "linking with `cc` failed: exit status: 1";
    let part_more = "linking with `cc` failed: collect2: fatal error: cannot find 'ld'";
    let no_network = "failed to get `serde` as a dependency of package `referee`\n\nCaused by:\n  \
        [6] Could not resolve hostname (Could not resolve host: index.crates.io)";
    let other = "could not write to target: No space left on device";
    for (version, said, advice) in [
        (
            None,
            no_rustc,
            "rustc: not found, or it does not run; install Rust (https://rustup.rs), or use a built program",
        ),
        (
            Some("1.84.0"),
            old,
            "Rust 1.84.0 is too old, 1.95 or newer is needed: install it anew (https://rustup.rs)\n",
        ),
        (
            Some("1.94.1-nightly"),
            no_network,
            "Rust 1.94.1 is too old, 1.95 or newer is needed: ",
        ),
        (
            Some("1.95.0"),
            no_linker,
            "the C compiler that Rust links with is missing, or a part of it; install it ",
        ),
        (
            Some("1.95.0"),
            part_more,
            "the C compiler that Rust links with is missing, or a part of it; install it ",
        ),
        (
            Some("1.100.0"),
            no_network,
            "the crates that it is built of could not be fetched; connect to the internet, or use",
        ),
        (Some("1.95.0"), part, ""),
        (Some("1.95.0"), other, ""),
        (Some("2.0.0"), other, ""),
    ] {
        if let Some(version) = version {
            rustc(version);
        }
        let (stderr, status) = launcher.fails(said);
        let said = said.replace("\n\n", "\n");
        let rest = stderr.strip_prefix(&format!("{ONCE}error: {said}\n"));
        let rest = rest.unwrap_or_else(|| panic!("{stderr}"));
        if advice.is_empty() {
            assert_eq!((rest, status), ("", Some(1)), "{said}");
        } else {
            assert!(rest.starts_with(&format!("referee: {advice}")), "{stderr}");
            assert_eq!((rest.lines().count(), status), (1, Some(2)), "{stderr}");
        }
    }
    launcher.script("bin/rustup", "#!/bin/sh\n");
    rustc("1.84.0");
    let (stderr, _) = launcher.fails(old);
    assert!(
        stderr.ends_with("or newer is needed: rustup update\n"),
        "{stderr}"
    );
}
