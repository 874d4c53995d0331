"""Environments for PettingZoo: `quarto_v0` and `four_in_a_row_v0`.

    from referee.env import quarto_v0

    env = quarto_v0.env()

Both need `pip install pettingzoo`.
"""
