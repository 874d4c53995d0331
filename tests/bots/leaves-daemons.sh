#!/bin/sh
# Leaves 20 daemons behind in every turn: grandchildren in sessions of their own, which do not end.
# Always answers the same: the first free cell, and the first piece that is left.
while read -r board piece; do
    i=0
    while [ $i -lt 20 ]; do
        (setsid sleep 300 </dev/null >/dev/null 2>&1 &)
        i=$((i + 1))
    done
    before=${board%%.*}
    cell=$((${#before} + 1))
    [ "$piece" != - ] || cell=-
    gift=-
    for left in A B C D E F G H I J K L M N O P; do
        case $board$piece in
            *$left*) ;;
            *) gift=$left; break ;;
        esac
    done
    echo "$cell $gift"
done
