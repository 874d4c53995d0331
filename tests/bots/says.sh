#!/bin/sh
# Answers every line with its argument.
while read -r line; do
    echo "$1"
done
