#!/bin/sh
# Item 17: never reads its standard input.
while :; do
    sleep 60
done
