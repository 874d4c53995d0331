import assert from "node:assert/strict";
import { test } from "node:test";

import { all } from "./document.mjs";

const { sortable } = await import("../../crates/report/src/html/assets/tables.js");

const ROWS = [
  { name: "bob", points: 2 },
  { name: "Zoe", points: null },
  { name: "ändi", points: 3 },
  { name: "ann", points: 2 },
  { name: "Bea", points: -1 },
];
const COLUMNS = [
  { key: "name", title: "bot", text: true, value: (row) => row.name },
  { key: "points", title: "points", value: (row) => row.points },
];

function made(sorted, more) {
  const table = sortable({ caption: "Test", columns: COLUMNS, rows: () => ROWS, sorted, kind: "", ...more });
  const press = (title) => {
    const head = all(table.node, "button").find((button) => button.textContent === title);
    head.listeners.click({});
  };
  return { table, press, names: () => table.ordered().map(({ name }) => name) };
}

test("texts are in alphabetical order, whatever their case and accents", () => {
  assert.deepEqual(made(["name", 1]).names(), ["ändi", "ann", "Bea", "bob", "Zoe"]);
});

test("equal rows keep their order, and unknown figures are the least", () => {
  assert.deepEqual(made(["points", -1]).names(), ["ändi", "bob", "ann", "Bea", "Zoe"]);
  assert.deepEqual(made(["points", 1]).names(), ["Zoe", "Bea", "bob", "ann", "ändi"]);
});

test("a head sorts: figures downwards first, texts upwards, and the other way round when pressed again", () => {
  const sorted = ["name", 1];
  const { press, names } = made(sorted);
  press("points");
  assert.deepEqual(sorted, ["points", -1]);
  press("points");
  assert.deepEqual(sorted, ["points", 1]);
  press("bot");
  assert.deepEqual(sorted, ["name", 1]);
  assert.deepEqual(names(), ["ändi", "ann", "Bea", "bob", "Zoe"]);
});

test("a long table has pages", () => {
  const at = { page: 0 };
  const { table, press } = made(["name", 1], { size: 2, at });
  const shown = () => all(table.node, "tbody")[0].children.map((row) => row.children[0].textContent);
  assert.deepEqual(shown(), ["ändi", "ann"]);
  press("Next");
  assert.deepEqual(shown(), ["Bea", "bob"]);
  press("Last");
  assert.deepEqual([at.page, shown()], [2, ["Zoe"]]);
  assert.ok(table.node.textContent.includes("5–5 of 5"));
  press("points");
  assert.equal(at.page, 0, "another order begins with its first page");
});
