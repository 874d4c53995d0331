#!/usr/bin/env python3
"""Holds the score of puzzles against ratings: plays a tournament, runs the puzzles, and prints a table and the rank correlation.

    cargo build --release && scripts/puzzles/measure.py

The table in docs/puzzles.md is from it. `--game four-in-a-row` measures the other set.
"""

import argparse
import csv
import json
import os
import subprocess
import tempfile

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
STEPS = ["builtin:random", "builtin:greedy", *(f"builtin:search?depth={depth}" for depth in (2, 3, 4))]
BOTS = {
    "quarto": [
        "builtin:random",
        "players/wins.py",
        "players/greedy.py",
        "players/safe.py",
        "players/minimax.py",
        "builtin:search?depth=2",
        "builtin:search?depth=3",
        "builtin:search?depth=4",
        "builtin:perfect?slips=0.5",
        "builtin:perfect?slips=0.3",
        "builtin:perfect?slips=0.1",
        "builtin:perfect?slips=0",
    ],
    "four-in-a-row": [*STEPS, "players/four_in_a_row/minimax.js"],
}


def ranks(values):
    """Ranks from 1; equal values share the mean of theirs."""
    ordered = sorted(values)
    return [sum(i for i, other in enumerate(ordered, 1) if other == value) / ordered.count(value) for value in values]


def spearman(one, other):
    """The rank correlation of two lists."""
    one, other = ranks(one), ranks(other)
    mean = (len(one) + 1) / 2
    both = sum((a - mean) * (b - mean) for a, b in zip(one, other))
    return both / (sum((a - mean) ** 2 for a in one) * sum((b - mean) ** 2 for b in other)) ** 0.5


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--game", choices=BOTS, default="quarto")
    parser.add_argument("--pairs", default="4", help="pairs of games of every two bots")
    parser.add_argument("--seed", default="1")
    parser.add_argument("--move-time", default="500ms", help="for a move, in games and puzzles")
    parser.add_argument("--referee", default=os.path.join(ROOT, "target/release/referee"))
    options = parser.parse_args()
    bots = BOTS[options.game]
    limits = ["--move-time", options.move_time, "--sandbox", "none"]
    # Paths of the players are from the folder of the sources.
    os.chdir(ROOT)
    with tempfile.TemporaryDirectory() as folder:
        out = os.path.join(folder, "cup")
        play = ["tournament", "--game", options.game, "--pairs", options.pairs, "--seed", options.seed, "--out", out]
        subprocess.run([options.referee, *play, *limits, *bots], check=True, stdout=subprocess.DEVNULL)
        with open(os.path.join(out, "standings.csv"), newline="", encoding="utf-8") as file:
            rows = {row["name"]: row for row in csv.DictReader(file)}
    results = []
    for bot in bots:
        run = ["puzzles", "run", f"builtin:{options.game}", bot, "--json", *limits]
        printed = subprocess.run([options.referee, *run], check=True, stdout=subprocess.PIPE).stdout
        score = json.loads(printed)
        row = rows[score["bot"]]
        # An open end is empty.
        interval = "…".join(end and f"{float(end):+.0f}" for end in (row["elo_low"], row["elo_high"]))
        results.append((float(row["elo"]), interval, score, int(row["games"])))
    results.sort(key=lambda result: -result[0])
    print("| bot | rating | puzzles | level 1 | 2 | 3 | 4 | 5 |")
    print("|---|---|---|---|---|---|---|---|")
    for elo, interval, score, _ in results:
        levels = [f"{100 * level['solved'] / level['of']:.0f} %" for level in score["levels"].values()]
        print(f"| `{score['bot']}` | {elo:+.0f} ({interval}) | {100 * score['share']:.0f} % | {' | '.join(levels)} |")
    games = sum(result[3] for result in results) // 2
    rho = spearman([result[0] for result in results], [result[2]["share"] for result in results])
    print(f"\n{games} games of {len(bots)} bots; rank correlation of rating and puzzles (Spearman): {rho:.2f}")


if __name__ == "__main__":
    main()
