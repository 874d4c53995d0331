use std::fmt;
use std::time::Duration;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    pub what: String,
    /// An imperative, without a full stop.
    pub fix: String,
    /// The command that shows it again, where there is one.
    pub again: Option<String>,
}

impl fmt::Display for Problem {
    /// In one line.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}; to mend it: {}", self.what, self.fix)?;
        match &self.again {
            Some(command) => write!(f, "; reproduce: {command}"),
            None => Ok(()),
        }
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// What was measured, or empty.
    Good(String),
    Bad(Problem),
    /// Because of an earlier fault.
    Skipped,
    /// For want of time.
    LeftOut,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Check {
    pub name: &'static str,
    /// Whether a bot has to pass it to enter a tournament; otherwise it is advice.
    pub required: bool,
    pub verdict: Verdict,
}

impl Check {
    pub const fn is_fault(&self) -> bool {
        self.required && matches!(self.verdict, Verdict::Bad(_) | Verdict::Skipped)
    }

    pub const fn problem(&self) -> Option<&Problem> {
        match &self.verdict {
            Verdict::Bad(problem) => Some(problem),
            Verdict::Good(_) | Verdict::Skipped | Verdict::LeftOut => None,
        }
    }
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Report {
    /// In the order in which they were made.
    pub checks: Vec<Check>,
    /// Of all answers except the first of each process.
    pub times: Option<Times>,
}

impl Report {
    /// It fails no required check. What was left out for want of time keeps no bot from entering.
    pub fn is_fit(&self) -> bool {
        !self.checks.iter().any(Check::is_fault)
    }

    /// What is required comes before what is advice, and then what was found first, as later faults may follow from
    /// it.
    pub fn first_problem(&self) -> Option<(&Check, &Problem)> {
        let failed = || {
            let checks = self.checks.iter();
            checks.filter_map(|check| Some((check, check.problem()?)))
        };
        let required = failed().find(|(check, _)| check.required);
        required.or_else(|| failed().next())
    }

    /// For want of time.
    pub fn left_out(&self) -> Vec<&'static str> {
        let checks = self.checks.iter();
        checks
            .filter(|check| check.verdict == Verdict::LeftOut)
            .map(|check| check.name)
            .collect()
    }
}

/// Of all answers except the first of each process.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Times {
    pub median: Duration,
    /// The 99th percentile.
    pub p99: Duration,
    pub worst: Duration,
}

impl Times {
    pub(super) fn of(mut times: Vec<Duration>) -> Option<Self> {
        times.sort_unstable();
        let at = |share: usize| times.get((times.len() * share / 100).min(times.len() - 1));
        Some(Self {
            worst: *times.last()?,
            median: *at(50)?,
            p99: *at(99)?,
        })
    }
}
