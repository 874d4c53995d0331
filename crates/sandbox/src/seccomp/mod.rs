//! The seccomp filter: refuses the system calls that no bot needs, and those newer than the list.
//!
//! The kernel remembers which calls are always allowed: reading and writing cost a bot almost
//! nothing. Others run through some hundred steps, which no start of a bot notices.

mod calls;

use std::collections::BTreeMap;
use std::env::consts::ARCH;
use std::io;

use libc::{
    BPF_ABS, BPF_JA, BPF_JGT, BPF_JMP, BPF_K, BPF_LD, BPF_RET, BPF_W, SECCOMP_RET_ALLOW,
    SECCOMP_RET_TRACE, SECCOMP_RET_USER_NOTIF, c_long,
};

use seccompiler::SeccompCmpArgLen::{Dword, Qword};
use seccompiler::SeccompCmpOp::{Eq, MaskedEq, Ne};
use seccompiler::{
    BackendError, BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition,
    SeccompFilter, SeccompRule, TargetArch, sock_filter,
};

use self::calls::{
    ATTRIBUTES, DESCRIPTOR_SETTINGS, FILE_SYSTEM_REQUESTS, INVALID, LAST_KNOWN, MODES, NAMESPACES,
    NEVER, REMOVALS, RIGHTS_OF_OWNER, SIGNALS, TERMINAL, UNKNOWN, UNNAMED_FILE,
};
use serde::{Deserialize, Serialize};

/// What the filters depend on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Situation {
    /// Whether the bot reaches files by the system's paths: it may not change their attributes.
    pub(super) shared_files: bool,
    /// Whether the bot is stopped in its opponent's turns: it may not have itself continued.
    pub(super) freeze: bool,
    /// Whether compilers run. Rust's start others with a pair of SEQPACKET sockets, which bots may
    /// not use.
    pub(super) compiles: bool,
}

/// The conditions under which calls get an answer; empty for always.
type Rules = BTreeMap<c_long, Vec<SeccompRule>>;

/// The filter asks the supervisor about network sockets, which are refused and noted; and, where
/// the bot has no file system of its own, about removing files.
pub(super) fn filter(situation: Situation) -> io::Result<BpfProgram> {
    compile(situation).map_err(|error| io::Error::other(format!("seccomp: {error}")))
}

fn compile(situation: Situation) -> Result<BpfProgram, BackendError> {
    let errno = |number: i32| SeccompAction::Errno(number.cast_unsigned());
    let always = |calls: &[c_long]| calls.iter().map(|&call| (call, Vec::new())).collect();
    let parts: [(Rules, SeccompAction); 5] = [
        // The first answer to a call counts.
        (forbidden(situation)?, errno(libc::EPERM)),
        (unsupported(situation)?, errno(libc::EOPNOTSUPP)),
        (always(UNKNOWN), errno(libc::ENOSYS)),
        (always(INVALID), errno(libc::EINVAL)),
        // The crate has no action for asking a supervisor; asking a tracer is encoded alike.
        (asked(situation)?, SeccompAction::Trace(0)),
    ];
    let arch = TargetArch::try_from(ARCH)?;
    let mut program = BpfProgram::new();
    for (rules, answer) in parts {
        // Calls of another architecture kill the process.
        let filter = SeccompFilter::new(rules, SeccompAction::Allow, answer, arch)?;
        let mut part = BpfProgram::try_from(filter)?;
        let length = part.len();
        for (at, step) in part.iter_mut().enumerate() {
            match (u32::from(step.code), step.k) {
                // What this part allows the next one may answer.
                (BPF_RET, SECCOMP_RET_ALLOW) => {
                    let rest = u32::try_from(length - at - 1).unwrap_or(u32::MAX);
                    *step = self::step(BPF_JMP | BPF_JA, 0, 0, rest);
                }
                (BPF_RET, SECCOMP_RET_TRACE) => step.k = SECCOMP_RET_USER_NOTIF,
                _ => {}
            }
        }
        program.extend(part);
    }
    // Calls above the last known one do not exist; this includes the x32 interface, whose numbers
    // have a high bit set. The number is the first word of a filter's data.
    program.extend([
        step(BPF_LD | BPF_W | BPF_ABS, 0, 0, 0),
        step(BPF_JMP | BPF_JGT | BPF_K, 0, 1, LAST_KNOWN),
        step(BPF_RET, 0, 0, u32::from(errno(libc::ENOSYS))),
        step(BPF_RET, 0, 0, SECCOMP_RET_ALLOW),
    ]);
    Ok(program)
}

fn step(code: u32, jt: u8, jf: u8, k: u32) -> sock_filter {
    sock_filter {
        #[expect(clippy::cast_possible_truncation, reason = "codes of BPF are small")]
        code: code as u16,
        jt,
        jf,
        k,
    }
}

const NETWORK: [libc::c_int; 2] = [libc::AF_INET, libc::AF_INET6];

/// Calls that the supervisor answers.
fn asked(situation: Situation) -> Result<Rules, BackendError> {
    let sockets = NETWORK.map(|family| when(0, Dword, Eq, u64::from(family.cast_unsigned())));
    let sockets = sockets.into_iter().collect::<Result<_, _>>()?;
    let mut rules = BTreeMap::from([(libc::SYS_socket, sockets)]);
    if situation.shared_files {
        rules.extend(REMOVALS.iter().map(|&call| (call, Vec::new())));
    }
    Ok(rules)
}

/// Calls answered as by a file system that does not know them: libraries take another way.
fn unsupported(situation: Situation) -> Result<Rules, BackendError> {
    // Reading only cached pages would show what has been read before.
    let only_cached = bit(5, u64::from(libc::RWF_NOWAIT.cast_unsigned()))?;
    let mut rules = Rules::from([(libc::SYS_preadv2, vec![only_cached])]);
    if situation.shared_files {
        // It takes more space at a time than polling could notice.
        rules.insert(libc::SYS_fallocate, Vec::new());
    }
    Ok(rules)
}

/// Refused calls, some only with certain arguments.
fn forbidden(situation: Situation) -> Result<Rules, BackendError> {
    let mut rules: Rules = NEVER.iter().map(|&call| (call, Vec::new())).collect();
    #[cfg(target_arch = "x86_64")]
    for call in [
        libc::SYS_iopl,
        libc::SYS_ioperm,
        libc::SYS_uselib,
        libc::SYS_modify_ldt,
        libc::SYS_inotify_init,
    ] {
        rules.insert(call, Vec::new());
    }
    // A stream pair leads nowhere else. Datagram and raw pairs could be connected to any address.
    let local = NETWORK
        .map(|family| SeccompCondition::new(0, Dword, Ne, u64::from(family.cast_unsigned())));
    let local = local.into_iter().collect::<Result<_, _>>()?;
    rules.insert(libc::SYS_socket, vec![SeccompRule::new(local)?]);
    rules.insert(
        libc::SYS_socketpair,
        vec![
            when(0, Dword, Ne, libc::AF_UNIX as u64)?,
            when(1, Dword, MaskedEq(0xf), libc::SOCK_DGRAM as u64)?,
            when(1, Dword, MaskedEq(0xf), libc::SOCK_RAW as u64)?,
        ],
    );
    // The kernel ignores such connects; refused all the same.
    if !situation.compiles {
        let packets = when(1, Dword, MaskedEq(0xf), libc::SOCK_SEQPACKET as u64)?;
        rules.entry(libc::SYS_socketpair).or_default().push(packets);
    }
    let clone = NAMESPACES
        .iter()
        .map(|&flag| bit(0, u64::from(flag.cast_unsigned())));
    rules.insert(libc::SYS_clone, clone.collect::<Result<_, _>>()?);
    // 0 is the caller itself.
    for call in [
        libc::SYS_prlimit64,
        libc::SYS_sched_setaffinity,
        libc::SYS_sched_setparam,
        libc::SYS_sched_setscheduler,
    ] {
        rules.insert(call, vec![when(0, Dword, Ne, 0)?]);
    }
    // Other policies make it wait for others, or others for it.
    let policy = when(1, Dword, Ne, u64::from(libc::SCHED_OTHER.cast_unsigned()))?;
    let scheduler = rules.entry(libc::SYS_sched_setscheduler).or_default();
    scheduler.push(policy);
    // With less than one byte, a crash starts the system's core dump program.
    let core = RLIMIT_CORE;
    rules.insert(libc::SYS_setrlimit, vec![when(0, Dword, Eq, core)?]);
    let new_core = vec![
        SeccompCondition::new(1, Dword, Eq, core)?,
        SeccompCondition::new(2, Qword, Ne, 0)?,
    ];
    let limits = rules.entry(libc::SYS_prlimit64).or_default();
    limits.push(SeccompRule::new(new_core)?);
    // For one process, not a group or user.
    let others = [
        when(0, Dword, Ne, IOPRIO_WHO_PROCESS)?,
        when(1, Dword, Ne, 0)?,
    ];
    rules.insert(libc::SYS_ioprio_set, others.into());
    let terminal = TERMINAL
        .iter()
        .map(|&request| when(1, Dword, Eq, low_word(request)));
    rules.insert(libc::SYS_ioctl, terminal.collect::<Result<_, _>>()?);
    let settings = DESCRIPTOR_SETTINGS
        .iter()
        .map(|&setting| when(1, Dword, Eq, u64::from(setting.cast_unsigned())));
    rules.insert(libc::SYS_fcntl, settings.collect::<Result<_, _>>()?);
    // The bot's first process dies with its supervisor.
    let death_signal = u64::from(libc::PR_SET_PDEATHSIG.cast_unsigned());
    rules.insert(libc::SYS_prctl, vec![when(0, Dword, Eq, death_signal)?]);
    // Shared anonymous memory can be hidden from everything that counts it.
    let shared = (libc::MAP_SHARED | libc::MAP_ANONYMOUS).cast_unsigned();
    rules.insert(libc::SYS_mmap, vec![bit(3, u64::from(shared))?]);
    rules.insert(libc::SYS_openat, opening(2)?);
    #[cfg(target_arch = "x86_64")]
    rules.insert(libc::SYS_open, opening(1)?);
    for &(call, mode) in MODES {
        let bits = RIGHTS_OF_OWNER.map(|right| bit(mode, u64::from(right)));
        rules.insert(call, bits.into_iter().collect::<Result<_, _>>()?);
    }
    if situation.shared_files {
        rules.extend(ATTRIBUTES.iter().map(|&call| (call, Vec::new())));
        let requests = rules.entry(libc::SYS_ioctl).or_default();
        for &kind in FILE_SYSTEM_REQUESTS {
            requests.push(when(1, Dword, MaskedEq(0xff00), u64::from(kind) << 8)?);
        }
    }
    if situation.freeze {
        let proceed = u64::from(libc::SIGCONT.cast_unsigned());
        for &(call, signal) in SIGNALS {
            rules.insert(call, vec![when(signal, Dword, Eq, proceed)?]);
        }
        // Its signal is in memory, which no filter can read.
        rules.insert(libc::SYS_timer_create, Vec::new());
    }
    Ok(rules)
}

// Constants whose type differs between C libraries.
const RLIMIT_CORE: u64 = 4;

/// The part of a request that the kernel reads; its type differs between C libraries.
const fn low_word(request: libc::Ioctl) -> u64 {
    let [a, b, c, d, ..] = request.to_le_bytes();
    u32::from_le_bytes([a, b, c, d]) as u64
}

const IOPRIO_WHO_PROCESS: u64 = 1;

/// Refuses files without a name, and new set-user-id or set-group-id files. The argument after
/// `flags` is the mode, which only counts for new files.
fn opening(flags: u8) -> Result<Vec<SeccompRule>, BackendError> {
    let new = u64::from(libc::O_CREAT.cast_unsigned());
    let mut rules = vec![bit(flags, UNNAMED_FILE)?];
    for right in RIGHTS_OF_OWNER.map(u64::from) {
        rules.push(SeccompRule::new(vec![
            SeccompCondition::new(flags, Dword, MaskedEq(new), new)?,
            SeccompCondition::new(flags + 1, Dword, MaskedEq(right), right)?,
        ])?);
    }
    Ok(rules)
}

/// A rule with one condition.
fn when(
    argument: u8,
    length: SeccompCmpArgLen,
    operator: SeccompCmpOp,
    value: u64,
) -> Result<SeccompRule, BackendError> {
    let condition = SeccompCondition::new(argument, length, operator, value)?;
    SeccompRule::new(vec![condition])
}

/// A rule that all of these bits are set.
fn bit(argument: u8, bits: u64) -> Result<SeccompRule, BackendError> {
    when(argument, Qword, MaskedEq(bits), bits)
}

#[cfg(test)]
mod tests;
