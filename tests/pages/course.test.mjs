import assert from "node:assert/strict";
import { test } from "node:test";

import "./document.mjs";

const { extraScore, groupName, hasPair, meetingOf, roundName } = await import(
  "../../crates/report/src/html/assets/course.js"
);

// A match of three pairs of games that ended 3 to 3, decided by the pairs 12 and 20.
const PACKED = {
  bots: [4, 7],
  half_points: [6, 6],
  games: 6,
  pairs: [3, 5],
  tie_break: { half_points: [3, 5], games: 4, pairs: [12, 20] },
  winner: [1, "by the tie-break games"],
};

test("a meeting counts points and the games that it has in all", () => {
  const meeting = meetingOf(PACKED);
  assert.deepEqual(meeting.points, [3, 3]);
  assert.equal(meeting.total, 6, "two games a pair");
  assert.deepEqual([meeting.side, meeting.why], [1, "by the tie-break games"]);
  assert.deepEqual(meeting.extra.points, [1.5, 2.5]);
  assert.deepEqual(extraScore(meeting.extra, meeting.side), ["2½–1½", "4 tie-break games"]);
});

test("a meeting without a winner is not decided", () => {
  const { side, extra } = meetingOf({ ...PACKED, winner: null, tie_break: undefined });
  assert.deepEqual([side, extra], [-1, null]);
});

test("a meeting has its own pairs and those of its tie-break", () => {
  const found = Array.from({ length: 25 }, (_, pair) => pair).filter((pair) => hasPair(PACKED, pair));
  assert.deepEqual(found, [3, 4, 5, 12, 20]);
});

test("rounds and groups have names", () => {
  assert.deepEqual([1, 2, 4, 8].map(roundName), ["Final", "Semi-finals", "Quarter-finals", "Round of 16"]);
  assert.deepEqual([0, 25, 26].map(groupName), ["Group A", "Group Z", "Group 27"]);
});
