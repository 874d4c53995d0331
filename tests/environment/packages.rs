//! The packages of a release, each tried as a user does who has nothing else of the project: in an empty folder, with
//! an empty home directory. `scripts/packages/make.py` makes them in target/packages; without them these
//! tests are ignored.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use libtest_mimic::{Failed, Trial};
use rustix::process::getuid;
use tempfile::TempDir;

use crate::requirements::{program, unavailable};
use crate::windows;

const VERSION: &str = env!("CARGO_PKG_VERSION");

/// A test, and the programs that it needs, with their Debian packages.
type Test = (
    &'static str,
    fn() -> Result<(), Failed>,
    &'static [(&'static str, &'static str)],
);

const TESTS: &[Test] = &[
    ("check_sums", check_sums, &[]),
    ("archive", archive, &[]),
    ("archive_alone", archive_alone, &[("bwrap", "bubblewrap")]),
    ("archive_for_arm64", arm64, &[("qemu-aarch64", "qemu-user")]),
    ("archive_for_windows", zip, windows::NEEDS),
    ("debian_package", deb, &[("dpkg-deb", "dpkg")]),
    ("wheel", wheel, &[("python3", "python3 python3-venv")]),
    (
        "module_of_python",
        module_of_python,
        &[("python3", "python3 python3-venv")],
    ),
    (
        "wheels_for_others",
        wheels_for_others,
        &[("python3", "python3 python3-venv")],
    ),
    (
        "time_to_a_first_match",
        time,
        &[("python3", "python3 python3-venv")],
    ),
];

pub(crate) fn trials() -> Vec<Trial> {
    let are_made = is_made();
    let trials = TESTS.iter().map(|&(name, test, needs)| {
        let name = format!("packages::{name}");
        let missing = needs
            .iter()
            .find(|(command, _)| program(command, &[]).is_none());
        match missing {
            _ if !are_made => unavailable(
                name,
                "package in target/packages",
                "none, but: scripts/packages/make.py",
            ),
            Some((command, package)) => unavailable(name, command, package),
            None if name.ends_with("of_python") && !source("target/wheelhouse").is_dir() => {
                unavailable(
                    name,
                    "package in target/wheelhouse",
                    "none, but: scripts/packages/check_wheel.py --download",
                )
            }
            None => Trial::test(name, test),
        }
    });
    trials.collect()
}

fn is_made() -> bool {
    directory().join("SHA256SUMS").is_file()
}

fn source(file: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(file)
}

fn directory() -> PathBuf {
    source("target/packages")
}

/// The package whose name ends so.
fn package(ending: &str) -> Result<PathBuf, Failed> {
    let files = fs::read_dir(directory())?.flatten();
    let mut files = files.filter(|file| file.file_name().to_string_lossy().ends_with(ending));
    match (files.next(), files.next()) {
        (Some(file), None) => Ok(file.path()),
        _ => Err(format!("not one package is called …{ending}").into()),
    }
}

/// An empty folder, with an empty home directory in it.
struct Empty(TempDir);

impl Empty {
    fn new() -> Result<Self, Failed> {
        let folder = Self(tempfile::tempdir()?);
        fs::create_dir(folder.path("home"))?;
        Ok(folder)
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    /// Runs a script of a shell, which must succeed, and returns what it prints.
    fn run(&self, script: &str) -> Result<String, Failed> {
        let output = Command::new("timeout")
            .args(["300", "sh", "-e", "-c", script])
            .current_dir(self.0.path())
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .env("HOME", self.path("home"))
            .stdin(Stdio::null())
            .output()?;
        let stdout = String::from_utf8_lossy(&output.stdout).into_owned();
        if output.status.success() {
            return Ok(stdout);
        }
        let stderr = String::from_utf8_lossy(&output.stderr);
        Err(format!("{script}\n{}\n{stdout}{stderr}", output.status).into())
    }

    /// Runs the program of a package: its version, and a match.
    fn plays(&self, program: &str) -> Result<(), Failed> {
        has(
            &self.run(&format!("{program} --version"))?,
            &format!("referee {VERSION}\n"),
        )?;
        has(
            &self.run(&format!(
                "{program} -n 2 --seed 1 builtin:greedy builtin:random"
            ))?,
            "Score: builtin:greedy 2 - 0 builtin:random",
        )
    }
}

/// Fails unless the text has this part.
fn has(text: &str, part: &str) -> Result<(), Failed> {
    if text.contains(part) {
        return Ok(());
    }
    Err(format!("no {part:?} in\n{text}").into())
}

fn check_sums() -> Result<(), Failed> {
    let sums = fs::read_to_string(directory().join("SHA256SUMS"))?;
    let mut packages = 0;
    for file in fs::read_dir(directory())?.flatten() {
        let name = file.file_name().to_string_lossy().into_owned();
        if name != "SHA256SUMS" {
            has(&sums, &format!("  {name}\n"))?;
            packages += 1;
        }
    }
    if packages != 8 {
        return Err(format!("{packages} packages, but eight were expected:\n{sums}").into());
    }
    let checked = Command::new("sha256sum")
        .args(["--check", "--quiet", "--strict", "SHA256SUMS"])
        .current_dir(directory())
        .output()?;
    has(&format!("{}", checked.status), "exit status: 0")
}

/// Unpacks an archive of Linux; returns the name of its folder.
fn unpacked(empty: &Empty, target: &str) -> Result<String, Failed> {
    let archive = package(&format!("-{target}.tar.gz"))?;
    empty.run(&format!("tar xzf '{}'", archive.display()))?;
    let folder = format!("referee-{VERSION}-{target}");
    for file in [
        "README.md",
        "LICENSE-MIT",
        "LICENSE-APACHE",
        "man/referee.1",
        "man/referee-tournament.1",
        "docs/install.md",
    ] {
        if !empty.path(&folder).join(file).is_file() {
            return Err(format!("the archive has no {file}").into());
        }
    }
    for (shell, file) in [("bash", "referee.bash"), ("zsh", "_referee")] {
        // Not every shell is on every machine.
        if program(shell, &[]).is_some() {
            empty.run(&format!("{shell} -n {folder}/completions/{file}"))?;
        }
    }
    Ok(folder)
}

fn archive() -> Result<(), Failed> {
    let empty = Empty::new()?;
    let folder = unpacked(&empty, "x86_64-unknown-linux-musl")?;
    has(
        // It says so on stderr, and fails.
        &empty.run(&format!("LC_ALL=C ldd {folder}/referee 2>&1 || true"))?,
        if cfg!(target_env = "musl") {
            "Not a valid dynamic program"
        } else {
            "statically linked"
        },
    )?;
    empty.plays(&format!("./{folder}/referee"))?;
    // As its README says.
    empty.run(&format!(
        "cd {folder}; ./referee -v players/random.sh players/random.sh"
    ))?;
    // Nothing was written where nobody asked for it.
    has(
        &empty.run("ls -A home | wc -l")?.replace('\n', " files"),
        "0 files",
    )
}

/// Without anything else of a Linux system: no C library, no shell, no /etc.
fn archive_alone() -> Result<(), Failed> {
    let empty = Empty::new()?;
    let folder = unpacked(&empty, "x86_64-unknown-linux-musl")?;
    empty.plays(&format!(
        "bwrap --unshare-all --die-with-parent --clearenv --ro-bind {folder}/referee /referee --proc /proc --dev /dev \
         /referee"
    ))
}

/// QEMU emulates one process; so the bots are scripts that start it again.
fn arm64() -> Result<(), Failed> {
    let empty = Empty::new()?;
    let folder = unpacked(&empty, "aarch64-unknown-linux-musl")?;
    let referee = format!("qemu-aarch64 {}", empty.path(&folder).display());
    for bot in ["greedy", "random"] {
        let path = empty.path(&format!("{bot}.sh"));
        fs::write(
            &path,
            format!("#!/bin/sh\nexec {referee}/referee bot {bot}\n"),
        )?;
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755))?;
    }
    has(
        &empty.run(&format!("{referee}/referee --version"))?,
        VERSION,
    )?;
    has(
        &empty.run(&format!(
            "{referee}/referee --sandbox none --seed 1 --move-time 1m ./greedy.sh ./random.sh"
        ))?,
        "greedy.sh wins",
    )
}

fn zip() -> Result<(), Failed> {
    let empty = Empty::new()?;
    let archive = package("-x86_64-pc-windows-gnu.zip")?;
    empty.run(&format!("python3 -m zipfile -e '{}' .", archive.display()))?;
    let folder = empty.path(&format!("referee-{VERSION}-x86_64-pc-windows-gnu"));
    for (arguments, expected) in [
        (&["--version"][..], VERSION),
        (
            &[
                "--sandbox",
                "none",
                "--seed",
                "1",
                "builtin:greedy",
                "builtin:random",
            ],
            "builtin:greedy wins",
        ),
    ] {
        let printed = windows::run(&folder.join("referee.exe"), arguments)?;
        has(&printed, expected)?;
    }
    Ok(())
}

fn deb() -> Result<(), Failed> {
    package("_arm64.deb")?;
    let file = package("_amd64.deb")?;
    let file = file.display();
    let empty = Empty::new()?;
    let control = empty.run(&format!("dpkg-deb --field '{file}'"))?;
    for line in [
        "Package: referee\n",
        "Architecture: amd64\n",
        "Recommends: bubblewrap\n",
    ] {
        has(&control, line)?;
    }
    // A static program needs no other package.
    let mut depends = control
        .lines()
        .filter_map(|line| line.strip_prefix("Depends:"));
    if depends.any(|packages| !packages.trim().is_empty()) {
        return Err(control.into());
    }
    // Installed into an empty system; with an id of root's own, where the tests have none.
    let root = if getuid().is_root() {
        ""
    } else {
        "unshare --map-root-user"
    };
    let dpkg = format!("{root} dpkg --root=\"$PWD/system\" --force-not-root");
    empty.run("mkdir -p system/var/lib/dpkg/info system/var/lib/dpkg/updates; touch system/var/lib/dpkg/status")?;
    empty.run(&format!("{dpkg} --install '{file}'"))?;
    empty.plays("system/usr/bin/referee")?;
    let installed = empty.run("cd system; find usr -type f")?;
    for path in [
        "usr/share/man/man1/referee.1.gz\n",
        "usr/share/man/man1/referee-solve.1.gz\n",
        "usr/share/bash-completion/completions/referee\n",
        "usr/share/zsh/vendor-completions/_referee\n",
        "usr/share/fish/vendor_completions.d/referee.fish\n",
        "usr/share/doc/referee/copyright\n",
        "usr/share/doc/referee/players/greedy.py\n",
    ] {
        has(&installed, path)?;
    }
    has(
        &empty.run("gzip -dc system/usr/share/man/man1/referee.1.gz")?,
        "Let two programs play Quarto",
    )?;
    empty.run(
        "system/usr/bin/referee system/usr/share/doc/referee/players/random.sh builtin:greedy",
    )?;
    empty.run(&format!("{dpkg} --purge referee"))?;
    let left = empty.run("test ! -d system/usr || find system/usr -type f")?;
    if left.is_empty() {
        return Ok(());
    }
    Err(format!("not removed:\n{left}").into())
}

fn wheel() -> Result<(), Failed> {
    let empty = Empty::new()?;
    let wheel = package("_x86_64.whl")?;
    empty.run("python3 -m venv python")?;
    empty.run(&format!(
        "python/bin/pip install --quiet --no-index '{}'",
        wheel.display()
    ))?;
    empty.plays("python/bin/referee")?;
    empty.run("python/bin/python -c 'import referee; referee.Quarto().start().value()'")?;
    empty.run("python/bin/referee new python first.py")?;
    has(
        &empty.run("python/bin/referee --seed 1 first.py builtin:greedy")?,
        "builtin:greedy wins",
    )?;
    empty.run("python/bin/pip uninstall --quiet --yes referee; test ! -e python/bin/referee")?;
    Ok(())
}

/// In the oldest and the newest Python that are here.
fn module_of_python() -> Result<(), Failed> {
    let output = Command::new(source("scripts/packages/check_wheel.py"))
        .stdin(Stdio::null())
        .output()?;
    if output.status.success() {
        return Ok(());
    }
    let said = [output.stdout, output.stderr].concat();
    Err(String::from_utf8_lossy(&said).into())
}

/// What pip of other systems would install.
fn wheels_for_others() -> Result<(), Failed> {
    let empty = Empty::new()?;
    for (platform, ending, file, module) in [
        ("win_amd64", "-win_amd64.whl", "referee.exe", ".pyd"),
        (
            "manylinux_2_34_aarch64",
            "_aarch64.whl",
            "referee",
            ".abi3.so",
        ),
    ] {
        let wheel = package(ending)?;
        empty.run(&format!(
            "python3 -m pip install --quiet --no-index --only-binary=:all: --platform {platform} --target {platform} '{}'; \
             test -s {platform}/bin/{file}; test -s {platform}/referee/_referee{module}",
            wheel.display()
        ))?;
    }
    Ok(())
}

/// The figures in docs/install.md are from here; how long it takes is not tested.
fn time() -> Result<(), Failed> {
    let empty = Empty::new()?;
    let script = source("scripts/packages/first_match.py");
    let printed = empty.run(&format!("'{}'", script.display()))?;
    println!("{printed}");
    has(&printed, "s from unpacking the archive to: ")?;
    has(&printed, "s from pip install to: ")
}
