//! Positions with a question: what is right there is proven, and a bot's answers can be counted.

pub mod file;
pub mod making;
pub mod puzzle;
pub mod score;
