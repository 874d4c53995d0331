#!/bin/sh
# Item 8: good answers between blanks and tabs, with a leading zero, ended by CRLF.
. "${0%/*}/lib.sh"
while read -r request; do
    good=$(answer "$request")
    case $good in
    [1-9]' '*) good=0$good ;;
    esac
    printf ' \t%s\t%s \t\r\n' "${good% *}" "${good#* }"
done
