# What contributors do; CONTRIBUTING.md says more. `just` lists it.

_list:
    @just --list --unsorted

# Build if need be, and play a match.
play *ARGUMENTS="-v players/random.sh players/random.sh":
    ./referee {{ARGUMENTS}}

# The tests that need only Rust, or a part: just test faults::
test *FILTER:
    cargo test --locked {{ if FILTER == "" { "" } else { "--test integration " + FILTER } }}

# Write what the program prints now, and show what is another than before.
golden *FILTER:
    UPDATE_GOLDEN=1 cargo test --locked --test golden --test golden_interpreters {{FILTER}}
    git diff --stat -- tests/golden

# A tournament's page while its style and scripts are changed.
page:
    ./referee tournament builtin:greedy builtin:random builtin:perfect --pairs 2 --report target/page.html
    node scripts/pages/preview.mjs target/page.html

# Before a commit: format, lints, words, and the JavaScript of the pages.
check:
    cargo fmt --all --check
    cargo clippy --workspace --all-targets --locked -- -D warnings
    scripts/words.py
    scripts/pages/check.sh

# What CI does; on Debian it installs what is missing.
ci:
    .ci/run
