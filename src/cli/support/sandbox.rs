//! The options of a sandbox, for all commands that start bots.

use std::env;
use std::path::PathBuf;

use clap::builder::TypedValueParser;

use super::failure::{Failure, Result, bail, usage};
use super::output::{note, print_stderr};
use super::setup::this_program;
use super::values::{self, one_of};
use referee::bot::exhaustion::{Exhausted, available_memory};
use referee::bot::spec::{CannotStart, Program};
use referee::class::league::intake::SandboxChoice;
use referee::sandbox::{
    Confinement, ResourceLimits, Sandbox, SandboxKind, SandboxObstacle, SandboxRequest,
    SandboxUnavailable,
};
use referee::system::{Shortage, is_root};
use referee::text::{self, escape};
use referee::tournament::plan::SandboxPlan;

/// `None`: the first that works.
#[derive(Clone, Copy, Debug)]
struct Selection(Option<SandboxKind>);

fn selection() -> impl TypedValueParser<Value = Selection> {
    let auto = "Bubblewrap if it works, else Landlock. If neither does, a match or a check warns and runs without, other commands refuse";
    let kinds = [
        ("auto", auto),
        ("bwrap", "Bubblewrap and seccomp"),
        ("landlock", "Landlock and seccomp"),
        ("none", "Nothing: for bots that you trust"),
    ];
    one_of(kinds.map(|(name, help)| (name, help, selected(name))))
}

fn selected(name: &str) -> Selection {
    let kinds = [SandboxKind::Bwrap, SandboxKind::Landlock, SandboxKind::None];
    let kind = kinds.into_iter().find(|kind| kind.name() == name);
    Selection(kind)
}

/// Plans call the supervisor by its old name, `guard`.
pub(crate) fn layer_names(kind: SandboxKind) -> String {
    kind.layers().join(", ").replace("guard", "supervisor")
}

fn memory(text: &str) -> Result<u64, String> {
    match values::size(text)? {
        bytes if bytes < 8 << 20 => {
            Err("expected at least 8M: programs do not start with less".to_owned())
        }
        bytes => Ok(bytes),
    }
}

#[derive(Clone, Debug, Default, clap::Args)]
pub(crate) struct SandboxOptions {
    /// The sandbox that bots run in [default: auto]
    #[arg(long = "sandbox", value_name = "KIND", value_parser = selection(), help_heading = "Sandbox (Linux)")]
    kind: Option<Selection>,

    /// Memory of all processes of a bot together [default: 1G]
    #[arg(long, value_name = "SIZE", value_parser = memory, help_heading = "Sandbox (Linux)", hide_short_help = true)]
    memory: Option<u64>,

    /// Processes of a bot [default: 64]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..), help_heading = "Sandbox (Linux)", hide_short_help = true)]
    processes: Option<u64>,

    /// Open files of a process, as a plan has them.
    #[arg(skip)]
    open_files: Option<u64>,

    /// A bot's scratch directory, and its largest file [default: 64M]
    #[arg(long, value_name = "SIZE", value_parser = values::positive_size, help_heading = "Sandbox (Linux)", hide_short_help = true)]
    scratch: Option<u64>,

    /// A file or directory that bots may read and run; may be repeated
    ///
    /// Such as where an interpreter is installed
    #[arg(
        long,
        value_name = "PATH",
        help_heading = "Sandbox (Linux)",
        hide_short_help = true
    )]
    expose: Vec<PathBuf>,

    /// A variable for bots, with this value or as it is here; may be repeated
    ///
    /// A sandbox has only LANG, LC_*, TERM, TZ, PATH and what the referee sets
    #[arg(long, value_name = "NAME[=VALUE]", value_parser = variable, help_heading = "Sandbox (Linux)", hide_short_help = true)]
    env: Vec<String>,

    /// Stop a bot while its opponent thinks; also without a sandbox
    #[arg(long, help_heading = "Sandbox (Linux)", hide_short_help = true)]
    freeze: bool,
}

impl SandboxOptions {
    pub(crate) fn or_none(mut self) -> Self {
        self.kind = self.kind.or(Some(Selection(Some(SandboxKind::None))));
        self
    }

    pub(crate) fn or_planned(mut self, planned: &SandboxPlan) -> Self {
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
            self.env = env.filter_map(|text| variable(text).ok()).collect();
        }
        self.freeze |= planned.freeze;
        self
    }

    /// `sandbox`: the one that these options selected.
    pub(crate) fn plan(&self, sandbox: &Sandbox) -> SandboxPlan {
        let limits = sandbox.limits();
        let layers = sandbox.kind().layers().iter();
        let expose = self.expose.iter().map(|path| path.to_string_lossy());
        SandboxPlan {
            kind: sandbox.kind().name().to_owned(),
            layers: layers.map(|&layer| layer.to_owned()).collect(),
            memory: limits.memory,
            memory_by: sandbox.memory_bound(),
            processes: limits.processes,
            open_files: limits.open_files,
            scratch: limits.scratch,
            expose: expose.map(Into::into).collect(),
            env: self.env.clone(),
            freeze: sandbox.freezes(),
        }
    }

    pub(crate) fn for_builds(&self) -> Self {
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

    pub(crate) fn for_repositories(&self) -> SandboxChoice<'_> {
        SandboxChoice::new(Box::new(|| {
            let chosen = self.for_builds().sandbox();
            chosen.map_err(|failure| failure.message(0).unwrap_or_default())
        }))
    }

    pub(crate) fn confine(&self, program: &Program) -> Result<Program> {
        Ok(self.of_bots(std::slice::from_ref(program))?(0)?)
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

    pub(crate) fn sandbox(&self) -> Result<Sandbox> {
        let kind = self.kind.and_then(|Selection(kind)| kind);
        self.choose(kind)?.map_err(|error| refused(&error))
    }

    /// For builds: where no sandbox is to be had, bots are warned of and run without, and so are builds.
    pub(crate) fn of_builds(&self) -> Result<Sandbox> {
        if self.kind.is_some() {
            return self.sandbox();
        }
        match self.choose(None)? {
            Err(error)
                if matches!(
                    error.obstacle,
                    SandboxObstacle::Absent | SandboxObstacle::Unsupported
                ) =>
            {
                self.choose(Some(SandboxKind::None))?
                    .map_err(|error| refused(&error))
            }
            chosen => chosen.map_err(|error| refused(&error)),
        }
    }

    /// Confines one of the programs, by its place. What is built in is trusted, as part of this program, unless a sandbox
    /// was asked for.
    pub(crate) fn of_bots<'a>(
        &self,
        programs: &'a [Program],
    ) -> Result<impl Fn(usize) -> Result<Program, CannotStart> + use<'a>> {
        let foreign = programs.iter().filter(|one| one.builtin().is_none());
        let mut count = foreign.count();
        let none = || self.choose(Some(SandboxKind::None));
        let (chosen, builtins) = if self.kind.is_some() {
            count = programs.len();
            let chosen = self.sandbox()?;
            (Ok(chosen.clone()), chosen)
        } else {
            let chosen = if count > 0 { self.choose(None) } else { none() };
            (chosen?, none()?.map_err(|error| refused(&error))?)
        };
        let chosen = match chosen {
            Err(error)
                if matches!(
                    error.obstacle,
                    SandboxObstacle::Absent | SandboxObstacle::Unsupported
                ) =>
            {
                note!(
                    "no sandbox works here, so bots can do whatever you can ({}); see referee doctor",
                    error.causes()
                );
                builtins.clone()
            }
            chosen => chosen.map_err(|error| refused(&error))?,
        };
        warn_memory(&chosen, count);
        Ok(move |place: usize| {
            let program = programs[place].clone();
            let others = programs[..place].iter().chain(&programs[place + 1..]);
            let sandbox = match program.builtin() {
                Some(_) => &builtins,
                None => &chosen,
            };
            program.confine(sandbox, &others.collect::<Vec<_>>())
        })
    }

    fn choose(&self, kind: Option<SandboxKind>) -> Result<Result<Sandbox, SandboxUnavailable>> {
        if self.freeze && cfg!(windows) {
            bail!(
                "--freeze: a bot cannot be stopped on Windows while its opponent thinks; leave it out"
            );
        }
        Ok(Sandbox::choose(&self.request(kind)?))
    }

    /// `kind`: none for the first that works.
    pub(crate) fn request(&self, kind: Option<SandboxKind>) -> Result<SandboxRequest> {
        let environment = self.env.iter().map(|text| resolve(text));
        Ok(SandboxRequest {
            kind,
            limits: self.limits(),
            expose: self.expose.clone(),
            environment: environment.collect::<Result<_, _>>()?,
            freeze: self.freeze,
            referee: this_program()?,
        })
    }
}

/// What is not the usual sandbox.
pub(crate) fn announce(sandbox: &Sandbox) {
    print_stderr(&match sandbox.kind() {
        SandboxKind::Bwrap => return,
        SandboxKind::None => {
            "referee: bots run without a sandbox and can do whatever you can".to_owned()
        }
        kind @ SandboxKind::Landlock => {
            format!("referee: sandbox of the bots: {}", layer_names(kind))
        }
    });
}

/// Names `--sandbox none` as a way, unless something is missing that a sandbox needs.
fn refused(error: &SandboxUnavailable) -> Failure {
    let SandboxUnavailable { cause, fix, .. } = error;
    Failure::Usage(match error.obstacle {
        SandboxObstacle::Wanting(Some(limit))
            if limit != Shortage::Space
                && let Some(limit) = Exhausted::from_error(&limit.error()) =>
        {
            format!("no sandbox: {limit}")
        }
        SandboxObstacle::Wanting(_) => format!("no sandbox: {cause}; {fix}"),
        // The fix is to play without one.
        SandboxObstacle::Unsupported => format!("no sandbox: {error}"),
        SandboxObstacle::Absent | SandboxObstacle::Late | SandboxObstacle::Broken => format!(
            "no sandbox: {error}; or play without one, if you trust the bots: --sandbox none"
        ),
    })
}

/// When bots together may use more memory than there is, the kernel kills one for what others use.
pub(crate) fn warn_memory(sandbox: &Sandbox, bots: usize) {
    let each = sandbox.limits().memory;
    let all = each.saturating_mul(bots as u64);
    if sandbox.kind() == SandboxKind::None {
        return;
    }
    if let Some((available, owner)) = available_memory()
        && all > available
    {
        note!(
            "warning: {bots} bots at the same time may use {} of memory (--memory {}), and {owner} has {}; use --memory \
             {}M, or fewer games at a time",
            text::size(all),
            text::size(each),
            text::size(available >> 20 << 20),
            (available / bots as u64) >> 20
        );
    }
}

pub(crate) fn warn_large<'a>(programs: impl Iterator<Item = &'a Program>) {
    for program in programs {
        let copied = program.confinement.as_ref();
        if let Some((path, bytes)) = copied.and_then(Confinement::large_copy) {
            note!(
                "warning: the files of {} in {} are {} MiB, which are copied once a run; give it a \
                 directory that holds just what it needs, and --expose what is large",
                program.name,
                escape(path.as_os_str().as_encoded_bytes()),
                bytes >> 20
            );
        }
    }
}

const OWN: [&str; 3] = ["PATH", "HOME", "TMPDIR"];

/// `--env`: `NAME`, or `NAME=VALUE`.
fn variable(text: &str) -> Result<String, String> {
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
    Ok(text.to_owned())
}

fn resolve(variable: &str) -> Result<(String, String)> {
    if let Some((name, value)) = variable.split_once('=') {
        return Ok((name.to_owned(), value.to_owned()));
    }
    let shown = escape(variable.as_bytes());
    let value = env::var(variable).map_err(|error| {
        usage!(
            "--env {shown}: {error}; set it before the referee is started, or give its value: --env {shown}=VALUE"
        )
    })?;
    Ok((variable.to_owned(), value))
}

pub(crate) fn warn_root<'a>(mut programs: impl Iterator<Item = &'a Program>) {
    let is_unconfined = |program: &Program| {
        let files = program.confinement.as_ref().and_then(Confinement::files);
        files.is_none() && program.builtin().is_none()
    };
    if is_root() && programs.any(is_unconfined) {
        note!(
            "WARNING: you are root, and bots run without a sandbox: they can do ANYTHING to this \
             machine; use --sandbox auto, or run the referee as another user"
        );
    }
}
