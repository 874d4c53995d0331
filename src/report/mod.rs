//! Turns records and games into text, tables and pages. The caller passes the writers: nothing here
//! prints.
//!
//! - [`terminal`]: boards and tables
//! - [`terminal_view`]: a match or a replay, turn by turn
//! - [`tournament_summary`]: the summary of a tournament
//! - [`standings`]: tables of results
//! - [`checks`]: a table of check-ups
//! - [`comparison`]: two versions of a bot compared
//! - [`grades`]: grades as files; [`own`]: what a bot's author may see
//! - [`html`]: the HTML report
//! - [`serve`]: that page, served while games are played
//! - [`picture`]: positions and games as SVG
//! - [`accuracy`]: the analysis of games and bots

pub mod accuracy;
mod bracket;
pub mod checks;
pub mod comparison;
pub mod grades;
pub mod html;
pub mod league;
pub(crate) mod markup;
pub mod own;
pub mod picture;
pub mod serve;
pub mod standings;
pub mod terminal;
pub mod terminal_view;
pub mod tournament_summary;
