//! A process in the log.

use std::time::Duration;

use super::Process;
use super::charge::Extension;
use crate::bot::meter::TurnUsage;
use crate::bot::spec::Program;
use crate::log_target::{CLOCK, PROCESS};
#[cfg(all(target_os = "linux", not(portable)))]
use crate::sandbox::supervisor::message::SpawnRequest;

pub(super) fn starting(program: &Program, environment: &[(String, String)]) {
    tracing::info!(
        target: PROCESS,
        command = ?program.argv,
        directory = program.directory.as_ref().map(tracing::field::debug),
        environment = ?assignments(environment),
        sandbox = "none",
        "starting"
    );
}

#[cfg(all(target_os = "linux", not(portable)))]
pub(super) fn starting_confined(request: &SpawnRequest) {
    let limits = &request.limits;
    tracing::info!(
        target: PROCESS,
        command = ?request.argv,
        directory = request.directory.as_ref().map(tracing::field::debug),
        environment = ?assignments(&request.environment),
        sandbox = request.backend.name(),
        memory = limits.memory,
        processes = limits.processes,
        open_files = limits.open_files,
        scratch = limits.scratch,
        "starting"
    );
}

fn assignments(environment: &[(String, String)]) -> Vec<String> {
    let assignment = |(name, value): &(String, String)| format!("{name}={value}");
    environment.iter().map(assignment).collect()
}

/// The limit has passed, but the bot waited for a CPU, or has used less CPU time.
pub(super) fn extended(extension: Extension, usage: &TurnUsage) {
    let ms = |time: Duration| time.as_secs_f64() * 1e3;
    if !extension.is_certain {
        tracing::trace!(
            target: CLOCK,
            cpu_ms = ms(usage.cpu),
            run_queue_ms = usage.waited.map(ms),
            uncertain_ms = ms(usage.uncertain),
            "the time is over unless the bot has waited for a processor until now"
        );
        return;
    }
    tracing::debug!(
        target: CLOCK,
        limit_ms = ms(extension.limit),
        cpu_ms = ms(usage.cpu),
        run_queue_ms = usage.waited.map(ms),
        "deadline extended"
    );
}

pub(super) fn log_signal(signal: &str, waited: Duration) {
    let waited_ms = waited.as_secs_f64() * 1e3;
    tracing::debug!(target: PROCESS, waited_ms, "sending {signal}");
}

impl Process {
    /// The id of the bot, once known, or of its supervisor.
    pub fn id(&self) -> Option<u32> {
        let leader = self.group.as_ref();
        let leader = leader.map(|group| group.leader().as_raw_pid().cast_unsigned());
        leader.or_else(|| self.child.id())
    }

    pub(super) fn log_start(&self) {
        tracing::Span::current().record("pid", self.id());
        tracing::info!(
            target: PROCESS,
            supervisor = self.supervisor.as_ref().and_then(|_| self.child.id()),
            "started"
        );
    }

    /// As far as is known.
    pub(super) fn log_end(&mut self) {
        if !tracing::enabled!(target: PROCESS, tracing::Level::INFO) {
            return;
        }
        let exit = self.exit.map(|status| self.describe(status));
        if let Some(exit) = exit {
            tracing::info!(target: PROCESS, "{exit}");
        } else {
            tracing::info!(target: PROCESS, "it could not be ended");
        }
    }
}
