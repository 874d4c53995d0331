#!/bin/sh
# Item 20: a child of its holds its output open. `plays`: it plays to the end; `exits`: it
# exits with status 3 when it is asked.
. "${0%/*}/lib.sh"
sleep 3600 &
if [ "$1" = exits ]; then
    read -r request
    exit 3
fi
while read -r request; do
    answer "$request"
done
