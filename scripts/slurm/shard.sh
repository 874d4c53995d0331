#!/usr/bin/env bash
# A job of the array that submit.sh submits: plays one shard. After a node failure, a preemption or
# the time limit, the next start resumes it: games are only counted when they are on the disk.
#
# usage: shard.sh REFEREE DIR SHARDS RESTARTS
set -uo pipefail

referee=$1 folder=$2 shards=$3 restarts=$4
task=${SLURM_ARRAY_JOB_ID:?this is a job of a Slurm array: use submit.sh}_$SLURM_ARRAY_TASK_ID
restarted=${SLURM_RESTART_COUNT:-0}
cpus=${SLURM_CPUS_PER_TASK:-2}
games=$((cpus / 2 > 0 ? cpus / 2 : 1))

say() { printf 'shard.sh: %s on %s: %s\n' "$task" "${SLURMD_NODENAME:-?}" "$1"; }

# USR1: the time limit is near. TERM: scancel or a preemption. On either the referee finishes its
# current games; games that it cannot finish are played again.
asked=''
# shellcheck disable=SC2317  # traps call it
stop() {
  asked=${asked:-$1}
  [[ -z $child ]] || kill -TERM "$child" 2>/dev/null
}
child=''
trap 'stop USR1' USR1
trap 'stop TERM' TERM
say "start $((restarted + 1))"
# The number of the task, not auto: it is also right when only some tasks are submitted again. A node
# that only seemed dead may still be playing this shard: wait for its referee.
"$referee" shard run "$folder" --shard "$SLURM_ARRAY_TASK_ID/$shards" --jobs "$games" --wait 10m &
child=$!
while :; do
  wait "$child"
  status=$?
  # A signal interrupts `wait`, too.
  kill -0 "$child" 2>/dev/null || break
done

case $status:$asked in
  0:*) exit 0 ;;
  # scancel or a preemption, after which Slurm queues the job by itself.
  *:TERM) exit "$status" ;;
  # A bot has changed or cannot be started: another attempt would fail, too.
  2:*) exit 2 ;;
esac
if ((restarted < restarts)); then
  say "ended with status $status${asked:+, as its time was nearly up}; it is queued again"
  if scontrol requeue "$task"; then
    # Slurm ends this attempt now.
    trap - TERM
    sleep 60 &
    wait
    exit "$status"
  fi
fi
say "ended with status $status, and is not queued again"
exit "$status"
