// The board of the person who plays against a bot. What turns are worth is not computed here.

import { gameHash, outcome } from "./data.js";
import { announce, button, drawnAgain, el, link, refill, time } from "./dom.js";
import { drawBoard, handParts, isLoading, noBoard, statesOf } from "./rules.js";
import { known } from "./state.js";
import { turnValues } from "./turn_values.js";

// What the server has said.
const seated = {
  edition: /** @type {Edition | null} */ (null),
  table: /** @type {Table | null} */ (null),
  played: 0,
  expected: /** @type {number | null} */ (null),
  offset: 0,
};

/** @type {(() => void) | null} */
let redrawSeat = null;

/** @param {PackedEdition} edition */
export const seatEdition = ([game, rules, pieces]) => {
  seated.edition = { game, rules, pieces };
};

/** @param {TablesEvent} event */
export function seatTables([now, { played, expected, tables }]) {
  Object.assign(seated, { played, expected, offset: performance.now() - now, table: tables[0] ?? seated.table });
  redrawSeat?.();
}

/**
 * The clock of the side to move, as a sentence.
 *
 * @param {Table} table
 * @param {number} to
 */
function clockLine({ since, left, limit }, to) {
  const thinking = Math.max(0, performance.now() - seated.offset - since);
  /** @param {number} ms */
  const whole = (ms) => time(1000 * Math.ceil(Math.max(0, ms) / 1000));
  const [ofGame, ofTurn] = [left[to], limit[to]];
  if (ofGame !== null) return `${whole(ofGame - thinking)} left for the game`;
  return ofTurn === null ? "" : `${whole(ofTurn - thinking)} left for this turn`;
}

/**
 * @param {string | null} secret
 * @returns {View}
 */
export function playView(secret) {
  const [stage, place, hand, said, clock] = [
    el("div.stage"),
    el("div"),
    el("div.card.hands", { hidden: true }),
    el("div"),
    el("p.hint"),
  ];
  /** @type {ReturnType<typeof turnValues> | null} */
  let values = null;
  let drawn = "";
  // What was answered last, and why that failed.
  let sent = "";
  let problem = "";

  /**
   * @param {string} question
   * @param {string} answer
   */
  async function send(question, answer) {
    sent = `${seated.table?.id} ${question}`;
    problem = "";
    draw();
    try {
      const response = await fetch(`answer/${secret}`, { method: "POST", body: `${question}\n${answer}\n` });
      if (!response.ok) problem = await response.text();
    } catch {
      problem = "The referee does not answer.";
    }
    if (problem) sent = "";
    draw();
  }

  /** @param {Table} table */
  function ended({ id, b }) {
    const game = known.games.findLast((one) => one.id === id);
    if (!game) return [];
    const isMore = known.head.live && seated.played < (seated.expected ?? 0);
    const more = seated.expected === 1 ? " Several games in a row: -n 10." : "";
    return [
      el("p.final", { role: "status" }, outcome(game, game.lines)),
      el(
        "div.row",
        link(gameHash(game.number), "Look at the game"),
        isMore && sent !== `${id} again` && button("Again", () => send("again", ""), { "data-keep": "again" }),
        isMore ? null : el("p.hint", `The match of ${b[0]} and ${b[1]} is over.${more}`),
      ),
    ];
  }

  /**
   * @param {Table} table
   * @param {State | undefined} state
   */
  function whoMoves(table, state) {
    const made = table.by === null ? null : el("p", el("strong.name", table.b[table.by]), ` ${state?.words ?? ""}`);
    return [
      made,
      table.to === null || table.to === table.me
        ? null
        : el("p", { role: "status" }, el("strong.name", table.b[table.to]), " is thinking."),
    ];
  }

  function draw() {
    const { table } = seated;
    if (!table || !seated.edition) {
      said.replaceChildren(el("p.hint", known.head.live ? "Waiting for the first game…" : "The match is over."));
      return;
    }
    clock.textContent = table.to === null || !known.head.live ? "" : clockLine(table, table.to);
    const game = { ...seated.edition, start: table.s, turns: table.m };
    const key = JSON.stringify([
      table,
      seated.played,
      sent,
      problem,
      known.games.length,
      known.head.live,
      isLoading(game),
    ]);
    if (key === drawn) return;
    drawn = key;
    const state = statesOf(game).at(-1);
    const isMine = table.to !== null && table.to === table.me && known.head.live;
    if (isMine) announce("It is your turn.");
    refill(
      said,
      problem && el("p.final.blame", { role: "alert" }, problem),
      table.to === null ? ended(table) : whoMoves(table, state),
    );
    if (!state) {
      stage.replaceChildren(isLoading(game) ? "" : noBoard(game));
      return;
    }
    const picture = drawBoard(state);
    stage.replaceChildren(picture);
    hand.hidden = !state.left;
    hand.replaceChildren(...handParts(state));
    values ??= turnValues(game, draw, true, send);
    place.replaceChildren(values.panel);
    values.panel.hidden = !isMine || sent === `${table.id} ${state.request}`;
    if (!values.panel.hidden) values.show(picture, state, "");
  }

  const node = el(
    "div.replay",
    el("h1", known.head.title),
    el("div.desk", el("div", el("div.play.card", stage, place)), el("div", el("div.card", said, clock), hand)),
  );
  const { redraw, view } = drawnAgain(node, draw, () => {
    redrawSeat = null;
  });
  redrawSeat = redraw;
  draw();
  return view;
}
