#!/usr/bin/env python3
"""One question only

A program is asked until its input ends: many questions, many games.
"""

import sys


def answer(line):
    board, piece = line.split()
    left = [p for p in "ABCDEFGHIJKLMNOP" if p not in board + piece]
    cell = board.index(".") + 1 if piece != "-" else "-"
    return cell, left[0] if left else "-"


line = input()
print(*answer(line), flush=True)
