//! The ways to build a sandbox.

pub(super) mod bubblewrap;
