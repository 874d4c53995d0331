//! Programs taken into a sandbox: what the sandbox needs to know of one, and what it gives back.

use std::path::{Path, PathBuf};

use super::spec::Program;
use crate::executable::CannotStart;
use crate::sandbox::snapshot::{BotFiles, own_program};
use crate::sandbox::{BotCommand, Confinement, Sandbox};

impl Program {
    /// What the sandbox needs to know of it.
    pub fn sandbox_command(&self) -> BotCommand<'_> {
        BotCommand {
            name: &self.name,
            argv: &self.argv,
            builtin: self.builtin(),
            directory: self.directory.as_deref(),
            starts: &[],
        }
    }

    /// Whether it has a control group that bounds its memory.
    pub fn has_memory_group(&self) -> bool {
        let confinement = self.confinement.as_ref();
        confinement.is_some_and(Confinement::has_memory_group)
    }

    /// The file that is its program or script; `None` for built-in bots and programs of the system.
    pub fn own_file(&self) -> Option<PathBuf> {
        own_program(&self.argv).filter(|_| self.builtin().is_none())
    }

    /// Its own files, when `others` are the other entrants, of which it may see nothing.
    pub fn files(&self, others: &[&Self]) -> Result<BotFiles, CannotStart> {
        BotFiles::of(self.sandbox_command(), &commands(others))
    }

    /// Takes it into a sandbox, in which it can see nothing of `others`. Whatever would keep it from
    /// starting there is reported now.
    pub fn confine(self, sandbox: &Sandbox, others: &[&Self]) -> Result<Self, CannotStart> {
        let confinement = sandbox.confine(self.sandbox_command(), &commands(others))?;
        Ok(Self {
            confinement,
            ..self
        })
    }

    /// As [`Program::confine`], for a bot that a person has named, by its file or by a link to it: a link
    /// stands for the file that it leads to, wherever that is.
    pub fn confine_as_named(
        self,
        sandbox: &Sandbox,
        others: &[&Self],
    ) -> Result<Self, CannotStart> {
        let named = Self {
            argv: behind_link(&self.argv),
            ..self.clone()
        };
        let confined = named.confine(sandbox, others)?;
        Ok(Self {
            argv: self.argv,
            ..confined
        })
    }
}

/// A command in which a link that leads to the bot's own file from elsewhere is replaced by that file.
fn behind_link(argv: &[String]) -> Vec<String> {
    let own = own_program(argv).filter(|own| own.is_symlink());
    let followed = own.and_then(|own| {
        let end = own.canonicalize().ok()?;
        let directory = own.parent()?.canonicalize().ok()?;
        let leaves = end.is_file() && !end.starts_with(directory);
        leaves.then(|| Some((own, end.to_str()?.to_owned())))?
    });
    let replaced = |word: &String| match &followed {
        Some((own, end)) if Path::new(word) == own => end.clone(),
        _ => word.clone(),
    };
    argv.iter().map(replaced).collect()
}

fn commands<'a>(programs: &[&'a Program]) -> Vec<BotCommand<'a>> {
    programs
        .iter()
        .map(|program| program.sandbox_command())
        .collect()
}
