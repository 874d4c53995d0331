/// The name by which `--log` selects what this crate logs.
pub const LOG_TARGET: &str = "referee::sandbox";
