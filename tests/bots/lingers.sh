#!/bin/sh
# Plays well, but goes on when its input ends, with a child, and ignores requests to end. It
# makes the file $SCRATCH/lingers then. With the argument `hangs`: does so at once.
trap '' TERM HUP INT
. "${0%/*}/lib.sh"
if [ "$1" != hangs ]; then
    while read -r request; do
        answer "$request"
    done
fi
sleep 300 &
: >"$SCRATCH/lingers"
while :; do
    sleep 60
done
