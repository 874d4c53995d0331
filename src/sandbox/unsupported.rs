//! Stands in for the guard where there is none: there are sandboxes on Linux only.

pub(super) mod client {
    //! The referee's side of a guard that never runs.

    use std::io;

    use rustix::process::Pid;

    use super::order::Ended;

    /// The line to a guard: none exists.
    #[derive(Debug)]
    pub(crate) enum Line {}

    impl Line {
        #[expect(clippy::unused_async, reason = "its counterpart waits")]
        pub(crate) async fn ready(&mut self) -> io::Result<Option<Pid>> {
            match *self {}
        }

        pub(crate) fn end(&self) {
            match *self {}
        }

        pub(crate) fn ended(&mut self) -> Option<Ended> {
            match *self {}
        }

        pub(crate) fn heard(&mut self) -> Option<Ended> {
            match *self {}
        }

        pub(crate) fn helpers(&self) -> usize {
            match *self {}
        }

        pub(crate) fn bot(&self, _: Pid) -> Pid {
            match *self {}
        }

        pub(crate) fn bot_has_ended(&self, _: Pid) -> bool {
            match *self {}
        }

        pub(crate) fn exceeded(&mut self) -> Option<String> {
            match *self {}
        }

        pub(crate) fn tried_network(&mut self) -> bool {
            match *self {}
        }
    }
}

pub(super) mod cgroup {
    //! Control groups: there are none.

    /// Where groups could be made.
    #[derive(Debug)]
    pub(crate) enum Home {}

    impl Home {
        pub(crate) const fn version(&self) -> &'static str {
            match *self {}
        }
    }
}

pub(super) mod order {
    //! What a guard would tell.

    /// How a bot ended, and what it had used.
    #[derive(Clone, Copy, Debug)]
    pub(crate) struct Ended {
        /// Its exit status, as `wait` gives it.
        pub(crate) status: i32,
        /// Processor time, in milliseconds.
        pub(crate) cpu_ms: f64,
        /// The most memory in use, in KiB.
        pub(crate) memory_kb: u64,
    }
}
