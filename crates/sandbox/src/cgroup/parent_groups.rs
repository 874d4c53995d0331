//! The groups in which those of bots are made.

use serde::{Deserialize, Serialize};

use super::controller::{GroupController, GroupVersion};
use super::group::ControlGroup;

/// Where groups can be made, and for which controllers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct ParentGroup {
    pub(super) group: ControlGroup,
    pub(super) controllers: Vec<GroupController>,
}

#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ParentGroups(pub(super) Vec<ParentGroup>);

impl ParentGroups {
    pub(super) fn add(&mut self, parent: ParentGroup) {
        let same = |known: &&mut ParentGroup| known.group == parent.group;
        match self.0.iter_mut().find(same) {
            Some(known) => known.controllers.extend(parent.controllers),
            None => self.0.push(parent),
        }
    }

    /// The version of the interface for a controller, for people: `v2`. `None` when it cannot be
    /// used.
    pub fn version(&self, controller: GroupController) -> Option<&'static str> {
        let parent = self
            .0
            .iter()
            .find(|parent| parent.controllers.contains(&controller))?;
        Some(match parent.group.version {
            GroupVersion::One => "v1",
            GroupVersion::Two => "v2",
        })
    }

    pub const fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_directory_for_several_controllers() {
        let place = |directory: &str, version, controller| ParentGroup {
            group: ControlGroup {
                directory: directory.into(),
                version,
            },
            controllers: vec![controller],
        };
        let mut parents = ParentGroups::default();
        assert!(parents.is_empty());
        parents.add(place("/a", GroupVersion::Two, GroupController::Memory));
        parents.add(place("/b", GroupVersion::One, GroupController::Cpu));
        parents.add(place("/a", GroupVersion::Two, GroupController::Pids));
        assert_eq!(parents.0.len(), 2);
        assert_eq!(parents.version(GroupController::Pids), Some("v2"));
        assert_eq!(parents.version(GroupController::Cpu), Some("v1"));
        assert_eq!(parents.version(GroupController::Freezer), None);
    }
}
