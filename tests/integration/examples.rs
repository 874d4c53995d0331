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

/// The launcher builds by the `cargo` in PATH and passes on arguments and status as they are.
#[cfg(unix)]
#[test]
fn the_launcher() {
    use std::os::unix::fs::PermissionsExt as _;

    let folder = tempfile::tempdir().expect("a folder");
    let script = |path: &str, text: &str| {
        let path = folder.path().join(path);
        fs::create_dir_all(path.parent().expect("a parent")).expect("created");
        fs::write(&path, text).expect("written");
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).expect("executable");
    };
    script("a house/referee", include_str!("../../referee"));
    script(
        "bin/cargo",
        "#!/bin/sh\nfor word; do manifest=$word; done\nexec sh \"$(dirname \"$0\")/build\" \"$manifest\"\n",
    );
    script(
        "bin/build",
        "program=$(dirname \"$1\")/target/debug/referee\nmkdir -p \"${program%/*}\"\n\
        printf '#!/bin/sh\\nprintf \"<%%s>\" \"$@\"\\nexit 3\\n' >\"$program\"\nchmod +x \"$program\"\n",
    );
    let launcher = folder.path().join("a house/referee");
    let path = format!("{}:/usr/bin:/bin", folder.path().join("bin").display());
    let run = |path: &str| {
        let mut command = Command::new(&launcher);
        command
            .args(["-v", "python3 my bot.py", "*"])
            .env_clear()
            .env("PATH", path);
        command.output().expect("the launcher")
    };
    let built = run(&path);
    assert_eq!(
        String::from_utf8_lossy(&built.stdout),
        "<-v><python3 my bot.py><*>"
    );
    assert_eq!(built.status.code(), Some(3));
    assert!(String::from_utf8_lossy(&built.stderr).contains("once"));
    assert!(run(&path).stderr.is_empty(), "it is built");
    let without = run("/nowhere");
    assert_eq!(without.status.code(), Some(2), "{without:?}");
    assert!(String::from_utf8_lossy(&without.stderr).contains("install Rust"));
}
