// What bots said of their thinking, beside what is true: lines `info depth 6 score 0.35` on their stderr.

import { columnWidth, turnLink } from "./charts.js";
import { gameHash, name, points, unpacked } from "./data.js";
import { card, count, counted, el, highlight, percent, sized, svg } from "./dom.js";
import { PHASES, phaseOf, tableOf } from "./mistakes.js";
import { cellOf, rowHead } from "./tables.js";

/** @type {Record<string, number>} */
const EXACT_SCORES = { w: 1, d: 0, l: -1 };
/** @type {Record<string, string>} */
const EXACT_WORDS = { w: "won", d: "a draw", l: "lost" };
const CHART = 74;
const MOST_WRONG = 5;

// The shares of a score from which a bot is as good as sure, or leans to a side.
/** @type {[title: string, from: number, to: number][]} */
const BANDS = [
  ["0.8 or more", 0.8, Infinity],
  ["0.2 to 0.8", 0.2, 0.8],
  ["−0.2 to 0.2", -0.2, 0.2],
  ["−0.8 to −0.2", -0.8, -0.2],
  ["less than −0.8", -Infinity, -0.8],
];

/**
 * @param {unknown} value
 * @returns {value is number}
 */
const isScore = (value) => typeof value === "number" && value >= -1 && value <= 1;

/**
 * @param {Game} game
 * @param {number} turn
 */
const exactOf = (game, turn) => game.analysis.get(turn)?.value ?? "";

/**
 * Beside a turn; `isSecret` hides the truth.
 *
 * @param {Game} game
 * @param {number} turn
 * @param {boolean} isSecret
 */
export function thought(game, turn, isSecret) {
  const said = game.info.get(turn);
  if (!said) return null;
  const exact = exactOf(game, turn);
  const parts = Object.entries(said).map(
    ([key, value]) =>
      (key === "string" ? `\u201c${value}\u201d` : `${key} ${value}`) +
      (key === "score" && isScore(value) && exact && !isSecret ? ` (exactly ${EXACT_SCORES[exact]})` : ""),
  );
  return el("p.thought", el("span.label", "It thought "), parts.join(", "));
}

/**
 * A line for each side, and for the score the exact value as a dash.
 *
 * @param {Game} game
 * @param {string} key
 * @param {number} shown
 */
function thoughtChart(game, key, shown) {
  /** @type {[turn: number, value: number][]} */
  const values = [...game.info].flatMap(([turn, { [key]: value }]) =>
    typeof value === "number" ? [/** @type {[number, number]} */ ([turn, value])] : [],
  );
  const all = key === "score" ? [-1, 1] : values.map(([, value]) => value);
  const [least, most] = [Math.min(...all), Math.max(...all)];
  return sized(CHART, (width) => {
    const step = columnWidth(game, width);
    /** @param {number} turn */
    const x = (turn) => (turn - 0.5) * step;
    /** @param {number} value */
    const y = (value) =>
      CHART - 10 - ((CHART - 20) * (Math.min(most, Math.max(least, value)) - least)) / (most - least || 1);
    const lines = [0, 1].map((side) =>
      svg(`polyline.side-${side}`, {
        points: values
          .filter(([turn]) => game.sideOf(turn - 1) === side)
          .map(([turn, value]) => `${x(turn)},${y(value)}`)
          .join(" "),
      }),
    );
    const marks = values.map(([turn, value]) => {
      const exact = key === "score" ? EXACT_SCORES[exactOf(game, turn)] : undefined;
      const side = game.sideOf(turn - 1);
      return [
        exact !== undefined &&
          svg("line.exact", { x1: x(turn) - step * 0.4, x2: x(turn) + step * 0.4, y1: y(exact), y2: y(exact) }),
        turnLink(
          game,
          turn,
          shown,
          `${name(game.sides[side])}: ${key} ${value}${exact === undefined ? "" : `, exactly ${exact}`}`,
          svg(`circle.side-${side}`, { cx: x(turn), cy: y(value), r: 4 }),
        ),
      ];
    });
    return svg("svg.thoughts", { role: "group", "aria-label": `${key} of every turn` }, lines, marks);
  });
}

/**
 * A chart of each name over the turns; null without numbers.
 *
 * @param {Game} game
 * @param {number} shown
 */
export function thoughtsCard(game, shown) {
  const keys = new Set(
    [...game.info.values()].flatMap((said) => Object.keys(said).filter((key) => typeof said[key] === "number")),
  );
  if (keys.size === 0) return null;
  const order = [...keys].sort((a, b) => Number(b === "score") - Number(a === "score"));
  return card(
    "What the bots thought",
    keys.has("score")
      ? "A score runs from −1, lost, to 1, won, for the bot that says it; " +
          "a dash is the exact value, where it is known."
      : null,
    order.map((key) => el("div", el("h3", key), thoughtChart(game, key, shown))),
  );
}

/**
 * All that a bot said in these games, with what became of it.
 *
 * @param {number} index
 * @param {GameSummary[]} games
 */
function saidBy(index, games) {
  return games
    .filter((game) => game.packed.info.length > 0)
    .flatMap((summary) => {
      const game = unpacked(summary);
      return [...game.info]
        .filter(([turn]) => game.sides[game.sideOf(turn - 1)] === index)
        .map(([turn, said]) => ({ game, turn, said, exact: exactOf(game, turn), points: points(game, index) }));
    });
}

/** @param {number[]} values */
const mean = (values) => (values.length ? values.reduce((a, b) => a + b, 0) / values.length : null);

/** @param {number | null} value */
const rounded = (value) =>
  value === null ? "–" : value >= 100 ? count(Math.round(value)) : String(Math.round(value * 100) / 100);

/**
 * How well its score is calibrated, where it was most wrong, and what else it said by phase; null when it said nothing.
 *
 * @param {number} index
 * @param {GameSummary[]} games
 */
export function calibrationCard(index, games) {
  const all = saidBy(index, games);
  if (all.length === 0) return null;
  const scored = all.flatMap((one) => (isScore(one.said.score) ? [{ ...one, score: one.said.score }] : []));
  /**
   * @param {unknown[]} part
   * @param {unknown[]} all
   */
  const share = (part, all) => cellOf(all.length ? percent(part.length / all.length) : "–");
  const rows = BANDS.map(([title, from, to]) => {
    const those = scored.filter(({ score }) => score >= from && score < to);
    const known = those.filter(({ exact }) => exact);
    return el(
      "tr",
      rowHead(title),
      cellOf(count(those.length)),
      share(
        those.filter((one) => one.points === 1),
        those,
      ),
      ["w", "d", "l"].map((exact) =>
        share(
          known.filter((one) => one.exact === exact),
          known,
        ),
      ),
    );
  });
  const wrong = scored
    .filter(({ exact }) => exact)
    .map((one) => ({ ...one, error: Math.abs(one.score - EXACT_SCORES[one.exact]) }))
    .sort((a, b) => b.error - a.error)
    .slice(0, MOST_WRONG)
    .filter(({ error }) => error >= 0.5);
  const keys = [
    ...new Set(
      all.flatMap(({ said }) => Object.keys(said).filter((key) => key !== "score" && typeof said[key] === "number")),
    ),
  ];
  const phases = keys.map((key) =>
    el(
      "tr",
      rowHead(key),
      PHASES.map((_, part) =>
        cellOf(
          rounded(
            mean(
              all
                .filter(({ game, turn }) => phaseOf(game, turn) === part)
                .map(({ said }) => said[key])
                .filter((value) => typeof value === "number"),
            ),
          ),
        ),
      ),
    ),
  );
  return card(
    "What it thought",
    `It said something of its thinking in ${counted(all.length, "turn")}.`,
    scored.length > 0 &&
      tableOf(
        "How often it was right, by the score that it said",
        ["it said", "turns", "won the game", "was won", "was a draw", "was lost"],
        rows,
      ),
    wrong.length > 0 &&
      el(
        "div",
        el("h3", "Most wrong"),
        el(
          "ul.highlights",
          wrong.map(({ game, turn, score, exact }) =>
            highlight(
              gameHash(game.number, turn),
              `Game ${game.number}, turn ${turn}`,
              `it said ${score}`,
              ` it is ${EXACT_WORDS[exact]}`,
            ),
          ),
        ),
      ),
    phases.length > 0 && tableOf("Means by phase", ["", ...PHASES], phases),
  );
}
