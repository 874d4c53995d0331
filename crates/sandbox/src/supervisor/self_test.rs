//! What a sandboxed process can do, found by trying what every sandbox must forbid. Tests try the
//! rest, one program for each attack.

use std::env;
use std::fs::{self, File, Permissions};
use std::io::{self, Write as _};
use std::net::{TcpStream, UdpSocket};
use std::os::unix::fs::{OpenOptionsExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};
use std::process::{self, Command};

use rustix::fs::{Access, MemfdFlags, XattrFlags, access, inotify, memfd_create, setxattr};
use rustix::net::{AddressFamily, SocketFlags, SocketType, socketpair};
use rustix::process::{
    Pid, PidfdFlags, PidfdGetfdFlags, Resource, Rlimit, getppid, getpriority_user, getuid,
    pidfd_getfd, pidfd_open, setpriority_user, setrlimit, setsid, test_kill_process,
};
use rustix::thread::{capabilities, no_new_privs};

use super::message::{COMMAND, SELF_TEST};

/// What must fail, as the end of "it can …", and the attempt.
type ForbiddenAttempt = (&'static str, fn(&[String]) -> bool);

const ATTEMPTS: &[ForbiddenAttempt] = &[
    ("open network connections", |_| {
        let refused = |error: io::Error| error.kind() == io::ErrorKind::PermissionDenied;
        !TcpStream::connect("127.0.0.1:9").is_err_and(refused)
            || !UdpSocket::bind("127.0.0.1:0").is_err_and(refused)
    }),
    ("open sockets of datagrams", |_| {
        [SocketType::DGRAM, SocketType::RAW]
            .into_iter()
            .any(|kind| socketpair(AddressFamily::UNIX, kind, SocketFlags::empty(), None).is_ok())
    }),
    ("read a file that is not its own", |paths| {
        paths.iter().any(|path| fs::read(path).is_ok())
    }),
    ("write outside its scratch directory", |paths| {
        let beside = |path: &String| Path::new(path).with_file_name("referee-probe");
        let mut places: Vec<_> = paths.iter().map(beside).collect();
        places
            .extend(["/referee-probe", "/usr/referee-probe", "/dev/referee-probe"].map(Into::into));
        places.iter().any(|place| writes(place))
    }),
    ("change attributes of a file that is not its own", |paths| {
        // Its current mode.
        let mode = || Permissions::from_mode(0o600);
        let changes = |path: &String| {
            fs::set_permissions(path, mode()).is_ok()
                || setxattr(path, "user.probe", b"x", XattrFlags::empty()).is_ok()
        };
        paths.iter().any(changes)
    }),
    ("make programs that run with its rights", |_| {
        let mut options = File::options();
        let options = options.write(true).create(true).mode(0o4700);
        let place = env::temp_dir().join("set-uid");
        let made = options.open(&place).is_ok();
        let _ = fs::remove_file(place);
        made
    }),
    ("change settings of the kernel", |_| {
        let settings = [
            "/proc/sys/kernel/core_pattern",
            "/proc/sys/kernel/modprobe",
            "/proc/sysrq-trigger",
        ];
        settings.into_iter().any(opens_for_writing)
    }),
    ("have a program outside take its core dumps", |_| {
        let none = Rlimit {
            current: Some(0),
            maximum: Some(0),
        };
        setrlimit(Resource::Core, none).is_ok()
    }),
    ("write into the memory of other processes", |_| {
        let parent = getppid().map(|parent| format!("/proc/{}/mem", parent.as_raw_pid()));
        opens_for_writing("/proc/1/mem") || parent.is_some_and(opens_for_writing)
    }),
    ("take descriptors of other processes", |_| {
        let parent = getppid().and_then(|parent| pidfd_open(parent, PidfdFlags::empty()).ok());
        parent.is_some_and(|parent| pidfd_getfd(parent, 0, PidfdGetfdFlags::empty()).is_ok())
    }),
    ("signal other processes", |paths| {
        // The referee's process id is the extension of the file's directory.
        let pid = paths.first().and_then(|path| {
            let name = Path::new(path).extension()?.to_str()?;
            Pid::from_raw(name.parse().ok()?)
        });
        pid.is_none_or(|pid| test_kill_process(pid).is_ok())
    }),
    ("change the priority of all processes of its user", |_| {
        // To its current value.
        let now = getpriority_user(getuid());
        now.and_then(|now| setpriority_user(getuid(), now)).is_ok()
    }),
    ("hold memory that counts for no process", |_| {
        memfd_create("probe", MemfdFlags::empty()).is_ok()
    }),
    ("use up what its user has only so many of", |_| {
        inotify::init(inotify::CreateFlags::empty()).is_ok()
    }),
    ("keep a capability, or get one", |_| {
        capabilities(None).map_or(true, |sets| {
            !(sets.effective | sets.permitted | sets.inheritable).is_empty()
        }) || !no_new_privs().unwrap_or(false)
    }),
];

/// What it tries, each as the end of "it cannot …".
pub fn attempts() -> Vec<&'static str> {
    let names = ATTEMPTS.iter().map(|&(name, _)| name);
    names.chain([LEAVING]).collect()
}

/// Tried by a child: a group leader cannot leave its group.
const LEAVING: &str = "leave its process group";

/// Whether its scratch directory is usable, as every bot's must be. The file is removed again:
/// without a working sandbox this is the machine's temporary directory.
fn has_scratch() -> bool {
    let place = env::temp_dir().join(format!("referee-probe-{}", process::id()));
    let has = fs::write(&place, "x").is_ok() && fs::read(&place).is_ok();
    let _ = fs::remove_file(place);
    has
}

/// Whether a file can be written here. It is removed again.
fn writes(place: &Path) -> bool {
    let is_new = !place.exists();
    let written = fs::write(place, "x").is_ok();
    if written && is_new {
        let _ = fs::remove_file(place);
    }
    written
}

/// An error when no process can be started for it.
fn can_leave_group() -> io::Result<bool> {
    // A leader never can; a child does not.
    let tried = Command::new("/proc/self/exe")
        .args([COMMAND, SELF_TEST, "setsid"])
        .status();
    match tried {
        Err(error) if error.kind() == io::ErrorKind::WouldBlock => Err(error),
        tried => Ok(tried.map_or(true, |status| status.success())),
    }
}

/// Whether an existing file can be opened for writing. Nothing is written.
fn opens_for_writing(path: impl AsRef<Path>) -> bool {
    File::options().write(true).open(path).is_ok()
}

/// Prints what it could do and must not, one a line, then `done`.
pub(super) fn run(arguments: impl Iterator<Item = String>) -> io::Result<()> {
    let arguments: Vec<String> = arguments.collect();
    if arguments == ["setsid"] {
        return setsid().map(|_| ()).map_err(io::Error::from);
    }
    if arguments == [EXCEED_MEMORY] {
        return exceed_memory();
    }
    let mut out = io::stdout().lock();
    let (secret, exposed) = arguments.split_at(arguments.len().min(1));
    for path in exposed {
        // In a directory that is only passable it knows the names.
        let needed = if Path::new(path).is_dir() {
            Access::EXEC_OK
        } else {
            Access::READ_OK
        };
        if access(path, needed).is_err() {
            writeln!(out, "{UNREADABLE}{path}")?;
        }
    }
    for (hole, attempt) in ATTEMPTS {
        if attempt(secret) {
            writeln!(out, "it can {hole}")?;
        }
    }
    // Last: starting a program takes longest.
    if can_leave_group()? {
        writeln!(out, "it can {LEAVING}")?;
    }
    if !has_scratch() {
        writeln!(out, "it cannot write into its scratch directory")?;
    }
    writeln!(out, "{DONE}")
}

pub const EXCEED_MEMORY: &str = "memory";

pub const SMALL_MEMORY: u64 = 32 << 20;

/// Uses twice its memory.
fn exceed_memory() -> io::Result<()> {
    let mut memory = Vec::new();
    while (memory.len() as u64) < 2 * SMALL_MEMORY {
        // Not zeros: pages of zeros need no memory.
        memory.resize(memory.len() + (1 << 20), b'x');
    }
    writeln!(
        io::stdout(),
        "{} {DONE}",
        std::hint::black_box(memory).len()
    )
}

pub const DONE: &str = "done";

/// Starts the line on an exposed path that it cannot read.
pub const UNREADABLE: &str = "cannot read ";

pub fn arguments(file: &str, exposed: &[PathBuf]) -> Vec<String> {
    let words = [COMMAND, SELF_TEST, file].map(str::to_owned);
    let exposed = exposed
        .iter()
        .map(|path| path.to_string_lossy().into_owned());
    words.into_iter().chain(exposed).collect()
}
