#!/bin/sh
# Has 300 children, and answers only some seconds after it has started them. With a number it first waits
# for so many seconds.
sleep "${1:-0}"
i=0
while [ $i -lt 300 ]; do
    sleep 300 &
    i=$((i + 1))
done
while read -r request; do
    sleep 5
    echo 1 A
done
