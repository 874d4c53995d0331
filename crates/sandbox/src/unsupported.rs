//! Stands in for what only Linux has: supervisors, control groups, private copies. Their types have
//! no values.

pub mod supervisor {

    #[cfg(unix)]
    pub mod watch {
        use referee_host::system::Pid;

        #[derive(Debug)]
        pub struct StartingBot;

        pub fn starting(_: String) -> StartingBot {
            StartingBot
        }

        impl StartingBot {
            pub const fn started(self, _: Pid) {}
        }

        pub const fn reaped(_: Pid) {}
    }

    pub mod client {

        use std::io;

        use referee_host::system::Pid;

        use crate::cgroup::{GroupMemory, OpenAccount};
        use crate::limits::ExitReport;

        #[derive(Debug)]
        pub enum SupervisorConnection {}

        impl SupervisorConnection {
            #[expect(clippy::unused_async, reason = "its counterpart waits")]
            pub async fn ready(&mut self) -> io::Result<(Option<Pid>, Option<OpenAccount>)> {
                match *self {}
            }

            pub fn end(&self) {
                match *self {}
            }

            pub fn exit_report(&mut self) -> Option<ExitReport> {
                match *self {}
            }

            pub fn memory(&self) -> Option<GroupMemory> {
                match *self {}
            }

            pub fn set_frozen(&self, _: bool) -> bool {
                match *self {}
            }

            pub fn helpers(&self) -> usize {
                match *self {}
            }

            pub fn bot(&self, _: Pid) -> Option<Pid> {
                match *self {}
            }
        }
    }
}

pub mod procfs {

    use std::time::Duration;

    use referee_host::system::Pid;

    #[derive(Debug)]
    pub enum ProcessStat {}

    impl ProcessStat {
        pub const fn read(_: Pid) -> Option<Self> {
            None
        }

        pub const fn state(&self) -> Option<char> {
            match *self {}
        }

        pub const fn has_ended(&self) -> bool {
            match *self {}
        }

        #[cfg(unix)]
        pub const fn parent(&self) -> Option<Pid> {
            match *self {}
        }
    }

    pub const fn this_thread_cpu_wait() -> Option<Duration> {
        None
    }

    #[cfg(unix)]
    pub const fn kill_first(_: Option<Pid>) {}

    pub const fn killed_for_memory() -> Option<u64> {
        None
    }

    pub const fn available_memory() -> Option<u64> {
        None
    }
}

pub mod cgroup {

    #[derive(Debug)]
    pub enum OpenAccount {}

    #[derive(Clone, Copy, Debug, Default)]
    pub struct GroupMemory {
        pub peak_kb: u64,
        pub oom_kills: u64,
    }

    pub const fn levels_of_this_process(_: &str) -> Vec<std::path::PathBuf> {
        Vec::new()
    }
}

pub mod private_copy {

    use std::path::PathBuf;

    use crate::snapshot::FileSet;

    #[derive(Debug)]
    pub struct PrivateCopy {
        pub(crate) files: FileSet,
        pub(crate) directory: PathBuf,
        pub(crate) large: Option<(PathBuf, u64)>,
        pub(crate) hidden: Vec<String>,
        pub(crate) is_alone: bool,
    }
}

pub mod probe {

    use crate::settings::{SandboxObstacle, SandboxSettings, SandboxUnavailable};

    pub(crate) const fn attempts() -> Vec<&'static str> {
        Vec::new()
    }

    pub(crate) fn try_out(settings: &mut SandboxSettings) -> Result<(), SandboxUnavailable> {
        Err(SandboxUnavailable {
            probe: format!("the sandbox {}", settings.kind),
            cause: "available on Linux only".to_owned(),
            fix: "use --sandbox none, for bots that you trust".to_owned(),
            obstacle: SandboxObstacle::Unsupported,
        })
    }
}
