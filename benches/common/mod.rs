//! Shared by the benches of whole matches.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::{env, fs};

/// Sorts figures.
pub(crate) fn sorted(figures: impl Iterator<Item = f64>) -> Vec<f64> {
    let mut figures: Vec<f64> = figures.collect();
    figures.sort_by(f64::total_cmp);
    figures
}

/// The median of sorted figures.
pub(crate) fn median_of_sorted(figures: &[f64]) -> f64 {
    figures[figures.len() / 2]
}

/// Compiles the instant bot, next to the bench's program.
pub(crate) fn build_instant() -> PathBuf {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("benches/bots/instant.rs");
    // In a directory of its own: a sandbox copies it.
    let directory = env::current_exe().unwrap().with_file_name("instant-bot");
    fs::create_dir_all(&directory).unwrap();
    let target = directory.join("instant");
    let status = Command::new(env::var_os("RUSTC").unwrap_or_else(|| "rustc".into()))
        .args(["--edition=2024", "-Copt-level=3", "-Cpanic=abort"])
        .args(["-Ctarget-feature=+crt-static", "-o"])
        .arg(&target)
        .arg(source)
        .status()
        .expect("rustc starts");
    assert!(status.success(), "rustc failed");
    target
}
