//! What was asked and answered before: the file that holds it from one run to the next.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::Answers;
use super::questions::Drawn;
use referee_games::game::Ruleset;
use referee_match::record::text_file::{self, if_there};
use referee_text::unreadable;
use referee_tournament::entrants::Entrant;

/// In the folder of a league.
const OF_LEAGUE: &str = "alike.json";

/// Where answers are kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AnswersFile {
    Nowhere,
    /// A person named it: what is in it is never thrown away.
    Named(PathBuf),
    /// It holds what can be asked again.
    OfLeague(PathBuf),
}

impl AnswersFile {
    /// `folder`: of the league.
    pub fn of_league(folder: &Path) -> Self {
        Self::OfLeague(folder.join(OF_LEAGUE))
    }

    pub fn path(&self) -> Option<&Path> {
        match self {
            Self::Nowhere => None,
            Self::Named(path) | Self::OfLeague(path) => Some(path),
        }
    }
}

/// Why answers that were kept cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum KeptAnswersError {
    #[error("{}", unreadable(.path, .error))]
    Unreadable { path: PathBuf, error: io::Error },
    /// `seed`: of these.
    #[error(
        "{}: it holds answers to other questions; go on with --seed {seed}, or choose another file",
        .path.display()
    )]
    OtherQuestions { path: PathBuf, seed: u32 },
    #[error("{}: it holds answers of a game by other rules; choose another file", .0.display())]
    OtherRules(PathBuf),
    #[error(
        "{}: it does not hold answers that --answers keeps; choose another file",
        .0.display()
    )]
    NotAnswers(PathBuf),
}

/// The positions that were drawn, and the answers of every bot that was asked. Its fields are those of the file.
#[derive(Debug, Default, Serialize, Deserialize)]
pub struct KeptAnswers {
    /// The game with its options.
    rules: String,
    seed: u32,
    pub(super) drawn: Drawn,
    /// By [`key`].
    answers: BTreeMap<String, Answers>,
}

/// By it the answers of a bot are kept: those of the same files are the same.
pub(super) fn key(bot: &Entrant) -> String {
    format!("{} {:?}", bot.plan.hash, bot.plan.limits)
}

impl KeptAnswers {
    /// Answers to other questions, and what is damaged, are an error in a file that a person named; elsewhere they are
    /// forgotten.
    pub fn read(
        file: &AnswersFile,
        ruleset: &dyn Ruleset,
        seed: u32,
    ) -> Result<Self, KeptAnswersError> {
        let new = Self {
            rules: format!("{:?}", ruleset.info()),
            seed,
            ..Self::default()
        };
        let Some(path) = file.path() else {
            return Ok(new);
        };
        let path = path.to_owned();
        let text = match if_there(text_file::read(&path, text_file::KEPT)) {
            Ok(Some(text)) => text,
            Ok(None) => return Ok(new),
            Err(error) => return Err(KeptAnswersError::Unreadable { path, error }),
        };
        let kept: Option<Self> = serde_json::from_str(&text).ok();
        let unusable = match kept {
            Some(kept) if (&kept.rules, kept.seed) == (&new.rules, seed) => return Ok(kept),
            Some(kept) if kept.rules == new.rules => KeptAnswersError::OtherQuestions {
                path,
                seed: kept.seed,
            },
            Some(_) => KeptAnswersError::OtherRules(path),
            None => KeptAnswersError::NotAnswers(path),
        };
        match file {
            AnswersFile::Named(_) => Err(unusable),
            AnswersFile::Nowhere | AnswersFile::OfLeague(_) => Ok(new),
        }
    }

    pub(super) fn of(&self, bot: &Entrant) -> Option<&Answers> {
        self.answers.get(&key(bot))
    }

    /// With room for the positions that were drawn.
    pub(super) fn of_mut(&mut self, bot: &Entrant) -> &mut Answers {
        let answers = self.answers.entry(key(bot)).or_default();
        answers.fit(self.drawn.positions.len());
        answers
    }

    /// Whether all answers of a bot are faults.
    pub(super) fn is_silent(&self, bot: &Entrant) -> bool {
        self.of(bot).is_some_and(Answers::is_silent)
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;
    use referee_games::game::registry::{Choices, find};

    #[test]
    fn only_a_file_that_a_person_named_is_not_forgotten() {
        let folder = tempfile::tempdir().expect("a folder");
        let rules = |name| find(name).expect("a game").ruleset(Choices::default());
        let (quarto, other) = (rules("quarto"), rules("four-in-a-row"));
        let path = folder.path().join("answers.json");
        let named = AnswersFile::Named(path.clone());
        let read = |file: &AnswersFile, ruleset: &dyn Ruleset, seed| {
            let read = KeptAnswers::read(file, ruleset, seed);
            read.map(|kept| (kept.rules, kept.seed))
        };
        let new = (format!("{:?}", quarto.info()), 3);
        assert_eq!(
            read(&AnswersFile::Nowhere, &*quarto, 3).ok(),
            Some(new.clone())
        );
        assert_eq!(read(&named, &*quarto, 3).ok(), Some(new.clone()));
        let kept = KeptAnswers::read(&named, &*quarto, 3).expect("no file is there");
        let text = serde_json::to_string(&kept).expect("it is written");
        fs::write(&path, text).expect("a file");
        assert_eq!(read(&named, &*quarto, 3).ok(), Some(new));
        let of_league = AnswersFile::OfLeague(path.clone());
        for (ruleset, seed, why) in [
            (&*quarto, 4, "go on with --seed 3, or choose another file"),
            (&*other, 3, "it holds answers of a game by other rules"),
        ] {
            let error = read(&named, ruleset, seed).expect_err("other questions");
            assert!(error.to_string().contains(why), "{error}");
            let forgotten = (format!("{:?}", ruleset.info()), seed);
            assert_eq!(read(&of_league, ruleset, seed).ok(), Some(forgotten));
        }
        fs::write(&path, "{}").expect("a file");
        let error = read(&named, &*quarto, 3).expect_err("no answers");
        assert!(matches!(error, KeptAnswersError::NotAnswers(_)), "{error}");
        assert!(read(&of_league, &*quarto, 3).is_ok());
    }
}
