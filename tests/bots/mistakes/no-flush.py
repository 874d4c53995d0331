#!/usr/bin/env python3
"""No flush in Python

What is printed waits in a buffer until it is full or the program ends.
"""

import sys


def answer(line):
    board, piece = line.split()
    left = [p for p in "ABCDEFGHIJKLMNOP" if p not in board + piece]
    cell = board.index(".") + 1 if piece != "-" else "-"
    return cell, left[0] if left else "-"


for line in sys.stdin:
    print(*answer(line))
