// What an analysis says of bots and games: accuracy, blunders and missed wins, by phase.

import { botLink, gameHash, name, notesOf, sideOfTurn } from "./data.js";
import { card, count, el, folded, percent, scrolled } from "./dom.js";
import { known, reader } from "./state.js";
import { cellOf, columnHead, plainTable, rowHead } from "./tables.js";

export const PHASES = ["opening", "middlegame", "endgame"];
/** @type {Record<string, number>} */
const RANKS = { w: 2, d: 1, l: 0 };
/** @type {Record<string, string>} */
const RESULTS = { w: "win", d: "draw", l: "loss" };
const FOLDED_BOTS = 12;

/**
 * The phase of a turn, from 1, as a place in PHASES.
 *
 * @param {Pick<GameSummary, "phases">} game
 * @param {number} turn
 */
export const phaseOf = ({ phases }, turn) => phases.filter((first) => turn >= first).length;

/**
 * The solved turns of a game: who made them, in which phase, and what they gave away.
 *
 * @param {GameSummary} game
 * @returns {JudgedTurn[]}
 */
export function judgedTurns(game) {
  if (game.judged) return game.judged;
  /** @type {JudgedTurn[]} */
  const found = [];
  for (const [turn, { value, best, remark, missed }] of [...notesOf(game)].sort(([a], [b]) => a - b)) {
    const isKnown = value !== "" && best !== "";
    if (!isKnown && !missed) continue;
    found.push({
      game,
      turn,
      value,
      best,
      remark,
      missed,
      isKnown,
      bot: game.sides[sideOfTurn(game, turn - 1)],
      phase: phaseOf(game, turn),
      lost: isKnown ? RANKS[best] - RANKS[value] : 0,
    });
  }
  game.judged = found;
  return found;
}

/**
 * Sums of a bot by phase, as in the figures: solved turns, those that kept it, blunders and missed wins.
 *
 * @param {number} bot
 * @returns {PhaseSums[]}
 */
export function phasesOf(bot) {
  const sums = PHASES.map(() => /** @type {PhaseSums} */ ([0, 0, 0, 0]));
  for (const turn of known.games.flatMap(judgedTurns).filter((one) => one.bot === bot)) {
    const counts = [turn.isKnown, turn.isKnown && turn.lost <= 0, turn.lost > 0, turn.missed];
    counts.forEach((counts, kind) => {
      sums[turn.phase][kind] += counts ? 1 : 0;
    });
  }
  return sums;
}

export const isAnalysed = () => known.figures.places.some((place) => place.phases !== undefined);

/** @param {JudgedTurn} mistake */
export function gaveAway(mistake) {
  return `${RESULTS[mistake.best]} → ${RESULTS[mistake.value]}`;
}

/**
 * What an analysis says of a turn, with answers in words.
 *
 * @param {string} remark
 */
export function told(remark) {
  const words = remark
    .replaceAll(/`- (\S)`/g, "giving $1")
    .replaceAll(/`(\d+) -`/g, "cell $1")
    .replaceAll("`", "");
  return words.replaceAll(/(^|[.!?] )([a-z])/g, (_, before, letter) => before + letter.toUpperCase());
}

/**
 * The worst mistake, of all bots or of one: a win turned into a loss before anything else, by the bot of the
 * highest rating.
 *
 * @param {GameSummary[]} games
 * @param {number} [of]
 */
export function worstMistake(games, of) {
  const elo = new Map(known.figures.places.map((place) => [place.bot, place.elo]));
  /** @param {JudgedTurn} mistake */
  const merit = ({ lost, best, bot }) => 1e7 * lost + (best === "w" ? 1e6 : 0) + (elo.get(bot) ?? 0);
  const all = games.flatMap(judgedTurns).filter(({ lost, bot }) => lost > 0 && (of === undefined || bot === of));
  return all.reduce(
    (worst, turn) => (worst && merit(worst) >= merit(turn) ? worst : turn),
    /** @type {JudgedTurn | null} */ (null),
  );
}

/** @type {[title: string, test: (turn: JudgedTurn) => boolean][]} */
const KINDS_OF_MISTAKES = [
  ["blunders", ({ lost }) => lost > 0],
  ["missed wins", ({ missed }) => missed],
];

/**
 * Cells of blunders and missed wins among these turns. A count, of the figures, leads to the first of them, and
 * when the reader is back to the next one; `words(what)` is the key by which this is remembered, and the label.
 *
 * @param {JudgedTurn[]} turns
 * @param {PhaseSums} figures
 * @param {(what: string) => [key: string, label: string]} words
 */
const mistakeCells = (turns, figures, words) =>
  KINDS_OF_MISTAKES.map(([what, test], kind) => {
    const [found, shown, [key, label]] = [turns.filter(test), count(figures[2 + kind]), words(what)];
    if (found.length === 0) return cellOf(shown);
    const at = ((reader.visited.get(key) ?? -1) + 1) % found.length;
    const { game, turn } = found[at];
    return cellOf(
      el(
        "a",
        {
          href: gameHash(game.number, turn),
          "aria-label": `${shown} ${label}: go to number ${at + 1}`,
          onclick: () => reader.visited.set(key, at),
        },
        shown,
      ),
    );
  });

const HEADS = ["bot", "all", ...PHASES, "blunders", "missed wins in 1"];

/**
 * @param {PhaseSums[]} phases
 * @returns {PhaseSums}
 */
const sumOf = (phases) =>
  phases.reduce(([a, b, c, d], phase) => [a + phase[0], b + phase[1], c + phase[2], d + phase[3]], [0, 0, 0, 0]);

/** @param {readonly [number, number, ...number[]]} sums */
const accuracyOf = ([proven, kept]) => (proven ? percent(kept / proven, 1) : "–");

/**
 * @param {string} caption
 * @param {string[]} heads
 * @param {Child[]} rows
 */
export const tableOf = (caption, heads, rows) =>
  scrolled(
    plainTable(
      "accuracy",
      caption,
      heads.map((head, i) => columnHead(PHASES.includes(head) ? "number rare" : i ? "number" : "text", head)),
      rows,
    ),
    caption,
  );

/** @param {string} text */
const rareCell = (text) => el("td.number.rare", text);

/** @param {Place[]} places */
export function accuracyCard(places) {
  const analysed = places.filter((place) => place.phases !== undefined);
  if (analysed.length === 0) return null;
  const mistakes = known.games.flatMap(judgedTurns).filter(({ lost, missed }) => lost > 0 || missed);
  /** @param {Place} place */
  const row = ({ bot, phases = [] }) => {
    const all = sumOf(phases);
    return el(
      "tr",
      rowHead(botLink(bot)),
      cellOf(el("strong", accuracyOf(all))),
      phases.map((phase) => rareCell(accuracyOf(phase))),
      mistakeCells(
        mistakes.filter((turn) => turn.bot === bot),
        all,
        (what) => [`${bot} ${what}`, `${what} of ${name(bot)}`],
      ),
    );
  };
  return card(
    "Accuracy",
    "The share of solved turns that kept the best result still possible, in all and in each third of the board. " +
      "A missed win could have been won in one move. A count leads to the games, one after the other.",
    folded(analysed, FOLDED_BOTS, reader.accuracy, (shown) => tableOf("Accuracy of each bot", HEADS, shown.map(row))),
  );
}

/**
 * @param {number} bot
 * @param {PhaseSums[]} phases
 * @param {GameSummary[]} games
 */
export function phaseTable(bot, phases, games) {
  const own = games.flatMap(judgedTurns).filter((turn) => turn.bot === bot);
  /**
   * @param {string} title
   * @param {PhaseSums} figures
   * @param {number} [part]
   */
  const row = (title, figures, part) =>
    el(
      "tr",
      rowHead(title),
      cellOf(accuracyOf(figures)),
      cellOf(count(figures[0])),
      mistakeCells(
        own.filter((turn) => part === undefined || turn.phase === part),
        figures,
        (what) => [`${bot} ${title} ${what}`, `${what}, ${title}`],
      ),
    );
  return tableOf(
    "Accuracy by phase",
    ["phase", "accuracy", "solved turns", "blunders", "missed wins in 1"],
    [...phases.map((figures, part) => row(PHASES[part], figures, part)), row("all", sumOf(phases))],
  );
}

/**
 * Accuracy of both sides of a game, by phase. A count leads to the next such turn after `now()`.
 *
 * @param {GameSummary} game
 * @param {() => number} now
 */
export function gameAccuracy(game, now) {
  const turns = judgedTurns(game);
  if (!turns.some((turn) => turn.isKnown)) return null;
  /**
   * @param {JudgedTurn[]} found
   * @param {string} what
   */
  const next = (found, what) => {
    if (found.length === 0) return "0";
    const leadsTo = (turn = found[0]) => gameHash(game.number, turn.turn);
    return el(
      "a",
      {
        href: leadsTo(),
        "aria-label": `${count(found.length)} ${what}: go to the next`,
        onclick: (event) => {
          event.currentTarget.setAttribute("href", leadsTo(found.find((turn) => turn.turn > now())));
        },
      },
      count(found.length),
    );
  };
  /** @param {JudgedTurn[]} those */
  const share = (those) => accuracyOf([those.length, those.filter((turn) => turn.lost <= 0).length]);
  const rows = game.sides.map((bot) => {
    const own = turns.filter((turn) => turn.bot === bot);
    const sure = own.filter((turn) => turn.isKnown);
    return el(
      "tr",
      rowHead(el("span.name", name(bot))),
      cellOf(el("strong", share(sure))),
      PHASES.map((_, part) => rareCell(share(sure.filter((turn) => turn.phase === part)))),
      KINDS_OF_MISTAKES.map(([what, test]) => cellOf(next(own.filter(test), `${what} of ${name(bot)}`))),
    );
  });
  return card(
    "Accuracy",
    "The share of solved turns that kept the best result still possible. " +
      "A missed win could have been won in one move. A count leads to the next one.",
    tableOf("Accuracy in this game", HEADS, rows),
  );
}
