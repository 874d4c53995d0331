#!/usr/bin/env python3
"""A row and a column

A cell is one number, 1 to 16, row by row.
"""

import sys


def answer(line):
    board, piece = line.split()
    left = [p for p in "ABCDEFGHIJKLMNOP" if p not in board + piece]
    cell = board.index(".") + 1 if piece != "-" else "-"
    return cell, left[0] if left else "-"


for line in sys.stdin:
    cell, gift = answer(line)
    if cell != "-":
        cell = f"{(cell - 1) // 4 + 1},{(cell - 1) % 4 + 1}"
    print(cell, gift, flush=True)
