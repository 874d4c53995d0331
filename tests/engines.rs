//! Tournaments on the engines that play them beyond one machine, on real ones: Slurm with one
//! controller and two nodes on this machine, and GNU parallel over ssh to two sshd. One of the two is
//! killed in the middle, and the tournament comes out as if one machine had played it.
//!
//! Everything is private: configuration, keys, sockets and ports are the test's own, and nothing of
//! this machine's services is touched. What this machine has no programs for is ignored by name; on
//! the machine that decides (`CI=true`) it fails.

mod common;
#[path = "engines/kubernetes.rs"]
mod kubernetes;
#[path = "engines/processes.rs"]
mod processes;
#[path = "engines/slurm.rs"]
mod slurm;
#[path = "engines/ssh.rs"]
mod ssh;
#[path = "engines/tournament.rs"]
mod tournament;
#[path = "engines/usage.rs"]
mod usage;

use libtest_mimic::{Arguments, Trial};

use self::common::lacking;
use self::processes::program;

/// A test: its name, what it needs (program and Debian package), and what it does.
pub(crate) type Test = (&'static str, &'static [Need], fn());

/// A program, and the Debian package that has it.
pub(crate) type Need = (&'static str, &'static str);

fn trial((name, needs, test): Test) -> Trial {
    let missing = needs.iter().find(|(command, _)| program(command).is_none());
    let Some((command, package)) = missing else {
        return Trial::test(name, move || {
            test();
            Ok(())
        });
    };
    lacking(name, command, package)
}

fn main() {
    let arguments = Arguments::from_args();
    // Each starts a small cluster: two at a time.
    let arguments = Arguments {
        test_threads: arguments.test_threads.or(Some(2)),
        ..arguments
    };
    let tests = [slurm::TESTS, ssh::TESTS, kubernetes::TESTS, usage::TESTS].concat();
    libtest_mimic::run(&arguments, tests.into_iter().map(trial).collect()).exit();
}
