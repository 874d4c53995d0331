#!/bin/sh
# Plays well, and stops itself when its input ends. Asked to end (SIGTERM), it makes the file
# $SCRATCH/asked once it goes on.
. "${0%/*}/lib.sh"
trap ': >"$SCRATCH/asked"; exit' TERM
while read -r request; do
    answer "$request"
done
kill -s STOP $$
