#!/bin/sh
# An error message of Python on standard output, as of a program that is run with 2>&1.
read -r request
cat <<'END'
Traceback (most recent call last):
  File "/home/anna/bot.py", line 3, in <module>
    x[5]
IndexError: list index out of range
END
exit 1
