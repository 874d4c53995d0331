#!/usr/bin/env python3
"""A random player, with the helper referee_bot.py beside it: any turn."""

import referee_bot as bot


def choose(question):
    # question.board, .piece, .free, .left, .wins(cell), .safe_gifts(cell): see referee_bot.py
    return bot.random.choice(question.turns())


bot.run(choose)
