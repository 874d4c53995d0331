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

/// Has programs that are started from now on begin with default signals. What a shell starts in the background ignores
/// Ctrl-C, and so do the children of its children; a handler is not passed on.
#[cfg(unix)]
pub(crate) fn unignore() {
    use std::sync::Once;
    use tokio::signal::unix::{SignalKind, signal};

    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
        let ignored = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
        let ignored = ignored.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build();
        let _within = runtime.as_ref().expect("a runtime").enter();
        for kind in [
            SignalKind::hangup(),
            SignalKind::interrupt(),
            SignalKind::quit(),
            SignalKind::terminate(),
        ] {
            if ignored.unwrap_or(0) >> (kind.as_raw_value() - 1) & 1 == 1 {
                let _ = signal(kind).expect("a handler");
            }
        }
    });
}

/// There are none.
#[cfg(not(unix))]
pub(crate) fn send(_: &str, _: &str) -> bool {
    false
}
