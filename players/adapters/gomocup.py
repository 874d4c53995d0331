#!/usr/bin/env python3
"""Plays Gomoku by a brain of Gomocup, a program that speaks the protocol of Piskvork.

    referee adapt gomocup brains/ --out bots       # a bot for each brain
    referee tournament --game games/gomoku.py bots

Beside this file lies the brain: a folder `agent` with the only program, or it is given as a command line. It is told
INFO, START, BEGIN, TURN, BOARD and END; its MESSAGE, DEBUG and ERROR lines go to standard error.
"""

import os
import shlex
import subprocess
import sys

SIZE = 15


def command():
    """The program of the brain."""
    if len(sys.argv) > 1:
        return shlex.split(" ".join(sys.argv[1:]))
    folder = os.path.join(os.path.dirname(os.path.abspath(__file__)), "agent")
    programs = [os.path.join(folder, name) for name in sorted(os.listdir(folder))]
    programs = [path for path in programs if os.path.isfile(path) and (os.access(path, os.X_OK) or path.endswith(".py"))]
    if len(programs) != 1:
        sys.exit(f"{folder}: {len(programs)} programs; expected one, which is executable")
    return programs if os.access(programs[0], os.X_OK) else [sys.executable, *programs]


class Brain:
    def __init__(self):
        self.process = subprocess.Popen(command(), stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.board = None  # as the brain knows it; its own stones are X
        milliseconds = int(float(os.environ.get("REFEREE_MOVE_TIME", "10")) * 1000)
        # A tenth of the time is for the way there and back.
        self.tell(f"INFO timeout_turn {milliseconds * 9 // 10}")
        self.tell("INFO timeout_match 0")
        self.tell("INFO rule 0")  # five or more win
        self.tell(f"START {SIZE}")
        said = self.answer()
        if said != "OK":
            sys.exit(f"the brain answered {said!r} to START {SIZE}; expected OK")

    def tell(self, line):
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()

    def answer(self):
        while True:
            line = self.process.stdout.readline()
            if not line:
                sys.exit("the brain has exited")
            line = line.strip()
            if line.split(" ")[0] in ("MESSAGE", "DEBUG", "ERROR", "UNKNOWN"):
                print(line, file=sys.stderr, flush=True)
            elif line:
                return line

    def move(self, board):
        """Its stone on a board on which its own are X; as column and row from 0 on."""
        new = [cell for cell in range(SIZE * SIZE) if self.board is None or board[cell] != self.board[cell]]
        if board == "." * SIZE * SIZE:
            self.tell("RESTART" if self.board else "BEGIN")
            if self.board:
                self.answer()
                self.tell("BEGIN")
        # Not a stone of its own that changed its colour, as after an opening with a swap.
        elif self.board is not None and len(new) == 1 and self.board[new[0]] == "." and board[new[0]] == "O":
            self.tell(f"TURN {new[0] % SIZE},{new[0] // SIZE}")
        else:
            self.tell("BOARD")
            for cell, mark in enumerate(board):
                if mark != ".":
                    self.tell(f"{cell % SIZE},{cell // SIZE},{'.XO'.index(mark)}")
            self.tell("DONE")
        words = self.answer().split(",")
        column, row = int(words[0]), int(words[1])
        cell = row * SIZE + column
        self.board = board[:cell] + "X" + board[cell + 1:]
        return column, row


def main():
    brain = Brain()
    for line in sys.stdin:
        mark, board = line.split()
        mark = mark.replace("swap", "").replace("=?", "")
        # Its own stones are X, whichever mark it plays. It never swaps.
        own = board if mark == "X" else board.translate(str.maketrans("XO", "OX"))
        column, row = brain.move(own)
        print(f"{'abcdefghijklmno'[column]}{row + 1}", flush=True)
    brain.tell("END")


main()
