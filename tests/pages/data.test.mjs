import assert from "node:assert/strict";
import { beforeEach, test } from "node:test";
import { deflateSync } from "node:zlib";

import "./document.mjs";
import { BOTS, EDITION, entry } from "./entries.mjs";

const { addEntries, interval, notesOf, outcome, pairOf, points, pointsText, story, tables, unpackGames, unpacked } =
  await import("../../crates/report/src/html/assets/data.js");
const { clear, known } = await import("../../crates/report/src/html/assets/state.js");

beforeEach(() => clear());

function added(more) {
  addEntries([...BOTS, EDITION, entry(more)]);
  return known.games.at(-1);
}

test("an entry is read by name", () => {
  const game = added({
    winner: 1,
    reason: "quarto",
    first: 1,
    lines: "H1 big",
    start: "A...............",
    started: 60,
  });
  assert.equal(game.number, 1);
  assert.deepEqual(game.bots, [0, 1]);
  assert.deepEqual(game.sides, [1, 0], "the second bot of the record moves first");
  assert.deepEqual([game.winner, game.loser], [1, 0]);
  assert.equal(game.length, 3);
  assert.equal(game.forfeit, false);
  assert.equal(game.start, "A...............");
  assert.deepEqual([points(game, 0), points(game, 1)], [0, 1]);
  assert.equal(outcome(game, game.lines), "bob wins: H1 big");
  assert.equal(story(game), "bob beats ann");
});

test("a draw has no winner, and a game without turns has length 0", () => {
  const game = added({ turns: "", times: "" });
  assert.deepEqual([game.winner, game.loser, game.length], [-1, -1, 0]);
  assert.deepEqual([points(game, 0), points(game, 1)], [0.5, 0.5]);
  assert.equal(story(game), "ann and bob draw");
  assert.deepEqual(unpacked(game).turns, []);
});

test("times are three digits and a power of ten of a microsecond", () => {
  // 7 µs, 1.23 ms and a minute, as the tests of pack.rs have them.
  assert.deepEqual(unpacked(added({})).times, [0.007, 1.23, 60000]);
});

test("a fault names its bot and its texts", () => {
  addEntries([
    ["t", "99 Z"],
    ["t", "it is not legal"],
  ]);
  const game = added({ winner: 0, reason: "illegal-move", fault: [1, 0, 1, -1, -1] });
  assert.equal(game.forfeit, true);
  assert.deepEqual(unpacked(game).fault, { by: 1, answer: "99 Z", detail: "it is not legal", stderr: "", again: "" });
  assert.equal(outcome(game), "ann wins: bob forfeits (illegal-move)");
});

test("an analysis is unpacked by turn", () => {
  const game = added({ analysis: ["-d", "-w", "03", [[2, "blunder", "7 B", "ouch", "7 B\t8 C", "missed"]]] });
  const notes = notesOf(game);
  assert.deepEqual([...notes.keys()], [2]);
  const expected = { value: "d", best: "w", ahead: 3, mark: "blunder", better: "7 B", remark: "Ouch", missed: true };
  assert.deepEqual(notes.get(2), { ...expected, betterLine: ["7 B", "8 C"] });
});

test("sides alternate unless the record says who moved", () => {
  const { sideOf } = unpacked(added({}));
  assert.deepEqual([0, 1, 2].map(sideOf), [0, 1, 0]);
  const passing = unpacked(added({ movers: "001" }));
  assert.deepEqual([0, 1, 2].map(passing.sideOf), [0, 0, 1]);
});

test("compressed columns are the same games", async () => {
  const games = [entry({ winner: 1, reason: "quarto" }), entry({ remark: "Adjudicated.", id: "p000001b" })];
  addEntries([...BOTS, EDITION, ...games]);
  const expected = structuredClone(known.games);
  known.games = [];
  // Missing fields are null in columns.
  const width = Math.max(...games.map((game) => game.length));
  const columns = Array.from({ length: width }, (_, place) => games.map((game) => game[place] ?? null));
  await unpackGames(deflateSync(JSON.stringify(columns)).toString("base64"));
  assert.deepEqual(known.games, expected);
});

test("damaged columns leave no games, and say so", async () => {
  await assert.rejects(unpackGames("AAAA"), /its file is damaged/);
  assert.deepEqual(known.games, []);
});

test("pairs are numbered in the ids of a tournament's games", () => {
  assert.equal(pairOf("p000012b"), 12);
  assert.equal(pairOf("7"), Number.NaN);
});

test("an interval may be open", () => {
  assert.equal(interval({ elo_low: -10.4, elo_high: 20.5 }), "−10 to +21");
  assert.equal(interval({ elo_low: null, elo_high: 5 }), "at most +5");
  assert.equal(interval({ elo_low: 5, elo_high: null }), "at least +5");
  assert.equal(interval({ elo_low: null, elo_high: null }), null);
});

test("points for byes are told apart", () => {
  assert.equal(pointsText({ points: 5.5, bye_points: 2 }), "3½ + 2 (bye)");
  assert.equal(pointsText({ points: 0.5, bye_points: 0 }), "½");
});

test("bots that no games connect are in tables of their own", () => {
  const places = [1, 1, 2].map((table, bot) => ({ table, bot }));
  known.figures = { ...known.figures, places };
  const bots = tables().map((rows) => rows.map(({ bot }) => bot));
  assert.deepEqual(bots, [[0, 1], [2]]);
});
