#!/bin/sh
# No newline in a shell
#
# `printf` adds none.
while read -r board piece; do
    printf -- '- A'
done
