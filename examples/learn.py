#!/usr/bin/env python3
"""Learns to play Quarto from exact values, and writes what it has learnt as a bot.

    pip install referee-*.whl numpy
    mkdir bots && python learn.py bots/learnt.py
    referee compare bots/learnt.py builtin:greedy

It draws positions, asks `referee` for the exact value of each, and fits one weight for each of some hundred facts about
a position by least squares. The bot looks one turn ahead and chooses what is worth least to its opponent. It is plain Python
that needs nothing else, so it plays in the sandbox.
"""

import argparse
import os
import random
import time

import numpy as np

import referee

SECONDS = 25
MOST_FREE, LEAST_FREE = 10, 3

# The part that the bot needs, too: facts about a board and the pieces that are left once the opponent has its gift.
SHARED = '''
LINES = [range(4 * i, 4 * i + 4) for i in range(4)] + [range(i, 16, 4) for i in range(4)] + [range(0, 16, 5), range(3, 13, 3)]
# The properties of each piece as bits: one of the two of each feature.
BITS = [piece | (15 - piece) << 4 for piece in range(16)]


def look(board, left):
    """The properties that complete a line somewhere, pairs that share one, and how many pieces are safe to give."""
    danger, pairs = 0, 0
    for line in LINES:
        there = [BITS[board[cell]] for cell in line if board[cell] >= 0]
        if len(there) == 3:
            danger |= there[0] & there[1] & there[2]
        elif len(there) == 2:
            pairs += bin(there[0] & there[1]).count("1")
    return danger, pairs, sum(not BITS[piece] & danger for piece in left)


def facts(board, hand, left):
    """For the side that must place `hand`, which wins nowhere.

    board: the number of the piece on each cell, or -1; left: the numbers of those that can be given.
    """
    free = [cell for cell in range(16) if board[cell] < 0]
    danger, pairs, safe = look(board, left)
    after = [look(board[:cell] + [hand] + board[cell + 1:], left)[2] for cell in free]
    return [
        ("safe", len(free), safe),
        ("danger", len(free), bin(danger).count("1")),
        ("pairs", len(free), pairs),
        ("turns", len(free), sum(after).bit_length()),
        ("odd", len(free), sum(count % 2 for count in after)),
        ("none", len(free), after.count(0)),
    ]
'''
exec(SHARED)

BOT = '''#!/usr/bin/env python3
"""A player of Quarto that has learnt the worth of positions; learn.py wrote it."""

import os
import random
import sys

WEIGHTS = {weights}
{shared}

def choose(board, hand, left):
    if hand is None:
        return None, random.choice(left)
    best = []
    for cell in [cell for cell in range(16) if board[cell] < 0]:
        after = board[:cell] + [hand] + board[cell + 1:]
        if any(cell in line and wins(after, line) for line in LINES):
            return cell, None
        if not left:
            return cell, None
        for gift in left:
            rest = [piece for piece in left if piece != gift]
            loses = any(wins(after[:c] + [gift] + after[c + 1:], line)
                        for c in range(16) if after[c] < 0 for line in LINES if c in line)
            worth = 2 if loses else sum(WEIGHTS.get(fact, 0) for fact in facts(after, gift, rest))
            best.append((worth, random.random(), cell, gift))
    return min(best)[2:]


def wins(board, line):
    common = 255
    for cell in line:
        if board[cell] < 0:
            return False
        common &= BITS[board[cell]]
    return common != 0


random.seed(os.environ.get("REFEREE_SEED"))
NAMES = "ABCDEFGHIJKLMNOP"
for text in sys.stdin:
    board, piece = text.split()
    left = [NAMES.index(name) for name in NAMES if name not in board + piece]
    cell, gift = choose([NAMES.find(name) for name in board], None if piece == "-" else NAMES.index(piece), left)
    print("-" if cell is None else cell + 1, "-" if gift is None else NAMES[gift], flush=True)
'''


def positions():
    """One after the other, from random games in which nobody gives the other a win."""
    while True:
        position = referee.Quarto().start()
        while position.outcome is None:
            position = position.act(position.action_at(random.random()))
            free = position.text.count(".")
            if LEAST_FREE <= free <= MOST_FREE and position.outcome is None:
                yield position


def main():
    parser = argparse.ArgumentParser(prog="learn.py", description="Learns Quarto for half a minute, and writes a bot.")
    parser.add_argument("bot", help="the file to write, such as bots/learnt.py")
    path = parser.parse_args().bot
    if not os.path.isdir(os.path.dirname(path) or "."):
        parser.error(f"there is no folder for {path}; make it first")
    random.seed(1)
    columns, rows, scores = {}, [], []
    begun = time.monotonic()
    for position in positions():
        if time.monotonic() - begun > SECONDS:
            break
        value = position.value(nodes=300_000)
        if value.score is None or value.plies == 1:
            continue  # an immediate win is seen by looking
        number = position.game.symbols.index
        left = [number(piece) for piece in position.left]
        found = facts(position.board.ravel().tolist(), number(position.hand), left)
        rows.append([columns.setdefault(fact, len(columns)) for fact in found])
        scores.append(value.score)
    matrix = np.zeros((len(rows), len(columns)))
    for row, found in zip(matrix, rows):
        row[found] = 1
    # Ridge regression: facts that were rarely seen stay near zero.
    weights = np.linalg.solve(matrix.T @ matrix + 3 * np.eye(len(columns)), matrix.T @ np.array(scores))
    guessed = matrix @ weights
    right = np.mean(np.sign(np.round(guessed)) == scores)
    print(f"{len(rows)} positions, {len(columns)} weights; the value of {right:.0%} is guessed right")
    learnt = {fact: round(float(weights[column]), 3) for fact, column in columns.items()}
    with open(path, "w") as file:
        file.write(BOT.replace("{weights}", repr(learnt)).replace("{shared}", SHARED))
    os.chmod(path, 0o755)


main()
