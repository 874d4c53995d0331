// A board to find out what turns are worth, and to play on, without a game.

import { el } from "./dom.js";
import { legend, pieceSlot } from "./pieces.js";
import { boardOf } from "./boards.js";
import { applyTheme, storedTheme } from "./theme.js";
import { turnValues } from "./turn_values.js";

const page = JSON.parse(document.getElementById("data").textContent);
const content = document.getElementById("main");
const game = { ...page.edition, turns: [] };
const board = boardOf(game);
const EMPTY = { quarto: "................ -", "four-in-a-row": `@ ${".".repeat(42)}` };
const SIDES = { quarto: ["First", "Second"], "four-in-a-row": ["Yellow", "Red"] };

let position = page.position;
const stateOf = (text) => board.start({ ...game, start: board.startOf(text) });
let worth = null;

// The side to move. The side that gave the first piece places when an odd number of pieces is on the board.
function sideToMove(state) {
  const pieces = state.cells.filter((cell) => cell !== null).length;
  return game.game === "quarto" && state.hand !== null ? (pieces + 1) % 2 : pieces % 2;
}

const stage = el("div", { class: "stage" });
const hand = el("div", { class: "card hands" });

function drawBoard() {
  const state = worth.instead(0)?.state ?? stateOf(position);
  const picture = board.draw(game, state);
  stage.replaceChildren(picture);
  const fields = new URLSearchParams({ position, ...(worth.line ? { line: worth.line } : {}) });
  history.replaceState(history.state, "", `#${fields}`);
  worth.show(picture, state, SIDES[game.game][sideToMove(state)], board.isOver(game, state));
  if (!board.left) return;
  const piece = (bits) => pieceSlot(game.set, bits);
  hand.replaceChildren(el("h2", {}, "In hand"), state.hand === null ? el("p", { class: "hint" }, "Nothing.") : el("div", { class: "pool" }, piece(state.hand)),
    el("h2", {}, "Left to give"), el("div", { class: "pool" }, ...board.left(game, state).map(piece)), legend(game.set));
}

function begin(text, line) {
  position = text;
  input.value = text;
  worth?.leave();
  worth = turnValues(game, board, drawBoard, true);
  place.replaceChildren(worth.isPossible ? worth.panel : el("p", {}, "This browser has no WebAssembly, by which positions are solved."));
  if (line) worth.follow(0, stateOf(text), line);
  drawBoard();
}

const place = el("div");
const input = el("input", { type: "text", size: 46, spellcheck: "false", "aria-label": "Position: the board and the piece in hand" });
const setUp = el("form", { class: "row", onsubmit: (event) => { event.preventDefault(); begin(input.value.trim()); } }, input,
  el("button", { type: "submit" }, "Show this position"), el("button", { type: "button", onclick: () => begin(EMPTY[game.game]) }, "Empty board"));

content.replaceChildren(el("div", { class: `replay replay-${game.game}` }, el("h1", {}, page.head.title),
  el("div", { class: "desk" }, el("div", {}, el("div", { class: "play card" }, stage, place)),
    el("div", {}, board.left ? hand : null, el("div", { class: "card" }, el("h2", {}, "Position"), setUp)))));
document.querySelector(".brand").setAttribute("href", "#");
document.documentElement.classList.add("ready");
applyTheme(storedTheme());
const fields = new URLSearchParams(location.hash.slice(1));
begin(fields.get("position") ?? page.position, fields.get("line"));
