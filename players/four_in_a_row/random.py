#!/usr/bin/env python3
"""A random player of Four In A Row: any column with room.

Run it:  ./random.py  or  python3 random.py        (Debian package: python3)
It reads requests `MARK BOARD`, such as `@` and 42 characters, row by row from the top left
with `.` for an empty cell, and answers with a column, 1 to 7; see ../../protocol.md.
"""

import sys

# Python looks for modules beside the script first, and would find this very file
# when it is asked for `random`.
del sys.path[0]

import os
import random


def main():
    random.seed(os.environ.get("REFEREE_SEED") or None)  # None: the clock

    for line in sys.stdin:
        _, board = line.split()
        # The first seven characters are the top row.
        columns = [column for column in range(1, 8) if board[column - 1] == "."]
        print(random.choice(columns), flush=True)


if __name__ == "__main__":
    main()
