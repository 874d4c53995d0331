#!/bin/sh
# A game of which a test says how it ends: each side says its name, and among the arguments is one such as `AB:B`: B wins
# when A begins against B. Without one it is a draw.
between() { rest=${line#*"$1"}; printf %s "${rest%%"$2"*}"; }
while IFS= read -r line; do
    state=$(between '"state":"' '"')
    case $line in
    *'"do":"about"'*) echo '{"name":"duel","about":"Say your name."}' ;;
    *'"do":"start"'*) echo '{"state":"begin","side":0,"request":"name"}' ;;
    *'"do":"position"'*)
        case $state in
        begin) echo '{"state":"begin","side":0,"request":"name"}' ;;
        *) echo "{\"state\":\"$state\",\"side\":1,\"request\":\"name\"}" ;;
        esac
        ;;
    *)
        name=$(between '"answer":"' '"')
        if [ "$state" = begin ]; then
            echo "{\"state\":\"$name\",\"side\":1,\"request\":\"name\"}"
            continue
        fi
        winner=null
        for ends in "$@"; do
            case $ends in
            "$state$name:$state") winner=0 ;;
            "$state$name:$name") winner=1 ;;
            esac
        done
        echo "{\"state\":\"$state$name\",\"over\":{\"winner\":$winner}}"
        ;;
    esac
done
