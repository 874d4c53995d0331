#!/bin/sh
# Item 1: reads the question and then computes for ever.
read -r request
while :; do
    :
done
