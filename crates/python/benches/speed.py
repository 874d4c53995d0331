"""Prints what docs/python.md says of speed: medians of CPU time over five rounds, measured in turn.

scripts/packages/check_wheel.py --speed runs it.
"""

import json
import os
import random
import statistics
import subprocess
import time

import referee
from referee import exercise
from referee.env import quarto_v0

NAMES = "ABCDEFGHIJKLMNOP"
WORDS = [("big", "small"), ("red", "blue"), ("square", "circular"), ("hollow", "solid")]
PROPERTIES = {name: {WORDS[f][number >> f & 1] for f in range(4)} for number, name in enumerate(NAMES)}


def create_grid(configuration, properties):
    """As a solution of the exercise in plain Python."""
    return [[properties.get(configuration[4 * row + column], set()) for column in range(4)] for row in range(4)]


def quarto(configuration, properties):
    """As a solution of the exercise in plain Python."""
    grid = create_grid(configuration, properties)
    lines = {}
    for i in range(4):
        lines[f"H{i + 1}"] = grid[i]
        lines[f"V{i + 1}"] = [row[i] for row in grid]
    lines["D1"] = [grid[i][i] for i in range(4)]
    lines["D2"] = [grid[i][3 - i] for i in range(4)]
    return {(name, word) for name, cells in lines.items() for word in set.intersection(*cells)}


def plain(count):
    for _ in range(count):
        board = "?" * 16
        left, free = random.sample(NAMES, 16), random.sample(range(16), 16)
        while left and not quarto(board, PROPERTIES):
            cell = free.pop()
            board = board[:cell] + left.pop() + board[cell + 1 :]


def agents(count, observe):
    env = quarto_v0.raw_env()
    for _ in range(count):
        env.reset()
        for _ in env.agent_iter():
            _, _, is_over, _, _ = env.last(observe)
            env.step(None if is_over else env.position.action_at(random.random()))


def batch(count, observe):
    games = quarto_v0.batch(500)
    while count > 0:
        _ = observe and (games.observations, games.action_masks)
        _, over = games.step(games.random_actions())
        count -= int(over.sum())


def per_second(play, count):
    begun = time.process_time()
    play(count)
    return count / (time.process_time() - begun)


def games():
    for board in ("N?BI??JO?FDLMEAG", "KHEF#DCMXABJPGOL", "?" * 16):
        assert quarto(board, PROPERTIES) == exercise.quarto(board, PROPERTIES)
    kinds = {
        "plain Python": (plain, 500),
        "agents in turn, with arrays": (lambda count: agents(count, True), 1000),
        "agents in turn": (lambda count: agents(count, False), 2000),
        "500 games at once, with arrays": (lambda count: batch(count, True), 20000),
        "500 games at once": (lambda count: batch(count, False), 20000),
    }
    found = {name: [] for name in kinds}
    for _ in range(5):
        for name, (play, count) in kinds.items():
            found[name].append(per_second(play, count))
    base = statistics.median(found["plain Python"])
    for name, rates in found.items():
        rate = statistics.median(rates)
        print(f"{name:36} {rate:8,.0f} random games a second, {rate / base:5.1f} times")


def values():
    """Both prove all turns of the same positions, each with an empty table, in a process whose solver is made."""
    draw = random.Random(3)
    texts = []
    while len(texts) < 6:
        position = referee.Quarto().start()
        while position.outcome is None and position.text.count(".") > 11:
            position = position.act(position.action_at(draw.random()))
        if position.outcome is None:
            texts.append(position.text)
    shares = []
    for text in texts:
        code = (
            "import referee, sys, time; p = referee.Quarto(); p.start().value(nodes=1); begun = time.monotonic();"
            "p.position(sys.argv[1]).turn_values(); print(time.monotonic() - begun)"
        )
        times = {"module": [], "program": []}
        for _ in range(5):
            said = subprocess.run(["python", "-c", code, text], check=True, stdout=subprocess.PIPE).stdout
            times["module"].append(float(said))
            done = subprocess.run(
                [referee.command(), "solve", "--all", text], check=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE
            )
            number, unit = done.stderr.split(b" in ")[1].split()[:2]
            times["program"].append(float(number) * {b"ms": 1e-3, b"s": 1}[unit])
        shares.append(min(times["module"]) / min(times["program"]))
        print(f"{text}  module {min(times['module']):.3f} s, program {min(times['program']):.3f} s")
    print(f"`turn_values` takes {statistics.median(shares):.2f} of the time of `referee solve --all`")


games()
values()
