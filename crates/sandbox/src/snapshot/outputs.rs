//! The files into which this run of the program writes: they may lie in a bot's folder, and grow while it plays.

use std::fs::Metadata;
use std::path::{Path, PathBuf};

/// Files to which this run writes: by options, and by the shell.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RunOutputs {
    /// Canonical.
    paths: Vec<PathBuf>,
    /// Devices and numbers on them.
    ids: Vec<(u64, u64)>,
}

impl RunOutputs {
    pub(super) const NONE: Self = Self {
        paths: Vec::new(),
        ids: Vec::new(),
    };

    /// `files`: those that were named to this program. Adds the files to which its standard output and standard error
    /// lead, as by `> out.txt`; on Linux also through a pipe, as by `| tee out.txt`.
    pub fn of_this_run(files: &[PathBuf]) -> Self {
        let canonical = files.iter().filter_map(|file| file.canonicalize().ok());
        Self {
            paths: canonical.collect(),
            ids: streams::ids(),
        }
    }

    pub(super) fn contain(&self, path: &Path, meta: &Metadata) -> bool {
        self.paths.iter().any(|output| output == path)
            || streams::id(meta).is_some_and(|id| self.ids.contains(&id))
    }
}

#[cfg(unix)]
mod streams {
    use std::fs::{File, Metadata};
    use std::io;
    use std::os::fd::AsFd as _;
    #[cfg(target_os = "linux")]
    use std::os::unix::fs::FileTypeExt as _;
    use std::os::unix::fs::MetadataExt;

    #[expect(clippy::unnecessary_wraps, reason = "its counterpart has none")]
    pub(super) fn id(meta: &Metadata) -> Option<(u64, u64)> {
        Some((meta.dev(), meta.ino()))
    }

    pub(super) fn ids() -> Vec<(u64, u64)> {
        let (out, err) = (io::stdout(), io::stderr());
        let opened = [
            out.as_fd().try_clone_to_owned(),
            err.as_fd().try_clone_to_owned(),
        ];
        let metas = opened.into_iter().flatten();
        let metas: Vec<Metadata> = metas
            .filter_map(|fd| File::from(fd).metadata().ok())
            .collect();
        let files = metas.iter().filter(|meta| meta.is_file());
        let files: Vec<(u64, u64)> = files.filter_map(id).collect();
        #[cfg(target_os = "linux")]
        let files = {
            let pipes = metas.iter().filter(|meta| meta.file_type().is_fifo());
            let pipes = pipes.map(MetadataExt::ino).collect();
            [files, super::pipes::files_behind(pipes)].concat()
        };
        files
    }
}

#[cfg(not(unix))]
mod streams {
    use std::fs::Metadata;

    pub(super) const fn id(_: &Metadata) -> Option<(u64, u64)> {
        None
    }

    pub(super) const fn ids() -> Vec<(u64, u64)> {
        Vec::new()
    }
}

/// Who reads a pipe, and writes what it reads to a file.
#[cfg(target_os = "linux")]
mod pipes {
    use std::fs;
    use std::os::unix::fs::MetadataExt as _;
    use std::path::PathBuf;

    use super::streams;

    const WRITABLE: u32 = 0o200;

    const READABLE: u32 = 0o400;

    struct Process {
        reads: Vec<u64>,
        writes: Vec<u64>,
        /// Its open descriptors that are not pipes and may be written to.
        files: Vec<PathBuf>,
    }

    /// The files that the readers of these pipes have open for writing, and so on through the pipes to which they
    /// write. Processes of other users, which cannot be looked into, are not followed.
    pub(super) fn files_behind(mut pipes: Vec<u64>) -> Vec<(u64, u64)> {
        let mut ids = Vec::new();
        if pipes.is_empty() {
            return ids;
        }
        let this = std::process::id();
        let all = fs::read_dir("/proc").into_iter().flatten().flatten();
        let numbers = all.filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
        let others = numbers.filter(|&number| number != this);
        let processes: Vec<Process> = others.filter_map(process).collect();
        let mut next = 0;
        while let Some(&pipe) = pipes.get(next) {
            next += 1;
            for process in processes
                .iter()
                .filter(|process| process.reads.contains(&pipe))
            {
                for written in &process.writes {
                    if !pipes.contains(written) {
                        pipes.push(*written);
                    }
                }
                let metas = process.files.iter().flat_map(fs::metadata);
                ids.extend(
                    metas
                        .filter(fs::Metadata::is_file)
                        .filter_map(|meta| streams::id(&meta)),
                );
            }
        }
        ids
    }

    fn process(number: u32) -> Option<Process> {
        let mut process = Process {
            reads: Vec::new(),
            writes: Vec::new(),
            files: Vec::new(),
        };
        for entry in fs::read_dir(format!("/proc/{number}/fd")).ok()?.flatten() {
            let path = entry.path();
            // The mode of the link is that in which the descriptor was opened.
            let (Ok(to), Ok(meta)) = (fs::read_link(&path), fs::symlink_metadata(&path)) else {
                continue;
            };
            let (reads, writes) = (meta.mode() & READABLE != 0, meta.mode() & WRITABLE != 0);
            let text = to.to_string_lossy();
            let pipe = text
                .strip_prefix("pipe:[")
                .and_then(|text| text.strip_suffix(']'));
            match pipe.and_then(|number| number.parse::<u64>().ok()) {
                Some(pipe) => {
                    process.reads.extend(reads.then_some(pipe));
                    process.writes.extend(writes.then_some(pipe));
                }
                None if writes && to.is_absolute() => process.files.push(path),
                None => {}
            }
        }
        Some(process)
    }
}
