//! A small process between the referee and a bot in a sandbox.
//!
//! The referee starts its own program again as `referee guard`, whose standard input is a socket.
//! Over it comes an order; the guard starts the bot and tells how that went, how the
//! bot ended, and what it had used. When the referee's end of the socket closes, whatever the
//! cause, the guard ends the bot with all its processes. The bot's pipes lead straight to the
//! referee: a ply costs nothing more.
//!
//! A guard has one thread. It adopts orphans, and no process of a bot can leave its process
//! group, so that none escapes.
//!
//! - `order`: what is said over the socket
//! - `confine`: what a process does to itself before it becomes a bot
//! - `filter`: the system calls that no bot needs
//! - `cgroup`: memory bounded by the kernel, where that can be had
//! - `watch`: what a bot uses while it runs
//! - `tree`: the processes below this one
//! - `wire`: descriptors sent over a socket
//! - `client`: the referee's side
//! - `probe`: what a sandboxed process finds out about its sandbox

pub(crate) mod cgroup;
pub(crate) mod client;
mod confine;
mod descendants;
mod filter;
pub(crate) mod order;
pub(crate) mod probe;
mod sys;
pub(crate) mod tree;
mod watch;
mod wire;

use std::fs::{self, File, Permissions};
use std::io::{self, Write as _};
use std::os::fd::{AsFd as _, OwnedFd};
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::net::UnixStream;
use std::os::unix::process::{CommandExt as _, ExitStatusExt as _};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{
    Pid, PidfdFlags, Signal, WaitOptions, getpid, kill_process_group, pidfd_open,
    set_child_subreaper, set_parent_process_death_signal, setsid, waitpid,
};
use tempfile::TempDir;

use cgroup::Group;
use order::{Bounds, Ended, Exceeded, News, Order, Wall};
use watch::{Scratch, Watch};

/// The first argument of the program when it is to be a guard.
pub const COMMAND: &str = "guard";

/// The second argument of the program inside bubblewrap, which then becomes the bot.
const INSIDE: &str = "inside";

/// The second argument of the program when it is to try what a bot could do.
const PROBE: &str = "probe";

/// An order is never longer, in bytes.
const MAX_ORDER: usize = 1 << 20;

/// Said by the program inside bubblewrap when all is prepared.
const PREPARED: u8 = b'+';

/// How long bubblewrap may take to build a sandbox.
const BUILDING: Duration = Duration::from_secs(10);

/// Does what `referee guard` is for. `arguments` are those after that word.
pub fn run(mut arguments: impl Iterator<Item = String>) -> ExitCode {
    let done = match arguments.next().as_deref() {
        None => serve(),
        Some(INSIDE) => inside(arguments),
        Some(PROBE) => probe::run(arguments),
        Some(_) => Err(io::Error::other(
            "this command is for the referee itself; see `referee doctor` for what a sandbox does",
        )),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            // Standard error is the bot's, and the referee quotes it.
            let _ = writeln!(io::stderr(), "referee guard: {error}");
            ExitCode::from(2)
        }
    }
}

/// Reads the order, starts the bot, and looks after it until it has ended.
fn serve() -> io::Result<()> {
    let mut control = UnixStream::from(io::stdin().as_fd().try_clone_to_owned()?);
    let nothing = File::open("/dev/null")?;
    rustix::stdio::dup2_stdin(&nothing)?;
    set_child_subreaper(Some(getpid()))?;
    let (order, input) = receive(&control)?;
    let started = group(&order).and_then(|group| start(&order, input, group));
    // From here on only the bot holds its streams, so that their end can be seen.
    let nothing = File::options().write(true).open("/dev/null")?;
    rustix::stdio::dup2_stdout(&nothing)?;
    rustix::stdio::dup2_stderr(&nothing)?;
    let bot = match started {
        Ok(bot) => bot,
        Err(error) => {
            tree::end(None);
            let cause = error.to_string();
            return tell(&mut control, &News::Failed { cause });
        }
    };
    let group = bot.pid;
    let pid = group.as_raw_pid();
    // An error means that the referee is gone, which is found out again below.
    let _ = tell(&mut control, &News::Ready { pid });
    let (ended, directory) = look_after(&order, bot, &control)?;
    let _ = tell(&mut control, &News::Ended(ended));
    if let Some(directory) = directory {
        remove(directory);
    }
    Ok(())
}

fn tell(control: &mut UnixStream, news: &News) -> io::Result<()> {
    let mut line = serde_json::to_vec(news)?;
    line.push(b'\n');
    control.write_all(&line)
}

/// Reads an order and the descriptor that comes with it.
fn receive(control: &UnixStream) -> io::Result<(Order, OwnedFd)> {
    let whole = |bytes: &[u8]| bytes.last() == Some(&b'\n');
    let (text, input) = wire::receive(control, MAX_ORDER, whole)?;
    if !whole(&text) {
        return Err(io::Error::other("no order came"));
    }
    let order = serde_json::from_slice(&text)?;
    let input = input.ok_or_else(|| io::Error::other("no descriptor came with the order"))?;
    Ok((order, input))
}

/// A bot that runs.
struct Bot {
    pid: Pid,
    scratch: Scratch,
    /// Processes between the guard and the bot.
    helpers: usize,
    /// Removed at the end.
    directory: Option<TempDir>,
    /// Its control group, if it has one; removed at the end, too.
    group: Option<Group>,
    /// Asks what to answer when it tries the network.
    calls: OwnedFd,
}

/// The control group that the bot will be in.
fn group(order: &Order) -> io::Result<Option<Group>> {
    let made = order
        .group
        .as_ref()
        .map(|(home, bytes)| Group::new(home, *bytes));
    made.transpose()
        .map_err(|error| io::Error::other(format!("no control group can be made: {error}")))
}

fn start(order: &Order, input: OwnedFd, group: Option<Group>) -> io::Result<Bot> {
    let leaving = Leaving {
        guard: getpid(),
        door: group.as_ref().map(Group::door).transpose()?,
    };
    let bot = match &order.wall {
        Wall::Landlock { read, scratch } => start_walled(order, input, read, scratch, leaving),
        Wall::Bwrap {
            program,
            arguments,
            inside,
        } => start_bwrap(order, input, (program, arguments), inside, leaving),
    }?;
    Ok(Bot { group, ..bot })
}

/// What a process does first when it is to become the bot.
struct Leaving {
    guard: Pid,
    /// Leads into its control group.
    door: Option<File>,
}

impl Leaving {
    /// A session and group of its own, without a terminal; no life without its guard; and into
    /// the control group.
    fn leave(&mut self) -> io::Result<()> {
        setsid()?;
        set_parent_process_death_signal(Some(Signal::KILL))?;
        if rustix::process::getppid() != Some(self.guard) {
            return Err(io::Error::other("the guard has ended"));
        }
        self.door
            .as_mut()
            .map_or(Ok(()), |door| door.write_all(b"0"))
    }
}

fn start_walled(
    order: &Order,
    input: OwnedFd,
    read: &[PathBuf],
    scratch: &Path,
    mut leaving: Leaving,
) -> io::Result<Bot> {
    let directory = tempfile::Builder::new()
        .prefix("scratch-")
        .permissions(Permissions::from_mode(0o700))
        .tempdir_in(scratch)?;
    let filters = confine::filters()?;
    let mut walls = Some(confine::walls(read, directory.path())?);
    let (ours, theirs) = UnixStream::pair()?;
    let bounds = order.bounds;
    let [name, arguments @ ..] = &order.argv[..] else {
        return Err(io::Error::other("an empty command"));
    };
    let mut command = Command::new(name);
    command
        .args(arguments)
        .env_clear()
        .envs(order.environment.iter().map(|(name, value)| (name, value)))
        .envs(["HOME", "TMPDIR"].map(|name| (name, directory.path())))
        .current_dir(order.directory.as_deref().unwrap_or(directory.path()))
        .stdin(Stdio::from(input));
    sys::before_exec(&mut command, move || {
        leaving.leave()?;
        walls.take().map_or(Ok(()), confine::enclose)?;
        confine::bind(&bounds, &filters, false, &theirs)
    });
    let child = command.spawn()?;
    drop(command);
    let (_, calls) = wire::receive(&ours, 1, |bytes| !bytes.is_empty())?;
    Ok(Bot {
        pid: Pid::from_child(&child),
        scratch: Scratch::Directory(directory.path().to_owned()),
        helpers: 0,
        directory: Some(directory),
        group: None,
        calls: calls.ok_or_else(no_listener)?,
    })
}

fn start_bwrap(
    order: &Order,
    input: OwnedFd,
    (program, arguments): (&Path, &[String]),
    inside: &str,
    mut leaving: Leaving,
) -> io::Result<Bot> {
    let (ours, theirs) = UnixStream::pair()?;
    ours.set_read_timeout(Some(BUILDING))?;
    let mut command = Command::new(program);
    command
        .args(arguments)
        .arg("--")
        .args([inside, COMMAND, INSIDE])
        .arg(serde_json::to_string(&order.bounds)?)
        .args(&order.argv)
        .env_clear()
        .envs(order.environment.iter().map(|(name, value)| (name, value)))
        .envs([("HOME", "/tmp"), ("TMPDIR", "/tmp")])
        .stdin(Stdio::from(input));
    let status = theirs.try_clone()?;
    sys::before_exec(&mut command, move || {
        leaving.leave()?;
        sys::close_on_exec_from(3)?;
        sys::pass_as_three(status.as_fd())
    });
    let child = command.spawn()?;
    drop(command);
    drop(theirs);
    let (said, calls) = wire::receive(&ours, MAX_ORDER, |_| false)?;
    // A mark came with the descriptor.
    match said.strip_prefix(b".").unwrap_or(&said).split_first() {
        Some((&PREPARED, [])) => Ok(Bot {
            pid: Pid::from_child(&child),
            scratch: Scratch::Inside,
            helpers: 2,
            directory: None,
            group: None,
            calls: calls.ok_or_else(no_listener)?,
        }),
        Some((&PREPARED, cause)) => Err(io::Error::other(
            String::from_utf8_lossy(cause).into_owned(),
        )),
        _ => Err(io::Error::other("bubblewrap could not build the sandbox")),
    }
}

fn no_listener() -> io::Error {
    io::Error::other("seccomp gave no descriptor to listen at")
}

/// Becomes the bot, inside bubblewrap. Descriptor 3 leads to the guard.
fn inside(mut arguments: impl Iterator<Item = String>) -> io::Result<()> {
    let mut guard = sys::take_three()?;
    let bounds = arguments.next().unwrap_or_default();
    let bounds: Bounds = serde_json::from_str(&bounds)?;
    let done = confine::filters()
        .and_then(|filters| confine::bind(&bounds, &filters, true, &guard))
        .and_then(|()| guard.write_all(&[PREPARED]));
    let error = match (done, arguments.next()) {
        (Ok(()), Some(name)) => Command::new(name).args(arguments).exec(),
        (Ok(()), None) => io::Error::other("an empty command"),
        (Err(error), _) => {
            guard.write_all(&[PREPARED])?;
            error
        }
    };
    guard.write_all(error.to_string().as_bytes())?;
    Err(error)
}

/// Waits until the bot has ended, the referee is gone, or a bound is exceeded; then nothing is
/// left of the bot but its scratch directory.
fn look_after(
    order: &Order,
    bot: Bot,
    control: &UnixStream,
) -> io::Result<(Ended, Option<TempDir>)> {
    let pidfd = pidfd_open(bot.pid, PidfdFlags::empty())?;
    let mut watch = Watch::new(order.bounds, bot.scratch, bot.helpers);
    let mut exceeded: Option<Exceeded> = None;
    let interval = watch::interval(bot.group.is_some());
    let mut next_look = Instant::now() + interval;
    let mut network = false;
    loop {
        let mut events = [
            PollFd::new(&pidfd, PollFlags::IN),
            PollFd::new(control, PollFlags::IN),
            PollFd::new(&bot.calls, PollFlags::IN),
        ];
        let wait = next_look.saturating_duration_since(Instant::now());
        let wait = Timespec::try_from(wait).map_err(io::Error::other)?;
        let ready = poll(&mut events, Some(&wait));
        // Also when it keeps asking for the network.
        if Instant::now() >= next_look {
            exceeded = bound_by_kernel(bot.group.as_ref()).or_else(|| watch.look());
            if exceeded.is_some() {
                break;
            }
            next_look = Instant::now() + interval;
        }
        match ready {
            Ok(0) | Err(rustix::io::Errno::INTR) => {}
            Ok(_) if events[..2].iter().all(|event| event.revents().is_empty()) => {
                if events[2].revents().contains(PollFlags::IN) {
                    network |= sys::refuse_call(&bot.calls).is_ok();
                } else {
                    // Nobody is left to ask; the end is about to be told.
                    std::thread::sleep(Duration::from_millis(1));
                }
            }
            Ok(_) => break,
            Err(error) => return Err(error.into()),
        }
    }
    let mut status = waitpid(Some(bot.pid), WaitOptions::NOHANG)?;
    if status.is_none() {
        let _ = kill_process_group(bot.pid, Signal::KILL);
        status = waitpid(Some(bot.pid), WaitOptions::empty())?;
    }
    let status = status.map_or(0, |(_, status)| status.as_raw());
    tree::end(Some(bot.pid));
    let exceeded = exceeded.or_else(|| bound_by_kernel(bot.group.as_ref()));
    let (cpu, largest) = sys::used_by_children();
    let ended = Ended {
        status: told_by_bwrap(status, bot.helpers > 0),
        cpu_ms: cpu.as_secs_f64() * 1e3,
        memory_kb: largest.max(watch.peak()),
        exceeded,
        network,
    };
    Ok((ended, bot.directory))
}

/// Whether the kernel has ended a process of the bot for its memory. The rest of the bot may live.
fn bound_by_kernel(group: Option<&Group>) -> Option<Exceeded> {
    group?.exceeded().then_some(Exceeded::Memory)
}

/// Bubblewrap ends with status 128 and the signal's number when a signal ended the bot.
fn told_by_bwrap(status: i32, bwrap: bool) -> i32 {
    match ExitStatus::from_raw(status).code() {
        Some(code @ 129..=192) if bwrap => code - 128,
        _ => status,
    }
}

/// Removes a scratch directory, also when a bot has closed the directories in it.
fn remove(directory: TempDir) {
    let path = directory.path().to_owned();
    if directory.close().is_ok() {
        return;
    }
    let mut waiting = vec![path.clone()];
    while let Some(directory) = waiting.pop() {
        // What cannot be opened or removed stays; it holds nothing of value.
        let _ = fs::set_permissions(&directory, Permissions::from_mode(0o700));
        for entry in fs::read_dir(directory).into_iter().flatten().flatten() {
            if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                waiting.push(entry.path());
            }
        }
    }
    let _ = fs::remove_dir_all(path);
}
