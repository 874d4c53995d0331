"""Environments to learn in: `quarto_v0` and `four_in_a_row_v0`.

    from referee.env import quarto_v0

    env = quarto_v0.env()                        # of PettingZoo, for two agents
    env = quarto_v0.gym_env("builtin:greedy")    # of gymnasium, for one agent against a bot
    games = quarto_v0.batch(500)                 # many games at the same time

They need `pip install "referee[env]"`: numpy, gymnasium and pettingzoo.
"""
