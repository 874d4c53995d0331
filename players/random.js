#!/usr/bin/env node
// A random player: any free cell, any piece left.
//
// Run it:  ./random.js  or  node random.js      (Debian package: nodejs)
// It reads requests `BOARD PIECE` and answers `CELL GIFT`; see ../protocol.md.

"use strict";

const fs = require("fs");
const readline = require("readline");

// Math.random cannot be seeded; this is the well-known generator mulberry32.
let state = process.env.REFEREE_SEED ? Number(process.env.REFEREE_SEED) : Date.now();
function random() {
  state = (state + 0x6d2b79f5) | 0;
  let t = Math.imul(state ^ (state >>> 15), 1 | state);
  t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
  return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32;
}

const choose = (items) => items[Math.floor(random() * items.length)];

function readPieces() {
  const path = process.env.REFEREE_PIECES;
  if (!path) return [..."ABCDEFGHIJKLMNOP"];
  return fs
    .readFileSync(path, "utf8")
    .split("\n")
    .slice(1) // without the header
    .map((row) => row.trim())
    .filter((row) => row !== "")
    .map((row) => [...row][row.startsWith('"') ? 1 : 0]); // a field may be quoted
}

const pieces = readPieces();

readline.createInterface({ input: process.stdin }).on("line", (line) => {
  const [text, hand] = line.split(" ");
  const board = [...text]; // by characters: some take two UTF-16 units
  const cells = [...board.keys()].filter((i) => board[i] === ".").map((i) => i + 1);
  const left = pieces.filter((piece) => !board.includes(piece) && piece !== hand);
  const cell = hand === "-" ? "-" : choose(cells);
  const gift = left.length > 0 ? choose(left) : "-";
  console.error(`info gifts ${left.length}`); // what it thinks, for its record
  console.log(`${cell} ${gift}`);
});
