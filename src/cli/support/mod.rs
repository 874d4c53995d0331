//! Shared by several commands: options, files, signals, the terminal.

pub(crate) mod building;
pub(crate) mod config;
pub(crate) mod console;
pub(crate) mod destination;
pub(crate) mod failure;
pub(crate) mod folder;
pub(crate) mod games;
pub(crate) mod logging;
pub(crate) mod output;
pub(crate) mod pages;
pub(crate) mod recorded;
pub(crate) mod runtime;
pub(crate) mod sandbox;
pub(crate) mod setup;
pub(crate) mod signals;
#[cfg(unix)]
pub(crate) mod suspension;
pub(crate) mod values;
