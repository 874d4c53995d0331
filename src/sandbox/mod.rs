//! What keeps hostile bots in: which sandbox there is, what a bot may reach and use in it.
//!
//! [`Sandbox::choose`] finds a sandbox that works on this machine, by running it;
//! [`Sandbox::admit`] takes a program in, with a private copy of its files. From then on the
//! program carries its sandbox with it, wherever it is started. There is no way down: what was
//! chosen holds for all processes, or they are not started.
//!
//! - `policy`: what a bot sees of the system
//! - `backend`: how bubblewrap is called
//! - `probe`: whether a sandbox works here, found out by running it

#[cfg(target_os = "linux")]
mod backend;
#[cfg(target_os = "linux")]
mod policy;
#[cfg(target_os = "linux")]
mod probe;
pub mod snapshot;
#[cfg(target_os = "linux")]
pub mod supervisor;
#[cfg(not(target_os = "linux"))]
#[path = "unsupported.rs"]
mod supervisor;

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde::Serialize;
use tempfile::TempDir;

use self::snapshot::ContentHash;
use self::supervisor::cgroup::Home;
use crate::bot::executable::CannotStart;
use crate::bot::spec::Program;

/// A way to keep bots in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// Bubblewrap, with seccomp.
    Bwrap,
    /// Landlock, with seccomp.
    Landlock,
    /// Nothing.
    None,
}

impl Kind {
    /// Those that keep anything in, the better one first.
    pub const WALLS: [Self; 2] = [Self::Bwrap, Self::Landlock];

    /// Its name on the command line.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Bwrap => "bwrap",
            Self::Landlock => "landlock",
            Self::None => "none",
        }
    }

    /// What is in force, one layer after the other.
    pub const fn layers(self) -> &'static [&'static str] {
        match self {
            Self::Bwrap => &["bubblewrap (namespaces)", "seccomp", "limits", "guard"],
            Self::Landlock => &["Landlock", "seccomp", "limits", "guard"],
            Self::None => &[],
        }
    }
}

impl fmt::Display for Kind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// What was asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wish {
    /// The best that works here.
    Auto,
    /// This one.
    Exactly(Kind),
}

/// What a bot may use. Without a sandbox nothing bounds it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Memory of all its processes together, in bytes.
    pub memory: u64,
    /// Processes.
    pub processes: u64,
    /// Open files of a process.
    pub open_files: u64,
    /// Its scratch directory, and the largest file, in bytes.
    pub scratch: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            memory: 1 << 30,
            processes: 64,
            open_files: 256,
            scratch: 64 << 20,
        }
    }
}

/// A sandbox that does not work on this machine.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{probe}: {cause}; {fix}")]
pub struct NotAvailable {
    /// What was tried.
    pub probe: String,
    /// What came of it.
    pub cause: String,
    /// What to do.
    pub fix: String,
}

/// A way to keep bots in, that works on this machine, and what it is set to. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Sandbox(Arc<Setup>);

#[derive(Debug)]
struct Setup {
    kind: Kind,
    limits: Limits,
    /// What bots may read beside their own files and the system's, canonical.
    expose: Vec<PathBuf>,
    /// Whether a bot is stopped while its opponent thinks.
    freeze: bool,
    /// This program's file: the guard, and the built-in bots.
    referee: PathBuf,
    /// Where control groups for bots can be made, if that works here.
    group: Option<Home>,
}

/// What a sandbox is to be like.
#[derive(Clone, Debug)]
pub struct Request {
    /// Which one.
    pub wish: Wish,
    /// What bots may use.
    pub limits: Limits,
    /// What bots may read beside their own files and the system's.
    pub expose: Vec<PathBuf>,
    /// Whether a bot is stopped while its opponent thinks.
    pub freeze: bool,
    /// This program's file.
    pub referee: PathBuf,
}

impl Sandbox {
    /// Finds a sandbox that works here. Each one considered is run, with the limits and paths that
    /// bots will have.
    pub fn choose(request: &Request) -> Result<Self, NotAvailable> {
        let expose = request.expose.iter().map(|path| {
            path.canonicalize().map_err(|error| NotAvailable {
                probe: format!("--expose {}", path.display()),
                cause: error.to_string(),
                fix: "check the spelling and the permissions".to_owned(),
            })
        });
        let mut setup = Setup {
            kind: Kind::None,
            limits: request.limits,
            expose: expose.collect::<Result<_, _>>()?,
            freeze: request.freeze,
            referee: request.referee.clone(),
            group: None,
        };
        let candidates: &[Kind] = match request.wish {
            Wish::Auto => &Kind::WALLS,
            Wish::Exactly(Kind::None) => return Ok(Self(Arc::new(setup))),
            Wish::Exactly(Kind::Bwrap) => &[Kind::Bwrap],
            Wish::Exactly(Kind::Landlock) => &[Kind::Landlock],
        };
        let mut failures = Vec::new();
        for &kind in candidates {
            setup.kind = kind;
            match try_out(&setup) {
                Ok(()) => {
                    setup.group = find_group(&setup);
                    return Ok(Self(Arc::new(setup)));
                }
                Err(failure) => failures.push(failure),
            }
        }
        Err(together(failures))
    }

    /// No sandbox. `freeze` still stops a bot while its opponent thinks.
    pub fn none(freeze: bool) -> Self {
        Self(Arc::new(Setup {
            kind: Kind::None,
            limits: Limits::default(),
            expose: Vec::new(),
            freeze,
            referee: PathBuf::new(),
            group: None,
        }))
    }

    /// Which one it is.
    pub fn kind(&self) -> Kind {
        self.0.kind
    }

    /// What bots may use.
    pub fn limits(&self) -> Limits {
        self.0.limits
    }

    /// What bounds the memory of all processes of a bot together, for people; `None` when nothing
    /// does.
    pub fn memory_bound(&self) -> Option<String> {
        let by = match &self.0.group {
            _ if self.0.kind == Kind::None => return None,
            Some(home) => format!("the kernel (control group {})", home.version()),
            None => "its guard, which looks every 25 ms".to_owned(),
        };
        Some(format!("each process by RLIMIT_DATA, all together by {by}"))
    }

    /// Whether a bot is stopped while its opponent thinks.
    pub fn freezes(&self) -> bool {
        self.0.freeze
    }

    /// Takes a program in: its files are copied and hashed, and whatever would keep it from
    /// starting is told now. `directory` is the directory that was given with it, if one was;
    /// `others` are the other entrants, of which it may see nothing.
    ///
    /// The copy is removed when the last clone of the program is dropped.
    pub fn admit(
        &self,
        program: Program,
        directory: Option<&Path>,
        others: &[&Program],
    ) -> Result<Program, CannotStart> {
        if self.0.kind == Kind::None {
            let confinement = self.0.freeze.then(|| Confinement::new(self, None));
            return Ok(Program {
                confinement,
                ..program
            });
        }
        #[cfg(target_os = "linux")]
        {
            let admitted = policy::admit(self, &program, directory, others)?;
            Ok(Program {
                confinement: Some(Confinement::new(self, Some(admitted))),
                ..program
            })
        }
        #[cfg(not(target_os = "linux"))]
        {
            let _ = (directory, others);
            unreachable!("there is no sandbox on this system to choose")
        }
    }
}

/// What came of trying something on this machine.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Finding {
    /// What was tried.
    pub probe: String,
    /// The sandbox that was tried, if it was one.
    pub sandbox: Option<Kind>,
    /// Whether it works.
    pub works: bool,
    /// What came of it.
    pub result: String,
    /// What to do when it does not work.
    pub fix: Option<String>,
}

/// Tries all that there is, the better sandbox first.
pub fn examine(request: &Request) -> Vec<Finding> {
    let mut memory = None;
    let mut findings: Vec<Finding> = Kind::WALLS
        .into_iter()
        .map(|kind| {
            let wish = Wish::Exactly(kind);
            let tried = Sandbox::choose(&Request {
                wish,
                ..request.clone()
            });
            let (works, result, fix) = match tried {
                Ok(sandbox) => {
                    memory.get_or_insert(sandbox);
                    let held = "a program inside could do nothing that it must not";
                    (true, held.to_owned(), None)
                }
                Err(failure) => (false, failure.cause, Some(failure.fix)),
            };
            Finding {
                probe: format!("--sandbox {kind}"),
                sandbox: Some(kind),
                works,
                result,
                fix,
            }
        })
        .collect();
    findings.push(bound(memory.as_ref()));
    findings
}

/// What bounds memory in this sandbox.
fn bound(sandbox: Option<&Sandbox>) -> Finding {
    let result = sandbox.and_then(Sandbox::memory_bound);
    let by_kernel = sandbox.is_some_and(|sandbox| sandbox.0.group.is_some());
    // The program must be among the user's own services, where it may make groups.
    let systemd = result.is_some() && !by_kernel && Path::new("/run/systemd/system").is_dir();
    Finding {
        probe: "--memory".to_owned(),
        sandbox: None,
        works: result.is_some(),
        result: result.unwrap_or_else(|| "bounded in a sandbox only".to_owned()),
        fix: systemd.then(|| {
            "to have the kernel bound it: systemd-run --user --scope referee ...".to_owned()
        }),
    }
}

/// The sandbox that a program carries with it, and its files in it.
#[derive(Clone, Debug)]
pub struct Confinement(Arc<Confined>);

#[derive(Debug)]
struct Confined {
    sandbox: Sandbox,
    admitted: Option<Admitted>,
}

/// A program's files, copied.
#[derive(Debug)]
struct Admitted {
    /// What is run: words with the paths of the copy.
    argv: Vec<String>,
    /// Its copied directory.
    directory: Option<PathBuf>,
    hash: ContentHash,
    /// Its search path: directories that it can see.
    path: String,
    /// What it may read.
    seen: Vec<PathBuf>,
    /// Holds the copy and the scratch directories.
    private: TempDir,
}

/// The same sandbox with the same files.
impl PartialEq for Confinement {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

impl Eq for Confinement {}

impl Confinement {
    fn new(sandbox: &Sandbox, admitted: Option<Admitted>) -> Self {
        Self(Arc::new(Confined {
            sandbox: sandbox.clone(),
            admitted,
        }))
    }

    /// The sandbox.
    pub fn sandbox(&self) -> &Sandbox {
        &self.0.sandbox
    }

    /// The hash of the copied files; `None` without a sandbox.
    pub fn hash(&self) -> Option<ContentHash> {
        Some(self.0.admitted.as_ref()?.hash)
    }
}

#[cfg(target_os = "linux")]
fn try_out(setup: &Setup) -> Result<(), NotAvailable> {
    probe::try_out(setup)
}

/// Where control groups can be made; found out by running a program that exceeds its memory.
#[cfg(target_os = "linux")]
fn find_group(setup: &Setup) -> Option<Home> {
    probe::find_group(setup)
}

#[cfg(not(target_os = "linux"))]
fn find_group(_: &Setup) -> Option<Home> {
    None
}

#[cfg(not(target_os = "linux"))]
fn try_out(setup: &Setup) -> Result<(), NotAvailable> {
    Err(NotAvailable {
        probe: format!("the sandbox {}", setup.kind),
        cause: "there are sandboxes on Linux only".to_owned(),
        fix: "use --sandbox none, for bots that you trust".to_owned(),
    })
}

/// All that was tried, as one failure.
fn together(failures: Vec<NotAvailable>) -> NotAvailable {
    let mut failures = failures.into_iter();
    let Some(mut first) = failures.next() else {
        return NotAvailable {
            probe: "the sandbox".to_owned(),
            cause: "there is none to try".to_owned(),
            fix: "use --sandbox none".to_owned(),
        };
    };
    for next in failures {
        first.cause = format!("{}; {}: {}", first.cause, next.probe, next.cause);
        first.fix = format!("{}; or {}", first.fix, next.fix);
    }
    first
}
