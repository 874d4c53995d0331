#!/bin/sh
# Takes the first free cell and gives the first piece left. Before each answer it says of its thinking which cell, and
# how many answers it has given.
answers=0
while read -r board piece; do
    answers=$((answers + 1))
    cell=-
    [ "$piece" = - ] || {
        before=${board%%.*}
        cell=$((${#before} + 1))
    }
    gift=-
    for left in A B C D E F G H I J K L M N O P; do
        case $board$piece in
            *"$left"*) ;;
            *)
                gift=$left
                break
                ;;
        esac
    done
    printf 'info depth 1 answers %s\nsomething else\ninfo depth 2 cell %s string first <free> cell\n' "$answers" "$cell" >&2
    printf '%s %s\n' "$cell" "$gift"
done
