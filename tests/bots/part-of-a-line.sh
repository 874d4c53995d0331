#!/bin/sh
# Item 2: prints an answer without the newline, and waits.
read -r request
printf '%s' '- A'
read -r request
