#!/usr/bin/env python3
"""Plays Four In A Row by an agent of Kaggle's ConnectX: a file whose last function is agent(observation, configuration).

    referee adapt kaggle-connectx agents/ --out bots       # a bot for each agent
    referee tournament --game four-in-a-row bots

Beside this file lies the agent, `agent.py` or a folder `agent` with a `main.py`, or its path is given.

An agent gets `observation.board` (42 numbers row by row from the top left: 0, 1 for the side that begins, 2 for the other)
and `observation.mark`, and returns a column from 0 on. What it prints goes to standard error.
"""

import os
import sys


class Fields(dict):
    """Read as `observation.board` and as `observation["board"]`, as Kaggle's are."""

    __getattr__ = dict.__getitem__


def load(path):
    """The last function that the file defines, as Kaggle takes it."""
    if os.path.isdir(path):
        path = os.path.join(path, "main.py")
    sys.path.insert(0, os.path.dirname(os.path.abspath(path)))
    with open(path, encoding="utf-8") as file:
        code = compile(file.read(), path, "exec")
    names = {"__name__": "agent", "__file__": path}
    exec(code, names)
    functions = [value for value in names.values() if callable(value)]
    if not functions:
        sys.exit(f"{path}: there is no function; expected agent(observation, configuration)")
    return functions[-1]


def main():
    here = os.path.dirname(os.path.abspath(__file__))
    beside = [os.path.join(here, name) for name in ("agent.py", "agent")]
    paths = sys.argv[1:2] or [path for path in beside if os.path.exists(path)]
    if not paths:
        sys.exit("usage: kaggle_connectx.py AGENT, a file or a folder with a main.py")
    answers, sys.stdout = sys.stdout, sys.stderr  # what agents print is no answer
    seconds = float(os.environ.get("REFEREE_MOVE_TIME", "10"))
    configuration = Fields(columns=7, rows=6, inarow=4, actTimeout=seconds, timeout=seconds, episodeSteps=1000, agentTimeout=60)
    agent = load(paths[0])
    count = agent.__code__.co_argcount if hasattr(agent, "__code__") else 2
    for line in sys.stdin:
        mark, board = line.split()
        cells = [".@O".index(cell) for cell in board]
        step = 42 - board.count(".")
        seen = Fields(board=cells, mark="@O".index(mark) + 1, step=step, remainingOverageTime=60)
        column = agent(*[seen, configuration][:count])
        print(int(column) + 1, file=answers, flush=True)


main()
