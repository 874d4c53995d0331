#!/bin/sh
# Writes a line, as a program does that cannot start, and exits without having read a question.
echo 'cannot open the book of openings'
exit 3
