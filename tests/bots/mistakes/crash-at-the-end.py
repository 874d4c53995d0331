#!/usr/bin/env python3
"""A crash on the last turn: no piece is left

The list of pieces left is empty then.
"""

import sys

for line in sys.stdin:
    board, piece = line.split()
    left = [p for p in "ABCDEFGHIJKLMNOP" if p not in board + piece]
    cell = board.index(".") + 1 if piece != "-" else "-"
    print(cell, left[0], flush=True)
