#!/usr/bin/env python3
"""Tunes the share of the time for a move that players/minimax.py uses, with Optuna (pip install optuna).

Every trial is a comparison of a fixed number of games with the bot as it is; its advantage is what Optuna makes as large as
possible. At the end the best value plays new games, until `referee compare` is certain or time is up: the best of many noisy
trials looks better than it is.
"""

import argparse
import json
import subprocess

import optuna

BOT = "players/minimax.py"


def compare(share, *options):
    """What `referee compare` prints about the bot with this value, against the bot as it is."""
    command = ["referee", "compare", f"{BOT} --share {share:.2f}", BOT, "--json", *options]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True)
    if done.returncode not in (0, 3, 4):  # yes, no, undecided
        raise SystemExit(done.returncode)
    return json.loads(done.stdout)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--trials", type=int, default=10)
    parser.add_argument("--pairs", default="8", help="pairs of games of a trial")
    parser.add_argument("--move-time", default="100ms")
    parser.add_argument("--budget", default="4m", help="the most time of the comparison at the end")
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    time = ["--move-time", args.move_time]

    def objective(trial):
        share = trial.suggest_float("share", 0.1, 0.95)
        # --all: a trial that ended early would be more noisy.
        found = compare(share, *time, "--pairs", args.pairs, "--all", "--seed", str(args.seed + trial.number))
        return found["advantage"]["mean"]

    study = optuna.create_study(direction="maximize", sampler=optuna.samplers.TPESampler(seed=args.seed))
    study.optimize(objective, n_trials=args.trials)
    best = study.best_params["share"]
    # Other games than those by which it was chosen.
    found = compare(best, *time, "--time", args.budget, "--seed", str(args.seed + args.trials))
    # JSON has no infinite numbers.
    mean, low, high = ("inf" if elo is None else f"{elo:+.0f}" for elo in [found["elo"]["mean"], *found["elo"]["interval"]])
    print(f"--share {best:.2f}: {found['verdict']}, {mean} Elo ({low} to {high}), {found['games']} games")


if __name__ == "__main__":
    main()
