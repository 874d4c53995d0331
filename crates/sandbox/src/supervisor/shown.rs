//! What stays visible of a directory that another file system is mounted over.

use std::fs::{self, DirBuilder, File};
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::fs::{DirBuilderExt as _, symlink};
use std::path::{Path, PathBuf};

use rustix::fs::{CWD, Mode};
use rustix::mount::{MoveMountFlags, OpenTreeFlags, move_mount, open_tree};
use rustix::process::umask;

/// Files, directories and links, each with its path.
pub(super) struct Shown<'a>(Vec<(&'a Path, What)>);

enum What {
    Directory(OwnedFd),
    File(OwnedFd),
    Link(PathBuf),
}

impl<'a> Shown<'a> {
    /// Opens what is there now. None of the paths lies in another.
    pub(super) fn find(paths: &'a [PathBuf]) -> io::Result<Self> {
        let tree = OpenTreeFlags::OPEN_TREE_CLONE
            | OpenTreeFlags::OPEN_TREE_CLOEXEC
            | OpenTreeFlags::AT_RECURSIVE;
        let find = |path: &'a PathBuf| {
            let what = match fs::read_link(path) {
                Ok(target) => What::Link(target),
                Err(_) if path.is_dir() => What::Directory(open_tree(CWD, path, tree)?),
                Err(_) => What::File(open_tree(CWD, path, tree)?),
            };
            Ok((path.as_path(), what))
        };
        paths.iter().map(find).collect::<io::Result<_>>().map(Self)
    }

    /// Shows everything at its path, making parent directories that all users may enter and list.
    pub(super) fn put(self) -> io::Result<()> {
        // The referee's umask may keep others out.
        let usual = umask(Mode::WGRP | Mode::WOTH);
        let done = self
            .0
            .into_iter()
            .try_for_each(|(path, what)| put(path, what));
        umask(usual);
        done
    }
}

fn put(path: &Path, what: What) -> io::Result<()> {
    let mut directories = DirBuilder::new();
    directories.recursive(true).mode(0o755);
    if let Some(above) = path.parent() {
        directories.create(above)?;
    }
    let tree = match what {
        What::Link(target) => return symlink(target, path),
        What::Directory(tree) => {
            directories.create(path)?;
            tree
        }
        What::File(tree) => {
            File::create_new(path)?;
            tree
        }
    };
    let here = MoveMountFlags::MOVE_MOUNT_F_EMPTY_PATH;
    Ok(move_mount(tree, "", CWD, path, here)?)
}
