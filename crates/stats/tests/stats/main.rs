//! Tests of the public interface: schedules, ratings against reference programs, error rates of sequential tests.

mod ratings;
mod schedule;
mod simulated;
mod sprt;
