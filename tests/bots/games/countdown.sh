#!/bin/sh
# A game: whoever says 0 wins. From 7 a side counts down by 1 or 2. Its faults are chosen by the first argument, and occur
# when the state is "3 SIDE" or later.
fault=$1
between() { rest=${line#*"$1"}; printf %s "${rest%%"$2"*}"; }
while IFS= read -r line; do
    state=$(between '"state":"' '"')
    number=${state% *}
    side=${state#* }
    case $line in
    *'"do":"about"'*)
        case $fault in
        no-name) echo '{"about":"x"}' ;;
        reserved-name) echo '{"name":"timeout"}' ;;
        silent-start) exit 4 ;;
        svg*) echo '{"name":"countdown","about":"Say 0 to win.","answers":true,"drawing":true}' ;;
        *) echo '{"name":"countdown","about":"Say 0 to win.","answers":true}' ;;
        esac
        continue
        ;;
    *'"do":"start"'*) [ "$fault" != second-side ] || { echo '{"state":"7 1","side":1,"request":"7"}'; continue; }
        [ "$fault" != endless ] || { echo '{"state":"9 0","side":0,"request":"9"}'; continue; }
        echo '{"state":"7 0","side":0,"request":"7"}'; continue ;;
    *'"do":"drawing"'*) [ "$fault" = svg ] && end='' || end='</svg>'
        [ "$fault" != svg-style ] || end="<g class='a'/><style/></svg>"
        [ "$fault$number" != svg-end0 ] || { echo '{"last":"c3"}'; continue; }
        echo "{\"text\":[\"$number\"],\"svg\":\"<svg viewBox='0 0 1 1'><rect/>$end\"}"; continue ;;
    *'"do":"answers"'*) [ "$number" != 1 ] || [ "${fault#svg}${fault#no-verdict}" = "$fault$fault" ] || { echo '{"answers":["1"]}'; continue; }
        echo '{"answers":["1","2"]}'; continue ;;
    *'"do":"position"'*) answer=0 ;;
    *) answer=$(between '"answer":"' '"') side=$((1 - side)) ;;
    esac
    [ "$fault" != floods-stderr ] || { yes noise | head -c 1000000 >&2; tr '\0' x </dev/zero >&2 & }
    if [ "$number" -le 3 ]; then
        case $fault in
        crashes) echo "ValueError: boom" >&2; exit 3 ;;
        hangs) sleep 60 ;;
        killed) kill -s KILL $$ ;;
        part) printf 6; exit 1 ;;
        closes) exec >&-; sleep 60 ;;
        exits) exit 0 ;;
        nonsense) echo 'Hello!'; continue ;;
        twice) echo '{"state":"1 0","side":0,"request":"1"}'; echo '{}'; continue ;;
        no-side) echo '{"state":"1 0","request":"1"}'; continue ;;
        floods) yes 'x' | tr -d '\n'; continue ;;
        esac
    fi
    if [ "$fault" = endless ]; then
        echo "{\"state\":\"9 $side\",\"side\":$side,\"request\":\"9\"}"
        continue
    fi
    [ "$fault $side" != "svg-exits 7" ] || exit 5
    case "$number $side" in
    [0-9]' '[01]) ;;
    [0-9]' 7') [ "$fault" = svg-any-side ] || { echo '{"error":"expected side 0 or 1"}'; continue; } ;;
    *) echo '{"error":"expected a number and a side, such as 3 0"}'; continue ;;
    esac
    case $answer in
    [012]) ;;
    *) echo '{"malformed":"expected 1 or 2"}'; continue ;;
    esac
    left=$((number - answer))
    if [ "$left" -lt 0 ] && [ "$fault" = no-verdict ]; then
        echo '{"ilegal":"there is no number below 0"}'
    elif [ "$left" -lt 0 ]; then
        echo '{"illegal":"there is no number below 0"}'
    elif [ "$left$answer$fault" = 00svg-contradicts ]; then
        echo "{\"state\":\"0 $side\",\"side\":$side,\"request\":\"0\"}"
    elif [ "$left" = 0 ]; then
        echo "{\"state\":\"0 $side\",\"over\":{\"winner\":$((1 - side))}}"
    else
        echo "{\"state\":\"$left $side\",\"side\":$side,\"request\":\"$left\"}"
    fi
done
