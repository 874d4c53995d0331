#!/usr/bin/env python3
"""It does not exit when its input ends

When the input has ended the program must end, too.
"""

import sys


def answer(line):
    board, piece = line.split()
    left = [p for p in "ABCDEFGHIJKLMNOP" if p not in board + piece]
    cell = board.index(".") + 1 if piece != "-" else "-"
    return cell, left[0] if left else "-"


while True:
    line = sys.stdin.readline()
    if line:
        print(*answer(line), flush=True)
