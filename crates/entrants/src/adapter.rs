//! Agents that were written for another protocol, and the bots that are made of them: a folder with the agent and a
//! program in Python that speaks for it.

use std::fs::{self, OpenOptions};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use crate::folder::{MANIFEST, entries, is_program};
use referee_host::system::create_executable;
use referee_text::cause;

/// What lets programs for another protocol play.
#[derive(Debug)]
pub struct Adapter {
    pub name: &'static str,
    /// The agents that it takes.
    pub about: &'static str,
    /// The game that its agents play, as `--game` names it, where this program has that game.
    pub game: Option<&'static str>,
    /// The bot's program.
    text: &'static str,
    /// What an agent that is a file is called beside the program; without it, the file keeps its name in the folder
    /// `agent`.
    file: Option<&'static str>,
    is_agent: fn(&Path) -> bool,
}

/// All of them.
pub const ADAPTERS: &[Adapter] = &[
    Adapter {
        name: "kaggle-connectx",
        about: "Agents of Kaggle's ConnectX: a Python file, or a folder with a main.py",
        game: Some("four-in-a-row"),
        text: include_str!("../../../players/adapters/kaggle_connectx.py"),
        file: Some("agent.py"),
        is_agent: |path| {
            path.extension().is_some_and(|end| end == "py") || path.join("main.py").is_file()
        },
    },
    Adapter {
        name: "gomocup",
        about: "Brains of Gomocup: a program, or a folder with one",
        game: None,
        text: include_str!("../../../players/adapters/gomocup.py"),
        file: None,
        is_agent: is_program_or_folder,
    },
    Adapter {
        name: "uci",
        about: "Engines that speak UCI, for a game of the same positions: a program, or a folder with one",
        game: None,
        text: include_str!("../../../players/adapters/uci.py"),
        file: None,
        is_agent: is_program_or_folder,
    },
];

fn is_program_or_folder(path: &Path) -> bool {
    path.is_dir() || is_program(path)
}

/// Why no bot can be made.
#[derive(Debug, thiserror::Error)]
pub enum AdapterError {
    #[error("{}: there is no such file; check the spelling and the directory", .0.display())]
    Missing(PathBuf),
    #[error("{}: it is not an agent; expected: {about}", .path.display())]
    NotAnAgent { path: PathBuf, about: &'static str },
    #[error("{}: there are no agents in it; expected: {about}", .path.display())]
    NoAgents { path: PathBuf, about: &'static str },
    /// An older bot, or another agent of the same name.
    #[error("{}: it is there already; remove it, rename the agent, or choose another folder", .0.display())]
    Exists(PathBuf),
    #[error("{}: {}", .0.display(), cause(.1))]
    Io(PathBuf, #[source] io::Error),
}

impl Adapter {
    /// A bot for each agent that a path is or holds, in `out`; the folders of the bots.
    pub fn adapt(&self, path: &Path, out: &Path) -> Result<Vec<PathBuf>, AdapterError> {
        let agents = self.agents_at(path)?;
        agents.iter().map(|agent| self.write(agent, out)).collect()
    }

    /// The agent that a path is, or those in it.
    fn agents_at(&self, path: &Path) -> Result<Vec<PathBuf>, AdapterError> {
        let (place, about) = (path.to_owned(), self.about);
        if !path.exists() {
            return Err(AdapterError::Missing(place));
        }
        let is_folder = path.is_dir();
        if !is_folder || self.file.is_some() && (self.is_agent)(path) {
            return if (self.is_agent)(path) {
                Ok(vec![place])
            } else {
                Err(AdapterError::NotAnAgent { path: place, about })
            };
        }
        let found = entries(path).map_err(|error| AdapterError::Io(place.clone(), error))?;
        let found: Vec<_> = found.into_iter().filter(|at| (self.is_agent)(at)).collect();
        if found.is_empty() {
            return Err(AdapterError::NoAgents { path: place, about });
        }
        Ok(found)
    }

    /// Returns the bot's folder, called by the agent's name.
    fn write(&self, agent: &Path, out: &Path) -> Result<PathBuf, AdapterError> {
        let whole = agent.canonicalize();
        let agent = whole.map_err(|error| AdapterError::Io(agent.to_owned(), error))?;
        let bot = out.join(agent.file_stem().unwrap_or_default());
        if bot.exists() {
            return Err(AdapterError::Exists(bot));
        }
        match self.write_files(&agent, &bot) {
            Ok(()) => Ok(bot),
            Err(error) => Err(AdapterError::Io(bot, error)),
        }
    }

    fn write_files(&self, agent: &Path, bot: &Path) -> io::Result<()> {
        fs::create_dir_all(bot)?;
        let mut options = OpenOptions::new();
        create_executable(options.write(true).create_new(true), true);
        let mut program = options.open(bot.join("bot.py"))?;
        program.write_all(self.text.as_bytes())?;
        fs::write(bot.join(MANIFEST), "program = \"bot.py\"\n")?;
        let folder = bot.join("agent");
        if agent.is_dir() {
            return copy(agent, &folder);
        }
        let file = if let Some(file) = self.file {
            bot.join(file)
        } else {
            fs::create_dir(&folder)?;
            folder.join(agent.file_name().unwrap_or_default())
        };
        fs::copy(agent, file).map(|_| ())
    }
}

/// A folder with all that is in it. What is neither a file nor a folder is left out, so is what a link leads to.
fn copy(from: &Path, to: &Path) -> io::Result<()> {
    fs::create_dir(to)?;
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        let (kind, target) = (entry.file_type()?, to.join(entry.file_name()));
        if kind.is_dir() {
            copy(&entry.path(), &target)?;
        } else if kind.is_file() {
            fs::copy(entry.path(), &target)?;
        }
    }
    Ok(())
}
