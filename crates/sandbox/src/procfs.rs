//! The one reader of `/proc`.
//!
//! A process may exit at any moment. What cannot be read is `None`, an empty list, or an error
//! where the caller must know. On systems without `/proc` everything is missing.

use std::collections::HashSet;
use std::fmt::Display;
use std::fs::{self, File};
use std::io::{self, Read as _};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rustix::process::Pid;

/// Links of `/proc/PID/task` other than those of threads.
const LINKS_BESIDE_THREADS: u64 = 2;

/// Reads a file of unknown length in large steps; the standard library takes small ones.
fn text_of(path: impl AsRef<Path>) -> io::Result<String> {
    const USUAL: usize = 2048;
    let mut text = String::with_capacity(USUAL);
    File::open(path)?.take(u64::MAX).read_to_string(&mut text)?;
    Ok(text)
}

/// Of a process by its id; `self` is this one.
fn file_of(process: impl Display, name: &str) -> io::Result<String> {
    text_of(format!("/proc/{process}/{name}"))
}

pub fn children(process: impl Display) -> Vec<Pid> {
    let mut found = Vec::new();
    for task in tasks(process) {
        let list = text_of(task.path().join("children")).unwrap_or_default();
        let pids = list.split_ascii_whitespace();
        found.extend(pids.filter_map(|word| Pid::from_raw(word.parse().ok()?)));
    }
    found
}

fn processes() -> impl Iterator<Item = Pid> {
    let entries = fs::read_dir("/proc").into_iter().flatten().flatten();
    entries.filter_map(|entry| Pid::from_raw(entry.file_name().to_str()?.parse().ok()?))
}

/// Of each process whose environment this one may read: the entries with which it was started, a NUL after each.
pub fn environments() -> impl Iterator<Item = (Pid, Vec<u8>)> {
    processes().filter_map(|pid| Some((pid, fs::read(format!("/proc/{pid}/environ")).ok()?)))
}

fn status(pid: Pid) -> Option<String> {
    file_of(pid, "status").ok()
}

fn number(text: &str, name: &str) -> Option<u64> {
    let value = text.lines().find_map(|line| line.strip_prefix(name))?;
    value.split_ascii_whitespace().next()?.parse().ok()
}

#[derive(Debug)]
pub struct ProcessStat {
    text: String,
    /// Where the fields after the name begin.
    fields: usize,
}

impl ProcessStat {
    /// `None` when the process has exited and was reaped.
    pub fn read(pid: Pid) -> Option<Self> {
        Self::of(file_of(pid, "stat").ok()?)
    }

    /// From the `stat` file of a process or a thread.
    fn of(text: String) -> Option<Self> {
        // The name is in parentheses, and may hold some itself.
        let fields = text.rfind(") ")? + 2;
        Some(Self { text, fields })
    }

    /// A field by its number in proc(5); the state is number 3.
    fn field(&self, number: usize) -> Option<&str> {
        self.text[self.fields..].split(' ').nth(number - 3)
    }

    fn number(&self, at: usize) -> Option<u64> {
        self.field(at)?.parse().ok()
    }

    fn pid(&self, at: usize) -> Option<Pid> {
        Pid::from_raw(self.field(at)?.parse().ok()?)
    }

    /// The letter of its state, such as `R` or `S`.
    pub fn state(&self) -> Option<char> {
        self.field(3)?.chars().next()
    }

    pub fn group(&self) -> Option<Pid> {
        self.pid(5)
    }

    /// Whether the process has exited, or is exiting and runs none of its own code.
    pub fn has_ended(&self) -> bool {
        /// The kernel's `PF_EXITING`.
        const EXITING: u64 = 4;
        let flags = self.number(9).unwrap_or(0);
        matches!(self.state(), None | Some('Z' | 'X')) || flags & EXITING != 0
    }

    /// When the process started, in clock ticks since boot.
    pub fn started(&self) -> Option<u64> {
        self.number(22)
    }

    /// CPU time of the children it has waited for, in clock ticks.
    pub fn ended_children_time(&self) -> Duration {
        ticks_to_time([16, 17].into_iter().filter_map(|at| self.number(at)).sum())
    }

    /// Whether the process shares its memory with this child, which is to start another program: after `vfork` it is in
    /// an uninterruptible sleep until the child does, though it waits for no disk.
    fn lends_memory_to(&self, child: &Self) -> bool {
        /// The kernel's `PF_FORKNOEXEC`: forked, and runs the same program.
        const NO_EXEC: u64 = 0x40;
        let flags = child.number(9).unwrap_or(0);
        let memory = |stat: &Self| [23, 24].map(|at| stat.number(at));
        flags & NO_EXEC != 0 && memory(self) == memory(child)
    }

    pub fn faults(&self) -> u64 {
        self.number(10).unwrap_or(0)
    }

    /// Page faults, and CPU ticks, of the children it has waited for, and theirs.
    pub fn used_by_ended_children(&self) -> u64 {
        [11, 16, 17]
            .into_iter()
            .filter_map(|at| self.number(at))
            .sum()
    }

    pub fn parent(&self) -> Option<Pid> {
        self.pid(4)
    }
}

/// How long each thread of a process has been runnable without a CPU since it started. Empty when
/// the process has exited, or the kernel does not report it.
///
/// The kernel counts a wait when it is over: see [`runnable_threads`].
pub fn cpu_waits(pid: Pid) -> Vec<(Pid, Duration)> {
    let wait = |task: fs::DirEntry| {
        let thread = Pid::from_raw(task.file_name().to_str()?.parse().ok()?)?;
        let wait = schedstat(&task.path().join("schedstat"), 1)?;
        Some((thread, Duration::from_nanos(wait)))
    };
    tasks(pid).filter_map(wait).collect()
}

/// The runnable threads of a process, each with how often it has been given a CPU: a thread that
/// waits for one between two calls has the same number in both.
pub fn runnable_threads(pid: Pid) -> Vec<(Pid, u64)> {
    let runnable = |task: fs::DirEntry| {
        let thread = Pid::from_raw(task.file_name().to_str()?.parse().ok()?)?;
        let state = ProcessStat::of(text_of(task.path().join("stat")).ok()?)?.state()?;
        if state != 'R' {
            return None;
        }
        Some((thread, schedstat(&task.path().join("schedstat"), 2)?))
    };
    tasks(pid).filter_map(runnable).collect()
}

/// Whether a thread of a process waits for the disk, such as for a page of its program: it is in an uninterruptible sleep.
pub fn waits_for_disk(pid: Pid) -> bool {
    let is_uninterruptible = |task: fs::DirEntry| {
        let stat = ProcessStat::of(text_of(task.path().join("stat")).ok()?)?;
        (stat.state()? == 'D').then_some(())
    };
    if tasks(pid).find_map(is_uninterruptible).is_none() {
        return false;
    }
    let Some(stat) = ProcessStat::read(pid) else {
        return false;
    };
    let mut children = children(pid).into_iter().filter_map(ProcessStat::read);
    !children.any(|child| stat.lends_memory_to(&child))
}

/// Grows with all that is read from the disk for a process: the pages of its memory that it waited for, and the bytes where
/// this one may know them.
pub fn disk_reads(pid: Pid) -> u64 {
    let pages = ProcessStat::read(pid).and_then(|stat| stat.number(12));
    let counts = file_of(pid, "io").ok();
    let bytes = counts.and_then(|counts| number(&counts, "read_bytes:"));
    pages.unwrap_or(0).saturating_add(bytes.unwrap_or(0))
}

fn tasks(process: impl Display) -> impl Iterator<Item = fs::DirEntry> {
    let tasks = fs::read_dir(format!("/proc/{process}/task"));
    tasks.into_iter().flatten().flatten()
}

/// How long this thread has been runnable without a CPU.
pub fn this_thread_cpu_wait() -> Option<Duration> {
    schedstat("/proc/thread-self/schedstat".as_ref(), 1).map(Duration::from_nanos)
}

/// A number of a `schedstat` file: 0 is the run time, 1 the time waited for a CPU, both in
/// nanoseconds; 2 how often the thread was given one.
fn schedstat(file: &Path, number: usize) -> Option<u64> {
    let text = text_of(file).ok()?;
    text.split_ascii_whitespace().nth(number)?.parse().ok()
}

/// A path of this system for `path` (without a leading slash) as a process sees it.
pub fn path_in_view_of(pid: Pid, path: &str) -> PathBuf {
    format!("/proc/{pid}/root/{path}").into()
}

/// The processes of a group that a sandbox confines: they can gain no rights, and seccomp filters
/// apply.
pub fn confined_in_group(leader: Pid) -> Vec<ProcessStat> {
    let member = |pid| {
        let stat = ProcessStat::read(pid).filter(|stat| stat.group() == Some(leader))?;
        let status = status(pid)?;
        let is_confined =
            number(&status, "NoNewPrivs:") == Some(1) && number(&status, "Seccomp:") == Some(2);
        is_confined.then_some(stat)
    };
    processes().filter_map(member).collect()
}

pub fn file_of_this_process(name: &str) -> io::Result<String> {
    file_of("self", name)
}

pub fn users_of_processes() -> HashSet<u32> {
    // The owner of a process's directory is its user, unless the process is not dumpable.
    let user = |pid| u32::try_from(number(&status(pid)?, "Uid:")?).ok();
    processes().filter_map(user).collect()
}

/// A kernel setting such as `user/max_user_namespaces`, if it exists.
pub fn kernel_setting(name: &str) -> Option<String> {
    let text = text_of(format!("/proc/sys/{name}")).ok()?;
    Some(text.trim().to_owned())
}

pub fn tasks_of_system() -> Option<u64> {
    let text = text_of("/proc/loadavg").ok()?;
    // `0.20 0.18 0.12 1/80 11206`: runnable and all tasks are in the fourth field.
    let (_, all) = text.split(' ').nth(3)?.split_once('/')?;
    all.parse().ok()
}

/// A user's processes and threads in this process's view. Reads a file for each process.
pub fn count_tasks(of_user: u32) -> u64 {
    let tasks = |pid| {
        let status = status(pid)?;
        let is_theirs = number(&status, "Uid:") == Some(of_user.into());
        is_theirs.then(|| number(&status, "Threads:").unwrap_or(1))
    };
    processes().filter_map(tasks).sum()
}

#[derive(Debug, Default)]
pub struct ProcessUsage {
    pub threads: u64,
    pub resident: u64,
    pub children: Vec<Pid>,
}

impl ProcessUsage {
    /// `None` when the process has exited. The children are left out above `most_threads`, since
    /// each thread has a list of its own.
    pub fn read(pid: Pid, most_threads: u64) -> Option<Self> {
        let mut resident = resident_memory(&file_of(pid, "statm").ok()?);
        let links = fs::metadata(format!("/proc/{pid}/task")).ok()?.nlink();
        let threads = links.saturating_sub(LINKS_BESIDE_THREADS);
        // The file is empty when the first thread has exited; others may live on.
        if resident == 0 && threads > 1 {
            let most = usize::try_from(most_threads).unwrap_or(usize::MAX);
            let files = tasks(pid).take(most.saturating_add(1));
            let files = files.filter_map(|task| text_of(task.path().join("statm")).ok());
            let mut memory = files.map(|line| resident_memory(&line));
            resident = memory.find(|&bytes| bytes > 0).unwrap_or(0);
        }
        let mut usage = Self {
            threads,
            resident,
            children: Vec::new(),
        };
        if threads <= most_threads {
            usage.children = children(pid);
        }
        Some(usage)
    }
}

fn resident_memory(line: &str) -> u64 {
    let pages = line.split(' ').nth(1).and_then(|word| word.parse().ok());
    pages.unwrap_or(0_u64) * rustix::param::page_size() as u64
}

pub fn peak_memory_kib(pid: Pid) -> Option<u64> {
    number(&status(pid)?, "VmHWM:")
}

/// Memory of a process in bytes, without file pages; shared memory counts in proportion. Expensive:
/// the kernel visits all its pages.
pub fn proportional_memory(pid: Pid) -> Option<u64> {
    let rollup = file_of(pid, "smaps_rollup").ok()?;
    let counted = ["Pss_Anon:", "Pss_Shmem:"].into_iter();
    let kib: u64 = counted.filter_map(|name| number(&rollup, name)).sum();
    Some(kib << 10)
}

/// In bytes.
pub fn page_tables(pid: Pid) -> Option<u64> {
    // The first thread may have exited, which then has none.
    tasks(pid).find_map(|task| {
        let status = text_of(task.path().join("status")).ok()?;
        Some(number(&status, "VmPTE:")? << 10)
    })
}

/// Makes a process, or this one, and its later children the first to be killed when memory runs
/// out. Without `/proc` nothing happens.
pub fn kill_first(pid: Option<Pid>) {
    let process = pid.map_or_else(|| "self".to_owned(), |pid| pid.to_string());
    let _ = fs::write(format!("/proc/{process}/oom_score_adj"), "1000");
}

/// Time that the hosts of this virtual machine gave its CPUs to others, summed over CPUs since boot. Some systems take
/// long for the file: it has a number for each interrupt.
pub fn stolen_time() -> Option<Duration> {
    let text = text_of("/proc/stat").ok()?;
    // `cpu  user nice system idle iowait irq softirq steal …`, in clock ticks.
    let ticks: u64 = text
        .lines()
        .next()?
        .split_ascii_whitespace()
        .nth(8)?
        .parse()
        .ok()?;
    Some(ticks_to_time(ticks))
}

fn ticks_to_time(ticks: u64) -> Duration {
    Duration::from_secs(ticks)
        / u32::try_from(rustix::param::clock_ticks_per_second()).unwrap_or(100)
}

pub fn killed_for_memory() -> Option<u64> {
    number(&text_of("/proc/vmstat").ok()?, "oom_kill ")
}

pub fn available_memory() -> Option<u64> {
    Some(number(&text_of("/proc/meminfo").ok()?, "MemAvailable:")? << 10)
}

#[cfg(all(test, target_os = "linux", not(portable)))]
mod tests {
    use rustix::process::{getpid, getppid};

    use super::*;

    #[test]
    fn this_process_is_running() {
        let stat = ProcessStat::read(getpid()).expect("a process");
        assert!(!stat.has_ended());
        assert!(stat.state().is_some());
        assert_eq!(stat.parent(), getppid());
        assert!(peak_memory_kib(getpid()).is_some_and(|kib| kib > 0));
    }

    #[test]
    fn a_name_with_parentheses_hides_no_field() {
        let text = "7 (a) Z (b) R 1 7 7 0 -1 4 7 0 0 0 5 6 150 50 20 0".to_owned();
        let stat = ProcessStat::of(text).expect("a name");
        assert_eq!(stat.state(), Some('R'));
        assert!(stat.has_ended());
        let ticks = u32::try_from(rustix::param::clock_ticks_per_second()).expect("a number");
        assert_eq!(stat.ended_children_time(), Duration::from_secs(200) / ticks);
        let counts = (stat.faults(), stat.used_by_ended_children());
        assert_eq!(counts, (7, 200));
    }

    #[test]
    fn memory_is_lent_to_a_child_that_has_not_started_its_program() {
        let process = |flags: u64, memory: u64| {
            let text =
                format!("7 (a) D 1 7 7 0 -1 {flags} 0 0 0 0 5 6 0 0 20 0 1 0 99 {memory} 40 0");
            ProcessStat::of(text).expect("a name")
        };
        let parent = process(0, 4096);
        assert!(parent.lends_memory_to(&process(0x40, 4096)));
        // Its own copy of the memory, or another program.
        assert!(!parent.lends_memory_to(&process(0x40, 8192)));
        assert!(!parent.lends_memory_to(&process(0, 4096)));
    }

    #[test]
    fn numbers_on_lines() {
        let text = "Name:\tVmHWM: 7\nVmHWM:\t    1234 kB\nVmRSS:\t?\n";
        assert_eq!(number(text, "VmHWM:"), Some(1234));
        assert_eq!(number(text, "VmRSS:"), None);
        assert_eq!(number(text, "VmPTE:"), None);
    }
}
