#!/usr/bin/env python3
"""Gomoku on 15×15: referee --game games/gomoku.py BOT1 BOT2, or with --game-option opening=swap

Five or more in a row, column or diagonal win. A bot is sent its mark and the 225 cells, row by row from the top left
(`X ......`), and answers with a cell: a column, a to o, and a row, 1 to 15 from the top (`h8`). X begins.

With opening=swap the side that begins puts down the first three stones, X, O and X; the other side then answers `swap` to
play X, or puts down O. It is sent `X=?` or `O=?` for these stones, and `swap` with the mark for the choice.
"""
import json
import sys

ABOUT = "Five or more in a row win. Answer with a free cell, such as h8: a column, a to o, and a row, 1 to 15 from the top."
SIZE = 15
CELLS = [f"{'abcdefghijklmno'[cell % SIZE]}{cell // SIZE + 1}" for cell in range(SIZE * SIZE)]
STEPS = [("row", 0, 1), ("column", 1, 0), ("diagonal", 1, 1), ("diagonal", 1, -1)]


def fives(board):
    """The first and the last cell of each line of five or more, and its mark."""
    found = []
    for cell, mark in enumerate(board):
        row, column = divmod(cell, SIZE)
        for _, down, right in STEPS if mark != "." else []:
            def same(steps):
                r, c = row + steps * down, column + steps * right
                return 0 <= r < SIZE and 0 <= c < SIZE and board[r * SIZE + c] == mark
            if same(-1):
                continue
            length = next(steps for steps in range(1, SIZE + 1) if not same(steps))
            if length >= 5:
                found.append((cell, cell + (length - 1) * (down * SIZE + right), mark))
    return found


def position(board, x, opening):
    """The state is the board, the side that plays X, and the opening: `none`, `swap` until the choice, then `done`."""
    state = f"{board} {x} {opening}"
    lines = fives(board)
    if lines:
        marks = [[f"{CELLS[first]} to {CELLS[last]}", mark] for first, last, mark in lines]
        return {"state": state, "over": {"winner": x if lines[0][2] == "X" else 1 - x, "lines": marks}}
    if "." not in board:
        return {"state": state, "over": {"winner": None}}
    mark = to_move(board)
    stones = SIZE * SIZE - board.count(".")
    if opening == "swap" and stones < 3:
        return {"state": state, "side": 0, "request": f"{mark}=? {board}"}
    choice = "swap" if opening == "swap" else ""
    return {"state": state, "side": x if mark == "X" else 1 - x, "request": f"{choice}{mark} {board}"}


def to_move(board):
    return "X" if board.count("X") == board.count("O") else "O"


def read(state):
    """The board, the side that plays X, and the opening; None of a text that is no state."""
    board, x, opening = (state.split(" ") + ["", ""])[:3]
    known = len(board) == SIZE * SIZE and not set(board) - set("XO.") and x in ("0", "1")
    known = known and board.count("X") - board.count("O") in (0, 1) and opening in ("none", "swap", "done")
    stones = SIZE * SIZE - board.count(".")
    known = known and (opening == "done" and stones >= 3 or x == "0" and (opening == "none" or stones <= 3))
    # Only the mark that moved last can have a line.
    known = known and all(mark != to_move(board) for _, _, mark in fives(board))
    return (board, int(x), opening) if known and state == f"{board} {x} {opening}" else None


def drawing(board):
    lines = "".join(f'<path d="M{i} 1V15M1 {i}H15" stroke="currentColor" stroke-width=".03"/>' for i in range(1, SIZE + 1))
    stones = ""
    for cell, mark in enumerate(board):
        if mark != ".":
            x, y, fill = cell % SIZE + 1, cell // SIZE + 1, "#222" if mark == "X" else "#fff"
            stones += f'<circle cx="{x}" cy="{y}" r=".42" fill="{fill}" stroke="#222" stroke-width=".05"/>'
    svg = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0.3 0.3 15.4 15.4">{lines}{stones}</svg>'
    rows = [[mark.replace(".", "") for mark in board[row:row + SIZE]] for row in range(0, len(board), SIZE)]
    winning = [[cell // SIZE, cell % SIZE] for first, last, _ in fives(board) for cell in (first, last)]
    names = {"columns": list("abcdefghijklmno"), "rows": [str(row + 1) for row in range(SIZE)]}
    return {"cells": rows, **names, "winning": winning, "svg": svg}


def play(board, x, opening, text):
    mark, stones = to_move(board), SIZE * SIZE - board.count(".")
    is_choice = opening == "swap" and stones == 3
    if text == "swap" and is_choice:
        return {**position(board, 1, "done"), "turn": text, "words": "swaps, and plays X"}
    if text not in CELLS:
        return {"malformed": "expected a cell, such as h8" + (", or swap" if is_choice else "")}
    cell = CELLS.index(text)
    if board[cell] != ".":
        return {"illegal": f"there is a stone on {text} already"}
    after = board[:cell] + mark + board[cell + 1:]
    return {**position(after, x, "done" if is_choice else opening), "turn": text, "words": f"puts {mark} on {text}"}


def answer(question):
    kind = question["do"]
    if kind == "about":
        return {"name": "gomoku", "about": ABOUT, "first_drawn": True, "answers": True, "drawing": True}
    if kind == "start":
        opening = question["options"].pop("opening", "none")
        if question["options"] or opening not in ("none", "swap"):
            return {"error": "expected opening=none or opening=swap, and no other option"}
        return position("." * SIZE * SIZE, 0, opening)
    game = read(question["state"])
    if game is None:
        return {"error": "expected a state of gomoku: 225 cells of X, O and ., the side that plays X, and the opening"}
    board, x, opening = game
    if kind == "position":
        return position(*game)
    if kind == "answers":
        free = [name for name, mark in zip(CELLS, board) if mark == "."]
        return {"answers": free + ["swap"] * (opening == "swap" and len(free) == SIZE * SIZE - 3)}
    if kind == "drawing":
        return drawing(board)
    return play(board, x, opening, question["answer"])


for line in sys.stdin:
    print(json.dumps(answer(json.loads(line))), flush=True)
