//! Git repositories: their commits are the versions.
//!
//! Only commits are read, of the branch that is checked out and without what was merged into it: nothing of a repository's
//! settings, hooks or working tree counts.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use gix::bstr::BString;
use gix::objs::tree::EntryKind;
use gix::{ObjectId, Repository, Tree};
use jiff::Timestamp;

use super::Intake;
use super::formats::{Entry, What};
use super::unpack::{MAX_BYTES, Visit, unpack_each};
use crate::text::{cause, escape};

/// The most versions of a student that are taken in, the newest ones.
const MAX_VERSIONS: usize = 20;

/// The most commits that are looked at.
const MAX_COMMITS: usize = 10_000;

/// What stands in the place of a file that is kept by Git LFS.
const LFS_POINTER: &[u8] = b"version https://git-lfs.github.com/spec/";

/// Deeper folders are refused.
const MAX_DEPTH: usize = 64;

/// Why a repository cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum GitError {
    /// Nothing has been committed.
    #[error("there are no commits in this Git repository; commit the files of the bot")]
    Empty,
    /// Nothing has been committed to the branch that is checked out.
    #[error(
        "nothing has been committed to the branch that is checked out; check out the one with the bot: {}", .0.join(", ")
    )]
    Unborn(Vec<String>),
    /// Its commits are kept elsewhere, where other people's may be.
    #[error(
        "its commits are not in this folder: a link, or what Git calls gitdir or alternates, leads out of it; clone it again"
    )]
    Elsewhere,
    /// It cannot be understood.
    #[error("this Git repository is damaged, or of a kind that is not read; clone it again")]
    Damaged,
    /// Its files cannot be written.
    #[error("its files cannot be written: {}", cause(.0))]
    Io(#[from] io::Error),
}

/// Takes any error of the library, whose words are for programmers.
fn damaged<E>(_: E) -> GitError {
    GitError::Damaged
}

/// A folder or a file at a commit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Object {
    kind: EntryKind,
    id: ObjectId,
}

/// A commit in which something was changed.
#[derive(Clone, Copy, Debug)]
struct Change {
    at: Timestamp,
    to: Object,
}

/// Whether this folder is a repository, with or without a working tree.
pub(super) fn is_repository(folder: &Path) -> bool {
    let inner = folder.join(".git");
    // A file leads to where the repository is.
    inner.is_file() || inner.join("HEAD").is_file() || {
        folder.join("HEAD").is_file() && folder.join("objects").is_dir()
    }
}

/// A version of a submission, as if a folder had been handed in with that alone.
pub(super) struct Version {
    /// The folder, with one entry.
    pub(super) room: PathBuf,
    /// Why the entry cannot be used, by its name.
    pub(super) refused: BTreeMap<String, String>,
    /// When it was committed.
    pub(super) at: Timestamp,
}

/// Reads the repository of a class: each entry of its root is somebody's submission.
pub(super) fn of_class(source: &Path, intake: &mut Intake) -> Result<Vec<Version>, GitError> {
    let repository = open(source)?;
    let changes = changes(&repository, |tree| {
        let mut entries = BTreeMap::new();
        for entry in tree.iter() {
            let entry = entry.map_err(damaged)?;
            let name = entry.filename().to_owned();
            let (kind, id) = (entry.mode().kind(), entry.object_id());
            if !name.starts_with(b".") && !name.starts_with(b"_") {
                entries.insert(name, Object { kind, id });
            }
        }
        Ok(entries)
    });
    versions(&repository, &changes?, intake)
}

/// Reads the repository of a student in the folder of a class, whose submission it is as a whole, under this name.
pub(super) fn of_student(
    class: &Path,
    source: &Path,
    name: &str,
    intake: &mut Intake,
) -> Result<Vec<Version>, GitError> {
    let repository = open(source)?;
    // The entries of the class's folder are the teacher's own, also where they are links.
    if leads_out(
        &repository,
        &[class.canonicalize()?, source.canonicalize()?],
    )? {
        return Err(GitError::Elsewhere);
    }
    let changes = changes(&repository, |tree| {
        let (kind, id) = (EntryKind::Tree, tree.id);
        Ok([(BString::from(name), Object { kind, id })].into())
    });
    versions(&repository, &changes?, intake)
}

fn open(folder: &Path) -> Result<Repository, GitError> {
    gix::open_opts(folder, gix::open::Options::isolated()).map_err(damaged)
}

/// Whether a repository takes anything from outside of these folders, such as the teacher's own repository. Whoever hands
/// in a folder may have written what is in its `.git`.
fn leads_out(repository: &Repository, within: &[PathBuf]) -> io::Result<bool> {
    let mut folders = vec![
        repository.git_dir().to_owned(),
        repository.common_dir().to_owned(),
    ];
    let mut seen = BTreeSet::new();
    while let Some(folder) = folders.pop() {
        let Ok(folder) = folder.canonicalize() else {
            // It leads nowhere.
            continue;
        };
        if !within.iter().any(|own| folder.starts_with(own)) {
            return Ok(true);
        }
        if !seen.insert(folder.clone()) {
            continue;
        }
        if !folder.is_dir() {
            continue;
        }
        for entry in fs::read_dir(&folder)? {
            let entry = entry?;
            let kind = entry.file_type()?;
            if kind.is_dir() || kind.is_symlink() {
                folders.push(entry.path());
            }
        }
        let alternates = fs::read_to_string(folder.join("info/alternates"));
        let named = alternates.unwrap_or_default();
        let lines = named.lines().filter(|line| !line.is_empty());
        folders.extend(lines.map(|line| folder.join(line)));
    }
    Ok(false)
}

/// The names of all branches, also of those that were fetched.
fn branches(repository: &Repository) -> Vec<String> {
    let Ok(references) = repository.references() else {
        return Vec::new();
    };
    let local = references.local_branches().into_iter().flatten();
    let remote = references.remote_branches().into_iter().flatten();
    let all = local.chain(remote).filter_map(Result::ok);
    let names = all.map(|branch| escape(branch.name().shorten()));
    names.filter(|name| !name.ends_with("/HEAD")).collect()
}

/// What was changed in which commit, the newest first.
fn changes(
    repository: &Repository,
    entries: impl Fn(&Tree<'_>) -> Result<BTreeMap<BString, Object>, GitError>,
) -> Result<BTreeMap<BString, Vec<Change>>, GitError> {
    let head = repository.head().map_err(damaged)?;
    let head = head.id().ok_or_else(|| match branches(repository) {
        branches if branches.is_empty() => GitError::Empty,
        branches => GitError::Unborn(branches),
    })?;
    let walk = repository.rev_walk([head]).first_parent_only().all();
    let mut changes: BTreeMap<BString, Vec<Change>> = BTreeMap::new();
    let mut note = |at: Timestamp, name: BString, to: Object| {
        let of_name = changes.entry(name).or_default();
        if of_name.len() < MAX_VERSIONS {
            of_name.push(Change { at, to });
        }
    };
    // What the commit after the one that is looked at has.
    let mut later: Option<(Timestamp, ObjectId, BTreeMap<BString, Object>)> = None;
    for info in walk.map_err(damaged)?.take(MAX_COMMITS) {
        let commit = info.map_err(damaged)?.object().map_err(damaged)?;
        let seconds = commit.time().map_err(damaged)?.seconds;
        // Whoever makes a commit can write any number there.
        let end = if seconds < 0 {
            Timestamp::MIN
        } else {
            Timestamp::MAX
        };
        let at = Timestamp::from_second(seconds).unwrap_or(end);
        let tree = commit.tree().map_err(damaged)?;
        if let Some((later_at, id, _)) = &mut later
            && *id == tree.id
        {
            *later_at = at;
            continue;
        }
        let now = entries(&tree)?;
        if let Some((at, _, later)) = later.take() {
            for (name, to) in later {
                if now.get(&name) != Some(&to) {
                    note(at, name, to);
                }
            }
        }
        later = Some((at, tree.id, now));
    }
    if let Some((at, _, entries)) = later {
        for (name, to) in entries {
            note(at, name, to);
        }
    }
    Ok(changes)
}

/// The changes of a name, the oldest first. What is checked out is the newest whatever the clocks said, and a rebase writes many
/// commits within a second: no commit is later than one that came after it.
fn in_order(changes: &[Change]) -> Vec<Change> {
    let mut end = Timestamp::MAX;
    let mut ordered: Vec<Change> = changes
        .iter()
        .map(|change| {
            end = end.min(change.at);
            Change { at: end, ..*change }
        })
        .collect();
    ordered.reverse();
    ordered
}

/// Writes versions into folders of their own.
fn versions(
    repository: &Repository,
    changes: &BTreeMap<BString, Vec<Change>>,
    intake: &mut Intake,
) -> Result<Vec<Version>, GitError> {
    let mut versions = Vec::new();
    for (name, changes) in changes {
        for change in in_order(changes) {
            let room = intake.room()?;
            let refused = unpack_each(
                |visit| each(repository, change.to, change.at, name, 0, visit),
                &room,
                Some(0),
            );
            versions.push(Version {
                refused: refused?,
                room,
                at: change.at,
            });
        }
    }
    Ok(versions)
}

/// Visits the files of a folder, or a file.
fn each(
    repository: &Repository,
    object: Object,
    at: Timestamp,
    path: &[u8],
    depth: usize,
    visit: &mut Visit<'_>,
) -> io::Result<()> {
    let mut content: Box<dyn io::Read> = Box::new(io::empty());
    let mut folder = None;
    let what = match object.kind {
        EntryKind::Tree if depth < MAX_DEPTH => match repository.find_tree(object.id) {
            Ok(tree) => {
                folder = Some(tree);
                What::Folder
            }
            Err(_) => What::Unreadable,
        },
        EntryKind::Blob | EntryKind::BlobExecutable => {
            match repository.find_header(object.id).map(|found| found.size()) {
                // Refused for its size, and not read.
                Ok(size) if size > MAX_BYTES => {
                    content = Box::new(io::repeat(0));
                    What::File
                }
                Ok(_) => match repository.find_blob(object.id) {
                    Ok(blob) if blob.data.starts_with(LFS_POINTER) => What::Pointer,
                    Ok(mut blob) => {
                        content = Box::new(io::Cursor::new(blob.take_data()));
                        What::File
                    }
                    Err(_) => What::Unreadable,
                },
                Err(_) => What::Unreadable,
            }
        }
        EntryKind::Commit => What::Repository,
        EntryKind::Tree | EntryKind::Link => What::Other,
    };
    visit(Entry {
        path: path.to_vec(),
        what,
        is_executable: object.kind == EntryKind::BlobExecutable,
        modified: Some(at),
        content: &mut *content,
    })?;
    for inner in folder.iter().flat_map(Tree::iter) {
        let Ok(inner) = inner else {
            return visit(Entry {
                path: path.to_vec(),
                what: What::Unreadable,
                is_executable: false,
                modified: None,
                content: &mut io::empty(),
            });
        };
        let to = Object {
            kind: inner.mode().kind(),
            id: inner.object_id(),
        };
        let path = [path, b"/", inner.filename()].concat();
        each(repository, to, at, &path, depth + 1, visit)?;
    }
    Ok(())
}
