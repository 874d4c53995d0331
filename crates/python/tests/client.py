"""A program that uses the module as it is documented: what checks types must find nothing in it. It is not run."""

import numpy as np
import referee
from referee import bot, exercise
from referee.env import four_in_a_row_v0, quarto_v0

position: referee.Position = referee.Quarto().start()
env = quarto_v0.env(render_mode="ansi")
env.reset(seed=1)
observation = env.observe("player_0")
gym = four_in_a_row_v0.gym_env("builtin:greedy", side="first")
seen, info = gym.reset(seed=3)
total: float = 0
seen, reward, over, cut, info = gym.step(np.int64(3))
total += reward
games = quarto_v0.batch(10, starts=position)
rewards, ended = games.step(games.random_actions())
is_same: bool = env == quarto_v0.env() or gym == four_in_a_row_v0.gym_env() or referee.Program("a") == referee.Program("b")
print(is_same, rewards.sum(), position.image().shape, exercise.quarto("A" * 16, {}), referee.__version__)


def choose(question: bot.Quarto) -> str:
    return "- A"


bot.run(choose)
