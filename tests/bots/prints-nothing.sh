#!/bin/sh
# Item 1: reads every question and prints nothing. With an argument: answers that many
# questions first.
. "${0%/*}/lib.sh"
good=${1:-0}
while read -r request; do
    if [ "$good" -gt 0 ]; then
        good=$((good - 1))
        answer "$request"
    fi
done
