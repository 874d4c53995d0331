#!/bin/sh
# Answers well, each time after a tenth of a second, and leaves a dot for every question. After $1 questions it is quick.
. "${0%/*}/lib.sh"
slow=${1:--1}
while read -r request; do
    printf . >>"$SCRATCH/asked"
    if [ "$slow" -ne 0 ]; then
        sleep 0.1
        slow=$((slow - 1))
    fi
    answer "$request"
done
