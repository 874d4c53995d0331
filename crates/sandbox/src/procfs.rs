//! The one reader of `/proc`.
//!
//! Not the crate `procfs`: that opens and parses whole files at every call. A supervisor shares a
//! core with a bot that answers within microseconds and reads three files of every process 20 to 40
//! times a second: they stay open ([`OpenProcess`]) and take one system call each.
//!
//! A process may exit at any moment. What cannot be read is `None`, an empty list, or an error
//! where the caller must know. On systems without `/proc` everything is missing.

use std::collections::HashSet;
use std::fs::{self, File};
use std::io::{self, Read as _};
use std::os::unix::fs::{FileExt as _, MetadataExt as _};
use std::path::{Path, PathBuf};
use std::time::Duration;

use rustix::process::Pid;

/// Links of `/proc/PID/task` other than those of threads.
const OWN_LINKS: u64 = 2;

/// Reads a file of unknown length in large steps; the standard library takes small ones.
fn text_of(path: impl AsRef<Path>) -> io::Result<String> {
    const USUAL: usize = 2048;
    let mut text = String::with_capacity(USUAL);
    File::open(path)?.take(u64::MAX).read_to_string(&mut text)?;
    Ok(text)
}

/// The children of a process, of all its threads.
pub fn children(pid: Pid) -> Vec<Pid> {
    children_of_tasks(&format!("/proc/{}/task", pid.as_raw_pid()))
}

/// The children of this process.
pub fn own_children() -> Vec<Pid> {
    children_of_tasks("/proc/self/task")
}

/// The children of all threads in a directory.
fn children_of_tasks(directory: &str) -> Vec<Pid> {
    let mut found = Vec::new();
    for task in fs::read_dir(directory).into_iter().flatten().flatten() {
        let list = text_of(task.path().join("children")).unwrap_or_default();
        found.extend(pids(&list));
    }
    found
}

fn pids(list: &str) -> impl Iterator<Item = Pid> {
    list.split_ascii_whitespace()
        .filter_map(|word| Pid::from_raw(word.parse().ok()?))
}

/// The only child of a process, or its first.
pub fn first_child(pid: Pid) -> Option<Pid> {
    children(pid).first().copied()
}

/// The contents of `/proc/PID/stat`.
#[derive(Debug)]
pub struct Stat {
    text: String,
    /// Where the fields after the name begin.
    fields: usize,
}

/// What a process and its children have used.
#[derive(Clone, Copy, Debug)]
pub struct Counts {
    pub faults: u64,
    /// Page faults, and CPU ticks, of the children it has waited for, and theirs.
    pub of_ended: u64,
}

impl Stat {
    /// `None` when the process has exited and was reaped.
    pub fn read(pid: Pid) -> Option<Self> {
        Self::of(format!("/proc/{}/stat", pid.as_raw_pid()).as_ref())
    }

    /// Of a process or a thread.
    fn of(file: &Path) -> Option<Self> {
        let text = text_of(file).ok()?;
        // The name is in parentheses, and may hold some itself.
        let fields = text.rfind(") ")? + 2;
        Some(Self { text, fields })
    }

    /// A field by its number in proc(5); the state is number 3.
    fn field(&self, number: usize) -> Option<&str> {
        self.text[self.fields..].split(' ').nth(number - 3)
    }

    /// The letter of its state, such as `R` or `S`.
    pub fn state(&self) -> Option<char> {
        self.field(3)?.chars().next()
    }

    /// Its process group.
    pub fn group(&self) -> Option<Pid> {
        Pid::from_raw(self.field(5)?.parse().ok()?)
    }

    /// Whether the process has exited, or is exiting and runs none of its own code.
    pub fn has_ended(&self) -> bool {
        /// The kernel's `PF_EXITING`.
        const EXITING: u32 = 4;
        let flags: u32 = self
            .field(9)
            .and_then(|flags| flags.parse().ok())
            .unwrap_or(0);
        matches!(self.state(), None | Some('Z' | 'X')) || flags & EXITING != 0
    }

    /// When the process started, in clock ticks since boot.
    pub fn started(&self) -> Option<u64> {
        self.field(22)?.parse().ok()
    }

    /// CPU time of the children it has waited for, in clock ticks.
    pub fn ended_children_time(&self) -> Duration {
        let ticks: u64 = [16, 17]
            .into_iter()
            .filter_map(|number| self.field(number)?.parse::<u64>().ok())
            .sum();
        Duration::from_secs(ticks)
            / u32::try_from(rustix::param::clock_ticks_per_second()).unwrap_or(100)
    }

    pub fn counts(&self) -> Counts {
        let number = |field| self.field(field)?.parse::<u64>().ok();
        Counts {
            faults: number(10).unwrap_or(0),
            of_ended: [11, 16, 17].into_iter().filter_map(number).sum(),
        }
    }

    /// Its parent, or adopter.
    pub fn parent(&self) -> Option<Pid> {
        Pid::from_raw(self.field(4)?.parse().ok()?)
    }
}

/// How long each thread of a process has been runnable without a CPU since it started. Empty when
/// the process has exited, or the kernel does not report it.
///
/// The kernel counts a wait when it is over: see [`runnable_threads`].
pub fn processor_waits(pid: Pid) -> Vec<(Pid, Duration)> {
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
        let state = Stat::of(&task.path().join("stat"))?.state()?;
        if state != 'R' {
            return None;
        }
        Some((thread, schedstat(&task.path().join("schedstat"), 2)?))
    };
    tasks(pid).filter_map(runnable).collect()
}

fn tasks(pid: Pid) -> impl Iterator<Item = fs::DirEntry> {
    let tasks = fs::read_dir(format!("/proc/{}/task", pid.as_raw_pid()));
    tasks.into_iter().flatten().flatten()
}

/// How long this thread has been runnable without a CPU.
pub fn own_processor_wait() -> Option<Duration> {
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
    format!("/proc/{}/root/{path}", pid.as_raw_pid()).into()
}

/// The processes of a group that a sandbox confines: they can gain no rights, and seccomp filters
/// apply.
pub fn confined_in_group(leader: Pid) -> Vec<Stat> {
    let member = |entry: fs::DirEntry| {
        let pid = Pid::from_raw(entry.file_name().to_str()?.parse().ok()?)?;
        let stat = Stat::read(pid)?;
        if stat.group() != Some(leader) {
            return None;
        }
        let status = text_of(entry.path().join("status")).ok()?;
        let has = |wanted: &str| status.lines().any(|line| line == wanted);
        (has("NoNewPrivs:\t1") && has("Seccomp:\t2")).then_some(stat)
    };
    let processes = fs::read_dir("/proc").into_iter().flatten().flatten();
    processes.filter_map(member).collect()
}

/// The name of this process's process id namespace.
pub fn own_pid_namespace() -> io::Result<String> {
    let name = fs::read_link("/proc/self/ns/pid")?;
    Ok(name.to_string_lossy().into_owned())
}

/// This process's control groups, a line for each hierarchy.
pub fn own_cgroups() -> io::Result<String> {
    own_file("cgroup")
}

pub fn own_file(name: &str) -> io::Result<String> {
    text_of(format!("/proc/self/{name}"))
}

/// The users of all processes in this process's view.
pub fn users_of_processes() -> HashSet<u32> {
    let user = |entry: fs::DirEntry| {
        entry.file_name().to_str()?.parse::<u32>().ok()?;
        // The owner of a process's directory is its user, unless the process is not dumpable.
        let status = text_of(entry.path().join("status")).ok()?;
        let line = status.lines().find_map(|line| line.strip_prefix("Uid:"))?;
        line.split_ascii_whitespace().next()?.parse().ok()
    };
    let processes = fs::read_dir("/proc").into_iter().flatten().flatten();
    processes.filter_map(user).collect()
}

/// This process's mounts, one a line.
pub fn own_mounts() -> io::Result<String> {
    own_file("mountinfo")
}

/// A kernel setting such as `user/max_user_namespaces`, if it exists.
pub fn kernel_setting(name: &str) -> Option<String> {
    let text = text_of(format!("/proc/sys/{name}")).ok()?;
    Some(text.trim().to_owned())
}

/// The number of processes and threads of the whole system.
pub fn tasks_of_system() -> Option<u64> {
    let text = text_of("/proc/loadavg").ok()?;
    // `0.20 0.18 0.12 1/80 11206`: runnable and all tasks are in the fourth field.
    let (_, all) = text.split(' ').nth(3)?.split_once('/')?;
    all.parse().ok()
}

/// Processes and threads in this process's view: all, or a user's. Reads a file for each process.
pub fn count_tasks(of_user: Option<u32>) -> u64 {
    let tasks = |entry: fs::DirEntry| {
        entry.file_name().to_str()?.parse::<u32>().ok()?;
        let status = text_of(entry.path().join("status")).ok()?;
        let field = |name: &str| {
            let line = status.lines().find_map(|line| line.strip_prefix(name))?;
            line.split_ascii_whitespace().next()?.parse::<u32>().ok()
        };
        let counts = of_user.is_none_or(|user| field("Uid:") == Some(user));
        counts.then(|| field("Threads:").map_or(1, u64::from))
    };
    let processes = fs::read_dir("/proc").into_iter().flatten().flatten();
    processes.filter_map(tasks).sum()
}

/// What a process uses now.
#[derive(Debug, Default)]
pub struct ProcessUsage {
    pub threads: u64,
    /// Resident bytes, shared ones included.
    pub resident: u64,
    pub children: Vec<Pid>,
}

/// A process whose files stay open for repeated reading. They stay this process's even when its id
/// is reused.
#[derive(Debug)]
pub struct OpenProcess {
    pid: Pid,
    /// The directory of its threads.
    threads: File,
    /// The children of its first thread.
    children: File,
    memory: File,
}

impl OpenProcess {
    /// Opens three descriptors.
    pub fn open(pid: Pid) -> io::Result<Self> {
        let number = pid.as_raw_pid();
        Ok(Self {
            pid,
            threads: File::open(format!("/proc/{number}/task"))?,
            children: File::open(format!("/proc/{number}/task/{number}/children"))?,
            memory: File::open(format!("/proc/{number}/statm"))?,
        })
    }

    /// What it uses now; an error when it has exited. Three system calls, unless it has several
    /// threads; the children are left out above `most_threads`. `buffer` is not empty, and grows
    /// when needed.
    pub fn usage(&self, most_threads: u64, buffer: &mut Vec<u8>) -> io::Result<ProcessUsage> {
        // First: the children of an exited process are an empty list, not an error.
        let mut resident = resident_memory(read_again(&self.memory, buffer)?);
        let threads = self.threads.metadata()?.nlink().saturating_sub(OWN_LINKS);
        if resident == 0 && threads > 1 {
            // Its first thread, which owns these files, has exited; others live on.
            resident = self.resident_of_living_thread(most_threads).unwrap_or(0);
        }
        let children = match threads {
            1 => pids(read_again(&self.children, buffer)?).collect(),
            _ if threads > most_threads => Vec::new(),
            // Each thread has its own list.
            _ => children(self.pid),
        };
        Ok(ProcessUsage {
            threads,
            resident,
            children,
        })
    }
}

impl OpenProcess {
    /// Resident bytes, read from the first thread that still runs.
    fn resident_of_living_thread(&self, most_threads: u64) -> Option<u64> {
        let tasks = fs::read_dir(format!("/proc/{}/task", self.pid.as_raw_pid())).ok()?;
        let most = usize::try_from(most_threads).unwrap_or(usize::MAX);
        let resident = |task: fs::DirEntry| {
            let memory = text_of(task.path().join("statm")).ok()?;
            Some(resident_memory(&memory)).filter(|&bytes| bytes > 0)
        };
        tasks
            .flatten()
            .take(most.saturating_add(1))
            .find_map(resident)
    }
}

/// The resident bytes of a `statm` line.
fn resident_memory(line: &str) -> u64 {
    let pages = line.split(' ').nth(1).and_then(|word| word.parse().ok());
    pages.unwrap_or(0_u64) * rustix::param::page_size() as u64
}

/// Reads a kernel file, which is ASCII, from its start.
fn read_again<'a>(file: &File, buffer: &'a mut Vec<u8>) -> io::Result<&'a str> {
    loop {
        // The kernel gives the whole text when there is room.
        let length = file.read_at(buffer, 0)?;
        if length < buffer.len() {
            return std::str::from_utf8(&buffer[..length]).map_err(io::Error::other);
        }
        buffer.resize(buffer.len() * 2, 0);
    }
}

/// The peak memory of a process, in KiB.
pub fn peak_memory_kib(pid: Pid) -> Option<u64> {
    let status = text_of(format!("/proc/{}/status", pid.as_raw_pid())).ok()?;
    status.lines().find_map(|line| kib_after(line, "VmHWM:"))
}

/// Memory of a process in bytes, without file pages; shared memory counts in proportion. Expensive:
/// the kernel visits all its pages.
pub fn proportional_memory(pid: Pid) -> Option<u64> {
    let rollup = text_of(format!("/proc/{}/smaps_rollup", pid.as_raw_pid())).ok()?;
    let counted = |line| kib_after(line, "Pss_Anon:").or_else(|| kib_after(line, "Pss_Shmem:"));
    Some(rollup.lines().filter_map(counted).sum::<u64>() << 10)
}

/// The page tables of a process, in bytes.
pub fn page_tables(pid: Pid) -> Option<u64> {
    // The first thread may have exited, which then has none.
    tasks(pid).find_map(|task| {
        let status = text_of(task.path().join("status")).ok()?;
        let kib = status.lines().find_map(|line| kib_after(line, "VmPTE:"))?;
        Some(kib << 10)
    })
}

/// The number on a line `NAME:   123 kB`.
fn kib_after(line: &str, name: &str) -> Option<u64> {
    let value = line.strip_prefix(name)?.trim();
    value.strip_suffix(" kB")?.parse().ok()
}

/// Makes a process, or this one, and its later children the first to be killed when memory runs
/// out. Without `/proc` nothing happens.
pub fn kill_first(pid: Option<Pid>) {
    let process = pid.map_or_else(|| "self".to_owned(), |pid| pid.as_raw_pid().to_string());
    let _ = fs::write(format!("/proc/{process}/oom_score_adj"), "1000");
}

/// How many processes the kernel has killed for memory.
pub fn killed_for_memory() -> Option<u64> {
    let text = text_of("/proc/vmstat").ok()?;
    let count = text
        .lines()
        .find_map(|line| line.strip_prefix("oom_kill "))?;
    count.parse().ok()
}

/// Available memory of the system, in bytes.
pub fn available_memory() -> Option<u64> {
    let text = text_of("/proc/meminfo").ok()?;
    let kib = text
        .lines()
        .find_map(|line| kib_after(line, "MemAvailable:"))?;
    Some(kib << 10)
}

#[cfg(all(test, target_os = "linux", not(portable)))]
mod tests {
    use rustix::process::{getpid, getppid};

    use super::*;

    #[test]
    fn this_process_is_running() {
        let stat = Stat::read(getpid()).expect("a process");
        assert!(!stat.has_ended());
        assert!(stat.state().is_some());
        assert_eq!(stat.parent(), getppid());
        assert!(peak_memory_kib(getpid()).is_some_and(|kib| kib > 0));
    }

    #[test]
    fn a_name_with_parentheses_hides_no_field() {
        let text = "7 (a) Z (b) R 1 7 7 0 -1 4 7 0 0 0 5 6 150 50 20 0".to_owned();
        let fields = text.rfind(") ").expect("a name") + 2;
        let stat = Stat { text, fields };
        assert_eq!(stat.state(), Some('R'));
        assert!(stat.has_ended());
        let ticks = u32::try_from(rustix::param::clock_ticks_per_second()).expect("a number");
        assert_eq!(stat.ended_children_time(), Duration::from_secs(200) / ticks);
        let counts = stat.counts();
        assert_eq!((counts.faults, counts.of_ended), (7, 200));
    }

    #[test]
    fn lines_of_memory() {
        assert_eq!(kib_after("VmHWM:\t    1234 kB", "VmHWM:"), Some(1234));
        assert_eq!(kib_after("VmHWM:\t    1234", "VmHWM:"), None);
        assert_eq!(kib_after("VmRSS:\t    1234 kB", "VmHWM:"), None);
    }
}
