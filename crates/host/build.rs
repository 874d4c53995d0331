//! As in the root's build.rs: a package holds its own.

fn main() {
    println!("cargo::rustc-check-cfg=cfg(portable)");
    println!("cargo::rerun-if-env-changed=PORTABLE_BUILD");
    if std::env::var_os("PORTABLE_BUILD").is_some_and(|value| !value.is_empty()) {
        println!("cargo::rustc-cfg=portable");
    }
}
