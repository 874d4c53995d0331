#!/usr/bin/env python3
"""A sleep, or a wait for something else

A sleep or a long search: the answer comes when the time is over.
"""

import sys


def answer(line):
    board, piece = line.split()
    left = [p for p in "ABCDEFGHIJKLMNOP" if p not in board + piece]
    cell = board.index(".") + 1 if piece != "-" else "-"
    return cell, left[0] if left else "-"


import time

for line in sys.stdin:
    time.sleep(3600)
    print(*answer(line), flush=True)
