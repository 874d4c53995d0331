// A mistake in a game with an analysis: the better turn on the board, the games that prove both, and the same as a question.

import { el } from "./dom.js";
import { name } from "./data.js";
import { stateAfter } from "./rules.js";
import { askLine } from "./exact.js";

const POSSIBLE = { w: "a win", d: "a draw", l: "a loss" };

// Whether the better turn is hidden until the reader asks for it; kept from game to game.
let isHidden = false;

const isMistake = (analysis) => Boolean(analysis?.better);

// The states after the turns of a line, from a state on; they end before one that is illegal.
function statesAlong(from, line) {
  const states = [];
  for (const turn of line) {
    const next = stateAfter(states.at(-1) ?? from, turn);
    if (!next) break;
    states.push(next);
  }
  return states;
}

// What is shown beside the turns of a game. `redraw()` draws it all again.
export function betterTurns(game, states, redraw) {
  // The turn that it is about; "" for the game itself, "better" for the better turn, "line" for a game that proves it.
  let about = 0;
  let kind = "";
  let line = { title: "", states: [], place: 0 };
  // The turn whose better turn the reader has asked for.
  let revealed = 0;

  const isSecret = (turn) => isHidden && revealed !== turn && isMistake(game.analysis.get(turn));

  function show(turn, what, title, steps) {
    about = turn;
    kind = what;
    revealed = turn;
    line = { title, states: steps ? statesAlong(states[turn - 1], steps) : [], place: 0 };
    redraw();
  }

  // A game that proves a turn: of the record, or found by the solver.
  function prove(turn, title, answer, stored) {
    if (stored.length > 1) { show(turn, "line", title, stored); return; }
    const [state] = statesAlong(states[turn - 1], [answer]);
    show(turn, "line", title, [answer]);
    askLine(game, state.request, ({ line: more = [] }) => { if (kind === "line" && about === turn && line.title === title) show(turn, "line", title, [answer, ...more]); });
  }

  function leave() {
    kind = "";
    redraw();
  }

  function move(by) {
    const place = Math.min(line.states.length - 1, Math.max(0, line.place + by));
    line = { ...line, place };
    redraw();
  }

  function button(title, act, more) {
    return el("button", { type: "button", onclick: act, ...more }, title);
  }

  // Who makes the turn at this place of a line that begins with this turn: the sides take turns.
  const mover = (turn, place = 0) => name(game.sides[(game.sideOf(turn - 1) + place) % 2]);

  return {
    isSecret,

    // Whether marks of mistakes would tell what the reader is to find.
    get hidesMarks() { return isHidden; },

    // The state that is shown in place of the one after this turn, and after how many turns it is; null for none.
    instead(turn) {
      if (isSecret(turn)) return { state: states[turn - 1], turns: turn - 1 };
      if (kind === "" || about !== turn) return null;
      if (kind === "line") {
        const state = line.states[line.place];
        return state ? { state, turns: turn + line.place } : null;
      }
      const better = statesAlong(states[turn - 1], [game.analysis.get(turn).better])[0];
      return better ? { state: better, kind: "ghost", turns: turn } : null;
    },

    story(turn) {
      const analysis = game.analysis.get(turn);
      if (!isMistake(analysis)) return [];
      const hide = el("label", { class: "choice" }, el("input", {
        type: "checkbox", checked: isHidden, "data-keep": "hide-better",
        onchange: (event) => { isHidden = event.target.checked; revealed = 0; kind = ""; redraw(); },
      }), " Hide solutions (practise)");
      if (isSecret(turn)) {
        const possible = POSSIBLE[analysis.best] ?? "more";
        return [
          el("p", {}, el("strong", { class: "name" }, mover(turn)), ` is to move, and ${possible} is possible. What would you play?`),
          el("div", { class: "row" }, button("Best move", () => show(turn, "better"))), hide,
        ];
      }
      if (kind === "line" && about === turn) {
        const state = line.states[line.place];
        const isLast = line.place === line.states.length - 1;
        return [
          el("h3", {}, line.title),
          el("p", { class: "did", role: "status" }, state ? [el("strong", { class: "name" }, mover(turn, line.place)), ` ${state.words}`] : "Nothing is known of it."),
          el("div", { class: "row" },
            button("← Back", () => move(-1), { disabled: line.place === 0 }), button("Next →", () => move(1), { disabled: isLast, "data-keep": "line-on" }),
            button("Return to the game", leave)),
          el("p", { class: "hint" }, `Turn ${line.place + 1} of ${line.states.length}, with best play by both.`),
        ];
      }
      const isShown = kind === "better" && about === turn;
      return [
        isShown ? el("p", { class: "hint" }, "The board shows the better turn.") : null,
        el("div", { class: "row" },
          isShown ? button("Return to the game", leave) : button("Best move", () => show(turn, "better")),
          button("Why", () => prove(turn, "After the better turn", analysis.better, analysis.betterLine)),
          button("Refutation", () => prove(turn, "After the turn that was made", game.turns[turn - 1], analysis.playedLine))),
        hide,
      ];
    },

    // Keys while a line is shown; true when one was used.
    key(event) {
      if (kind === "") return false;
      if (event.key === "Escape") leave();
      else if (kind === "line" && event.key === "ArrowRight") move(1);
      else if (kind === "line" && event.key === "ArrowLeft") move(-1);
      else return false;
      return true;
    },

    reset() {
      kind = "";
    },
  };
}
