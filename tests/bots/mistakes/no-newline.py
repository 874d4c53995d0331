#!/usr/bin/env python3
"""No newline in Python

The end of an answer is the end of its line.
"""

import sys


def answer(line):
    board, piece = line.split()
    left = [p for p in "ABCDEFGHIJKLMNOP" if p not in board + piece]
    cell = board.index(".") + 1 if piece != "-" else "-"
    return cell, left[0] if left else "-"


for line in sys.stdin:
    sys.stdout.write("{} {}".format(*answer(line)))
    sys.stdout.flush()
