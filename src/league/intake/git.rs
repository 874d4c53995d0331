//! Git repositories: their commits are versions.
//!
//! Only commits of the checked-out branch's first-parent line are read; settings, hooks and the working tree do not
//! count.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};

use jiff::Timestamp;

use super::Intake;
use super::formats::{Entry, What};
use super::objects::{GitError, Object, Objects, SandboxChoice};
use super::unpack::{LEFT_OUT, MAX_BYTES, MAX_ENTRIES, Unpacker};
use crate::text::{escape, hexadecimal};

/// Newest versions taken in of a student.
const MAX_VERSIONS: usize = 20;

const MAX_BYTES_OF_ALL: usize = 256 << 20;

const MAX_COMMITS: usize = 10_000;

/// Bytes of a commit or folder: one with [`MAX_ENTRIES`] has less.
const MAX_OBJECT: usize = 1 << 20;

const LFS_POINTER: &[u8] = b"version https://git-lfs.github.com/spec/";

const ID: usize = 20;

/// Entries told apart, by name.
type Entries = BTreeMap<Vec<u8>, Node>;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Folder,
    File { is_executable: bool },
    Repository,
    Other,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Node {
    kind: Kind,
    id: String,
}

/// A commit that changed something.
#[derive(Debug)]
struct Change {
    at: Timestamp,
    to: Node,
}

#[derive(Debug, PartialEq, Eq)]
struct Commit {
    tree: String,
    /// The first one.
    parent: Option<String>,
    at: Timestamp,
}

/// With or without a working tree.
pub(super) fn is_repository(folder: &Path) -> bool {
    let inner = folder.join(".git");
    // A file points to the repository.
    inner.is_file() || inner.join("HEAD").is_file() || {
        folder.join("HEAD").is_file() && folder.join("objects").is_dir()
    }
}

pub(super) struct Version {
    /// With one entry.
    pub(super) room: PathBuf,
    /// Why the entry cannot be used, by name.
    pub(super) refused: BTreeMap<String, String>,
    pub(super) at: Timestamp,
}

/// Each entry of the root is a submission.
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

/// A repository in a class's folder: as a whole the submission of `name`.
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

fn folder(objects: &mut Objects, id: &str) -> Result<Vec<u8>, GitError> {
    match objects.get(id, MAX_OBJECT)? {
        Object::Tree(content) => Ok(content),
        Object::TooLarge => Err(GitError::Crowded),
        _ => Err(damaged("a folder")),
    }
}

/// And the rest of the content.
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
    // The author can write any number there.
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

fn id(text: &str) -> Option<String> {
    let is_id = text.len() == 2 * ID && text.bytes().all(|byte| byte.is_ascii_hexdigit());
    is_id.then(|| text.to_owned())
}

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

/// The newest first.
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
    // The commit after the current one.
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
            // A shallow clone lacks the past; what is checked out counts.
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

/// Writes a name's changes into folders, the oldest first. The checked-out state is the newest whatever the clocks
/// said; a rebase makes many commits in a second: no commit is later than its successor.
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

/// A folder being walked.
struct Level {
    path: Vec<u8>,
    content: Vec<u8>,
    at: usize,
}

/// Unpacks a folder's files, or a file, until one is refused.
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
                // Refused for its size, unread.
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
