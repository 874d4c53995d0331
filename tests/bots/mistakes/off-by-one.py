#!/usr/bin/env python3
"""Cells from 0

Cells are 1 to 16; lists of most languages begin at 0.
"""

import sys


def answer(line):
    board, piece = line.split()
    left = [p for p in "ABCDEFGHIJKLMNOP" if p not in board + piece]
    cell = board.index(".") + 1 if piece != "-" else "-"
    return cell, left[0] if left else "-"


for line in sys.stdin:
    cell, gift = answer(line)
    print(cell if cell == "-" else cell - 1, gift, flush=True)
