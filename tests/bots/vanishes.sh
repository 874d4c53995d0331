#!/bin/sh
# Deletes its file once it runs, and plays one game.
rm "$0"
exec "$REFEREE_BIN" bot random
