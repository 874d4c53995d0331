"""What the trainers share: a network in numpy that learns, and the bot that plays by it, in plain Python.

A network sees `Position.observation` of Four In A Row, 84 numbers, and returns 7 numbers for the columns and the value of
the position for the side to move, from -1 to 1.
"""

import os

# Its matrices are small: threads would cost more than they save. numpy reads this when it is imported.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np

SEEN, COLUMNS = 84, 7


class Network:
    """Layers with tanh between them; Adam moves the weights."""

    def __init__(self, hidden, seed, rate=0.002):
        draw = np.random.default_rng(seed)
        sizes = [SEEN, *hidden, COLUMNS + 1]
        self.weights = [draw.normal(0, 1 / np.sqrt(a), (a, b)) for a, b in zip(sizes, sizes[1:])]
        self.weights[-1] *= 0.1  # at first all columns are nearly equal
        self.biases = [np.zeros(size) for size in sizes[1:]]
        self.rate, self.steps = rate, 0
        self.first, self.second = ([np.zeros_like(p) for p in self.parameters()] for _ in range(2))

    def parameters(self):
        return [*self.weights, *self.biases]

    def forward(self, seen):
        """The outputs of all layers for an array of observations."""
        outputs = [np.asarray(seen, float).reshape(len(seen), SEEN)]
        for layer, (weights, biases) in enumerate(zip(self.weights, self.biases)):
            sums = outputs[-1] @ weights + biases
            outputs.append(sums if layer == len(self.weights) - 1 else np.tanh(sums))
        return outputs

    def evaluate(self, seen, masks):
        """The probability of each column, 0 for one that is full, and the values."""
        last = self.forward(seen)[-1]
        return softmax(last[:, :COLUMNS], masks), np.tanh(last[:, COLUMNS])

    def learn(self, seen, masks, direction):
        """One step. `direction(probabilities, values)` returns the gradients of the loss for the seven numbers before the
        softmax, and for the values."""
        outputs = self.forward(seen)
        values = np.tanh(outputs[-1][:, COLUMNS])
        of_columns, of_values = direction(softmax(outputs[-1][:, :COLUMNS], masks), values)
        back = np.column_stack([of_columns, of_values * (1 - values**2)]) / len(seen)
        weights, biases = [], []
        for layer in reversed(range(len(self.weights))):
            weights.insert(0, outputs[layer].T @ back)
            biases.insert(0, back.sum(0))
            back = (back @ self.weights[layer].T) * (1 - outputs[layer] ** 2)
        self.steps += 1
        for parameter, slope, m, v in zip(self.parameters(), [*weights, *biases], self.first, self.second):
            m += 0.1 * (slope - m)
            v += 0.001 * (slope**2 - v)
            step = m / (1 - 0.9**self.steps) / (np.sqrt(v / (1 - 0.999**self.steps)) + 1e-8)
            parameter -= self.rate * step

    def layers(self):
        return list(zip(self.weights, self.biases))


def softmax(numbers, masks):
    numbers = np.where(masks, numbers, -np.inf)
    powers = np.exp(numbers - numbers.max(1, keepdims=True))
    return powers / powers.sum(1, keepdims=True)


BOT = '''#!/usr/bin/env python3
"""A player of Four In A Row by a network; {trainer} wrote it."""

import math
import sys

# For each layer: a row for each input, and what is added.
LAYERS = {layers}
SEARCHES = {searches}


def network(board, mark):
    """The numbers of the columns, and what follows them."""
    inputs = []
    for cell in board:
        inputs += [cell == mark, cell not in (mark, ".")]
    for layer, (rows, added) in enumerate(LAYERS):
        outputs = list(added)
        for share, row in zip(inputs, rows):
            if share:
                outputs = [output + share * weight for output, weight in zip(outputs, row)]
        inputs = outputs if layer == len(LAYERS) - 1 else [math.tanh(output) for output in outputs]
    return inputs


def columns(board):
    return [column for column in range(7) if board[column] == "."]


def drop(board, column, mark):
    """The board after a disc, and whether that makes four."""
    row = max(row for row in range(6) if board[7 * row + column] == ".")
    board = board[:7 * row + column] + mark + board[7 * row + column + 1:]
    for down, right in ((0, 1), (1, 0), (1, 1), (1, -1)):
        count = 1
        for way in (1, -1):
            r, c = row + way * down, column + way * right
            while 0 <= r < 6 and 0 <= c < 7 and board[7 * r + c] == mark:
                count, r, c = count + 1, r + way * down, c + way * right
        if count >= 4:
            return board, True
    return board, False


class Node:
    """A position in the tree; its value is for the side to move."""

    def __init__(self, board, mark, is_lost):
        self.board, self.mark, self.children = board, mark, {{}}
        self.visits, self.total = 0, 0.0
        self.value = -1.0 if is_lost else 0.0 if "." not in board else None

    def expand(self):
        numbers = network(self.board, self.mark)
        free = columns(self.board)
        most = max(numbers[column] for column in free)
        powers = {{column: math.exp(numbers[column] - most) for column in free}}
        self.shares = {{column: power / sum(powers.values()) for column, power in powers.items()}}
        return math.tanh(numbers[7])

    def search(self):
        """One more visit; its value."""
        if self.value is not None:
            value = self.value
        elif not self.visits:
            value = self.expand()
        else:
            value = -self.child(max(self.shares, key=self.urge)).search()
        self.visits += 1
        self.total += value
        return value

    def urge(self, column):
        child = self.children.get(column)
        visits, total = (child.visits, child.total) if child else (0, 0.0)
        return -total / max(visits, 1) + 1.5 * self.shares[column] * math.sqrt(self.visits) / (1 + visits)

    def child(self, column):
        if column not in self.children:
            board, wins = drop(self.board, column, self.mark)
            self.children[column] = Node(board, "O" if self.mark == "@" else "@", wins)
        return self.children[column]


def choose(board, mark):
    if not SEARCHES:
        numbers = network(board, mark)
        return max(columns(board), key=lambda column: numbers[column])
    root = Node(board, mark, False)
    for _ in range(SEARCHES):
        root.search()
    return max(root.children, key=lambda column: root.children[column].visits)


for line in sys.stdin:
    mark, board = line.split()
    print(choose(board, mark) + 1, flush=True)
'''


def write_bot(path, layers, trainer, searches=0):
    """A bot that needs nothing but Python: it plays the column with the largest number, or searches so often before."""
    rounded = [([[round(float(w), 4) for w in row] for row in weights], [round(float(b), 4) for b in biases]) for weights, biases in layers]
    with open(path, "w", encoding="utf-8") as file:
        file.write(BOT.format(layers=rounded, searches=searches, trainer=trainer))
    os.chmod(path, 0o755)
