"""The environment of gymnasium for one agent: the other side is played by a bot, or by a function."""

import operator
from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

import gymnasium
import numpy as np
from numpy.typing import NDArray

from .. import Position
from .._program import Program
from ._game import (
    RENDER_MODES,
    Drawing,
    Game,
    RenderMode,
    Side,
    checked_action,
    checked_mode,
    checked_seed,
    draw,
    reset_needed,
    spaces_of,
    start_of,
)

#: "builtin:NAME"; a bot as on the command line; or what returns a turn, or the number of an action, for a position.
Opponent: TypeAlias = str | Program | Callable[[Position], str | int]

_SIDES = ("first", "second", "random")


class GymEnv(gymnasium.Env[NDArray[np.int8], np.int64]):
    """One agent against an opponent.

    An observation is `Position.observe` for the agent's side. `info["action_mask"]`, and `action_masks()` as
    sb3-contrib asks for it, have 1 for each legal action. The reward is 1 for a win, -1 for a loss and 0 otherwise. An
    illegal action loses (`info["illegal"]`); an opponent that forfeits loses (`info["forfeit"]` says why).

    It can be copied and pickled, in the middle of a game, too; then a program as opponent has a process of its own. Two are
    equal when game, opponent, side and drawing are, their games are in the same state, and they will draw the same
    random numbers, where any are drawn.
    """

    metadata: dict[str, Any] = {"render_modes": RENDER_MODES, "render_fps": 2}

    def __init__(self, game: Game, opponent: Opponent, side: str = "random", render_mode: RenderMode = None) -> None:
        checked_mode(render_mode)
        if side not in _SIDES:
            raise ValueError(f"side is {side!r}; expected 'first', 'second' or 'random'")
        if isinstance(opponent, str) and opponent.startswith("builtin:"):
            # An unknown one is told now, not in the first game.
            game.start().choose(opponent, time=0)
        elif isinstance(opponent, str):
            opponent = Program(opponent)
        elif not isinstance(opponent, Program) and not callable(opponent):
            raise TypeError(f"opponent is {opponent!r}; expected a bot's text, a referee.Program or a function")
        self.game = game
        self.opponent = opponent
        self.side = side
        self.render_mode: str | None = render_mode
        self.observation_space, self.action_space = spaces_of(game)
        self.position: Position | None = None
        self.agent_side: Side = "first"
        self._is_over = True

    # A step changes it, so it has no hash: Python gives a class with `__eq__` alone none.
    def __eq__(self, other: object) -> bool:
        if not isinstance(other, GymEnv) or type(other) is not type(self):
            return NotImplemented
        return self._state() == other._state()

    def _state(self) -> list[object]:
        options = [self.game, self.opponent, self.side, self.render_mode]
        return [*options, self.position, self.agent_side, self._is_over, self._drawn_next()]

    def _drawn_next(self) -> object:
        """Where its random numbers stand; None where nothing is drawn by them."""
        if self._np_random is None or self.side != "random" and not isinstance(self.opponent, str):
            return None
        return self._np_random.bit_generator.state

    def reset(
        self, *, seed: int | None = None, options: Mapping[str, Any] | None = None
    ) -> tuple[NDArray[np.int8], dict[str, Any]]:
        """Begins a game, and lets the opponent act if it is to move.

        Args:
            seed: Of the sides that are drawn, and of a built-in opponent.
            options: `{"position": …}` starts from a position of the same game instead of its start.

        Raises:
            ValueError: There is no such option, or the position is over or of another game.
            TypeError: An argument is of another type.
        """
        number, start = checked_seed(seed), start_of(self.game, options)
        super().reset(seed=number)
        drawn = self.np_random.integers(2) == 1
        self.agent_side = "second" if self.side == "second" or self.side == "random" and drawn else "first"
        self.position, self._is_over = start, False
        _, info = self._answered(start)
        return self._seen(), info

    def step(self, action: Any) -> tuple[NDArray[np.int8], float, bool, bool, dict[str, Any]]:
        """The agent acts, and then the opponent.

        Raises:
            ValueError: There is no such action.
            TypeError: It is not a whole number.
            gymnasium.error.ResetNeeded: No game is going on.
        """
        if self.position is None or self._is_over:
            raise reset_needed("no game is going on, and step() was called")
        number = checked_action(action, self.position.action_mask.size)
        if not self.position.action_mask[number]:
            self._is_over = True
            return self._seen(), -1.0, True, False, {**self._info(), "illegal": True}
        self.position = self.position.act(number)
        reward, info = self._answered(self.position)
        if self.render_mode == "human":
            self.render()
        return self._seen(), reward, self._is_over, False, info

    def action_masks(self) -> NDArray[np.bool_]:
        """A bool for each action: whether it is legal. As `sb3_contrib.MaskablePPO` asks for it."""
        return self._mask().astype(bool)

    def render(self) -> Any:
        """The board: text in mode "ansi", an array of uint8 with shape (height, width, 3) in mode "rgb_array"; in mode
        "human" the text is printed."""
        if self.position is None:
            raise reset_needed("render() was called")
        drawing: Drawing = draw(self.position, self.render_mode)
        return drawing

    def close(self) -> None:
        """Ends the process of an opponent that is a program."""
        if isinstance(self.opponent, Program):
            self.opponent.close()

    def _answered(self, position: Position) -> tuple[float, dict[str, Any]]:
        """Lets the opponent act if it is to move; the reward, and the information."""
        if position.outcome is None and position.to_move != self.agent_side:
            turn, forfeit = self._turn(position)
            if turn is None:
                self._is_over = True
                return 1.0, {**self._info(), "forfeit": forfeit}
            self.position = position = position.play(turn)
        outcome = position.outcome
        self._is_over = outcome is not None
        if outcome is None or outcome == "draw":
            return 0.0, self._info()
        return (1.0 if outcome == self.agent_side else -1.0), self._info()

    def _turn(self, position: Position) -> tuple[str | None, str | None]:
        if isinstance(self.opponent, Program):
            return self.opponent.answer(position)
        if isinstance(self.opponent, str):
            seed = int(self.np_random.integers(2**63))
            return position.choose(self.opponent, seed), None
        chosen = self.opponent(position)
        if isinstance(chosen, str):
            return chosen, None
        return position.action_text(operator.index(chosen)), None

    def _seen(self) -> NDArray[np.int8]:
        assert self.position is not None
        return self.position.observe(self.agent_side)

    def _mask(self) -> NDArray[np.int8]:
        if self.position is None:
            raise reset_needed("the actions were asked for")
        mask = self.position.action_mask
        if self._is_over or self.position.to_move != self.agent_side:
            return np.zeros_like(mask)
        return mask

    def _info(self) -> dict[str, Any]:
        return {"action_mask": self._mask()}


def register() -> None:
    """Makes `gymnasium.make("referee/Quarto-v0")` and `"referee/FourInARow-v0"` known."""
    for name, module in [("Quarto", "quarto_v0"), ("FourInARow", "four_in_a_row_v0")]:
        id = f"referee/{name}-v0"
        if id not in gymnasium.registry:
            gymnasium.register(id=id, entry_point=f"referee.env.{module}:gym_env")


register()
