//! The system calls that no bot needs, as seccomp filters.
//!
//! Everything else is allowed, except calls that are newer than this list. The kernel
//! remembers which calls are always allowed, so that reading and writing cost a bot almost nothing.

use std::collections::BTreeMap;
use std::env::consts::ARCH;
use std::io;

use libc::c_long;
use seccompiler::SeccompCmpArgLen::{Dword, Qword};
use seccompiler::SeccompCmpOp::{Eq, MaskedEq, Ne};
use seccompiler::{
    BackendError, BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition,
    SeccompFilter, SeccompRule, TargetArch, sock_filter,
};

type Rules = BTreeMap<c_long, Vec<SeccompRule>>;

/// Answered with "operation not permitted", whatever their arguments are.
const NEVER: &[c_long] = &[
    // Leaving the process group, with which a bot is ended, stopped and continued.
    libc::SYS_setsid,
    libc::SYS_setpgid,
    // Other processes.
    libc::SYS_ptrace,
    libc::SYS_process_vm_readv,
    libc::SYS_process_vm_writev,
    libc::SYS_process_madvise,
    libc::SYS_kcmp,
    libc::SYS_pidfd_getfd,
    libc::SYS_migrate_pages,
    libc::SYS_move_pages,
    // Sockets of every kind, but for pairs.
    libc::SYS_bind,
    libc::SYS_listen,
    libc::SYS_accept,
    libc::SYS_accept4,
    libc::SYS_connect,
    // Keyrings.
    libc::SYS_keyctl,
    libc::SYS_add_key,
    libc::SYS_request_key,
    // A way around this filter.
    libc::SYS_io_uring_setup,
    libc::SYS_io_uring_enter,
    libc::SYS_io_uring_register,
    // Namespaces and mounts.
    libc::SYS_unshare,
    libc::SYS_setns,
    libc::SYS_mount,
    libc::SYS_umount2,
    libc::SYS_pivot_root,
    libc::SYS_chroot,
    libc::SYS_open_tree,
    libc::SYS_move_mount,
    libc::SYS_fsopen,
    libc::SYS_fsconfig,
    libc::SYS_fsmount,
    libc::SYS_fspick,
    libc::SYS_mount_setattr,
    libc::SYS_open_by_handle_at,
    // Shared memory, semaphores and queues that outlive their process.
    libc::SYS_shmget,
    libc::SYS_shmat,
    libc::SYS_shmctl,
    libc::SYS_shmdt,
    libc::SYS_semget,
    libc::SYS_semop,
    libc::SYS_semtimedop,
    libc::SYS_semctl,
    libc::SYS_msgget,
    libc::SYS_msgsnd,
    libc::SYS_msgrcv,
    libc::SYS_msgctl,
    libc::SYS_mq_open,
    libc::SYS_mq_unlink,
    // What an administrator does.
    libc::SYS_acct,
    libc::SYS_adjtimex,
    libc::SYS_bpf,
    libc::SYS_clock_adjtime,
    libc::SYS_clock_settime,
    libc::SYS_delete_module,
    libc::SYS_fanotify_init,
    libc::SYS_finit_module,
    libc::SYS_init_module,
    libc::SYS_kexec_file_load,
    libc::SYS_kexec_load,
    libc::SYS_perf_event_open,
    libc::SYS_quotactl,
    libc::SYS_reboot,
    libc::SYS_setdomainname,
    libc::SYS_sethostname,
    libc::SYS_settimeofday,
    libc::SYS_swapoff,
    libc::SYS_swapon,
    libc::SYS_syslog,
    libc::SYS_userfaultfd,
    libc::SYS_vhangup,
];

/// Answered with "no such system call", so that libraries take another way.
const UNKNOWN: &[c_long] = &[
    // Its flags are in memory, which no filter can read; `clone` does the same.
    libc::SYS_clone3,
    // Likewise; `openat` does the same.
    libc::SYS_openat2,
    // Memory that counts for no process.
    libc::SYS_memfd_create,
    libc::SYS_memfd_secret,
];

/// The newest call that is known here (of Linux 6.18); newer ones are answered with "no such
/// system call".
const LAST_KNOWN: u32 = 469;

/// New namespaces, one bit each.
const NAMESPACES: &[libc::c_int] = &[
    libc::CLONE_NEWCGROUP,
    libc::CLONE_NEWIPC,
    libc::CLONE_NEWNET,
    libc::CLONE_NEWNS,
    libc::CLONE_NEWPID,
    libc::CLONE_NEWUSER,
    libc::CLONE_NEWUTS,
];

/// Typing into another process's terminal, taking a terminal, and the like.
const TERMINAL: &[libc::Ioctl] = &[
    libc::TIOCSTI,
    libc::TIOCLINUX,
    libc::TIOCSCTTY,
    libc::TIOCCONS,
    libc::TIOCSETD,
];

/// A temporary file that has no name, and is counted nowhere.
const UNNAMED_FILE: u64 = (libc::O_TMPFILE & !libc::O_DIRECTORY) as u64;

/// The compiled filters, ready to be installed.
#[derive(Clone, Debug)]
pub(super) struct Filters {
    /// Asks the supervisor about network connections, which it refuses and remembers.
    pub(super) network: BpfProgram,
    /// To be installed afterwards, in this order.
    pub(super) others: Vec<BpfProgram>,
}

/// Compiles the filters.
pub(super) fn filters() -> io::Result<Filters> {
    compile().map_err(|error| io::Error::other(format!("seccomp: {error}")))
}

fn compile() -> Result<Filters, BackendError> {
    let arch = TargetArch::try_from(ARCH)?;
    let filter = |rules, errno: i32| {
        let errno = SeccompAction::Errno(errno.cast_unsigned());
        let filter = SeccompFilter::new(rules, SeccompAction::Allow, errno, arch)?;
        BpfProgram::try_from(filter)
    };
    let unknown = UNKNOWN.iter().map(|&call| (call, Vec::new())).collect();
    let mut unknown = filter(unknown, libc::ENOSYS)?;
    unknown.splice(0..0, newer_calls());
    Ok(Filters {
        network: network(arch)?,
        others: vec![unknown, filter(forbidden()?, libc::EPERM)?],
    })
}

/// Sockets that lead to other machines.
const NETWORK: [libc::c_int; 2] = [libc::AF_INET, libc::AF_INET6];

/// Has the supervisor answer when a socket of the network is opened.
fn network(arch: TargetArch) -> Result<BpfProgram, BackendError> {
    let sockets = NETWORK.map(|family| when(0, Dword, Eq, u64::from(family.cast_unsigned())));
    let sockets = sockets.into_iter().collect::<Result<_, _>>()?;
    let rules = BTreeMap::from([(libc::SYS_socket, sockets)]);
    // The crate has no action for notifying a supervisor; notifying a tracer is encoded alike.
    let notify = SeccompAction::Trace(0);
    let filter = SeccompFilter::new(rules, SeccompAction::Allow, notify, arch)?;
    let mut program = BpfProgram::try_from(filter)?;
    for step in &mut program {
        if u32::from(step.code) == libc::BPF_RET && step.k == libc::SECCOMP_RET_TRACE {
            step.k = libc::SECCOMP_RET_USER_NOTIF;
        }
    }
    Ok(program)
}

/// Calls beyond the last known one, and with them those of the x32 interface, whose numbers
/// have a high bit set.
fn newer_calls() -> [sock_filter; 3] {
    let step = |code: u32, jt, jf, k| sock_filter {
        #[expect(clippy::cast_possible_truncation, reason = "codes of BPF are small")]
        code: code as u16,
        jt,
        jf,
        k,
    };
    let errno = libc::SECCOMP_RET_ERRNO | libc::ENOSYS.cast_unsigned();
    [
        // The number is the first word of what a filter sees.
        step(libc::BPF_LD | libc::BPF_W | libc::BPF_ABS, 0, 0, 0),
        step(
            libc::BPF_JMP | libc::BPF_JGT | libc::BPF_K,
            0,
            1,
            LAST_KNOWN,
        ),
        step(libc::BPF_RET | libc::BPF_K, 0, 0, errno),
    ]
}

/// The calls that are not permitted, some of them only with certain arguments.
fn forbidden() -> Result<Rules, BackendError> {
    let mut rules: Rules = NEVER.iter().map(|&call| (call, Vec::new())).collect();
    #[cfg(target_arch = "x86_64")]
    for call in [libc::SYS_iopl, libc::SYS_ioperm, libc::SYS_uselib] {
        rules.insert(call, Vec::new());
    }
    // A socket cannot be opened; a pair that leads nowhere else can. A pair of datagram
    // sockets could be turned to any address.
    let local = NETWORK
        .map(|family| SeccompCondition::new(0, Dword, Ne, u64::from(family.cast_unsigned())));
    let local = local.into_iter().collect::<Result<_, _>>()?;
    rules.insert(libc::SYS_socket, vec![SeccompRule::new(local)?]);
    rules.insert(
        libc::SYS_socketpair,
        vec![
            when(0, Dword, Ne, libc::AF_UNIX as u64)?,
            when(1, Dword, MaskedEq(0xf), libc::SOCK_DGRAM as u64)?,
        ],
    );
    let clone = NAMESPACES
        .iter()
        .map(|&flag| bit(0, u64::from(flag.cast_unsigned())));
    rules.insert(libc::SYS_clone, clone.collect::<Result<_, _>>()?);
    // 0 is the caller itself.
    for call in [
        libc::SYS_prlimit64,
        libc::SYS_sched_setaffinity,
        libc::SYS_sched_setattr,
        libc::SYS_sched_setparam,
        libc::SYS_sched_setscheduler,
    ] {
        rules.insert(call, vec![when(0, Dword, Ne, 0)?]);
    }
    for call in [libc::SYS_setpriority, libc::SYS_ioprio_set] {
        rules.insert(call, vec![when(1, Dword, Ne, 0)?]);
    }
    let terminal = TERMINAL
        .iter()
        .map(|&request| when(1, Dword, Eq, request & 0xffff_ffff));
    rules.insert(libc::SYS_ioctl, terminal.collect::<Result<_, _>>()?);
    // Memory shared without a file can be hidden from all that counts it.
    let shared = (libc::MAP_SHARED | libc::MAP_ANONYMOUS).cast_unsigned();
    rules.insert(libc::SYS_mmap, vec![bit(3, u64::from(shared))?]);
    rules.insert(libc::SYS_openat, vec![bit(2, UNNAMED_FILE)?]);
    #[cfg(target_arch = "x86_64")]
    rules.insert(libc::SYS_open, vec![bit(1, UNNAMED_FILE)?]);
    Ok(rules)
}

/// A rule of one condition on an argument.
fn when(
    argument: u8,
    length: SeccompCmpArgLen,
    operator: SeccompCmpOp,
    value: u64,
) -> Result<SeccompRule, BackendError> {
    let condition = SeccompCondition::new(argument, length, operator, value)?;
    SeccompRule::new(vec![condition])
}

/// A rule that all of these bits of an argument are set.
fn bit(argument: u8, bits: u64) -> Result<SeccompRule, BackendError> {
    when(argument, Qword, MaskedEq(bits), bits)
}
