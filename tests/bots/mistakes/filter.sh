#!/bin/sh
# A filter before the loop, such as `tr`
#
# `tr` reads and writes some kilobytes at once, so no line arrives alone.
tr -d '\r' | while read -r board piece; do
    echo "- A"
done
