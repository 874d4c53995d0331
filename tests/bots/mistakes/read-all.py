#!/usr/bin/env python3
"""`read()` in Python

`read()` waits for the end of the input, too; flushing does not help.
"""

import sys


def answer(line):
    board, piece = line.split()
    left = [p for p in "ABCDEFGHIJKLMNOP" if p not in board + piece]
    cell = board.index(".") + 1 if piece != "-" else "-"
    return cell, left[0] if left else "-"


for line in sys.stdin.read().splitlines():
    print(*answer(line), flush=True)
