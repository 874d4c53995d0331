use std::fs;

use rustix::process::Pid;

use super::{tasks, text_of};

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
    use super::*;

    #[test]
    fn lines_of_memory() {
        assert_eq!(kib_after("VmHWM:\t    1234 kB", "VmHWM:"), Some(1234));
        assert_eq!(kib_after("VmHWM:\t    1234", "VmHWM:"), None);
        assert_eq!(kib_after("VmRSS:\t    1234 kB", "VmHWM:"), None);
    }
}
