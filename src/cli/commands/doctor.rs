use std::env;
use std::fmt::Write as _;
use std::io;

use serde_json::json;

use crate::cli::support::failure::Result;
use crate::cli::support::output::print_found;
use crate::cli::support::sandbox::{SandboxOptions, layer_names};
use referee::entrants::build::{BuildCache, CacheUse};
use referee::report::terminal::{Palette, styled};
use referee::sandbox::{self, ProbeReport, SandboxKind};
use referee::system::kernel_release;
use referee::text::cause;

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Print one JSON object
    #[arg(long, help_heading = "Output")]
    json: bool,
}

pub(crate) fn run(args: &Args) -> Result<()> {
    let findings = sandbox::examine(&SandboxOptions::default().request(None)?);
    let mut all = findings.iter();
    let auto = all.find_map(|finding| finding.sandbox.filter(|_| finding.works));
    let cache = BuildCache::open().map(|cache| cache.usage());
    let json = || {
        let builds = match &cache {
            Ok(found) => json!({
                "folder": found.folder,
                "entries": found.entries,
                "bytes": found.bytes,
                "most_entries": found.limits.entries,
                "most_bytes": found.limits.bytes,
            }),
            Err(error) => json!({"problem": cause(error)}),
        };
        json!({
            "referee": env!("CARGO_PKG_VERSION"),
            "system": system(),
            "auto": auto.map_or("none", |kind| kind.name()),
            "findings": findings,
            "builds": builds,
        })
    };
    print_found(args.json, json, |palette| {
        text(&findings, auto, palette) + &of_builds(&cache, palette)
    })
}

fn mark(works: bool, palette: &Palette) -> String {
    let (mark, style) = if works {
        ("✓", palette.good)
    } else {
        ("✗", palette.problem)
    };
    styled(style, mark)
}

/// Where what was built of sources is kept.
fn of_builds(cache: &io::Result<CacheUse>, palette: &Palette) -> String {
    let mark = mark(cache.is_ok(), palette);
    match cache {
        Ok(found) => {
            let megabytes = |bytes: u64| bytes.div_ceil(1 << 20);
            format!(
                "{mark} bots built of sources: {}, {} of {} at most, {} of {} MB\n",
                found.folder.display(),
                found.entries,
                found.limits.entries,
                megabytes(found.bytes),
                megabytes(found.limits.bytes)
            )
        }
        Err(error) => format!(
            "{mark} bots built of sources: there is no place for them: {}\n    \
             -> set XDG_CACHE_HOME to a folder where you may write\n",
            cause(error)
        ),
    }
}

fn text(findings: &[ProbeReport], auto: Option<SandboxKind>, palette: &Palette) -> String {
    let mut text = String::new();
    for finding in findings {
        let mark = mark(finding.works, palette);
        let _ = writeln!(text, "{mark} {}: {}", finding.probe, finding.result);
        for refused in &finding.refused {
            let _ = writeln!(text, "    it cannot {refused}");
        }
        if let Some(fix) = &finding.fix {
            let _ = writeln!(text, "    -> {fix}");
        }
    }
    text + &match auto {
        Some(kind) => format!("--sandbox auto selects {kind}: {}.\n", layer_names(kind)),
        None => "No sandbox works here, so --sandbox auto refuses to play.\n".to_owned(),
    }
}

fn system() -> String {
    let kernel = kernel_release();
    let words = [env::consts::OS, env::consts::ARCH, &kernel].join(" ");
    words.trim_end().to_owned()
}
