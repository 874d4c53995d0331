#!/usr/bin/env python3
"""A piece that was given before

Neither a piece on the board nor the one in hand can be given.
"""

import sys


def answer(line):
    board, piece = line.split()
    left = [p for p in "ABCDEFGHIJKLMNOP" if p not in board + piece]
    cell = board.index(".") + 1 if piece != "-" else "-"
    return cell, left[0] if left else "-"


for line in sys.stdin:
    cell, gift = answer(line)
    print(cell, "A", flush=True)
