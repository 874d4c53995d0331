#!/usr/bin/env python3
"""A greedy player: it looks one step ahead.

It wins when it can, never gives a piece that wins immediately if it can help it, and
otherwise plays at random.

Run it:  ./greedy.py  or  python3 greedy.py        (Debian package: python3)
It reads requests `BOARD PIECE` and answers `CELL GIFT`; see ../protocol.md.
"""

import sys

# Python looks for modules beside the script first, and would find the player random.py
# when it is asked for `random`.
del sys.path[0]

import csv
import os
import random

FEATURES = [("big", "small"), ("red", "blue"), ("square", "circular"), ("hollow", "solid")]


def read_pieces():
    """A dictionary from a piece's character to the set of its properties."""
    path = os.environ.get("REFEREE_PIECES")
    if not path:  # the built-in set: A is 0000, B is 0001 (small), ..., P is 1111
        return {
            chr(ord("A") + number): {pair[number >> bit & 1] for bit, pair in enumerate(FEATURES)}
            for number in range(16)
        }
    with open(path, encoding="utf-8-sig", newline="") as file:
        rows = [[field.strip() for field in row] for row in csv.reader(file, skipinitialspace=True)]
    return {row[0]: set(row[1:]) for row in rows[1:] if row and row[0]}


def read_lines():
    """The groups of four cells that count, with cells from 0 to 15."""
    lines = [[4 * row + column for column in range(4)] for row in range(4)]
    lines += [[4 * row + column for row in range(4)] for column in range(4)]
    lines += [[0, 5, 10, 15], [3, 6, 9, 12]]
    if os.environ.get("REFEREE_RULES") == "squares":
        corners = [4 * row + column for row in range(3) for column in range(3)]
        lines += [[c, c + 1, c + 4, c + 5] for c in corners]
    return lines


PIECES = read_pieces()
LINES = read_lines()
LINES_OF = [[line for line in LINES if cell in line] for cell in range(16)]


def wins(board, cell, piece):
    """Whether `piece` makes a quarto on the free `cell`."""
    for line in LINES_OF[cell]:
        others = [board[c] for c in line if c != cell]
        if "." not in others and PIECES[piece].intersection(*(PIECES[p] for p in others)):
            return True
    return False


def can_win(board, piece):
    """Whether `piece` makes a quarto anywhere."""
    return any(board[cell] == "." and wins(board, cell, piece) for cell in range(16))


def turn(board, hand):
    """The answer to a request: a cell from 0 to 15 or None, and a gift or `-`."""
    left = [piece for piece in PIECES if piece not in board and piece != hand]
    cells = [cell for cell in range(16) if board[cell] == "."]
    if hand == "-":
        cells = [None]  # nothing to place
    else:
        for cell in cells:
            if wins(board, cell, hand):
                return cell, left[0] if left else "-"

    every, safe = [], []
    for cell in cells:
        after = list(board)
        if cell is not None:
            after[cell] = hand
        for gift in left or ["-"]:
            every.append((cell, gift))
            if gift == "-" or not can_win(after, gift):
                safe.append((cell, gift))
    return random.choice(safe or every)


def main():
    for stream in (sys.stdin, sys.stdout):
        stream.reconfigure(encoding="utf-8")  # whatever the locale says
    random.seed(os.environ.get("REFEREE_SEED") or None)  # None: the clock

    for line in sys.stdin:
        board, hand = line.split()
        cell, gift = turn(list(board), hand)
        print("-" if cell is None else cell + 1, gift, flush=True)


if __name__ == "__main__":
    main()
