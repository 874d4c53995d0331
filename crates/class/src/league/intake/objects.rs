//! Objects of a Git repository, read by the system's `git`.
//!
//! A repository may be hostile: `git` runs in the sandbox of builds, on a copy of objects and branches without settings,
//! hooks or links to other repositories.

use std::cell::LazyCell;
use std::fmt;
use std::fs;
use std::io;
use std::path::Path;
use std::time::{Duration, Instant};

use tempfile::TempDir;
use tokio::runtime::{Builder, Runtime};

use super::unpack::MAX_ENTRIES;
use referee_host::executable::{CannotStart, find_in_path};
use referee_match::bot::process::{GracePeriods, Process};
use referee_match::bot::referee_files::REFEREE_FILES;
use referee_match::bot::spec::Program;
use referee_sandbox::Sandbox;
use referee_sandbox::snapshot::{copy_file, copy_tree};
use referee_text::{cause, escape};

/// Chosen when the first repository is met; or why there is none.
pub type SandboxChoice<'a> =
    LazyCell<Result<Sandbox, String>, Box<dyn FnOnce() -> Result<Sandbox, String> + 'a>>;

const TIME: Duration = Duration::from_mins(1);

const QUOTED: usize = 200;

/// A multi-pack index could name any object.
const COMMAND: &str = "git -c core.multiPackIndex=false cat-file --batch";

/// `git` reads only the copy in its working directory; before 2.32 it knows no `GIT_CONFIG_GLOBAL`. It reads trees,
/// commits and deltas whole before it reports their size.
const ENVIRONMENT: &str = "\
    GIT_DIR=. GIT_COMMON_DIR=. GIT_OBJECT_DIRECTORY=objects GIT_ALTERNATE_OBJECT_DIRECTORIES= GIT_CONFIG_NOSYSTEM=1 \
    GIT_CONFIG_GLOBAL=/dev/null HOME=. XDG_CONFIG_HOME=. GIT_NO_REPLACE_OBJECTS=1 GIT_NO_LAZY_FETCH=1 GIT_ALLOC_LIMIT=128m \
    LC_ALL=C";

#[derive(Debug, thiserror::Error)]
pub enum GitError {
    #[error(
        "there is no commit in the branch that is checked out, {0}; commit the files of the bot, or check out the branch \
         that has them"
    )]
    Empty(String),
    /// Its commits are elsewhere, perhaps where other people's are.
    #[error(
        "its commits are not in this folder: a link, or what Git calls gitdir, commondir or alternates, leads out of it; \
         clone it again"
    )]
    Elsewhere,
    /// What git said.
    #[error("this Git repository is damaged, or of a kind that is not read ({0}); clone it again")]
    Damaged(String),
    /// An object, or the branch that is checked out.
    #[error(
        "this Git repository is damaged, or of a kind that is not read ({0} missing); clone it again"
    )]
    Missing(String),
    #[error(
        "this Git repository is damaged, or of a kind that is not read ({object} is a {kind}); clone it again"
    )]
    OtherKind { object: String, kind: String },
    #[error(
        "this Git repository is damaged, or of a kind that is not read ({0} cannot be read); clone it again"
    )]
    Invalid(GitObject),
    #[error("this Git repository cannot be copied: {0}; clone it again")]
    NotCopied(String),
    #[error("there are more than {MAX_ENTRIES} files in one folder of this Git repository")]
    Crowded,
    #[error("Git takes more than {} s to read it; commit the bot's own files alone", TIME.as_secs())]
    Slow,
    #[error(
        "there is no git here, which reads repositories; install it (on Debian and Ubuntu: apt install git), then give \
         the same command again"
    )]
    NoGit,
    /// Why there is none: a sentence.
    #[error("{0}")]
    NoSandbox(String),
    #[error("git cannot be run in the sandbox: {cause}; {fix}")]
    NotConfined { cause: String, fix: String },
    #[error("git cannot be started: {}", cause(.0))]
    NotStarted(io::Error),
    #[error("its files cannot be written: {}", cause(.0))]
    Io(#[from] io::Error),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GitObject {
    Commit,
    Folder,
}

impl fmt::Display for GitObject {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Commit => "a commit",
            Self::Folder => "a folder",
        })
    }
}

impl GitError {
    /// The machine lacks something, not the repository.
    pub(super) const fn is_of_machine(&self) -> bool {
        matches!(
            self,
            Self::NoGit
                | Self::NoSandbox(_)
                | Self::NotConfined { .. }
                | Self::NotStarted(_)
                | Self::Io(_)
        )
    }

    /// Something of its history cannot be read.
    pub(super) const fn is_of_history(&self) -> bool {
        matches!(
            self,
            Self::Damaged(_)
                | Self::Missing(_)
                | Self::OtherKind { .. }
                | Self::Invalid(_)
                | Self::Crowded
        )
    }

    /// This problem, unless there is no space left.
    fn of(error: &CannotStart, problem: Self) -> Self {
        if error.is_for_want_of_space {
            Self::Io(io::ErrorKind::StorageFull.into())
        } else {
            problem
        }
    }
}

pub(super) struct Objects {
    runtime: Runtime,
    program: Program,
    /// Restarted after an answer that was not read to its end.
    process: Option<Process>,
    arrived: Vec<u8>,
    end: Instant,
    copy: TempDir,
}

impl Objects {
    /// `folder` is canonical; with or without a working tree. `name`: whose it is.
    pub(super) fn open(
        name: &str,
        folder: &Path,
        sandbox: &SandboxChoice<'_>,
    ) -> Result<Self, GitError> {
        if find_in_path("git").is_none() {
            return Err(GitError::NoGit);
        }
        let sandbox = LazyCell::force(sandbox).as_ref();
        let sandbox = sandbox.map_err(|problem| GitError::NoSandbox(problem.clone()))?;
        let copy = tempfile::tempdir()?;
        let directory = copy.path().to_owned();
        copy_repository(name, folder, &directory)?;
        let argv = COMMAND.split(' ').map(str::to_owned).collect();
        let program = Program::tool(name, argv, &directory, sandbox, &[]).map_err(|error| {
            let problem = GitError::NotConfined {
                cause: error.cause.clone(),
                fix: error.fix.clone(),
            };
            GitError::of(&error, problem)
        })?;
        Ok(Self {
            runtime: Builder::new_current_thread().enable_all().build()?,
            program,
            process: None,
            arrived: Vec::new(),
            end: Instant::now() + TIME,
            copy,
        })
    }

    /// Starts the time for a submission.
    pub(super) fn begin(&mut self) {
        self.end = Instant::now() + TIME;
    }

    /// An object of this kind; `None` if it has more than `most` bytes.
    pub(super) fn get(
        &mut self,
        name: &str,
        kind: &str,
        most: usize,
    ) -> Result<Option<Vec<u8>>, GitError> {
        let object = self.ask(name, kind, most);
        if !matches!(object, Ok(Some(_))) {
            self.stop(GracePeriods::FAULT);
        }
        object
    }

    /// The checked-out branch, if it does not exist yet.
    pub(super) fn unborn(&self) -> Option<String> {
        let head = fs::read_to_string(self.copy.path().join("HEAD")).ok()?;
        let branch = head.strip_prefix("ref: refs/heads/")?.trim_ascii_end();
        // Other kinds of repositories have an invalid one.
        let is_there =
            branch == ".invalid" || self.copy.path().join("refs/heads").join(branch).exists();
        (!is_there).then(|| escape(branch.as_bytes()))
    }

    fn ask(&mut self, name: &str, kind: &str, most: usize) -> Result<Option<Vec<u8>>, GitError> {
        if self.process.is_none() {
            self.arrived.clear();
            let variables = ENVIRONMENT.split(' ').filter_map(|one| one.split_once('='));
            let variables = variables.map(|(name, value)| (name.to_owned(), value.to_owned()));
            let environment: Vec<_> = variables.collect();
            let started = self.runtime.block_on(async {
                let mut process = Process::start(&self.program, &environment, None)?;
                process.ready().await?;
                Ok(process)
            });
            self.process = Some(started.map_err(GitError::NotStarted)?);
        }
        self.exchange(format!("{name}\n").as_bytes())?;
        let end = loop {
            match self.arrived.iter().position(|&byte| byte == b'\n') {
                Some(end) => break end,
                None => self.exchange(b"")?,
            }
        };
        let head: Vec<u8> = self.arrived.drain(..=end).collect();
        let head = escape(head.trim_ascii_end());
        let words: Vec<&str> = head.split_ascii_whitespace().collect();
        let (found, size) = match words[..] {
            [_, found, size] => (found, size),
            [object, "missing"] => return Err(GitError::Missing(object.to_owned())),
            _ => return Err(GitError::Damaged(head)),
        };
        if found != kind {
            return Err(GitError::OtherKind {
                object: name.to_owned(),
                kind: found.to_owned(),
            });
        }
        let Some(size) = size.parse().ok().filter(|&size: &usize| size <= most) else {
            return Ok(None);
        };
        // A newline follows the object.
        while self.arrived.len() <= size {
            self.exchange(b"")?;
        }
        let rest = self.arrived.split_off(size + 1);
        let mut content = std::mem::replace(&mut self.arrived, rest);
        content.truncate(size);
        Ok(Some(content))
    }

    /// Writes, then waits for output.
    fn exchange(&mut self, bytes: &[u8]) -> Result<(), GitError> {
        let left = self.end.saturating_duration_since(Instant::now());
        let Some(process) = &mut self.process else {
            return Err(GitError::Slow);
        };
        let (_, output) = self.runtime.block_on(process.feed(bytes, left));
        if !output.is_empty() {
            self.arrived.extend(output);
            return Ok(());
        }
        if Instant::now() >= self.end {
            return Err(GitError::Slow);
        }
        let said = self.stop(GracePeriods::FAULT);
        Err(GitError::Damaged(escape(said.trim_ascii())))
    }

    /// Returns the end of its stderr.
    fn stop(&mut self, grace: GracePeriods) -> Vec<u8> {
        let Some(mut process) = self.process.take() else {
            return Vec::new();
        };
        self.runtime.block_on(async {
            // Processes that survive are reported at the end of the run.
            let _ = process.stop(grace).await;
            process.stderr_end(QUOTED)
        })
    }
}

impl Drop for Objects {
    fn drop(&mut self) {
        self.stop(GracePeriods::POLITE);
    }
}

/// Copies what counts of `folder` (canonical) into the empty directory `target`.
fn copy_repository(name: &str, folder: &Path, target: &Path) -> Result<(), GitError> {
    let kind = |path: &Path| path.symlink_metadata().map(|meta| meta.file_type());
    let inner = folder.join(".git");
    let from = match kind(&inner) {
        Ok(kind) if kind.is_dir() => inner,
        // A file can point to the repository.
        Ok(_) => return Err(GitError::Elsewhere),
        Err(_) => folder.to_owned(),
    };
    let elsewhere = ["commondir", "objects/info/alternates"];
    if elsewhere.iter().any(|part| kind(&from.join(part)).is_ok()) {
        return Err(GitError::Elsewhere);
    }
    for part in ["HEAD", "packed-refs", "objects", "refs"] {
        let from = from.join(part);
        let copied = match kind(&from) {
            Ok(kind) if kind.is_symlink() => return Err(GitError::Elsewhere),
            Ok(kind) if kind.is_dir() => {
                let target = target.join(part);
                fs::create_dir(&target)?;
                copy_tree(name, &from, &target, REFEREE_FILES).map(drop)
            }
            Ok(_) => copy_file(name, &from, target, part).map(drop),
            // Git reports what is missing.
            Err(_) => Ok(()),
        };
        copied.map_err(|error| GitError::of(&error, GitError::NotCopied(error.cause.clone())))?;
    }
    // Not needed, and Git would trust it.
    let _ = fs::remove_dir_all(target.join("objects/info"));
    if has_link(target)? {
        return Err(GitError::Elsewhere);
    }
    Ok(())
}

fn has_link(directory: &Path) -> io::Result<bool> {
    let mut found = false;
    for entry in fs::read_dir(directory)? {
        let entry = entry?;
        let kind = entry.file_type()?;
        found |= kind.is_symlink() || (kind.is_dir() && has_link(&entry.path())?);
    }
    Ok(found)
}
