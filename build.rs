//! `PORTABLE_BUILD=1 cargo …` builds on Linux what macOS and the BSDs do (docs/systems.md).
//!
//! A variable, since `RUSTFLAGS="--cfg portable"` would compile all dependencies once more, and a feature would be
//! switched on by `--all-features`.

fn main() {
    println!("cargo::rustc-check-cfg=cfg(portable)");
    println!("cargo::rerun-if-env-changed=PORTABLE_BUILD");
    if std::env::var_os("PORTABLE_BUILD").is_some_and(|value| !value.is_empty()) {
        println!("cargo::rustc-cfg=portable");
    }
}
