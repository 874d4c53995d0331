#!/bin/sh
# A random player: any free cell, any piece left. Nothing but the shell's own words.
#
# Run it:  ./random.sh  or  sh random.sh      (Debian package: dash, always there)
# It reads requests `BOARD PIECE` and answers `CELL GIFT`; see ../protocol.md.

LC_ALL=C # bytes; a piece may be several of them
set -f   # no file names: a piece may be `*`

cr=$(printf '\r')
pieces='A B C D E F G H I J K L M N O P'
if [ -n "$REFEREE_PIECES" ]; then
    pieces=$(
        exec <"$REFEREE_PIECES"
        read -r _ # the header
        while IFS=', 	' read -r piece rest || [ -n "$piece" ]; do
            case $piece in
                '' | "$cr") ;;                     # a blank line
                '"') echo , ;;                     # the quoted field ","
                '""""') echo '"' ;;                # the quoted field """"
                '"'?*) echo "$piece" | tr -d \" ;; # a quoted letter
                *) printf '%s\n' "$piece" ;;
            esac
        done
    )
fi

# A linear congruential generator; its high bits are the better ones.
state=${REFEREE_SEED:-$(($(date +%s) + $$))}
draw() { # leaves a number from 1 to $1 in $drawn
    state=$(((state * 1103515245 + 12345) % 2147483648))
    drawn=$((state / 65536 % $1 + 1))
}

while read -r board hand; do
    # Mark the taken cells with `-`, which makes every cell one byte; collect the rest.
    left='' pieces_left=0
    for piece in $pieces; do
        case $board in
            *"$piece"*) board=${board%%"$piece"*}-${board#*"$piece"} ;;
            *)
                if [ "$piece" != "$hand" ]; then
                    left="$left $piece"
                    pieces_left=$((pieces_left + 1))
                fi
                ;;
        esac
    done

    cell=-
    if [ "$hand" != - ]; then
        cells='' cell=0
        while [ -n "$board" ]; do
            cell=$((cell + 1))
            case $board in .*) cells="$cells $cell" ;; esac
            board=${board#?}
        done
        set -- $cells # split into words
        draw $#
        shift $((drawn - 1))
        cell=$1
    fi

    gift=-
    if [ $pieces_left -gt 0 ]; then
        set -- $left # split into words
        draw $#
        shift $((drawn - 1))
        gift=$1
    fi
    printf 'info gifts %s\n' $pieces_left >&2 # what it thinks, for its record
    printf '%s %s\n' "$cell" "$gift"
done
