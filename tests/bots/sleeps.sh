#!/bin/sh
# Answers well, but sleeps for a number of seconds before every answer.
. "${0%/*}/lib.sh"
while read -r request; do
    sleep "$1"
    answer "$request"
done
