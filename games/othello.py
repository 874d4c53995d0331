#!/usr/bin/env python3
"""Othello: referee --game games/othello.py BOT1 BOT2

A bot is sent its mark and the 64 cells, row by row from the top left (`X ......`), and answers with a cell: a column, a to
h, and a row, 1 to 8 from the top (`d3`). X begins. A side that cannot turn a disc over is not asked; when neither can, the
game is over, and more discs win.
"""
import json
import sys

ABOUT = "Answer with a cell, such as d3, where you turn over discs of the other mark. More discs win."
CELLS = [f"{'abcdefgh'[cell % 8]}{cell // 8 + 1}" for cell in range(64)]
START = "." * 27 + "OX" + "." * 6 + "XO" + "." * 27


def turned(board, mark, cell):
    """The cells of the discs that a disc here turns over; none where it may not be put."""
    found = []
    if board[cell] != ".":
        return found
    for down, right in [(d, r) for d in (-1, 0, 1) for r in (-1, 0, 1) if (d, r) != (0, 0)]:
        line, row, column = [], cell // 8 + down, cell % 8 + right
        while 0 <= row < 8 and 0 <= column < 8 and board[8 * row + column] not in (".", mark):
            line.append(8 * row + column)
            row, column = row + down, column + right
        if 0 <= row < 8 and 0 <= column < 8 and board[8 * row + column] == mark:
            found += line
    return found


def legal(board, mark):
    return [cell for cell in range(64) if turned(board, mark, cell)]


def position(board, side):
    """The state is the board and the side to move: `... 0`. The other side moves on where this one cannot."""
    if not legal(board, "XO"[side]) and legal(board, "XO"[1 - side]):
        side = 1 - side
    state = f"{board} {side}"
    if legal(board, "XO"[side]):
        return {"state": state, "side": side, "request": f"{'XO'[side]} {board}"}
    points = [board.count("X"), board.count("O")]
    winner = None if points[0] == points[1] else int(points[1] > points[0])
    return {"state": state, "over": {"winner": winner, "points": points}}


def drawing(board):
    lines = "".join(f'<path d="M{i} 0V8M0 {i}H8" stroke="#135" stroke-width=".03"/>' for i in range(9))
    discs = ""
    for cell, mark in enumerate(board):
        if mark != ".":
            fill = "#111" if mark == "X" else "#fff"
            discs += f'<circle cx="{cell % 8 + .5}" cy="{cell // 8 + .5}" r=".4" fill="{fill}"/>'
    ground = '<rect width="8" height="8" fill="#2f9273"/>'
    svg = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="-.1 -.1 8.2 8.2">{ground}{lines}{discs}</svg>'
    rows = [[mark.replace(".", "") for mark in board[row:row + 8]] for row in range(0, 64, 8)]
    text = [f"X {board.count('X')}, O {board.count('O')}"]
    return {"cells": rows, "columns": list("abcdefgh"), "rows": list("12345678"), "text": text, "svg": svg}


def answer(question):
    kind = question["do"]
    if kind == "about":
        return {"name": "othello", "about": ABOUT, "first_drawn": True, "answers": True, "drawing": True}
    if kind == "start":
        return {"error": "there are no options"} if question["options"] else position(START, 0)
    board, _, side = question["state"].partition(" ")
    known = len(board) == 64 and not set(board) - set("XO.") and side in ("0", "1")
    # A side that cannot move is not to move.
    if not known or position(board, int(side))["state"] != question["state"]:
        return {"error": "expected 64 cells of X, O and ., and the side to move, 0 or 1"}
    side = int(side)
    if kind == "position":
        return position(board, side)
    if kind == "answers":
        return {"answers": [CELLS[cell] for cell in legal(board, "XO"[side])]}
    if kind == "drawing":
        return drawing(board)
    text, mark = question["answer"], "XO"[side]
    if text not in CELLS:
        return {"malformed": "expected a cell, such as d3"}
    cells = turned(board, mark, CELLS.index(text))
    if not cells:
        return {"illegal": f"{mark} turns nothing over on {text}; expected {', '.join(CELLS[c] for c in legal(board, mark))}"}
    changed = {CELLS.index(text), *cells}
    after = "".join(mark if cell in changed else other for cell, other in enumerate(board))
    return {**position(after, 1 - side), "turn": text, "words": f"puts {mark} on {text}, turns {len(cells)} over"}


for line in sys.stdin:
    print(json.dumps(answer(json.loads(line))), flush=True)
