//! Control groups: what the kernel bounds and stops for all processes of a bot together. The bot's
//! supervisor makes, reads and removes its groups.
//!
//! v2 has one hierarchy; v1 has one for each controller, and some systems have both, so each
//! controller is looked up separately. A group is made beside the referee's own (systemd's user
//! sessions allow no group with both processes and child groups) or below it. Nothing is assumed:
//! the sandbox's probe exceeds the memory bound in such groups and must be killed for it.

mod bot_groups;
mod controller;
mod group;
mod hierarchy;
mod parent_groups;
mod search;

pub(super) use self::bot_groups::{BotGroups, GroupMembership};
pub use self::controller::{GroupAllowance, GroupController};
pub use self::group::{ControlGroup, GroupMemory, OpenAccount, OpenMemory};
pub use self::hierarchy::levels_of_this_process;
pub use self::parent_groups::ParentGroups;
pub use self::search::find_parent_groups;
