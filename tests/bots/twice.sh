#!/bin/sh
# Prints every answer twice; the second time
#   at-once  with the first
#   later    a little later: after the next question, if its opponent is quick
#   line     as later, but the second line is debugging text
. "${0%/*}/lib.sh"
while read -r request; do
    good=$(answer "$request")
    case $1 in
    at-once) printf '%s\n%s\n' "$good" "$good" ;;
    later)
        printf '%s\n' "$good"
        sleep 0.3
        printf '%s\n' "$good"
        ;;
    line)
        printf '%s\n' "$good"
        sleep 0.3
        echo 'thinking: 42'
        # The question that has arrived is still unread.
        sleep 0.3
        ;;
    esac
    : >"$SCRATCH/go"
done
