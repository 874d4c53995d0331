//! Positions with a question: what is right there is proven, and a bot's answers can be counted.
//!
//! - [`puzzle`]: a puzzle, its kind and its difficulty, and the line of a file that it is
//! - [`file`](mod@file): files of puzzles, and those that are shipped
//! - [`making`]: from the mistakes in recorded games to puzzles
//! - [`choice`]: some of many, spread over kinds and levels
//! - [`score`]: how many a bot solves

pub mod choice;
pub mod file;
pub mod making;
pub mod puzzle;
pub mod score;
