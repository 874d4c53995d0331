#!/bin/sh
# Plays well, but ends at once in two of three starts. It counts them in a file, as it does not live on.
. "${0%/*}/lib.sh"
echo start >>"$SCRATCH/starts"
starts=$(grep -c . "$SCRATCH/starts")
[ $((starts % 3)) -eq 0 ] || exit 1
while read -r request; do
    answer "$request"
done
