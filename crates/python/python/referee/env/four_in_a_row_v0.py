"""Four In A Row as an environment of PettingZoo: `env`, `raw_env`, `parallel_env`, and many games at the same time: `batch`.

The observation has shape (6, 7, 2), the mask shape (7,): `Position.observation`, `Position.action_mask`.
The side that acts first is "player_0". A win is worth 1, a loss -1, a draw 0.
"""

import referee

from ._aec import RawEnv, parallel, wrapped


class raw_env(RawEnv):
    """The environment without the wrappers that check its use."""

    metadata = {**RawEnv.metadata, "name": "four_in_a_row_v0"}

    def __init__(self, render_mode=None):
        super().__init__(referee.FourInARow(), render_mode)


def env(render_mode=None):
    """The environment for agents that act in turn."""
    return wrapped(raw_env(render_mode))


def parallel_env(render_mode=None):
    """The environment for agents that act at the same time; only the action of the side to move counts."""
    return parallel(env(render_mode))


def batch(count, seed=0):
    """So many games at the same time: a `referee.Batch`."""
    return referee.Batch(referee.FourInARow(), count, seed)
