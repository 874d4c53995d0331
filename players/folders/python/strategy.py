"""What the bot plays: change this."""

import os
import random

# The same seed plays the same game again.
random.seed(os.environ.get("REFEREE_SEED"))


def choose(board, piece, cells, left):
    """A cell for the piece, and a piece for the opponent."""
    return random.choice(cells), random.choice(left)
