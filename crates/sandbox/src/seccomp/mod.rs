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
    BackendError, BpfProgram, SeccompAction, SeccompCmpOp, SeccompCondition, SeccompFilter,
    SeccompRule, TargetArch, sock_filter,
};

use self::calls::{
    ATTRIBUTES, DESCRIPTOR_SETTINGS, FILE_SYSTEM_REQUESTS, INVALID, LAST_KNOWN, MODES, NAMESPACES,
    NEVER, OPENINGS, REMOVALS, RIGHTS_OF_OWNER, SIGNALS, TERMINAL, UNKNOWN, UNNAMED_FILE,
};
use serde::{Deserialize, Serialize};

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct FilterSituation {
    /// Whether the bot reaches files by the system's paths: it may not change their attributes.
    pub(super) shared_files: bool,
    /// Whether the bot is stopped while nothing is asked of it: it may not have itself continued.
    pub(super) freeze: bool,
    /// Whether compilers run. Rust's start others with a pair of SEQPACKET sockets, which bots may
    /// not use.
    pub(super) compiles: bool,
}

/// The conditions under which calls get an answer; empty for always.
#[derive(Default)]
struct Rules(BTreeMap<c_long, Vec<SeccompRule>>);

/// An argument's number, and what its low 32 bits are compared with.
type Condition = (u8, SeccompCmpOp, u64);

impl Rules {
    fn always(calls: &[c_long]) -> Self {
        Self(calls.iter().map(|&call| (call, Vec::new())).collect())
    }

    /// One more way to get the answer: all of these conditions hold.
    fn when(&mut self, call: c_long, conditions: &[Condition]) -> Result<(), BackendError> {
        let condition = |(argument, operator, value): &Condition| {
            SeccompCondition::new(*argument, Dword, operator.clone(), *value)
        };
        let conditions = conditions.iter().map(condition);
        let rule = SeccompRule::new(conditions.collect::<Result<_, _>>()?)?;
        self.0.entry(call).or_default().push(rule);
        Ok(())
    }
}

const fn bits(argument: u8, bits: u64) -> Condition {
    (argument, MaskedEq(bits), bits)
}

const fn low(number: libc::c_int) -> u64 {
    number.cast_unsigned() as u64
}

/// The filter asks the supervisor about network sockets, which are refused and noted; and, where
/// the bot has no file system of its own, about removing files.
pub(super) fn filter(situation: FilterSituation) -> io::Result<BpfProgram> {
    compile(situation).map_err(|error| io::Error::other(format!("seccomp: {error}")))
}

fn compile(situation: FilterSituation) -> Result<BpfProgram, BackendError> {
    let errno = |number: i32| SeccompAction::Errno(number.cast_unsigned());
    let answers: [(Rules, SeccompAction); 5] = [
        // The first answer to a call counts.
        (forbidden(situation)?, errno(libc::EPERM)),
        (unsupported(situation)?, errno(libc::EOPNOTSUPP)),
        (Rules::always(UNKNOWN), errno(libc::ENOSYS)),
        (Rules::always(INVALID), errno(libc::EINVAL)),
        // The crate has no action for asking a supervisor; asking a tracer is encoded alike.
        (asked(situation)?, SeccompAction::Trace(0)),
    ];
    let arch = TargetArch::try_from(ARCH)?;
    let mut program = BpfProgram::new();
    for (rules, answer) in answers {
        // Calls of another architecture kill the process.
        let filter = SeccompFilter::new(rules.0, SeccompAction::Allow, answer, arch)?;
        let mut steps = BpfProgram::try_from(filter)?;
        let length = steps.len();
        for (at, step) in steps.iter_mut().enumerate() {
            match (u32::from(step.code), step.k) {
                // What this answer lets pass the next one may answer.
                (BPF_RET, SECCOMP_RET_ALLOW) => {
                    let rest = u32::try_from(length - at - 1).unwrap_or(u32::MAX);
                    *step = self::step(BPF_JMP | BPF_JA, 0, 0, rest);
                }
                (BPF_RET, SECCOMP_RET_TRACE) => step.k = SECCOMP_RET_USER_NOTIF,
                _ => {}
            }
        }
        program.extend(steps);
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

fn asked(FilterSituation { shared_files, .. }: FilterSituation) -> Result<Rules, BackendError> {
    let mut rules = Rules::always(if shared_files { REMOVALS } else { &[] });
    for family in NETWORK {
        rules.when(libc::SYS_socket, &[(0, Eq, low(family))])?;
    }
    Ok(rules)
}

/// Calls answered as by a file system that does not know them: libraries take another way.
fn unsupported(
    FilterSituation { shared_files, .. }: FilterSituation,
) -> Result<Rules, BackendError> {
    // It takes more space at a time than polling could notice.
    let fallocate: &[c_long] = &[libc::SYS_fallocate];
    let mut rules = Rules::always(if shared_files { fallocate } else { &[] });
    // Reading only cached pages would show what has been read before.
    rules.when(libc::SYS_preadv2, &[bits(5, low(libc::RWF_NOWAIT))])?;
    Ok(rules)
}

/// Refused calls, some only with certain arguments.
fn forbidden(situation: FilterSituation) -> Result<Rules, BackendError> {
    let mut rules = Rules::always(NEVER);
    forbid_sockets(&mut rules, situation)?;
    forbid_leaving_and_priority(&mut rules)?;
    forbid_by_request(&mut rules)?;
    forbid_kinds_of_files(&mut rules)?;
    if situation.shared_files {
        rules.0.extend(Rules::always(ATTRIBUTES).0);
        for &kind in FILE_SYSTEM_REQUESTS {
            let request = (1, MaskedEq(0xff00), u64::from(kind) << 8);
            rules.when(libc::SYS_ioctl, &[request])?;
        }
    }
    if situation.freeze {
        for &(call, signal) in SIGNALS {
            rules.when(call, &[(signal, Eq, low(libc::SIGCONT))])?;
        }
        // Its signal is in memory, which no filter can read.
        rules.0.insert(libc::SYS_timer_create, Vec::new());
    }
    Ok(rules)
}

fn forbid_sockets(rules: &mut Rules, situation: FilterSituation) -> Result<(), BackendError> {
    // A stream pair leads nowhere else. Datagram and raw pairs could be connected to any address.
    let local = NETWORK.map(|family| (0, Ne, low(family)));
    rules.when(libc::SYS_socket, &local)?;
    rules.when(libc::SYS_socketpair, &[(0, Ne, low(libc::AF_UNIX))])?;
    for kind in [libc::SOCK_DGRAM, libc::SOCK_RAW, libc::SOCK_SEQPACKET] {
        // The kernel ignores connects of packets; refused all the same.
        if kind != libc::SOCK_SEQPACKET || !situation.compiles {
            rules.when(libc::SYS_socketpair, &[(1, MaskedEq(0xf), low(kind))])?;
        }
    }
    Ok(())
}

/// New namespaces, and what concerns other processes or the order in which they run.
fn forbid_leaving_and_priority(rules: &mut Rules) -> Result<(), BackendError> {
    for &flag in NAMESPACES {
        rules.when(libc::SYS_clone, &[bits(0, low(flag))])?;
    }
    // 0 is the caller itself.
    for call in [
        libc::SYS_prlimit64,
        libc::SYS_sched_setaffinity,
        libc::SYS_sched_setparam,
        libc::SYS_sched_setscheduler,
    ] {
        rules.when(call, &[(0, Ne, 0)])?;
    }
    // Other policies make it wait for others, or others for it.
    let others = [(1, Ne, low(libc::SCHED_OTHER))];
    rules.when(libc::SYS_sched_setscheduler, &others)?;
    // With less than one byte, a crash starts the system's core dump program.
    rules.when(libc::SYS_setrlimit, &[(0, Eq, RLIMIT_CORE)])?;
    let new_core = vec![
        SeccompCondition::new(1, Dword, Eq, RLIMIT_CORE)?,
        SeccompCondition::new(2, Qword, Ne, 0)?,
    ];
    let limits = rules.0.entry(libc::SYS_prlimit64).or_default();
    limits.push(SeccompRule::new(new_core)?);
    // For one process, not a group or user.
    rules.when(libc::SYS_ioprio_set, &[(0, Ne, IOPRIO_WHO_PROCESS)])?;
    rules.when(libc::SYS_ioprio_set, &[(1, Ne, 0)])?;
    Ok(())
}

/// Calls that do many things, by which one they are asked for.
fn forbid_by_request(rules: &mut Rules) -> Result<(), BackendError> {
    for &request in TERMINAL {
        rules.when(libc::SYS_ioctl, &[(1, Eq, low_word(request))])?;
    }
    for setting in DESCRIPTOR_SETTINGS {
        rules.when(libc::SYS_fcntl, &[(1, Eq, low(setting))])?;
    }
    // The bot's first process dies with its supervisor.
    rules.when(libc::SYS_prctl, &[(0, Eq, low(libc::PR_SET_PDEATHSIG))])?;
    // Shared anonymous memory can be hidden from everything that counts it.
    let shared = low(libc::MAP_SHARED | libc::MAP_ANONYMOUS);
    rules.when(libc::SYS_mmap, &[bits(3, shared)])?;
    Ok(())
}

/// Files without a name, and set-user-id or set-group-id ones. When opening, the mode only counts
/// for new files.
fn forbid_kinds_of_files(rules: &mut Rules) -> Result<(), BackendError> {
    for &(call, flags) in OPENINGS {
        rules.when(call, &[bits(flags, UNNAMED_FILE)])?;
        for right in RIGHTS_OF_OWNER {
            let new = bits(flags, low(libc::O_CREAT));
            rules.when(call, &[new, bits(flags + 1, right.into())])?;
        }
    }
    for &(call, mode) in MODES {
        for right in RIGHTS_OF_OWNER {
            rules.when(call, &[bits(mode, right.into())])?;
        }
    }
    Ok(())
}

// Constants whose type differs between C libraries.
const RLIMIT_CORE: u64 = 4;

/// The part of a request that the kernel reads; its type differs between C libraries.
const fn low_word(request: libc::Ioctl) -> u64 {
    let [a, b, c, d, ..] = request.to_le_bytes();
    u32::from_le_bytes([a, b, c, d]) as u64
}

const IOPRIO_WHO_PROCESS: u64 = 1;

#[cfg(test)]
mod tests;
