import assert from "node:assert/strict";
import { test } from "node:test";

import "./document.mjs";

const { counted, el, half, percent, prose, shortened, signed, time, when } = await import(
  "../../crates/report/src/html/assets/dom.js"
);

test("an element has its classes, attributes, listeners and children", () => {
  const press = () => {};
  const node = el("p.big.note", { title: "x", hidden: true, id: null, onclick: press }, "a", [
    0,
    null,
    [false, el("b")],
  ]);
  assert.deepEqual(node.attributes, { class: "big note", title: "x" });
  assert.equal(node.hidden, true);
  assert.equal(node.listeners.click, press);
  assert.deepEqual(
    node.children.map((child) => child.tagName ?? child),
    ["a", "0", "b"],
  );
});

test("figures are rounded as the terminal rounds them", () => {
  assert.deepEqual([0, 0.5, 1, 2.5, 1234].map(half), ["0", "½", "1", "2½", "1\u202f234"]);
  assert.deepEqual([0.4, -0.4, 0.5, -0.5, 12.5].map(signed), ["0", "0", "+1", "−1", "+13"]);
  assert.equal(percent(0.125, 1), "12.5%");
  assert.equal(percent(2 / 3), "67%");
});

test("times have three digits and a unit", () => {
  assert.deepEqual([0.007, 1.234, 12.34, 123.4, 1234, null].map(time), [
    "7 µs",
    "1.23 ms",
    "12.3 ms",
    "123 ms",
    "1.23 s",
    "",
  ]);
  assert.equal(when(0), "1970-01-01 00:00 UTC");
});

test("words follow their number", () => {
  assert.equal(counted(1, "game"), "1 game");
  assert.equal(counted(2, "loss", "losses"), "2 losses");
});

test("long names keep both ends, and letters of several parts", () => {
  assert.equal(shortened("short", 10), "short");
  assert.equal(shortened("a-very-long-name-1", 9), "a-ve…me-1");
  assert.equal(shortened("👩‍💻👩‍💻👩‍💻👩‍💻", 3), "👩‍💻…👩‍💻");
});

test("answers between backticks are code, if these are in pairs", () => {
  assert.deepEqual(
    prose("play `1 A` now").map((part) => part.tagName ?? part),
    ["play ", "code", " now"],
  );
  assert.deepEqual(prose("a ` b"), ["a ` b"]);
});
