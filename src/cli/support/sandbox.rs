//! The options of a sandbox, for all commands that start bots.

use std::env;
use std::path::PathBuf;

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};

use super::failure::Failure;
use super::output::print_stderr;
use super::setup::this_program;
use super::values;
use crate::arena::plan::SandboxPlan;
use crate::bot::exhaustion::{Exhausted, available_memory};
use crate::bot::spec::{BotSpec, CannotStart, Program};
use crate::league::intake::SandboxChoice;
use crate::sandbox::{
    Confinement, Kind, NotAvailable, Obstacle, ResourceLimits, Sandbox, SandboxRequest,
};
use crate::system::{Shortage, is_root};
use crate::text::{self, escape};

/// `None`: the first that works.
#[derive(Clone, Copy, Debug)]
struct Selection(Option<Kind>);

fn selection() -> impl TypedValueParser<Value = Selection> {
    PossibleValuesParser::new([
        PossibleValue::new("auto").help(
            "Bubblewrap if it works, else Landlock. If neither does, a match or a check warns and runs without, other commands refuse",
        ),
        PossibleValue::new("bwrap").help("Bubblewrap and seccomp"),
        PossibleValue::new("landlock").help("Landlock and seccomp"),
        PossibleValue::new("none").help("Nothing: for bots that you trust"),
    ])
    .map(|name| selected(&name))
}

/// By its name, which is on the command line and in plans.
fn selected(name: &str) -> Selection {
    let kinds = [Kind::Bwrap, Kind::Landlock, Kind::None];
    let kind = kinds.into_iter().find(|kind| kind.name() == name);
    Selection(kind)
}

/// Plans call the supervisor by its old name, `guard`.
pub(in crate::cli) fn layer_names(kind: Kind) -> String {
    kind.layers().join(", ").replace("guard", "supervisor")
}

/// At least what any program needs to start.
fn memory(text: &str) -> Result<u64, String> {
    match values::size(text)? {
        bytes if bytes < 8 << 20 => {
            Err("expected at least 8M: programs do not start with less".to_owned())
        }
        bytes => Ok(bytes),
    }
}

#[derive(Clone, Debug, Default, clap::Args)]
pub(in crate::cli) struct SandboxOptions {
    /// The sandbox that bots run in [default: auto]
    #[arg(long = "sandbox", value_name = "KIND", value_parser = selection())]
    kind: Option<Selection>,

    /// Memory of all processes of a bot together [default: 1G]
    #[arg(long, value_name = "SIZE", value_parser = memory)]
    memory: Option<u64>,

    /// Processes of a bot [default: 64]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    processes: Option<u64>,

    /// Open files of a process, as a plan has them.
    #[arg(skip)]
    open_files: Option<u64>,

    /// Size of a bot's scratch directory, and of the largest file [default: 64M]
    #[arg(long, value_name = "SIZE", value_parser = values::positive_size)]
    scratch: Option<u64>,

    /// A file or directory that bots may read and run, such as where an interpreter is
    /// installed; may be given more than once
    #[arg(long, value_name = "PATH")]
    expose: Vec<PathBuf>,

    /// A variable of the environment for bots: NAME, as it is here, or NAME=VALUE; may be given more
    /// than once. A sandbox has only LANG, LC_*, TERM, TZ, PATH and what the referee sets
    #[arg(long, value_name = "NAME[=VALUE]", value_parser = Variable::parse)]
    env: Vec<Variable>,

    /// Stop a bot while its opponent thinks; also without a sandbox
    #[arg(long)]
    freeze: bool,
}

impl SandboxOptions {
    /// Without a sandbox unless one is asked for.
    pub(in crate::cli) fn or_none(mut self) -> Self {
        self.kind = self.kind.or(Some(Selection(Some(Kind::None))));
        self
    }

    /// What is not given comes from the plan of a resumed tournament.
    pub(in crate::cli) fn or_planned(mut self, planned: &SandboxPlan) -> Self {
        self.kind = self.kind.or_else(|| Some(selected(&planned.kind)));
        self.memory = self.memory.or(Some(planned.memory));
        self.processes = self.processes.or(Some(planned.processes));
        self.open_files = self.open_files.or(Some(planned.open_files));
        self.scratch = self.scratch.or(Some(planned.scratch));
        if self.expose.is_empty() {
            self.expose = planned.expose.iter().map(PathBuf::from).collect();
        }
        if self.env.is_empty() {
            let env = planned.env.iter();
            self.env = env.filter_map(|text| Variable::parse(text).ok()).collect();
        }
        self.freeze |= planned.freeze;
        self
    }

    /// `sandbox`: the one that these options selected.
    pub(in crate::cli) fn plan(&self, sandbox: &Sandbox) -> SandboxPlan {
        let limits = sandbox.limits();
        SandboxPlan {
            kind: sandbox.kind().name().to_owned(),
            layers: sandbox
                .kind()
                .layers()
                .iter()
                .map(|&layer| layer.to_owned())
                .collect(),
            memory: limits.memory,
            memory_by: sandbox.memory_bound(),
            processes: limits.processes,
            open_files: limits.open_files,
            scratch: limits.scratch,
            expose: self
                .expose
                .iter()
                .map(|path| path.to_string_lossy().into_owned())
                .collect(),
            env: self.env.iter().map(|Variable(text)| text.clone()).collect(),
            freeze: sandbox.freezes(),
        }
    }

    /// For compilers, which need more room than bots.
    pub(in crate::cli) fn for_builds(&self) -> Self {
        let limits = self.limits();
        Self {
            memory: Some(limits.memory.max(2 << 30)),
            processes: Some(limits.processes.max(64)),
            open_files: Some(limits.open_files.max(256)),
            scratch: Some(limits.scratch.max(512 << 20)),
            freeze: false,
            ..self.clone()
        }
    }

    /// For repositories among submissions.
    pub(in crate::cli) fn for_repositories(&self) -> SandboxChoice<'_> {
        SandboxChoice::new(Box::new(|| {
            let chosen = self.for_builds().sandbox();
            chosen.map_err(|failure| failure.message(0).unwrap_or_default())
        }))
    }

    /// For a bot that is asked questions alone.
    pub(in crate::cli) fn confine(&self, program: &Program) -> Result<Program, Failure> {
        let sandboxes = self.of_bots(&[BotSpec::Program(program.clone())])?;
        Ok(sandboxes.confine_one(program, &[])?)
    }

    fn limits(&self) -> ResourceLimits {
        let default = ResourceLimits::default();
        ResourceLimits {
            memory: self.memory.unwrap_or(default.memory),
            processes: self.processes.unwrap_or(default.processes),
            open_files: self.open_files.unwrap_or(default.open_files),
            scratch: self.scratch.unwrap_or(default.scratch),
        }
    }

    pub(in crate::cli) fn sandbox(&self) -> Result<Sandbox, Failure> {
        let kind = self.kind.and_then(|Selection(kind)| kind);
        Sandbox::choose(&self.request(kind)?).map_err(|error| refused(&error))
    }

    /// As [`Self::sandbox`]; but when none was asked for and none works here, bots run without one, with a warning.
    pub(in crate::cli) fn of_bots(&self, bots: &[BotSpec]) -> Result<Sandboxes, Failure> {
        if self.kind.is_some() {
            let chosen = self.sandbox()?;
            warn_memory(&chosen, bots.iter().filter_map(BotSpec::program).count());
            return Ok(Sandboxes {
                programs: chosen.clone(),
                builtins: chosen,
            });
        }
        let none = Sandbox::choose(&self.request(Some(Kind::None))?)
            .map_err(|error| Failure::Usage(error.to_string()))?;
        let programs = bots.iter().filter_map(BotSpec::program);
        let count = programs
            .filter(|program| program.builtin().is_none())
            .count();
        let programs = if count > 0 {
            match Sandbox::choose(&self.request(None)?) {
                Ok(sandbox) => sandbox,
                Err(error) if error.obstacle == Obstacle::Absent => {
                    print_stderr(&format!(
                        "referee: no sandbox works here, so bots can do whatever you can ({}); see referee doctor",
                        error.causes()
                    ));
                    none.clone()
                }
                Err(error) => return Err(refused(&error)),
            }
        } else {
            none.clone()
        };
        warn_memory(&programs, count);
        Ok(Sandboxes {
            programs,
            builtins: none,
        })
    }

    fn request(&self, kind: Option<Kind>) -> Result<SandboxRequest, Failure> {
        if self.freeze && cfg!(windows) {
            return Err(Failure::Usage(
                "--freeze: a bot cannot be stopped on Windows while its opponent thinks; leave it out"
                    .to_owned(),
            ));
        }
        Ok(SandboxRequest {
            kind,
            limits: self.limits(),
            expose: self.expose.clone(),
            environment: self
                .env
                .iter()
                .map(Variable::resolve)
                .collect::<Result<_, _>>()?,
            freeze: self.freeze,
            referee: this_program()?,
        })
    }
}

/// What is not the usual sandbox.
pub(in crate::cli) fn announce(sandbox: &Sandbox) {
    print_stderr(&match sandbox.kind() {
        Kind::Bwrap => return,
        Kind::None => "referee: bots run without a sandbox and can do whatever you can".to_owned(),
        kind @ Kind::Landlock => format!("referee: sandbox of the bots: {}", layer_names(kind)),
    });
}

/// Names `--sandbox none` as a way, unless something is missing that a sandbox needs.
fn refused(error: &NotAvailable) -> Failure {
    let NotAvailable { cause, fix, .. } = error;
    Failure::Usage(match error.obstacle {
        Obstacle::Wanting(None | Some(Shortage::Space)) => format!("no sandbox: {cause}; {fix}"),
        Obstacle::Wanting(Some(limit)) => match Exhausted::from_error(&limit.error()) {
            Some(limit) => format!("no sandbox: {limit}"),
            None => format!("no sandbox: {cause}; {fix}"),
        },
        // The error has it where that is the only way.
        _ if fix.contains("--sandbox none") => format!("no sandbox: {error}"),
        _ => format!(
            "no sandbox: {error}; or play without one, if you trust the bots: --sandbox none"
        ),
    })
}

/// When bots together may use more memory than there is, the kernel kills one for what others use.
pub(in crate::cli) fn warn_memory(sandbox: &Sandbox, bots: usize) {
    let each = sandbox.limits().memory;
    let all = each.saturating_mul(bots as u64);
    if sandbox.kind() == Kind::None {
        return;
    }
    if let Some((available, owner)) = available_memory()
        && all > available
    {
        print_stderr(&format!(
            "referee: warning: {bots} bots at the same time may use {} of memory (--memory {}), and {owner} has {}; use --memory \
             {}M, or fewer games at a time",
            text::size(all),
            text::size(each),
            text::size(available >> 20 << 20),
            (available / bots as u64) >> 20
        ));
    }
}

pub(in crate::cli) struct Sandboxes {
    programs: Sandbox,
    /// Trusted, as part of this program, unless a sandbox was asked for.
    builtins: Sandbox,
}

impl Sandboxes {
    /// Confines the programs among the bots; none sees the others' files.
    pub(in crate::cli) fn confine<const N: usize>(
        &self,
        bots: &[BotSpec; N],
    ) -> Result<[BotSpec; N], Failure> {
        let mut confined = bots.clone();
        for (i, bot) in confined.iter_mut().enumerate() {
            let others = bots.iter().enumerate().filter(|(other, _)| *other != i);
            let others = others.filter_map(|(_, bot)| bot.program());
            if let BotSpec::Program(program) = bot {
                *program = self.confine_one(program, &others.collect::<Vec<_>>())?;
            }
        }
        Ok(confined)
    }

    /// `others`: programs whose files it does not see.
    pub(in crate::cli) fn confine_one(
        &self,
        program: &Program,
        others: &[&Program],
    ) -> Result<Program, CannotStart> {
        let sandbox = match program.builtin() {
            Some(_) => &self.builtins,
            None => &self.programs,
        };
        program.clone().confine(sandbox, others)
    }
}

/// Files are copied for every run.
pub(in crate::cli) fn warn_large<'a>(programs: impl Iterator<Item = &'a Program>) {
    for program in programs {
        let copied = program.confinement.as_ref();
        if let Some((path, bytes)) = copied.and_then(Confinement::large_copy) {
            print_stderr(&format!(
                "referee: warning: the files of {} in {} are {} MiB, which are copied once a run; give it a \
                 directory that holds just what it needs, and --expose what is large",
                program.name,
                escape(path.as_os_str().as_encoded_bytes()),
                bytes >> 20
            ));
        }
    }
}

pub(in crate::cli) fn print_interpreters(program: &Program) {
    let seen = program
        .confinement
        .iter()
        .flat_map(Confinement::interpreters);
    for path in seen {
        print_stderr(&format!(
            "referee: {} sees {}",
            program.name,
            escape(path.as_os_str().as_encoded_bytes())
        ));
    }
}

/// Variables that the referee sets.
const OWN: [&str; 3] = ["PATH", "HOME", "TMPDIR"];

/// `--env`: `NAME`, or `NAME=VALUE`.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Variable(String);

impl Variable {
    fn parse(text: &str) -> Result<Self, String> {
        let name = text.split_once('=').map_or(text, |(name, _)| name);
        if name.is_empty() || text.contains('\0') {
            return Err("expected NAME or NAME=VALUE".to_owned());
        }
        if name.starts_with("REFEREE_") {
            return Err(
                "the referee sets the variables whose names begin with REFEREE_ itself".to_owned(),
            );
        }
        if OWN.contains(&name) {
            return Err(format!("{name} cannot be set: the referee sets it itself"));
        }
        Ok(Self(text.to_owned()))
    }

    /// Name and value; without a value, that of the referee's environment.
    fn resolve(&self) -> Result<(String, String), Failure> {
        let text = &self.0;
        if let Some((name, value)) = text.split_once('=') {
            return Ok((name.to_owned(), value.to_owned()));
        }
        let shown = escape(text.as_bytes());
        let value = env::var(text).map_err(|error| {
            Failure::Usage(format!(
                "--env {shown}: {error}; set it before the referee is started, or give its value: --env {shown}=VALUE"
            ))
        })?;
        Ok((text.clone(), value))
    }
}

/// Warns root of bots without a sandbox. Built-in bots are this program itself.
pub(in crate::cli) fn warn_root<'a>(mut programs: impl Iterator<Item = &'a Program>) {
    let is_unconfined = |program: &Program| {
        let files = program.confinement.as_ref().and_then(Confinement::hash);
        files.is_none() && program.builtin().is_none()
    };
    if is_root() && programs.any(is_unconfined) {
        print_stderr(
            "referee: WARNING: you are root, and bots run without a sandbox: they can do ANYTHING to this \
             machine; use --sandbox auto, or run the referee as another user",
        );
    }
}
