// What each turn in a position is worth, on the cells of the board and on the pieces to give; and what comes of it:
// turns that were not made in the game, the branch.

import { button, checkbox, choices, el, fill, keepingFocus, oneTabStop, refill, svg } from "./dom.js";
import { askValues, stopSolving } from "./exact.js";
import { choicesOf, inWords, legalAnswers, piecePicture, stateAfter, statesAfter } from "./rules.js";
import { reader } from "./state.js";

// By key: columns and rows.
const STEPS = new Map([
  ["ArrowLeft", [-1, 0]],
  ["ArrowRight", [1, 0]],
  ["ArrowUp", [0, -1]],
  ["ArrowDown", [0, 1]],
]);

/** @type {Record<string, string>} */
const SIGNS = { win: "+", draw: "=", loss: "−", unknown: "?" };

// Larger is better for the side to move: a sooner win, a later loss.
const WORTH = {
  win: (/** @type {number} */ plies) => 1000 - plies,
  draw: () => 0,
  loss: (/** @type {number} */ plies) => plies - 1000,
};

/** @param {Worth} worth */
const worthRank = ({ value, plies }) => (value === null ? -2000 : WORTH[value](plies ?? 100));

/**
 * Of several turns the best that is proven.
 *
 * @template {Worth} T
 * @param {T[]} turns
 */
const topOf = (turns) => turns.reduce((a, b) => (worthRank(b) > worthRank(a) ? b : a));

/** @type {Unproven} */
const UNPROVEN = { value: null, plies: null };

/**
 * The same; unknown while a better one is possible.
 *
 * @template {Worth} T
 * @param {T[]} turns
 * @returns {T | Unproven}
 */
export function bestOf(turns) {
  const top = topOf(turns);
  return top.value !== "win" && turns.some(({ value }) => value === null) ? UNPROVEN : top;
}

// How often a player who slips makes any turn.
const SLIPS = 0.2;

/** @param {WorthOfTurn[]} turns */
function perfectTurn(turns) {
  const top = worthRank(topOf(turns));
  return oneOf(turns.filter((turn) => worthRank(turn) === top));
}

/**
 * Who answers the turns of a branch: a title, and a choice among the turns with their values.
 *
 * @type {Record<Opponent, [title: string, choose: ((turns: WorthOfTurn[]) => WorthOfTurn) | null]>}
 */
const OPPONENTS = {
  "": ["both sides are yours", null],
  perfect: ["perfect play", perfectTurn],
  slips: ["perfect play with slips", (turns) => (Math.random() < SLIPS ? oneOf(turns) : perfectTurn(turns))],
  // Takes a win that is there, and gives none away.
  greedy: [
    "greedy",
    (turns) => {
      const wins = turns.filter(({ value, plies }) => value === "win" && plies === 0);
      const safe = turns.filter(({ value, plies }) => value !== "loss" || (plies ?? 0) > 1);
      return oneOf([wins, safe, turns].find((some) => some.length > 0) ?? turns);
    },
  ],
};

/**
 * The cell or column of a field, as an answer begins.
 *
 * @param {SVGElement} field
 */
const cellOfField = (field) => field.dataset.cell ?? "";

/**
 * @template T
 * @param {T[]} turns
 */
const oneOf = (turns) => turns[Math.floor(Math.random() * turns.length)];

/**
 * Values beside a board. `redraw()` draws the game again; `always`: there is nothing else to see. `send(request,
 * answer)`: the turn is made in a game that is being played, and no value is computed.
 *
 * @param {PlayedGame} game
 * @param {() => void} redraw
 * @param {boolean} [always]
 * @param {((question: string, answer: string) => void) | null} [send]
 */
export function turnValues(game, redraw, always, send = null) {
  if (always && !send) reader.showsValues = true;
  /** @type {string | null} */
  let request = null;
  /** @type {Solved & { values: Record<string, Worth> }} */
  let found = { values: {}, done: false, error: "" };
  // The cell whose gifts are shown, as an answer begins: "5".
  /** @type {string | null} */
  let cell = null;
  // The cell to which the arrow keys led.
  /** @type {string | null} */
  let stop = null;
  // What is shown; nothing is asked of it before `show`.
  /** @type {{ picture: Element, state: State, mover: string }} */
  let place;
  // The turns of the branch and the states after them, from the state after this turn of the game on.
  /** @type {{ from: number, turns: string[], states: State[] }} */
  let branch = { from: 0, turns: [], states: [] };
  // Whether the reader is asked for a turn here, whatever is chosen.
  let isAsked = false;
  const shows = () => reader.showsValues || isAsked || send !== null;
  const hides = () => reader.practises || isAsked || send !== null;
  // What is said of the reader's last turn, in practice.
  let remark = "";
  const panel = el("div.worth");

  // In how many placements or discs the game ends, this turn's included.
  const gives = () => place.state.left !== null && place.state.hand === null;
  const own = () => (gives() ? 0 : 1);
  /** @param {Worth} worth */
  const words = ({ value, plies }) => {
    if (value === null) return "not solved yet";
    if (value === "draw" || plies === null) return value;
    const count = plies + own();
    return count <= 1 && value === "win" ? "wins now" : `${value} in ${count}`;
  };
  /** @param {Worth} worth */
  const kind = ({ value }) => (hides() ? "unknown" : (value ?? "unknown"));
  /** @param {Worth} worth */
  const told = (worth) => (hides() ? "" : words(worth));
  /** @param {Worth} worth */
  const sign = (worth) => (hides() ? "" : SIGNS[kind(worth)]);
  /** @returns {WorthOfTurn[]} */
  const turns = () =>
    Object.entries(found.values).map(([turn, worth]) => ({
      turn,
      first: turn.split(" ")[0],
      gift: turn.split(" ")[1] ?? null,
      ...worth,
    }));
  /**
   * @param {string} first
   * @param {WorthOfTurn[]} all
   */
  const ofCell = (first, all) => all.filter((turn) => turn.first === first);

  function overlay() {
    const { picture, state } = place;
    const every = turns();
    for (const old of picture.querySelectorAll(".worth-cell")) old.remove();
    const fields = choicesOf(state);
    for (const field of fields) {
      const answer = cellOfField(field);
      const all = ofCell(answer, every);
      const worth = all.length ? bestOf(all) : UNPROVEN;
      const name = `${state.left ? "cell" : "column"} ${answer}${hides() ? "" : `: ${words(worth)}`}`;
      const choose = () => {
        cell = answer;
        keepingFocus(panel, show);
      };
      /** @param {KeyboardEvent} event */
      const key = (event) => {
        if (event.key === "Enter" || event.key === " ") {
          event.preventDefault();
          event.stopPropagation();
          choose();
        }
      };
      field.classList.add(`worth-${kind(worth)}`);
      if (answer === cell) field.classList.add("chosen");
      field.querySelector(".words")?.replaceChildren(worth.value === null ? "" : told(worth));
      field.querySelector(".sign")?.replaceChildren(sign(worth));
      picture.append(
        fill(
          field,
          {
            "data-value": kind(worth),
            role: "button",
            tabindex: -1,
            "aria-label": name,
            "data-keep": `worth-${answer}`,
            onclick: choose,
            onkeydown: key,
          },
          [svg("title", name)],
        ),
      );
    }
    // One stop of the tab key: the cell that was reached last, or else the chosen one.
    const first = fields.findIndex((field) => cellOfField(field) === (stop ?? cell));
    oneTabStop(fields.splice(Math.max(0, first), 1).concat(fields), nextCell);
  }

  /**
   * The next cell in the direction of an arrow key where a turn can be made, skipping those that are taken.
   *
   * @param {SVGElement} field
   * @param {string} key
   */
  function nextCell(field, key) {
    const width = place.state.left ? 4 : 7;
    const step = STEPS.get(key);
    if (!step) return null;
    const [columns, rows] = step;
    const at = Number(cellOfField(field)) - 1;
    let [column, row] = [at % width, Math.floor(at / width)];
    const all = /** @type {SVGElement[]} */ ([...place.picture.querySelectorAll(".worth-cell")]);
    const others = new Map(all.map((other) => [cellOfField(other), other]));
    for (;;) {
      [column, row] = [column + columns, row + rows];
      if (column < 0 || row < 0 || column >= width || row >= width) return field;
      const other = others.get(String(row * width + column + 1));
      if (other) {
        stop = cellOfField(other);
        return other;
      }
    }
  }

  /**
   * @param {string} turn
   * @param {boolean} [isMine]
   */
  function make(turn, isMine) {
    if (send) {
      if (request !== null) send(request, turn);
      return;
    }
    const worth = found.values[turn];
    const top = found.done ? bestOf(turns()) : null;
    if (isMine) remark = hides() && top ? judged(turn, worth, top) : "";
    const after = stateAfter(place.state, turn);
    if (!after) return;
    branch.turns.push(turn);
    branch.states.push(after);
    redraw();
  }

  /** @param {number} count */
  function takeBack(count) {
    branch.turns.splice(-count);
    branch.states.splice(-count);
    remark = "";
    redraw();
  }

  /**
   * @param {string} turn
   * @param {Worth} worth
   * @param {WorthOfTurn | Unproven} top
   */
  function judged(turn, worth, top) {
    if (worth.value === top.value)
      return `${turn} is right: it ${worth.value === "win" && worth.plies === 0 ? "wins" : `is a ${words(worth)}`}.`;
    const made = `${worth.value}${worth.plies === null ? "" : ` in ${worth.plies + own()}`}`;
    const best = top.value === "win" && top.plies === 0 ? "wins immediately" : `is a ${words(top)}`;
    const advice = reader.opponent === "" ? "Play the best turns to see why." : "See what follows.";
    return `${turn} is wrong: it is a ${made}, and ${"turn" in top ? top.turn : "another"} ${best}. ${advice}`;
  }

  // The turns that can be made: buttons for the gifts after the chosen cell.
  function turnChoices() {
    const all = gives() ? ofCell("-", turns()) : cell === null ? [] : ofCell(cell, turns());
    if (all.length === 0) return null;
    /** @param {WorthOfTurn} turn */
    const item = (turn) => {
      const gift = turn.gift === "-" ? null : turn.gift;
      return el(
        "li",
        el(
          "button",
          {
            type: "button",
            class: `worth-gift worth-${kind(turn)}`,
            "data-gift": gift,
            "data-value": kind(turn),
            "data-keep": `make-${turn.turn}`,
            "aria-label": `${gift === null ? `play ${cell}` : inWords(game, gift)}${hides() ? "" : `: ${words(turn)}`}`,
            onclick: () => make(turn.turn, true),
          },
          gift === null ? null : piecePicture(game, gift, { "aria-hidden": "true" }),
          el("strong", gift ?? "Play it"),
          ` ${sign(turn)} ${told(turn)}`,
        ),
      );
    };
    const title = gives() ? "Give a piece" : all[0].gift === null ? `Column ${cell}` : `On cell ${cell}, then give`;
    return el(
      "div",
      el("h3", title),
      el("ul.worth-gifts", ...(hides() ? all : all.sort((a, b) => worthRank(b) - worthRank(a))).map(item)),
    );
  }

  // Turns that are not of the game, and who answers them.
  function branchPart() {
    const made = branch.turns.length;
    /**
     * @template T
     * @param {(value: T) => void} change
     * @returns {(value: T) => void}
     */
    const choose = (change) => (value) => {
      change(value);
      show();
      answer();
    };
    const opponents = Object.entries(OPPONENTS).map(([key, [title]]) => /** @type {[string, string]} */ ([key, title]));
    const who = el(
      "label.choice",
      "Answers: ",
      choices(
        opponents,
        reader.opponent,
        choose((value) => {
          reader.opponent = /** @type {Opponent} */ (value);
        }),
        { "data-keep": "worth-answers" },
      ),
    );
    const practice = checkbox(
      "Practise: hide the values until I have chosen",
      reader.practises,
      choose((/** @type {boolean} */ checked) => {
        reader.practises = checked;
        cell = null;
      }),
      { "data-keep": "worth-practice" },
    );
    return el(
      "div.branch",
      remark && el("p.worth-remark", { role: "status" }, remark),
      made === 0
        ? el(
            "p.hint",
            always
              ? place.state.left
                ? "Choose a cell, then a piece to give."
                : "Choose a column."
              : "Choose a turn to see what would come of it; the game stays as it is.",
          )
        : el("p", always ? "Turns: " : "Not in the game: ", el("strong", branch.turns.join(", "))),
      el(
        "div.row",
        made > 0 && button("Take back", () => takeBack(1), { "data-keep": "worth-back" }),
        made > 0 &&
          button(always ? "Start again" : "Return to the game", () => takeBack(made), { "data-keep": "worth-leave" }),
        found.done && button("Play the best turn", () => make(topOf(turns()).turn), { "data-keep": "worth-best" }),
      ),
      who,
      practice,
    );
  }

  // After an odd number of turns the other side is to move.
  function answer() {
    const choose = OPPONENTS[reader.opponent][1];
    if (choose && found.done && branch.turns.length % 2 === 1) make(choose(turns()).turn);
  }

  function verdict() {
    if (send) {
      const { left, hand } = place.state;
      const first = left ? `choose a cell for ${hand}, then a piece to give` : "choose a column";
      return `It is your turn: ${gives() ? "give a piece" : first}.`;
    }
    if (hides()) return found.done ? `${place.mover} is to move.` : "Not solved yet.";
    if (found.error) return `It cannot be solved: ${found.error}.`;
    const all = turns();
    const solved = all.filter(({ value, plies }) => value === "draw" || plies !== null).length;
    const top = all.length ? bestOf(all) : UNPROVEN;
    if (top.value === null) return all.length ? `Not solved yet: ${solved} of ${all.length} turns.` : "Not solved yet.";
    const more = found.done ? "" : ` (${solved} of ${all.length} turns solved so far)`;
    if (top.value === "draw") return `A draw with best play${more}.`;
    const count = top.plies === null ? "" : ` in ${top.plies + own()}`;
    return `${place.mover} ${top.value === "win" ? "wins" : "loses"}${count} with best play${more}.`;
  }

  function show() {
    if (cell === null && !gives() && turns().length) {
      const top = topOf(turns());
      if (top.value !== null && found.done && !hides()) cell = top.first;
    }
    keepingFocus(place.picture, overlay);
    const top = turns().length ? bestOf(turns()) : UNPROVEN;
    refill(
      panel,
      el(`p.worth-bar.worth-${kind(top)}`, { role: "status" }, verdict()),
      turnChoices(),
      !send && branchPart(),
    );
  }

  return {
    panel,

    // The switch; `null` where there is nothing to switch.
    control: always
      ? null
      : checkbox(
          "What is each turn worth?",
          reader.showsValues,
          (checked) => {
            reader.showsValues = checked;
            redraw();
          },
          { class: "worth-switch", "data-keep": "worth" },
        ),

    /**
     * The state of the branch that is shown in place of the one after this turn; null for none.
     *
     * @param {number} turn
     */
    instead(turn) {
      if (branch.from !== turn || !shows()) {
        remark = "";
        branch = { from: turn, turns: [], states: [] };
      }
      const state = branch.states.at(-1);
      return state ? { state } : null;
    },

    // The branch for an address: "5A~13B".
    get line() {
      return branch.turns.map((turn) => turn.replace(" ", "")).join("~");
    },

    /**
     * Makes the turns of an address from this state on.
     *
     * @param {number} turn
     * @param {State} state
     * @param {string} line
     */
    follow(turn, state, line) {
      reader.showsValues = true;
      const turns = line.split("~").map((text) => text.replace(/^(\d+|-)(?=\D)/, "$1 "));
      const states = statesAfter(state, turns);
      branch = { from: turn, turns: turns.slice(0, states.length), states };
    },

    /**
     * Shows what the turns in this state are worth on its drawing; with a question, after the reader has made one.
     *
     * @param {Element} picture
     * @param {State} state
     * @param {string} mover
     * @param {boolean} [isQuestion]
     */
    show(picture, state, mover, isQuestion = false) {
      panel.replaceChildren();
      isAsked = isQuestion;
      if (!shows() || state.over) {
        if (request !== null) stopSolving();
        request = null;
        // Nothing to solve: the game or the branch is over.
        if (shows() && branch.turns.length > 0) refill(panel, branchPart());
        return;
      }
      place = { picture, state, mover };
      if (state.request !== request) {
        request = state.request;
        cell = stop = null;
        found = { values: {}, done: false, error: "" };
        if (send)
          found.values = Object.fromEntries(legalAnswers(state).map((turn) => [turn, { value: null, plies: null }]));
        else
          askValues(game, request, (news) => {
            found = { ...found, ...news };
            keepingFocus(panel, show);
            answer();
          });
      }
      show();
    },

    leave() {
      if (request !== null) stopSolving();
      request = null;
    },
  };
}
