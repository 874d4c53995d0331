//! The filter's program, in which the kernel finds the answer to a call in a few steps.
//!
//! When a filter is installed the kernel translates it and runs it for every call number. The
//! linear program of the crate `seccompiler` takes 8 % of a bot's start. The crate compiles the
//! conditions of each call, which are then [shortened](super::shorten); a binary search among
//! ranges of calls leads to them.

use std::collections::BTreeMap;
use std::env::consts::ARCH;

use libc::c_long;
use seccompiler::{
    BackendError, BpfProgram, SeccompAction, SeccompFilter, SeccompRule, TargetArch, sock_filter,
};

use super::calls::LAST_KNOWN;
use super::shorten::{Known, shorten, step};

/// The conditions under which calls get an answer; empty for always.
pub(super) type Rules = BTreeMap<c_long, Vec<SeccompRule>>;

/// The programs that answer calls, by call number.
#[derive(Default)]
pub(super) struct Calls(BTreeMap<u32, BpfProgram>);

impl Calls {
    /// Earlier answers take precedence.
    pub(super) fn add(&mut self, rules: Rules, answer: &SeccompAction) -> Result<(), BackendError> {
        for (call, conditions) in rules {
            let number = u32::try_from(call).unwrap_or(u32::MAX);
            let more = if conditions.is_empty() {
                vec![give(u32::from(answer.clone()))]
            } else {
                conditional(call, conditions, answer)?
            };
            let program = self.0.entry(number).or_default();
            pass_on(program);
            program.extend(more);
            ask_supervisor(program);
        }
        Ok(())
    }

    /// The whole program. Calls of another architecture kill the process. Calls above the last
    /// known one do not exist; this includes the x32 interface, whose numbers have a high bit set.
    pub(super) fn program(self) -> Result<BpfProgram, BackendError> {
        let arch = TargetArch::try_from(ARCH)?;
        // Every filter starts with the check of the architecture.
        let nothing = SeccompFilter::new(
            Rules::new(),
            SeccompAction::Allow,
            SeccompAction::KillProcess,
            arch,
        )?;
        let mut program = BpfProgram::try_from(nothing)?;
        program.truncate(ARCHITECTURE);
        program.extend([
            // The number is the first word of a filter's data.
            step(libc::BPF_LD | libc::BPF_W | libc::BPF_ABS, 0, 0, 0),
            step(
                libc::BPF_JMP | libc::BPF_JGT | libc::BPF_K,
                0,
                1,
                LAST_KNOWN,
            ),
            give(libc::SECCOMP_RET_ERRNO | libc::ENOSYS.cast_unsigned()),
        ]);
        let arch = program.get(1).map_or(0, |check| check.k);
        program.extend(search(&self.ranges(arch)));
        Ok(program)
    }

    /// Ranges of call numbers by their first number, each with its program; the first starts at 0.
    fn ranges(self, arch: u32) -> Vec<(u32, BpfProgram)> {
        let allowed = || vec![give(libc::SECCOMP_RET_ALLOW)];
        let mut ranges = vec![(0, allowed())];
        for (number, mut program) in self.0 {
            program.extend(allowed());
            let known = Known { number, arch };
            let program = shorten(&program, known).unwrap_or(program);
            // The next range may start where this one ends.
            ranges.pop_if(|(first, _)| *first == number);
            ranges.push((number, program));
            ranges.push((number.saturating_add(1), allowed()));
        }
        ranges.dedup_by(|next, before| next.1 == before.1);
        ranges
    }
}

/// The length of the crate's check of the architecture.
const ARCHITECTURE: usize = 3;

pub(super) fn conditional(
    call: c_long,
    conditions: Vec<SeccompRule>,
    answer: &SeccompAction,
) -> Result<BpfProgram, BackendError> {
    let rules = Rules::from([(call, conditions)]);
    let arch = TargetArch::try_from(ARCH)?;
    let filter = SeccompFilter::new(rules, SeccompAction::Allow, answer.clone(), arch)?;
    BpfProgram::try_from(filter)
}

/// Falls through to the following steps where the program would allow.
fn pass_on(program: &mut BpfProgram) {
    let length = program.len();
    for (at, each) in program.iter_mut().enumerate() {
        if is_answer(each, libc::SECCOMP_RET_ALLOW) {
            let rest = u32::try_from(length - at - 1).unwrap_or(u32::MAX);
            *each = step(libc::BPF_JMP | libc::BPF_JA, 0, 0, rest);
        }
    }
}

/// Asks the supervisor instead of a tracer.
fn ask_supervisor(program: &mut BpfProgram) {
    for each in program {
        if is_answer(each, libc::SECCOMP_RET_TRACE) {
            each.k = libc::SECCOMP_RET_USER_NOTIF;
        }
    }
}

fn is_answer(step: &sock_filter, answer: u32) -> bool {
    u32::from(step.code) == libc::BPF_RET && step.k == answer
}

/// Finds the range of the loaded call number, and runs its program.
fn search(ranges: &[(u32, BpfProgram)]) -> BpfProgram {
    let (lower, higher) = match ranges {
        [] => return Vec::new(),
        [(_, program)] => return program.clone(),
        _ => ranges.split_at(ranges.len() / 2),
    };
    let first = higher.first().map_or(0, |(first, _)| *first);
    let lower = search(lower);
    let is_higher = |jt: u8, jf: u8| {
        let code = libc::BPF_JMP | libc::BPF_JGE | libc::BPF_K;
        step(code, jt, jf, first)
    };
    // A conditional jump reaches at most 255 steps.
    let mut program = if let Ok(length) = u8::try_from(lower.len()) {
        vec![is_higher(length, 0)]
    } else {
        let length = u32::try_from(lower.len()).unwrap_or(u32::MAX);
        let jump = step(libc::BPF_JMP | libc::BPF_JA, 0, 0, length);
        vec![is_higher(0, 1), jump]
    };
    program.extend(lower);
    program.extend(search(higher));
    program
}

fn give(answer: u32) -> sock_filter {
    step(libc::BPF_RET | libc::BPF_K, 0, 0, answer)
}
