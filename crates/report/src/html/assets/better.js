// A mistake in a game with an analysis: the better turn on the board, the games that prove both, and the same as a
// question.

import { name } from "./data.js";
import { button, checkbox, el } from "./dom.js";
import { askLine } from "./exact.js";
import { statesAfter } from "./rules.js";
import { reader } from "./state.js";

/** @type {Record<string, string>} */
const POSSIBLE = { w: "a win", d: "a draw", l: "a loss" };

/** @param {Note | undefined} analysis */
const isMistake = (analysis) => Boolean(analysis?.better);

/**
 * What is shown beside the turns of a game. `redraw()` draws it all again.
 *
 * @param {Game} game
 * @param {State[]} states
 * @param {() => void} redraw
 */
export function betterTurns(game, states, redraw) {
  // What is shown in place of a turn, with the states after its own turns: the better turn, or with a title a game that
  // proves it. Null for nothing.
  /** @type {ShownLine | null} */
  let line = null;
  // The turn whose better turn the reader has asked for.
  let revealed = 0;

  /** @param {number} turn */
  const isSecret = (turn) => reader.hidesSolutions && revealed !== turn && isMistake(game.analysis.get(turn));

  /**
   * @param {number} turn
   * @param {string} title
   * @param {string[]} steps
   */
  function show(turn, title, steps) {
    revealed = turn;
    const after = statesAfter(states[turn - 1], steps);
    line = { turn, title, states: after, place: 0 };
    redraw();
    return after;
  }

  /**
   * A game that proves a turn: of the record, or found by the solver.
   *
   * @param {number} turn
   * @param {string} title
   * @param {string} answer
   * @param {string[]} stored
   */
  function prove(turn, title, answer, stored) {
    if (stored.length > 1) {
      show(turn, title, stored);
      return;
    }
    const [first] = show(turn, title, [answer]);
    askLine(game, first.request, ({ line: more = [] }) => {
      if (line?.turn === turn && line.title === title) show(turn, title, [answer, ...more]);
    });
  }

  function leave() {
    line = null;
    redraw();
  }

  /** @param {number} by */
  function move(by) {
    if (!line) return;
    line.place = Math.min(line.states.length - 1, Math.max(0, line.place + by));
    redraw();
  }

  /**
   * Who makes the turn at this place of a line that begins with this turn: the sides take turns.
   *
   * @param {number} turn
   * @param {number} [place]
   */
  const mover = (turn, place = 0) => el("strong.name", name(game.sides[(game.sideOf(turn - 1) + place) % 2]));

  return {
    isSecret,

    // Whether marks of mistakes would tell what the reader is to find.
    get hidesMarks() {
      return reader.hidesSolutions;
    },

    /**
     * The state that is shown in place of the one after this turn; null for none.
     *
     * @param {number} turn
     * @returns {{ state: State, kind?: string } | null}
     */
    instead(turn) {
      if (isSecret(turn)) return { state: states[turn - 1] };
      const shown = line?.turn === turn ? line : null;
      const state = shown?.states[shown.place];
      return state ? { state, kind: shown?.title ? "fresh" : "ghost" } : null;
    },

    /**
     * @param {number} turn
     * @returns {Child[]}
     */
    story(turn) {
      const analysis = game.analysis.get(turn);
      if (!analysis || !isMistake(analysis)) return [];
      const hide = checkbox(
        "Hide solutions (practise)",
        reader.hidesSolutions,
        (checked) => {
          reader.hidesSolutions = checked;
          revealed = 0;
          leave();
        },
        { "data-keep": "hide-better" },
      );
      const best = button("Best move", () => show(turn, "", [analysis.better]));
      if (isSecret(turn))
        return [
          el(
            "p",
            mover(turn),
            ` is to move, and ${POSSIBLE[analysis.best] ?? "more"} is possible. What would you play?`,
          ),
          el("div.row", best),
          hide,
        ];
      const isShown = line?.turn === turn;
      if (line?.turn === turn && line.title) {
        const { place } = line;
        const { length } = line.states;
        const state = line.states[place];
        return [
          el("h3", line.title),
          el("p.did", { role: "status" }, state ? [mover(turn, place), ` ${state.words}`] : "Nothing is known of it."),
          el(
            "div.row",
            button("← Back", () => move(-1), { disabled: place === 0 }),
            button("Next →", () => move(1), { disabled: place === length - 1, "data-keep": "line-on" }),
            button("Return to the game", leave),
          ),
          el("p.hint", `Turn ${place + 1} of ${length}, with best play by both.`),
        ];
      }
      return [
        isShown && el("p.hint", "The board shows the better turn."),
        el(
          "div.row",
          isShown ? button("Return to the game", leave) : best,
          button("Why", () => prove(turn, "After the better turn", analysis.better, analysis.betterLine)),
          button("Refutation", () => prove(turn, "After the turn that was made", game.turns[turn - 1], [])),
        ),
        hide,
      ];
    },

    /**
     * Keys while a line is shown; true when one was used.
     *
     * @param {KeyboardEvent} event
     */
    key({ key }) {
      if (!line) return false;
      if (key === "Escape") leave();
      else if (line.title && key === "ArrowRight") move(1);
      else if (line.title && key === "ArrowLeft") move(-1);
      else return false;
      return true;
    },

    reset() {
      line = null;
    },
  };
}
