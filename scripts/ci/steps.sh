# shellcheck shell=bash
# Sourced by .ci/run and scripts/ci/heavy.sh: steps one after the other, tests that tell a mistake from a busy machine, and
# a summary as the last lines of the log.
#
# A test that fails is run once more, alone. If it passes then it is unsteady: named in the summary, to be repaired, and red
# only where there are more than $unsteady_at_most. One that fails twice is red; the steps that follow run all the same, so
# that one run tells all that is wrong. A step other than tests ends the run where it fails.

unsteady_at_most=3
# The modules of tests/environment that heavy.sh runs, and .ci/run does not.
# shellcheck disable=SC2034 # for those who source this
heavy_modules=(arm64 crowd engines hunt layouts load packages soak systems term windows)

steps=()    # what each step took, to be printed
unsteady=() # tests that failed, and passed alone
failed=()   # tests that failed twice, as the command that runs just that one
passed_tests=0
current=
log=$(mktemp)

# Seconds of CPU that all commands that have ended took, of all cores together, as $used.
cpu_used() {
  times >"$log.times"
  used=$(sed -n '2s/[ms]/ /gp' "$log.times" | awk '{ print int($1 * 60 + $2 + $3 * 60 + $4) }')
}

# step NAME: what comes next.
step() {
  end_step
  current=$1 began=$SECONDS before=$used
  echo "== $current"
}
end_step() {
  cpu_used
  [ -n "$current" ] || return 0
  steps+=("$(printf '%5d s  %5d s of CPU  %s' "$((SECONDS - began))" "$((used - before))" "$current")")
  current=
}

# How many tests passed, by the closing lines in a log.
passed_in() {
  sed -n 's/^test result: .* \([0-9]*\) passed; .*/\1/p' "$1" | awk '{ all += $1 } END { print all + 0 }'
}

# The names of the tests that failed: the last list before each closing line. The list before that one has their output.
failed_in() {
  awk '
    /^failures:$/ { count = 0; next }
    /^---- / { count = 0 }
    /^    [^ ]/ { names[++count] = substr($0, 5) }
    /^test result: / { if ($3 == "FAILED.") for (i = 1; i <= count; i++) print names[i]; count = 0 }
  ' "$1"
}

# tests COMMAND...: a command whose tests print as those of `cargo test` do, and to which `-- --exact NAME` can be added.
tests() {
  local name names status=0 alone=("$@")
  "$@" 2>&1 | tee "$log" || status=$?
  passed_tests=$((passed_tests + $(passed_in "$log")))
  [ "$status" != 0 ] || return 0
  mapfile -t names < <(failed_in "$log")
  if [ "${#names[@]}" = 0 ] || grep -q "process didn't exit successfully" "$log"; then
    failed+=("$*  (it did not get to the end)")
    return 0
  fi
  case " $* " in *" -- "*) ;; *) alone+=(--) ;; esac
  for name in "${names[@]}"; do
    echo "== once more, alone: $name"
    if "${alone[@]}" --exact "$name" 2>&1 | tee "$log" && [ "$(passed_in "$log")" -gt 0 ]; then
      unsteady+=("$name")
      passed_tests=$((passed_tests + 1))
    else
      failed+=("$(printf '%s ' "${alone[@]}")--exact '$name'")
    fi
  done
}

# summary STATUS: the last lines, for a trap on EXIT.
summary() {
  local status=$1 interrupted=$current
  set +e
  end_step
  rm -f "$log" "$log.times"
  echo "== summary"
  printf '%s\n' "${steps[@]}"
  printf '%5d s  in all\n' "$SECONDS"
  for name in "${unsteady[@]}"; do
    echo "unsteady: $name"
  done
  if [ "${#unsteady[@]}" -gt "$unsteady_at_most" ]; then
    echo "red: more than $unsteady_at_most unsteady tests"
    [ "$status" != 0 ] || status=1
  fi
  for name in "${failed[@]}"; do
    echo "red: $name"
    [ "$status" != 0 ] || status=1
  done
  [ "$status" = 0 ] || [ "${#failed[@]}" != 0 ] || [ -z "$interrupted" ] || echo "red: step \"$interrupted\", see its last lines above"
  echo "$passed_tests passed, ${#failed[@]} failed"
  exit "$status"
}
