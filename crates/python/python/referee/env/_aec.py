"""What the environments of PettingZoo share: turns in alternation, legal actions as a mask, 1 for a win and -1 for a loss."""

from collections.abc import Mapping
from typing import Any, TypeAlias, TypedDict

import numpy as np
from gymnasium import spaces
from numpy.typing import NDArray
from pettingzoo import AECEnv
from pettingzoo.utils import wrappers
from pettingzoo.utils.conversions import turn_based_aec_to_parallel_wrapper

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

_AGENTS: dict[Side, str] = {"first": "player_0", "second": "player_1"}
_SIDES: dict[str, Side] = {agent: side for side, agent in _AGENTS.items()}


class Observation(TypedDict):
    """What an agent sees, int8 of the shape that `Position.observation` has, and 1 for each action that it may take."""

    observation: NDArray[np.int8]
    action_mask: NDArray[np.int8]


#: What a game changes in a `RawEnv`; before the first `reset` there is none of it.
_CHANGES = (
    "position", "agents", "agent_selection", "rewards", "_cumulative_rewards", "terminations", "truncations",
    "_skip_agent_selection",
)

#: The number of an action; None for an agent whose game is over.
Action: TypeAlias = int | np.integer[Any] | None


class RawEnv(AECEnv[str, Observation, Action]):
    """Without the checks of the wrappers. An illegal action raises ValueError.

    It can be copied and pickled, in the middle of a game, too. Two are equal when they are of the same kind and game, are
    drawn alike, and their games are in the same state.
    """

    metadata: dict[str, Any] = {"render_modes": RENDER_MODES, "is_parallelizable": False, "render_fps": 2}
    render_mode: RenderMode

    def __init__(self, game: Game, render_mode: RenderMode = None) -> None:
        checked_mode(render_mode)
        self.game = game
        self.render_mode = render_mode
        self.possible_agents = list(_AGENTS.values())
        seen, actions = spaces_of(game)
        self.action_count = int(actions.n)
        masks = spaces.Box(0, 1, (self.action_count,), np.int8)
        observation: Any = spaces.Dict({"observation": seen, "action_mask": masks})
        self.observation_spaces = {agent: observation for agent in self.possible_agents}
        self.action_spaces = {agent: actions for agent in self.possible_agents}

    def __getattr__(self, name: str) -> Any:
        if name in ("position", "agents", "agent_selection", "rewards", "terminations", "truncations", "infos"):
            raise reset_needed(f"{name} was asked for")
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    # A step changes it, so it has no hash: Python gives a class with `__eq__` alone none.
    def __eq__(self, other: object) -> bool:
        if not isinstance(other, RawEnv) or type(other) is not type(self):
            return NotImplemented
        return self._state() == other._state()

    def _state(self) -> list[object]:
        return [self.game, self.render_mode, *(vars(self).get(name) for name in _CHANGES)]

    def observation_space(self, agent: str) -> spaces.Space[Any]:
        """Of what both agents see.

        Raises:
            ValueError: There is no such agent.
        """
        self._side(agent)
        return self.observation_spaces[agent]

    def action_space(self, agent: str) -> spaces.Space[Any]:
        """Of the actions of both agents.

        Raises:
            ValueError: There is no such agent.
        """
        self._side(agent)
        return self.action_spaces[agent]

    @staticmethod
    def _side(agent: object) -> Side:
        if not isinstance(agent, str) or agent not in _SIDES:
            raise ValueError(f"agent is {agent!r}; expected 'player_0' or 'player_1'")
        return _SIDES[agent]

    def reset(self, seed: int | None = None, options: Mapping[str, Any] | None = None) -> None:
        """Begins a game.

        Args:
            seed: Not used: nothing is random.
            options: `{"position": …}` starts from a position of the same game instead of its start.

        Raises:
            ValueError: There is no such option, or the position is over or of another game.
            TypeError: An argument is of another type.
        """
        checked_seed(seed)
        self.position = start_of(self.game, options)
        self.agents = self.possible_agents[:]
        self.agent_selection = _AGENTS[self.position.to_move]
        self.rewards = {"player_0": 0, "player_1": 0}
        self._cumulative_rewards = self.rewards.copy()
        self.terminations = {"player_0": False, "player_1": False}
        self.truncations = self.terminations.copy()
        self.infos = {"player_0": {}, "player_1": {}}
        self._skip_agent_selection: Any = None

    def observe(self, agent: str) -> Observation:
        """What this agent sees: its own discs first. An agent that is not to move sees a mask of zeros.

        Raises:
            ValueError: There is no such agent.
        """
        side = self._side(agent)
        mask = self.position.action_mask
        if agent != self.agent_selection:
            mask = np.zeros_like(mask)
        return {"observation": self.position.observe(side), "action_mask": mask}

    def step(self, action: Action) -> None:
        """The agent whose turn it is acts; None removes an agent whose game is over.

        Raises:
            ValueError: The action is not legal.
            TypeError: It is not a whole number.
        """
        if not self.agents:
            raise reset_needed("the game is over, and step() was called")
        agent = self.agent_selection
        if self.terminations[agent]:
            self._was_dead_step(action)
            return
        number = checked_action(action, self.action_count)
        self.position = position = self.position.act(number)
        self.agent_selection = "player_1" if agent == "player_0" else "player_0"
        outcome = position.outcome
        if outcome is not None:
            self.terminations = dict.fromkeys(self.agents, True)
            if outcome != "draw":
                winner = _AGENTS[outcome]
                self.rewards = {name: 1 if name == winner else -1 for name in self.agents}
                self._cumulative_rewards = self.rewards.copy()
        if self.render_mode == "human":
            self.render()

    def render(self) -> Drawing:
        """The board: text in mode "ansi", an array of uint8 with shape (height, width, 3) in mode "rgb_array"; in mode
        "human" the text is printed."""
        return draw(self.position, self.render_mode)

    def close(self) -> None:
        """There is nothing to close."""


class Env(wrappers.OrderEnforcingWrapper[str, Observation, Action]):
    """With the checks of PettingZoo: an illegal action ends the game and loses it. What is not an action at all is an
    error."""

    def __init__(self, raw: RawEnv) -> None:
        super().__init__(wrappers.TerminateIllegalWrapper(raw, illegal_reward=-1))
        self.action_count = raw.action_count

    def __eq__(self, other: object) -> bool:
        # What the wrappers keep follows from what happened to the environment.
        if not isinstance(other, Env) or type(other) is not type(self):
            return NotImplemented
        return bool(self.unwrapped == other.unwrapped)

    def step(self, action: Action) -> None:
        """The agent whose turn it is acts; an illegal action loses.

        Raises:
            ValueError: There is no such action.
            TypeError: It is not a whole number.
            gymnasium.error.ResetNeeded: No game has begun.
        """
        self._begun("step()")
        if self.agents and not self.terminations[self.agent_selection]:
            action = checked_action(action, self.action_count)
        super().step(action)

    def observe(self, agent: str) -> Any:
        """See `RawEnv.observe`."""
        self._begun("observe()")
        return super().observe(agent)

    def render(self) -> Any:
        """See `RawEnv.render`."""
        self._begun("render()")
        return super().render()

    def last(self, observe: bool = True) -> Any:
        """Observation, cumulative reward, whether it is over, whether it was cut short, and information, of the agent
        whose turn it is."""
        self._begun("last()")
        return super().last(observe)

    def agent_iter(self, max_iter: int = 2**63) -> Any:
        """The agent whose turn it is, again and again until the game is over."""
        self._begun("agent_iter()")
        return super().agent_iter(max_iter)

    def _begun(self, what: str) -> None:
        if not self._has_reset:
            raise reset_needed(f"{what} was called")

    def __str__(self) -> str:
        return str(self.env)


class ParallelEnv(turn_based_aec_to_parallel_wrapper[str, Observation, Action]):
    """For agents that act at the same time; only the action of the side to move counts."""

    def __init__(self, env: Env) -> None:
        super().__init__(env)
        self.metadata = {**env.metadata, "is_parallelizable": True}
        self.agents: list[str] = []

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, ParallelEnv) or type(other) is not type(self):
            return NotImplemented
        return bool(self.aec_env == other.aec_env) and self.agents == other.agents

    def step(self, actions: Mapping[str, Action]) -> Any:
        """A step of all agents.

        Args:
            actions: By the name of an agent the number of its action.

        Returns:
            Observations, rewards, terminations, truncations and information, by the name of an agent.

        Raises:
            ValueError: The agent whose turn it is has no action, or there is no such action.
            TypeError: They are not a dictionary, or the action is not a whole number.
            gymnasium.error.ResetNeeded: No game is going on.
        """
        if not self.agents:
            raise reset_needed("no game is going on, and step() was called")
        if not isinstance(actions, Mapping):
            raise TypeError(f"actions are {actions!r}; expected a dictionary of agents and actions")
        agent = self.aec_env.agent_selection
        if agent not in actions:
            raise ValueError(f"there is no action of {agent!r}, whose turn it is")
        step: Any = super().step
        return step({agent: actions[agent]})
