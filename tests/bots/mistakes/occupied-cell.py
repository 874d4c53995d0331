#!/usr/bin/env python3
"""An occupied cell

The program does not look at the board before it places.
"""

import sys


def answer(line):
    board, piece = line.split()
    left = [p for p in "ABCDEFGHIJKLMNOP" if p not in board + piece]
    cell = board.index(".") + 1 if piece != "-" else "-"
    return cell, left[0] if left else "-"


for line in sys.stdin:
    cell, gift = answer(line)
    print("-" if cell == "-" else 1, gift, flush=True)
