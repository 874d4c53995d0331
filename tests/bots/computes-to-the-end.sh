#!/bin/sh
# Item 3: reads the question, computes without a pause until its input ends, and only then answers: it
# was slow, and nothing sat in its output buffer.
. "${0%/*}/lib.sh"
read -r request
# That of a void game that was played before this one.
rm -f "$SCRATCH/ended"
exec 3<&0
(
    cat >/dev/null
    : >"$SCRATCH/ended"
) <&3 >/dev/null 2>&1 &
ready=$(answer "$request")
while [ ! -e "$SCRATCH/ended" ]; do
    :
done
printf '%s\n' "$ready"
