#!/bin/sh
# Item 7: answers before it was asked, and then tells that it did.
echo '6 A'
: >"$SCRATCH/go"
while read -r request; do
    :
done
