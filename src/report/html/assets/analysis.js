// Analyses games in the browser, where the page has no analysis of them.

import { announce, button, card, counted, el, keepingFocus, refill } from "./dom.js";
import { known, unpacked } from "./data.js";
import { canSolve } from "./rules.js";
import { analysisOf } from "./exact.js";
import { phasesOf } from "./mistakes.js";

// What is being done: games to analyse, how many are done, and where that is told.
const work = { games: [], done: 0, isOn: false, tell: null };
const failed = new Set();

const isOpen = (game) => !game.field(14) && game.length > 0 && !failed.has(game) && canSolve(known.editions[game.edition]);

async function analyse(games) {
  Object.assign(work, { games, done: 0, isOn: true });
  for (const game of games) {
    if (!work.isOn) break;
    work.tell?.();
    try {
      const notes = await analysisOf(unpacked(game));
      const { field } = game;
      game.field = (place) => (place === 14 ? notes : field(place));
      game.judged = undefined;
    } catch {
      // A record that is against the rules has no analysis.
      failed.add(game);
    }
    work.done += 1;
  }
  work.isOn = false;
  if (!known.games.some(isOpen)) for (const place of known.figures.places) place.phases = phasesOf(place.bot);
  announce(`${counted(work.done, "game")} analysed`);
  window.dispatchEvent(new Event("analysed"));
}

// Buttons to analyse a game, or all; null where there is nothing to do.
export function analysisCard(game) {
  const open = known.games.filter(isOpen);
  if (known.head.live || (game ? !isOpen(game) : open.length === 0)) return null;
  const box = el("div");
  const what = open.length === known.games.length ? "all " : "";
  work.tell = () => keepingFocus(box, () => refill(box, work.isOn ? [
    el("p.analysing", `${work.done} of ${counted(work.games.length, "game")} analysed. `), button("Stop", () => { work.isOn = false; work.tell(); }, { "data-keep": "analyse" }),
  ] : el("div.row", game && button("Analyse this game", () => analyse([game]), { "data-keep": "analyse" }),
    (open.length > 1 || !game) && button(`Analyse ${what}${counted(open.length, "game")}`, () => analyse(open), { "data-keep": "analyse-all" }))));
  work.tell();
  return card("Analysis", "Exact values of all turns: accuracy, blunders and missed wins, found here in the browser.", box);
}
