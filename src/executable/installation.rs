//! Where an interpreter is installed: the directories that it needs besides its own file, found by
//! following shims, links, virtual environments and first lines of scripts. Nothing is run.

use std::collections::VecDeque;
use std::env;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::path::{Component, Path, PathBuf};

use super::interpreter::by_interpreter;
use super::{check_header, find_in_path, shim};

/// Links and scripts are followed so many times, as the kernel does.
const MOST_STEPS: usize = 40;

/// Directories of an installation that hold its programs.
const OF_PROGRAMS: [&str; 2] = ["bin", "sbin"];

/// Directories of an installation without which its programs do not start.
const LIBRARIES: [&str; 3] = ["lib", "lib64", "libexec"];

/// Names of Python, by which a virtual environment finds the one that it was made by.
const PYTHONS: [&str; 2] = ["python3", "python"];

/// A program with all that was found to belong to it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Installation {
    /// The programs on the way, the first one first.
    pub(crate) programs: Vec<Named>,
    /// Directories, and files whose directory is not theirs alone; canonical. The system's are not
    /// among them.
    pub(crate) paths: Vec<PathBuf>,
    /// Links on the way to them; their directories are canonical.
    pub(crate) links: Vec<PathBuf>,
    /// Whether it is a Python outside a virtual environment, which also looks for packages in the
    /// user's home.
    pub(crate) has_user_packages: bool,
    /// Whether a shell is run, which starts whatever it is told to.
    pub(crate) runs_shell: bool,
}

/// A program as it was named, and as it is run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Named {
    /// Its path, or that of a shim.
    pub(crate) path: PathBuf,
    /// The same program behind the shim; its directory is canonical.
    pub(crate) program: PathBuf,
}

/// An installation that lies open in a directory with much else.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct TooWide {
    /// The program's file.
    pub(crate) program: PathBuf,
    /// The directory that would have to be shown.
    pub(crate) directory: PathBuf,
}

/// Follows programs to what they need.
pub(crate) struct Follower<'a> {
    /// Where the program is run, which decides what some shims start.
    pub(crate) directory: &'a Path,
    /// Whether a canonical path needs no mention: the system's, and what is shown anyway.
    pub(crate) is_known: &'a dyn Fn(&Path) -> bool,
    /// Whether a directory must not be shown as a whole.
    pub(crate) is_wide: &'a dyn Fn(&Path) -> bool,
}

impl Follower<'_> {
    /// All that the program at `path` needs.
    pub(crate) fn follow(&self, path: &Path) -> Result<Installation, TooWide> {
        let mut found = Installation::default();
        self.add(path, &mut found, MOST_STEPS, false)?;
        found.paths.sort();
        found.paths.dedup();
        let paths = found.paths.clone();
        let within = |path: &Path, whole: &Path| path != whole && path.starts_with(whole);
        found
            .paths
            .retain(|path| !paths.iter().any(|whole| within(path, whole)));
        // Those in a directory that is shown are there already.
        found.links.retain(|link| {
            !(self.is_known)(link) && !paths.iter().any(|whole| link.starts_with(whole))
        });
        found.links.sort();
        found.links.dedup();
        Ok(found)
    }

    /// Adds what the program at `path` needs. `for_environment` says that it is there for a virtual
    /// environment.
    fn add(
        &self,
        path: &Path,
        found: &mut Installation,
        steps: usize,
        for_environment: bool,
    ) -> Result<(), TooWide> {
        let Some(steps) = steps.checked_sub(1) else {
            return Ok(());
        };
        let program = shim::behind(path, self.directory);
        let Some(way) = Way::to(program.as_deref().unwrap_or(path)) else {
            return Ok(());
        };
        found.programs.push(Named {
            path: path.to_owned(),
            program: way.first,
        });
        let mut environment = None;
        for step in way.last_links.iter().chain([&way.end]) {
            if let Some((root, home)) = virtual_environment(step) {
                self.show(&way.end, &root, found)?;
                environment = Some(root);
                let names = path.file_name().into_iter().chain(PYTHONS.map(OsStr::new));
                let mut base = home
                    .iter()
                    .flat_map(|home| names.clone().map(|name| home.join(name)));
                if let Some(base) = base.find(|base| base.exists()) {
                    self.add(&base, found, steps, true)?;
                }
            }
        }
        found.links.extend(way.links);
        let end = way.end;
        let in_environment = for_environment || environment.is_some();
        let name = end.file_name().unwrap_or_default().to_string_lossy();
        found.has_user_packages |= !in_environment && name.starts_with("python");
        found.runs_shell |= by_interpreter(&name).is_some_and(|language| language.name == "shell");
        let interpreter = check_header(&end, "").ok().flatten();
        if !(self.is_known)(&end) && !environment.is_some_and(|root| end.starts_with(root)) {
            let whole = installation_of(&end);
            // A script, and what lies alone among a user's own programs, need no more than themselves.
            let alone = (self.is_wide)(&whole)
                && (interpreter.is_some() || !LIBRARIES.iter().any(|lib| whole.join(lib).exists()));
            if alone {
                found.paths.push(end);
            } else {
                self.show(&end, &whole, found)?;
            }
        }
        match interpreter.and_then(|interpreter| located(&interpreter)) {
            Some(interpreter) => self.add(&interpreter, found, steps, false),
            None => Ok(()),
        }
    }

    fn show(
        &self,
        program: &Path,
        directory: &Path,
        found: &mut Installation,
    ) -> Result<(), TooWide> {
        let Ok(directory) = directory.canonicalize() else {
            return Ok(());
        };
        if (self.is_known)(&directory) {
            return Ok(());
        }
        if (self.is_wide)(&directory) {
            return Err(TooWide {
                program: program.to_owned(),
                directory,
            });
        }
        found.paths.push(directory);
        Ok(())
    }
}

/// The file of a command: itself when it is a path, else the first in the search path.
pub(crate) fn located(command: &str) -> Option<PathBuf> {
    if command.contains('/') {
        std::path::absolute(command).ok()
    } else {
        find_in_path(command)
    }
}

/// The directory that a program's installation fills.
fn installation_of(program: &Path) -> PathBuf {
    let directory = program.parent().unwrap_or(Path::new("/"));
    // Homebrew's formulas lie beside each other and need each other.
    if let Some(brew) = program
        .ancestors()
        .find(|above| above.file_name().is_some_and(|name| name == "Cellar"))
        .and_then(Path::parent)
    {
        return brew.to_owned();
    }
    let of_programs = |name: &OsStr| OF_PROGRAMS.iter().any(|&known| name == known);
    match directory.parent() {
        Some(above) if directory.file_name().is_some_and(of_programs) => above.to_owned(),
        _ => directory.to_owned(),
    }
}

/// The virtual environment of Python that a program is in, if it is in one, and the directory of the
/// program that the environment was made by.
fn virtual_environment(program: &Path) -> Option<(PathBuf, Option<PathBuf>)> {
    let directory = program.parent()?;
    let root = directory.parent()?;
    let settings = fs::read_to_string(root.join("pyvenv.cfg")).ok()?;
    let home = settings.lines().find_map(|line| {
        let (key, value) = line.split_once('=')?;
        (key.trim() == "home").then(|| PathBuf::from(value.trim()))
    });
    Some((root.to_owned(), home))
}

/// The way from a path to its end.
struct Way {
    /// The path itself, with a canonical directory.
    first: PathBuf,
    /// All links on it; their directories are canonical.
    links: Vec<PathBuf>,
    /// Those of them that stand for the program, not for a directory above it.
    last_links: Vec<PathBuf>,
    /// Canonical.
    end: PathBuf,
}

impl Way {
    /// `None` when it leads nowhere.
    fn to(path: &Path) -> Option<Self> {
        let path = std::path::absolute(path).ok()?;
        let mut rest: VecDeque<OsString> = parts(&path);
        let mut at = PathBuf::from("/");
        let (mut links, mut last_links) = (Vec::new(), Vec::new());
        let mut first = None;
        while let Some(part) = rest.pop_front() {
            if part == ".." {
                at.pop();
                continue;
            }
            if part == "/" {
                at = PathBuf::from("/");
                continue;
            }
            let next = at.join(part);
            if rest.is_empty() {
                first.get_or_insert_with(|| next.clone());
            }
            match fs::read_link(&next) {
                Ok(target) => {
                    if links.len() >= MOST_STEPS {
                        return None;
                    }
                    if rest.is_empty() {
                        last_links.push(next.clone());
                    }
                    links.push(next);
                    for part in parts(&target).into_iter().rev() {
                        rest.push_front(part);
                    }
                }
                Err(_) => at = next,
            }
        }
        at.exists().then(|| Self {
            first: first.unwrap_or_else(|| at.clone()),
            links,
            last_links,
            end: at,
        })
    }
}

/// The parts of a path; the first of an absolute one is `/`.
fn parts(path: &Path) -> VecDeque<OsString> {
    path.components()
        .filter(|part| *part != Component::CurDir)
        .map(|part| part.as_os_str().to_owned())
        .collect()
}

/// Where Python looks for packages of the user, besides its own: the directories that there are, and
/// what the user's base is.
pub(crate) fn python_user_packages() -> Option<(PathBuf, Vec<PathBuf>)> {
    if env::var_os("PYTHONNOUSERSITE").is_some() {
        return None;
    }
    let base = match env::var_os("PYTHONUSERBASE") {
        Some(base) => PathBuf::from(base),
        None => env::home_dir()?.join(".local"),
    };
    let base = base.canonicalize().ok()?;
    let directories: Vec<PathBuf> = fs::read_dir(base.join("lib"))
        .ok()?
        .flatten()
        .filter(|entry| entry.file_name().to_string_lossy().starts_with("python"))
        .map(|entry| entry.path().join("site-packages"))
        .filter(|packages| packages.is_dir())
        .collect();
    (!directories.is_empty()).then_some((base, directories))
}
