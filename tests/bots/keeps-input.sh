#!/bin/sh
# Keeps the bytes that it is sent in $SCRATCH/input-SEED, its REFEREE_SEED. Its arguments are the bot that answers.
tee -a "$SCRATCH/input-$REFEREE_SEED" | "$@"
