#!/usr/bin/env node
// Tic-tac-toe as a game of its own: referee --game games/tic-tac-toe.js BOT1 BOT2
//
// A bot is sent its mark and the nine cells, row by row (`X X.O......`), and answers with a cell, 1 to 9.
"use strict";

const ABOUT = "Three in a row, column or diagonal win. Answer with a free cell, 1 to 9, row by row.";
const LINES = [
  ["row 1", [0, 1, 2]], ["row 2", [3, 4, 5]], ["row 3", [6, 7, 8]],
  ["column 1", [0, 3, 6]], ["column 2", [1, 4, 7]], ["column 3", [2, 5, 8]],
  ["diagonal 1", [0, 4, 8]], ["diagonal 2", [2, 4, 6]],
];

const isWon = (board) => ([, [a, b, c]]) => board[a] !== "." && board[a] === board[b] && board[b] === board[c];
const side = (board) => (9 - [...board].filter((cell) => cell === ".").length) % 2;

// The state is the board: whose turn it is follows from the number of marks.
function position(board) {
  const lines = LINES.filter(isWon(board));
  if (lines.length > 0) {
    const mark = board[lines[0][1][0]];
    return { state: board, over: { winner: "XO".indexOf(mark), lines: lines.map(([name]) => [name, mark]) } };
  }
  if (!board.includes(".")) return { state: board, over: { winner: null } };
  return { state: board, side: side(board), request: `${"XO"[side(board)]} ${board}` };
}

function play(board, answer) {
  if (!/^[1-9]$/.test(answer)) return { malformed: "expected a cell, 1 to 9" };
  const cell = Number(answer) - 1;
  if (board[cell] !== ".") return { illegal: `cell ${answer} is taken` };
  const mark = "XO"[side(board)];
  const after = board.slice(0, cell) + mark + board.slice(cell + 1);
  return { ...position(after), turn: answer, words: `puts ${mark} on ${answer}` };
}

function drawing(board) {
  const rows = [0, 3, 6].map((row) => [...board.slice(row, row + 3)].map((mark) => mark.replace(".", "")));
  const winning = LINES.filter(isWon(board)).flatMap(([, cells]) => cells);
  return { cells: rows, winning: winning.map((cell) => [Math.floor(cell / 3), cell % 3]) };
}

function answer(question) {
  const board = question.state ?? ".........";
  if (question.do === "about") {
    return { name: "tic-tac-toe", about: ABOUT, first_drawn: true, answers: true, drawing: true };
  }
  if (question.do === "start" && Object.keys(question.options).length > 0) return { error: "there are no options" };
  const count = (mark) => board.split(mark).length - 1;
  if (!/^[XO.]{9}$/.test(board) || ![0, 1].includes(count("X") - count("O"))) {
    return { error: "expected nine cells of X, O and ., with as many X as O, or one more" };
  }
  switch (question.do) {
    case "play": return play(board, question.answer);
    case "answers": return { answers: [...board].flatMap((mark, cell) => (mark === "." ? [String(cell + 1)] : [])) };
    case "drawing": return drawing(board);
    default: return position(board);
  }
}

const lines = require("readline").createInterface({ input: process.stdin });
lines.on("line", (line) => process.stdout.write(JSON.stringify(answer(JSON.parse(line))) + "\n"));
