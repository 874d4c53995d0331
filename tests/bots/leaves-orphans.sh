#!/bin/sh
# leaves-orphans.sh COUNT: leaves COUNT processes behind in every turn, which end at once. Always answers the same:
# the first free cell, and the first piece that is left. Needs no file but this one.
while read -r board piece; do
    i=0
    while [ $i -lt "$1" ]; do
        (: &)
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
