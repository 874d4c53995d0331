// A board to find out what turns are worth, and to play on, without a game.

import { byId, el } from "./dom.js";
import { drawBoard, handParts, loadRules, noBoard, statesOf } from "./rules.js";
import { applyTheme, storedTheme } from "./theme.js";
import { turnValues } from "./turn_values.js";

/** @type {BoardPageData} */
const page = JSON.parse(byId("data").textContent ?? "");
const content = byId("main");
/** @type {PlayedGame} */
const game = { ...page.edition, turns: [], isPosition: true };
/** @type {Record<string, string[]>} */
const SIDES = { quarto: ["First", "Second"], "four-in-a-row": ["Yellow", "Red"] };

/** @type {State | null} */
let start = null;
/** @type {ReturnType<typeof turnValues> | null} */
let worth = null;

const stage = el("div.stage");
const hand = el("div.card.hands");
const place = el("div");
const input = el("input", {
  type: "text",
  size: 46,
  spellcheck: "false",
  "aria-label": "Position: the board and the piece in hand",
});
const wrong = el("p.final.blame", { role: "alert", hidden: true });

function draw() {
  if (!start || !worth) return;
  const state = worth.instead(0)?.state ?? start;
  const picture = drawBoard(state);
  stage.replaceChildren(picture);
  const fields = new URLSearchParams({ position: start.request, ...(worth.line ? { line: worth.line } : {}) });
  history.replaceState(history.state, "", `#${fields}`);
  worth.show(picture, state, SIDES[game.game][state.side]);
  hand.replaceChildren(...handParts(state));
}

/**
 * @param {string} text
 * @param {string | null} [line]
 */
function begin(text, line) {
  const [found] = statesOf({ ...game, start: text });
  wrong.hidden = found !== undefined;
  wrong.textContent = `${text} is not a position of this game.`;
  if (!found) {
    if (start === null) begin(page.position);
    return;
  }
  start = found;
  input.value = start.request;
  worth?.leave();
  worth = turnValues(start.game, draw, true);
  place.replaceChildren(worth.panel);
  if (line) worth.follow(0, start, line);
  draw();
}

const setUp = el(
  "form",
  {
    class: "row",
    onsubmit: (event) => {
      event.preventDefault();
      begin(input.value.trim());
    },
  },
  input,
  el("button", { type: "submit" }, "Show this position"),
  el("button", { type: "button", onclick: () => begin("") }, "Empty board"),
);

document.querySelector(".brand")?.setAttribute("href", "#");
applyTheme(storedTheme());
if (await loadRules()) {
  const title = el("h1", page.head.title);
  content.replaceChildren(
    el(
      "div",
      { class: `replay replay-${game.game}` },
      title,
      el(
        "div.desk",
        el("div", el("div.play.card", stage, place)),
        el("div", game.game === "quarto" ? hand : null, el("div.card", el("h2", "Position"), wrong, setUp)),
      ),
    ),
  );
  const fields = new URLSearchParams(location.hash.slice(1));
  begin(fields.get("position") ?? page.position, fields.get("line"));
} else {
  content.replaceChildren(el("h1", page.head.title), el("p.card", noBoard(game)));
}
document.documentElement.classList.add("ready");
