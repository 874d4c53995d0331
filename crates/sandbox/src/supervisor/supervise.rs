//! Watches a running bot until it has exited or must be killed.

use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::os::unix::process::ExitStatusExt as _;
use std::process::ExitStatus;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;
use rustix::process::{PidfdFlags, WaitStatus, pidfd_open};

use super::descendants::{end_all, reap_orphans};
use super::scratch::ScratchDirectory;
use super::spawn::RunningBot;
use super::sys;
use super::usage_meter::UsageMeter;
use crate::backend::SandboxBackend;
use crate::cgroup::{GroupController, OpenAccount, OpenMemory};
use crate::limits::{ExceededLimit, ExitReport, ResourceLimits};
use crate::session;
use crate::spawn_request::SpawnRequest;

/// How long the kernel may take from its notice to the kill.
const KILLING: Duration = Duration::from_millis(1);

/// The status of a killed bot that hangs in the kernel.
const KILLED: i32 = 9;

/// Waits until the bot has exited, the referee is gone, or a limit is exceeded; afterwards only its
/// scratch and its groups are left. `account` counts its CPU time.
pub(super) fn supervise(
    request: &SpawnRequest,
    bot: &mut RunningBot,
    account: Option<&OpenAccount>,
    control: &UnixStream,
) -> io::Result<ExitReport> {
    let mut watch = BotWatch::new(request, bot, control)?;
    let exceeded = watch.until_end(bot)?;
    bot.groups.thaw();
    // If it exited by itself, this is its status.
    let status = end_all(Some(bot.pid)).map_or(KILLED, WaitStatus::as_raw);
    if let SandboxBackend::Landlock {
        scratch,
        private_view: false,
        ..
    } = &request.backend
    {
        session::forget(scratch, bot.pid);
    }
    let status = decode_bwrap_status(status, request.backend.helpers() > 0);
    let exceeded = exceeded.or_else(|| bot.groups.exceeded());
    let in_full_scratch = || status == libc::SIGBUS && bot.scratch.is_full();
    let exceeded = exceeded.or_else(|| in_full_scratch().then_some(ExceededLimit::MappedScratch));
    let (waited_for, largest) = sys::used_by_children();
    let memory = watch.memory.and_then(|memory| memory.read());
    let memory = memory.unwrap_or_default();
    let cpu = account.and_then(OpenAccount::read).unwrap_or(waited_for);
    Ok(ExitReport {
        status,
        cpu_ms: cpu.as_secs_f64() * 1e3,
        // The sum counts shared memory more than once.
        memory_kb: if memory.peak_kb > 0 {
            memory.peak_kb
        } else {
            largest.max(watch.usage.peak_kb())
        },
        oom_kills: memory.oom_kills,
        exceeded,
        limits: watch.limits,
        network: watch.network,
    })
}

/// What is waited for and looked at while a bot runs.
struct BotWatch<'a> {
    /// Closed when the referee is gone.
    control: &'a UnixStream,
    /// Readable when the bot's first process has exited.
    exit: OwnedFd,
    memory: Option<OpenMemory>,
    /// Readable when the kernel is about to kill for want of memory.
    out_of_memory: Option<OwnedFd>,
    limits: ResourceLimits,
    usage: UsageMeter,
    interval: Duration,
    next_check: Instant,
    /// Whether a process may be left that could ask for a call.
    asking: bool,
    /// Whether the bot has asked for the network.
    network: bool,
}

/// What has happened to a bot during a wait.
struct BotEvents {
    /// It has exited, or the referee is gone.
    ended: bool,
    /// It asks for a call, or nothing is left that could.
    calls: PollFlags,
    out_of_memory: bool,
}

impl<'a> BotWatch<'a> {
    fn new(request: &SpawnRequest, bot: &RunningBot, control: &'a UnixStream) -> io::Result<Self> {
        let exit = pidfd_open(bot.pid, PidfdFlags::empty())?;
        let by_kernel = bot.groups.with(GroupController::Memory).is_some();
        let limits = request.restrictions.limits;
        // Memory grows fastest; less often where the kernel bounds it.
        let interval = Duration::from_millis(if by_kernel { 50 } else { 25 });
        Ok(Self {
            control,
            exit,
            memory: bot.groups.memory(),
            out_of_memory: bot.groups.out_of_memory(),
            limits,
            usage: UsageMeter::new(limits, bot.pid, request.backend.helpers(), by_kernel),
            interval,
            next_check: Instant::now() + interval,
            asking: true,
            network: false,
        })
    }

    /// Until the bot has exited, the referee is gone, or a limit is exceeded: that limit.
    fn until_end(&mut self, bot: &mut RunningBot) -> io::Result<Option<ExceededLimit>> {
        loop {
            let events = self.wait(bot);
            // Even when it keeps asking for the network.
            if Instant::now() >= self.next_check {
                let exceeded = self.check(bot);
                if exceeded.is_some() {
                    return Ok(exceeded);
                }
                self.next_check = Instant::now() + self.interval;
            }
            let events = events?;
            if let Some(event) = self.out_of_memory.as_ref().filter(|_| events.out_of_memory) {
                // It is reset by a read, and says so before the process is killed.
                let _ = rustix::io::read(event, &mut [0_u8; 8]);
                self.next_check = self.next_check.min(Instant::now() + KILLING);
            }
            if events.ended {
                return Ok(None);
            }
            if events.calls.contains(PollFlags::IN) {
                self.network |= answer_call(bot);
            } else if !events.calls.is_empty() {
                // No process is left that could ask; the exit is about to be reported.
                self.asking = false;
            }
        }
    }

    /// Waits until something happens, or the next check is due.
    fn wait(&self, bot: &RunningBot) -> io::Result<BotEvents> {
        let mut events = vec![
            PollFd::new(&self.exit, PollFlags::IN),
            PollFd::new(self.control, PollFlags::IN),
        ];
        let calls = self.asking.then_some(&bot.calls);
        for optional in [calls, self.out_of_memory.as_ref()].into_iter().flatten() {
            events.push(PollFd::new(optional, PollFlags::IN));
        }
        let wait = self.next_check.saturating_duration_since(Instant::now());
        let wait = Timespec::try_from(wait).map_err(io::Error::other)?;
        match poll(&mut events, Some(&wait)) {
            Ok(_) | Err(Errno::INTR) => {}
            Err(error) => return Err(error.into()),
        }
        let happened = |at: usize| events.get(at).map_or(PollFlags::empty(), PollFd::revents);
        Ok(BotEvents {
            ended: !happened(0).is_empty() || !happened(1).is_empty(),
            calls: if self.asking {
                happened(2)
            } else {
                PollFlags::empty()
            },
            out_of_memory: self.out_of_memory.is_some() && !happened(events.len() - 1).is_empty(),
        })
    }

    /// The limit that the bot has exceeded by now.
    fn check(&mut self, bot: &RunningBot) -> Option<ExceededLimit> {
        reap_orphans(bot.pid);
        if let ScratchDirectory::Watched(scratch) = &bot.scratch {
            scratch.clear();
        }
        let by_kernel = bot.groups.exceeded();
        by_kernel
            .or_else(|| self.usage.exceeded())
            .or_else(|| bot.scratch.exceeded(&self.limits))
    }
}

/// Answers what a process of the bot asks its supervisor for: whether that was the network.
fn answer_call(bot: &mut RunningBot) -> bool {
    // An error means that the process is gone.
    let Ok(call) = sys::waiting_call(&bot.calls) else {
        return false;
    };
    let answer = match &mut bot.scratch {
        ScratchDirectory::Watched(scratch) => scratch.remove(&call),
        ScratchDirectory::Counted(_) | ScratchDirectory::Bounded(_) => Err(Errno::PERM),
    };
    sys::answer_call(&bot.calls, &call, answer);
    libc::c_long::from(call.data.nr) == libc::SYS_socket
}

/// The status of the bot itself: bubblewrap in between exits with 128 and the signal's number when a signal
/// killed the bot.
fn decode_bwrap_status(status: i32, bwrap: bool) -> i32 {
    match ExitStatus::from_raw(status).code() {
        Some(code @ 129..=192) if bwrap => code - 128,
        _ => status,
    }
}
