"""Quarto and Four In A Row: positions, exact values, arrays, environments, bots and records.

>>> import referee
>>> position = referee.Quarto().position("A..PC...J..EF... G")
>>> position.value()
<Value draw>
>>> position.play("6 O").hand
'O'
"""

from . import bot, exercise
from ._program import Program
from ._referee import Batch, FourInARow, Position, Quarto, Value, __version__
from .records import Record, command, play, read_records, to_dataframe

__all__ = [
    "Batch", "FourInARow", "Position", "Program", "Quarto", "Record", "Value", "__version__", "bot", "command",
    "exercise", "play", "read_records", "to_dataframe",
]
