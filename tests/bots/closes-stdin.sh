#!/bin/sh
# Item 16: closes its standard input, answers, and lives on.
. "${0%/*}/lib.sh"
read -r request
good=$(answer "$request")
exec <&-
printf '%s\n' "$good"
while :; do
    sleep 60
done
