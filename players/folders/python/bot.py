#!/usr/bin/env python3
"""Reads a question a line, and prints the answer of strategy.py."""

import sys

from strategy import choose

PIECES = "ABCDEFGHIJKLMNOP"

for line in sys.stdin:
    board, piece = line.split()
    cells = [number for number, symbol in enumerate(board, 1) if symbol == "."]
    left = [symbol for symbol in PIECES if symbol not in board and symbol != piece]
    if piece == "-":
        cells = ["-"]
    cell, gift = choose(board, piece, cells, left or ["-"])
    print(cell, gift, flush=True)
