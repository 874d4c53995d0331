//! The system calls that are refused, and with which arguments.

use libc::c_long;

// Missing in the crate `libc`, at least for some targets; from 424 on, numbers are the same on all
// architectures.
const LANDLOCK_CREATE_RULESET: c_long = 444;
const LANDLOCK_ADD_RULE: c_long = 445;
const LANDLOCK_RESTRICT_SELF: c_long = 446;
const CACHESTAT: c_long = 451;
const FCHMODAT2: c_long = 452;
const SETXATTRAT: c_long = 463;
const REMOVEXATTRAT: c_long = 466;
const FILE_SETATTR: c_long = 469;
#[cfg(target_arch = "x86_64")]
const KEXEC_FILE_LOAD: c_long = 320;
#[cfg(target_arch = "aarch64")]
const KEXEC_FILE_LOAD: c_long = 294;

/// Answered with EPERM, whatever their arguments.
#[rustfmt::skip]
pub(super) const NEVER: &[c_long] = &[
    // Leaving the process group, by which a bot is killed, stopped and continued.
    libc::SYS_setsid, libc::SYS_setpgid,
    // Other processes.
    libc::SYS_ptrace, libc::SYS_process_vm_readv, libc::SYS_process_vm_writev, libc::SYS_process_madvise,
    libc::SYS_kcmp, libc::SYS_pidfd_getfd, libc::SYS_migrate_pages, libc::SYS_move_pages,
    // Its own priority: a bot is not charged for waiting for a CPU.
    libc::SYS_setpriority, libc::SYS_sched_setattr,
    // All sockets except pairs.
    libc::SYS_bind, libc::SYS_listen, libc::SYS_accept, libc::SYS_accept4, libc::SYS_connect,
    // Keyrings.
    libc::SYS_keyctl, libc::SYS_add_key, libc::SYS_request_key,
    // Bypasses this filter.
    libc::SYS_io_uring_setup, libc::SYS_io_uring_enter, libc::SYS_io_uring_register,
    // Namespaces and mounts.
    libc::SYS_unshare, libc::SYS_setns, libc::SYS_mount, libc::SYS_umount2, libc::SYS_pivot_root, libc::SYS_chroot,
    libc::SYS_open_tree, libc::SYS_move_mount, libc::SYS_fsopen, libc::SYS_fsconfig, libc::SYS_fsmount,
    libc::SYS_fspick, libc::SYS_mount_setattr, libc::SYS_open_by_handle_at,
    // System V and POSIX IPC that outlives its process.
    libc::SYS_shmget, libc::SYS_shmat, libc::SYS_shmctl, libc::SYS_shmdt, libc::SYS_semget, libc::SYS_semop,
    libc::SYS_semtimedop, libc::SYS_semctl, libc::SYS_msgget, libc::SYS_msgsnd, libc::SYS_msgrcv, libc::SYS_msgctl,
    libc::SYS_mq_open, libc::SYS_mq_unlink,
    // Limited per user, across all processes.
    libc::SYS_inotify_init1, libc::SYS_fanotify_init,
    // What other processes, and the bot's own last one, have read.
    libc::SYS_mincore, CACHESTAT,
    // Administration.
    libc::SYS_acct, libc::SYS_adjtimex, libc::SYS_bpf, libc::SYS_clock_adjtime, libc::SYS_clock_settime,
    libc::SYS_delete_module, libc::SYS_finit_module, libc::SYS_init_module, KEXEC_FILE_LOAD, libc::SYS_kexec_load,
    libc::SYS_perf_event_open, libc::SYS_quotactl, libc::SYS_reboot, libc::SYS_setdomainname, libc::SYS_sethostname,
    libc::SYS_settimeofday, libc::SYS_swapoff, libc::SYS_swapon, libc::SYS_syslog, libc::SYS_userfaultfd,
    libc::SYS_vhangup,
    #[cfg(target_arch = "x86_64")] libc::SYS_iopl,
    #[cfg(target_arch = "x86_64")] libc::SYS_ioperm,
    #[cfg(target_arch = "x86_64")] libc::SYS_uselib,
    #[cfg(target_arch = "x86_64")] libc::SYS_modify_ldt,
    #[cfg(target_arch = "x86_64")] libc::SYS_inotify_init,
];

/// Answered with ENOSYS: libraries take another way.
pub(super) const UNKNOWN: &[c_long] = &[
    // Its flags are in memory, which no filter can read; `clone` does the same.
    libc::SYS_clone3,
    // Likewise; `openat` does the same.
    libc::SYS_openat2,
    // Memory that counts for no process.
    libc::SYS_memfd_create,
    libc::SYS_memfd_secret,
    // Pages in a pipe that the process has given up; part of a large page keeps all of it.
    libc::SYS_vmsplice,
    // Uncounted, and no bot needs them: its own rules are in force.
    LANDLOCK_CREATE_RULESET,
    LANDLOCK_ADD_RULE,
    LANDLOCK_RESTRICT_SELF,
    // A machine-wide limit (`fs.aio-max-nr`) that one process can use up.
    libc::SYS_io_setup,
];

/// Answered with EINVAL, as for files without pages to give: libraries copy instead. The pages they
/// put into pipes are the files' own, and stay when the files are removed.
pub(super) const INVALID: &[c_long] = &[libc::SYS_splice, libc::SYS_sendfile];

/// The newest known call (Linux 6.18); newer ones are answered with ENOSYS.
pub(super) const LAST_KNOWN: u32 = 469;

/// One bit each.
pub(super) const NAMESPACES: &[libc::c_int] = &[
    libc::CLONE_NEWCGROUP,
    libc::CLONE_NEWIPC,
    libc::CLONE_NEWNET,
    libc::CLONE_NEWNS,
    libc::CLONE_NEWPID,
    libc::CLONE_NEWUSER,
    libc::CLONE_NEWUTS,
];

/// Typing into another process's terminal, taking a terminal, and the like.
pub(super) const TERMINAL: &[libc::Ioctl] = &[
    libc::TIOCSTI,
    libc::TIOCLINUX,
    libc::TIOCSCTTY,
    libc::TIOCCONS,
    libc::TIOCSETD,
];

/// A temporary file without a name, which nothing counts.
pub(super) const UNNAMED_FILE: u64 = (libc::O_TMPFILE & !libc::O_DIRECTORY) as u64;

/// Calls that change mode, owner, times and other attributes. Landlock has no rule for them:
/// without its own view a bot could change every file of its user.
pub(super) const ATTRIBUTES: &[c_long] = &[
    #[cfg(target_arch = "x86_64")]
    libc::SYS_chmod,
    libc::SYS_fchmod,
    libc::SYS_fchmodat,
    FCHMODAT2,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_chown,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_lchown,
    libc::SYS_fchown,
    libc::SYS_fchownat,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_utime,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_utimes,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_futimesat,
    libc::SYS_utimensat,
    libc::SYS_setxattr,
    libc::SYS_lsetxattr,
    libc::SYS_fsetxattr,
    SETXATTRAT,
    libc::SYS_removexattr,
    libc::SYS_lremovexattr,
    libc::SYS_fremovexattr,
    REMOVEXATTRAT,
    FILE_SETATTR,
];

pub(super) const REMOVALS: &[c_long] = &[
    #[cfg(target_arch = "x86_64")]
    libc::SYS_unlink,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_rmdir,
    libc::SYS_unlinkat,
];

/// Types of `ioctl` that file systems answer (flags, snapshots, reserved space). The type is the
/// second byte.
pub(super) const FILE_SYSTEM_REQUESTS: &[u8] = &[b'f', b'r', b'v', b'X', 0x94, 0xf5];

/// Calls that set a file's mode, with the number of that argument.
pub(super) const MODES: &[(c_long, u8)] = &[
    #[cfg(target_arch = "x86_64")]
    (libc::SYS_chmod, 1),
    (libc::SYS_fchmod, 1),
    (libc::SYS_fchmodat, 2),
    (FCHMODAT2, 2),
    #[cfg(target_arch = "x86_64")]
    (libc::SYS_creat, 1),
    #[cfg(target_arch = "x86_64")]
    (libc::SYS_mkdir, 1),
    (libc::SYS_mkdirat, 2),
    #[cfg(target_arch = "x86_64")]
    (libc::SYS_mknod, 1),
    (libc::SYS_mknodat, 2),
];

/// Calls that open files, with the number of the argument with flags; the next one is the mode.
pub(super) const OPENINGS: &[(c_long, u8)] = &[
    #[cfg(target_arch = "x86_64")]
    (libc::SYS_open, 1),
    (libc::SYS_openat, 2),
];

/// Set-user-id and set-group-id, one bit each.
pub(super) const RIGHTS_OF_OWNER: [libc::mode_t; 2] = [libc::S_ISUID, libc::S_ISGID];

/// Calls that send a signal, with the number of its argument.
pub(super) const SIGNALS: &[(c_long, u8)] = &[
    (libc::SYS_kill, 1),
    (libc::SYS_tkill, 1),
    (libc::SYS_tgkill, 2),
    (libc::SYS_rt_sigqueueinfo, 1),
    (libc::SYS_rt_tgsigqueueinfo, 2),
    (libc::SYS_pidfd_send_signal, 1),
];

/// `fcntl` settings that make other openers wait for the bot, or send a signal of any number on an
/// event.
pub(super) const DESCRIPTOR_SETTINGS: [libc::c_int; 3] =
    [libc::F_SETLEASE, F_SETSIG, libc::F_NOTIFY];

const F_SETSIG: libc::c_int = 10;
