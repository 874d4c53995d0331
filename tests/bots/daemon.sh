#!/bin/sh
# Item 21: leaves a daemon behind: a grandchild in a process group of its own, which `timeout` makes, with no
# stream of its parent's. It writes its process id to $SCRATCH/daemon. Then plays well.
. "${0%/*}/lib.sh"
(
    timeout 300 sh -c 'echo $$ >"$SCRATCH/starting"; mv "$SCRATCH/starting" "$SCRATCH/daemon"
        sleep 300; :' </dev/null >/dev/null 2>&1 &
)
while read -r request; do
    while [ ! -e "$SCRATCH/daemon" ]; do
        sleep 0.01
    done
    answer "$request"
done
