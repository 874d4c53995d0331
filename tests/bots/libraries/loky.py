#!/usr/bin/env python3
"""joblib's own processes, loky: every answer comes from them."""

import sys

from joblib import Parallel, delayed


def answer(line):
    board, piece = line.split()
    left = [p for p in "ABCDEFGHIJKLMNOP" if p not in board + piece]
    cell = board.index(".") + 1 if piece != "-" else "-"
    return cell, left[0] if left else "-"


if __name__ == "__main__":
    parallel = Parallel(n_jobs=2, backend="loky")
    for line in sys.stdin:
        first, second = parallel(delayed(answer)(line) for _ in range(2))
        assert first == second
        print(*first, flush=True)
