#!/usr/bin/env python3
"""A debug print

Everything on standard output is an answer, also what you print for yourself.
"""

import sys


def answer(line):
    board, piece = line.split()
    left = [p for p in "ABCDEFGHIJKLMNOP" if p not in board + piece]
    cell = board.index(".") + 1 if piece != "-" else "-"
    return cell, left[0] if left else "-"


for line in sys.stdin:
    print("thinking about", line.strip())
    print(*answer(line), flush=True)
