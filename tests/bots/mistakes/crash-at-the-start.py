#!/usr/bin/env python3
"""A crash at the opening: `-` is in hand

The opening has no piece in hand: `-` comes in its place.
"""

import sys


def answer(line):
    board, piece = line.split()
    left = [p for p in "ABCDEFGHIJKLMNOP" if p not in board + piece]
    cell = board.index(".") + 1 if piece != "-" else "-"
    return cell, left[0] if left else "-"


for line in sys.stdin:
    board, piece = line.split()
    number = "ABCDEFGHIJKLMNOP".index(piece)
    print(*answer(line), flush=True)
