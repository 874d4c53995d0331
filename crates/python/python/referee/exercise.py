"""The exercise from which this project comes, in English and in Dutch, computed by the rules of the referee.

A file describes the pieces: a header with the features, and a line for each of the sixteen pieces.

>>> properties = read_pieces('pieces.txt')
>>> properties['size']['big'] == {'A', 'C', 'E', 'G', 'I', 'K', 'M', 'O'}
True
>>> piece_properties('K', properties) == {'big', 'blue', 'square', 'solid'}
True
>>> quarto('N?BI??JO?FDLMEAG', properties) == {('H4', 'big'), ('V3', 'square'), ('D2', 'red')}
True
>>> quarto('KHEF#DCMXABJPGOL', properties) == {('H4', 'blue'), ('V2', 'hollow'), ('D1', 'square')}
True

>>> eigenschappen = lees_stukken('stukken.txt')
>>> eigenschappen['grootte']['groot'] == {'A', 'C', 'E', 'G', 'I', 'K', 'M', 'O'}
True
>>> quarto('N?BI??JO?FDLMEAG', eigenschappen) == {('H4', 'groot'), ('V3', 'vierkant'), ('D2', 'rood')}
True
"""

import csv
import io
import os
from typing import Dict, List, Set, Tuple, Union

from . import _referee

__all__ = [
    "create_grid", "lees_stukken", "maak_rooster", "piece_properties", "quarto", "read_pieces", "stuk_eigenschappen",
]  # fmt: skip

#: Feature, property, and the pieces that have it.
Properties = Dict[str, Dict[str, Set[str]]]


def read_pieces(location: Union[str, "os.PathLike[str]"]) -> Properties:
    """For each feature a dictionary of its properties and the set of pieces that have them.

    >>> properties = read_pieces('pieces.txt')
    >>> list(properties)
    ['size', 'color', 'form', 'fill']
    >>> sorted(properties['fill']['solid'])
    ['I', 'J', 'K', 'L', 'M', 'N', 'O', 'P']

    Raises:
        ValueError: The file is not a piece set: its name, the line, the column, what is wrong and what was expected.
        OSError: It cannot be read.
    """
    return {
        feature: {word: set(having) for word, having in words}
        for feature, words in _referee.read_pieces(os.fspath(location))
    }


def piece_properties(piece: str, properties: Properties) -> Set[str]:
    """The set of the four properties of a piece; empty for a character that is not a piece.

    >>> properties = read_pieces('pieces.txt')
    >>> piece_properties('A', properties) == {'big', 'red', 'square', 'hollow'}
    True
    >>> piece_properties('?', properties)
    set()
    """
    return {word for words in properties.values() for word, having in words.items() if piece in having}


def create_grid(configuration: str, properties: Properties) -> List[List[Set[str]]]:
    """Four rows of four cells, each the set of properties of its piece; empty for a free cell.

    A configuration is 16 characters, row by row; every character that is not a piece is a free cell.

    >>> grid = create_grid('N?BI??JO?FDLMEAG', read_pieces('pieces.txt'))
    >>> grid[0][0] == {'small', 'red', 'circular', 'solid'}
    True
    >>> grid[0][1]
    set()

    Raises:
        ValueError: The configuration is not 16 characters, or the properties are not those of a piece set.
    """
    rows = _referee.grid(_table(properties), configuration)
    return [[set(cell or ()) for cell in row] for row in rows]


def quarto(configuration: str, properties: Properties) -> Set[Tuple[str, str]]:
    """The quartos of a configuration: the line (H1 to H4, V1 to V4, D1, D2) and the property that its pieces share.

    >>> sorted(quarto('KHEF#DCMXABJPGOL', read_pieces('pieces.txt')))
    [('D1', 'square'), ('H4', 'blue'), ('V2', 'hollow')]

    Raises:
        ValueError: The configuration is not 16 characters, or the properties are not those of a piece set.
    """
    return set(_referee.quartos(_table(properties), configuration))


def _table(properties: Properties) -> str:
    """The piece set as a file."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(["piece", *properties])
    pieces = {piece for words in properties.values() for having in words.values() for piece in having}
    for piece in sorted(pieces):
        row = [next((word for word in words if piece in words[word]), "") for words in properties.values()]
        writer.writerow([piece, *row])
    return text.getvalue()


lees_stukken = read_pieces
stuk_eigenschappen = piece_properties
maak_rooster = create_grid
