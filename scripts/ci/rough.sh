#!/usr/bin/env bash
# rough.sh [PART] [NAME]: the tests on a rough machine. PART is one of
#   load    nice 19, one core, eight busy loops and a process that reads and writes the disk beside them
#   bare    without /proc/pressure, as an ordinary user: as root only
#   clock   in German where that locale exists, and fourteen years ahead
#   all     all of these together, the default
# NAME selects tests, as for cargo test: `scripts/ci/rough.sh load serve::`. CI runs a part of `all`.
#
# The tests are built before, on the usual machine. What cannot be had here is said and left out.
set -euo pipefail
cd "$(dirname "$0")/../.."

part=${1:-all}
case $part in load | bare | clock | all) ;; *)
  sed -n '2,8s/^# \{0,1\}//p' "$0" >&2
  exit 2
  ;;
esac
name=${2:-}

# wants PART: whether it is asked for.
wants() { [ "$part" = all ] || [ "$part" = "$1" ]; }
left_out() { echo "rough: left out: $*"; }

# Each program of `cargo test`, with the folder in which it runs.
cargo test --locked --no-run --quiet
mapfile -t tests < <(
  cargo test --locked --no-run --quiet --message-format json 2>/dev/null |
    sed -n '/"test":true},"features"/s|.*"manifest_path":"\([^"]*\)/Cargo.toml".*"executable":"\([^"]*\)".*|\1 \2|p'
)
[ "${#tests[@]}" -gt 0 ] || { echo "rough: no tests were built" >&2; exit 1; }

scratch=$(mktemp -d)
chmod 755 "$scratch"
# Also on Ctrl-C, and when a test fails: what runs beside the tests has a process group of its own. Where this script is
# killed it ends by itself.
group=
clean() {
  trap - EXIT INT TERM HUP
  [ -z "$group" ] || kill -KILL -- "-$group" 2>/dev/null || true
  rm -rf "$scratch"
}
trap clean EXIT
trap 'clean; exit 130' INT TERM HUP

# What each test program is started with, from the outside in, and what is passed to it.
around=()
arguments=()
[ -z "$name" ] || arguments+=("$name")

if wants load; then
  pinned=()
  if command -v taskset >/dev/null && taskset -c 0 true 2>/dev/null; then
    pinned=(taskset -c 0)
  else
    left_out "one core: there is no taskset, or no first core"
  fi
  # The loops have the priority of the tests: beside eight with a higher one the tests would never run.
  set -m
  # shellcheck disable=SC2016 # expanded by that shell
  "${pinned[@]}" nice -n 19 bash -c '
    parent=$1 scratch=$2
    alive() { kill -0 "$parent" 2>/dev/null; }
    for _ in 1 2 3 4 5 6 7 8; do
      (while alive; do for ((i = 0; i < 100000; i++)); do :; done; done) &
    done
    while alive; do
      dd if=/dev/zero of="$scratch/disk" bs=1M count=256 conv=fsync
      dd if="$scratch/disk" of=/dev/null bs=1M iflag=direct || dd if="$scratch/disk" of=/dev/null bs=1M
    done
    wait' rough "$$" "$scratch" </dev/null >/dev/null 2>&1 &
  group=$!
  set +m
  around+=("${pinned[@]}" nice -n 19)
fi

if wants bare; then
  if [ "$(id -u)" != 0 ]; then
    left_out "no /proc/pressure and another user: that takes root"
  else
    if [ ! -e /proc/pressure ]; then
      echo "rough: this system has no /proc/pressure anyway"
    elif unshare -m mount -t tmpfs none /proc/pressure 2>/dev/null; then
      # An empty folder over it, which only the tests see.
      around+=(unshare -m sh -c 'mount -t tmpfs none /proc/pressure && exec "$@"' sh)
    else
      left_out "no /proc/pressure: nothing can be mounted over it here"
    fi
    # One of whom nobody has heard.
    user=(setpriv --reuid 65432 --regid 65432 --clear-groups)
    if ! "${user[@]}" "${tests[0]#* }" --list >/dev/null 2>&1; then
      left_out "an ordinary user: no setpriv, or others cannot read $PWD"
    else
      mkdir "$scratch/home" "$scratch/tmp"
      chown 65432:65432 "$scratch/home" "$scratch/tmp"
      around+=("${user[@]}" env "HOME=$scratch/home" "TMPDIR=$scratch/tmp")
      # They build, into this folder (scripts/ci/newcomer.sh has a folder of the user's own).
      left_out "examples::, which an ordinary user cannot build here"
      arguments+=(--skip examples::)
    fi
  fi
fi

if wants clock; then
  if [ "$(LC_ALL=de_DE.UTF-8 locale charmap 2>/dev/null)" = UTF-8 ]; then
    around+=(env LC_ALL=de_DE.UTF-8)
  else
    left_out "LC_ALL=de_DE.UTF-8: there is no such locale"
  fi
  # What the tests start gets it, too (KEPT in tests/common).
  if cc -shared -fPIC -o "$scratch/years_ahead.so" scripts/ci/years_ahead.c 2>/dev/null &&
    [ "$(LD_PRELOAD=$scratch/years_ahead.so date +%Y)" -gt "$(($(date +%Y) + 12))" ]; then
    around+=(env "LD_PRELOAD=$scratch/years_ahead.so")
  else
    left_out "another date: no cc, or a date that cannot be preloaded"
  fi
fi

failed=()
echo "rough: started with: ${around[*]:-nothing}"
for test in "${tests[@]}"; do
  folder=${test%% *} program=${test#* }
  began=$SECONDS
  (cd "$folder" && "${around[@]}" env CARGO_MANIFEST_DIR="$folder" RUST_TEST_THREADS=6 "$program" "${arguments[@]}") ||
    failed+=("${program##*/}")
  echo "rough: ${program##*/}: $((SECONDS - began)) s"
done
if [ "${#failed[@]}" -gt 0 ]; then
  echo "rough: failed: ${failed[*]}" >&2
  exit 1
fi
echo "rough: all passed"
