#!/bin/sh
# Plays well, and has another process compute for some hundredths of a second in its turns.
. "${0%/*}/lib.sh"
while read -r request; do
    (
        i=0
        while [ $i -lt 100000 ]; do
            i=$((i + 1))
        done
    )
    answer "$request"
done
