#!/usr/bin/env python3
"""Quarto as a game of its own, by the standard rules and with the built-in pieces: its records equal those of the
built-in game.

    referee --game games/quarto.py BOT1 BOT2
"""
import json
import sys

PIECES = "ABCDEFGHIJKLMNOP"
PROPERTIES = [("big", "small"), ("red", "blue"), ("square", "circular"), ("hollow", "solid")]
LINES = [(f"H{i + 1}", [4 * i + j for j in range(4)]) for i in range(4)]
LINES += [(f"V{i + 1}", [4 * j + i for j in range(4)]) for i in range(4)]
LINES += [("D1", [0, 5, 10, 15]), ("D2", [3, 6, 9, 12])]


def quartos(board):
    found = []
    for name, cells in LINES:
        if any(board[cell] == "." for cell in cells):
            continue
        bits = [PIECES.index(board[cell]) for cell in cells]
        for feature, (zero, one) in enumerate(PROPERTIES):
            values = {bit >> feature & 1 for bit in bits}
            if len(values) == 1:
                found.append([name, (zero, one)[values.pop()]])
    return found


def position(board, hand):
    """The state is the board and the piece in hand, if there is one. The first side gives, so it also places the second
    piece, the fourth …: whose turn it is follows from the number of pieces."""
    state = f"{board} {hand}" if hand != "-" else board
    placed = 16 - board.count(".")
    lines = quartos(board)
    if lines:
        # The first piece is placed by the second side.
        return {"state": state, "over": {"winner": placed % 2, "lines": lines}}
    if placed == 16:
        return {"state": state, "over": {"winner": None}}
    side = 0 if hand == "-" else 1 - placed % 2
    return {"state": state, "side": side, "request": f"{board} {hand}"}


def play(board, hand, answer):
    words = answer.split()
    left = [piece for piece in PIECES if piece not in board and piece != hand]
    if hand == "-":
        words = words if len(words) != 1 else ["-", *words]
        if len(words) != 2:
            return {"malformed": "expected `- GIFT`"}
        if words[0] != "-":
            return {"illegal": "there is no piece to place"}
    else:
        if not words or len(words) > 2 or not (words[0].isascii() and words[0].isdigit() and len(words[0]) <= 2):
            return {"malformed": "expected `CELL GIFT`"}
        cell = int(words[0])
        if not 1 <= cell <= 16:
            return {"illegal": f"there is no cell {cell}"}
        if board[cell - 1] != ".":
            return {"illegal": f"cell {cell} is occupied"}
        board = board[:cell - 1] + hand + board[cell:]
        if quartos(board) or not left:
            return {**position(board, "-"), "turn": f"{cell} -", "words": f"places {hand} on {cell}"}
        if len(words) == 1:
            return {"malformed": "expected `CELL GIFT`"}
        words[0] = str(cell)
    gift = words[1]
    if gift not in PIECES or len(gift) != 1:
        return {"malformed": f"{gift} is no piece"}
    if gift not in left:
        return {"illegal": f"{gift} has been used"}
    told = f"places {hand} on {words[0]}, gives {gift}" if hand != "-" else f"gives {gift}"
    return {**position(board, gift), "turn": f"{words[0]} {gift}", "words": told}


def answer(question):
    kind = question["do"]
    if kind == "about":
        about = "Place the piece in hand, and give one: CELL GIFT. Four in a line with a common property win."
        return {"name": "quarto", "about": about, "first_drawn": True, "answers": True, "drawing": True}
    if kind == "start":
        return {"error": "there are no options"} if question["options"] else position("." * 16, "-")
    board, _, hand = question["state"].partition(" ")
    hand = hand or "-"
    used = [piece for piece in board + hand if piece not in ".-"]
    if len(board) != 16 or set(used) - set(PIECES) or len(set(used)) != len(used) or len(hand) != 1:
        return {"error": "expected a board of 16 characters, and the piece in hand if there is one"}
    if kind == "position":
        return position(board, hand)
    if kind == "drawing":
        in_hand = [f"in hand: {hand}"] if hand != "-" else []
        cells = [[piece.replace(".", "") for piece in board[row:row + 4]] for row in range(0, 16, 4)]
        return {"cells": cells, "columns": ["V1", "V2", "V3", "V4"], "rows": ["H1", "H2", "H3", "H4"], "text": in_hand}
    if kind == "answers":
        gifts = [piece for piece in PIECES if piece not in used] or ["-"]
        cells = ["-"] if hand == "-" else [str(cell + 1) for cell in range(16) if board[cell] == "."]
        return {"answers": [f"{cell} {gift}" for cell in cells for gift in gifts]}
    return play(board, hand, question["answer"])


for line in sys.stdin:
    print(json.dumps(answer(json.loads(line))), flush=True)
