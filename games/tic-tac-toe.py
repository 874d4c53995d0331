#!/usr/bin/env python3
"""Tic-tac-toe as a game of its own: referee --game games/tic-tac-toe.py BOT1 BOT2

A bot is sent its mark and the nine cells, row by row (`X X.O......`), and answers with a cell, 1 to 9.
"""
import json
import sys

ABOUT = "Three in a row, column or diagonal win. Answer with a free cell, 1 to 9, row by row."
LINES = [("row 1", (0, 1, 2)), ("row 2", (3, 4, 5)), ("row 3", (6, 7, 8)),
         ("column 1", (0, 3, 6)), ("column 2", (1, 4, 7)), ("column 3", (2, 5, 8)),
         ("diagonal 1", (0, 4, 8)), ("diagonal 2", (2, 4, 6))]


def won(board):
    return [(name, cells) for name, cells in LINES if board[cells[0]] != "." and len({board[c] for c in cells}) == 1]


def position(board):
    """The state is the board: whose turn it is follows from the number of marks."""
    lines = won(board)
    if lines:
        winner = "XO".index(board[lines[0][1][0]])
        return {"state": board, "over": {"winner": winner, "lines": [[name, "XO"[winner]] for name, _ in lines]}}
    if "." not in board:
        return {"state": board, "over": {"winner": None}}
    side = (9 - board.count(".")) % 2
    return {"state": board, "side": side, "request": "XO"[side] + " " + board}


def answer(question):
    kind, board = question["do"], question.get("state", "." * 9)
    if kind == "about":
        return {"name": "tic-tac-toe", "about": ABOUT, "first_drawn": True, "answers": True, "drawing": True}
    if kind == "start" and question["options"]:
        return {"error": "there are no options"}
    if len(board) != 9 or set(board) - set("XO.") or board.count("X") - board.count("O") not in (0, 1):
        return {"error": "expected nine cells of X, O and ., with as many X as O, or one more"}
    if kind in ("start", "position"):
        return position(board)
    if kind == "answers":
        return {"answers": [str(cell + 1) for cell in range(9) if board[cell] == "."]}
    if kind == "drawing":
        winning = [[c // 3, c % 3] for _, cells in won(board) for c in cells]
        return {"cells": [[c.replace(".", "") for c in board[row:row + 3]] for row in (0, 3, 6)], "winning": winning}
    text = question["answer"]
    if text not in list("123456789"):
        return {"malformed": "expected a cell, 1 to 9"}
    cell = int(text) - 1
    if board[cell] != ".":
        return {"illegal": f"cell {text} is taken"}
    mark = "XO"[(9 - board.count(".")) % 2]
    return {**position(board[:cell] + mark + board[cell + 1:]), "turn": text, "words": f"puts {mark} on {text}"}


for line in sys.stdin:
    print(json.dumps(answer(json.loads(line))), flush=True)
