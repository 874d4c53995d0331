//! The commands, one file each.

pub(in crate::cli) mod alike;
pub(in crate::cli) mod analyse;
pub(in crate::cli) mod board;
pub(in crate::cli) mod bot;
pub(in crate::cli) mod check;
pub(in crate::cli) mod check_game;
pub(in crate::cli) mod compare;
pub(in crate::cli) mod debug;
pub(in crate::cli) mod doctor;
pub(in crate::cli) mod grade;
pub(in crate::cli) mod hunt;
pub(in crate::cli) mod league;
pub(in crate::cli) mod matches;
pub(in crate::cli) mod new;
pub(in crate::cli) mod puzzles;
pub(in crate::cli) mod replay;
pub(in crate::cli) mod report;
pub(in crate::cli) mod rerun;
pub(in crate::cli) mod schema;
pub(in crate::cli) mod shell;
pub(in crate::cli) mod simulate;
pub(in crate::cli) mod solve;
pub(in crate::cli) mod standings;
pub(in crate::cli) mod tournament;
