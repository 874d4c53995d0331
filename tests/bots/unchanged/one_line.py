"""A bot in the form of CodinGame's: one line in, one line out, what it thinks on standard error. It plays Four In A Row."""
import sys

while True:
    mark, board = input().split()
    columns = [column for column in range(7) if board[column] == "."]
    print("free:", columns, file=sys.stderr)
    print(columns[-1] + 1, flush=True)
