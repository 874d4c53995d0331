//! The processes below this one: their usage, polled, and killing them all.

use std::time::{Duration, Instant};

use rustix::io::Errno;
use rustix::process::{
    Pid, Signal, WaitOptions, WaitStatus, getpid, kill_process, kill_process_group, wait, waitpid,
};

use crate::procfs::{self, ProcessStat, ProcessUsage};

/// How long the last process may take to exit; only one that hangs in the kernel takes long.
const ENDING: Duration = Duration::from_secs(5);

/// All processes below this one, parents first. Beyond `limit` they are not read and count as using
/// nothing; children of a process with more than `threads` threads are not found.
pub(super) fn descendants(limit: usize, threads: u64) -> Vec<(Pid, ProcessUsage)> {
    let mut waiting = procfs::children("self");
    let mut found = Vec::with_capacity(waiting.len());
    while let Some(pid) = waiting.get(found.len()).copied() {
        let usage = (waiting.len() <= limit).then(|| ProcessUsage::read(pid, threads));
        let usage = usage.flatten().unwrap_or_default();
        waiting.extend(&usage.children);
        found.push((pid, usage));
    }
    found
}

/// How many of these have exited and wait for this process, or for one of the first `helpers` below
/// it.
pub(super) fn ended_orphans(processes: &[(Pid, ProcessUsage)], helpers: usize) -> usize {
    let above: Vec<Pid> = std::iter::once(getpid())
        .chain(processes.iter().take(helpers).map(|(pid, _)| *pid))
        .collect();
    let is_ended_orphan = |(pid, _): &&(Pid, ProcessUsage)| {
        // A missing one was reaped.
        ProcessStat::read(*pid).is_none_or(|stat| {
            stat.has_ended() && stat.parent().is_some_and(|parent| above.contains(&parent))
        })
    };
    processes.iter().filter(is_ended_orphan).count()
}

/// Kills everything below this process, and waits some seconds for it. `leader` leads the process
/// group that a bot cannot leave.
///
/// The status of that leader, if it was among them and exited.
pub(super) fn end_all(leader: Option<Pid>) -> Option<WaitStatus> {
    let mut status = None;
    let deadline = Instant::now() + ENDING;
    loop {
        if let Some(group) = leader {
            // All in one call: no process can fork away from it. ESRCH: the group is empty.
            let _ = kill_process_group(group, Signal::KILL);
        }
        for pid in procfs::children("self") {
            // It may have exited.
            let _ = kill_process(pid, Signal::KILL);
        }
        loop {
            match wait(WaitOptions::NOHANG) {
                Ok(Some((pid, ended))) if Some(pid) == leader => status = Some(ended),
                Ok(Some(_)) | Err(Errno::INTR) => {}
                Ok(None) => break,
                // None are left.
                Err(_) => return status,
            }
        }
        if Instant::now() > deadline {
            return status;
        }
        std::thread::sleep(Duration::from_millis(1));
    }
}

/// Reaps exited children other than `bot`: orphans of bots, which would stay while it runs.
pub(super) fn reap_orphans(bot: Pid) {
    for pid in procfs::children("self") {
        if pid != bot {
            // An error means it is not a child any more.
            let _ = waitpid(Some(pid), WaitOptions::NOHANG);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::io::{BufRead as _, BufReader, Write as _};
    use std::process::{Command, Stdio};

    use rustix::process::{Signal, kill_process};

    use super::*;

    /// The shells below `parent`, among all descendants.
    fn below(parent: Pid) -> Vec<Pid> {
        let found = descendants(1000, 1000);
        let mut family = vec![parent];
        for (pid, usage) in found {
            let above = procfs::ProcessStat::read(pid).and_then(|stat| stat.parent());
            if above.is_some_and(|above| family.contains(&above)) {
                assert!(usage.resident > 0);
                family.push(pid);
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
        let before = below(parent);
        assert_eq!(before.len(), 3);
        assert!(before.contains(&grandchild));

        kill_process(grandchild, Signal::KILL).expect("a signal");
        input.write_all(b"\n").expect("a pipe");
        line();
        assert_eq!(below(parent), []);
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
        let found = descendants(1000, 1000);
        drop(end);
        let _ = thread.join();
        let pid = Pid::from_child(&child);
        child.kill().expect("a child");
        child.wait().expect("a child");
        assert!(found.iter().any(|(found, _)| *found == pid));
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
        let few = descendants(0, 1000).len();
        for child in &mut children {
            child.kill().expect("a child");
            child.wait().expect("a child");
        }
        assert!(few >= 3, "{few}");
    }
}
