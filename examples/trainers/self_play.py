#!/usr/bin/env python3
"""Learns Four In A Row from games of a network with itself, many at a time, and writes what it has learnt as a bot.

    pip install "referee-….whl[env]"
    mkdir bots && python self_play.py bots/self_play.py
    referee tournament --game four-in-a-row bots builtin:random builtin:greedy

The method is a policy gradient: a turn becomes more likely when its game ended better than the network had guessed.
"""

import argparse

from network import COLUMNS, Network, write_bot  # before numpy
import numpy as np

from referee.env import four_in_a_row_v0

GAMES, PARTS = 256, 8


def play(network, draw, seed):
    """Games from start to end: observations, masks, actions and, for the side that acted, how the game ended."""
    games = four_in_a_row_v0.batch(GAMES, seed)
    is_over = np.zeros(GAMES, bool)
    steps = []
    while not is_over.all():
        seen, masks = games.observations, games.action_masks
        # A game that was over has begun anew; it is played, and does not count.
        masks[masks.sum(1) == 0] = 1
        shares, _ = network.evaluate(seen, masks)
        actions = (shares.cumsum(1) > draw.random((GAMES, 1))).argmax(1)
        actions = np.where(np.take_along_axis(masks, actions[:, None], 1)[:, 0], actions, masks.argmax(1))
        rewards, over = games.step(actions)
        steps.append((seen, masks, actions, np.where(is_over, 0, rewards), ~is_over))
        is_over |= over.astype(bool)
    ends, worth = np.zeros(GAMES), []
    for _, _, _, rewards, counts in reversed(steps):
        # What is good for a side is bad for the other, which acts next.
        ends = np.where(rewards != 0, rewards, -ends)
        worth.append(np.where(counts, ends, 0))
    chosen = np.concatenate([counts for *_, counts in steps])
    seen, masks, actions = (np.concatenate([step[i] for step in steps])[chosen] for i in range(3))
    return seen, masks, actions, np.concatenate(worth[::-1])[chosen]


def learn(network, seen, masks, actions, ends):
    taken = np.eye(COLUMNS)[actions]

    def direction(shares, values):
        better = (ends - values)[:, None]
        logs = np.log(shares + 1e-9)
        # Turns stay a little random, or nothing new is tried.
        spread = shares * (logs - (shares * logs).sum(1, keepdims=True))
        return (shares - taken) * better + 0.05 * spread, values - ends

    network.learn(seen, masks, direction)


def main():
    parser = argparse.ArgumentParser(description="Learns Four In A Row in games with itself, and writes a bot.")
    parser.add_argument("bot", help="the file to write, such as bots/self_play.py")
    parser.add_argument("--rounds", type=int, default=400, help=f"rounds of {GAMES} games")
    arguments = parser.parse_args()
    network, draw = Network([64, 64], seed=1, rate=0.001), np.random.default_rng(1)
    for number in range(arguments.rounds):
        played = play(network, draw, number)
        for part in np.array_split(draw.permutation(len(played[0])), PARTS):
            learn(network, *(array[part] for array in played))
    write_bot(arguments.bot, network.layers(), "self_play.py", searches=30)
    print(f"learnt from {arguments.rounds * GAMES} games")


main()
