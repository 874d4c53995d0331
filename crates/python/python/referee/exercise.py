"""The exercise from which this project comes, in English and in Dutch, computed by the rules of the referee.

A file describes the pieces: a header with the four features, and a line for each of the sixteen pieces.

>>> pieces = read_pieces('pieces.txt')
>>> pieces['size']['big'] == {'A', 'C', 'E', 'G', 'I', 'K', 'M', 'O'}
True
>>> properties = piece_properties(pieces)
>>> properties['K'] == {'big', 'blue', 'square', 'solid'}
True
>>> quarto('N?BI??JO?FDLMEAG', properties) == {('H4', 'big'), ('V3', 'square'), ('D2', 'red')}
True
>>> quarto('KHEF#DCMXABJPGOL', properties) == {('H4', 'blue'), ('V2', 'hollow'), ('D1', 'square')}
True

>>> stukken = lees_stukken('stukken.txt')
>>> stukken['grootte']['groot'] == {'A', 'C', 'E', 'G', 'I', 'K', 'M', 'O'}
True
>>> eigenschappen = stuk_eigenschappen(stukken)
>>> quarto('N?BI??JO?FDLMEAG', eigenschappen) == {('H4', 'groot'), ('V3', 'vierkant'), ('D2', 'rood')}
True
"""

import csv
import io
import os
from typing import Any, Collection, Dict, List, Mapping, Set, Tuple, Union

from . import _referee

__all__ = [
    "create_grid", "lees_stukken", "maak_rooster", "piece_properties", "quarto", "read_pieces", "stuk_eigenschappen",
]

#: Feature, property, and the pieces that have it.
Pieces = Dict[str, Dict[str, Set[str]]]

#: By piece its four properties; what `read_pieces` returns is taken, too.
Properties = Mapping[str, Any]


def read_pieces(location: Union[str, "os.PathLike[str]"]) -> Pieces:
    """For each feature a dictionary of its two properties and the set of pieces that have them.

    >>> pieces = read_pieces('pieces.txt')
    >>> list(pieces)
    ['size', 'color', 'form', 'fill']
    >>> sorted(pieces['fill']['solid'])
    ['I', 'J', 'K', 'L', 'M', 'N', 'O', 'P']

    Raises:
        ValueError: The file is not a piece set: its name, the line, the column, what is wrong and what was expected.
        OSError: It cannot be read.
    """
    return {
        feature: {word: set(having) for word, having in words}
        for feature, words in _referee.read_pieces(os.fspath(location))
    }


def piece_properties(pieces: Mapping[str, Mapping[str, Collection[str]]]) -> Dict[str, Set[str]]:
    """For each piece the set of its four properties.

    >>> properties = piece_properties(read_pieces('pieces.txt'))
    >>> properties['A'] == {'big', 'red', 'square', 'hollow'}
    True
    >>> len(properties)
    16
    """
    properties: Dict[str, Set[str]] = {}
    for words in pieces.values():
        for word, having in words.items():
            for piece in having:
                properties.setdefault(piece, set()).add(word)
    return properties


def create_grid(configuration: str, properties: Properties) -> List[List[Set[str]]]:
    """Four rows of four cells, each the set of properties of its piece; empty for a free cell.

    A configuration is 16 characters, row by row; every character that is not a piece is a free cell.

    >>> grid = create_grid('N?BI??JO?FDLMEAG', piece_properties(read_pieces('pieces.txt')))
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

    >>> sorted(quarto('KHEF#DCMXABJPGOL', piece_properties(read_pieces('pieces.txt'))))
    [('D1', 'square'), ('H4', 'blue'), ('V2', 'hollow')]

    Raises:
        ValueError: The configuration is not 16 characters, or the properties are not those of a piece set.
    """
    return set(_referee.quartos(_table(properties), configuration))


def _table(properties: Properties) -> str:
    """The piece set as a file."""
    if any(isinstance(words, Mapping) for words in properties.values()):
        properties = piece_properties(properties)
    having: Dict[str, Set[str]] = {}
    for piece, words in properties.items():
        for word in words:
            having.setdefault(word, set()).add(piece)
    # The two properties of a feature are those that no piece has both of, and every piece one of.
    features: List[Tuple[str, str]] = []
    for word, pieces in having.items():
        opposite = next((other for other in having if having[other] == properties.keys() - pieces), None)
        if opposite is None:
            raise ValueError(f"no property is the opposite of {word!r}; expected the properties of a piece set")
        if (opposite, word) not in features:
            features.append((word, opposite))
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(["piece", *(" or ".join(words) for words in features)])
    for piece, words in properties.items():
        writer.writerow([piece, *(one if one in words else other for one, other in features)])
    return text.getvalue()


lees_stukken = read_pieces
stuk_eigenschappen = piece_properties
maak_rooster = create_grid
