#!/usr/bin/env bash
# newcomer.sh [FOLDER [match | test [ARGUMENT...]]]: README's first command, and the one that runs the tests, as they stand in
# README.md, as a person runs them who has just installed Rust: in a fresh clone with a target folder, a home and a registry of
# its own, where only Rust, git, a C compiler with what it needs, and what every Unix has (sh, coreutils, sed, grep, find,
# tar) are seen. FOLDER keeps the clone for another run; without it all is removed. One of the two commands alone where it is
# named; ARGUMENTs are added to that of the tests.
set -euo pipefail
cd "$(dirname "$0")/../.."
source=$PWD

if [ $# = 0 ]; then
  folder=$(mktemp -d)
  trap 'rm -rf "$folder"' EXIT
else
  mkdir -p "$1"
  folder=$(cd "$1" && pwd)
  shift
fi
only=${1:-}
[ $# = 0 ] || shift
# Root's bots run as somebody else, who must get there.
chmod a+rx "$folder"

# The sh block of README that begins with a match.
commands=()
in_block=
previous=
while IFS= read -r line; do
  case $line in
    '```'*) in_block= ;;
    './referee -v players/random.sh'*) case $previous in '```sh'*) in_block=1 ;; esac ;;
  esac
  if [ -n "$in_block" ]; then
    command=${line%%#*}
    [ "${#commands[@]}" != 0 ] && [[ $command != "cargo test"* ]] || commands+=("$command")
  fi
  previous=$line
done <README.md
if [ "${#commands[@]}" != 2 ]; then
  echo "newcomer: README.md: expected an sh block that begins with ./referee -v players/random.sh, and a line cargo test in it" >&2
  exit 1
fi

coreutils=(
  '[' arch b2sum base32 base64 basename basenc cat chgrp chmod chown cksum comm cp csplit cut date dd df dir dirname du echo
  env expand expr factor false fmt fold groups head hostid id install join link ln logname ls md5sum mkdir mkfifo mknod
  mktemp mv nice nl nohup nproc numfmt od paste pathchk pr printenv printf pwd readlink realpath rm rmdir seq sha1sum
  sha224sum sha256sum sha384sum sha512sum shred shuf sleep sort split stat stdbuf stty sum sync tac tail tee test timeout
  touch tr true truncate tsort tty uname unexpand uniq unlink users wc who whoami yes
)
seen=$folder/bin
home=$folder/home
rm -rf "$seen"
mkdir -p "$seen" "$home"
for program in "${coreutils[@]}" sh sed grep find tar git cc as ld ar; do
  if path=$(type -P "$program"); then
    ln -s "$path" "$seen/$program"
  fi
done
# The programs themselves: rustup's have settings in the home.
for program in cargo rustc rustdoc; do
  path=$(rustup which "$program" 2>/dev/null) || path=$(type -P "$program")
  ln -s "$path" "$seen/$program"
done

# Nothing else of the environment, but the way to the network.
environment=("PATH=$seen" "HOME=$home" "USER=$(id -un 2>/dev/null || id -u)")
for name in http_proxy https_proxy all_proxy no_proxy HTTP_PROXY HTTPS_PROXY ALL_PROXY NO_PROXY SSL_CERT_FILE SSL_CERT_DIR \
  CARGO_HTTP_CAINFO; do
  [ -z "${!name:-}" ] || environment+=("$name=${!name}")
done

clone=$folder/referee
[ -e "$clone" ] || env -i "${environment[@]}" git clone --quiet "$source" "$clone"
cd "$clone"

case $only in
  '') ;;
  match) commands=("${commands[0]}") ;;
  test) commands=("${commands[1]}") ;;
  *) echo "newcomer: $only: expected match or test" >&2; exit 2 ;;
esac
for command in "${commands[@]}"; do
  command=${command%"${command##*[! ]}"}
  echo "newcomer: \$ $command $*"
  env -i "${environment[@]}" sh -c "$command \"\$@\"" sh "$@" </dev/null
done
