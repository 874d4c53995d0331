#!/usr/bin/env python3
"""A player that searches: alpha-beta with iterative deepening.

It looks one turn ahead, then two, then three, until 40 % of the time for a move is used
(2 seconds at most); `--share 0.6` makes it 60 %. As the clock decides how deep it looks, a seed does not make it play
the same game twice.

Run it:  ./minimax.py  or  python3 minimax.py        (Debian package: python3)
It reads requests `BOARD PIECE` and answers `CELL GIFT`; see ../protocol.md.
"""

import sys

# Python looks for modules beside the script first, and would find the player random.py
# when it is asked for `random`.
del sys.path[0]

import argparse
import csv
import os
import random
import time
from functools import cache

# A set of cells is a number with bit 0 for cell 1, ..., bit 15 for cell 16.
ALL_CELLS = 0xFFFF

# A property is a number from 0 to 7: twice its feature, plus 0 or 1. A board is a tuple of
# eight sets of cells: where the pieces with property 0 are, with property 1, and so on.
EMPTY_BOARD = (0,) * 8


def read_pieces():
    """A dictionary from a piece's character to its four properties."""
    path = os.environ.get("REFEREE_PIECES")
    if not path:  # the built-in set: A is 0000, B is 0001, ..., P is 1111
        return {
            chr(ord("A") + number): tuple(2 * bit + (number >> bit & 1) for bit in range(4))
            for number in range(16)
        }
    with open(path, encoding="utf-8-sig", newline="") as file:
        rows = [[field.strip() for field in row] for row in csv.reader(file, skipinitialspace=True)]
    rows = [row for row in rows[1:] if row and row[0]]
    first = rows[0]
    return {
        row[0]: tuple(2 * f + (row[1 + f] != first[1 + f]) for f in range(4)) for row in rows
    }


def read_lines():
    """The groups of four cells that count."""
    lines = [0x000F << 4 * row for row in range(4)]
    lines += [0x1111 << column for column in range(4)]
    lines += [0x8421, 0x1248]
    if os.environ.get("REFEREE_RULES") == "squares":
        lines += [0x0033 << 4 * row + column for row in range(3) for column in range(3)]
    return lines


PIECES = read_pieces()
LINES = read_lines()


def read_share():
    """Which share of the time for a move is used."""
    parser = argparse.ArgumentParser(description="A player of Quarto that searches")
    parser.add_argument("--share", type=float, default=0.4, help="share of the time for a move (0.4)")
    return parser.parse_args().share


TIME = min(read_share() * float(os.environ.get("REFEREE_MOVE_TIME") or 10), 2.0)


@cache
def gaps(cells):
    """The cells that complete a line together with `cells`."""
    result = 0
    for line in LINES:
        missing = line & ~cells
        if missing & (missing - 1) == 0:  # at most one cell
            result |= missing
    return result


def winning_cells(board, piece):
    """The free cells on which `piece` makes a quarto."""
    a, b, c, d = PIECES[piece]
    free = ALL_CELLS & ~(board[0] | board[1])
    return (gaps(board[a]) | gaps(board[b]) | gaps(board[c]) | gaps(board[d])) & free


def place(board, cell, piece):
    """The board with `piece` on `cell`, which is a set of one cell."""
    has = PIECES[piece]
    return tuple(cells | cell if p in has else cells for p, cells in enumerate(board))


def free_cells(board):
    """The free cells, one after the other, each as a set of one cell."""
    taken = board[0] | board[1]
    return [1 << i for i in range(16) if not taken >> i & 1]


class OutOfTime(Exception):
    """The time for this move is used up."""


class Search:
    """The search for one turn."""

    def __init__(self):
        self.deadline = time.monotonic() + TIME

    def value(self, board, hand, left, depth, alpha, beta):
        """What the position is worth for the player who must place `hand`: 1 is a win, -1 a
        loss, 0 a draw or not known.

        One turn is to place *and* to give. Only then it is the other player's turn, so the
        sign changes once a turn, not once for the placing and once for the giving.
        """
        if winning_cells(board, hand):
            return 1
        if depth == 0 or not left:
            return 0
        if time.monotonic() > self.deadline:
            raise OutOfTime
        best = -1
        for cell in free_cells(board):
            after = place(board, cell, hand)
            for gift in left:
                if winning_cells(after, gift):
                    continue  # worth -1
                rest = left.replace(gift, "")
                value = -self.value(after, gift, rest, depth - 1, -beta, -alpha)
                best = max(best, value)
                alpha = max(alpha, value)
                if alpha >= beta:
                    return best
        return best

    def best_turn(self, board, hand, left):
        """The best turn, as a cell (a set of one, or None) and a gift."""
        turns = []
        for cell in [None] if hand == "-" else free_cells(board):
            after = board if cell is None else place(board, cell, hand)
            turns += [(cell, gift, after) for gift in left]
        random.shuffle(turns)

        choice = turns[0]
        try:
            for depth in range(1 + len(left)):
                best, values = -2, {}
                for turn in turns:
                    _, gift, after = turn
                    rest = left.replace(gift, "")
                    value = -self.value(after, gift, rest, depth, -1, -best)
                    values[turn] = value
                    if value > best:
                        best, best_turn = value, turn
                    if best == 1:
                        break
                if best == -1:
                    break  # all is lost: keep the turn that resists longer
                choice = best_turn
                print(f"info depth {1 + depth} score {best}", file=sys.stderr)
                if best == 1:
                    break  # won
                # Drop the lost turns, and begin with the best one next time.
                turns = [turn for turn in turns if values[turn] > -1 and turn != choice]
                turns.insert(0, choice)
        except OutOfTime:
            pass
        return choice[:2]


def answer(line):
    """The answer to a request."""
    text, hand = line.split()
    board = EMPTY_BOARD
    for i, piece in enumerate(text):
        if piece != ".":
            board = place(board, 1 << i, piece)
    left = "".join(piece for piece in PIECES if piece not in text and piece != hand)

    wins = 0 if hand == "-" else winning_cells(board, hand)
    if wins:
        cell, gift = wins & -wins, left[:1] or "-"  # the lowest of them; any gift
    elif not left:
        cell, gift = free_cells(board)[0], "-"  # the last piece
    else:
        cell, gift = Search().best_turn(board, hand, left)
    return f"{cell.bit_length() if cell else '-'} {gift}"


def main():
    for stream in (sys.stdin, sys.stdout):
        stream.reconfigure(encoding="utf-8")  # whatever the locale says
    random.seed(os.environ.get("REFEREE_SEED") or None)  # None: the clock

    for line in sys.stdin:
        print(answer(line), flush=True)


if __name__ == "__main__":
    main()
