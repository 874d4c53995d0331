#!/usr/bin/env python3
"""A number in place of a piece

A piece is its letter, not its place in a list.
"""

import sys


def answer(line):
    board, piece = line.split()
    left = [p for p in "ABCDEFGHIJKLMNOP" if p not in board + piece]
    cell = board.index(".") + 1 if piece != "-" else "-"
    return cell, left[0] if left else "-"


for line in sys.stdin:
    cell, gift = answer(line)
    print(cell, "-" if gift == "-" else ord(gift) - ord("A"), flush=True)
