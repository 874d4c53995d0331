//! Starters of several files: a folder with what reads and answers, what the bot plays, its build file and a README.

use std::fs;
use std::io::Write as _;
use std::path::Path;

use super::{shown, write_new};
use crate::cli::support::failure::{Result, bail};
use crate::cli::support::output::Stdout;
use crate::cli::support::setup::unwritable;

pub(super) struct FolderStarter {
    pub(super) language: &'static str,
    /// The extension of its files, by which the language is known, too.
    pub(super) extension: &'static str,
    /// What its author changes.
    strategy: &'static str,
    /// Paths and texts.
    files: &'static [(&'static str, &'static str)],
}

macro_rules! file {
    ($folder:literal, $path:literal) => {
        file!($folder, $path, $path)
    };
    // A package of its own would be left out of this one's.
    ($folder:literal, $path:literal, $source:literal) => {
        (
            $path,
            include_str!(concat!(
                "../../../../players/folders/",
                $folder,
                "/",
                $source
            )),
        )
    };
}

const README: &str = include_str!("../../../../players/folders/README.md");

pub(super) const FOLDERS: &[FolderStarter] = &[
    FolderStarter {
        language: "c",
        extension: "c",
        strategy: "strategy.c",
        files: &[
            file!("c", "bot.c"),
            file!("c", "strategy.c"),
            file!("c", "strategy.h"),
            file!("c", "Makefile"),
        ],
    },
    FolderStarter {
        language: "c++",
        extension: "cpp",
        strategy: "strategy.cpp",
        files: &[
            file!("c++", "bot.cpp"),
            file!("c++", "strategy.cpp"),
            file!("c++", "strategy.hpp"),
            file!("c++", "Makefile"),
        ],
    },
    FolderStarter {
        language: "go",
        extension: "go",
        strategy: "strategy.go",
        files: &[
            file!("go", "main.go"),
            file!("go", "strategy.go"),
            file!("go", "go.mod"),
        ],
    },
    FolderStarter {
        language: "java",
        extension: "java",
        strategy: "Strategy.java",
        files: &[
            file!("java", "Bot.java"),
            file!("java", "Strategy.java"),
            file!("java", "referee.toml"),
        ],
    },
    FolderStarter {
        language: "javascript",
        extension: "js",
        strategy: "strategy.js",
        files: &[
            file!("javascript", "bot.js"),
            file!("javascript", "strategy.js"),
            file!("javascript", "referee.toml"),
        ],
    },
    FolderStarter {
        language: "python",
        extension: "py",
        strategy: "strategy.py",
        files: &[
            file!("python", "bot.py"),
            file!("python", "strategy.py"),
            file!("python", "referee.toml"),
        ],
    },
    FolderStarter {
        language: "rust",
        extension: "rs",
        strategy: "src/strategy.rs",
        files: &[
            file!("rust", "src/main.rs"),
            file!("rust", "src/strategy.rs"),
            file!("rust", "Cargo.toml", "manifest.toml"),
        ],
    },
    FolderStarter {
        language: "typescript",
        extension: "ts",
        strategy: "strategy.ts",
        files: &[
            file!("typescript", "bot.ts"),
            file!("typescript", "strategy.ts"),
            file!("typescript", "tsconfig.json"),
            file!("typescript", "referee.toml"),
        ],
    },
];

impl FolderStarter {
    /// Writes it to a folder, which has to be new or empty.
    pub(super) fn write(&self, folder: &Path) -> Result<()> {
        if fs::read_dir(folder).is_ok_and(|mut entries| entries.next().is_some()) {
            bail!(
                "{}: there is something in this folder already; name another one",
                folder.display()
            );
        }
        let path = folder.to_string_lossy();
        let path = path.trim_end_matches('/');
        let named = shown(path);
        let readme = README.replace("STRATEGY", self.strategy);
        let readme = readme.replace("FOLDER", &named);
        let readme = [("README.md", &*readme)];
        for (name, text) in self.files.iter().copied().chain(readme) {
            let file = folder.join(name);
            let above = file.parent().unwrap_or(folder);
            fs::create_dir_all(above).map_err(|error| unwritable(above, &error))?;
            write_new(&file, text)?;
        }
        let mut out = Stdout;
        writeln!(out, "wrote {path}/; what it plays is in {}", self.strategy)?;
        writeln!(out, "play:       referee -v {named} builtin:greedy")?;
        writeln!(out, "check it:   referee check {named}")?;
        writeln!(
            out,
            "            referee check --watch {named}    # after every change"
        )?;
        Ok(())
    }
}
