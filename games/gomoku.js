#!/usr/bin/env node
// Gomoku on 15×15: referee --game games/gomoku.js BOT1 BOT2, or with --game-option opening=swap
//
// Five or more in a row, column or diagonal win. A bot is sent its mark and the 225 cells, row by row from the top left
// (`X ......`), and answers with a cell: a column, a to o, and a row, 1 to 15 from the top (`h8`). X begins.
//
// With opening=swap the side that begins puts down the first three stones, X, O and X; the other side then answers `swap` to
// play X, or puts down O. It is sent `X=?` or `O=?` for these stones, and `swap` with the mark for the choice.
"use strict";

const ABOUT = "Five or more in a row win. Answer with a free cell, such as h8: a column, a to o, and a row, 1 to 15 from the top.";
const SIZE = 15;
const CELLS = [...Array(SIZE * SIZE).keys()].map((cell) => "abcdefghijklmno"[cell % SIZE] + (Math.floor(cell / SIZE) + 1));
const STEPS = [[0, 1], [1, 0], [1, 1], [1, -1]];
const count = (board, mark) => board.split(mark).length - 1;
const toMove = (board) => (count(board, "X") === count(board, "O") ? "X" : "O");

// The first and the last cell of each line of five or more, and its mark.
function fives(board) {
  const found = [];
  for (let cell = 0; cell < board.length; cell++) {
    const mark = board[cell];
    if (mark === ".") continue;
    const [row, column] = [Math.floor(cell / SIZE), cell % SIZE];
    for (const [down, right] of STEPS) {
      const same = (steps) => {
        const [r, c] = [row + steps * down, column + steps * right];
        return r >= 0 && r < SIZE && c >= 0 && c < SIZE && board[r * SIZE + c] === mark;
      };
      if (same(-1)) continue;
      let length = 1;
      while (same(length)) length++;
      if (length >= 5) found.push([cell, cell + (length - 1) * (down * SIZE + right), mark]);
    }
  }
  return found;
}

// The state is the board, the side that plays X, and the opening: `none`, `swap` until the choice, then `done`.
function position(board, x, opening) {
  const state = `${board} ${x} ${opening}`;
  const lines = fives(board);
  if (lines.length > 0) {
    const marks = lines.map(([first, last, mark]) => [`${CELLS[first]} to ${CELLS[last]}`, mark]);
    return { state, over: { winner: lines[0][2] === "X" ? x : 1 - x, lines: marks } };
  }
  if (!board.includes(".")) return { state, over: { winner: null } };
  const mark = toMove(board);
  if (opening === "swap" && SIZE * SIZE - count(board, ".") < 3) return { state, side: 0, request: `${mark}=? ${board}` };
  const choice = opening === "swap" ? "swap" : "";
  return { state, side: mark === "X" ? x : 1 - x, request: `${choice}${mark} ${board}` };
}

// The board, the side that plays X, and the opening; null of a text that is no state.
function read(state) {
  const [, board, x, opening] = /^([XO.]{225}) ([01]) (none|swap|done)$/.exec(state) ?? [];
  if (board === undefined || ![0, 1].includes(count(board, "X") - count(board, "O"))) return null;
  const stones = SIZE * SIZE - count(board, ".");
  const isOpening = opening === "done" ? stones >= 3 : x === "0" && (opening === "none" || stones <= 3);
  // Only the mark that moved last can have a line.
  const fits = isOpening && fives(board).every(([, , mark]) => mark !== toMove(board));
  return fits ? [board, Number(x), opening] : null;
}

function drawing(board) {
  const line = (i) => `<path d="M${i} 1V15M1 ${i}H15" stroke="currentColor" stroke-width=".03"/>`;
  const stone = (mark, cell) => {
    const at = `cx="${(cell % SIZE) + 1}" cy="${Math.floor(cell / SIZE) + 1}" r=".42"`;
    return mark === "." ? "" : `<circle ${at} fill="${mark === "X" ? "#222" : "#fff"}" stroke="#222" stroke-width=".05"/>`;
  };
  const numbers = [...Array(SIZE).keys()];
  const shapes = numbers.map((i) => line(i + 1)).join("") + [...board].map(stone).join("");
  const svg = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0.3 0.3 15.4 15.4">${shapes}</svg>`;
  const cells = numbers.map((row) => [...board.slice(SIZE * row, SIZE * (row + 1))].map((mark) => mark.replace(".", "")));
  const place = (cell) => [Math.floor(cell / SIZE), cell % SIZE];
  const winning = fives(board).flatMap(([first, last]) => [place(first), place(last)]);
  return { cells, columns: [..."abcdefghijklmno"], rows: numbers.map((row) => String(row + 1)), winning, svg };
}

function play(board, x, opening, text) {
  const mark = toMove(board);
  const isChoice = opening === "swap" && SIZE * SIZE - count(board, ".") === 3;
  if (text === "swap" && isChoice) return { ...position(board, 1, "done"), turn: text, words: "swaps, and plays X" };
  const cell = CELLS.indexOf(text);
  if (cell < 0) return { malformed: `expected a cell, such as h8${isChoice ? ", or swap" : ""}` };
  if (board[cell] !== ".") return { illegal: `there is a stone on ${text} already` };
  const after = board.slice(0, cell) + mark + board.slice(cell + 1);
  return { ...position(after, x, isChoice ? "done" : opening), turn: text, words: `puts ${mark} on ${text}` };
}

function answer(question) {
  if (question.do === "about") return { name: "gomoku", about: ABOUT, first_drawn: true, answers: true, drawing: true };
  if (question.do === "start") {
    const { opening = "none", ...others } = question.options;
    if (Object.keys(others).length > 0 || !["none", "swap"].includes(opening)) {
      return { error: "expected opening=none or opening=swap, and no other option" };
    }
    return position(".".repeat(SIZE * SIZE), 0, opening);
  }
  const game = read(question.state);
  if (game === null) {
    return { error: "expected a state of gomoku: 225 cells of X, O and ., the side that plays X, and the opening" };
  }
  switch (question.do) {
    case "play": return play(...game, question.answer);
    case "drawing": return drawing(game[0]);
    case "answers": {
      const free = CELLS.filter((_, cell) => game[0][cell] === ".");
      return { answers: game[2] === "swap" && free.length === SIZE * SIZE - 3 ? [...free, "swap"] : free };
    }
    default: return position(...game);
  }
}

const input = require("readline").createInterface({ input: process.stdin });
input.on("line", (line) => process.stdout.write(JSON.stringify(answer(JSON.parse(line))) + "\n"));
