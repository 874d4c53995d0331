#!/bin/sh
# Gives the first piece of the set that it is given, and then ends.
{
    read -r header
    IFS=, read -r piece rest
} <"$REFEREE_PIECES" || exit 4
read -r request
echo "- $piece"
