#!/bin/sh
# Item 6: more than one line for one question.
#   after   the answer and then debugging text, by one write
#   before  debugging text and then the answer, by one write
#   late    the answer, and debugging text a little later
. "${0%/*}/lib.sh"
read -r request
good=$(answer "$request")
case $1 in
after) printf '%s\nthinking: 42\n' "$good" ;;
before) printf 'thinking: 42\n%s\n' "$good" ;;
late)
    printf '%s\n' "$good"
    sleep 0.05
    echo 'thinking: 42'
    : >"$SCRATCH/go"
    ;;
esac
while read -r request; do
    answer "$request"
done
