//! What nearly every command uses.

pub(crate) use std::io::Write as _;

pub(crate) use super::failure::{Failure, bail, usage};
pub(crate) use super::output::{Stdout, note, print_stderr};
pub(crate) use super::setup::{palette, unreadable, unwritable};
pub(crate) use referee::text::{counted, escape_controls, join_parts, quote};
