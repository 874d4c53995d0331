//! Which system calls are refused, and what of their arguments.

use libc::c_long;

// Numbers that the crate `libc` does not have yet, or not for every architecture and C library; from 424
// on they are the same everywhere.
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

/// Answered with "operation not permitted", whatever their arguments are.
pub(super) const NEVER: &[c_long] = &[
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
    // Its own priority: a bot is excused for waiting for a CPU.
    libc::SYS_setpriority,
    libc::SYS_sched_setattr,
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
    // Of these a user has so many, whoever runs.
    libc::SYS_inotify_init1,
    libc::SYS_fanotify_init,
    // What others have read lately, and a bot's own last process.
    libc::SYS_mincore,
    CACHESTAT,
    // What an administrator does.
    libc::SYS_acct,
    libc::SYS_adjtimex,
    libc::SYS_bpf,
    libc::SYS_clock_adjtime,
    libc::SYS_clock_settime,
    libc::SYS_delete_module,
    libc::SYS_finit_module,
    libc::SYS_init_module,
    KEXEC_FILE_LOAD,
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
pub(super) const UNKNOWN: &[c_long] = &[
    // Its flags are in memory, which no filter can read; `clone` does the same.
    libc::SYS_clone3,
    // Likewise; `openat` does the same.
    libc::SYS_openat2,
    // Memory that counts for no process.
    libc::SYS_memfd_create,
    libc::SYS_memfd_secret,
    // Pages in a pipe that the process has given up; a part of a large one keeps all of it.
    libc::SYS_vmsplice,
    // Rules that nobody counts, and that no bot needs: its own are in force.
    LANDLOCK_CREATE_RULESET,
    LANDLOCK_ADD_RULE,
    LANDLOCK_RESTRICT_SELF,
    // The whole machine has only so many of them (`fs.aio-max-nr`), and one process can take all.
    libc::SYS_io_setup,
];

/// Answered with "invalid argument", as when a file has no pages to give, so that libraries copy instead. What they put
/// into pipes are the pages of files themselves, which stay there when the files are gone.
pub(super) const INVALID: &[c_long] = &[libc::SYS_splice, libc::SYS_sendfile];

/// The newest call that is known here (of Linux 6.18); newer ones are answered with "no such
/// system call".
pub(super) const LAST_KNOWN: u32 = 469;

/// New namespaces, one bit each.
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

/// A temporary file that has no name, and is counted nowhere.
pub(super) const UNNAMED_FILE: u64 = (libc::O_TMPFILE & !libc::O_DIRECTORY) as u64;

/// What changes attributes of files: mode, owner, times and the like. Landlock has no rule for it, so
/// that a bot could do so with every file of its user. Where a bot's files are in a view of their own,
/// it is allowed.
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

/// What removes files and directories.
pub(super) const REMOVALS: &[c_long] = &[
    #[cfg(target_arch = "x86_64")]
    libc::SYS_unlink,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_rmdir,
    libc::SYS_unlinkat,
];

/// The types of requests (`ioctl`) that file systems answer: flags of files, snapshots, reserved space
/// and whatever else they have. The type is the second byte.
pub(super) const FILE_SYSTEM_REQUESTS: &[u8] = &[b'f', b'r', b'v', b'X', 0x94, 0xf5];

/// Calls that set the mode of a file, with the number of the argument that has it.
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

/// Modes of programs that run with the rights of their owner or group, one bit each.
pub(super) const RIGHTS_OF_OWNER: [libc::mode_t; 2] = [libc::S_ISUID, libc::S_ISGID];

/// Calls that send a signal, with the number of the argument that names it.
pub(super) const SIGNALS: &[(c_long, u8)] = &[
    (libc::SYS_kill, 1),
    (libc::SYS_tkill, 1),
    (libc::SYS_tgkill, 2),
    (libc::SYS_rt_sigqueueinfo, 1),
    (libc::SYS_rt_tgsigqueueinfo, 2),
    (libc::SYS_pidfd_send_signal, 1),
];

/// Settings of a descriptor (`fcntl`) with which whoever opens the file waits for the bot, or a signal
/// of any number is sent when something happens.
pub(super) const DESCRIPTOR_SETTINGS: [libc::c_int; 3] =
    [libc::F_SETLEASE, F_SETSIG, libc::F_NOTIFY];

const F_SETSIG: libc::c_int = 10;
