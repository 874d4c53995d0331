//! Programs in a sandbox.

use std::path::PathBuf;

use super::spec::Program;
use crate::executable::CannotStart;
use crate::sandbox::snapshot::{BotFiles, own_program};
use crate::sandbox::{BotCommand, Confinement, Sandbox};

impl Program {
    pub fn sandbox_command(&self) -> BotCommand<'_> {
        BotCommand {
            name: &self.name,
            argv: &self.argv,
            builtin: self.builtin(),
            directory: self.directory.as_deref(),
            starts: &[],
        }
    }

    /// Whether a control group bounds its memory.
    pub fn has_memory_group(&self) -> bool {
        let confinement = self.confinement.as_ref();
        confinement.is_some_and(Confinement::has_memory_group)
    }

    /// Its program or script; `None` for built-in bots and programs of the system.
    pub fn own_file(&self) -> Option<PathBuf> {
        own_program(&self.argv).filter(|_| self.builtin().is_none())
    }

    /// Its own files; `others` are the other entrants, of which it may see nothing.
    pub fn files(&self, others: &[&Self]) -> Result<BotFiles, CannotStart> {
        BotFiles::of(self.sandbox_command(), &commands(others))
    }

    /// Takes it into a sandbox in which it sees nothing of `others`. Reports now what would keep it
    /// from starting.
    pub fn confine(self, sandbox: &Sandbox, others: &[&Self]) -> Result<Self, CannotStart> {
        let confinement = sandbox.confine(self.sandbox_command(), &commands(others))?;
        Ok(Self {
            confinement,
            ..self
        })
    }
}

fn commands<'a>(programs: &[&'a Program]) -> Vec<BotCommand<'a>> {
    programs
        .iter()
        .map(|program| program.sandbox_command())
        .collect()
}
