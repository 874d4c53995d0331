#!/bin/sh
# Uses much processor time when it starts, and little after that.
i=0
while [ $i -lt 500000 ]; do
    i=$((i + 1))
done
exec "$REFEREE_BIN" bot random
