#!/bin/sh
# Item 24: plays well when it opens the game, and exits when its opponent does.
. "${0%/*}/lib.sh"
while read -r request; do
    case $request in
    '................ -') ;;
    '................ '*) exit 1 ;;
    esac
    answer "$request"
done
