#!/bin/sh
# Takes its time for every answer, and always answers the same: the first free cell, and the
# first piece that is left.
while read -r board piece; do
    sleep 0.05
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
