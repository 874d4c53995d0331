use crate::cli::support::prelude::*;
use crate::cli::support::sandbox::layer_names;
use referee::report::terminal::styled;
use referee::sandbox::{self, Finding, Kind};
use referee::system::kernel_release;

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(args: &Args) -> Result<()> {
    let findings = sandbox::examine(&SandboxOptions::default().request(None)?);
    let mut all = findings.iter();
    let auto = all.find_map(|finding| finding.sandbox.filter(|_| finding.works));
    let json = || {
        json!({
            "referee": env!("CARGO_PKG_VERSION"),
            "system": system(),
            "auto": auto.map_or("none", |kind| kind.name()),
            "findings": findings,
        })
    };
    print_found(args.json, json, |palette| text(&findings, auto, palette))
}

fn text(findings: &[Finding], auto: Option<Kind>, palette: &Palette) -> String {
    let mut text = String::new();
    for finding in findings {
        let (mark, style) = if finding.works {
            ("✓", palette.good)
        } else {
            ("✗", palette.problem)
        };
        let mark = styled(style, mark);
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
