#!/usr/bin/env python3
"""It remembers the game before

A program that remembers the game is wrong in the next one: the line is the whole state.
"""

import sys

taken = set()
for line in sys.stdin:
    board, piece = line.split()
    left = [p for p in "ABCDEFGHIJKLMNOP" if p not in taken and p != piece]
    taken.add(piece)
    cell = board.index(".") + 1 if piece != "-" else "-"
    print(cell, left[0] if left else "-", flush=True)
