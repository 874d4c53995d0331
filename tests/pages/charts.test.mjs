import assert from "node:assert/strict";
import { test } from "node:test";

import "./document.mjs";

const { apart, columnWidth, meeting, ratingScale, recordText, shade, ticks } = await import(
  "../../crates/report/src/html/assets/charts.js"
);
const { known } = await import("../../crates/report/src/html/assets/state.js");

test("ticks are round, evenly spaced, and within the axis", () => {
  for (const [low, high, wanted] of [
    [-437, 812, 4],
    [0, 48, 6],
    [0, 7, 6],
    [-60, 60, 5],
    [0, 99999, 3],
  ]) {
    const found = ticks(low, high, wanted);
    const steps = found.slice(1).map((tick, index) => tick - found[index]);
    const label = `${low} to ${high}: ${found}`;
    assert.ok(found.length >= 2 && found.length <= wanted + 1, label);
    assert.ok(
      found.every((tick) => tick >= low && tick <= high && Number.isInteger(tick)),
      label,
    );
    assert.equal(new Set(steps).size, 1, label);
    assert.match(String(steps[0]), /^(1|2|25|5)0*$/, label);
    assert.ok(low > 0 || high < 0 || found.includes(0), label);
  }
});

test("a scale holds all ratings with their intervals, in percent", () => {
  const { at, from, to } = ratingScale([
    { elo: 100, elo_low: 20, elo_high: 435 },
    { elo: -422, elo_low: null, elo_high: -188 },
  ]);
  assert.ok(from < -422 && to > 435);
  assert.equal(at(from), "0.00%");
  assert.equal(at(to), "100.00%");
  assert.equal(at((from + to) / 2), "50.00%");
  const narrow = ratingScale([{ elo: 0, elo_low: -1, elo_high: 1 }]);
  assert.ok(narrow.from <= -50 && narrow.to >= 50, "equal bots are not blown up");
});

test("labels do not cover each other, and keep their order", () => {
  const places = [50, 52, 51, 200, 0];
  const found = apart(places, 14, 0, 300);
  const sorted = [...found].sort((a, b) => a - b);
  assert.ok(sorted.slice(1).every((at, index) => at - sorted[index] >= 14));
  assert.equal(found[3], 200, "what has room stays");
  assert.deepEqual(
    [0, 1, 2, 3, 4].sort((a, b) => found[a] - found[b]),
    [0, 1, 2, 3, 4].sort((a, b) => places[a] - places[b]),
  );
  assert.ok(apart([300, 300, 300], 14, 0, 300).every((at) => at <= 300));
});

test("a meeting has the games of both seats", () => {
  // Ann moved first and won 2, drew 1 and lost 1; bob moved first and won 3 and lost 1.
  known.figures = {
    ...known.figures,
    met: [
      [0, 1, 2, 1, 1],
      [1, 0, 3, 0, 1],
    ],
  };
  assert.deepEqual(meeting(0, 1), { wins: 3, draws: 1, losses: 4, games: 8, points: 3.5 });
  assert.deepEqual(meeting(1, 0), { wins: 4, draws: 1, losses: 3, games: 8, points: 4.5 });
  assert.equal(meeting(0, 2).games, 0);
});

test("shares have eleven shades", () => {
  assert.deepEqual([0, 0.49, 0.5, 1].map(shade), ["shade-0", "shade-5", "shade-5", "shade-10"]);
});

test("columns fill the width, but are not wide", () => {
  assert.equal(columnWidth({ turns: Array(10), fault: null }, 200), 20);
  assert.equal(columnWidth({ turns: Array(9), fault: {} }, 200), 20, "a fault has a column");
  assert.equal(columnWidth({ turns: [], fault: null }, 200), 40);
});

test("a record in words", () => {
  assert.deepEqual(recordText(1, 0, 2), ["1 win", "0 draws", "2 losses"]);
});
