#!/usr/bin/env python3
"""A piece given on the last turn

When no piece is left the gift is `-`, or nothing.
"""

import sys


def answer(line):
    board, piece = line.split()
    left = [p for p in "ABCDEFGHIJKLMNOP" if p not in board + piece]
    cell = board.index(".") + 1 if piece != "-" else "-"
    return cell, left[0] if left else "-"


for line in sys.stdin:
    cell, gift = answer(line)
    print(cell, "A" if gift == "-" else gift, flush=True)
