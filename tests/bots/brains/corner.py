#!/usr/bin/env python3
"""A brain that speaks the protocol of Gomocup, and takes the first free cell. It knows TURN and BOARD."""
import sys

size, board = 0, set()


def place():
    cell = next((x, y) for y in range(size) for x in range(size) if (x, y) not in board)
    board.add(cell)
    print(*cell, sep=",", flush=True)


for line in sys.stdin:
    words = line.split()
    if words[0] == "START":
        size, board = int(words[1]), set()
        print("OK", flush=True)
    elif words[0] == "RESTART":
        board = set()
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
        board = set()
        for row in iter(sys.stdin.readline, "DONE\n"):
            board.add(tuple(map(int, row.split(",")[:2])))
        print("MESSAGE", len(board), "stones", flush=True)
        place()
    elif words[0] == "ABOUT":
        print('name="corner"', flush=True)
    elif words[0] == "END":
        break
