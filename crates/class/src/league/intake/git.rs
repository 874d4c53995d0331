//! Git repositories: their commits are versions.
//!
//! Only commits of the checked-out branch's first-parent line are read; settings, hooks and the working tree do not
//! count.

use std::collections::BTreeMap;
use std::io::{self, Read};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use jiff::Timestamp;

use super::Intake;
use super::formats::{ArchiveEntry, ArchiveEntryKind, LINK};
use super::objects::{GitError, GitObject, Objects, SandboxChoice};
use super::unpack::{LEFT_OUT, MAX_BYTES, MAX_ENTRIES, Unpacker};
use crate::league::zone::WrittenTime;
use referee_text::{escape, hexadecimal};

/// Newest versions taken in of a student.
const MAX_VERSIONS: usize = 20;

const MAX_BYTES_OF_ALL: usize = 256 << 20;

const MAX_COMMITS: usize = 10_000;

/// Bytes of a commit or folder: one with [`MAX_ENTRIES`] has less.
const MAX_OBJECT: usize = 1 << 20;

const SUBMODULE: &str = "it is another repository (a submodule); put the files themselves there";

const LFS_POINTER: &[u8] = b"version https://git-lfs.github.com/spec/";

const ID: usize = 20;

/// What is checked out.
const HEAD: &str = "HEAD";

#[derive(Clone, Debug, PartialEq, Eq)]
struct GitNode {
    what: ArchiveEntryKind,
    is_executable: bool,
    id: String,
}

/// A state of a submission.
#[derive(Debug)]
struct Change {
    /// Of the first commit that had it.
    at: Timestamp,
    to: GitNode,
    /// The number of that commit, counted from the newest.
    commit: usize,
}

struct Commit {
    tree: String,
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

pub(super) struct CommittedVersion {
    /// With one entry.
    pub(super) room: PathBuf,
    /// Why the entry cannot be used, by name.
    pub(super) refused: BTreeMap<String, String>,
    pub(super) at: Timestamp,
}

/// The whole repository is the submission of `student`; without one, each entry of the root is a submission.
pub(super) fn versions(
    source: &Path,
    student: Option<&str>,
    sandbox: &SandboxChoice<'_>,
    intake: &mut Intake,
) -> Result<Vec<CommittedVersion>, GitError> {
    let mut objects = Objects::open(student.unwrap_or("the class"), source, sandbox)?;
    let mut versions = Vec::new();
    for (name, changes) in &changes(&mut objects, student)? {
        versions.extend(versions_of(&mut objects, name, changes, intake)?);
    }
    Ok(versions)
}

fn folder(objects: &mut Objects, id: &str) -> Result<Vec<(Vec<u8>, GitNode)>, GitError> {
    let content = objects.get(id, "tree", MAX_OBJECT)?;
    let content = content.ok_or(GitError::Crowded)?;
    let mut rest = &content[..];
    let mut nodes = Vec::new();
    while !rest.is_empty() {
        let (name, node);
        (name, node, rest) = entry(rest).ok_or(GitError::Invalid(GitObject::Folder))?;
        nodes.push((name.to_vec(), node));
        if nodes.len() > MAX_ENTRIES {
            return Err(GitError::Crowded);
        }
    }
    Ok(nodes)
}

/// And the rest of the content.
fn entry(content: &[u8]) -> Option<(&[u8], GitNode, &[u8])> {
    let name_at = content.iter().position(|&byte| byte == b' ')? + 1;
    let mode = u32::from_str_radix(str::from_utf8(&content[..name_at - 1]).ok()?, 8).ok()?;
    let end = name_at + content[name_at..].iter().position(|&byte| byte == 0)?;
    let name = &content[name_at..end];
    let (id, rest) = content[end + 1..].split_at_checked(ID)?;
    let node = GitNode {
        what: match mode >> 12 {
            0o04 => ArchiveEntryKind::Folder,
            0o10 => ArchiveEntryKind::File,
            0o16 => ArchiveEntryKind::Refused(SUBMODULE.into()),
            _ => LINK,
        },
        is_executable: mode & 0o111 != 0,
        id: hexadecimal(id),
    };
    (!name.is_empty() && !name.contains(&b'/')).then_some((name, node, rest))
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
    let [first, last] = [Timestamp::MIN, Timestamp::MAX].map(Timestamp::as_second);
    let seconds = i64::clamp(seconds?, first, last);
    Some(Commit {
        tree: tree?,
        parent,
        at: Timestamp::from_second(seconds).ok()?,
    })
}

fn id(text: &str) -> Option<String> {
    let is_id = text.len() == 2 * ID && text.bytes().all(|byte| byte.is_ascii_hexdigit());
    is_id.then(|| text.to_owned())
}

fn look(objects: &mut Objects, name: &str) -> Result<Commit, GitError> {
    let content = match objects.get(name, "commit", MAX_OBJECT) {
        Err(missing @ GitError::Missing(_)) if name == HEAD => {
            return Err(objects.unborn().map_or(missing, GitError::Empty));
        }
        content => content?,
    };
    let commit = content.and_then(|content| commit(&content));
    commit.ok_or(GitError::Invalid(GitObject::Commit))
}

/// By name of the submission, the newest first.
fn changes(
    objects: &mut Objects,
    student: Option<&str>,
) -> Result<BTreeMap<Vec<u8>, Vec<Change>>, GitError> {
    let mut changes: BTreeMap<Vec<u8>, Vec<Change>> = BTreeMap::new();
    let mut entries = Vec::new();
    let mut tree = String::new();
    let mut next = Some(HEAD.to_owned());
    for number in 0..MAX_COMMITS {
        let Some(name) = next.take() else { break };
        let read = look(objects, &name).and_then(|commit| {
            if commit.tree != tree {
                entries = of_root(objects, &commit.tree, student)?;
                tree.clone_from(&commit.tree);
            }
            Ok(commit)
        });
        let commit = match read {
            Ok(commit) => commit,
            // A shallow clone lacks the past; what is checked out counts.
            Err(error) if error.is_of_history() && number > 0 => break,
            Err(error) => return Err(error),
        };
        for (name, to) in &entries {
            let of_name = changes.entry(name.clone()).or_default();
            let known = of_name.len();
            match of_name.last_mut() {
                Some(last) if last.to == *to && last.commit + 1 >= number => {
                    (last.at, last.commit) = (commit.at, number);
                }
                // One more than is taken in, which ends the last of them.
                _ if known <= MAX_VERSIONS => of_name.push(Change {
                    at: commit.at,
                    to: to.clone(),
                    commit: number,
                }),
                _ => {}
            }
        }
        if changes.len() > MAX_ENTRIES {
            return Err(GitError::Crowded);
        }
        next = commit.parent;
    }
    Ok(changes)
}

fn of_root(
    objects: &mut Objects,
    tree: &str,
    student: Option<&str>,
) -> Result<Vec<(Vec<u8>, GitNode)>, GitError> {
    let Some(student) = student else {
        let mut entries = folder(objects, tree)?;
        entries.retain(|(name, _)| !matches!(name.first(), Some(b'.' | b'_')));
        return Ok(entries);
    };
    let whole = GitNode {
        what: ArchiveEntryKind::Folder,
        is_executable: false,
        id: tree.to_owned(),
    };
    Ok(vec![(student.as_bytes().to_vec(), whole)])
}

/// Writes a name's changes into folders, the oldest first. The checked-out state is the newest whatever the clocks
/// said; a rebase makes many commits in a second: no commit is later than its successor.
fn versions_of(
    objects: &mut Objects,
    name: &[u8],
    changes: &[Change],
    intake: &mut Intake,
) -> Result<Vec<CommittedVersion>, GitError> {
    objects.begin();
    let mut versions = Vec::new();
    let (mut end, mut bytes) = (Timestamp::MAX, 0);
    for change in changes.iter().take(MAX_VERSIONS) {
        end = end.min(change.at);
        let room = intake.room()?;
        let mut unpacker = Unpacker::new(&room, None, &mut intake.times);
        let read = unpack(objects, name, &change.to, end, &mut unpacker);
        bytes += unpacker.bytes();
        if bytes > MAX_BYTES_OF_ALL && !versions.is_empty() {
            break;
        }
        let shown = String::from_utf8_lossy(name).into_owned();
        let is_slow = matches!(read, Err(GitError::Slow));
        let problem = match read {
            Ok(_) => unpacker.refused().remove(""),
            Err(error) if error.is_of_machine() => return Err(error),
            Err(error) => Some(format!("{}: {error}", escape(name))),
        };
        let refused = problem.map(|problem| (shown, problem));
        versions.push(CommittedVersion {
            refused: refused.into_iter().collect(),
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

/// Unpacks a folder's files, or a file, until one is refused. The unpacker bounds the depth.
fn unpack(
    objects: &mut Objects,
    path: &[u8],
    node: &GitNode,
    at: Timestamp,
    unpacker: &mut Unpacker<'_>,
) -> Result<ControlFlow<()>, GitError> {
    let mut content: Box<dyn Read> = Box::new(io::empty());
    let mut what = node.what.clone();
    let mut inner = Vec::new();
    match what {
        ArchiveEntryKind::Folder => inner = folder(objects, &node.id)?,
        ArchiveEntryKind::File => match objects.get(&node.id, "blob", MAX_BYTES)? {
            Some(blob) if blob.starts_with(LFS_POINTER) => {
                let why = "Git LFS keeps it elsewhere; commit the file itself, without Git LFS";
                what = ArchiveEntryKind::Refused(why.into());
            }
            Some(blob) => content = Box::new(io::Cursor::new(blob)),
            // Refused for its size, unread.
            None => content = Box::new(io::repeat(0)),
        },
        ArchiveEntryKind::Refused(_) => {}
    }
    let entry = ArchiveEntry {
        path: path.to_vec(),
        what,
        is_executable: node.is_executable,
        modified: Some(WrittenTime::Instant(at)),
        content: &mut *content,
    };
    let mut next = unpacker.take(entry)?;
    for (name, node) in inner {
        if next.is_continue() && !LEFT_OUT.iter().any(|left_out| left_out.as_bytes() == name) {
            let path = [path, b"/", &name].concat();
            next = unpack(objects, &path, &node, at, unpacker)?;
        }
    }
    Ok(next)
}
