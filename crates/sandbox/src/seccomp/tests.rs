use libc::c_long;
use seccompiler::BpfProgram;

use super::calls::{INVALID, LAST_KNOWN, NEVER, UNKNOWN};
use super::{FilterSituation, filter};

/// The kernel's name for x86-64.
#[cfg(target_arch = "x86_64")]
const AUDIT_ARCH: u32 = 0xc000_003e;
#[cfg(target_arch = "aarch64")]
const AUDIT_ARCH: u32 = 0xc000_00b7;

struct Call {
    number: u32,
    arch: u32,
    arguments: [u64; 6],
}

impl Call {
    fn new(number: c_long, arguments: [u64; 6]) -> Self {
        Self {
            number: u32::try_from(number).unwrap(),
            arch: AUDIT_ARCH,
            arguments,
        }
    }

    fn word(&self, offset: u32) -> u32 {
        match offset {
            0 => self.number,
            4 => self.arch,
            16.. => {
                let argument = self.arguments[(offset as usize - 16) / 8];
                u32::try_from(argument >> (offset % 8 * 8) & 0xffff_ffff).unwrap()
            }
            _ => panic!("a filter reads at {offset}"),
        }
    }
}

/// Runs a filter as the kernel does.
fn run(program: &BpfProgram, call: &Call) -> u32 {
    let (mut at, mut sum) = (0, 0);
    loop {
        let step = &program[at];
        at += 1;
        let k = step.k;
        let holds = match u32::from(step.code) {
            // Load a word; load a constant; mask; return.
            0x20 => {
                sum = call.word(k);
                continue;
            }
            0x54 => {
                sum &= k;
                continue;
            }
            0x06 => return k,
            0x05 => {
                at += k as usize;
                continue;
            }
            0x15 => sum == k,
            0x25 => sum > k,
            0x35 => sum >= k,
            0x45 => sum & k != 0,
            code => panic!("an instruction {code:#x}"),
        };
        at += usize::from(if holds { step.jt } else { step.jf });
    }
}

const ALLOW: u32 = libc::SECCOMP_RET_ALLOW;

fn errno(number: i32) -> u32 {
    libc::SECCOMP_RET_ERRNO | number.cast_unsigned()
}

fn answer(situation: FilterSituation, call: &Call) -> u32 {
    run(&filter(situation).unwrap(), call)
}

fn situations() -> impl Iterator<Item = FilterSituation> {
    [false, true].into_iter().flat_map(|shared_files| {
        [false, true].map(|freeze| FilterSituation {
            shared_files,
            freeze,
            compiles: false,
        })
    })
}

#[test]
fn what_every_program_needs_is_allowed() {
    for situation in situations() {
        for (call, arguments) in [
            (libc::SYS_read, [0; 6]),
            (libc::SYS_write, [1, 0, 4, 0, 0, 0]),
            (libc::SYS_openat, [0; 6]),
            (libc::SYS_close, [0; 6]),
            (libc::SYS_mmap, [0, 4096, 3, 0x22, 0, 0]),
            (libc::SYS_clone, [0x0011_0011, 0, 0, 0, 0, 0]),
            (libc::SYS_execve, [0; 6]),
            (libc::SYS_exit_group, [0; 6]),
            (libc::SYS_futex, [0; 6]),
            (libc::SYS_prlimit64, [0; 6]),
            (libc::SYS_sched_setscheduler, [0; 6]),
        ] {
            let call = Call::new(call, arguments);
            let number = call.number;
            assert_eq!(answer(situation, &call), ALLOW, "{number} {situation:?}");
        }
    }
}

#[test]
fn what_no_bot_needs_is_refused() {
    for situation in situations() {
        for (call, arguments) in [
            (libc::SYS_ptrace, [0; 6]),
            (libc::SYS_bpf, [0; 6]),
            (libc::SYS_mount, [0; 6]),
            (libc::SYS_unshare, [0; 6]),
            (libc::SYS_prlimit64, [1, 0, 0, 0, 0, 0]),
            (libc::SYS_sched_setscheduler, [0, 5, 0, 0, 0, 0]),
            (libc::SYS_clone, [0x1000_0000, 0, 0, 0, 0, 0]),
            (libc::SYS_socket, [16, 0, 0, 0, 0, 0]),
            (libc::SYS_ioctl, [0, 0x5412, 0, 0, 0, 0]),
            (libc::SYS_fchmod, [0, 0o4755, 0, 0, 0, 0]),
        ] {
            let call = Call::new(call, arguments);
            let number = call.number;
            assert_eq!(
                answer(situation, &call),
                errno(libc::EPERM),
                "{number} {situation:?}"
            );
        }
    }
}

#[test]
fn a_socket_of_the_network_is_asked_about() {
    for situation in situations() {
        let call = Call::new(libc::SYS_socket, [2, 1, 0, 0, 0, 0]);
        assert_eq!(answer(situation, &call), libc::SECCOMP_RET_USER_NOTIF);
    }
}

#[test]
fn every_call_is_found() {
    for situation in situations() {
        let program = filter(situation).unwrap();
        // The kernel's maximum.
        assert!(program.len() < 4096, "{}", program.len());
        for number in 0..=c_long::from(LAST_KNOWN) {
            let answer = run(&program, &Call::new(number, [0; 6]));
            let expected = if NEVER.contains(&number) {
                errno(libc::EPERM)
            } else if UNKNOWN.contains(&number) {
                errno(libc::ENOSYS)
            } else if INVALID.contains(&number) {
                errno(libc::EINVAL)
            } else {
                answer
            };
            assert_eq!(answer, expected, "{number} {situation:?}");
        }
        let plain = [
            libc::SYS_read,
            libc::SYS_write,
            libc::SYS_futex,
            libc::SYS_exit_group,
        ];
        for number in plain {
            let answer = run(&program, &Call::new(number, [0; 6]));
            assert_eq!(answer, ALLOW);
        }
    }
}

#[test]
fn newer_calls_do_not_exist() {
    for situation in situations() {
        let call = Call::new(c_long::from(LAST_KNOWN) + 1, [0; 6]);
        assert_eq!(answer(situation, &call), errno(libc::ENOSYS));
    }
}

#[test]
fn numbers_of_another_architecture_end_the_process() {
    for situation in situations() {
        let call = Call {
            arch: AUDIT_ARCH ^ 1,
            ..Call::new(libc::SYS_read, [0; 6])
        };
        let killed = [
            libc::SECCOMP_RET_KILL_PROCESS,
            libc::SECCOMP_RET_KILL_THREAD,
        ];
        assert!(killed.contains(&answer(situation, &call)));
    }
}

#[test]
fn pairs_of_packets_are_for_compilers_only() {
    for situation in situations() {
        let pair = |kind: i32| {
            let arguments = [
                libc::AF_UNIX as u64,
                u64::from(kind.cast_unsigned()),
                0,
                0,
                0,
                0,
            ];
            Call::new(libc::SYS_socketpair, arguments)
        };
        let build = FilterSituation {
            compiles: true,
            ..situation
        };
        let packets = pair(libc::SOCK_SEQPACKET | libc::SOCK_CLOEXEC);
        assert_eq!(answer(situation, &packets), errno(libc::EPERM));
        assert_eq!(answer(build, &packets), ALLOW);
        for kind in [libc::SOCK_DGRAM, libc::SOCK_RAW] {
            assert_eq!(answer(build, &pair(kind)), errno(libc::EPERM));
        }
    }
}
