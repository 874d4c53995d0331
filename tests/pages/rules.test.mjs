// The rules themselves are tested in Rust; here that positions arrive as the pages need them.

import assert from "node:assert/strict";
import { before, test } from "node:test";

import { all } from "./document.mjs";

const rules = await import("../../crates/report/src/html/assets/rules.js");
const { advice, choicesOf, drawBoard, gameOptions, legalAnswers, loadRules, statesAfter, statesOf, stateAfter } = rules;

const QUARTO = { game: "quarto", rules: "standard", pieces: null, start: "", turns: [] };
const FOUR = { ...QUARTO, game: "four-in-a-row" };

before(async () => assert.equal(await loadRules(), true));

test("a game of Quarto begins with 16 pieces and an empty hand", () => {
  const [start] = statesOf(QUARTO);
  assert.deepEqual([start.side, start.hand, start.left.length, start.over], [0, null, 16, false]);
  assert.equal(legalAnswers(start).length, 16, "any piece can be given");
});

test("a piece that is given is in the other side's hand", () => {
  const state = statesOf({ ...QUARTO, turns: ["- K"] }).at(-1);
  assert.deepEqual([state.side, state.hand, state.left.length], [1, "K", 15]);
  assert.equal(legalAnswers(state).length, 16 * 15, "any cell, then any other piece");
  assert.equal(choicesOf(state).length, 16);
});

test("states end before a turn that is illegal", () => {
  const states = statesOf({ ...QUARTO, turns: ["- K", "1 K", "2 A"] });
  assert.equal(states.length, 2);
  assert.equal(statesOf({ ...QUARTO, start: "not a board" }).length, 0);
});

test("four discs in a column win", () => {
  const states = statesOf({ ...FOUR, turns: ["1", "2", "1", "2", "1", "2", "1"] });
  assert.equal(states.length, 8);
  assert.deepEqual(
    states.map(({ over }) => over),
    [false, false, false, false, false, false, false, true],
  );
  assert.equal(states.at(-1).won, true);
  assert.match(advice(states.at(-2), "1"), / and win$/);
  assert.doesNotMatch(advice(states.at(-2), "3"), /win/);
});

test("a full column cannot be chosen", () => {
  const full = statesOf({ ...FOUR, turns: ["1", "1", "1", "1", "1", "1"] }).at(-1);
  assert.deepEqual(legalAnswers(full), ["2", "3", "4", "5", "6", "7"]);
  assert.equal(stateAfter(full, "1"), null);
});

test("states go on from a state", () => {
  const [start] = statesOf(FOUR);
  const states = statesAfter(start, ["4", "4", "9"]);
  assert.deepEqual(
    states.map(({ turns }) => turns),
    [["4"], ["4", "4"]],
  );
});

test("a board has a field for each cell, and says what is on it", () => {
  const picture = drawBoard(statesOf({ ...QUARTO, turns: ["- K", "6 A"] }).at(-1));
  assert.equal(picture.tagName, "svg");
  assert.match(picture.getAttribute("aria-label"), /6 K: /);
  assert.ok(all(picture, "g").length > 0);
});

test("pieces of an opening are marked, those of a position are not", () => {
  const kinds = (game) => all(drawBoard(statesOf(game)[0]), "rect").map((shape) => shape.getAttribute("class"));
  const game = { ...QUARTO, start: "K..............A" };
  const marked = (classes) => classes.filter((kind) => /\bopening\b/.test(kind ?? "")).length;
  assert.equal(marked(kinds(game)), 2);
  assert.equal(marked(kinds({ ...game, isPosition: true })), 0);
});

test("a program's positions are those of its drawings", () => {
  const drawings = [{ c: [["", "x"]] }, { c: [["o", "x"]], w: "plays o", r: "request" }];
  const states = statesOf({ game: "other", rules: "", pieces: null, turns: ["o", "p"], drawings });
  assert.deepEqual(
    states.map(({ words, request }) => [words, request]),
    [
      ["", ""],
      ["plays o", "request"],
    ],
  );
  const texts = all(drawBoard(states[1]), "text").map((text) => text.textContent);
  assert.deepEqual(texts, ["o", "x"]);
});

test("a command names the game, its rules, and the program that a game is", () => {
  const options = (game, rules) => gameOptions({ game, rules, pieces: null });
  assert.equal(options("quarto", "standard"), "");
  assert.equal(options("quarto", "squares"), "--rules squares ");
  assert.equal(options("four-in-a-row", "standard"), "--game four-in-a-row ");
  assert.equal(options("othello", "standard"), "--game GAME ");
  const nim = options("nim", "heaps=4,5,6 last=it's");
  assert.equal(nim, "--game GAME --game-option heaps=4,5,6 --game-option 'last=it'\\''s' ");
});
