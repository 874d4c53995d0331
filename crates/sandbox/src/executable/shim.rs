//! Shims: small programs in `PATH` that start one of several installed versions of an interpreter.
//! Those of pyenv, rbenv, nodenv, goenv, asdf and rustup are understood without being run.

use std::env;
use std::fs;
use std::io::Read as _;
use std::path::{Path, PathBuf};

use super::{all_in_path, is_executable_file};

/// Version managers like pyenv, and their languages: `PYENV_VERSION` selects a version, or else `.python-version` in the
/// working directory or a parent.
const MANAGERS: [(&str, &str); 4] = [
    ("pyenv", "python"),
    ("rbenv", "ruby"),
    ("nodenv", "node"),
    ("goenv", "go"),
];

/// The version that stands for what `PATH` has besides the shims.
const SYSTEM: &str = "system";

/// The end of the names of rustup's toolchains that run here.
const HOST: &str = if cfg!(target_arch = "x86_64") {
    "x86_64-unknown-linux-gnu"
} else {
    "-unknown-linux-gnu"
};

/// The most bytes of a shim.
const LONGEST: u64 = 4096;

/// The program that a shim starts in `directory`; `None` when `path` is not a shim or starts none.
pub(super) fn behind(path: &Path, directory: &Path) -> Option<PathBuf> {
    let name = path.file_name()?.to_str()?;
    if let Some(toolchain) = rustup_toolchain(path) {
        return existing(toolchain.join("bin").join(name));
    }
    let shims = path.parent()?;
    if shims.file_name()? != "shims" {
        return None;
    }
    let root = shims.parent()?;
    let mut text = String::new();
    let file = fs::File::open(path).ok()?;
    file.take(LONGEST).read_to_string(&mut text).ok()?;
    let is_asdf = |line: &str| line.starts_with("exec asdf ") || line.contains("/asdf exec");
    let (versions, selected) = if text.lines().any(is_asdf) {
        of_asdf(&text, root, directory)?
    } else {
        of_manager(&text, root, directory)?
    };
    selected.iter().find_map(|version| match version.trim() {
        SYSTEM => beside(shims, name),
        version => existing(installed(&versions, version)?.join("bin").join(name)),
    })
}

/// Where the versions are installed, and those that are selected, the first one first.
type Selected = (PathBuf, Vec<String>);

fn of_manager(text: &str, root: &Path, directory: &Path) -> Option<Selected> {
    let starts = |(name, _): &&(&str, &str)| {
        text.contains(&format!("{name}\" exec ")) || text.contains(&format!("exec {name} exec "))
    };
    let (name, language) = MANAGERS.iter().find(starts)?;
    let file = format!(".{language}-version");
    let files = directory.ancestors().map(|above| above.join(&file));
    let files = files.chain([root.join("version")]);
    let given = env::var(format!("{}_VERSION", name.to_uppercase()));
    let given = given.into_iter();
    let texts = given.chain(files.filter_map(|file| fs::read_to_string(file).ok()));
    let texts: Vec<String> = texts.chain([SYSTEM.to_owned()]).collect();
    let lines = texts.iter().flat_map(|text| text.lines());
    let versions = lines
        .filter(|line| !line.trim_start().starts_with('#'))
        .flat_map(|line| line.split([':', ' ', '\t']));
    Some((root.join("versions"), versions.map(str::to_owned).collect()))
}

/// The directory of a version, else of the latest whose name starts with it. Cannot lead outside
/// `versions`.
fn installed(versions: &Path, version: &str) -> Option<PathBuf> {
    if Path::new(version).file_name()? != version {
        return None;
    }
    let exact = versions.join(version);
    if exact.is_dir() {
        return Some(exact);
    }
    let begins = format!("{version}.");
    let number = |name: &str| -> Vec<u64> { name.split('.').flat_map(str::parse).collect() };
    let mut names: Vec<String> = fs::read_dir(versions)
        .ok()?
        .flatten()
        .filter_map(|entry| entry.file_name().into_string().ok())
        .filter(|name| name.starts_with(&begins))
        .collect();
    names.sort_by_key(|name| number(name));
    Some(versions.join(names.pop()?))
}

/// An asdf shim names its plugin and all versions with the program, one a line.
fn of_asdf(text: &str, root: &Path, directory: &Path) -> Option<Selected> {
    let mut plugins = text.lines().filter_map(|line| {
        let words = line.strip_prefix("# asdf-plugin: ")?;
        words.trim_ascii_start().split_once([' ', '\t'])
    });
    let (plugin, first) = plugins.next()?;
    let variable = format!("ASDF_{}_VERSION", plugin.to_uppercase().replace('-', "_"));
    let home = env::home_dir();
    let files = directory.ancestors().chain(home.as_deref());
    let in_files = files.filter_map(|above| {
        let text = fs::read_to_string(above.join(".tool-versions")).ok()?;
        text.lines().find_map(|line| {
            let mut words = line.split_ascii_whitespace();
            (words.next() == Some(plugin)).then(|| words.next().map(str::to_owned))?
        })
    });
    let selected = env::var(variable).into_iter().chain(in_files);
    let selected = selected.chain([first.to_owned()]).collect();
    Some((root.join("installs").join(plugin), selected))
}

/// The toolchain that rustup would select, when a path is one of its links.
fn rustup_toolchain(path: &Path) -> Option<PathBuf> {
    let end = path.canonicalize().ok()?;
    if end.file_name()? != "rustup" || path.file_name()? == "rustup" {
        return None;
    }
    let root = match env::var_os("RUSTUP_HOME") {
        Some(root) => PathBuf::from(root),
        None => env::home_dir()?.join(".rustup"),
    };
    let toolchain = env::var("RUSTUP_TOOLCHAIN").ok().or_else(|| {
        let settings = fs::read_to_string(root.join("settings.toml")).ok()?;
        settings.lines().find_map(|line| {
            let (key, value) = line.split_once('=')?;
            (key.trim() == "default_toolchain").then(|| value.trim().trim_matches('"').to_owned())
        })
    })?;
    let toolchains = root.join("toolchains");
    let exact = toolchains.join(&toolchain);
    if exact.is_dir() {
        return Some(exact);
    }
    // `stable` stands for this machine's.
    let begins = format!("{toolchain}-");
    let is_meant = |name: &String| name.starts_with(&begins) && name.ends_with(HOST);
    let mut names = fs::read_dir(&toolchains)
        .ok()?
        .flatten()
        .filter_map(|entry| entry.file_name().into_string().ok());
    Some(toolchains.join(names.find(is_meant)?))
}

/// The program of this name that `PATH` has besides the shims.
fn beside(shims: &Path, name: &str) -> Option<PathBuf> {
    let is_beside =
        |candidate: &PathBuf| candidate.is_absolute() && candidate.parent() != Some(shims);
    all_in_path(name).find(is_beside)
}

fn existing(program: PathBuf) -> Option<PathBuf> {
    is_executable_file(&program).then_some(program)
}
