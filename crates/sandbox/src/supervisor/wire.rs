//! Descriptors sent over a socket.

use std::io::{self, IoSlice, IoSliceMut, Write as _};
use std::mem::MaybeUninit;
use std::os::fd::{BorrowedFd, OwnedFd};
use std::os::unix::net::UnixStream;

use rustix::io::Errno;
use rustix::net::{
    RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer,
    SendAncillaryMessage, SendFlags, recvmsg, sendmsg,
};

/// The most descriptors sent at a time.
const MOST: usize = 5;

/// Sends descriptors with some bytes: a mark when there are none.
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
    let bytes = if bytes.is_empty() { b"." } else { bytes };
    let slices = [IoSlice::new(bytes)];
    let sent = sendmsg(socket, &slices, &mut ancillary, SendFlags::NOSIGNAL)?;
    (&*socket).write_all(&bytes[sent..])
}

/// Reads until the stream ends or `enough` is read, at most about `most` bytes: the bytes, and the
/// descriptors sent with them.
pub(super) fn receive(
    socket: &UnixStream,
    most: usize,
    enough: impl Fn(&[u8]) -> bool,
) -> io::Result<(Vec<u8>, Vec<OwnedFd>)> {
    let mut bytes = Vec::new();
    let mut descriptors = Vec::new();
    // Most messages are shorter. More would touch memory in vain, in the fork server and its fork.
    let mut buffer = [0; 1 << 12];
    while !enough(&bytes) && bytes.len() <= most {
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(MOST))];
        let mut ancillary = RecvAncillaryBuffer::new(&mut space);
        let received = match recvmsg(
            socket,
            &mut [IoSliceMut::new(&mut buffer)],
            &mut ancillary,
            RecvFlags::CMSG_CLOEXEC,
        ) {
            Err(Errno::INTR) => continue,
            // The socket has a receive timeout.
            Err(Errno::AGAIN) => return Err(io::ErrorKind::TimedOut.into()),
            received => received?,
        };
        for message in ancillary.drain() {
            if let RecvAncillaryMessage::ScmRights(received) = message {
                descriptors.extend(received);
            }
        }
        if received.bytes == 0 {
            break;
        }
        bytes.extend_from_slice(&buffer[..received.bytes]);
    }
    Ok((bytes, descriptors))
}
