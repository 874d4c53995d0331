#!/usr/bin/env python3
"""A file looked for where the referee was started

A name without a folder is looked for where the referee was started, not where the program is.
"""

import sys


def answer(line):
    board, piece = line.split()
    left = [p for p in "ABCDEFGHIJKLMNOP" if p not in board + piece]
    cell = board.index(".") + 1 if piece != "-" else "-"
    return cell, left[0] if left else "-"


weights = open("weights.txt").read()
for line in sys.stdin:
    print(*answer(line), flush=True)
