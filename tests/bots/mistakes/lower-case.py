#!/usr/bin/env python3
"""Lower case

Pieces are the characters of the set, as they are: `a` is not `A`.
"""

import sys


def answer(line):
    board, piece = line.split()
    left = [p for p in "ABCDEFGHIJKLMNOP" if p not in board + piece]
    cell = board.index(".") + 1 if piece != "-" else "-"
    return cell, left[0] if left else "-"


for line in sys.stdin:
    cell, gift = answer(line)
    print(cell, gift.lower(), flush=True)
