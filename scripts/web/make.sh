#!/bin/sh
# Makes the WebAssembly module that pages hold, crates/report/src/html/assets/games.wasm.z. The toolchain of
# crates/web/rust-toolchain.toml makes the same bytes in any folder. Its solver takes three quarters of the time with vectors.
# --check: says whether the module there is up to date.
set -eu
cd "$(dirname "$0")/../../crates/web"
module=../report/src/html/assets/games.wasm.z
out=../../target/web
cargo=${CARGO_HOME:-$HOME/.cargo}
RUSTFLAGS="-C target-feature=+simd128 --remap-path-prefix=$cargo=cargo --remap-path-prefix=$(cd ../.. && pwd)=referee" \
  cargo build --locked --quiet --profile web --target wasm32-unknown-unknown --target-dir "$out"
cargo run --locked --quiet --example pack --target-dir "$out" -- \
  "$out/wasm32-unknown-unknown/web/referee_web.wasm" "$out/games.wasm.z"
if [ "${1:-}" != --check ]; then
  cp "$out/games.wasm.z" "$module"
elif ! cmp "$out/games.wasm.z" "$module"; then
  echo "games.wasm.z is not what scripts/web/make.sh makes: run it, and commit the module" >&2
  exit 1
fi
