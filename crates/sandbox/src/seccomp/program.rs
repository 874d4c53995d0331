//! The filter's program, in which the kernel finds the answer to a call in a few steps.
//!
//! When a filter is installed the kernel translates it and runs it for every call number. The
//! linear program of the crate `seccompiler` takes 8 % of a bot's start. The crate compiles the
//! conditions of each call, which are then [shortened](shorten); a binary search among
//! ranges of calls leads to them.

use std::collections::BTreeMap;
use std::env::consts::ARCH;

use libc::{
    BPF_ABS, BPF_AND, BPF_JA, BPF_JEQ, BPF_JGE, BPF_JGT, BPF_JMP, BPF_JSET, BPF_K, BPF_LD, BPF_RET,
    BPF_W, c_long,
};
use seccompiler::{
    BackendError, BpfProgram, SeccompAction, SeccompFilter, SeccompRule, TargetArch, sock_filter,
};

use super::calls::LAST_KNOWN;

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

/// The value that a step finds loaded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Loaded {
    Known(u32),
    Unknown,
    /// Depends on the path.
    Mixed,
}

/// What is known of a call.
#[derive(Clone, Copy, Debug)]
pub(super) struct Known {
    pub(super) number: u32,
    pub(super) arch: u32,
}

/// The targets of a program's steps, by position.
struct Steps<'a> {
    program: &'a [sock_filter],
    /// By step; `None` when unreachable.
    reached: Vec<Option<Loaded>>,
}

/// The program for such a call, whose number is loaded at the start. `None` when it has an
/// unexpected step.
pub(super) fn shorten(program: &[sock_filter], known: Known) -> Option<BpfProgram> {
    let steps = Steps::follow(program, known)?;
    let kept: Vec<usize> = (0..program.len()).filter(|&at| steps.is_kept(at)).collect();
    // A step that does not return is followed by its target, or by a jump to it.
    let mut short = Vec::new();
    let mut places = vec![None; program.len()];
    let mut jumps = Vec::new();
    for (index, &at) in kept.iter().enumerate() {
        places[at] = Some(short.len());
        short.push(program[at].clone());
        let goes_on = matches!(u32::from(program[at].code), LOAD | KEEP);
        let next = steps.end_of(at + 1);
        if goes_on && kept.get(index + 1) != Some(&next) {
            jumps.push((short.len(), next));
            short.push(step(JUMP, 0, 0, 0));
        }
    }
    let distance = |from: usize, to: usize| places.get(to).copied()??.checked_sub(from + 1);
    for (from, to) in jumps {
        short[from].k = u32::try_from(distance(from, to)?).ok()?;
    }
    for at in kept {
        if !is_condition(&program[at]) {
            continue;
        }
        let from = places[at]?;
        let reach = |way: u8| {
            let end = steps.end_of(at + 1 + usize::from(way));
            u8::try_from(distance(from, end)?).ok()
        };
        let (jt, jf) = (reach(program[at].jt)?, reach(program[at].jf)?);
        (short[from].jt, short[from].jf) = (jt, jf);
    }
    Some(short)
}

const LOAD: u32 = BPF_LD | BPF_W | BPF_ABS;
const KEEP: u32 = libc::BPF_ALU | BPF_AND | BPF_K;
const JUMP: u32 = BPF_JMP | BPF_JA;
const ANSWER: u32 = BPF_RET | BPF_K;

/// Offsets in a filter's data.
const NUMBER: u32 = 0;
const ARCH_FIELD: u32 = 4;

fn is_condition(step: &sock_filter) -> bool {
    let code = u32::from(step.code);
    [BPF_JEQ, BPF_JGT, BPF_JGE, BPF_JSET].contains(&(code & !(BPF_JMP | BPF_K)))
        && code & 7 == BPF_JMP
}

fn holds(step: &sock_filter, loaded: u32) -> bool {
    match u32::from(step.code) & !BPF_JMP {
        BPF_JEQ => loaded == step.k,
        BPF_JGT => loaded > step.k,
        BPF_JGE => loaded >= step.k,
        _ => loaded & step.k != 0,
    }
}

impl<'a> Steps<'a> {
    /// Follows all paths; jumps only lead forward.
    fn follow(program: &'a [sock_filter], known: Known) -> Option<Self> {
        let mut steps = Self {
            program,
            reached: vec![None; program.len()],
        };
        steps.reach(0, Loaded::Known(known.number))?;
        for (at, each) in program.iter().enumerate() {
            let Some(loaded) = steps.reached[at] else {
                continue;
            };
            match (u32::from(each.code), loaded) {
                (LOAD, _) => {
                    let loads = match each.k {
                        NUMBER => Loaded::Known(known.number),
                        ARCH_FIELD => Loaded::Known(known.arch),
                        _ => Loaded::Unknown,
                    };
                    steps.reach(at + 1, loads)?;
                }
                // The crate masks arguments only.
                (KEEP, Loaded::Unknown) => steps.reach(at + 1, loaded)?,
                (JUMP, _) => steps.reach(at + 1 + usize::try_from(each.k).ok()?, loaded)?,
                (ANSWER, _) => {}
                (_, Loaded::Known(_)) if is_condition(each) => {
                    steps.reach(steps.way(at)?, loaded)?;
                }
                (_, Loaded::Unknown) if is_condition(each) => {
                    for way in [each.jt, each.jf] {
                        steps.reach(at + 1 + usize::from(way), loaded)?;
                    }
                }
                _ => return None,
            }
        }
        Some(steps)
    }

    fn reach(&mut self, at: usize, loaded: Loaded) -> Option<()> {
        let reached = self.reached.get_mut(at)?;
        let same = reached.is_none_or(|before| before == loaded);
        *reached = Some(if same { loaded } else { Loaded::Mixed });
        Some(())
    }

    /// Where a step leads whatever is loaded: a jump, a condition on known values, or a load of
    /// them.
    fn way(&self, at: usize) -> Option<usize> {
        let each = self.program.get(at)?;
        match (u32::from(each.code), (*self.reached.get(at)?)?) {
            (JUMP, _) => Some(at + 1 + usize::try_from(each.k).ok()?),
            (LOAD, _) if [NUMBER, ARCH_FIELD].contains(&each.k) => Some(at + 1),
            (_, Loaded::Known(loaded)) if is_condition(each) => {
                let way = if holds(each, loaded) {
                    each.jt
                } else {
                    each.jf
                };
                Some(at + 1 + usize::from(way))
            }
            _ => None,
        }
    }

    /// The next step from here that does something.
    fn end_of(&self, mut at: usize) -> usize {
        while let Some(next) = self.way(at) {
            at = next;
        }
        at
    }

    /// Whether a step does something; others are skipped.
    fn is_kept(&self, at: usize) -> bool {
        self.reached[at].is_some() && self.way(at).is_none()
    }
}

pub(super) fn step(code: u32, jt: u8, jf: u8, k: u32) -> sock_filter {
    sock_filter {
        #[expect(clippy::cast_possible_truncation, reason = "codes of BPF are small")]
        code: code as u16,
        jt,
        jf,
        k,
    }
}
