//! With which files the bots of a tournament entered and its game was played, and what has become of them when it is
//! resumed.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::io;
use std::path::PathBuf;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::directory::TournamentDirectory;
use super::entrants::Entrant;
use super::error::TournamentError;
use super::plan::Plan;
use referee_match::record::text_file::{self, if_there};
use referee_sandbox::snapshot::{FileChanges, FileList, RunOutputs, listed};
use referee_text::escape;

/// In a tournament's folder.
const FILE: &str = "files.json";

/// The files of each bot, by its name: those with which it entered, or those that were accepted later.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct KnownFiles {
    bots: BTreeMap<String, FileList>,
    /// The hash of the game's program, if another than the plan's was accepted.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    game_program: Option<String>,
}

/// What is known of bots' folders when their files are looked for.
#[derive(Clone, Debug, Default)]
pub struct FolderContext {
    /// By the bot's name.
    pub known: BTreeMap<String, Arc<FileList>>,
    /// Files to which this run writes.
    pub outputs: RunOutputs,
}

/// A bot whose files are not those that are known.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ChangedBot {
    pub name: String,
    pub folder: Option<PathBuf>,
    /// `None`: no list of its files was kept.
    pub changes: Option<FileChanges>,
}

impl ChangedBot {
    pub fn sentence(&self) -> String {
        let name = &self.name;
        let changes = self.changes.as_ref().map(ToString::to_string);
        // A built-in bot has no files.
        let Some(changes) = changes.filter(|changes| !changes.is_empty()) else {
            return format!(
                "{name} has been changed: its files are not those with which the tournament began"
            );
        };
        let mut text = format!("{name} has been changed: ");
        if let Some(folder) = &self.folder {
            let folder = escape(folder.as_os_str().as_encoded_bytes());
            let _ = write!(text, "in {folder} ");
        }
        text + &changes
    }
}

/// What [`KnownFiles::settle`] found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Settled {
    /// Not accepted.
    pub changed: Vec<ChangedBot>,
    /// Whether the game's program is another one, which was not accepted.
    pub is_other_game: bool,
    /// For people.
    pub notes: Vec<String>,
    /// Whether the lists are other ones now, which have to be written.
    pub has_accepted: bool,
}

impl KnownFiles {
    pub fn of(entrants: &[Entrant]) -> Self {
        let of = |entrant: &Entrant| (entrant.plan.name.clone(), entrant.found.list.clone());
        Self {
            bots: entrants.iter().map(of).collect(),
            game_program: None,
        }
    }

    /// Empty where there is none: it can be made again by deleting it.
    pub fn read(directory: &TournamentDirectory) -> Result<Self, TournamentError> {
        let path = directory.path().join(FILE);
        let text = if_there(text_file::read(&path, text_file::KEPT));
        let Some(text) = text.map_err(TournamentError::io(&path))? else {
            return Ok(Self::default());
        };
        serde_json::from_str(&text).map_err(|error| TournamentError::BotFiles { path, error })
    }

    pub fn write(&self, directory: &TournamentDirectory) -> Result<(), TournamentError> {
        let mut text = serde_json::to_string(self).map_err(io::Error::from)?;
        text.push('\n');
        directory.write(FILE, &text)
    }

    /// For [`entrants::find`](super::entrants::find).
    pub fn context(self, outputs: RunOutputs) -> FolderContext {
        let shared = |(name, list)| (name, Arc::new(list));
        FolderContext {
            known: self.bots.into_iter().map(shared).collect(),
            outputs,
        }
    }

    /// Compares the files of entrants with the known ones. Where they are the same, or are accepted, the entrant counts
    /// as the one of the plan.
    pub fn settle(&mut self, old: &Plan, entrants: &mut [Entrant], accept: bool) -> Settled {
        let mut settled = Settled::default();
        for entrant in entrants {
            let name = entrant.plan.name.clone();
            let Some(planned) = old.bots.iter().find(|bot| bot.name == name) else {
                continue;
            };
            let known = self.bots.get(&name);
            let found = &entrant.found;
            let is_same = match known {
                Some(known) => found.is_as_known(known) || found.list.hash == known.hash,
                None => entrant.plan.hash == planned.hash,
            };
            let mut hash = known.map_or(found.list.hash, |known| known.hash);
            if is_same {
                settled.notes.extend(not_counted(entrant));
            } else {
                let changes = known.map(|known| match &found.changes {
                    Some(changes) => changes.clone(),
                    None => known.changes(&found.list, |_| false),
                });
                let bot = ChangedBot {
                    name: name.clone(),
                    folder: entrant.files.directory().map(Into::into),
                    changes,
                };
                if !accept {
                    settled.changed.push(bot);
                    continue;
                }
                let sentence = bot.sentence();
                settled.notes.push(format!(
                    "{sentence}; accepted: its next games are by these files"
                ));
                settled.has_accepted = true;
                hash = found.list.hash;
                self.bots.insert(name, found.list.clone());
            }
            entrant.changed = Some(hash).filter(|hash| hash.to_string() != planned.hash);
            entrant.plan.hash.clone_from(&planned.hash);
        }
        settled
    }

    /// Compares the program of the game with the known one. Where it is the same, or is accepted, it counts as the one of
    /// the old plan.
    pub fn settle_game(&mut self, old: &Plan, now: &mut Plan, accept: bool, settled: &mut Settled) {
        let (Some(old), Some(now)) = (&old.game_program, &mut now.game_program) else {
            return;
        };
        let known = self.game_program.as_ref().unwrap_or(&old.hash);
        if now.hash != *known {
            if !accept {
                settled.is_other_game = true;
                return;
            }
            settled.notes.push(
                "the game's program has been changed; accepted: the next games are by it as it is now"
                    .to_owned(),
            );
            settled.has_accepted = true;
            self.game_program = Some(now.hash.clone());
        }
        let changed = (now.hash != old.hash).then(|| now.hash.clone());
        (now.changed, now.hash) = (changed, old.hash.clone());
    }
}

/// Files that are there and do not count, as far as people may be surprised.
fn not_counted(entrant: &Entrant) -> Option<String> {
    let changes = entrant.found.changes.as_ref()?;
    let name = &entrant.plan.name;
    let copied = entrant.program.confinement.as_ref();
    let is_copied = copied.is_some_and(|copied| copied.files().is_some());
    let mut parts = Vec::new();
    if !changes.new.is_empty() {
        let how = if is_copied {
            "not given to it"
        } else {
            "not counted"
        };
        parts.push(format!(
            "new in its folder, and {how} without --accept-changes: {}",
            listed(&changes.new)
        ));
    }
    if !changes.left_out.is_empty() {
        parts.push(format!("no longer counted: {}", listed(&changes.left_out)));
    }
    (!parts.is_empty()).then(|| format!("{name}: {}", parts.join("; ")))
}
