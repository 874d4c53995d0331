//! System calls without a safe wrapper.
#![expect(unsafe_code, reason = "each block says why it is sound")]

use std::ffi::CStr;
use std::io;
use std::mem::MaybeUninit;
use std::os::fd::{AsRawFd as _, BorrowedFd, FromRawFd as _, OwnedFd, RawFd};
use std::time::Duration;

use libc::seccomp_notif;
use rustix::io::Errno;
use rustix::process::{Pid, getpid};
use seccompiler::sock_filter;

/// The value that a call returned, or its error.
fn checked(returned: libc::c_long) -> io::Result<libc::c_long> {
    if returned < 0 {
        Err(io::Error::last_os_error())
    } else {
        Ok(returned)
    }
}

/// Closes all descriptors from this one on, in a process that uses none any more, or has them closed
/// when it executes a program.
pub(super) fn close_range(first: u32, flags: libc::c_uint) -> io::Result<()> {
    let most = libc::c_uint::MAX;
    // SAFETY: no memory is touched; the callers say who owned what is closed.
    checked(unsafe { libc::syscall(libc::SYS_close_range, first, most, flags) }).map(|_| ())
}

pub(super) fn share_memory(process: Pid, other: Pid) -> bool {
    /// The kernel's `KCMP_VM`.
    const MEMORY: libc::c_int = 1;
    let (process, other) = (process.as_raw_pid(), other.as_raw_pid());
    // SAFETY: no memory is touched.
    unsafe { libc::syscall(libc::SYS_kcmp, process, other, MEMORY, 0, 0) == 0 }
}

/// What reaped children and theirs have used: CPU time, and the peak memory of one of them in KiB.
pub(super) fn used_by_children() -> (Duration, u64) {
    let mut usage = MaybeUninit::<libc::rusage>::zeroed();
    // SAFETY: the kernel fills the struct, whose bytes are all valid as zeros, too.
    let usage = unsafe {
        libc::getrusage(libc::RUSAGE_CHILDREN, usage.as_mut_ptr());
        usage.assume_init()
    };
    let time = |time: libc::timeval| {
        let micros = time.tv_sec.saturating_mul(1_000_000) + time.tv_usec;
        Duration::from_micros(u64::try_from(micros).unwrap_or(0))
    };
    let memory = u64::try_from(usage.ru_maxrss).unwrap_or(0);
    (time(usage.ru_utime) + time(usage.ru_stime), memory)
}

/// Gives descriptors these numbers, open for the next program.
pub(super) fn pass_as<const N: usize>(descriptors: [(BorrowedFd<'_>, RawFd); N]) -> io::Result<()> {
    // No source may have a number that another one gets.
    let mut moved = [-1; N];
    for (copy, (descriptor, _)) in moved.iter_mut().zip(descriptors) {
        // SAFETY: this makes a new descriptor, above all target numbers.
        *copy = unsafe { libc::fcntl(descriptor.as_raw_fd(), libc::F_DUPFD_CLOEXEC, 64) };
        checked((*copy).into())?;
    }
    for (copy, (_, number)) in moved.into_iter().zip(descriptors) {
        // SAFETY: in a process that is about to exec, nothing else uses a descriptor of that
        // number.
        checked(unsafe { libc::dup2(copy, number) }.into())?;
    }
    Ok(())
}

pub(super) fn take(number: RawFd) -> io::Result<OwnedFd> {
    // SAFETY: this only checks whether the descriptor is open.
    checked(unsafe { libc::fcntl(number, libc::F_GETFD) }.into())?;
    // SAFETY: it is open, this program was started with it, and it is taken once.
    Ok(unsafe { OwnedFd::from_raw_fd(number) })
}

/// Installs a filter whose notifications a supervisor answers: the descriptor for them.
pub(super) fn listen_for_calls(filter: &[sock_filter]) -> io::Result<OwnedFd> {
    let program = libc::sock_fprog {
        len: u16::try_from(filter.len()).map_err(io::Error::other)?,
        filter: filter.as_ptr().cast_mut().cast(),
    };
    // SAFETY: the program outlives the call, and its steps have the layout that the kernel expects.
    let listener = unsafe {
        libc::syscall(
            libc::SYS_seccomp,
            libc::SECCOMP_SET_MODE_FILTER,
            libc::SECCOMP_FILTER_FLAG_NEW_LISTENER,
            &raw const program,
        )
    };
    let listener = RawFd::try_from(checked(listener)?).map_err(io::Error::other)?;
    // SAFETY: the kernel has just made it, for us.
    Ok(unsafe { OwnedFd::from_raw_fd(listener) })
}

pub(super) fn waiting_call(listener: &OwnedFd) -> io::Result<seccomp_notif> {
    let mut call = MaybeUninit::<seccomp_notif>::zeroed();
    // SAFETY: the kernel wants the struct zeroed, and fills it.
    let received = unsafe {
        libc::ioctl(
            listener.as_raw_fd(),
            libc::SECCOMP_IOCTL_NOTIF_RECV,
            call.as_mut_ptr(),
        )
    };
    checked(received.into())?;
    // SAFETY: its bytes are all valid as zeros, too.
    Ok(unsafe { call.assume_init() })
}

pub(super) fn answer_call(listener: &OwnedFd, call: &seccomp_notif, answer: Result<(), Errno>) {
    let answer = libc::seccomp_notif_resp {
        id: call.id,
        val: 0,
        error: answer.map_or_else(|error| -error.raw_os_error(), |()| 0),
        flags: 0,
    };
    // An error means that the caller has exited. SAFETY: the answer outlives the call.
    unsafe {
        libc::ioctl(
            listener.as_raw_fd(),
            libc::SECCOMP_IOCTL_NOTIF_SEND,
            &raw const answer,
        );
    }
}

/// Whether no other descriptor has a file open: only then the kernel grants a lease, which ends
/// with the descriptor.
pub(super) fn has_nobody_else(file: BorrowedFd<'_>) -> bool {
    // SAFETY: no memory is touched.
    unsafe { libc::fcntl(file.as_raw_fd(), libc::F_SETLEASE, libc::F_WRLCK) == 0 }
}

/// Gives this single-threaded process, or its next child, a new namespace.
pub(super) fn unshare(space: libc::c_int) -> io::Result<()> {
    // SAFETY: no memory is touched, and no descriptors are parted from those of other threads.
    if unsafe { libc::unshare(space) } == 0 {
        return Ok(());
    }
    let error = io::Error::last_os_error();
    // ENOSPC here is not about disks.
    Err(match Errno::from_io_error(&error) {
        Some(Errno::NOSPC) => {
            io::Error::other("no more name spaces can be made (user.max_*_namespaces)")
        }
        _ => error,
    })
}

/// Makes all mounts at or below a mount point read-only and nosuid; if `private`, later mounts
/// there stay in this namespace.
pub(super) fn make_read_only(mount_point: &CStr, private: bool) -> io::Result<()> {
    let attributes = libc::mount_attr {
        attr_set: libc::MOUNT_ATTR_RDONLY | libc::MOUNT_ATTR_NOSUID,
        attr_clr: 0,
        propagation: if private { libc::MS_PRIVATE } else { 0 },
        userns_fd: 0,
    };
    // SAFETY: both pointers are good for the length of the call, and the size is that of the struct.
    let done = unsafe {
        libc::syscall(
            libc::SYS_mount_setattr,
            libc::AT_FDCWD,
            mount_point.as_ptr(),
            libc::AT_RECURSIVE,
            &raw const attributes,
            size_of::<libc::mount_attr>(),
        )
    };
    checked(done).map(|_| ())
}

/// From what a call returned that makes a process: its id in the parent, nothing in the child.
fn forked(returned: libc::c_long) -> io::Result<Option<Pid>> {
    let pid = i32::try_from(checked(returned)?).map_err(io::Error::other)?;
    Ok(Pid::from_raw(pid))
}

/// The new process's id in the parent, nothing in the child; a sibling with `CLONE_PARENT`.
pub(super) fn fork(flags: libc::c_int) -> io::Result<Option<Pid>> {
    let flags = libc::c_long::from(flags | libc::SIGCHLD);
    // SAFETY: a supervisor and its children have one thread, so that no lock is held by another one.
    // Without its own stack argument the new process has a copy of this one's, and nothing is shared;
    // the other arguments are unused.
    forked(unsafe { libc::syscall(libc::SYS_clone, flags, 0, 0, 0, 0) })
}

/// For `clone3`; the constant of `libc` is deprecated for its too small type.
const CLONE_INTO_CGROUP: u64 = 1 << 33;

/// As [`fork`], with the new process in a v2 control group from the start.
pub(super) fn fork_into(group: BorrowedFd<'_>) -> io::Result<Option<Pid>> {
    // SAFETY: the bytes of the struct are all valid as zeros.
    let mut arguments: libc::clone_args = unsafe { MaybeUninit::zeroed().assume_init() };
    arguments.flags = CLONE_INTO_CGROUP;
    arguments.exit_signal = libc::SIGCHLD.unsigned_abs().into();
    arguments.cgroup = group.as_raw_fd().unsigned_abs().into();
    // SAFETY: as with `fork`; the pointer outlives the call, and no memory is shared.
    let pid = unsafe {
        libc::syscall(
            libc::SYS_clone3,
            &raw const arguments,
            size_of::<libc::clone_args>(),
        )
    };
    forked(pid)
}

/// Kills all processes that this one sees, except itself. For the first process of a process id
/// namespace.
pub(super) fn kill_all_others() -> io::Result<()> {
    if !getpid().is_init() {
        return Err(io::Error::other("not the first process"));
    }
    // SAFETY: no memory is touched.
    checked(unsafe { libc::kill(-1, libc::SIGKILL) }.into()).map(|_| ())
}

/// This process and its next program get the error EFBIG for a file that is too large, not the signal SIGXFSZ.
pub(super) fn ignore_large_files() {
    // SAFETY: no handler is installed.
    unsafe { libc::signal(libc::SIGXFSZ, libc::SIG_IGN) };
}

pub(super) fn exit(status: i32) -> ! {
    // SAFETY: no memory is touched.
    unsafe { libc::_exit(status) }
}
