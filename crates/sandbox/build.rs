//! `PORTABLE_BUILD=1 cargo …` builds on Linux what macOS and the BSDs do (docs/systems.md). A
//! variable: `RUSTFLAGS` would rebuild all dependencies, and `--all-features` would switch a
//! feature on.

fn main() {
    println!("cargo::rustc-check-cfg=cfg(portable)");
    println!("cargo::rerun-if-env-changed=PORTABLE_BUILD");
    println!("cargo::rerun-if-changed=build.rs");
    if std::env::var_os("PORTABLE_BUILD").is_some_and(|value| !value.is_empty()) {
        println!("cargo::rustc-cfg=portable");
    }
}
