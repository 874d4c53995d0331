"""What all environments share: the games, their spaces, drawings, and checks of what they are given."""

import operator
from collections.abc import Mapping
from typing import Any, Literal, TypeAlias

import numpy as np
from gymnasium import spaces
from gymnasium.error import ResetNeeded
from numpy.typing import NDArray

from .. import FourInARow, Position, Quarto

Game: TypeAlias = Quarto | FourInARow

Side: TypeAlias = Literal["first", "second"]

#: How an environment is drawn, or not.
RenderMode: TypeAlias = Literal["human", "ansi", "rgb_array"] | None

#: What `render` returns: text for "ansi", an image for "rgb_array".
Drawing: TypeAlias = str | NDArray[np.uint8] | None

RENDER_MODES = ["human", "ansi", "rgb_array"]


def checked_mode(mode: object) -> None:
    if mode is not None and mode not in RENDER_MODES:
        raise ValueError(f"render_mode is {mode!r}; expected None, {', '.join(map(repr, RENDER_MODES))}")


def spaces_of(game: Game) -> tuple[Any, Any]:
    """Of observations, and of actions. What gymnasium says of their types differs from version to version."""
    start = game.start()
    seen = spaces.Box(-1, 1, start.observation.shape, np.int8)
    return seen, spaces.Discrete(start.action_mask.size)


def checked_action(action: object, count: int) -> int:
    """As a number of Python.

    Raises:
        TypeError: It is not a whole number.
        ValueError: There is no such action.
    """
    try:
        number = operator.index(action)  # type: ignore[arg-type]
    except TypeError:
        raise TypeError(f"action is {action!r}; expected a whole number") from None
    if not 0 <= number < count:
        raise ValueError(f"action is {number}; expected 0 to {count - 1}")
    return number


def checked_seed(seed: object) -> int | None:
    """As a number of Python.

    Raises:
        TypeError: It is not a whole number.
        ValueError: It is negative.
    """
    if seed is None:
        return None
    if not isinstance(seed, (int, np.integer)):
        raise TypeError(f"seed is {seed!r}; expected a whole number or None")
    if seed < 0:
        raise ValueError(f"seed is {seed}; expected a whole number from 0 on")
    return int(seed)


def start_of(game: Game, options: Mapping[str, Any] | None) -> Position:
    """The position that the options of `reset` ask for, or the start of the game.

    Raises:
        TypeError: They are not a dictionary, or the position is not one.
        ValueError: There is no such option, or the position is over or of another game.
    """
    if options is None:
        return game.start()
    if not isinstance(options, Mapping):
        raise TypeError(f"options are {options!r}; expected a dictionary")
    for name in options:
        # PettingZoo's own test wants an option of the name "options" to be taken.
        if name not in ("position", "options"):
            raise ValueError(f"there is no option {name!r}; the only one is 'position'")
    position = options.get("position")
    if position is None:
        return game.start()
    if not isinstance(position, Position):
        raise TypeError(f"the option 'position' is {position!r}; expected a referee.Position")
    if position.game != game:
        raise ValueError(f"the option 'position' is a position of {position.game!r}; expected one of {game!r}")
    if position.outcome is not None:
        raise ValueError("in the option 'position' the game is over; expected a position in which a side is to move")
    return position


class NotBegun(ResetNeeded, AttributeError):
    """No game has begun; an attribute is missing, too, for who asks `hasattr`."""


def reset_needed(what: str) -> NotBegun:
    return NotBegun(f"{what} before reset(); call reset() first")


def draw(position: Position, mode: str | None) -> Drawing:
    """Text in mode "ansi", an image in mode "rgb_array"; prints the text in mode "human"."""
    if mode == "rgb_array":
        return position.image()
    board, other = sorted(position.text.split(), key=len, reverse=True)
    width = position.board.shape[1]
    rows = [board[i : i + width] for i in range(0, len(board), width)]
    text = "\n".join([*rows, other])
    if mode == "ansi":
        return text
    print(text)
    return None
