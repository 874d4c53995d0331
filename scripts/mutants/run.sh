#!/usr/bin/env bash
# Runs cargo-mutants over one group of files, with the tests that belong to it.
set -euo pipefail
cd "$(dirname "$0")/../.."

usage() {
  cat <<'USAGE'
usage: run.sh GROUP [OPTION OF CARGO MUTANTS]...

Changes one place of the source after another, and runs the tests that belong to the group after
each: a change that no test notices is a missed mutant. First come the quick tests, then the
others, and last those in tests/environment, each for what the ones before missed. Needs cargo-mutants (`cargo install cargo-mutants`).

GROUP is one of: rules, channel, process, play, record.

What was found is in target/mutants-GROUP/mutants.out; a second run only tries again what was
missed in the first. Remove that folder to try everything again.
USAGE
}

# files: what is changed. quick, rest: filters of tests in tests/integration. environment: of those in
# tests/environment.
environment=()
case "${1:-}" in
rules)
  # A crate with its own tests.
  exec cargo mutants --iterate --output target/mutants-rules -p referee-games --file 'crates/games/src/game/**' "${@:2}"
  ;;
channel)
  files=(crates/match/src/bot/channel.rs)
  quick=(channel::)
  rest=(faults:: starting::)
  ;;
process)
  files=('crates/match/src/bot/process/*.rs')
  quick=(faults:: starting::)
  rest=(matches:: stopping:: check:: logging:: robustness:: sandbox::)
  environment=(load:: exhaustion::)
  ;;
play)
  files=(crates/match/src/play/{attempts,clock,game,game_runner,match_runner,replay,seat,turn}.rs)
  quick=(replay_check:: adjudication:: faults:: scheduler:: starting::)
  rest=(matches:: stopping:: check:: logging:: tournament::)
  environment=(exhaustion:: load::)
  ;;
record)
  files=(crates/match/src/record/{atomic_file,journal,reader}.rs)
  quick=(journal:: replay_check::)
  rest=(robustness:: matches:: tournament:: shards::)
  ;;
*)
  usage >&2
  exit 2
  ;;
esac
group=$1
shift

mutants() { # program of tests, further options, `--`, filters
  cargo mutants --iterate --output "target/mutants-$group" "${files[@]/#/--file=}" --test-package=referee,referee-match "$@"
}

# Ends with 0 when all were caught, with 2 when some were missed; then the other tests have their say.
# 3: some took too long, which counts as noticed.
mutants -C=--test=integration "$@" -- -- "${quick[@]}" || [[ $? == [23] ]]
status=0
mutants -C=--lib -C=--test=integration "$@" -- -- "${rest[@]}" game:: bot:: play:: record:: || status=$?
# The tests in tests/environment take one filter at a time.
for filter in "${environment[@]}"; do
  [[ $status == [23] ]] || break
  status=0
  mutants -C=--test=environment "$@" -- -- "$filter" || status=$?
done
exit "$status"
