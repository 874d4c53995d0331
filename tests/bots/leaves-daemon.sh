#!/bin/sh
# Leaves a daemon behind: a grandchild in a process group of its own, which `timeout` makes, with no stream of its
# parent's. It adds its process id to $SCRATCH/daemons. Then plays well.
. "${0%/*}/lib.sh"
(
    timeout 300 sh -c 'echo $$ >>"$SCRATCH/daemons"; : >"$SCRATCH/of-$0"; sleep 300; :' $$ \
        </dev/null >/dev/null 2>&1 &
)
while read -r request; do
    while [ ! -e "$SCRATCH/of-$$" ]; do
        sleep 0.01
    done
    answer "$request"
done
