//! The protocol between referee and supervisor: the arguments, and messages of one JSON line.

use std::io::{self, IoSlice, IoSliceMut, Write as _};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd, RawFd};
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::time::Duration;

use rustix::net::{
    RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer,
    SendAncillaryMessage, SendFlags, recvmsg, sendmsg,
};
use serde::{Deserialize, Serialize};

use crate::backend::Backend;
use crate::cgroup::{Allowance, Group, ParentGroups};
use crate::limits::{ExitReport, ResourceLimits};
use crate::seccomp::Situation;

/// Second argument of the program inside bubblewrap, which becomes the bot.
pub(super) const INSIDE: &str = "inside";

/// Second argument of the program inside a new box.
pub(super) const HOLD: &str = "hold";

pub(super) const SELF_TEST: &str = "self-test";

/// Inside bubblewrap: leads to the supervisor.
pub(super) const STATUS_FD: RawFd = 3;

/// The descriptor by which bubblewrap starts the program.
pub(super) const REFEREE_FD: RawFd = 4;

/// How long bubblewrap may take to build a sandbox.
pub(super) const BUILDING: Duration = Duration::from_secs(10);

/// A bot to start. Sent with it: its standard input, and a kept box if any.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SpawnRequest {
    pub argv: Vec<String>,
    /// Without the variable for its scratch directory.
    pub environment: Vec<(String, String)>,
    /// Working directory; its scratch directory when `None`.
    pub directory: Option<PathBuf>,
    pub backend: Backend,
    pub restrictions: Restrictions,
    pub groups: ParentGroups,
    pub allowance: Allowance,
}

/// What a process restricts itself to before it becomes the bot.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Restrictions {
    pub limits: ResourceLimits,
    /// Processes and threads that the kernel counts together with its own, if it counts few others.
    pub(crate) tasks: Option<u64>,
    pub(crate) situation: Situation,
    /// User and group id of its processes; the referee's when `None`.
    pub(crate) user: Option<u32>,
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SupervisorEvent {
    Ready {
        /// Leads a group and a session.
        pid: i32,
        freezer: Option<Group>,
        account: Option<Group>,
    },
    Failed(Failure),
    /// The bot and everything it started have exited.
    Ended(ExitReport),
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Failure {
    pub(crate) cause: String,
    errno: Option<i32>,
}

impl From<&io::Error> for Failure {
    fn from(error: &io::Error) -> Self {
        Self {
            cause: error.to_string(),
            errno: error.raw_os_error(),
        }
    }
}

impl From<Failure> for io::Error {
    fn from(Failure { cause, errno }: Failure) -> Self {
        errno.map_or_else(|| Self::other(cause), Self::from_raw_os_error)
    }
}

const MOST: usize = 5;

/// Sends descriptors with bytes, of which there must be at least one.
pub(super) fn send_descriptors(
    socket: &UnixStream,
    bytes: &[u8],
    descriptors: &[BorrowedFd<'_>],
) -> io::Result<()> {
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(MOST))];
    let mut ancillary = SendAncillaryBuffer::new(&mut space);
    if !ancillary.push(SendAncillaryMessage::ScmRights(descriptors)) {
        return Err(io::Error::other("too many descriptors"));
    }
    let slices = [IoSlice::new(bytes)];
    let sent = sendmsg(socket, &slices, &mut ancillary, SendFlags::NOSIGNAL)?;
    (&*socket).write_all(&bytes[sent..])
}

/// Reads until the stream ends or `enough` is read: the bytes, and the descriptors sent with them.
pub(super) fn receive(
    socket: &UnixStream,
    enough: impl Fn(&[u8]) -> bool,
) -> io::Result<(Vec<u8>, Vec<OwnedFd>)> {
    let (mut bytes, mut descriptors) = (Vec::new(), Vec::new());
    while !enough(&bytes) {
        match receive_some(socket, &mut bytes, &mut descriptors) {
            Ok(0) => break,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            // The socket has a receive timeout.
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                return Err(io::ErrorKind::TimedOut.into());
            }
            received => received.map(|_| ())?,
        }
    }
    Ok((bytes, descriptors))
}

/// Adds what one call reads; the number of bytes.
pub(super) fn receive_some(
    socket: impl AsFd,
    bytes: &mut Vec<u8>,
    descriptors: &mut Vec<OwnedFd>,
) -> io::Result<usize> {
    // Most messages are shorter.
    let mut buffer = [0; 1 << 12];
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(MOST))];
    let mut ancillary = RecvAncillaryBuffer::new(&mut space);
    let mut slices = [IoSliceMut::new(&mut buffer)];
    let received = recvmsg(socket, &mut slices, &mut ancillary, RecvFlags::CMSG_CLOEXEC)?;
    for message in ancillary.drain() {
        if let RecvAncillaryMessage::ScmRights(received) = message {
            descriptors.extend(received);
        }
    }
    bytes.extend_from_slice(&buffer[..received.bytes]);
    Ok(received.bytes)
}
