#!/bin/sh
# Plays the k-th piece of a drawn board on cell k: against itself every game is a draw. With
# an argument: takes that long for every answer (as sleep takes it).
drawn=IONGCABMHEDJPLKF
while read -r board piece; do
    [ -z "$1" ] || sleep "$1"
    placed=${board%%.*}
    rest=${drawn#"$placed"}
    cell=-
    if [ "$piece" != - ]; then
        cell=$((${#placed} + 1))
        rest=${rest#?}
    fi
    gift=${rest%"${rest#?}"}
    printf '%s %s\n' "$cell" "${gift:--}"
done
