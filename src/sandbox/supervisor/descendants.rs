//! The processes below this one, looked at again and again.
//!
//! A guard may share a core with a bot that answers within microseconds. So what it looks at is kept
//! open: a look then takes three calls of the kernel for every process, and no path is walked.

use std::collections::HashMap;
use std::fs::File;
use std::io;
use std::os::unix::fs::{FileExt as _, MetadataExt as _};

use rustix::process::{Pid, getpid};

use super::tree;

/// So many processes are kept open at most, three descriptors each.
const KEPT: usize = 64;

/// Links of `/proc/PID/task` that are not of a thread.
const OWN_LINKS: u64 = 2;

/// A process and what it uses.
#[derive(Clone, Copy, Debug)]
pub(super) struct Process {
    pub(super) pid: Pid,
    pub(super) threads: u64,
    /// Bytes that are resident, what it shares included.
    pub(super) resident: u64,
}

/// The processes below this one.
#[derive(Debug)]
pub(super) struct Descendants {
    root: Pid,
    kept: HashMap<Pid, Kept>,
    buffer: Vec<u8>,
}

impl Descendants {
    pub(super) fn new() -> Self {
        Self {
            root: getpid(),
            kept: HashMap::new(),
            buffer: vec![0; 1 << 12],
        }
    }

    /// All of them, parents first. When they are more than `limit` the rest is not looked at, and
    /// uses nothing; nor are the children of a process with more than so many threads.
    pub(super) fn look(&mut self, limit: usize, threads: u64) -> Vec<Process> {
        let mut waiting = self.visit(self.root, threads).children;
        let mut found = Vec::with_capacity(waiting.len());
        while let Some(pid) = waiting.get(found.len()).copied() {
            let seen = if waiting.len() > limit {
                Seen::default()
            } else {
                self.visit(pid, threads)
            };
            found.push(Process {
                pid,
                threads: seen.threads,
                resident: seen.resident,
            });
            waiting.extend(seen.children);
        }
        self.kept
            .retain(|_, process| std::mem::take(&mut process.seen));
        found
    }

    /// Looks at one; nothing is seen of one that has ended.
    fn visit(&mut self, pid: Pid, threads: u64) -> Seen {
        if let Some(process) = self.kept.get_mut(&pid)
            && let Ok(seen) = process.look(pid, threads, &mut self.buffer)
        {
            return seen;
        }
        // It is new, or another one has its number now.
        let Ok(mut process) = Kept::open(pid) else {
            return Seen {
                children: tree::children(&pid.as_raw_pid().to_string()),
                ..Seen::default()
            };
        };
        let seen = process.look(pid, threads, &mut self.buffer);
        if self.kept.len() < KEPT || self.kept.contains_key(&pid) {
            self.kept.insert(pid, process);
        }
        seen.unwrap_or_default()
    }
}

/// What a look at one process finds.
#[derive(Debug, Default)]
struct Seen {
    threads: u64,
    /// In bytes.
    resident: u64,
    children: Vec<Pid>,
}

/// What there is to read of a process, open. It stays with this process even when another one
/// gets its number.
#[derive(Debug)]
struct Kept {
    /// The directory of its threads.
    threads: File,
    /// The children that its first thread has started.
    children: File,
    memory: File,
    /// Whether it was there at this look.
    seen: bool,
}

impl Kept {
    fn open(pid: Pid) -> io::Result<Self> {
        let pid = pid.as_raw_pid();
        Ok(Self {
            threads: File::open(format!("/proc/{pid}/task"))?,
            children: File::open(format!("/proc/{pid}/task/{pid}/children"))?,
            memory: File::open(format!("/proc/{pid}/statm"))?,
            seen: true,
        })
    }

    /// An error when it has ended. The children are left out when it has more threads than
    /// `most`.
    fn look(&mut self, pid: Pid, most: u64, buffer: &mut Vec<u8>) -> io::Result<Seen> {
        // This comes first: the list of children of a process that has ended is merely empty.
        let memory = read(&self.memory, buffer)?;
        let pages = memory.split(' ').nth(1).and_then(|word| word.parse().ok());
        let resident = pages.unwrap_or(0_u64) * rustix::param::page_size() as u64;
        self.seen = true;
        let threads = self.threads.metadata()?.nlink().saturating_sub(OWN_LINKS);
        let children = match threads {
            1 => read(&self.children, buffer)?
                .split_ascii_whitespace()
                .filter_map(|word| Pid::from_raw(word.parse().ok()?))
                .collect(),
            _ if threads > most => Vec::new(),
            // Each thread has its own.
            _ => tree::children(&pid.as_raw_pid().to_string()),
        };
        Ok(Seen {
            threads,
            resident,
            children,
        })
    }
}

/// Reads a file of the kernel from its start, whose text is ASCII.
fn read<'a>(file: &File, buffer: &'a mut Vec<u8>) -> io::Result<&'a str> {
    loop {
        // The kernel gives whole texts when there is room.
        let length = file.read_at(buffer, 0)?;
        if length < buffer.len() {
            return std::str::from_utf8(&buffer[..length]).map_err(io::Error::other);
        }
        buffer.resize(buffer.len() * 2, 0);
    }
}

#[cfg(test)]
mod tests {
    use std::io::{BufRead as _, BufReader, Write as _};
    use std::process::{Command, Stdio};

    use rustix::process::{Signal, kill_process};

    use super::*;

    /// The shells below `parent`, of all that this process has.
    fn below(descendants: &mut Descendants, parent: Pid) -> Vec<Pid> {
        let found = descendants.look(1000, 1000);
        let mut family = vec![parent];
        for process in found {
            let status = format!("/proc/{}/status", process.pid.as_raw_pid());
            let status = std::fs::read_to_string(status).unwrap_or_default();
            let above = status.lines().find_map(|line| line.strip_prefix("PPid:"));
            let above = above.and_then(|above| Pid::from_raw(above.trim().parse().ok()?));
            if above.is_some_and(|above| family.contains(&above)) {
                assert!(process.resident > 0);
                family.push(process.pid);
            }
        }
        family.split_off(1)
    }

    #[test]
    fn they_come_and_go() {
        let script = "sleep 60 & first=$!; sh -c 'sleep 60 & echo $!; wait; :' & \
                      read _; kill $first; wait; echo; read _";
        let mut child = Command::new("sh")
            .args(["-c", script])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("a shell");
        let parent = Pid::from_child(&child);
        let mut input = child.stdin.take().expect("a pipe");
        let mut lines = BufReader::new(child.stdout.take().expect("a pipe")).lines();
        let mut line = || lines.next().expect("a line").expect("text");
        let grandchild = Pid::from_raw(line().parse().expect("a number")).expect("a process");
        let mut descendants = Descendants::new();
        let before = below(&mut descendants, parent);
        assert_eq!(before.len(), 3);
        assert!(before.contains(&grandchild));
        assert!(before.iter().all(|pid| descendants.kept.contains_key(pid)));
        // What is kept open tells the same.
        assert_eq!(below(&mut descendants, parent), before);

        kill_process(grandchild, Signal::KILL).expect("a signal");
        input.write_all(b"\n").expect("a pipe");
        line();
        assert_eq!(below(&mut descendants, parent), []);
        assert!(before.iter().all(|pid| !descendants.kept.contains_key(pid)));
        drop(input);
        child.wait().expect("a child");
    }

    #[test]
    fn children_of_every_thread_are_found() {
        let (end, wait) = std::sync::mpsc::channel::<()>();
        let (tell, told) = std::sync::mpsc::channel();
        let thread = std::thread::spawn(move || {
            let child = Command::new("sleep").arg("60").spawn().expect("a child");
            tell.send(child).expect("somebody listens");
            wait.recv()
        });
        let mut child = told.recv().expect("a child");
        let found = Descendants::new().look(1000, 1000);
        drop(end);
        let _ = thread.join();
        let pid = Pid::from_child(&child);
        child.kill().expect("a child");
        child.wait().expect("a child");
        assert!(found.iter().any(|process| process.pid == pid));
    }

    #[test]
    fn a_limit_ends_the_search() {
        let mut children: Vec<_> = (0..3)
            .map(|_| {
                Command::new("sh")
                    .args(["-c", "sleep 60; :"])
                    .spawn()
                    .expect("a child")
            })
            .collect();
        let few = Descendants::new().look(0, 1000).len();
        for child in &mut children {
            child.kill().expect("a child");
            child.wait().expect("a child");
        }
        assert!(few >= 3, "{few}");
    }
}
