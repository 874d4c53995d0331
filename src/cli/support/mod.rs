//! Shared by several commands: options, files, signals, the terminal.

pub(in crate::cli) mod config;
pub(in crate::cli) mod console;
pub(in crate::cli) mod failure;
pub(in crate::cli) mod folder;
pub(in crate::cli) mod games;
pub(in crate::cli) mod logging;
pub(in crate::cli) mod output;
pub(in crate::cli) mod pages;
pub(in crate::cli) mod recorded;
pub(in crate::cli) mod records;
pub(in crate::cli) mod runtime;
pub(in crate::cli) mod sandbox;
pub(in crate::cli) mod setup;
pub(in crate::cli) mod signals;
pub(in crate::cli) mod solver_args;
pub(in crate::cli) mod values;
