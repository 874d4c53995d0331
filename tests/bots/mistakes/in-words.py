#!/usr/bin/env python3
"""Words around the answer

`place 3 give A` in place of `3 A`.
"""

import sys


def answer(line):
    board, piece = line.split()
    left = [p for p in "ABCDEFGHIJKLMNOP" if p not in board + piece]
    cell = board.index(".") + 1 if piece != "-" else "-"
    return cell, left[0] if left else "-"


for line in sys.stdin:
    cell, gift = answer(line)
    print("place", cell, "give", gift, flush=True)
