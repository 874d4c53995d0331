#!/bin/sh
# Plays well, and before each answer writes as many lines to stderr as its argument says, 100 bytes each.
. "${0%/*}/lib.sh"
while read -r request; do
    yes "$(printf '%099d' 0)" | head -n "$1" >&2
    answer "$request"
done
