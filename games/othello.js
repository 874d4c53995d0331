#!/usr/bin/env node
// Othello: referee --game games/othello.js BOT1 BOT2
//
// A bot is sent its mark and the 64 cells, row by row from the top left (`X ......`), and answers with a cell: a column, a to
// h, and a row, 1 to 8 from the top (`d3`). X begins. A side that cannot turn a disc over is not asked; when neither can, the
// game is over, and more discs win.
"use strict";

const ABOUT = "Answer with a cell, such as d3, where you turn over discs of the other mark. More discs win.";
const START = ".".repeat(27) + "OX" + ".".repeat(6) + "XO" + ".".repeat(27);
const ALL = [...Array(64).keys()];
const STEPS = [-1, 0, 1].flatMap((down) => [-1, 0, 1].map((right) => [down, right])).filter(([d, r]) => d || r);
const name = (cell) => "abcdefgh"[cell % 8] + (Math.floor(cell / 8) + 1);
const count = (board, mark) => board.split(mark).length - 1;

// The cells of the discs that a disc here turns over; none where it may not be put.
function turned(board, mark, cell) {
  if (board[cell] !== ".") return [];
  return STEPS.flatMap(([down, right]) => {
    const line = [];
    let row = Math.floor(cell / 8) + down;
    let column = (cell % 8) + right;
    const at = () => (row in [..."12345678"] && column in [..."12345678"] ? board[8 * row + column] : "");
    for (; at() && at() !== "." && at() !== mark; row += down, column += right) line.push(8 * row + column);
    return at() === mark ? line : [];
  });
}

const legal = (board, mark) => ALL.filter((cell) => turned(board, mark, cell).length > 0);

// The state is the board and the side to move: `... 0`. The other side moves on where this one cannot.
function position(board, side) {
  if (legal(board, "XO"[side]).length === 0 && legal(board, "XO"[1 - side]).length > 0) side = 1 - side;
  const state = `${board} ${side}`;
  if (legal(board, "XO"[side]).length > 0) return { state, side, request: `${"XO"[side]} ${board}` };
  const points = [count(board, "X"), count(board, "O")];
  return { state, over: { winner: points[0] === points[1] ? null : Number(points[1] > points[0]), points } };
}

function play(board, side, text) {
  const mark = "XO"[side];
  const cell = ALL.find((known) => name(known) === text);
  if (cell === undefined) return { malformed: "expected a cell, such as d3" };
  const cells = turned(board, mark, cell);
  if (cells.length === 0) {
    const expected = legal(board, mark).map(name).join(", ");
    return { illegal: `${mark} turns nothing over on ${text}; expected ${expected}` };
  }
  const after = [...board].map((other, at) => (at === cell || cells.includes(at) ? mark : other)).join("");
  return { ...position(after, 1 - side), turn: text, words: `puts ${mark} on ${text}, turns ${cells.length} over` };
}

function drawing(board) {
  const lines = [...Array(9).keys()].map((i) => `<path d="M${i} 0V8M0 ${i}H8" stroke="#135" stroke-width=".03"/>`);
  const disc = (mark, cell) => {
    const fill = mark === "X" ? "#111" : "#fff";
    return mark === "." ? "" : `<circle cx="${(cell % 8) + 0.5}" cy="${Math.floor(cell / 8) + 0.5}" r=".4" fill="${fill}"/>`;
  };
  const shapes = '<rect width="8" height="8" fill="#2f9273"/>' + lines.join("") + [...board].map(disc).join("");
  const svg = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="-.1 -.1 8.2 8.2">${shapes}</svg>`;
  const cells = [...Array(8).keys()].map((row) => [...board.slice(8 * row, 8 * row + 8)].map((mark) => mark.replace(".", "")));
  const text = [`X ${count(board, "X")}, O ${count(board, "O")}`];
  return { cells, columns: [..."abcdefgh"], rows: [..."12345678"], text, svg };
}

function answer(question) {
  if (question.do === "about") return { name: "othello", about: ABOUT, first_drawn: true, answers: true, drawing: true };
  if (question.do === "start") {
    return Object.keys(question.options).length > 0 ? { error: "there are no options" } : position(START, 0);
  }
  const [, board, side] = /^([XO.]{64}) ([01])$/.exec(question.state) ?? [];
  // A side that cannot move is not to move.
  if (board === undefined || position(board, Number(side)).state !== question.state) {
    return { error: "expected 64 cells of X, O and ., and the side to move, 0 or 1" };
  }
  switch (question.do) {
    case "play": return play(board, Number(side), question.answer);
    case "answers": return { answers: legal(board, "XO"[side]).map(name) };
    case "drawing": return drawing(board);
    default: return position(board, Number(side));
  }
}

const input = require("readline").createInterface({ input: process.stdin });
input.on("line", (line) => process.stdout.write(JSON.stringify(answer(JSON.parse(line))) + "\n"));
