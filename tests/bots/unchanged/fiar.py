"""A player in the form of fiar.py's: a loop over lines of a disc and a board, a column for each. It plays Four In A Row."""
import sys


def choose(disc, board):
    heights = [sum(board[7 * row + column] != "." for row in range(6)) for column in range(7)]
    return min((height, column) for column, height in enumerate(heights) if height < 6)[1]


for line in sys.stdin:
    disc, board = line.split()
    sys.stdout.write(str(choose(disc, board) + 1) + "\n")
    sys.stdout.flush()
