import assert from "node:assert/strict";
import { before, test } from "node:test";

import "./document.mjs";

const { loadRules, statesOf } = await import("../../crates/report/src/html/assets/rules.js");
const { bestOf, turnValues } = await import("../../crates/report/src/html/assets/turn_values.js");

const win = (plies) => ({ value: "win", plies });
const loss = (plies) => ({ value: "loss", plies });
const DRAW = { value: "draw", plies: null };
const UNSOLVED = { value: null, plies: null };

before(() => loadRules());

test("a sooner win and a later loss are better", () => {
  assert.deepEqual(bestOf([win(5), win(1), win(3)]), win(1));
  assert.deepEqual(bestOf([loss(2), loss(8), loss(4)]), loss(8));
  assert.deepEqual(bestOf([loss(9), DRAW, loss(1)]), DRAW);
  assert.deepEqual(bestOf([DRAW, win(9)]), win(9));
});

test("nothing is known while a better turn is possible", () => {
  assert.deepEqual(bestOf([DRAW, UNSOLVED]), UNSOLVED);
  assert.deepEqual(bestOf([loss(2), UNSOLVED, DRAW]), UNSOLVED);
  assert.deepEqual(bestOf([UNSOLVED, win(7)]), win(7), "a win is best, whatever the others are");
});

test("a branch of an address is followed, and given back", () => {
  const game = { game: "quarto", rules: "standard", pieces: null, start: "", turns: ["- K"] };
  const state = statesOf(game).at(-1);
  const values = turnValues(game, () => {});
  assert.equal(values.instead(1), null);
  values.follow(1, state, "5A~13B");
  assert.deepEqual(values.instead(1)?.state.turns, ["- K", "5 A", "13 B"]);
  assert.equal(values.line, "5A~13B");
  assert.equal(values.instead(2), null, "another turn of the game has another branch");
  values.follow(1, state, "5A~5B");
  assert.deepEqual(values.instead(1)?.state.turns, ["- K", "5 A"], "it ends before a turn that is illegal");
});
