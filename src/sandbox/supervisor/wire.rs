//! Descriptors sent over a socket.

use std::io::{self, IoSlice, IoSliceMut, Write as _};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd as _, OwnedFd};
use std::os::unix::net::UnixStream;

use rustix::net::{
    RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer,
    SendAncillaryMessage, SendFlags, recvmsg, sendmsg,
};

/// Sends a descriptor, and with it some bytes: a mark when there are none.
pub(super) fn send_descriptor(
    socket: &UnixStream,
    bytes: &[u8],
    descriptor: &OwnedFd,
) -> io::Result<()> {
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
    let mut ancillary = SendAncillaryBuffer::new(&mut space);
    let descriptors = [descriptor.as_fd()];
    ancillary.push(SendAncillaryMessage::ScmRights(&descriptors));
    let bytes = if bytes.is_empty() { b"." } else { bytes };
    let slices = [IoSlice::new(bytes)];
    let sent = sendmsg(socket, &slices, &mut ancillary, SendFlags::NOSIGNAL)?;
    (&*socket).write_all(&bytes[sent..])
}

/// Reads until the stream ends or `enough` is read, at most about `most` bytes: the bytes, and the
/// descriptor that was sent with them.
pub(super) fn receive(
    socket: &UnixStream,
    most: usize,
    enough: impl Fn(&[u8]) -> bool,
) -> io::Result<(Vec<u8>, Option<OwnedFd>)> {
    let mut bytes = Vec::new();
    let mut descriptor = None;
    let mut buffer = vec![0; 1 << 16];
    while !enough(&bytes) && bytes.len() <= most {
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
        let mut ancillary = RecvAncillaryBuffer::new(&mut space);
        let received = recvmsg(
            socket,
            &mut [IoSliceMut::new(&mut buffer)],
            &mut ancillary,
            RecvFlags::CMSG_CLOEXEC,
        )?;
        for message in ancillary.drain() {
            if let RecvAncillaryMessage::ScmRights(mut descriptors) = message {
                descriptor = descriptors.next().or(descriptor);
            }
        }
        if received.bytes == 0 {
            break;
        }
        bytes.extend_from_slice(&buffer[..received.bytes]);
    }
    Ok((bytes, descriptor))
}
