#!/usr/bin/env python3
"""The answer on two lines

Cell and gift belong on one line, with a space between them.
"""

import sys


def answer(line):
    board, piece = line.split()
    left = [p for p in "ABCDEFGHIJKLMNOP" if p not in board + piece]
    cell = board.index(".") + 1 if piece != "-" else "-"
    return cell, left[0] if left else "-"


for line in sys.stdin:
    for word in answer(line):
        print(word, flush=True)
