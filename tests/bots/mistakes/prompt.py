#!/usr/bin/env python3
"""A prompt, such as `input("...")`

`input("...")` writes its text to standard output, before the answer.
"""

import sys


def answer(line):
    board, piece = line.split()
    left = [p for p in "ABCDEFGHIJKLMNOP" if p not in board + piece]
    cell = board.index(".") + 1 if piece != "-" else "-"
    return cell, left[0] if left else "-"


while True:
    line = input("Your move: ")
    print(*answer(line), flush=True)
