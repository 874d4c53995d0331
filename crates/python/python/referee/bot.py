"""What every bot in Python needs: the loop, flushing, the pieces file, the seed, and `info` lines.

    import referee_bot as bot              # with the wheel: from referee import bot

    def choose(question):
        return bot.random.choice(question.turns())

    bot.run(choose)

One file of Python 3.7 or later that needs nothing else: it may lie beside a bot.
"""

import os
import random as _random
import sys

__all__ = ["FourInARow", "Quarto", "info", "pieces", "random", "run"]

#: Draws the same numbers again when the match is repeated with the same seed.
random = _random.Random(os.environ.get("REFEREE_SEED"))

_ROWS = [(c, c + 1, c + 2, c + 3) for c in (1, 5, 9, 13)]
_COLUMNS = [(c, c + 4, c + 8, c + 12) for c in (1, 2, 3, 4)]
_DIAGONALS = [(1, 6, 11, 16), (4, 7, 10, 13)]
_SQUARES = [(c, c + 1, c + 4, c + 5) for c in (1, 2, 3, 5, 6, 7, 9, 10, 11)]


def pieces():
    """The set that is played with: a dictionary of pieces and their four properties, in the order of the set."""
    path = os.environ.get("REFEREE_PIECES")
    if not path:
        words = [("big", "small"), ("red", "blue"), ("square", "circular"), ("hollow", "solid")]
        names = enumerate("ABCDEFGHIJKLMNOP")
        return {name: tuple(words[f][number >> f & 1] for f in range(4)) for number, name in names}
    import csv

    with open(path, encoding="utf-8-sig", newline="") as file:
        rows = [[field.strip() for field in row] for row in csv.reader(file, skipinitialspace=True)]
    return {row[0]: tuple(row[1:]) for row in rows[1:] if len(row) == 5}


class Quarto:
    """A question of Quarto: what is on the board, and the piece to place."""

    pieces = pieces() if os.environ.get("REFEREE_GAME", "quarto") == "quarto" else {}
    lines = _ROWS + _COLUMNS + _DIAGONALS + (_SQUARES if os.environ.get("REFEREE_RULES") == "squares" else [])

    def __init__(self, text):
        self.text = text
        #: 16 characters, "." for a free cell; cell 1 is `board[0]`.
        self.board, piece = text.split()
        #: The piece to place, None when there is only one to give.
        self.piece = None if piece == "-" else piece
        #: The numbers of the free cells.
        self.free = [cell for cell in range(1, 17) if self.board[cell - 1] == "."]
        #: The pieces that may be given.
        self.left = [p for p in self.pieces if p not in self.board and p != piece]

    def wins(self, cell, piece=None, board=None):
        """Whether a piece, without one that in hand, completes a line on a cell of this board or another."""
        board, piece = board or self.board, piece or self.piece
        for line in self.lines:
            if cell in line:
                there = [piece if c == cell else board[c - 1] for c in line]
                if "." not in there and any(len(set(p)) == 1 for p in zip(*map(self.pieces.get, there))):
                    return True
        return False

    def after(self, cell):
        """The board with the piece in hand on a cell."""
        return self.board[: cell - 1] + self.piece + self.board[cell:]

    def safe_gifts(self, cell=None):
        """The pieces with which the opponent cannot win immediately, after the piece in hand was placed on this cell."""
        board = self.after(cell) if cell else self.board
        free = [c for c in self.free if c != cell]
        return [p for p in self.left if not any(self.wins(c, p, board) for c in free)]

    def turns(self):
        """Every legal answer: a cell, or None, and a gift, or None."""
        cells = self.free if self.piece else [None]
        return [
            (cell, gift)
            for cell in cells
            for gift in ([None] if cell and self.wins(cell) else self.left or [None])
        ]


class FourInARow:
    """A question of Four In A Row: the bot's mark, "@" or "O", and the board."""

    def __init__(self, text):
        self.text = text
        #: The board is 42 characters, row by row from the top left, "." for a free cell.
        self.mark, self.board = text.split()

    def turns(self):
        """The columns with room, 1 to 7."""
        return [column for column in range(1, 8) if self.board[column - 1] == "."]

    def wins(self, column, mark=None):
        """Whether a disc in a column, of this bot or with this mark, makes four in a row."""
        mark = mark or self.mark
        row = max(r for r in range(6) if self.board[7 * r + column - 1] == ".")
        for down, right in ((0, 1), (1, 0), (1, 1), (1, -1)):
            length = 1
            for sign in (1, -1):
                r, c = row + sign * down, column - 1 + sign * right
                while 0 <= r < 6 and 0 <= c < 7 and self.board[7 * r + c] == mark:
                    length, r, c = length + 1, r + sign * down, c + sign * right
            if length >= 4:
                return True
        return False


def info(**fields):
    """Tells the referee what the bot thinks, which it keeps in the record: info(depth=6, score=0.35, string="corner").

    `score` runs from -1 (this bot loses) to 1 (it wins). `string` is free text. Call it before the answer.
    """
    string = fields.pop("string", None)
    words = ["info"] + ["{} {}".format(name, value) for name, value in fields.items()]
    if string is not None:
        words.append("string " + " ".join(str(string).split()))
    print(*words, file=sys.stderr, flush=True)


def run(choose):
    """Answers every question by `choose(question)`, until the input ends.

    `choose` gets a `Quarto` or a `FourInARow`; of another game the line. It returns a turn, as `turns()` lists them, or
    the text of an answer.
    """
    for stream in (sys.stdin, sys.stdout):
        stream.reconfigure(encoding="utf-8")  # whatever the locale says
    kinds = {"quarto": Quarto, "four-in-a-row": FourInARow}
    kind = kinds.get(os.environ.get("REFEREE_GAME", "quarto"), str)
    for line in sys.stdin:
        answer = choose(kind(line.rstrip("\r\n")))
        if isinstance(answer, (tuple, list)):
            answer = " ".join("-" if word is None else str(word) for word in answer)
        print(answer, flush=True)
