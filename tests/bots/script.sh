#!/bin/sh
# Items 9, 10, 11, 35 to 38: answers the first question with the first argument, the second
# with the second and so on, and exits when they run out. Arguments are as for printf's %b,
# such as '6 A\n'; one that begins with `!` goes to stderr at once, without the `!`.
for text in "$@"; do
    case $text in
    !*)
        printf '%b' "${text#!}" >&2
        ;;
    *)
        read -r request || exit 0
        printf '%b' "$text"
        ;;
    esac
done
read -r request
