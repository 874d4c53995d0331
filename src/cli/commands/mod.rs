//! The commands, one file each.

pub(crate) mod alike;
pub(crate) mod analyse;
pub(crate) mod board;
pub(crate) mod bot;
pub(crate) mod check;
pub(crate) mod check_game;
pub(crate) mod compare;
pub(crate) mod debug;
pub(crate) mod doctor;
pub(crate) mod grade;
pub(crate) mod hunt;
pub(crate) mod league;
pub(crate) mod matches;
pub(crate) mod new;
pub(crate) mod print;
pub(crate) mod puzzles;
pub(crate) mod replay;
pub(crate) mod report;
pub(crate) mod rerun;
pub(crate) mod simulate;
pub(crate) mod solve;
pub(crate) mod standings;
pub(crate) mod tournament;
