//! What several commands use.

pub(crate) use std::collections::BTreeMap;
pub(crate) use std::fmt::Write as _;
pub(crate) use std::io::{self, Write as _};
pub(crate) use std::path::{Path, PathBuf};
pub(crate) use std::rc::Rc;
pub(crate) use std::sync::Arc;
pub(crate) use std::sync::atomic::{AtomicBool, Ordering};
pub(crate) use std::time::{Duration, Instant};
pub(crate) use std::{env, fs};

pub(crate) use serde_json::json;

pub(crate) use super::failure::{Failure, Result, WRONG, bail, usage};
pub(crate) use super::folder::{GameChoice, Records, invalid, read_text, records_of, replace_file};
pub(crate) use super::games::GameOptions;
pub(crate) use super::output::{ProgressBar, ProgressLine, Stdout, note};
pub(crate) use super::output::{print, print_found, print_stderr};
pub(crate) use super::recorded::{self, RecordedRules};
pub(crate) use super::runtime::{examine, runtime, with_bots};
pub(crate) use super::sandbox::{SandboxOptions, announce, warn_large, warn_root};
pub(crate) use super::setup::{PiecesFile, absolute, palette, terminal_width, this_program};
pub(crate) use super::setup::{unreadable, unwritable, wrong_at};
pub(crate) use super::signals::{self, Stops};
pub(crate) use super::values::{self, AnswerTimes, MoveTime, TimeOptions, hint, one_of};
pub(crate) use referee::analysis::{Analyst, Effort};
pub(crate) use referee::arena::TournamentError;
pub(crate) use referee::arena::directory::TournamentDirectory;
pub(crate) use referee::arena::entrants::{self, Entrant};
pub(crate) use referee::arena::plan::request::PlanRequest;
pub(crate) use referee::arena::plan::{BotPlan, Plan, RejectedBot};
pub(crate) use referee::arena::results::Results;
pub(crate) use referee::bot::exhaustion::start_thread;
pub(crate) use referee::bot::shell;
pub(crate) use referee::bot::spec::{BotSpec, Program};
pub(crate) use referee::game::{Game, registry};
pub(crate) use referee::league::state::League;
pub(crate) use referee::play::TimeControl;
pub(crate) use referee::play::examiner::Examiner;
pub(crate) use referee::play::game_runner::GameRunner;
pub(crate) use referee::play::seat::Seat;
pub(crate) use referee::record::{BotIndex, Record, text_file};
pub(crate) use referee::report::html;
pub(crate) use referee::report::terminal::{Palette, aligned};
pub(crate) use referee::sandbox::Sandbox;
pub(crate) use referee::solver;
pub(crate) use referee::text::{counted, escape_controls, join_parts, quote, short_name};
pub(crate) use referee::tournament::standings::Ranking;
