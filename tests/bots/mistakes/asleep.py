#!/usr/bin/env python3
"""A sleep of eleven seconds before every answer

Longer than the time for an answer.
"""

import sys
import time


def answer(line):
    board, piece = line.split()
    left = [p for p in "ABCDEFGHIJKLMNOP" if p not in board + piece]
    cell = board.index(".") + 1 if piece != "-" else "-"
    return cell, left[0] if left else "-"


for line in sys.stdin:
    time.sleep(11)
    print(*answer(line), flush=True)
