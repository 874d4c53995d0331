#!/usr/bin/env python3
"""Nim as a game of its own: referee --game games/nim.py --game-option heaps=3,4,5 BOT1 BOT2

A bot is sent the heaps (`3 4 5`) and answers with a heap, 1 for the first, and how many it takes from it (`2 3`).
Whoever takes the last one wins; with --game-option last=loses, loses.
"""
import json
import sys

ABOUT = "Answer with a heap and how many you take from it, such as 2 3. Whoever takes the last one wins."


def start(options):
    unknown = sorted(set(options) - {"heaps", "last"})
    if unknown:
        return {"error": f"there is no option {unknown[0]}; expected heaps=3,4,5 or last=loses"}
    last = options.get("last", "wins")
    if last not in ("wins", "loses"):
        return {"error": "expected last=wins or last=loses"}
    try:
        heaps = [int(heap) for heap in options.get("heaps", "3,4,5").split(",")]
    except ValueError:
        heaps = []
    if not 1 <= len(heaps) <= 20 or not all(1 <= heap <= 99 for heap in heaps):
        return {"error": "expected heaps=3,4,5: up to 20 heaps of 1 to 99"}
    return position(heaps, 0, last)


def position(heaps, side, last):
    """The state is the heaps, whose turn it is, and who wins with the last one: `3,4,5 0 wins`."""
    state = f"{','.join(map(str, heaps))} {side} {last}"
    if not any(heaps):
        # The other side has taken the last one.
        return {"state": state, "over": {"winner": 1 - side if last == "wins" else side}}
    return {"state": state, "side": side, "request": " ".join(map(str, heaps))}


def svg(heaps):
    """A row of sticks for each heap, for the page."""
    sticks = "".join(f'<rect x="{16 * i + 34}" y="{40 * row + 8}" width="8" height="28" rx="3" fill="#b5823f"/>'
                     for row, heap in enumerate(heaps) for i in range(heap))
    names = "".join(f'<text x="8" y="{40 * row + 28}" font-size="18" fill="gray">{row + 1}</text>' for row in range(len(heaps)))
    return f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 400 {40 * len(heaps)}">{names}{sticks}</svg>'


def answer(question):
    kind = question["do"]
    if kind == "about":
        return {"name": "nim", "about": ABOUT, "first_drawn": True, "answers": True, "drawing": True}
    if kind == "start":
        return start(question["options"])
    try:
        heaps, side, last = question["state"].split(" ")
        heaps, side = [int(heap) for heap in heaps.split(",")], int(side)
    except ValueError:
        heaps, side, last = [], 0, ""
    known = len(heaps) in range(1, 21) and all(heap in range(100) for heap in heaps) and side in (0, 1)
    # Written otherwise, it is not the same state.
    if not known or last not in ("wins", "loses") or position(heaps, side, last)["state"] != question["state"]:
        return {"error": "expected a state such as `3,4,5 0 wins`"}
    if kind == "position":
        return position(heaps, side, last)
    if kind == "answers":
        return {"answers": [f"{i} {n}" for i, heap in enumerate(heaps, 1) for n in range(1, heap + 1)]}
    if kind == "drawing":
        return {"text": [f"{i}: {'|' * heap} {heap}" for i, heap in enumerate(heaps, 1)], "svg": svg(heaps)}
    words = question["answer"].split()
    if len(words) != 2 or not all(word.isascii() and word.isdigit() and len(word) < 4 for word in words):
        return {"malformed": "expected a heap and a number, such as `2 3`"}
    heap, number = map(int, words)
    if not 1 <= heap <= len(heaps):
        return {"illegal": f"there is no heap {heap}; the heaps are 1 to {len(heaps)}"}
    if not 1 <= number <= heaps[heap - 1]:
        return {"illegal": f"heap {heap} has {heaps[heap - 1]}; expected 1 or more, and not more than that"}
    heaps[heap - 1] -= number
    turn = {"turn": f"{heap} {number}", "words": f"takes {number} from heap {heap}"}
    return {**position(heaps, 1 - side, last), **turn}


for line in sys.stdin:
    print(json.dumps(answer(json.loads(line))), flush=True)
