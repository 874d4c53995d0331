//! Tests of the public interface: schedules, ratings against reference programs, error rates of sequential tests.

mod grades;
mod ratings;
mod schedule;
mod sprt;
