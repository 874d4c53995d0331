#!/bin/sh
# Copies the piece set that it is given, then plays.
cat "$REFEREE_PIECES" >"$SCRATCH/pieces" || exit 4
exec "$REFEREE_BIN" bot random
