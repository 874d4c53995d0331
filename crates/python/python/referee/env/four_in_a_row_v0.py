"""Four In A Row as an environment: `env`, `raw_env` and `parallel_env` of PettingZoo, `gym_env` of gymnasium for one agent, and many
games at the same time: `batch`.

The observation has shape (6, 7, 2), the mask shape (7,): `Position.observe`, `Position.action_mask`.
The side that acts first is "player_0". A win is worth 1, a loss -1, a draw 0.
"""

from collections.abc import Sequence
from typing import Any

from .. import Batch, FourInARow, Position
from ._aec import Env, ParallelEnv, RawEnv
from ._game import RenderMode
from ._single import GymEnv, Opponent

__all__ = ["batch", "env", "gym_env", "parallel_env", "raw_env"]


class raw_env(RawEnv):
    """The environment without the wrappers that check its use.

    Args:
        render_mode: None, "human", "ansi" or "rgb_array".
    """

    metadata: dict[str, Any] = {**RawEnv.metadata, "name": "four_in_a_row_v0"}

    def __init__(self, render_mode: RenderMode = None) -> None:
        super().__init__(FourInARow(), render_mode)


def env(render_mode: RenderMode = None) -> Env:
    """The environment for agents that act in turn; the arguments are those of `raw_env`."""
    return Env(raw_env(render_mode))


def parallel_env(render_mode: RenderMode = None) -> ParallelEnv:
    """The environment for agents that act at the same time; only the action of the side to move counts."""
    return ParallelEnv(env(render_mode))


def gym_env(
    opponent: Opponent = "builtin:greedy",
    side: str = "random",
    render_mode: RenderMode = None,
) -> GymEnv:
    """The environment of gymnasium for one agent, against an opponent.

    Args:
        opponent: "builtin:NAME"; a bot as on the command line of `referee`, which runs in the sandbox; or a function that
            returns the turn for a `Position`, or the number of an action.
        side: Which the agent plays: "first", "second" or "random".
        render_mode: None, "human", "ansi" or "rgb_array".
    """
    return GymEnv(FourInARow(), opponent, side, render_mode)


def batch(
    count: int,
    seed: int = 0,
    starts: "Position | Sequence[Position] | None" = None,
) -> Batch:
    """So many games at the same time: a `referee.Batch`."""
    return Batch(FourInARow(), count, seed, starts)
