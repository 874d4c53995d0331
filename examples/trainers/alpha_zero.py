#!/usr/bin/env python3
"""Learns Four In A Row as AlphaZero does, in the small, and writes what it has learnt as a bot.

    pip install "referee-….whl[env]"
    mkdir bots && python alpha_zero.py bots/alpha_zero.py
    referee tournament --game four-in-a-row bots builtin:random builtin:greedy

In games with itself a network guides a search of each position, and learns what the search found. A position of the tree
is a batch of one game; another one is reached by a copy of it and a step.
"""

import argparse

from network import COLUMNS, Network, write_bot  # before numpy
import numpy as np

from referee.env import four_in_a_row_v0

GAMES, KEPT = 32, 30_000


class Node:
    """A position of the tree; its value is for the side to move, `total` the sum of those of its visits."""

    def __init__(self, games, value=None):
        self.games, self.value = games, value
        self.visits, self.total = 0, 0.0
        self.children = [None] * COLUMNS
        self.shares = None

    def best(self):
        visits = np.array([child.visits if child else 0 for child in self.children])
        totals = np.array([child.total if child else 0.0 for child in self.children])
        urge = -totals / np.maximum(visits, 1) + 1.5 * self.shares * np.sqrt(self.visits) / (1 + visits)
        return int(np.where(self.shares > 0, urge, -np.inf).argmax())

    def child(self, action):
        if self.children[action] is None:
            games = self.games.copy()
            rewards, over = games.step([action])
            self.children[action] = Node(games, -float(rewards[0]) if over[0] else None)
        return self.children[action]


def down(root):
    """The path to a position that was not visited, or where the game is over."""
    path = [root]
    while path[-1].shares is not None:
        path.append(path[-1].child(path[-1].best()))
    return path


def visit(network, paths):
    """The last position of each path is evaluated, all together."""
    new = [path[-1] for path in paths if path[-1].value is None]
    values = {}
    if new:
        seen = np.concatenate([node.games.observations for node in new])
        masks = np.concatenate([node.games.action_masks for node in new])
        for node, shares, value in zip(new, *network.evaluate(seen, masks)):
            node.shares, values[id(node)] = shares, value
    for path in paths:
        value = values.get(id(path[-1]), path[-1].value)
        for node in reversed(path):
            node.visits += 1
            node.total += value
            value = -value


def play(network, draw, searches):
    """Games from start to end: observations, masks, the shares of visits, and how the game ended for the side to move."""
    roots = [Node(four_in_a_row_v0.batch(1)) for _ in range(GAMES)]
    histories, found = [[] for _ in roots], []
    while roots:
        visit(network, [[root] for root in roots if root.shares is None])
        for root in roots:
            # Noise, so that all turns are tried.
            legal = root.shares > 0
            noise = draw.dirichlet(np.full(legal.sum(), 1.0))
            root.shares[legal] = 0.75 * root.shares[legal] + 0.25 * noise
        for _ in range(searches):
            visit(network, [down(root) for root in roots])
        following, going = [], []
        for root, history in zip(roots, histories):
            visits = np.array([child.visits if child else 0 for child in root.children], float)
            shares = visits / visits.sum()
            history.append((root.games.observations[0], root.games.action_masks[0], shares))
            action = draw.choice(COLUMNS, p=shares) if len(history) < 12 else int(shares.argmax())
            root = root.children[action]
            if root.value is None:
                following.append(root)
                going.append(history)
                continue
            end = root.value
            for seen, masks, shares in reversed(history):
                end = -end
                found.append((seen, masks, shares, end))
        roots, histories = following, going
    return found


def learn(network, draw, kept, count):
    for _ in range(count):
        chosen = [kept[i] for i in draw.integers(len(kept), size=256)]
        seen, masks, shares, ends = (np.array(part) for part in zip(*chosen))
        if draw.random() < 0.5:
            # The same position in a mirror.
            seen, masks, shares = seen[:, :, ::-1], masks[:, ::-1], shares[:, ::-1]
        network.learn(seen, masks, lambda guess, values: (guess - shares, values - ends))


def main():
    parser = argparse.ArgumentParser(description="Learns Four In A Row as AlphaZero does, and writes a bot.")
    parser.add_argument("bot", help="the file to write, such as bots/alpha_zero.py")
    parser.add_argument("--rounds", type=int, default=25, help=f"rounds of {GAMES} games")
    parser.add_argument("--searches", type=int, default=50, help="visits of the tree before each turn")
    arguments = parser.parse_args()
    network, draw, kept = Network([96, 64], seed=1), np.random.default_rng(1), []
    for _ in range(arguments.rounds):
        kept = (kept + play(network, draw, arguments.searches))[-KEPT:]
        learn(network, draw, kept, 100)
    write_bot(arguments.bot, network.layers(), "alpha_zero.py", searches=100)
    print(f"learnt from {arguments.rounds * GAMES} games")


main()
