#!/usr/bin/env python3
"""Blind Pig: hidden information, chance from the seed, and several turns of one side in a row.

    referee --game games/pig.py BOT1 BOT2

In its turn a side throws a die as often as it likes. A 1 ends the turn, and what it has thrown in it is lost; `hold` ends
the turn and keeps it. Whoever has 50 points or more at the end of a turn wins, 10 turns each at most; then the points
decide. A bot is told its own points and what it has thrown in this turn (`turn 3 points 21 thrown 4 6`), but not the
opponent's points, and answers `roll` or `hold`.
"""
import hashlib
import json
import sys

ABOUT = "Answer roll or hold. A 1 loses what you have thrown in this turn. 50 points win; you do not see the opponent's."
GOAL, TURNS = 50, 10


def die(seed, throw):
    """The die of this throw: chance follows from the seed, so that a game can be replayed."""
    return hashlib.sha256(f"{seed} {throw}".encode()).digest()[0] % 6 + 1


def position(game):
    """The state is the game as JSON: seed, throws so far, side, turn, both sides' points, the throws of this turn."""
    state = json.dumps(game, separators=(",", ":"))
    points, side = game["points"], game["side"]
    if max(points) >= GOAL or game["turn"] > TURNS:
        winner = None if points[0] == points[1] else int(points[1] > points[0])
        return {"state": state, "over": {"winner": winner, "points": points}}
    thrown = " ".join(map(str, game["thrown"])) or "-"
    return {"state": state, "side": side, "request": f"turn {game['turn']} points {points[side]} thrown {thrown}"}


def read(state):
    """The game of a state; None of a text that is none."""
    try:
        game = json.loads(state)
        numbers = [game[name] for name in ("seed", "throws", "side", "turn")] + game["points"] + game["thrown"]
        known = list(game) == ["seed", "throws", "side", "turn", "points", "thrown"] and len(game["points"]) == 2
    except (ValueError, KeyError, TypeError):
        return None
    if not known or not all(type(number) is int and number in range(2**31) for number in numbers):
        return None
    known = game["side"] in (0, 1) and game["turn"] in range(1, TURNS + 2) and all(eyes in range(2, 7) for eyes in game["thrown"])
    return game if known and position(game)["state"] == state else None


def next_side(game):
    game["thrown"] = []
    game["turn"] += game["side"]
    game["side"] = 1 - game["side"]


def answer(question):
    kind = question["do"]
    if kind == "about":
        asked = {"first_drawn": True, "chance": True, "answers": True, "drawing": True, "hidden": True}
        return {"name": "blind-pig", "about": ABOUT, **asked}
    if kind == "start":
        if question["options"]:
            return {"error": "there are no options"}
        return position({"seed": question["seed"], "throws": 0, "side": 0, "turn": 1, "points": [0, 0], "thrown": []})
    game = read(question["state"])
    if game is None:
        return {"error": "expected a state of blind-pig"}
    if kind == "position":
        return position(game)
    if kind == "answers":
        return {"answers": ["roll", "hold"]}
    if kind == "drawing":
        # All of it, or what may be shown to a person who plays one of the sides.
        viewer = question.get("side")
        points = [str(points) if viewer in (None, side) else "?" for side, points in enumerate(game["points"])]
        thrown = ", ".join(map(str, game["thrown"])) or "nothing"
        if viewer not in (None, game["side"]):
            thrown = "?"
        return {"text": [f"first {points[0]}, second {points[1]}", f"turn {game['turn']}, thrown {thrown}"]}
    text = question["answer"]
    if text not in ("roll", "hold"):
        return {"malformed": "expected roll or hold"}
    if text == "hold":
        words = "holds"
        game["points"][game["side"]] += sum(game["thrown"])
        next_side(game)
    else:
        eyes = die(game["seed"], game["throws"])
        game["throws"] += 1
        words = "throws a 1" if eyes == 1 else "throws"
        if eyes == 1:
            next_side(game)
        else:
            game["thrown"].append(eyes)
    return {**position(game), "turn": text, "words": words}


for line in sys.stdin:
    print(json.dumps(answer(json.loads(line))), flush=True)
