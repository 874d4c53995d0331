#!/usr/bin/env python3
"""Quotes

Programs that write JSON or `repr` put quotes around words.
"""

import sys


def answer(line):
    board, piece = line.split()
    left = [p for p in "ABCDEFGHIJKLMNOP" if p not in board + piece]
    cell = board.index(".") + 1 if piece != "-" else "-"
    return cell, left[0] if left else "-"


import json

for line in sys.stdin:
    print(json.dumps(" ".join(map(str, answer(line)))), flush=True)
