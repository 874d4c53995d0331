//! Tournaments on real engines for many machines: Slurm with one controller and two nodes on this
//! machine, and GNU parallel over ssh to two sshd. One node is killed during the tournament, and the
//! result must be the same as on one machine.
//!
//! Everything is private: configuration, keys, sockets and ports are the test's own, and this
//! machine's services are not used. Tests whose programs are missing are ignored; in CI
//! (`CI=true`) it fails.

mod processes;
mod slurm;
mod ssh;
mod tournament;
mod usage;

use libtest_mimic::Trial;

use self::processes::program;
use crate::requirements::{LargePermit, unavailable};

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
            let _large = LargePermit::wait();
            test();
            Ok(())
        });
    };
    unavailable(name, command, package)
}

pub(crate) fn trials() -> Vec<Trial> {
    let tests = [slurm::TESTS, ssh::TESTS, usage::TESTS].concat();
    tests.into_iter().map(trial).collect()
}
