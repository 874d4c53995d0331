#!/usr/bin/env python3
"""Plays a game by an engine that speaks UCI, the Universal Chess Interface, or a protocol like it.

    referee adapt uci engines/ --out bots       # a bot for each engine
    referee tournament --game GAME bots

A game fits whose question is what the engine takes after `position fen`, and whose answers are the moves that it writes:
for chess, FEN and `e2e4`. Beside this file lies the engine: a folder `agent` with the only program, or it is given as a
command line. It is told uci, isready, ucinewgame, position, go movetime and quit.
"""

import os
import shlex
import subprocess
import sys


def command():
    """The program of the engine."""
    if len(sys.argv) > 1:
        return shlex.split(" ".join(sys.argv[1:]))
    folder = os.path.join(os.path.dirname(os.path.abspath(__file__)), "agent")
    programs = [os.path.join(folder, name) for name in sorted(os.listdir(folder))]
    programs = [path for path in programs if os.path.isfile(path) and (os.access(path, os.X_OK) or path.endswith(".py"))]
    if len(programs) != 1:
        sys.exit(f"{folder}: {len(programs)} programs; expected one, which is executable")
    return programs if os.access(programs[0], os.X_OK) else [sys.executable, *programs]


class Engine:
    def __init__(self):
        self.process = subprocess.Popen(command(), stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        # A tenth of the time is for the way there and back.
        self.milliseconds = int(float(os.environ.get("REFEREE_MOVE_TIME", "10")) * 900)
        self.tell("uci")
        self.answer("uciok")
        self.tell("isready")
        self.answer("readyok")
        self.tell("ucinewgame")

    def tell(self, line):
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()

    def answer(self, expected):
        """The words of the first line that begins so; others, such as `info`, are left out."""
        for line in self.process.stdout:
            words = line.split()
            if words and words[0] == expected:
                return words
        sys.exit(f"the engine has exited; expected {expected}")

    def move(self, position):
        self.tell(f"position fen {position}")
        self.tell(f"go movetime {self.milliseconds}")
        words = self.answer("bestmove")
        return words[1] if len(words) > 1 else "(none)"


def main():
    engine = Engine()
    for line in sys.stdin:
        print(engine.move(line.strip()), flush=True)
    engine.tell("quit")


main()
