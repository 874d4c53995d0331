#!/usr/bin/env bash
# Plays a planned tournament on machines that ssh reaches, with GNU parallel, and merges it.
set -euo pipefail

usage() {
  cat <<'USAGE'
usage: run.sh --shards N --hosts HOST,... [OPTION]... DIR

Plays the tournament that `referee shard plan --out DIR` has planned in N shards on machines that ssh
reaches without a password, then merges it here. Run it where `referee shard plan` was run; every machine
must see that folder, DIR and the referee by the same paths, as on a network file system. A shard
that fails, or whose machine is lost, is tried again, if possible on another machine, and goes on
where it was.

  -n, --shards N        parts; choose N so that each takes minutes (docs/scaling.md)
  -S, --hosts HOST,...  machines, as ssh knows them; `:` is this one; may be repeated
      --hosts-file FILE a file with one machine per line (# begins a comment)
      --at-once K       shards at the same time on a machine                         [default: 1]
  -j, --jobs J          games at a time in a shard         [default: half as many as it has cores]
      --retries R       how often a shard is begun in all             [default: 3, or one a host]
      --ssh COMMAND     another ssh, or one with options
      --referee FILE    the program                    [default: referee in the search path]
  -h, --help            this text

DIR/parallel.log tells which shard ran where, when and with what status. What is missing in the
end, the merge says; run the same command again to play only that.

Exit status: that of the merge: 0 merged, 2 wrong usage, or games are missing or contradict
themselves, 1 the merge failed; 130 interrupted.
USAGE
}

wrong() {
  printf 'run.sh: %s\nrun.sh: --help tells how to use it\n' "$1" >&2
  exit 2
}

number() { # OPTION VALUE
  [[ $2 =~ ^[1-9][0-9]{0,8}$ ]] || wrong "$1 is '$2'; expected a number of at least 1"
}

shards='' at_once=1 jobs='' retries='' referee=referee folder=''
# Never ask for a password; notice a failed machine within a minute.
ssh='ssh -o BatchMode=yes -o ConnectTimeout=15 -o ServerAliveInterval=15 -o ServerAliveCountMax=3'
hosts=()
while (($#)); do
  case $1 in
    -h | --help) usage; exit 0 ;;
    --*=*) set -- "${1%%=*}" "${1#*=}" "${@:2}"; continue ;;
    -n | --shards | -S | --hosts | --hosts-file | --at-once | -j | --jobs | --retries | --ssh | \
      --referee)
      (($# > 1)) || wrong "$1 needs a value" ;;
    -*) wrong "there is no option $1" ;;
    *)
      [[ -z $folder ]] || wrong "there are two folders: $folder and $1"
      folder=$1; shift; continue ;;
  esac
  case $1 in
    -n | --shards) number "$1" "$2"; shards=$2 ;;
    --at-once) number "$1" "$2"; at_once=$2 ;;
    -j | --jobs) number "$1" "$2"; jobs=$2 ;;
    --retries) number "$1" "$2"; retries=$2 ;;
    -S | --hosts) IFS=, read -ra more <<<"$2"; hosts+=("${more[@]}") ;;
    --hosts-file)
      [[ -r $2 ]] || wrong "$2: there is no such file of machines"
      while read -r host _; do
        host=${host%%#*}
        [[ -z $host ]] || hosts+=("$host")
      done <"$2" ;;
    --ssh) ssh=$2 ;;
    --referee) referee=$2 ;;
  esac
  shift 2
done
[[ -n $folder ]] || wrong 'the folder of the tournament is missing'
[[ -n $shards ]] || wrong 'the number of parts is missing: --shards N'
((${#hosts[@]})) || wrong 'no machines are named: --hosts HOST,...'
[[ -f $folder/plan.json ]] ||
  wrong "$folder: there is no plan.json in it; make one: referee shard plan BOT... --out $folder"
command -v parallel >/dev/null || wrong 'there is no GNU parallel here (Debian: apt install parallel)'
parallel --version 2>/dev/null | grep -q '^GNU parallel' ||
  wrong 'the parallel here is another program than GNU parallel (that of moreutils?)'
program=$(command -v -- "$referee") ||
  wrong "$referee: there is no such program; install referee or give its path: --referee FILE"
program=$(realpath -- "$program")
folder=$(realpath -- "$folder")
# A failed machine fails immediately, and takes shard after shard: each shard must be able to fail on
# every machine but one.
retries=${retries:-$((${#hosts[@]} > 3 ? ${#hosts[@]} : 3))}

# A number before the machine's name keeps parallel from asking it how many cores it has.
machines=()
for host in "${hosts[@]}"; do
  machines+=(--sshlogin "$at_once/$host")
done
# Words that begin with {} are replaced by the shard's number. After a lost connection the referee
# there may keep running; the next start of the shard waits for it.
printf -v command '%q shard run %q --shard {}/%q --wait 10m' "$program" "$folder" "$shards"
[[ -z $jobs ]] || command+=" --jobs $jobs"

trap 'exit 130' INT
status=0
seq 1 "$shards" | parallel --ssh "$ssh" "${machines[@]}" --jobs "$at_once" --workdir "$PWD" \
  --retries "$retries" --delay 0.1 --joblog "$folder/parallel.log" --tagstring 'shard {}' \
  --line-buffer "$command" || status=$?
# 1 to 100: the number of shards that failed; 101: more.
case $status in
  0) ;;
  [1-9] | [1-9][0-9] | 100 | 101)
    echo "run.sh: shards failed $retries times; see above and $folder/parallel.log" >&2 ;;
  *) exit "$status" ;;
esac
# Also when shards failed: the merge checks the games and names what is missing.
exec "$program" shard merge "$folder"
