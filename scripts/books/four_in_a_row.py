#!/usr/bin/env python3
"""Writes the proofs of Four In A Row's book from the database of all positions with twelve discs.

    pip download --no-deps bitbully-databases==0.0.2 && unzip bitbully_databases-*.whl
    scripts/books/four_in_a_row.py bitbully_databases/assets/book_12ply_distances.dat four.proofs
    cargo run --release -p referee-games --example make_books -- four-in-a-row crates/games/src/solver/book/four_in_a_row.bin four.proofs

The database is Markus Thill's (MIT licence): five bytes a position, four of them its discs, the fifth who wins and in how many
discs. Positions that are won at once are not in it. The score of a position with eleven discs is the best of those after its seven
discs. It takes some minutes and 3 GB.
"""

import struct
import sys

COLUMNS, ROWS, STRIDE = 7, 6, 7
DISCS = 11
BOTTOM = sum(1 << STRIDE * column for column in range(COLUMNS))


def main() -> None:
    if len(sys.argv) != 3:
        sys.exit("usage: four_in_a_row.py DATABASE PROOFS")
    database, proofs = sys.argv[1:]
    with open(database, "rb") as file:
        after = dict(struct.iter_unpack(">Ib", file.read()))
    positions = {(0, 0)}
    for _ in range(DISCS):
        positions = {canonical(*child) for own, discs in positions for child in children(own, discs)}
    records = []
    for own, discs in positions:
        if any(has_line(own | cell) for cell in cells(discs)):
            continue
        scores = (-score(after, *child) for child in children(own, discs))
        records.append((number(own, discs), max(scores)))
    with open(proofs, "wb") as file:
        file.write(b"four in a row 1\n")
        for record in sorted(records):
            file.write(struct.pack("<Qb", *record))


def cells(discs: int) -> list[int]:
    """The cells that the next disc can fall to. A column has seven bits, the lowest cell first; the topmost stays empty."""
    reached = discs + BOTTOM
    return [
        reached & (1 << ROWS) - 1 << STRIDE * column
        for column in range(COLUMNS)
        if reached & (1 << ROWS) - 1 << STRIDE * column
    ]


def children(own: int, discs: int) -> list[tuple[int, int]]:
    """The positions after each disc with which nobody wins: the discs of the side to move, and all."""
    return [(own ^ discs, discs | cell) for cell in cells(discs) if not has_line(own | cell)]


def has_line(own: int) -> bool:
    for step in (1, STRIDE - 1, STRIDE, STRIDE + 1):
        pairs = own & own >> step
        if pairs & pairs >> 2 * step:
            return True
    return False


def mirrored(board: int) -> int:
    column = (1 << STRIDE) - 1
    return sum((board >> STRIDE * i & column) << STRIDE * (COLUMNS - 1 - i) for i in range(COLUMNS))


def canonical(own: int, discs: int) -> tuple[int, int]:
    return min((own, discs), (mirrored(own), mirrored(discs)), key=lambda board: board[0] + board[1])


def number(own: int, discs: int) -> int:
    """The position's key in the book."""
    return min(own + discs, mirrored(own) + mirrored(discs)) + BOTTOM


def encoded(own: int, discs: int, order: range) -> int:
    """The position in the database: 10 for a disc of the side to move, 11 for another one, 0 at the end of a column."""
    bits = 0
    for column in order:
        for row in range(ROWS):
            cell = 1 << STRIDE * column + row
            if not discs & cell:
                break
            bits = bits << 2 | (2 if own & cell else 3)
        bits <<= 1
    return bits << 1


def score(database: dict[int, int], own: int, discs: int) -> int:
    """The score of a position with twelve discs: the free cells before the last disc, negative for a loss."""
    free = COLUMNS * ROWS - discs.bit_count()
    if any(has_line(own | cell) for cell in cells(discs)):
        return free
    value = database.get(encoded(own, discs, range(COLUMNS)))
    if value is None:
        value = database.get(encoded(own, discs, range(COLUMNS - 1, -1, -1)))
    if value is None:
        sys.exit(f"the database lacks the position {own:#x} of {discs:#x}: it is not that of twelve discs with distances")
    if value == 0:
        return 0
    # 100 - n for a win with the n-th disc from now, n - 100 for a loss.
    plies = 100 - abs(value)
    return (free - plies + 1) * (1 if value > 0 else -1)


if __name__ == "__main__":
    main()
