"""What the environments share: turns in alternation, legal actions as a mask, 1 for a win and -1 for a loss."""

from gymnasium import spaces
from gymnasium.utils import EzPickle
from pettingzoo import AECEnv
from pettingzoo.utils import wrappers
from pettingzoo.utils.conversions import turn_based_aec_to_parallel_wrapper

import numpy as np

_AGENTS = {"first": "player_0", "second": "player_1"}


class RawEnv(AECEnv, EzPickle):
    """Without the checks of the wrappers. An illegal action raises ValueError."""

    metadata = {"render_modes": ["human", "ansi"], "is_parallelizable": False, "render_fps": 2}

    def __init__(self, game, render_mode=None):
        super().__init__()
        if render_mode not in [None, *self.metadata["render_modes"]]:
            raise ValueError(f"render_mode is {render_mode!r}; expected 'human' or 'ansi'")
        EzPickle.__init__(self, game, render_mode)
        self.game = game
        self.render_mode = render_mode
        self.possible_agents = list(_AGENTS.values())
        self._start = game.start()
        shape = self._start.observation.shape
        actions = self._start.action_mask.size
        observation = spaces.Dict(
            {
                "observation": spaces.Box(-1, 1, shape, np.int8),
                "action_mask": spaces.Box(0, 1, (actions,), np.int8),
            }
        )
        self.observation_spaces = {agent: observation for agent in self.possible_agents}
        self.action_spaces = {agent: spaces.Discrete(actions) for agent in self.possible_agents}
        self._nothing = np.zeros(actions, np.int8)

    def observation_space(self, agent):
        return self.observation_spaces[agent]

    def action_space(self, agent):
        return self.action_spaces[agent]

    def reset(self, seed=None, options=None):
        """`options={"position": …}` starts from a position of the same game instead of its start."""
        self.position = options["position"] if options and "position" in options else self._start
        self.agents = self.possible_agents[:]
        self.agent_selection = _AGENTS[self.position.to_move]
        self.rewards = {"player_0": 0, "player_1": 0}
        self._cumulative_rewards = self.rewards.copy()
        self.terminations = {"player_0": False, "player_1": False}
        self.truncations = self.terminations.copy()
        self.infos = {"player_0": {}, "player_1": {}}

    def observe(self, agent):
        # Who is not to move sees the same, and can do nothing.
        mask = self.position.action_mask if agent == self.agent_selection else self._nothing.copy()
        return {"observation": self.position.observation, "action_mask": mask}

    def step(self, action):
        agent = self.agent_selection
        if self.terminations[agent]:
            self._was_dead_step(action)
            return
        self.position = position = self.position.act(int(action))
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

    def render(self):
        """The board, and the piece in hand or the mark: returned in mode "ansi", printed in mode "human"."""
        board, other = sorted(self.position.text.split(), key=len, reverse=True)
        width = self._start.observation.shape[1]
        rows = [board[i : i + width] for i in range(0, len(board), width)]
        text = "\n".join([*rows, other])
        if self.render_mode == "ansi":
            return text
        print(text)
        return None

    def close(self):
        """There is nothing to close."""


def wrapped(raw):
    """With the wrappers that are usual: an illegal action ends the game and loses it."""
    env = wrappers.TerminateIllegalWrapper(raw, illegal_reward=-1)
    env = wrappers.AssertOutOfBoundsWrapper(env)
    return wrappers.OrderEnforcingWrapper(env)


parallel = turn_based_aec_to_parallel_wrapper
