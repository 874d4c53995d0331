#!/usr/bin/env python3
"""An `except` that hides an error

The error is caught, and the program goes on with the next line without an answer.
"""

import sys


def answer(line):
    board, piece = line.split()
    left = [p for p in "ABCDEFGHIJKLMNOP" if p not in board + piece]
    return board.find(".") + 1 if piece != "-" else piece, left[0].symbol


for line in sys.stdin:
    try:
        print(*answer(line), flush=True)
    except Exception:
        pass
