//! Tests that need more than Rust: interpreters of the example players, a terminal, a browser,
//! sandboxes, schedulers of clusters. A test whose requirements are missing here is reported as
//! ignored; in CI (`CI=true`) it fails.
//!
//! That is why there are two test programs: Rust's test harness fixes at compile time which tests
//! are ignored, but what is installed is only known at run time. These tests run by `libtest-mimic`,
//! which takes the same arguments:
//!
//! ```text
//! cargo test --test environment players::random.py
//! ```
//!
//! The tests of all modules share this process and run in parallel: a test recognises its own
//! processes and files by its own scratch directory, and does not change the state of this process.

mod adapters;
mod arm64;
mod browser;
mod builds;
#[path = "../common/mod.rs"]
#[expect(dead_code, reason = "tests/integration uses the rest of it")]
mod common;
mod cross;
mod crowd;
mod documents;
mod engines;
mod exhaustion;
mod forges;
mod forty;
mod game_rules;
mod games;
mod grades;
mod hostile;
mod hunt;
mod intake;
mod interpreters;
mod layouts;
mod libraries;
mod limits;
mod load;
mod mistakes;
mod packages;
mod people;
mod pieces;
mod players;
mod reference;
mod repositories;
mod requirements;
mod soak;
mod stopping;
mod systems;
mod term;
mod windows;

use libtest_mimic::{Arguments, Trial};

use self::common::hangs;

/// Creates the trials of a module.
type Trials = fn() -> Vec<Trial>;

/// The modules and their trials, whose names all begin with that of the module.
const MODULES: [(&str, Trials); 32] = [
    ("hunt", hunt::trials),
    ("people", people::trials),
    ("pieces", pieces::trials),
    ("players", players::trials),
    ("documents", documents::trials),
    ("builds", builds::trials),
    ("repositories", repositories::trials),
    ("intake", intake::trials),
    ("forges", forges::trials),
    ("term", term::trials),
    ("forty", forty::trials),
    ("mistakes", mistakes::trials),
    ("stopping", stopping::trials),
    ("exhaustion", exhaustion::trials),
    ("games", games::trials),
    ("game_rules", game_rules::trials),
    ("grades", grades::trials),
    ("adapters", adapters::trials),
    ("hostile", hostile::trials),
    ("layouts", layouts::trials),
    ("libraries", libraries::trials),
    ("limits", limits::trials),
    ("windows", windows::trials),
    ("arm64", arm64::trials),
    ("systems", systems::trials),
    ("engines", engines::trials),
    ("interpreters", interpreters::trials),
    ("soak", soak::trials),
    ("load", load::trials),
    ("crowd", crowd::trials),
    ("browser", browser::trials),
    ("packages", packages::trials),
];

/// Whether a filter can match a test of a module. Checking a module's requirements takes time, so
/// modules that cannot match are skipped.
fn may_match(module: &str, filter: &str) -> bool {
    filter
        .split_once("::")
        .is_none_or(|(before, _)| module.ends_with(before))
}

/// How many tests run at once. Half of the time a test waits: for an interpreter to start, for a
/// limit to run out, for a bot that thinks for ten seconds.
fn threads() -> usize {
    std::thread::available_parallelism().map_or(2, |processors| processors.get() * 2)
}

fn main() {
    let arguments = Arguments::from_args();
    let arguments = Arguments {
        test_threads: arguments.test_threads.or_else(|| Some(threads())),
        ..arguments
    };
    let mut trials = Vec::new();
    for (module, of_module) in MODULES {
        if let Some(filter) = &arguments.filter
            && !may_match(module, filter)
        {
            continue;
        }
        let of_module = of_module();
        for trial in &of_module {
            let rest = trial.name().strip_prefix(module);
            let rest = rest.and_then(|rest| rest.strip_prefix("::"));
            assert!(
                rest.is_some_and(|rest| !rest.contains("::")),
                "{} is a test of {module}: expected {module}::NAME",
                trial.name()
            );
        }
        trials.extend(of_module);
    }
    let conclusion = libtest_mimic::run(&arguments, trials);
    hostile::remove_shared();
    conclusion.exit();
}
