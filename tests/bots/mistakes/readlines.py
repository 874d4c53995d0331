#!/usr/bin/env python3
"""`readlines()` in Python

`readlines()` waits for the end of the input, which comes when the game is over.
"""

import sys


def answer(line):
    board, piece = line.split()
    left = [p for p in "ABCDEFGHIJKLMNOP" if p not in board + piece]
    cell = board.index(".") + 1 if piece != "-" else "-"
    return cell, left[0] if left else "-"


for line in sys.stdin.readlines():
    print(*answer(line), flush=True)
