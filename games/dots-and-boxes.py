#!/usr/bin/env python3
"""Dots and Boxes: referee --game games/dots-and-boxes.py BOT1 BOT2, or with --game-option size=4

Who draws the fourth side of a box has it, and draws again; more boxes win. Lines are numbered row by row from the top
left, as one reads: first the lines above the boxes of a row, then those beside them. A bot is sent the size, the boxes that
it and the opponent have, and a character for each line, `.` or `#` (`3 0 0 ........................`), and answers with
the number of a line, from 1.
"""
import json
import sys

ABOUT = "Answer with the number of a line that is not drawn. The fourth side of a box wins it, and you draw again."


def sides(size):
    """The four lines of each box, from 0 on: above, left, right and below."""
    wide = 2 * size + 1
    return [(wide * r + c, wide * r + size + c, wide * r + size + c + 1, wide * (r + 1) + c) for r in range(size) for c in range(size)]


def position(size, lines, boxes, side):
    """The state: size, lines, whose each box is (`.`, `0` or `1`), and the side to move: `2 #........... .... 0`."""
    state = f"{size} {lines} {boxes} {side}"
    points = [boxes.count("0"), boxes.count("1")]
    if "." not in lines:
        winner = None if points[0] == points[1] else int(points[1] > points[0])
        return {"state": state, "over": {"winner": winner, "points": points}}
    return {"state": state, "side": side, "request": f"{size} {points[side]} {points[1 - side]} {lines}"}


def read(state):
    """Size, lines, boxes and side; None of a text that is no state."""
    words = state.split(" ")
    if len(words) != 4 or words[0] not in ("1", "2", "3", "4", "5", "6") or words[3] not in ("0", "1"):
        return None
    size, (_, lines, boxes, side) = int(words[0]), words
    if len(lines) != 2 * size * (size + 1) or set(lines) - set(".#") or len(boxes) != size * size or set(boxes) - set(".01"):
        return None
    full = all((boxes[box] != ".") == all(lines[line] == "#" for line in four) for box, four in enumerate(sides(size)))
    return (size, lines, boxes, int(side)) if full else None


def drawing(size, lines, boxes):
    shapes, wide = "", 2 * size + 1
    for box, owner in enumerate(boxes):
        if owner != ".":
            fill = "#2c5fb4" if owner == "0" else "#e0603a"
            shapes += f'<rect x="{box % size}" y="{box // size}" width="1" height="1" fill="{fill}" fill-opacity=".5"/>'
    for number, drawn in enumerate(lines):
        row, place = divmod(number, wide)
        path = f"M{place} {row}h1" if place < size else f"M{place - size} {row}v1"
        width, opacity = (".08", "1") if drawn == "#" else (".02", ".4")
        shapes += f'<path d="{path}" stroke="currentColor" stroke-width="{width}" stroke-opacity="{opacity}"/>'
    svg = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="-.1 -.1 {size + .2} {size + .2}">{shapes}</svg>'
    text = []
    for row in range(size + 1):
        text.append("+" + "+".join("--" if drawn == "#" else "  " for drawn in lines[wide * row:wide * row + size]) + "+")
        if row < size:
            beside = lines[wide * row + size:wide * (row + 1)]
            inside = [*(boxes[size * row + column].replace(".", " ") for column in range(size)), ""]
            text.append("".join(("|" if drawn == "#" else " ") + (f"{owner} " if owner else "") for drawn, owner in zip(beside, inside)))
    return {"text": [line.rstrip() for line in text], "svg": svg}


def play(size, lines, boxes, side, text):
    if not (text.isascii() and text.isdigit() and len(text) < 3):
        return {"malformed": f"expected the number of a line, 1 to {len(lines)}"}
    number = int(text)
    if not 1 <= number <= len(lines):
        return {"illegal": f"there is no line {number}; the lines are 1 to {len(lines)}"}
    if lines[number - 1] == "#":
        return {"illegal": f"line {number} is drawn already"}
    lines = lines[:number - 1] + "#" + lines[number:]
    won = [box for box, four in enumerate(sides(size)) if number - 1 in four and all(lines[line] == "#" for line in four)]
    boxes = "".join(str(side) if box in won else owner for box, owner in enumerate(boxes))
    words = f"draws line {number}" + ("" if not won else f", and has {len(won)} more")
    return {**position(size, lines, boxes, side if won else 1 - side), "turn": str(number), "words": words}


def answer(question):
    kind = question["do"]
    if kind == "about":
        return {"name": "dots-and-boxes", "about": ABOUT, "first_drawn": True, "answers": True, "drawing": True}
    if kind == "start":
        size = question["options"].pop("size", "3")
        if question["options"] or size not in ("1", "2", "3", "4", "5", "6"):
            return {"error": "expected size=3, from 1 to 6, and no other option"}
        size = int(size)
        return position(size, "." * (2 * size * (size + 1)), "." * size * size, 0)
    game = read(question["state"])
    if game is None:
        return {"error": "expected a state of dots-and-boxes: size, lines, boxes and side, such as `1 .... . 0`"}
    if kind == "position":
        return position(*game)
    if kind == "answers":
        return {"answers": [str(number) for number, drawn in enumerate(game[1], 1) if drawn == "."]}
    if kind == "drawing":
        return drawing(*game[:3])
    return play(*game, question["answer"])


for line in sys.stdin:
    print(json.dumps(answer(json.loads(line))), flush=True)
