//! Shortens the program for one system call.
//!
//! The kernel translates the filter at every start of a bot, in several passes over all steps. The
//! crate's programs for single calls check the architecture and number again, which are known here,
//! and jump from jump to jump.

use libc::{BPF_ABS, BPF_AND, BPF_JA, BPF_JEQ, BPF_JGE, BPF_JGT, BPF_JMP, BPF_JSET, BPF_K};
use libc::{BPF_LD, BPF_RET, BPF_W};
use seccompiler::{BpfProgram, sock_filter};

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
const ARCH: u32 = 4;

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
                        ARCH => Loaded::Known(known.arch),
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
            (LOAD, _) if [NUMBER, ARCH].contains(&each.k) => Some(at + 1),
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
