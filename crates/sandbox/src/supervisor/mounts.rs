//! What is mounted for a bot: a scratch file system, `/proc`, and paths that it may see.

use std::ffi::CStr;
use std::fs::{self, DirBuilder, File};
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::fs::{DirBuilderExt as _, symlink};
use std::path::{Path, PathBuf};

use rustix::fs::{CWD, Mode};
use rustix::mount::{MountFlags, MoveMountFlags, OpenTreeFlags, mount, move_mount, open_tree};
use rustix::process::{getgid, getuid, umask};

use crate::limits::ResourceLimits;

/// For every file system mounted for a bot.
pub(super) const SAFE: MountFlags = MountFlags::NOSUID.union(MountFlags::NODEV);

/// With this many files that are not the bot's.
pub(super) fn mount_scratch(
    place: &Path,
    limits: &ResourceLimits,
    user: Option<u32>,
    (others, mode): (u64, &str),
) -> io::Result<()> {
    let uid = user.unwrap_or_else(|| getuid().as_raw());
    let gid = user.unwrap_or_else(|| getgid().as_raw());
    // The directory itself is one.
    let files = ResourceLimits::SCRATCH_FILES + others + 1;
    let size = limits.scratch;
    let options = format!("nr_inodes={files},mode={mode},size={size},uid={uid},gid={gid}\0");
    let options = CStr::from_bytes_with_nul(options.as_bytes()).map_err(io::Error::other)?;
    Ok(mount("tmpfs", place, "tmpfs", SAFE, options)?)
}

/// Shows only processes of this process's namespace; read-only, because `/proc` has kernel
/// settings.
pub(super) fn mount_processes() -> io::Result<()> {
    let flags = SAFE | MountFlags::NOEXEC | MountFlags::RDONLY;
    Ok(mount("proc", "/proc", "proc", flags, None)?)
}

/// Files, directories and links, each with its path.
pub(super) struct PathMounts<'a>(Vec<(&'a Path, MountSource)>);

enum MountSource {
    /// A directory, if that is so, or a file.
    Tree(OwnedFd, bool),
    Link(PathBuf),
}

impl<'a> PathMounts<'a> {
    /// Opens what is there now. None of the paths lies in another.
    pub(super) fn find(paths: &'a [PathBuf]) -> io::Result<Self> {
        let tree = OpenTreeFlags::OPEN_TREE_CLONE
            | OpenTreeFlags::OPEN_TREE_CLOEXEC
            | OpenTreeFlags::AT_RECURSIVE;
        let find = |path: &'a PathBuf| {
            let source = match fs::read_link(path) {
                Ok(target) => MountSource::Link(target),
                Err(_) => MountSource::Tree(open_tree(CWD, path, tree)?, path.is_dir()),
            };
            Ok((path.as_path(), source))
        };
        paths.iter().map(find).collect::<io::Result<_>>().map(Self)
    }

    /// At most how many files, directories and links it takes to show them.
    pub(super) fn files(&self) -> u64 {
        let depth = |(path, _): &(&Path, MountSource)| path.components().count() as u64;
        self.0.iter().map(depth).sum()
    }

    /// Shows everything at its path, making parent directories that all users may enter and list.
    pub(super) fn put(self) -> io::Result<()> {
        // The referee's umask may keep others out.
        let usual = umask(Mode::WGRP | Mode::WOTH);
        let done = self
            .0
            .into_iter()
            .try_for_each(|(path, source)| put(path, source));
        umask(usual);
        done
    }
}

fn put(path: &Path, source: MountSource) -> io::Result<()> {
    let mut directories = DirBuilder::new();
    directories.recursive(true).mode(0o755);
    if let Some(above) = path.parent() {
        directories.create(above)?;
    }
    let tree = match source {
        MountSource::Link(target) => return symlink(target, path),
        MountSource::Tree(tree, true) => directories.create(path).map(|()| tree)?,
        MountSource::Tree(tree, false) => File::create_new(path).map(|_| tree)?,
    };
    let here = MoveMountFlags::MOVE_MOUNT_F_EMPTY_PATH;
    Ok(move_mount(tree, "", CWD, path, here)?)
}
