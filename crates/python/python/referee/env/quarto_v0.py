"""Quarto as an environment of PettingZoo: `env`, `raw_env`, `parallel_env`, and many games at the same time: `batch`.

The observation has shape (4, 4, 9), the mask shape (289,): `Position.observation`, `Position.action_mask`.
The side that acts first is "player_0". A win is worth 1, a loss -1, a draw 0.
"""

import referee

from ._aec import RawEnv, parallel, wrapped


class raw_env(RawEnv):
    """The environment without the wrappers that check its use."""

    metadata = {**RawEnv.metadata, "name": "quarto_v0"}

    def __init__(self, pieces=None, rules="standard", render_mode=None):
        super().__init__(referee.Quarto(pieces, rules), render_mode)


def env(pieces=None, rules="standard", render_mode=None):
    """The environment for agents that act in turn."""
    return wrapped(raw_env(pieces, rules, render_mode))


def parallel_env(pieces=None, rules="standard", render_mode=None):
    """The environment for agents that act at the same time; only the action of the side to move counts."""
    return parallel(env(pieces, rules, render_mode))


def batch(count, seed=0, pieces=None, rules="standard"):
    """So many games at the same time: a `referee.Batch`."""
    return referee.Batch(referee.Quarto(pieces, rules), count, seed)
