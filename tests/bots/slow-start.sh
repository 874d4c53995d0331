#!/bin/sh
# Item 22: takes a while to start, and plays fast then.
sleep 1.2
exec "$REFEREE_BIN" bot random
