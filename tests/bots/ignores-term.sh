#!/bin/sh
# Item 18: does not answer, goes on when its input ends, and ignores requests to end.
trap '' TERM HUP INT
read -r request
while :; do
    sleep 60
done
