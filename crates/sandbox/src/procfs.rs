//! The one reader of `/proc`: what the kernel reports of processes.
//!
//! A module of our own and not the crate `procfs`: that reads and parses a whole file into a struct
//! of owned strings at every call, through a path that the kernel walks anew. Here some ten fields of
//! seven files are wanted; most of all, a supervisor shares a core with a bot that answers within
//! microseconds and reads the same three files of every process 20 to 40 times a second, so that
//! these stay open ([`OpenProcess`]) and are read again with one system call each.
//!
//! A process may end at any moment. What cannot be read is then missing: `None`, an empty list, or
//! an error where the caller must know. On systems without `/proc` everything is missing.
//!
//! - `memory`: memory of processes and of the system

mod memory;

use std::collections::HashSet;
use std::fs::{self, File};
use std::io::{self, Read as _};
use std::os::unix::fs::{FileExt as _, MetadataExt as _};
use std::path::{Path, PathBuf};
use std::time::Duration;

use rustix::process::Pid;

pub use self::memory::{
    available_memory, kill_first, killed_for_memory, page_tables, peak_memory_kib,
    proportional_memory,
};

/// Links of `/proc/PID/task` that are not of a thread.
const OWN_LINKS: u64 = 2;

/// All of a file whose length the kernel does not know before it is read: read by large steps, where the
/// standard library takes small ones.
fn text_of(path: impl AsRef<Path>) -> io::Result<String> {
    const USUAL: usize = 2048;
    let mut text = String::with_capacity(USUAL);
    File::open(path)?.take(u64::MAX).read_to_string(&mut text)?;
    Ok(text)
}

/// The children of a process, whichever of its threads started them.
pub fn children(pid: Pid) -> Vec<Pid> {
    children_of_tasks(&format!("/proc/{}/task", pid.as_raw_pid()))
}

/// The children of this process.
pub fn own_children() -> Vec<Pid> {
    children_of_tasks("/proc/self/task")
}

/// The children of all threads listed in a directory.
fn children_of_tasks(directory: &str) -> Vec<Pid> {
    let mut found = Vec::new();
    for task in fs::read_dir(directory).into_iter().flatten().flatten() {
        let list = text_of(task.path().join("children")).unwrap_or_default();
        found.extend(pids(&list));
    }
    found
}

/// The process ids of a list with blanks in between.
fn pids(list: &str) -> impl Iterator<Item = Pid> {
    list.split_ascii_whitespace()
        .filter_map(|word| Pid::from_raw(word.parse().ok()?))
}

/// The only child of a process, or its first.
pub fn first_child(pid: Pid) -> Option<Pid> {
    children(pid).first().copied()
}

/// What `/proc/PID/stat` reports.
#[derive(Debug)]
pub struct Stat {
    text: String,
    /// Where the fields after the name begin.
    fields: usize,
}

/// What a process and its children have used.
#[derive(Clone, Copy, Debug)]
pub struct Counts {
    /// Its page faults.
    pub faults: u64,
    /// Page faults, and ticks of the CPU, of children that it has waited for, and theirs.
    pub of_ended: u64,
}

impl Stat {
    /// `None` when the process has ended and was waited for.
    pub fn read(pid: Pid) -> Option<Self> {
        Self::of(format!("/proc/{}/stat", pid.as_raw_pid()).as_ref())
    }

    /// Reads such a file, of a process or a thread.
    fn of(file: &Path) -> Option<Self> {
        let text = text_of(file).ok()?;
        // The name before is in parentheses, and may hold some itself.
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

    /// The process group that it is in.
    pub fn group(&self) -> Option<Pid> {
        Pid::from_raw(self.field(5)?.parse().ok()?)
    }

    /// Whether the process has ended, or is about to and runs none of its own code any more.
    pub fn has_ended(&self) -> bool {
        /// `PF_EXITING` of the kernel.
        const EXITING: u32 = 4;
        let flags: u32 = self
            .field(9)
            .and_then(|flags| flags.parse().ok())
            .unwrap_or(0);
        matches!(self.state(), None | Some('Z' | 'X')) || flags & EXITING != 0
    }

    /// When the process was started, in ticks of the kernel's clock since the system was.
    pub fn started(&self) -> Option<u64> {
        self.field(22)?.parse().ok()
    }

    /// Processor time of the children that the process has waited for, in steps of the kernel's
    /// clock.
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

    /// The process that started it, or adopted it.
    pub fn parent(&self) -> Option<Pid> {
        Pid::from_raw(self.field(4)?.parse().ok()?)
    }
}

/// How long each thread of a process has waited for a processor while it could have run, since it was
/// started: by thread. Empty when the process has ended, or the kernel does not report it.
///
/// The kernel counts a wait when it ends: see [`runnable_threads`].
pub fn processor_waits(pid: Pid) -> Vec<(Pid, Duration)> {
    let wait = |task: fs::DirEntry| {
        let thread = Pid::from_raw(task.file_name().to_str()?.parse().ok()?)?;
        let wait = schedstat(&task.path().join("schedstat"), 1)?;
        Some((thread, Duration::from_nanos(wait)))
    };
    tasks(pid).filter_map(wait).collect()
}

/// The threads of a process that run or could if they had a processor, each with how often it has been
/// given one: a thread that waits for one all the time between two calls has the same number in both.
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

/// The directories of the threads of a process.
fn tasks(pid: Pid) -> impl Iterator<Item = fs::DirEntry> {
    let tasks = fs::read_dir(format!("/proc/{}/task", pid.as_raw_pid()));
    tasks.into_iter().flatten().flatten()
}

/// How long this thread has waited for a processor while it could have run, since it was started.
pub fn own_processor_wait() -> Option<Duration> {
    schedstat("/proc/thread-self/schedstat".as_ref(), 1).map(Duration::from_nanos)
}

/// A number of a `schedstat` file: 0 is the time that the thread has run, 1 that for which it has waited for a
/// processor, both in nanoseconds, and 2 how often it was given one.
fn schedstat(file: &Path, number: usize) -> Option<u64> {
    let text = text_of(file).ok()?;
    text.split_ascii_whitespace().nth(number)?.parse().ok()
}

/// A path of this system that leads to `path` (without a leading slash) as a process sees it.
pub fn path_in_view_of(pid: Pid, path: &str) -> PathBuf {
    format!("/proc/{}/root/{path}", pid.as_raw_pid()).into()
}

/// The processes of a process group that a sandbox confines: they can gain no rights, and filters bound
/// their system calls.
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

/// The name of this process's name space of process ids.
pub fn own_pid_namespace() -> io::Result<String> {
    let name = fs::read_link("/proc/self/ns/pid")?;
    Ok(name.to_string_lossy().into_owned())
}

/// The control groups that this process is in, a line for each hierarchy.
pub fn own_cgroups() -> io::Result<String> {
    own_file("cgroup")
}

/// A file of this process's own.
pub fn own_file(name: &str) -> io::Result<String> {
    text_of(format!("/proc/self/{name}"))
}

/// The users that processes in this process's view belong to.
pub fn users_of_processes() -> HashSet<u32> {
    let user = |entry: fs::DirEntry| {
        entry.file_name().to_str()?.parse::<u32>().ok()?;
        // The owner of a process's directory is its user, but for one that others may not look into.
        let status = text_of(entry.path().join("status")).ok()?;
        let line = status.lines().find_map(|line| line.strip_prefix("Uid:"))?;
        line.split_ascii_whitespace().next()?.parse().ok()
    };
    let processes = fs::read_dir("/proc").into_iter().flatten().flatten();
    processes.filter_map(user).collect()
}

/// What is mounted in this process's view, a line for each mount.
pub fn own_mounts() -> io::Result<String> {
    own_file("mountinfo")
}

/// A setting of the kernel, such as `user/max_user_namespaces`, if this kernel has it.
pub fn kernel_setting(name: &str) -> Option<String> {
    let text = text_of(format!("/proc/sys/{name}")).ok()?;
    Some(text.trim().to_owned())
}

/// The number of processes and threads of the whole system.
pub fn tasks_of_system() -> Option<u64> {
    let text = text_of("/proc/loadavg").ok()?;
    // `0.20 0.18 0.12 1/80 11206`: the fourth field is those that can run, and all.
    let (_, all) = text.split(' ').nth(3)?.split_once('/')?;
    all.parse().ok()
}

/// The number of processes and threads in this process's view: all of them, or those of a user.
/// Reads a file for each process.
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
    /// Bytes that are resident, what it shares included.
    pub resident: u64,
    pub children: Vec<Pid>,
}

/// A process whose files are kept open, to be read again and again. They stay with this process even
/// when another one gets its number.
#[derive(Debug)]
pub struct OpenProcess {
    pid: Pid,
    /// The directory of its threads.
    threads: File,
    /// The children that its first thread has started.
    children: File,
    memory: File,
}

impl OpenProcess {
    /// Opens the files, three descriptors.
    pub fn open(pid: Pid) -> io::Result<Self> {
        let number = pid.as_raw_pid();
        Ok(Self {
            pid,
            threads: File::open(format!("/proc/{number}/task"))?,
            children: File::open(format!("/proc/{number}/task/{number}/children"))?,
            memory: File::open(format!("/proc/{number}/statm"))?,
        })
    }

    /// Reads what it uses, an error when it has ended. Three system calls, unless it has several
    /// threads; the children are left out when it has more than `most_threads`. `buffer` is not
    /// empty, and is enlarged when needed.
    pub fn usage(&self, most_threads: u64, buffer: &mut Vec<u8>) -> io::Result<ProcessUsage> {
        // This comes first: the list of children of a process that has ended is merely empty.
        let mut resident = resident_memory(read_again(&self.memory, buffer)?);
        let threads = self.threads.metadata()?.nlink().saturating_sub(OWN_LINKS);
        if resident == 0 && threads > 1 {
            // Its first thread has ended, which had these files; the others live on.
            resident = self.resident_of_living_thread(most_threads).unwrap_or(0);
        }
        let children = match threads {
            1 => pids(read_again(&self.children, buffer)?).collect(),
            _ if threads > most_threads => Vec::new(),
            // Each thread has its own.
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
    /// The resident memory of a process in bytes, read from the first of its threads that still runs.
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

/// The resident bytes on the line of a `statm` file.
fn resident_memory(line: &str) -> u64 {
    let pages = line.split(' ').nth(1).and_then(|word| word.parse().ok());
    pages.unwrap_or(0_u64) * rustix::param::page_size() as u64
}

/// Reads a file of the kernel from its start, whose text is ASCII.
fn read_again<'a>(file: &File, buffer: &'a mut Vec<u8>) -> io::Result<&'a str> {
    loop {
        // The kernel gives whole texts when there is room.
        let length = file.read_at(buffer, 0)?;
        if length < buffer.len() {
            return std::str::from_utf8(&buffer[..length]).map_err(io::Error::other);
        }
        buffer.resize(buffer.len() * 2, 0);
    }
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
}
