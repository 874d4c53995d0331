//! Compresses the module as pages hold it: `pack MODULE.wasm MODULE.wasm.z`.

use std::env;
use std::fs;
use std::io::{self, Write as _};

use flate2::Compression;
use flate2::write::ZlibEncoder;

fn main() -> io::Result<()> {
    let mut arguments = env::args_os().skip(1);
    let (Some(from), Some(to)) = (arguments.next(), arguments.next()) else {
        return Err(io::Error::other("expected a module and a file to write"));
    };
    let mut packed = ZlibEncoder::new(Vec::new(), Compression::best());
    packed.write_all(&fs::read(from)?)?;
    fs::write(to, packed.finish()?)
}
