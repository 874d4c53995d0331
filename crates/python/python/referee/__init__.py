"""Quarto and Four In A Row: positions, exact values, arrays, environments, bots and records.

>>> import referee
>>> position = referee.Quarto().position("A..PC...J..EF... G")
>>> position.value()
<Value draw>
>>> position.play("6 O").hand
'O'
"""

from . import bot, exercise
from ._referee import Batch, FourInARow, Position, Quarto, Value
from .records import Record, command, play, read_records, to_dataframe

__all__ = [
    "Batch", "FourInARow", "Position", "Quarto", "Record", "Value", "bot", "command", "exercise", "play", "read_records",
    "to_dataframe",
]
