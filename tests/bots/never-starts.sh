#!/bin/sh
# Item 24: fails on every start, and counts how often it was started.
echo start >>"$SCRATCH/starts"
echo 'cannot load my model' >&2
exit 1
