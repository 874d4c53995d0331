//! Signals to processes, without the program `kill`, which small systems lack.

/// Sends a signal, such as `INT`. `false` when there is no such process, or it may not be signalled.
#[cfg(unix)]
pub(crate) fn send(signal: &str, process: &str) -> bool {
    use rustix::process::{Pid, Signal, kill_process};
    let signal = match signal {
        "CONT" => Signal::CONT,
        "HUP" => Signal::HUP,
        "INT" => Signal::INT,
        "KILL" => Signal::KILL,
        "STOP" => Signal::STOP,
        "TERM" => Signal::TERM,
        other => panic!("the tests know no signal {other}"),
    };
    // A number below 1 would mean more than one process.
    let pid = process.trim().parse().ok().filter(|pid| *pid > 0);
    pid.and_then(Pid::from_raw)
        .is_some_and(|pid| kill_process(pid, signal).is_ok())
}

/// There are none.
#[cfg(not(unix))]
pub(crate) fn send(_: &str, _: &str) -> bool {
    false
}
