//! Runs the commands of the manifests in `scripts/kubernetes` as Kubernetes would, with an index for
//! each pod, from 0. There is no cluster here.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use super::{Test, tournament::Tournament};
use crate::common::Referee;

pub(crate) const TESTS: &[Test] = &[(
    "kubernetes: the commands of the manifests",
    &[],
    the_commands_of_the_manifests,
)];

/// A manifest of one job.
struct Manifest(String);

impl Manifest {
    fn read(name: &str) -> Self {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("scripts/kubernetes");
        Self(fs::read_to_string(folder.join(name)).expect("a manifest"))
    }

    /// The value of a key that occurs once.
    #[track_caller]
    fn value(&self, key: &str) -> &str {
        let mut lines = self
            .0
            .lines()
            .map(|line| line.trim().trim_start_matches("- "));
        let value = lines.find_map(|line| line.strip_prefix(key)?.strip_prefix(": "));
        value.unwrap_or_else(|| panic!("there is no {key}"))
    }

    /// Its command, with another folder, and without the program.
    fn arguments(&self, folder: &str) -> Vec<String> {
        let command: Vec<String> =
            serde_json::from_str(self.value("command")).expect("a list of words");
        assert_eq!(command[0], "referee");
        let words = command.into_iter().skip(1);
        words
            .map(|word| {
                if word == "/tournament/cup" {
                    folder.to_owned()
                } else {
                    word
                }
            })
            .collect()
    }
}

fn the_commands_of_the_manifests() {
    let tournament = Tournament::planned();
    let cup = tournament.file("cup").to_string_lossy().into_owned();
    let job = Manifest::read("job.yaml");
    let (_, shards) = job
        .0
        .split_once("name: REFEREE_SHARDS")
        .expect("it sets the number of shards");
    let shards = Manifest(shards.to_owned());
    let shards: u64 = shards
        .value("value")
        .trim_matches('"')
        .parse()
        .expect("a number");
    assert_eq!(job.value("completions").parse(), Ok(shards));
    assert_eq!(job.value("completionMode"), "Indexed");

    // Fewer are enough here.
    for index in 0..3 {
        let run = Referee::new(job.arguments(&cup))
            .env("JOB_COMPLETION_INDEX", index.to_string())
            .env("REFEREE_SHARDS", "3")
            .directory(tournament.path())
            .run();
        assert_eq!(run.code, Some(0), "{run}");
    }
    let merge = Manifest::read("merge.yaml");
    let run = Referee::new(merge.arguments(&cup))
        .directory(tournament.path())
        .run();
    assert_eq!(run.code, Some(0), "{run}");
    let played: BTreeSet<_> = fs::read_dir(tournament.file("cup/shards"))
        .expect("a folder")
        .map(|entry| {
            entry
                .expect("a file")
                .file_name()
                .into_string()
                .expect("a name")
        })
        .collect();
    assert!(
        played.contains("1-of-3.jsonl") && played.contains("3-of-3.jsonl"),
        "{played:?}"
    );
    tournament.is_as_on_one_machine();
}
