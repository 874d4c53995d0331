#!/usr/bin/env bash
# Fuzzes each target for a number of seconds:  fuzz/run.sh 60
# Needs cargo-fuzz (cargo install cargo-fuzz).
set -euo pipefail
cd "$(dirname "$0")"
# Coverage and sanitizers need a nightly compiler, or a stable one with unstable options enabled.
cargo=(cargo)
if cargo +nightly --version >/dev/null 2>&1; then
  cargo+=(+nightly)
else
  export RUSTC_BOOTSTRAP=1
fi
for target in answer channel pieces record; do
  echo "== $target"
  mkdir -p "corpus/$target"
  "${cargo[@]}" fuzz run "$target" "corpus/$target" "seeds/$target" -- \
    -max_total_time="${1:-60}" -timeout=10 -rss_limit_mb=2048 -print_final_stats=1
done
