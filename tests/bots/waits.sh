#!/bin/sh
# A good bot, but before each answer it waits for the file $SCRATCH/go, which its opponent
# makes when it has done its mischief.
. "${0%/*}/lib.sh"
while read -r request; do
    while [ ! -e "$SCRATCH/go" ]; do
        sleep 0.01
    done
    answer "$request"
done
