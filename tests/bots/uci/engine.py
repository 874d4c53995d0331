#!/usr/bin/env python3
"""An engine that speaks UCI, for games/tic-tac-toe.py. It refuses what it was not told in order.

Called middle.py it takes the middle, or the first free cell; by any other name the last one.
"""
import os
import sys

name = os.path.basename(sys.argv[0]).removesuffix(".py")
order = [4, *range(9)] if name == "middle" else range(8, -1, -1)
told, cells = [], None
for line in sys.stdin:
    words = line.split()
    if words[0] == "uci":
        print(f"id name {name}\noption name Hash type spin default 1 min 1 max 2\nuciok", flush=True)
    elif words[0] == "isready" and told == ["uci"]:
        print("readyok", flush=True)
    elif words[0] == "position" and words[1] == "fen" and "ucinewgame" in told:
        cells = words[3]
    elif words[:2] == ["go", "movetime"] and int(words[2]) > 0 and cells:
        print("info depth 1 score cp 3 pv 5", flush=True)
        free = [cell for cell in order if cells[cell] == "."]
        print(f"bestmove {free[0] + 1} ponder 1", flush=True)
        cells = None
    elif words[0] == "quit":
        break
    elif words[0] != "ucinewgame":
        sys.exit(f"told {line!r} after {told}")
    told.append(words[0])
