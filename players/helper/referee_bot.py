"""What every bot in Python needs: the loop, flushing, the pieces file, the seed, and `info` lines.

    import referee_bot as bot              # with the wheel: from referee import bot

    def choose(question):
        return bot.random.choice(question.turns())

    bot.run(choose)

One file of Python 3.7 or later that needs nothing else: it may lie beside a bot.
"""

from __future__ import annotations

import os
import random as _random
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:  # a bot starts sooner without it
    from typing import Any, Callable, Dict, List, Mapping, Optional, Sequence, Tuple, Union

    #: A cell, or None, and a gift, or None.
    QuartoTurn = Tuple[Optional[int], Optional[str]]

__all__ = ["FourInARow", "Quarto", "info", "pieces", "random", "run"]

#: Draws the same numbers again when the match is repeated with the same seed.
random = _random.Random(os.environ.get("REFEREE_SEED"))

_CELLS = range(1, 17)
_ROWS = [(c, c + 1, c + 2, c + 3) for c in (1, 5, 9, 13)]
_COLUMNS = [(c, c + 4, c + 8, c + 12) for c in (1, 2, 3, 4)]
_DIAGONALS = [(1, 6, 11, 16), (4, 7, 10, 13)]
_SQUARES = [(c, c + 1, c + 4, c + 5) for c in (1, 2, 3, 5, 6, 7, 9, 10, 11)]


def pieces() -> Dict[str, Tuple[str, ...]]:
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

    pieces: Mapping[str, Sequence[str]] = pieces() if os.environ.get("REFEREE_GAME", "quarto") == "quarto" else {}
    lines = _ROWS + _COLUMNS + _DIAGONALS + (_SQUARES if os.environ.get("REFEREE_RULES") == "squares" else [])

    def __init__(self, text: str) -> None:
        self.text = text
        #: 16 characters, "." for a free cell; cell 1 is `board[0]`.
        words = text.split()
        if len(words) != 2 or len(words[0]) != 16:
            raise ValueError("the question is {!r}; expected a board of 16 characters and a piece or -".format(text))
        self.board, piece = words
        #: The piece to place, None when there is only one to give.
        self.piece = None if piece == "-" else piece
        #: The numbers of the free cells.
        self.free = [cell for cell in range(1, 17) if self.board[cell - 1] == "."]
        #: The pieces that may be given.
        self.left = [p for p in self.pieces if p not in self.board and p != piece]

    def wins(self, cell: int, piece: Optional[str] = None, board: Optional[str] = None) -> bool:
        """Whether a piece, without one that in hand, completes a line on a cell of this board or another."""
        board, piece = board or self.board, piece or self.piece
        if cell not in _CELLS or len(board) != 16 or piece is None or piece not in self.pieces:
            raise ValueError("cell {!r}, piece {!r}, board {!r}; expected 1 to 16, a piece and a board".format(cell, piece, board))
        for line in self.lines:
            if cell in line:
                there = [piece if c == cell else board[c - 1] for c in line]
                if "." not in there and any(len(set(p)) == 1 for p in zip(*(self.pieces[name] for name in there))):
                    return True
        return False

    def after(self, cell: int) -> str:
        """The board with the piece in hand on a cell."""
        if self.piece is None or cell not in _CELLS:
            raise ValueError("cell {!r}, piece {!r}; expected 1 to 16 and a piece in hand".format(cell, self.piece))
        return self.board[: cell - 1] + self.piece + self.board[cell:]

    def safe_gifts(self, cell: Optional[int] = None) -> List[str]:
        """The pieces with which the opponent cannot win immediately, after the piece in hand was placed on this cell."""
        board = self.after(cell) if cell else self.board
        free = [c for c in self.free if c != cell]
        return [p for p in self.left if not any(self.wins(c, p, board) for c in free)]

    def turns(self) -> List[QuartoTurn]:
        """Every legal answer: a cell, or None, and a gift, or None."""
        cells: Sequence[Optional[int]] = self.free if self.piece else [None]
        nothing: List[Optional[str]] = [None]
        return [
            (cell, gift)
            for cell in cells
            for gift in (nothing if cell and self.wins(cell) else self.left or nothing)
        ]


class FourInARow:
    """A question of Four In A Row: the bot's mark, "@" or "O", and the board."""

    def __init__(self, text: str) -> None:
        self.text = text
        #: The board is 42 characters, row by row from the top left, "." for a free cell.
        words = text.split()
        if len(words) != 2 or len(words[1]) != 42:
            raise ValueError("the question is {!r}; expected @ or O and a board of 42 characters".format(text))
        self.mark, self.board = words

    def turns(self) -> List[int]:
        """The columns with room, 1 to 7."""
        return [column for column in range(1, 8) if self.board[column - 1] == "."]

    def wins(self, column: int, mark: Optional[str] = None) -> bool:
        """Whether a disc in a column, of this bot or with this mark, makes four in a row."""
        mark = mark or self.mark
        if column not in self.turns():
            raise ValueError("column {!r}; expected one with room: {}".format(column, self.turns()))
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


def info(**fields: Any) -> None:
    """Tells the referee what the bot thinks, which it keeps in the record: info(depth=6, score=0.35, string="corner").

    `score` runs from -1 (this bot loses) to 1 (it wins). `string` is free text. Call it before the answer.
    """
    string = fields.pop("string", None)
    words = ["info"] + ["{} {}".format(name, value) for name, value in fields.items()]
    if string is not None:
        words.append("string " + " ".join(str(string).split()))
    print(*words, file=sys.stderr, flush=True)


def run(choose: Callable[[Any], Union[str, int, Sequence[Any]]]) -> None:
    """Answers every question by `choose(question)`, until the input ends.

    `choose` gets a `Quarto` or a `FourInARow`; of another game the line. It returns a turn, as `turns()` lists them, or
    the text of an answer.
    """
    stream: Any
    for stream in (sys.stdin, sys.stdout):
        stream.reconfigure(encoding="utf-8")  # whatever the locale says
    kinds: Dict[str, Callable[[str], Any]] = {"quarto": Quarto, "four-in-a-row": FourInARow}
    kind = kinds.get(os.environ.get("REFEREE_GAME", "quarto"), str)
    for line in sys.stdin:
        answer = choose(kind(line.rstrip("\r\n")))
        if isinstance(answer, (tuple, list)):
            answer = " ".join("-" if word is None else str(word) for word in answer)
        print(answer, flush=True)
