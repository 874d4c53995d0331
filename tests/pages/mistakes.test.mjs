import assert from "node:assert/strict";
import { beforeEach, test } from "node:test";

import "./document.mjs";
import { BOTS, EDITION, entry } from "./entries.mjs";

const { addEntries } = await import("../../crates/report/src/html/assets/data.js");
const { gaveAway, judgedTurns, phaseOf, phasesOf, told, worstMistake } = await import(
  "../../crates/report/src/html/assets/mistakes.js"
);
const { clear, known } = await import("../../crates/report/src/html/assets/state.js");

// Ann makes turns 1, 3, …; bob turns a draw into a loss in turn 2, ann a win into a loss in turn 3 and misses a win in
// one in turn 7, of which no value is known.
const ANALYSIS = [
  "dlldww-",
  "ddwdww-",
  "0000000",
  [
    [2, "blunder", "", "`- K` gives a win"],
    [7, "missed-win"],
  ],
];

beforeEach(() => {
  clear();
  const turns = ["- K", "1 A", "2 B", "3 C", "4 D", "5 E", "6 F"].join("\t");
  addEntries([...BOTS, EDITION, entry({ turns, analysis: ANALYSIS, phases: [3, 6] })]);
});

test("a phase begins with its first turn", () => {
  const phases = [1, 2, 3, 5, 6, 20].map((turn) => phaseOf({ phases: [3, 6] }, turn));
  assert.deepEqual(phases, [0, 0, 1, 1, 2, 2]);
});

test("turns are judged by what they gave away", () => {
  const turns = judgedTurns(known.games[0]);
  assert.deepEqual(
    turns.map(({ turn, bot, lost, missed }) => [turn, bot, lost, missed]),
    [
      [1, 0, 0, false],
      [2, 1, 1, false],
      [3, 0, 2, false],
      [4, 1, 0, false],
      [5, 0, 0, false],
      [6, 1, 0, false],
      [7, 0, 0, true],
    ],
  );
  assert.equal(gaveAway(turns[2]), "win → loss");
});

test("sums by phase count solved turns, those that kept the value, blunders and missed wins", () => {
  // Ann: turn 1 in the opening, 3 and 5 in the middlegame, 7 in the endgame.
  assert.deepEqual(phasesOf(0), [
    [1, 1, 0, 0],
    [2, 1, 1, 0],
    [0, 0, 0, 1],
  ]);
  assert.deepEqual(phasesOf(1), [
    [1, 0, 1, 0],
    [1, 1, 0, 0],
    [1, 1, 0, 0],
  ]);
});

test("the worst mistake turned a win into a loss", () => {
  assert.equal(worstMistake(known.games)?.turn, 3);
  assert.equal(worstMistake(known.games, 1)?.turn, 2);
  assert.equal(worstMistake([]), null);
});

test("answers are told in words", () => {
  assert.equal(told("`- K` gives it away. after that `6 -` wins"), "Giving K gives it away. After that cell 6 wins");
});
