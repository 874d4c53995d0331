#!/usr/bin/env node
// Dots and Boxes: referee --game games/dots-and-boxes.js BOT1 BOT2, or with --game-option size=4
//
// Who draws the fourth side of a box has it, and draws again; more boxes win. Lines are numbered row by row from the top
// left, as one reads: first the lines above the boxes of a row, then those beside them. A bot is sent the size, the boxes that
// it and the opponent have, and a character for each line, `.` or `#` (`3 0 0 ........................`), and answers with
// the number of a line, from 1.
"use strict";

const ABOUT = "Answer with the number of a line that is not drawn. The fourth side of a box wins it, and you draw again.";
const count = (text, symbol) => text.split(symbol).length - 1;

// The four lines of each box, from 0 on: above, left, right and below.
function sides(size) {
  const wide = 2 * size + 1;
  return [...Array(size * size).keys()].map((box) => {
    const above = wide * Math.floor(box / size) + (box % size);
    return [above, above + size, above + size + 1, above + wide];
  });
}

// The state: size, lines, whose each box is (`.`, `0` or `1`), and the side to move: `2 #........... .... 0`.
function position(size, lines, boxes, side) {
  const state = `${size} ${lines} ${boxes} ${side}`;
  const points = [count(boxes, "0"), count(boxes, "1")];
  if (lines.includes(".")) return { state, side, request: `${size} ${points[side]} ${points[1 - side]} ${lines}` };
  return { state, over: { winner: points[0] === points[1] ? null : Number(points[1] > points[0]), points } };
}

// Size, lines, boxes and side; null of a text that is no state.
function read(state) {
  const [, size, lines, boxes, side] = /^([1-6]) ([.#]+) ([.01]+) ([01])$/.exec(state) ?? [];
  const game = [Number(size), lines, boxes, Number(side)];
  if (size === undefined || lines.length !== 2 * size * (game[0] + 1) || boxes.length !== size * size) return null;
  const fits = (four, box) => (boxes[box] !== ".") === four.every((line) => lines[line] === "#");
  return sides(game[0]).every(fits) ? game : null;
}

function drawing(size, lines, boxes) {
  const wide = 2 * size + 1;
  const square = (owner, box) => {
    const at = `x="${box % size}" y="${Math.floor(box / size)}" width="1" height="1"`;
    return owner === "." ? "" : `<rect ${at} fill="${owner === "0" ? "#2c5fb4" : "#e0603a"}" fill-opacity=".5"/>`;
  };
  const stroke = (drawn, number) => {
    const [row, place] = [Math.floor(number / wide), number % wide];
    const path = place < size ? `M${place} ${row}h1` : `M${place - size} ${row}v1`;
    const [width, opacity] = drawn === "#" ? [".08", "1"] : [".02", ".4"];
    return `<path d="${path}" stroke="currentColor" stroke-width="${width}" stroke-opacity="${opacity}"/>`;
  };
  const shapes = [...boxes].map(square).join("") + [...lines].map(stroke).join("");
  const svg = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="-.1 -.1 ${size + 0.2} ${size + 0.2}">${shapes}</svg>`;
  const text = [];
  for (let row = 0; row <= size; row++) {
    const above = [...lines.slice(wide * row, wide * row + size)];
    text.push(`+${above.map((drawn) => (drawn === "#" ? "--" : "  ")).join("+")}+`);
    const beside = row < size ? [...lines.slice(wide * row + size, wide * (row + 1))] : [];
    const inside = (place) => (place < size ? `${boxes[size * row + place].replace(".", " ")} ` : "");
    if (row < size) text.push(beside.map((drawn, place) => (drawn === "#" ? "|" : " ") + inside(place)).join(""));
  }
  return { text: text.map((line) => line.trimEnd()), svg };
}

function play(size, lines, boxes, side, text) {
  if (!/^[0-9]{1,2}$/.test(text)) return { malformed: `expected the number of a line, 1 to ${lines.length}` };
  const number = Number(text);
  if (number < 1 || number > lines.length) {
    return { illegal: `there is no line ${number}; the lines are 1 to ${lines.length}` };
  }
  if (lines[number - 1] === "#") return { illegal: `line ${number} is drawn already` };
  const after = `${lines.slice(0, number - 1)}#${lines.slice(number)}`;
  const isWon = (four) => four.includes(number - 1) && four.every((line) => after[line] === "#");
  const won = sides(size).map(isWon);
  const more = won.filter(Boolean).length;
  const owners = [...boxes].map((owner, box) => (won[box] ? side : owner)).join("");
  const words = `draws line ${number}` + (more > 0 ? `, and has ${more} more` : "");
  return { ...position(size, after, owners, more > 0 ? side : 1 - side), turn: String(number), words };
}

function answer(question) {
  if (question.do === "about") {
    return { name: "dots-and-boxes", about: ABOUT, first_drawn: true, answers: true, drawing: true };
  }
  if (question.do === "start") {
    const { size = "3", ...others } = question.options;
    if (Object.keys(others).length > 0 || !/^[1-6]$/.test(size)) {
      return { error: "expected size=3, from 1 to 6, and no other option" };
    }
    const boxes = size * size;
    return position(Number(size), ".".repeat(2 * boxes + 2 * size), ".".repeat(boxes), 0);
  }
  const game = read(question.state);
  if (game === null) return { error: "expected a state of dots-and-boxes: size, lines, boxes and side, such as `1 .... . 0`" };
  switch (question.do) {
    case "play": return play(...game, question.answer);
    case "answers": return { answers: [...game[1]].flatMap((drawn, line) => (drawn === "." ? [String(line + 1)] : [])) };
    case "drawing": return drawing(...game);
    default: return position(...game);
  }
}

const input = require("readline").createInterface({ input: process.stdin });
input.on("line", (line) => process.stdout.write(JSON.stringify(answer(JSON.parse(line))) + "\n"));
