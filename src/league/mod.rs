//! A league: submissions come in again and again, and only games that are new are played.
//!
//! The folder of a league is the folder of a tournament (`plan.json`, `games.jsonl`, tables) in which the newest
//! fit version of every bot meets every other. When versions change, a new plan is made, and the games of
//! versions that are still there are taken over from the [`archive`]: what is missing is then played as the rest of a
//! tournament that was interrupted. So the result is the same as if all pairings had been played at once.
//!
//! - [`intake`]: from what a teacher has (folders, archives) to submissions
//! - [`build`]: programs of sources
//! - [`state`], [`versions`]: which versions of which bots there are, and what is known of them
//! - [`archive`]: all games of all versions
//! - [`grading`]: grades by reference bots
//! - [`season`]: the folder, from one plan to the next

pub mod archive;
pub mod build;
pub mod grading;
pub mod intake;
pub mod news;
pub mod season;
pub mod state;
pub mod versions;
