#!/usr/bin/env bash
# Plays a planned tournament on Slurm: an array of shards, then a job that merges them.
set -euo pipefail

usage() {
  cat <<'USAGE'
usage: submit.sh --shards N [OPTION]... DIR [-- SBATCH-OPTION...]

Plays the tournament that `referee shard plan --out DIR` has planned on Slurm: N shards as an array of
jobs, and when they have ended a job that merges them. Run it where `referee shard plan` was run, so that
the bots are found; every node must see that folder, DIR and the referee by the same paths.

  -n, --shards N       parts; choose N so that each takes minutes (docs/scaling.md)
      --at-once K      at most K shards at the same time
  -c, --cpus C         cores a shard; it plays C/2 games at a time          [default: 2]
  -t, --time TIME      time limit of a shard, as sbatch takes it            [default: Slurm's]
      --restarts R     a shard that fails or runs into its time limit goes on where it was, at
                       most R times                                          [default: 10]
      --logs LOGS      folder for what the jobs print                [default: DIR/slurm-logs]
      --referee FILE   the program                        [default: referee in the search path]
      --wait           wait for the end; the exit status is that of the merge
  -h, --help           this text

What follows -- is given to sbatch for all jobs, such as --partition=short --account=quarto.
The last line on stdout is the number of the merge job. What is missing in the end, the merge's
log says; run the same command again to play only that.

Exit status: 0 submitted (with --wait: merged), 1 Slurm refused or the merge could not be waited
for, 2 wrong usage, or with --wait: games are missing or contradict themselves.
USAGE
}

wrong() {
  printf 'submit.sh: %s\nsubmit.sh: --help tells how to use it\n' "$1" >&2
  exit 2
}

number() { # OPTION VALUE
  [[ $2 =~ ^[1-9][0-9]{0,8}$ ]] || wrong "$1 is '$2'; expected a number of at least 1"
}

shards='' at_once='' cpus=2 time='' restarts=10 logs='' referee=referee wait=false folder=''
sbatch_options=()
while (($#)); do
  case $1 in
    -h | --help) usage; exit 0 ;;
    --wait) wait=true; shift; continue ;;
    --) shift; sbatch_options=("$@"); break ;;
    --*=*) set -- "${1%%=*}" "${1#*=}" "${@:2}"; continue ;;
    -n | --shards | --at-once | -c | --cpus | -t | --time | --restarts | --logs | --referee)
      (($# > 1)) || wrong "$1 needs a value" ;;
    -*) wrong "there is no option $1" ;;
    *)
      [[ -z $folder ]] || wrong "there are two folders: $folder and $1"
      folder=$1; shift; continue ;;
  esac
  case $1 in
    -n | --shards) number "$1" "$2"; shards=$2 ;;
    --at-once) number "$1" "$2"; at_once=%$2 ;;
    -c | --cpus) number "$1" "$2"; cpus=$2 ;;
    -t | --time) time=$2 ;;
    --restarts)
      [[ $2 =~ ^[0-9]{1,9}$ ]] || wrong "$1 is '$2'; expected a number"
      restarts=$2 ;;
    --logs) logs=$2 ;;
    --referee) referee=$2 ;;
  esac
  shift 2
done
[[ -n $folder ]] || wrong 'the folder of the tournament is missing'
[[ -n $shards ]] || wrong 'the number of parts is missing: --shards N'
[[ -f $folder/plan.json ]] ||
  wrong "$folder: there is no plan.json in it; make one: referee shard plan BOT... --out $folder"
command -v sbatch >/dev/null || wrong 'there is no sbatch here; run this where jobs are submitted'
program=$(command -v -- "$referee") ||
  wrong "$referee: there is no such program; install referee or give its path: --referee FILE"
program=$(realpath -- "$program")
folder=$(realpath -- "$folder")
logs=${logs:-$folder/slurm-logs}
mkdir -p -- "$logs"
logs=$(realpath -- "$logs")
job=$(dirname -- "$(realpath -- "${BASH_SOURCE[0]}")")/shard.sh
[[ -f $job ]] || wrong "$job is missing; it belongs beside submit.sh"

# In names of output files sbatch replaces %a and the like.
outputs=${logs//%/%%}

# sbatch prints NUMBER, or NUMBER;CLUSTER.
submit() {
  local printed
  printed=$(sbatch --parsable "$@") || {
    echo 'submit.sh: sbatch refused the job; see its message above' >&2
    exit 1
  }
  echo "${printed%%;*}"
}

common=(--chdir="$PWD" --job-name="referee-$(basename -- "$folder")")
limit=()
[[ -z $time ]] || limit=(--time="$time")
# Two minutes before its time limit a shard gets a signal, finishes its current games and is queued
# again.
array=$(submit "${common[@]}" --array="1-$shards$at_once" --cpus-per-task="$cpus" --ntasks=1 \
  "${limit[@]}" --requeue --open-mode=append --signal=B:USR1@120 --output="$outputs/shard-%a.log" \
  "${sbatch_options[@]}" "$job" "$program" "$folder" "$shards" "$restarts")
echo "$shards shards: job $array" >&2

# Not afterok: when a shard has failed, the merge says which games are missing and how to continue.
merge=(--dependency="afterany:$array" --ntasks=1 --requeue --open-mode=append
  --output="$outputs/merge.log")
printf -v command '%q shard merge %q' "$program" "$folder"
if ! $wait; then
  merged=$(submit "${common[@]}" "${merge[@]}" "${sbatch_options[@]}" --wrap "exec $command")
  echo "merge: job $merged; it writes $logs/merge.log" >&2
  echo "$merged"
  exit 0
fi
# sbatch --wait returns the job's exit status; a file distinguishes that from a failure of sbatch.
mark=$logs/merge.status
rm -f -- "$mark"
printf -v quoted '%q' "$mark"
sbatch --wait --parsable "${common[@]}" "${merge[@]}" "${sbatch_options[@]}" \
  --wrap "$command; status=\$?; echo \$status >$quoted; exit \$status" || true
# The file was written on another machine, and network file systems show it with a delay.
for _ in 1 2 3 4 5 6 7 8 9 10; do
  [[ ! -s $mark ]] || break
  ls -- "$logs" >/dev/null
  sleep 1
done
[[ -s $mark ]] || {
  echo "submit.sh: the merge did not finish; see $logs/merge.log" >&2
  exit 1
}
status=$(<"$mark")
tail -n 20 -- "$logs/merge.log" >&2
exit "$status"
