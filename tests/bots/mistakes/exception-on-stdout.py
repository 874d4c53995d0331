#!/usr/bin/env python3
"""An error printed as the answer

An exception that is caught and printed is an answer.
"""

import sys


def answer(line):
    board, piece = line.split()
    left = [p for p in "ABCDEFGHIJKLMNOP" if p not in board + piece]
    cell = board.index(".") + 1 if piece != "-" else "-"
    return cell, left[0] if left else "-"


for line in sys.stdin:
    try:
        board, piece, more = line.split()
        print(*answer(line), flush=True)
    except ValueError as error:
        print(error, flush=True)
