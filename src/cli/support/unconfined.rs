//! The warning to root about bots without a sandbox.

use super::output::print_stderr;
use crate::bot::spec::Program;
use crate::sandbox::Confinement;
use crate::system::is_root;

/// Warns when root runs programs of others without a sandbox. Built-in bots are this program itself.
pub(in crate::cli) fn warn_root<'a>(mut programs: impl Iterator<Item = &'a Program>) {
    let is_unconfined = |program: &Program| {
        let files = program.confinement.as_ref().and_then(Confinement::hash);
        files.is_none() && program.builtin().is_none()
    };
    if is_root() && programs.any(is_unconfined) {
        print_stderr(
            "referee: WARNING: you are root, and bots run without a sandbox: they can do ANYTHING to this \
             machine; use --sandbox auto, or run the referee as another user",
        );
    }
}
