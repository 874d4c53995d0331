#!/bin/sh
# Writes what it finds in its environment to $SCRATCH/environment-NAME, its argument being the
# name, and its process id to $SCRATCH/pids. Then plays well.
env | grep '^REFEREE_' >"$SCRATCH/environment-$1"
echo $$ >>"$SCRATCH/pids"
exec "$REFEREE_BIN" bot random
