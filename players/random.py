#!/usr/bin/env python3
"""A random player: any free cell, any piece left.

Run it:  ./random.py  or  python3 random.py        (Debian package: python3)
It reads requests `BOARD PIECE` and answers `CELL GIFT`; see ../protocol.md.
"""

import sys

# Python looks for modules beside the script first, and would find this very file
# when it is asked for `random`.
del sys.path[0]

import csv
import os
import random


def read_pieces():
    """The characters that stand for the pieces."""
    path = os.environ.get("REFEREE_PIECES")
    if not path:
        return "ABCDEFGHIJKLMNOP"
    with open(path, encoding="utf-8-sig", newline="") as file:
        rows = list(csv.reader(file))[1:]  # without the header
    return [row[0].strip() for row in rows if row and row[0].strip()]


def main():
    for stream in (sys.stdin, sys.stdout):
        stream.reconfigure(encoding="utf-8")  # whatever the locale says
    random.seed(os.environ.get("REFEREE_SEED") or None)  # None: the clock
    pieces = read_pieces()

    for line in sys.stdin:
        board, hand = line.split()
        cells = [i + 1 for i, piece in enumerate(board) if piece == "."]
        left = [piece for piece in pieces if piece not in board and piece != hand]
        cell = "-" if hand == "-" else random.choice(cells)
        gift = random.choice(left) if left else "-"
        print("info gifts", len(left), file=sys.stderr)  # what it thinks, for its record
        print(cell, gift, flush=True)


if __name__ == "__main__":
    main()
