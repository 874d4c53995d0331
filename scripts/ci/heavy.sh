#!/usr/bin/env bash
# heavy.sh [PART...]: what takes too long for every change, downloads much, or measures. By hand, on an otherwise idle machine,
# before work that touches it is said to be done; its figures go into the note of that work. All parts take hours.
#
#   crates       licences and sources of all crates (cargo-deny)
#   guide        the documents as a site (mdbook)
#   systems      clippy for other systems; the programs and tests for Windows (Wine) and arm64 (QEMU); the portable build
#   packages     the packages of a release, made and tried; the module of Python with what its registries offer
#   web          whether the module of the pages is what its sources make
#   environment  the modules of tests/environment that .ci/run leaves out
#   planted      whether a mistake in each layer makes the tests of .ci/run red
#   fuzz         each fuzz target for a minute
#   rough        the tests on one core beside busy loops and a busy disk, as an ordinary user, in German, years ahead
#   load         thirty students that hand in at the same time, beside 300 watchers
set -euo pipefail
cd "$(dirname "$0")/../.."
export CI=true
# shellcheck source=scripts/ci/steps.sh
. scripts/ci/steps.sh
# shellcheck source=scripts/ci/tools.sh
. scripts/ci/tools.sh
trap 'summary "$?"' EXIT

known=(crates guide systems packages web environment planted fuzz rough load)
for part in "$@"; do
  case " ${known[*]} " in *" $part "*) ;; *)
    echo "heavy.sh: $part: expected one of ${known[*]}" >&2
    exit 2
    ;;
  esac
done
parts=" ${*:-${known[*]}} "
wants() { [[ $parts == *" $1 "* ]]; }
# cargo_tool COMMAND CRATE@VERSION [OPTION...]: from source, not optimised, since it runs for seconds.
cargo_tool() {
  local command=$1
  shift
  "$command" --version >/dev/null 2>&1 || cargo install --locked --debug "$@"
}

step "tools"
usual_tools
if wants systems || wants packages || wants environment; then
  need x86_64-w64-mingw32-gcc:gcc-mingw-w64-x86-64 wine:wine aarch64-linux-gnu-gcc:gcc-aarch64-linux-gnu \
    qemu-aarch64:qemu-user /usr/aarch64-linux-gnu/include/stdint.h:libc6-dev-arm64-cross \
    slurmctld:slurm-wlm munged:munge parallel:parallel sshd:openssh-server ssh:openssh-client
  rustup target add x86_64-pc-windows-gnu aarch64-unknown-linux-musl x86_64-unknown-linux-musl \
    aarch64-unknown-linux-gnu aarch64-apple-darwin x86_64-unknown-freebsd
  # As scripts/packages/make.py has them: with others, Cargo would build again.
  export CARGO_TARGET_AARCH64_UNKNOWN_LINUX_MUSL_LINKER=aarch64-linux-gnu-gcc
  export CARGO_TARGET_X86_64_PC_WINDOWS_GNU_LINKER=x86_64-w64-mingw32-gcc
fi

if wants crates; then
  step "crates"
  cargo_tool cargo-deny cargo-deny@0.20.2
  cargo deny --locked --workspace check bans licenses sources
fi
if wants guide; then
  step "guide"
  cargo_tool mdbook mdbook@0.5.4 --no-default-features --features search
  scripts/book.py
fi
if wants web; then
  step "module of the pages"
  rustup target add wasm32-unknown-unknown
  scripts/web/make.sh --check
fi
if wants systems; then
  step "clippy, other systems"
  cargo clippy --target aarch64-apple-darwin --locked --target-dir target/checks -- -D warnings
  cargo clippy --target x86_64-pc-windows-gnu --target x86_64-unknown-freebsd \
    -p referee-host -p referee-sandbox -p referee-match --locked --target-dir target/checks -- -D warnings
  # What macOS and the BSDs do, done here (docs/systems.md): how bots are started, stopped and judged.
  step "portable build"
  tests env PORTABLE_BUILD=1 cargo test --locked --target-dir target/portable --no-fail-fast --test integration -- \
    faults:: matches:: stopping:: starting:: tournament::
fi
if wants packages || wants environment; then
  step "packages"
  cargo_tool cargo-deb cargo-deb@3.8.0
  python_with "$pandas" "$joblib" "$maturin"
  [ -d target/wheelhouse/node_modules ] || scripts/packages/check_wheel.py --download
  # How they are made is tried, not how quick their program is. The module of Python for this machine is optimised: its
  # tests learn.
  PACKAGES_PROFILE=dev PATH="$PWD/target/tools/bin:$PATH" scripts/packages/make.py
fi
if wants environment || wants packages || wants systems; then
  step "build"
  make -C players
  cargo build --locked
  cargo test --locked --test environment --no-run
fi
for module in "${heavy_modules[@]}"; do
  case $module in
    packages) wants packages || wants environment || continue ;;
    arm64 | systems | windows) wants systems || wants environment || continue ;;
    *) wants environment || continue ;;
  esac
  step "environment, $module"
  tests cargo test --locked --test environment -- "$module::"
done
if wants planted; then
  step "planted mistakes"
  scripts/ci/planted.py
fi
if wants fuzz; then
  step "fuzz"
  cargo_tool cargo-fuzz cargo-fuzz@0.13.2
  fuzz/run.sh 60
fi
if wants rough; then
  step "rough machine"
  scripts/ci/rough.sh
fi
if wants load; then
  step "class server under load"
  cargo build --locked --release --features class-server
  scripts/class_server/load.py
  step "class server, killed forty times"
  REFEREE_KILLS=40 tests cargo test --locked --features class-server --test class_server -- killed
fi
