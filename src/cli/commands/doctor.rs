use crate::cli::support::prelude::*;
use crate::cli::support::sandbox::layer_names;
use referee::report::terminal::styled;
use referee::sandbox::{ResourceLimits, SandboxRequest, examine};
use referee::system::kernel_release;

#[derive(Debug, clap::Args)]
pub(crate) struct Args {
    /// Print one JSON object
    #[arg(long)]
    json: bool,
}

pub(crate) fn run(args: &Args) -> Result<()> {
    let request = SandboxRequest {
        kind: None,
        limits: ResourceLimits::default(),
        expose: Vec::new(),
        environment: Vec::new(),
        freeze: false,
        referee: this_program()?,
    };
    let findings = examine(&request);
    let mut all = findings.iter();
    let auto = all.find_map(|finding| finding.sandbox.filter(|_| finding.works));
    let mut out = Stdout;
    if args.json {
        let report = json!({
            "referee": env!("CARGO_PKG_VERSION"),
            "system": system(),
            "auto": auto.map_or("none", |kind| kind.name()),
            "findings": findings,
        });
        writeln!(out, "{report}")?;
        return Ok(());
    }
    let palette = palette(&io::stdout());
    for finding in &findings {
        let (mark, style) = if finding.works {
            ("✓", palette.good)
        } else {
            ("✗", palette.problem)
        };
        let mark = styled(style, mark);
        writeln!(out, "{mark} {}: {}", finding.probe, finding.result)?;
        for refused in &finding.refused {
            writeln!(out, "    it cannot {refused}")?;
        }
        if let Some(fix) = &finding.fix {
            writeln!(out, "    -> {fix}")?;
        }
    }
    match auto {
        Some(kind) => {
            let layers = layer_names(kind);
            writeln!(out, "--sandbox auto selects {kind}: {layers}.")?;
        }
        None => writeln!(
            out,
            "No sandbox works here, so --sandbox auto refuses to play."
        )?,
    }
    Ok(())
}

fn system() -> String {
    let kernel = kernel_release();
    let words = [env::consts::OS, env::consts::ARCH, &kernel].join(" ");
    words.trim_end().to_owned()
}
