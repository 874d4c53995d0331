//! Records and games in, text out. The writers come from above: nothing here prints by itself.
//!
//! - [`terminal`]: boards and tables
//! - [`terminal_view`]: a match or a replay as it goes on
//! - [`tournament_summary`]: what people read when a tournament ends
//! - [`standings`]: tables of results
//! - [`html`]: a page with all of it
//! - [`serve`]: that page, served while games go on
//! - [`accuracy`]: what analysis says of games and bots

pub mod accuracy;
pub mod html;
pub mod serve;
pub mod standings;
pub mod terminal;
pub mod terminal_view;
pub mod tournament_summary;
