//! The processes below this one, looked at again and again.
//!
//! A guard may share a core with a bot that answers within microseconds. So what it looks at is kept
//! open: a look then takes four calls of the kernel for every process, and no path is walked.

use std::collections::HashMap;
use std::fs::File;
use std::io;
use std::os::unix::fs::{FileExt as _, MetadataExt as _};

use rustix::process::{Pid, getpid};

use super::tree;

/// So many processes are kept open at most, three descriptors each.
const KEPT: usize = 64;

/// Links of `/proc/PID/task` when there is one thread: two of the directory, one of the thread.
const ONE_THREAD: u64 = 3;

/// A process and its memory.
#[derive(Clone, Copy, Debug)]
pub(super) struct Process {
    pub(super) pid: Pid,
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
    /// has no memory.
    pub(super) fn look(&mut self, limit: usize) -> Vec<Process> {
        let (_, mut waiting) = self.visit(self.root);
        let mut found = Vec::with_capacity(waiting.len());
        while let Some(pid) = waiting.get(found.len()).copied() {
            let (resident, children) = if waiting.len() > limit {
                (0, Vec::new())
            } else {
                self.visit(pid)
            };
            found.push(Process { pid, resident });
            waiting.extend(children);
        }
        self.kept
            .retain(|_, process| std::mem::take(&mut process.seen));
        found
    }

    /// The resident bytes and the children of a process; nothing when it has ended.
    fn visit(&mut self, pid: Pid) -> (u64, Vec<Pid>) {
        if let Some(process) = self.kept.get_mut(&pid)
            && let Ok(found) = process.look(pid, &mut self.buffer)
        {
            return found;
        }
        // It is new, or another one has its number now.
        let Ok(mut process) = Kept::open(pid) else {
            return (0, tree::children(&pid.as_raw_pid().to_string()));
        };
        let found = process.look(pid, &mut self.buffer).unwrap_or_default();
        if self.kept.len() < KEPT || self.kept.contains_key(&pid) {
            self.kept.insert(pid, process);
        }
        found
    }
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

    /// Resident bytes and children; an error when it has ended.
    fn look(&mut self, pid: Pid, buffer: &mut Vec<u8>) -> io::Result<(u64, Vec<Pid>)> {
        // This comes first: the list of children of a process that has ended is merely empty.
        let memory = read(&self.memory, buffer)?;
        let pages = memory.split(' ').nth(1).and_then(|word| word.parse().ok());
        let resident = pages.unwrap_or(0_u64) * rustix::param::page_size() as u64;
        self.seen = true;
        let children = if self.threads.metadata()?.nlink() == ONE_THREAD {
            read(&self.children, buffer)?
                .split_ascii_whitespace()
                .filter_map(|word| Pid::from_raw(word.parse().ok()?))
                .collect()
        } else {
            // Each thread has its own.
            tree::children(&pid.as_raw_pid().to_string())
        };
        Ok((resident, children))
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
        let found = descendants.look(1000);
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
        let found = Descendants::new().look(1000);
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
        let few = Descendants::new().look(0).len();
        for child in &mut children {
            child.kill().expect("a child");
            child.wait().expect("a child");
        }
        assert!(few >= 3, "{few}");
    }
}
