#!/bin/sh
# Item 3: has an answer to every question, but it comes out when the input ends, as with
# output that is buffered in blocks.
. "${0%/*}/lib.sh"
buffer=
while read -r request; do
    buffer="$buffer$(answer "$request")
"
done
printf '%s' "$buffer"
