#!/usr/bin/env bash
# Fuzzes every target for so many seconds each:  fuzz/run.sh 60
# Needs a nightly toolchain and cargo-fuzz (cargo install cargo-fuzz).
set -euo pipefail
cd "$(dirname "$0")"
for target in answer channel pieces record; do
  echo "== $target"
  mkdir -p "corpus/$target"
  cargo +nightly fuzz run "$target" "corpus/$target" "seeds/$target" -- \
    -max_total_time="${1:-60}" -timeout=10 -rss_limit_mb=2048 -print_final_stats=1
done
