#!/bin/sh
# Item 21: plays well, while a chain of processes, each of which forks the next one and
# exits, runs in its process group. The chain is not endless, in case nobody ends it.
. "${0%/*}/lib.sh"
link() {
    [ "$1" -eq 0 ] || link $(($1 - 1)) &
}
link 20000 </dev/null >/dev/null 2>&1
while read -r request; do
    answer "$request"
done
