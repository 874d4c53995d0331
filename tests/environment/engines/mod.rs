//! Tournaments on the engines that play them beyond one machine, on real ones: Slurm with one
//! controller and two nodes on this machine, and GNU parallel over ssh to two sshd. One of the two is
//! killed in the middle, and the tournament comes out as if one machine had played it.
//!
//! Everything is private: configuration, keys, sockets and ports are the test's own, and nothing of
//! this machine's services is touched. What this machine has no programs for is ignored by name; on
//! the machine that decides (`CI=true`) it fails.

mod kubernetes;
mod processes;
mod slurm;
mod ssh;
mod tournament;
mod usage;

use libtest_mimic::Trial;

use self::processes::program;
use crate::requirements::{Large, lacking};

/// A test: its name, what it needs (program and Debian package), and what it does.
pub(crate) type Test = (&'static str, &'static [Need], fn());

/// A program, and the Debian package that has it.
pub(crate) type Need = (&'static str, &'static str);

fn trial((name, needs, test): Test) -> Trial {
    let name = format!("engines::{name}");
    let missing = needs.iter().find(|(command, _)| program(command).is_none());
    let Some((command, package)) = missing else {
        return Trial::test(name, move || {
            // Most start a small cluster.
            let _large = Large::wait();
            test();
            Ok(())
        });
    };
    lacking(name, command, package)
}

pub(crate) fn trials() -> Vec<Trial> {
    let tests = [slurm::TESTS, ssh::TESTS, kubernetes::TESTS, usage::TESTS].concat();
    tests.into_iter().map(trial).collect()
}
