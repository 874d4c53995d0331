#!/bin/sh
# Item 13: gives two good answers, and ends when it is asked again: `ends.sh 1` with that
# exit status, `ends.sh SEGV` by that signal. Half an answer is on stdout by then if there
# is a second argument.
. "${0%/*}/lib.sh"
for _ in 1 2; do
    read -r request
    answer "$request"
done
read -r request
echo 'something went wrong' >&2
printf '%s' "$2"
case $1 in
[0-9]*) exit "$1" ;;
*) kill -s "$1" $$ ;;
esac
