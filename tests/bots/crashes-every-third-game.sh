#!/bin/sh
# Item 24: exits in the middle of every third game. It counts the games in a file, as it
# does not live on.
. "${0%/*}/lib.sh"
while read -r request; do
    case $request in
    '................ '*) echo game >>"$SCRATCH/games" ;;
    *)
        games=$(grep -c . "$SCRATCH/games")
        [ $((games % 3)) -ne 0 ] || exit 1
        ;;
    esac
    answer "$request"
done
