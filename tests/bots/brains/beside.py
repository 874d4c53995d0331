#!/usr/bin/env python3
"""A brain that speaks the protocol of Gomocup, and takes the free cell that is next to most of its own stones. It knows TURN and BOARD."""
import sys

size, board, own = 0, set(), set()


def place():
    free = [(x, y) for y in range(size) for x in range(size) if (x, y) not in board]
    cell = max(free, key=lambda at: sum((at[0] + step, at[1]) in own for step in (-4, -3, -2, -1, 1, 2, 3, 4)))
    board.add(cell)
    own.add(cell)
    print(*cell, sep=",", flush=True)


for line in sys.stdin:
    words = line.split()
    if words[0] == "START":
        size, board, own = int(words[1]), set(), set()
        print("OK", flush=True)
    elif words[0] == "RESTART":
        board, own = set(), set()
        print("OK", flush=True)
    elif words[0] == "BEGIN":
        place()
    elif words[0] == "TURN":
        stone = tuple(map(int, words[1].split(",")))
        if stone in board:
            print("ERROR there is a stone already", flush=True)
            continue
        board.add(stone)
        place()
    elif words[0] == "BOARD":
        board, own = set(), set()
        for row in iter(sys.stdin.readline, "DONE\n"):
            x, y, owner = map(int, row.split(","))
            board.add((x, y))
            if owner == 1:
                own.add((x, y))
        print("MESSAGE", len(board), "stones", flush=True)
        place()
    elif words[0] == "ABOUT":
        print('name="beside"', flush=True)
    elif words[0] == "END":
        break
