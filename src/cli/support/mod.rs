//! Shared by several commands: options, files, signals, the terminal.

pub(in crate::cli) mod after;
pub(in crate::cli) mod asked_bot;
pub(in crate::cli) mod clock;
pub(in crate::cli) mod config;
pub(in crate::cli) mod console;
pub(in crate::cli) mod duration;
pub(in crate::cli) mod failure;
pub(in crate::cli) mod folder;
pub(in crate::cli) mod frame;
pub(in crate::cli) mod games;
pub(in crate::cli) mod interrupt;
pub(in crate::cli) mod interruptible;
pub(in crate::cli) mod league_news;
pub(in crate::cli) mod leftovers;
pub(in crate::cli) mod live;
pub(in crate::cli) mod log_file;
pub(in crate::cli) mod logging;
pub(in crate::cli) mod numbers;
pub(in crate::cli) mod options;
pub(in crate::cli) mod output;
pub(in crate::cli) mod own_pages;
pub(in crate::cli) mod page_target;
pub(in crate::cli) mod pages;
pub(in crate::cli) mod pieces_file;
pub(in crate::cli) mod recorded;
pub(in crate::cli) mod recorded_game;
pub(in crate::cli) mod records;
pub(in crate::cli) mod retired;
pub(in crate::cli) mod runtime;
pub(in crate::cli) mod sandbox;
pub(in crate::cli) mod setup;
pub(in crate::cli) mod signals;
pub(in crate::cli) mod size;
pub(in crate::cli) mod solver_args;
#[cfg(unix)]
pub(in crate::cli) mod suspension;
#[cfg(not(unix))]
#[path = "no_suspension.rs"]
pub(in crate::cli) mod suspension;
pub(in crate::cli) mod time;
pub(in crate::cli) mod unconfined;
pub(in crate::cli) mod variable;
