//! Records and games in, text out. The writers come from above: nothing here prints by itself.
//!
//! - [`terminal`]: how a board looks
//! - [`live`]: a match or a replay as it goes on
//! - [`standings`]: tables of results

pub mod live;
pub mod standings;
pub mod terminal;
