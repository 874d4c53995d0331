#!/usr/bin/env node
// Reads a question a line, and prints the answer of strategy.js.
const readline = require("node:readline");
const { choose } = require("./strategy.js");

const PIECES = [..."ABCDEFGHIJKLMNOP"];

readline.createInterface({ input: process.stdin }).on("line", (line) => {
  const [board, piece] = line.split(" ");
  const free = [...board].map((symbol, index) => (symbol === "." ? String(index + 1) : ""));
  const cells = piece === "-" ? ["-"] : free.filter((cell) => cell !== "");
  const left = PIECES.filter((symbol) => !line.includes(symbol));
  const [cell, gift] = choose(board, piece, cells, left.length ? left : ["-"]);
  console.log(`${cell} ${gift}`);
});
