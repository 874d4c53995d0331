//! Git repositories: their commits are the versions.
//!
//! Only commits are read, of the branch that is checked out and without what was merged into it: nothing of a repository's
//! settings, hooks or working tree counts.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};

use jiff::Timestamp;

use super::Intake;
use super::formats::{Entry, What};
use super::objects::{GitError, Object, Objects, SandboxChoice};
use super::unpack::{LEFT_OUT, MAX_BYTES, MAX_ENTRIES, Unpacker};
use crate::text::{escape, hexadecimal};

/// The most versions of a student that are taken in, the newest ones.
const MAX_VERSIONS: usize = 20;

/// How many bytes these may have together. The newest counts in any case.
const MAX_BYTES_OF_ALL: usize = 256 << 20;

/// The most commits that are looked at.
const MAX_COMMITS: usize = 10_000;

/// The largest commit or folder that is read, in bytes: one of [`MAX_ENTRIES`] has less.
const MAX_OBJECT: usize = 1 << 20;

/// What stands in the place of a file that is kept by Git LFS.
const LFS_POINTER: &[u8] = b"version https://git-lfs.github.com/spec/";

/// The length of an object's name, in bytes.
const ID: usize = 20;

/// The entries of a folder that are told apart, by name.
type Entries = BTreeMap<Vec<u8>, Node>;

/// The kind of an entry of a folder, as Git writes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Folder,
    File { is_executable: bool },
    Repository,
    Other,
}

/// A folder or a file at a commit.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Node {
    kind: Kind,
    id: String,
}

/// A commit in which something was changed.
#[derive(Debug)]
struct Change {
    at: Timestamp,
    to: Node,
}

/// What is read of a commit.
#[derive(Debug, PartialEq, Eq)]
struct Commit {
    tree: String,
    /// The name of the first one.
    parent: Option<String>,
    at: Timestamp,
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
pub(super) fn of_class(
    source: &Path,
    sandbox: &SandboxChoice<'_>,
    intake: &mut Intake,
) -> Result<Vec<Version>, GitError> {
    let mut objects = Objects::open("the class", &source.canonicalize()?, sandbox)?;
    let changes = changes(&mut objects, |objects, tree| {
        let root = folder(objects, tree)?;
        let mut rest = &root[..];
        let mut entries = Entries::new();
        while !rest.is_empty() {
            let (name, node);
            (name, node, rest) = entry(rest).ok_or_else(|| damaged("a folder"))?;
            if !name.starts_with(b".") && !name.starts_with(b"_") {
                entries.insert(name.to_vec(), node);
            }
        }
        Ok(entries)
    })?;
    let mut versions = Vec::new();
    for (name, changes) in &changes {
        versions.extend(versions_of(&mut objects, name, changes, intake)?);
    }
    Ok(versions)
}

/// Reads the repository of a student in the folder of a class, whose submission it is as a whole, under this name.
pub(super) fn of_student(
    source: &Path,
    name: &str,
    sandbox: &SandboxChoice<'_>,
    intake: &mut Intake,
) -> Result<Vec<Version>, GitError> {
    let mut objects = Objects::open(name, source, sandbox)?;
    let changes = changes(&mut objects, |_, tree| {
        let (kind, id) = (Kind::Folder, tree.to_owned());
        Ok([(name.as_bytes().to_vec(), Node { kind, id })].into())
    })?;
    let (name, changes) = changes.first_key_value().ok_or_else(|| damaged("HEAD"))?;
    versions_of(&mut objects, name, changes, intake)
}

fn damaged(what: &str) -> GitError {
    GitError::Damaged(format!("{what} cannot be read"))
}

/// The content of a folder.
fn folder(objects: &mut Objects, id: &str) -> Result<Vec<u8>, GitError> {
    match objects.get(id, MAX_OBJECT)? {
        Object::Tree(content) => Ok(content),
        Object::TooLarge => Err(GitError::Crowded),
        _ => Err(damaged("a folder")),
    }
}

/// The first entry of a folder's content, and what follows it.
fn entry(content: &[u8]) -> Option<(&[u8], Node, &[u8])> {
    let name_at = content.iter().position(|&byte| byte == b' ')? + 1;
    let mode = u32::from_str_radix(str::from_utf8(&content[..name_at - 1]).ok()?, 8).ok()?;
    let end = name_at + content[name_at..].iter().position(|&byte| byte == 0)?;
    let name = &content[name_at..end];
    let (id, rest) = content[end + 1..].split_at_checked(ID)?;
    let kind = match mode >> 12 {
        0o04 => Kind::Folder,
        0o10 => Kind::File {
            is_executable: mode & 0o111 != 0,
        },
        0o16 => Kind::Repository,
        _ => Kind::Other,
    };
    let id = hexadecimal(id);
    (!name.is_empty() && !name.contains(&b'/')).then_some((name, Node { kind, id }, rest))
}

/// Reads a commit.
fn commit(content: &[u8]) -> Option<Commit> {
    let (mut tree, mut parent, mut seconds) = (None, None, None);
    let lines = content.split(|&byte| byte == b'\n');
    for line in lines.take_while(|line| !line.is_empty()) {
        let line = String::from_utf8_lossy(line);
        let (key, value) = line.split_once(' ')?;
        match key {
            "tree" => tree = tree.or(id(value)),
            "parent" => parent = parent.or(id(value)),
            "committer" if seconds.is_none() => seconds = value.rsplit(' ').nth(1)?.parse().ok(),
            _ => {}
        }
    }
    // The author of a commit can write any number there.
    let seconds: i64 = seconds?;
    let end = if seconds < 0 {
        Timestamp::MIN
    } else {
        Timestamp::MAX
    };
    Some(Commit {
        tree: tree?,
        parent,
        at: Timestamp::from_second(seconds).unwrap_or(end),
    })
}

/// The name of an object.
fn id(text: &str) -> Option<String> {
    let is_id = text.len() == 2 * ID && text.bytes().all(|byte| byte.is_ascii_hexdigit());
    is_id.then(|| text.to_owned())
}

/// Reads the commit of this name.
fn look(objects: &mut Objects, name: &str) -> Result<Commit, GitError> {
    let content = match objects.get(name, MAX_OBJECT) {
        Ok(Object::Commit(content)) => content,
        Ok(_) => return Err(damaged("a commit")),
        Err(GitError::Damaged(problem)) if problem == "HEAD missing" => {
            let unborn = objects.unborn();
            return Err(unborn.map_or(GitError::Damaged(problem), GitError::Empty));
        }
        Err(error) => return Err(error),
    };
    commit(&content).ok_or_else(|| damaged("a commit"))
}

/// What was changed in which commit, the newest first.
fn changes(
    objects: &mut Objects,
    entries: impl Fn(&mut Objects, &str) -> Result<Entries, GitError>,
) -> Result<BTreeMap<Vec<u8>, Vec<Change>>, GitError> {
    let mut changes: BTreeMap<Vec<u8>, Vec<Change>> = BTreeMap::new();
    let mut note = |at: Timestamp, name: Vec<u8>, to: Node| {
        let of_name = changes.entry(name).or_default();
        if of_name.len() < MAX_VERSIONS {
            of_name.push(Change { at, to });
        }
        if changes.len() > MAX_ENTRIES {
            return Err(GitError::Crowded);
        }
        Ok(())
    };
    // What the commit after the one that is looked at has.
    let mut later: Option<(Timestamp, String, Entries)> = None;
    let mut next = Some("HEAD".to_owned());
    for _ in 0..MAX_COMMITS {
        let Some(name) = next.take() else { break };
        let found = look(objects, &name).and_then(|found| {
            if let Some((at, tree, _)) = &mut later
                && *tree == found.tree
            {
                *at = found.at;
                return Ok((found, None));
            }
            let now = entries(objects, &found.tree)?;
            Ok((found, Some(now)))
        });
        let (found, now) = match found {
            Ok(found) => found,
            // A clone may not have all of the past, and what is checked out counts.
            Err(GitError::Damaged(_) | GitError::Crowded) if later.is_some() => break,
            Err(error) => return Err(error),
        };
        next = found.parent;
        let Some(now) = now else { continue };
        if let Some((at, _, later)) = later.take() {
            for (name, to) in later {
                if now.get(&name) != Some(&to) {
                    note(at, name, to)?;
                }
            }
        }
        later = Some((found.at, found.tree, now));
    }
    if let Some((at, _, entries)) = later {
        for (name, to) in entries {
            note(at, name, to)?;
        }
    }
    Ok(changes)
}

/// Writes the changes of a name into folders of their own, the oldest first. What is checked out is the newest whatever the
/// clocks said, and a rebase writes many commits within a second: no commit is later than one that came after it.
fn versions_of(
    objects: &mut Objects,
    name: &[u8],
    changes: &[Change],
    intake: &mut Intake,
) -> Result<Vec<Version>, GitError> {
    objects.begin();
    let mut versions = Vec::new();
    let (mut end, mut bytes) = (Timestamp::MAX, 0);
    for change in changes {
        end = end.min(change.at);
        let room = intake.room()?;
        let mut unpacker = Unpacker::new(&room, None);
        let read = unpack(objects, &change.to, end, name, &mut unpacker);
        bytes += unpacker.bytes();
        if bytes > MAX_BYTES_OF_ALL && !versions.is_empty() {
            break;
        }
        let shown = String::from_utf8_lossy(name).into_owned();
        let is_slow = matches!(read, Err(GitError::Slow));
        let problem = match read {
            Ok(()) => unpacker.refused().remove(""),
            Err(error) if error.is_of_machine() => return Err(error),
            Err(error) => Some(format!("{}: {error}", escape(name))),
        };
        versions.push(Version {
            refused: problem
                .map(|problem| (shown, problem))
                .into_iter()
                .collect(),
            room,
            at: end,
        });
        if is_slow {
            break;
        }
    }
    versions.reverse();
    Ok(versions)
}

/// A folder that is gone through.
struct Level {
    path: Vec<u8>,
    content: Vec<u8>,
    /// Where the next entry is.
    at: usize,
}

/// Unpacks the files of a folder, or a file, until one is refused.
fn unpack(
    objects: &mut Objects,
    node: &Node,
    at: Timestamp,
    name: &[u8],
    unpacker: &mut Unpacker<'_>,
) -> Result<(), GitError> {
    let mut levels: Vec<Level> = Vec::new();
    let mut next = Some((name.to_vec(), node.clone()));
    loop {
        let (path, node) = match (next.take(), levels.last_mut()) {
            (Some(first), _) => first,
            (None, None) => return Ok(()),
            (None, Some(level)) if level.at == level.content.len() => {
                levels.pop();
                continue;
            }
            (None, Some(level)) => {
                let content = &level.content[level.at..];
                let (name, node, rest) = entry(content).ok_or_else(|| damaged("a folder"))?;
                level.at = level.content.len() - rest.len();
                if LEFT_OUT.iter().any(|left_out| left_out.as_bytes() == name) {
                    continue;
                }
                ([&level.path, &b"/"[..], name].concat(), node)
            }
        };
        let mut content: Box<dyn io::Read> = Box::new(io::empty());
        let mut inner = None;
        let what = match node.kind {
            Kind::Folder => match folder(objects, &node.id) {
                Ok(content) => {
                    inner = Some(content);
                    What::Folder
                }
                Err(GitError::Crowded) => What::Crowded,
                Err(GitError::Damaged(_)) => What::Unreadable,
                Err(error) => return Err(error),
            },
            Kind::File { .. } => match objects.get(&node.id, MAX_BYTES) {
                Ok(Object::Blob(blob)) if blob.starts_with(LFS_POINTER) => What::Pointer,
                Ok(Object::Blob(blob)) => {
                    content = Box::new(io::Cursor::new(blob));
                    What::File
                }
                // Refused for its size, and not read.
                Ok(Object::TooLarge) => {
                    content = Box::new(io::repeat(0));
                    What::File
                }
                Ok(_) | Err(GitError::Damaged(_)) => What::Unreadable,
                Err(error) => return Err(error),
            },
            Kind::Repository => What::Repository,
            Kind::Other => What::Other,
        };
        let entry = Entry {
            path: path.clone(),
            what,
            is_executable: node.kind
                == Kind::File {
                    is_executable: true,
                },
            modified: Some(at),
            content: &mut *content,
        };
        if unpacker.take(entry)?.is_break() {
            return Ok(());
        }
        levels.extend(inner.map(|content| Level {
            path,
            content,
            at: 0,
        }));
    }
}
