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

import os
from collections.abc import Collection, Mapping
from typing import Any

from . import _referee

__all__ = [
    "create_grid", "lees_stukken", "maak_rooster", "piece_properties", "quarto", "read_pieces", "stuk_eigenschappen",
]

#: Feature, property, and the pieces that have it.
Pieces = dict[str, dict[str, set[str]]]

#: By piece its four properties; what `read_pieces` returns is taken, too.
Properties = Mapping[str, Any]


def read_pieces(location: "str | os.PathLike[str]") -> Pieces:
    """For each feature a dictionary of its two properties and the set of pieces that have them.

    >>> pieces = read_pieces('pieces.txt')
    >>> list(pieces)
    ['size', 'color', 'form', 'fill']
    >>> sorted(pieces['fill']['solid'])
    ['I', 'J', 'K', 'L', 'M', 'N', 'O', 'P']

    Raises:
        ValueError: The file is not a piece set: its name, the line, the column, what is wrong and what was expected.
        OSError: It cannot be read.
        TypeError: The location is not a path.
    """
    return {
        feature: {word: set(having) for word, having in words}
        for feature, words in _referee.read_pieces(os.fspath(location))
    }


def piece_properties(pieces: Mapping[str, Mapping[str, Collection[str]]]) -> dict[str, set[str]]:
    """For each piece the set of its four properties.

    >>> properties = piece_properties(read_pieces('pieces.txt'))
    >>> properties['A'] == {'big', 'red', 'square', 'hollow'}
    True
    >>> len(properties)
    16

    Raises:
        TypeError: They are not dictionaries as `read_pieces` returns them.
    """
    properties: dict[str, set[str]] = {}
    for feature, words in _items(pieces, "pieces"):
        for word, having in _items(words, f"of {feature!r} the properties"):
            for piece in _collection(having, f"the pieces that are {word!r}"):
                properties.setdefault(piece, set()).add(word)
    return properties


def create_grid(configuration: str, properties: Properties) -> list[list[set[str]]]:
    """Four rows of four cells, each the set of properties of its piece; empty for a free cell.

    A configuration is 16 characters, row by row; every character that is not a piece is a free cell. The properties may
    be those of some pieces only.

    >>> grid = create_grid('N?BI??JO?FDLMEAG', piece_properties(read_pieces('pieces.txt')))
    >>> grid[0][0] == {'small', 'red', 'circular', 'solid'}
    True
    >>> grid[0][1]
    set()

    Raises:
        ValueError: The configuration is not 16 characters.
        TypeError: An argument is of another type.
    """
    cells = _cells(configuration, properties)
    return [cells[row : row + 4] for row in range(0, 16, 4)]


def quarto(configuration: str, properties: Properties) -> set[tuple[str, str]]:
    """The quartos of a configuration: the line (H1 to H4, V1 to V4, D1, D2) and the property that its pieces share.

    >>> sorted(quarto('KHEF#DCMXABJPGOL', piece_properties(read_pieces('pieces.txt'))))
    [('D1', 'square'), ('H4', 'blue'), ('V2', 'hollow')]

    Raises:
        ValueError: The configuration is not 16 characters.
        TypeError: An argument is of another type.
    """
    cells = _cells(configuration, properties)
    return {
        (name, word)
        for name, numbers in _referee.lines()
        for word in set.intersection(*(cells[number] for number in numbers))
    }


def _cells(configuration: str, properties: Properties) -> list[set[str]]:
    """The properties on each of the sixteen cells."""
    if not isinstance(configuration, str):
        raise TypeError(f"the configuration is {configuration!r}; expected a string of 16 characters")
    if len(configuration) != 16:
        raise ValueError(f"the configuration has {len(configuration)} characters; expected 16")
    words = dict(_items(properties, "the properties"))
    if any(isinstance(value, Mapping) for value in words.values()):
        words = dict(piece_properties(properties))
    return [set(_collection(words.get(piece, ()), f"the properties of {piece!r}")) for piece in configuration]


def _items(value: Any, what: str) -> Collection[tuple[Any, Any]]:
    if not isinstance(value, Mapping):
        raise TypeError(f"{what} are {value!r}; expected a dictionary")
    return value.items()


def _collection(value: Any, what: str) -> Collection[Any]:
    if isinstance(value, str) or not isinstance(value, Collection):
        raise TypeError(f"{what} are {value!r}; expected a set")
    return value


lees_stukken = read_pieces
stuk_eigenschappen = piece_properties
maak_rooster = create_grid
