//! Landlock: the files, sockets and processes that a process and its descendants can reach.

use std::error::Error;
use std::io;
use std::path::Path;

use landlock::{
    ABI, Access as _, AccessFs, AccessNet, BitFlags, CompatLevel, Compatible as _, PathBeneath,
    PathFd, Ruleset, RulesetAttr as _, RulesetCreated, RulesetCreatedAttr as _, RulesetStatus,
    Scope,
};

use rustix::fs::{FileType, fstat};

use super::DEVICES;
use crate::trouble::{SandboxTrouble, described, troubled};

/// Signals stay inside since Linux 6.12.
const NEEDED: ABI = ABI::V6;

const NO_LANDLOCK: &str = "this kernel has no Landlock, or one of before Linux 6.12";

fn failed(error: impl Error + 'static) -> io::Error {
    described(format!("Landlock: {error}"), None, &error)
}

/// Rules for a bot that may read and run these paths and write into `scratch`: `own_file_system`
/// when that has a fixed size.
pub(crate) fn ruleset(
    read: &[impl AsRef<Path>],
    scratch: &Path,
    own_file_system: bool,
) -> io::Result<RulesetCreated> {
    let read_only: BitFlags<AccessFs> = AccessFs::Execute | AccessFs::ReadFile | AccessFs::ReadDir;
    let file = AccessFs::Execute | AccessFs::ReadFile;
    let mut private = AccessFs::ReadFile
        | AccessFs::ReadDir
        | AccessFs::WriteFile
        | AccessFs::Truncate
        | AccessFs::MakeReg
        | AccessFs::MakeDir
        | AccessFs::MakeSym;
    if own_file_system {
        // Elsewhere nothing would count a file that is removed but open.
        private |= AccessFs::RemoveFile | AccessFs::RemoveDir | AccessFs::Refer;
    }
    let mut ruleset = Ruleset::default()
        .set_compatibility(CompatLevel::HardRequirement)
        .handle_access(AccessFs::from_all(NEEDED))
        .and_then(|ruleset| ruleset.handle_access(AccessNet::from_all(NEEDED)))
        .and_then(|ruleset| ruleset.scope(Scope::from_all(NEEDED)))
        // The crate's message is only the missing bits.
        .map_err(|_| troubled(SandboxTrouble::NoLandlock, NO_LANDLOCK))?
        .create()
        .map_err(failed)?;
    let mut open = |path: &Path, access: BitFlags<AccessFs>| {
        let Ok(opened) = PathFd::new(path) else {
            // Not every system has all of them.
            return Ok(());
        };
        let found = fstat(&opened);
        let is_directory = found.is_ok_and(|stat| FileType::from_raw_mode(stat.st_mode).is_dir());
        let access = if access == read_only && !is_directory {
            file
        } else {
            access
        };
        (&mut ruleset)
            .add_rule(PathBeneath::new(opened, access))
            .map(|_| ())
            .map_err(failed)
    };
    for path in read {
        open(path.as_ref(), read_only)?;
    }
    open(Path::new("/proc"), AccessFs::ReadFile | AccessFs::ReadDir)?;
    for device in DEVICES {
        open(Path::new(device), AccessFs::ReadFile | AccessFs::WriteFile)?;
    }
    open(scratch, private)?;
    Ok(ruleset)
}

/// An error when this kernel would not enforce all of the rules.
pub(crate) fn restrict_self(ruleset: RulesetCreated) -> io::Result<()> {
    let status = ruleset.restrict_self().map_err(failed)?;
    if status.ruleset == RulesetStatus::FullyEnforced && status.no_new_privs {
        Ok(())
    } else {
        Err(io::Error::other("Landlock is not fully in force"))
    }
}
