//! Where the system does not report its limits on processes.

pub(super) const SLACK: u64 = 64;

#[derive(Debug)]
pub(super) struct Limits;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct LimitInUse {
    never: Never,
    pub(super) most: u64,
    pub(super) used: u64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Never {}

impl LimitInUse {
    pub(super) const fn free(&self) -> u64 {
        match self.never {}
    }

    pub(super) const fn owner(&self) -> &'static str {
        match self.never {}
    }

    pub(super) const fn setting(&self) -> &'static str {
        match self.never {}
    }

    pub(super) const fn fix(&self) -> &'static str {
        match self.never {}
    }
}

pub(super) const fn memory() -> Option<(u64, &'static str)> {
    None
}

#[expect(clippy::unused_self, reason = "as on Linux")]
impl Limits {
    pub(super) const fn find() -> Self {
        Self
    }

    pub(super) const fn refusals(&self) -> u64 {
        0
    }

    pub(super) const fn refusing(&self) -> Option<LimitInUse> {
        None
    }

    pub(super) const fn reached_uncounted(&self) -> Option<LimitInUse> {
        None
    }

    pub(super) const fn least_free(&self) -> Option<LimitInUse> {
        None
    }
}
