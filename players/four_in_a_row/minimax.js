#!/usr/bin/env node
// A player of Four In A Row that searches: alpha-beta with iterative deepening.
//
// It looks one move ahead, then two, then three, until 40 % of the time for a move is used
// (2 seconds at most). As the clock decides how deep it looks, a seed does not make it play
// the same game twice.
//
// Run it:  ./minimax.js  or  node minimax.js      (Debian package: nodejs)
// It reads requests `MARK BOARD`, such as `@` and 42 characters, row by row from the top left
// with `.` for an empty cell, and answers with a column, 1 to 7; see ../../protocol.md.

"use strict";

const readline = require("readline");

const COLUMNS = 7;
const ROWS = 6;
const CELLS = COLUMNS * ROWS;
const WIN = 1_000_000;
const TIME = Math.min(400 * Number(process.env.REFEREE_MOVE_TIME || 10), 2000); // milliseconds

// Every four cells in a row, and for each cell those that it is in.
const LINES = [];
for (let row = 0; row < ROWS; row++) {
  for (let column = 0; column < COLUMNS; column++) {
    for (const [down, right] of [[0, 1], [1, 0], [1, 1], [1, -1]]) {
      const endRow = row + 3 * down;
      const endColumn = column + 3 * right;
      if (endRow < ROWS && endColumn >= 0 && endColumn < COLUMNS) {
        LINES.push([0, 1, 2, 3].map((i) => (row + i * down) * COLUMNS + column + i * right));
      }
    }
  }
}
const LINES_OF = Array.from({ length: CELLS }, (_, cell) =>
  LINES.filter((line) => line.includes(cell)));

// Math.random cannot be seeded; this is the well-known generator mulberry32.
let state = process.env.REFEREE_SEED ? Number(process.env.REFEREE_SEED) : Date.now();
function random() {
  state = (state + 0x6d2b79f5) | 0;
  let t = Math.imul(state ^ (state >>> 15), 1 | state);
  t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
  return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
}

// A board is an array of 1 (the player to move at the start), -1 (the other) and 0 (empty).

// The lowest free cell of a column, or -1 when it is full.
function landing(board, column) {
  for (let cell = CELLS - COLUMNS + column; cell >= 0; cell -= COLUMNS) {
    if (board[cell] === 0) return cell;
  }
  return -1;
}

const makesFour = (board, cell, player) =>
  LINES_OF[cell].some((line) => line.every((c) => c === cell || board[c] === player));

// How good an undecided board looks for a player: lines that only one player has a part in
// count for that player, the more the fuller they are.
function look(board, player) {
  let score = 0;
  for (const [a, b, c, d] of LINES) {
    const values = [board[a], board[b], board[c], board[d]];
    const own = values.filter((value) => value === player).length;
    const free = values.filter((value) => value === 0).length;
    if (own + free === 4) score += own * own;
    if (own === 0) score -= (4 - free) ** 2;
  }
  return score;
}

class OutOfTime extends Error {}

// What the board is worth for the player to move. A win is worth more the sooner it comes.
function value(board, player, depth, alpha, beta, columns, deadline) {
  if (depth === 0) return look(board, player);
  if (Date.now() > deadline) throw new OutOfTime();
  let best = -Infinity;
  for (const column of columns) {
    const cell = landing(board, column);
    if (cell < 0) continue;
    let score;
    if (makesFour(board, cell, player)) {
      score = WIN + depth;
    } else {
      board[cell] = player;
      score = -value(board, -player, depth - 1, -beta, -alpha, columns, deadline);
      board[cell] = 0;
    }
    best = Math.max(best, score);
    alpha = Math.max(alpha, score);
    if (alpha >= beta) break;
  }
  return best === -Infinity ? 0 : best; // no column has room: a draw
}

// The best column, from 0.
function choose(start) {
  const deadline = Date.now() + TIME;
  // The middle first, as good moves soon shorten the search; either side first, by chance.
  const side = random() < 0.5 ? 1 : -1;
  const columns = [0, side, -side, 2 * side, -2 * side, 3 * side, -3 * side].map((c) => c + 3);
  const open = columns.filter((column) => landing(start, column) >= 0);
  const free = start.filter((cell) => cell === 0).length;

  let choice = open[0];
  try {
    for (let depth = 1; depth <= free; depth++) {
      let best = -Infinity;
      let bestColumn = choice;
      // Begin with the choice so far.
      for (const column of new Set([choice, ...open])) {
        const board = start.slice(); // a copy, as running out of time leaves it changed
        const cell = landing(board, column);
        let score = WIN + depth;
        if (!makesFour(board, cell, 1)) {
          board[cell] = 1;
          score = -value(board, -1, depth - 1, -Infinity, -best, columns, deadline);
        }
        if (score > best) [best, bestColumn] = [score, column];
      }
      choice = bestColumn;
      const score = Math.max(-1, Math.min(1, best / WIN));
      console.error(`info depth ${depth} score ${score}`); // what it thinks, for its record
      if (Math.abs(best) >= WIN) break; // the end is in sight
    }
  } catch (error) {
    if (!(error instanceof OutOfTime)) throw error;
  }
  return choice;
}

readline.createInterface({ input: process.stdin }).on("line", (line) => {
  const [mark, text] = line.split(" ");
  const board = [...text].map((c) => (c === "." ? 0 : c === mark ? 1 : -1));
  console.log(String(choose(board) + 1));
});
