#!/bin/sh
# Item 4: a line of 1 GB.
read -r request
head -c 1000000000 /dev/zero | tr '\0' A
echo
