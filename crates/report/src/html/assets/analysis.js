// Analyses games in the browser, where the page has no analysis of them.

import { unpacked } from "./data.js";
import { announce, button, card, counted, el, keepingFocus, refill } from "./dom.js";
import { analysisOf } from "./exact.js";
import { phasesOf } from "./mistakes.js";
import { canSolve } from "./rules.js";
import { known } from "./state.js";

// What is being done: games to analyse, how many are done, and where that is told.
const work = { games: /** @type {GameSummary[]} */ ([]), done: 0, isOn: false, tell: () => {} };
/** @type {Set<GameSummary>} */
const failed = new Set();

/** @param {GameSummary} game */
const isOpen = (game) => !game.notes && game.length > 0 && !failed.has(game) && canSolve(known.editions[game.edition]);

/** @param {GameSummary[]} games */
async function analyse(games) {
  Object.assign(work, { games, done: 0, isOn: true });
  for (const game of games) {
    if (!work.isOn) break;
    work.tell();
    try {
      game.notes = await analysisOf(unpacked(game));
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

/**
 * Buttons to analyse a game, or all; null where there is nothing to do.
 *
 * @param {GameSummary} [game]
 */
export function analysisCard(game) {
  const open = known.games.filter(isOpen);
  if (known.head.live || (game ? !isOpen(game) : open.length === 0)) return null;
  const box = el("div");
  const what = open.length === known.games.length ? "all " : "";
  work.tell = () => {
    keepingFocus(box, () =>
      refill(
        box,
        work.isOn
          ? [
              el("p.analysing", `${work.done} of ${counted(work.games.length, "game")} analysed. `),
              button(
                "Stop",
                () => {
                  work.isOn = false;
                  work.tell();
                },
                { "data-keep": "analyse" },
              ),
            ]
          : el(
              "div.row",
              game && button("Analyse this game", () => analyse([game]), { "data-keep": "analyse" }),
              (open.length > 1 || !game) &&
                button(`Analyse ${what}${counted(open.length, "game")}`, () => analyse(open), {
                  "data-keep": "analyse-all",
                }),
            ),
      ),
    );
  };
  work.tell();
  return card(
    "Analysis",
    "Exact values of all turns: accuracy, blunders and missed wins, found here in the browser.",
    box,
  );
}
