//! Where an interpreter is installed: the directories it needs besides its own file, found by
//! following shims, links, virtual environments and shebang lines.

use std::collections::VecDeque;
use std::env;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::path::{Component, Path, PathBuf};

use super::interpreter::{LANGUAGES, by_interpreter};
use super::{all_in_path, check_header, find_in_path, shim};
use crate::paths::{lies_in, outside};

/// The most links and scripts followed; the kernel's own limit.
const MOST_STEPS: usize = 40;

/// Subdirectories without which an installation's programs do not start.
const LIBRARIES: [&str; 3] = ["lib", "lib64", "libexec"];

/// Names by which a virtual environment finds the Python that made it.
const PYTHONS: [&str; 2] = ["python3", "python"];

/// Directories of a home with more than one installation.
const SHARED_IN_HOME: [&str; 4] = [".local", ".cargo", ".config", ".cache"];

/// Interpreters that no file extension leads to.
const OTHERS: [&str; 11] = [
    "bun", "deno", "dotnet", "elixir", "escript", "groovy", "kotlin", "pwsh", "pypy3", "python",
    "scala",
];

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Installation {
    /// The programs on the way, first one first: the path that `PATH` finds, which may be a shim, and the
    /// program behind it, whose directory is canonical.
    pub programs: Vec<(PathBuf, PathBuf)>,
    /// Canonical directories, and files whose directory holds more. None of the system's.
    pub paths: Vec<PathBuf>,
    /// Links on the way to them; their directories are canonical.
    pub links: Vec<PathBuf>,
    /// Whether it is a Python outside a virtual environment, which also looks for packages in the
    /// user's home.
    pub has_user_packages: bool,
    /// Whether a shell runs, which starts anything it is told to.
    pub runs_shell: bool,
}

impl Installation {
    fn note(&mut self, program: &Path, in_environment: bool) {
        let name = program.file_name().unwrap_or_default().to_string_lossy();
        let language = by_interpreter(&name).map_or("", |language| language.name);
        self.has_user_packages |= !in_environment && language == "Python";
        self.runs_shell |= language == "shell";
    }

    pub fn extend(&mut self, more: Self) {
        self.programs.extend(more.programs);
        self.paths.extend(more.paths);
        self.links.extend(more.links);
        self.has_user_packages |= more.has_user_packages;
        self.runs_shell |= more.runs_shell;
    }
}

/// A program that a sandboxed bot does not see.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unseen {
    pub program: PathBuf,
    pub directory: PathBuf,
    /// Whether `PATH` leads there but the directory holds much else.
    pub is_wide: bool,
}

pub struct Follower {
    /// Where the referee was started, which decides what some shims start.
    pub here: PathBuf,
    /// Paths that every bot sees.
    pub visible: Vec<PathBuf>,
    /// The bot's files, and what their path leads to.
    pub own: Vec<PathBuf>,
    pub others: Vec<PathBuf>,
}

impl Follower {
    /// Everything that a program of the user's needs; the program is from `PATH` or the command
    /// line.
    pub fn follow(&self, path: &Path) -> Result<Installation, Unseen> {
        self.add(path, MOST_STEPS, false)
    }

    /// What a file of the bot's needs. Its own claims make nothing visible.
    pub fn follow_own(&self, path: &Path) -> Result<Installation, Unseen> {
        self.add_named(path, MOST_STEPS)
    }

    /// Removes what is shown with something else.
    pub fn tidy(&self, found: &mut Installation) {
        for list in [&mut found.paths, &mut found.links] {
            list.sort();
            list.dedup();
        }
        found.paths = outside(found.paths.clone(), &found.paths);
        found.links.retain(|link| !self.is_seen(link));
        found.links = outside(std::mem::take(&mut found.links), &found.paths);
    }

    fn is_own(&self, path: &Path) -> bool {
        self.own.iter().any(|own| path.starts_with(own))
    }

    fn is_seen(&self, path: &Path) -> bool {
        self.is_own(path) || self.visible.iter().any(|shown| path.starts_with(shown))
    }

    /// Whether a directory holds more than an installation, and must not be shown as a whole: a
    /// home, the temporary directory, the referee's working directory or another bot.
    fn is_wide(&self, directory: &Path) -> bool {
        let mut held = self.others.clone();
        held.extend([self.here.clone(), env::temp_dir()]);
        if let Some(home) = env::home_dir() {
            held.extend(SHARED_IN_HOME.iter().map(|name| home.join(name)));
            held.push(home);
        }
        held.iter().any(|inside| lies_in(inside, directory))
    }

    /// Whether a program is, or leads through, a file of the bot's.
    fn is_owned(&self, way: &Way) -> bool {
        way.places().iter().any(|place| self.is_own(place))
    }

    /// `for_environment`: a virtual environment needs the program.
    fn add(
        &self,
        path: &Path,
        steps: usize,
        for_environment: bool,
    ) -> Result<Installation, Unseen> {
        let mut found = Installation::default();
        let (Some(steps), Some(way)) = (steps.checked_sub(1), Way::to(path)) else {
            return Ok(found);
        };
        let program = Some(&way).filter(|way| !self.is_owned(way));
        let program = program.and_then(|_| shim::behind(path, &self.here));
        let Some(way) = program.map_or(Some(way), |program| Way::to(&program)) else {
            return Ok(found);
        };
        if self.is_owned(&way) {
            return self.add_named(path, steps);
        }
        found.programs.push((path.to_owned(), way.first.clone()));
        let environments: Vec<_> = way.environments().collect();
        for (root, base) in &environments {
            found.paths.extend(self.to_show(&way.end, root)?);
            if let Some(base) = base {
                found.extend(self.add(base, steps, true)?);
            }
        }
        found.note(&way.end, for_environment || !environments.is_empty());
        found.links.extend(way.links);
        let end = way.end;
        let interpreter = check_header(&end, "").ok().flatten();
        let is_inside = environments.iter().any(|(root, _)| end.starts_with(root));
        if !self.is_seen(&end) && !is_inside {
            let whole = installation_of(&end);
            // A script, and a lone file among a user's programs, need nothing else.
            let alone = self.is_wide(&whole)
                && (interpreter.is_some() || !LIBRARIES.iter().any(|lib| whole.join(lib).exists()));
            if alone {
                found.paths.push(end);
            } else {
                found.paths.extend(self.to_show(&end, &whole)?);
            }
        }
        found.extend(self.add_interpreter(interpreter, steps)?);
        Ok(found)
    }

    /// For a program that a submission names by path, or that is its own: nothing is added unless
    /// the user's `PATH` leads there too.
    fn add_named(&self, path: &Path, steps: usize) -> Result<Installation, Unseen> {
        let (Some(steps), Some(way)) = (steps.checked_sub(1), Way::to(path)) else {
            return Ok(Installation::default());
        };
        let environments: Vec<_> = way.environments().collect();
        let bases = environments.iter().map(|(_, base)| base.as_deref());
        let bases: Vec<Way> = bases.filter_map(|base| Way::to(base?)).collect();
        let mut needed: Vec<&PathBuf> = environments.iter().map(|(root, _)| root).collect();
        needed.extend(bases.iter().chain([&way]).flat_map(Way::places));
        if needed.iter().all(|path| self.is_seen(path)) {
            let interpreter = check_header(&way.end, "").ok().flatten();
            let interpreter = interpreter.filter(|name| name.contains('/') || is_interpreter(name));
            let mut found = self.add_interpreter(interpreter, steps)?;
            if !self.is_own(&way.end) {
                found.note(&way.end, !environments.is_empty());
            }
            return Ok(found);
        }
        let places = way.last_links.iter().chain(way.places());
        let names = places.filter_map(|place| place.file_name()?.to_str());
        let names = names.chain(PYTHONS).filter(|name| is_interpreter(name));
        for candidate in names.flat_map(all_in_path) {
            let is_owned = Way::to(&candidate).is_none_or(|way| self.is_owned(&way));
            if is_owned || candidate.is_relative() {
                continue;
            }
            let Ok(found) = self.add(&candidate, steps, !environments.is_empty()) else {
                continue;
            };
            let is_shown = |path: &&PathBuf| {
                self.is_seen(path)
                    || found.links.contains(path)
                    || found.paths.iter().any(|shown| path.starts_with(shown))
            };
            if needed.iter().all(is_shown) {
                return Ok(found);
            }
        }
        let unseen = needed.into_iter().find(|path| !self.is_seen(path));
        let program = unseen.unwrap_or(&way.end).clone();
        let mut directory = installation_of(&program);
        if environments.iter().any(|(root, _)| *root == program) {
            directory.clone_from(&program);
        }
        Err(Unseen {
            program,
            directory,
            is_wide: false,
        })
    }

    /// What the interpreter of a shebang line needs. Its path alone makes nothing visible.
    fn add_interpreter(
        &self,
        interpreter: Option<String>,
        steps: usize,
    ) -> Result<Installation, Unseen> {
        match interpreter {
            Some(path) if path.contains('/') => self.add_named(Path::new(&path), steps),
            Some(name) if let Some(path) = find_users(&name) => self.add(&path, steps, false),
            _ => Ok(Installation::default()),
        }
    }

    /// A directory that `program` needs, unless it is seen already.
    fn to_show(&self, program: &Path, directory: &Path) -> Result<Option<PathBuf>, Unseen> {
        let directory = directory.canonicalize().ok();
        match directory.filter(|directory| !self.is_seen(directory)) {
            Some(directory) if self.is_wide(&directory) => Err(Unseen {
                program: program.to_owned(),
                directory,
                is_wide: true,
            }),
            directory => Ok(directory),
        }
    }
}

pub fn interpreters() -> impl Iterator<Item = &'static str> {
    let by_language = LANGUAGES.iter().filter_map(|language| language.run.first());
    by_language.copied().chain(OTHERS)
}

/// Whether a command has an interpreter's name, such as `python3.11`.
pub fn is_interpreter(name: &str) -> bool {
    OTHERS.contains(&name) || by_interpreter(name).is_some()
}

/// The program that the user's `PATH` leads to. Relative entries are skipped: they may be a folder
/// of submissions.
pub fn find_users(name: &str) -> Option<PathBuf> {
    find_in_path(name).filter(|path| path.is_absolute())
}

fn installation_of(program: &Path) -> PathBuf {
    let directory = program.parent().unwrap_or(Path::new("/"));
    // Homebrew's formulas lie side by side and need each other.
    let mut above = program.ancestors();
    if let Some(cellar) = above.find(|above| above.ends_with("Cellar"))
        && let Some(brew) = cellar.parent()
    {
        return brew.to_owned();
    }
    match directory.parent() {
        Some(above) if directory.ends_with("bin") || directory.ends_with("sbin") => {
            above.to_owned()
        }
        _ => directory.to_owned(),
    }
}

/// The virtual environment of a Python, and the program that made it.
fn virtual_environment(program: &Path) -> Option<(PathBuf, Option<PathBuf>)> {
    let name = program.file_name()?;
    by_interpreter(name.to_str()?).filter(|language| language.name == "Python")?;
    let root = program.parent()?.parent()?;
    let settings = fs::read_to_string(root.join("pyvenv.cfg")).ok()?;
    let home = settings.lines().find_map(|line| {
        let (key, value) = line.split_once('=')?;
        (key.trim() == "home").then(|| Path::new(value.trim()))
    });
    let names = [name].into_iter().chain(PYTHONS.map(OsStr::new));
    let base = home.and_then(|home| names.map(|name| home.join(name)).find(|base| base.exists()));
    Some((root.to_owned(), base))
}

struct Way {
    first: PathBuf,
    /// Links on it; their directories are canonical.
    links: Vec<PathBuf>,
    /// Links that stand for the program, not for a parent directory.
    last_links: Vec<PathBuf>,
    /// Canonical.
    end: PathBuf,
}

impl Way {
    fn places(&self) -> [&PathBuf; 2] {
        [&self.first, &self.end]
    }

    /// The Python virtual environments on it, each with the program that made it.
    fn environments(&self) -> impl Iterator<Item = (PathBuf, Option<PathBuf>)> {
        let steps = self.last_links.iter().chain([&self.end]);
        steps.filter_map(|step| virtual_environment(step))
    }

    /// `None` for a dangling link.
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

/// The components of a path; the first of an absolute one is `/`.
fn parts(path: &Path) -> VecDeque<OsString> {
    path.components()
        .filter(|part| *part != Component::CurDir)
        .map(|part| part.as_os_str().to_owned())
        .collect()
}

/// The user's base for Python packages, and the existing package directories.
pub fn python_user_packages() -> Option<(PathBuf, Vec<PathBuf>)> {
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
