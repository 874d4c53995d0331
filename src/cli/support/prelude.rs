//! What several commands use.

pub(crate) use std::io::{self, Write as _};
pub(crate) use std::path::{Path, PathBuf};
pub(crate) use std::rc::Rc;
pub(crate) use std::sync::Arc;
pub(crate) use std::time::{Duration, Instant};

pub(crate) use serde_json::json;

pub(crate) use super::failure::{Failure, WRONG, bail, usage};
pub(crate) use super::folder::{GameChoice, Records, invalid, read_text, records_of, replace_file};
pub(crate) use super::games::GameOptions;
pub(crate) use super::output::{
    ProgressBar, ProgressLine, Stdout, note, print, print_found, print_stderr,
};
pub(crate) use super::recorded::{self, RecordedRules};
pub(crate) use super::runtime::{examine, with_bots};
pub(crate) use super::sandbox::{SandboxOptions, announce, warn_large, warn_root};
pub(crate) use super::setup::{PiecesFile, absolute, palette, terminal_width, this_program};
pub(crate) use super::setup::{unreadable, unwritable};
pub(crate) use super::signals;
pub(crate) use super::values::{self, AnswerTimes, MoveTime, TimeOptions, hint, one_of};
pub(crate) use referee::arena::directory::TournamentDirectory;
pub(crate) use referee::arena::entrants::{self, Entrant};
pub(crate) use referee::arena::plan::Plan;
pub(crate) use referee::arena::results::Results;
pub(crate) use referee::bot::shell;
pub(crate) use referee::bot::spec::{BotSpec, Program};
pub(crate) use referee::game::Game;
pub(crate) use referee::play::game_runner::GameRunner;
pub(crate) use referee::play::seat::Seat;
pub(crate) use referee::record::{Record, text_file};
pub(crate) use referee::report::terminal::{Palette, aligned};
pub(crate) use referee::sandbox::Sandbox;
pub(crate) use referee::text::{counted, escape_controls, join_parts, quote};
