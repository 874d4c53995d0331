//! Streams and pipes on Linux, macOS and the BSDs.

mod pipe;
mod stream;

pub(in crate::cli) use self::pipe::Pipe;
pub(super) use self::stream::{Streams, WriteError, write_at_once, write_some};
