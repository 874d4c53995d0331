//! The protocol between referee and supervisor: the arguments, and messages of one JSON line.

use std::io::{self, IoSlice, IoSliceMut, Write as _};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd, RawFd};
use std::os::unix::net::UnixStream;
use std::time::Duration;

use rustix::net::{
    RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer,
    SendAncillaryMessage, SendFlags, recvmsg, sendmsg,
};
use serde::{Deserialize, Serialize};

use crate::cgroup::ControlGroup;
use crate::limits::ExitReport;
use crate::trouble::{SandboxTrouble, errno_of, trouble_of, troubled, with_parts};
use referee_text::format_duration;

/// The first argument of the program when it is to be a supervisor, or a part of one.
pub const COMMAND: &str = "supervisor";

/// Second argument of the program inside bubblewrap, which becomes the bot.
pub(super) const INSIDE: &str = "inside";

/// Second argument of the program inside a new box.
pub(super) const HOLD: &str = "hold";

/// Second argument of the program that kills bots without a sandbox when the referee is killed.
pub(super) const WATCH: &str = "watch";

pub(super) const SELF_TEST: &str = "self-test";

/// Inside bubblewrap: leads to the supervisor.
pub(super) const STATUS_FD: RawFd = 3;

/// The descriptor by which bubblewrap starts the program.
pub(super) const REFEREE_FD: RawFd = 4;

/// How long bubblewrap may take to build a sandbox.
pub(super) const BUILDING: Duration = Duration::from_secs(10);

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum SupervisorEvent {
    Ready {
        /// Leads a group and a session.
        pid: i32,
        freezer: Option<ControlGroup>,
        account: Option<ControlGroup>,
        memory: Option<ControlGroup>,
    },
    Failed(SupervisorFailure),
    /// The bot and everything it started have exited.
    Ended(ExitReport),
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SupervisorFailure {
    pub(crate) cause: String,
    pub(crate) errno: Option<i32>,
    pub(crate) trouble: Option<SandboxTrouble>,
    /// The cause is the system's error and nothing else.
    is_plain: bool,
}

impl From<&io::Error> for SupervisorFailure {
    fn from(error: &io::Error) -> Self {
        Self {
            cause: error.to_string(),
            errno: errno_of(error),
            trouble: trouble_of(error),
            is_plain: error.raw_os_error().is_some(),
        }
    }
}

impl From<SupervisorFailure> for io::Error {
    fn from(failure: SupervisorFailure) -> Self {
        match failure.errno {
            Some(errno) if failure.is_plain => Self::from_raw_os_error(errno),
            errno => with_parts(failure.cause, failure.trouble, errno),
        }
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
                let limit = format_duration(BUILDING);
                let words = format!("bubblewrap has not built the sandbox within {limit}");
                return Err(troubled(SandboxTrouble::Late, words));
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
