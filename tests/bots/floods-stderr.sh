#!/bin/sh
# Item 14: plays well, and writes 1 MB to stderr before its first answers, while a child
# of its goes on writing there for ever. With then-exits: exits before the third answer,
# with a last sentence. With then-sleeps: never answers after the first megabyte.
# With never-reads: writes without end, and does not even read a question.
[ "$1" != never-reads ] || exec yes noise 3>&1 >&2
. "${0%/*}/lib.sh"
asked=0
while read -r request; do
    asked=$((asked + 1))
    if [ "$asked" -le 2 ]; then
        head -c 1000000 /dev/zero | tr '\0' x >&2
    fi
    if [ "$1" = then-sleeps ]; then
        exec sleep 1000
    fi
    if [ "$asked" -eq 3 ] && [ -n "$1" ]; then
        printf '\nthe last sentence\n' >&2
        exit 1
    fi
    if [ "$asked" -eq 1 ] && [ -z "$1" ]; then
        yes noise >&2 &
    fi
    answer "$request"
done
