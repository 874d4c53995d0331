// What an analysis says of bots and games: accuracy, blunders and missed wins, by phase.

import { capitalised, card, count, el, folded, link, percent, scrolled } from "./dom.js";
import { botLink, gameHash, known, name } from "./data.js";

export const PHASES = ["opening", "middlegame", "endgame"];
const RANKS = { w: 2, d: 1, l: 0 };
const RESULTS = { w: "win", d: "draw", l: "loss" };
const FOLDED_BOTS = 12;

// The mistake that was shown last, by the count that led to it, so that the count leads to the next one.
const lastVisited = new Map();
const unfolded = {};

// The phase of a turn, from 1; see `src/report/html/figures.rs`.
export function phaseOf(game, turn) {
  const cells = { quarto: 16, "four-in-a-row": 42 }[known.editions[game.edition]?.game];
  if (!cells) return Math.min(2, Math.floor((3 * (turn - 1)) / Math.max(1, game.length)));
  const opening = [...(game.field(13) ?? "")].slice(0, cells).filter((cell) => cell !== ".").length;
  const givesOnly = cells === 16 && game.field(9).startsWith("-") ? 1 : 0;
  return Math.min(2, Math.floor((3 * (opening + Math.max(0, turn - 1 - givesOnly))) / cells));
}

// The solved turns of a game: who made them, in which phase, and what they gave away.
export function judgedTurns(game) {
  if (game.judged) return game.judged;
  const found = [];
  const [values, bests, , more] = game.field(14) ?? ["", "", "", []];
  const movers = game.field(16);
  const sides = [game.bots[game.first], game.bots[1 - game.first]];
  const marks = new Map(more.map(([turn, mark = "", , remark = "", , , missed = ""]) => [turn, { remark: capitalised(remark), missed: mark === "missed-win" || missed !== "" }]));
  for (let turn = 1; turn <= values.length; turn += 1) {
    const [value, best] = [values[turn - 1], bests[turn - 1]];
    const { remark, missed } = marks.get(turn) ?? { remark: "", missed: false };
    const isKnown = value !== "-" && best !== "-";
    if (!isKnown && !missed) continue;
    found.push({
      game, turn, value, best, remark, missed, isKnown,
      bot: sides[movers ? Number(movers[turn - 1]) : (turn - 1) % 2],
      phase: phaseOf(game, turn),
      lost: isKnown ? RANKS[best] - RANKS[value] : 0,
    });
  }
  game.judged = found;
  return found;
}

// Sums of a bot by phase, as in the figures: solved turns, those that kept it, blunders and missed wins.
export function phasesOf(bot) {
  const sums = PHASES.map(() => [0, 0, 0, 0]);
  for (const turn of known.games.flatMap(judgedTurns).filter((one) => one.bot === bot)) {
    const counts = [turn.isKnown, turn.isKnown && turn.lost <= 0, turn.lost > 0, turn.missed];
    sums[turn.phase] = sums[turn.phase].map((sum, i) => sum + (counts[i] ? 1 : 0));
  }
  return sums;
}

export const isAnalysed = () => known.figures.places.some((place) => place.phases !== undefined);

export function gaveAway(mistake) {
  return `${RESULTS[mistake.best]} → ${RESULTS[mistake.value]}`;
}

// What an analysis says of a turn, with answers in words.
export function told(remark) {
  const words = remark.replaceAll(/`- (\S)`/g, "giving $1").replaceAll(/`(\d+) -`/g, "cell $1").replaceAll("`", "");
  return words.replaceAll(/(^|[.!?] )([a-z])/g, (_, before, letter) => before + letter.toUpperCase());
}

// The same beside words that say already what the turn gave away.
export function why(remark) {
  return told(remark.replace(/^(?:\w+ )?`[^`]*` turned a \w+ into a \w+[:.] ?/i, ""));
}

// The worst mistake, of all bots or of one: a win turned into a loss before anything else, by the bot of the highest rating.
export function worstMistake(games, of) {
  const elo = new Map(known.figures.places.map((place) => [place.bot, place.elo]));
  const merit = ({ lost, best, bot }) => 1e7 * lost + (best === "w" ? 1e6 : 0) + (elo.get(bot) ?? 0);
  let worst = null;
  for (const game of games) {
    for (const turn of judgedTurns(game)) {
      if (turn.lost > 0 && (of === undefined || turn.bot === of) && (worst === null || merit(turn) > merit(worst))) worst = turn;
    }
  }
  return worst;
}

// A count that leads to the first of these mistakes, and when the reader is back to the next one.
function leading(key, found, shown, what) {
  if (found.length === 0) return shown;
  const at = ((lastVisited.get(key) ?? -1) + 1) % found.length;
  const { game, turn } = found[at];
  return el("a", { href: gameHash(game.number, turn), "aria-label": `${shown} ${what}: go to number ${at + 1}`, onclick: () => lastVisited.set(key, at) }, shown);
}

const sumOf = (phases) => phases.reduce((sum, phase) => sum.map((n, i) => n + phase[i]), [0, 0, 0, 0]);
const accuracyOf = ([proven, kept]) => (proven ? percent(kept / proven, 1) : "–");

export function tableOf(caption, heads, rows) {
  return scrolled(el("table", { class: "accuracy" }, el("caption", { class: "unseen" }, caption),
    el("thead", {}, el("tr", {}, ...heads.map((head, i) => el("th", { scope: "col", class: PHASES.includes(head) ? "number rare" : i ? "number" : "text" }, head)))),
    el("tbody", {}, ...rows)), caption);
}

export const cellOf = (...content) => el("td", { class: "number" }, ...content);
const rareCell = (text) => el("td", { class: "number rare" }, text);

function mistakesOf(bot, games) {
  return games.flatMap((game) => judgedTurns(game)).filter((turn) => turn.bot === bot);
}

export function accuracyCard(places) {
  const analysed = places.filter((place) => place.phases !== undefined);
  if (analysed.length === 0) return null;
  const byBot = new Map();
  for (const game of known.games) {
    for (const turn of judgedTurns(game).filter(({ lost, missed }) => lost > 0 || missed)) {
      if (!byBot.has(turn.bot)) byBot.set(turn.bot, []);
      byBot.get(turn.bot).push(turn);
    }
  }
  const row = ({ bot, phases }) => {
    const all = sumOf(phases);
    const own = byBot.get(bot) ?? [];
    return el("tr", {}, el("th", { scope: "row", class: "text" }, botLink(bot)),
      cellOf(el("strong", {}, accuracyOf(all))),
      ...phases.map((phase) => rareCell(accuracyOf(phase))),
      cellOf(leading(`${bot} blunders`, own.filter((turn) => turn.lost > 0), count(all[2]), `blunders of ${name(bot)}`)),
      cellOf(leading(`${bot} missed`, own.filter((turn) => turn.missed), count(all[3]), `missed wins of ${name(bot)}`)));
  };
  return card("Accuracy", "The share of solved turns that kept the best result still possible, in all and in each third of the board. A missed win could have been won in one move. A count leads to the games, one after the other.",
    folded(analysed, FOLDED_BOTS, unfolded, (shown) => tableOf("Accuracy of each bot", ["bot", "all", ...PHASES, "blunders", "missed wins in 1"], shown.map(row))));
}

export function phaseTable(bot, phases, games) {
  const own = mistakesOf(bot, games);
  const row = (title, figures, part) => {
    const those = own.filter((turn) => part === undefined || turn.phase === part);
    return el("tr", {}, el("th", { scope: "row", class: "text" }, title),
      cellOf(accuracyOf(figures)), cellOf(count(figures[0])),
      cellOf(leading(`${bot} ${title} blunders`, those.filter((turn) => turn.lost > 0), count(figures[2]), `blunders, ${title}`)),
      cellOf(leading(`${bot} ${title} missed`, those.filter((turn) => turn.missed), count(figures[3]), `missed wins, ${title}`)));
  };
  return tableOf("Accuracy by phase", ["phase", "accuracy", "solved turns", "blunders", "missed wins in 1"],
    [...phases.map((figures, part) => row(PHASES[part], figures, part)), row("all", sumOf(phases))]);
}

// Accuracy of both sides of a game, by phase. A count leads to the next such turn after `now()`.
export function gameAccuracy(game, now) {
  const turns = judgedTurns(game);
  if (!turns.some((turn) => turn.isKnown)) return null;
  const next = (found, what) => {
    if (found.length === 0) return "0";
    return el("a", {
      href: gameHash(game.number, found[0].turn), "aria-label": `${count(found.length)} ${what}: go to the next`,
      onclick: (event) => { event.currentTarget.setAttribute("href", gameHash(game.number, (found.find((turn) => turn.turn > now()) ?? found[0]).turn)); },
    }, count(found.length));
  };
  const rows = [game.bots[game.first], game.bots[1 - game.first]].map((bot) => {
    const own = turns.filter((turn) => turn.bot === bot);
    const share = (those) => { const sure = those.filter((turn) => turn.isKnown); return accuracyOf([sure.length, sure.filter((turn) => turn.lost <= 0).length]); };
    return el("tr", {}, el("th", { scope: "row", class: "text" }, el("span", { class: "name" }, name(bot))),
      cellOf(el("strong", {}, share(own))), ...PHASES.map((_, part) => rareCell(share(own.filter((turn) => turn.phase === part)))),
      cellOf(next(own.filter((turn) => turn.lost > 0), `blunders of ${name(bot)}`)),
      cellOf(next(own.filter((turn) => turn.missed), `missed wins of ${name(bot)}`)));
  });
  return card("Accuracy", "The share of solved turns that kept the best result still possible. A missed win could have been won in one move. A count leads to the next one.",
    tableOf("Accuracy in this game", ["bot", "all", ...PHASES, "blunders", "missed wins in 1"], rows));
}
