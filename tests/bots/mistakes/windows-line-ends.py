#!/usr/bin/env python3
"""Line ends of Windows

An editor on Windows saved it: the first line ends in a character that nobody sees.
"""

import sys


def answer(line):
    board, piece = line.split()
    left = [p for p in "ABCDEFGHIJKLMNOP" if p not in board + piece]
    cell = board.index(".") + 1 if piece != "-" else "-"
    return cell, left[0] if left else "-"


for line in sys.stdin:
    print(*answer(line), flush=True)
