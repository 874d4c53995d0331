#!/bin/sh
# Plays well and ends in time, but leaves a child in its process group, which ignores SIGTERM and has
# none of its streams. Appends the child's process id to $SCRATCH/stubborn.
. "${0%/*}/lib.sh"
sh -c 'trap "" TERM HUP; echo $$ >>"$SCRATCH/stubborn"; while :; do sleep 300; done' \
    </dev/null >/dev/null 2>&1 &
while [ ! -s "$SCRATCH/stubborn" ]; do
    sleep 0.01
done
while read -r request; do
    answer "$request"
done
