// A page of puzzles to solve by hand.

import { announce, button, byId, card, choices, counted, el, fill, focusFirst, link, own } from "./dom.js";
import { askLine } from "./exact.js";
import {
  advice,
  choicesOf,
  drawBoard,
  features,
  inWords,
  legend,
  loadRules,
  noBoard,
  piecePicture,
  stateAfter,
  statesAfter,
  statesOf,
} from "./rules.js";
import { applyTheme, storedTheme } from "./theme.js";

/** @type {PuzzlePageData} */
const data = JSON.parse(byId("data").textContent ?? "");
const main = byId("main");

/** @type {Record<string, [title: string, task: string]>} */
const KINDS = {
  "take-the-win": ["Take the win", "You can win, immediately or by force. Find a turn that keeps the win."],
  "give-no-win": ["Give no win", "One wrong turn, and your opponent wins immediately. Find a turn that prevents it."],
  "hold-the-draw": ["Hold the draw", "You cannot force a win. Find a turn that keeps the draw."],
  "only-turn": ["Find the only turn", "Only one turn is right. Find it."],
};

/** @type {Puzzle[]} */
const puzzles = data.puzzles.map(
  ([edition, id, position, kind, value, answers, turns, level, failed, asked], index) => {
    const game = { ...data.editions[edition], start: position, turns: [], isPosition: true };
    return { number: index + 1, id, position, kind, value, answers, turns, level, failed, asked, game };
  },
);

// --- what was solved ----------------------------------------------------------------------------

/** @type {Record<string, string>} */
const MARKS = { solved: "✓ ", failed: "✗ " };
const STORED = "referee-puzzles";
/** @type {Record<string, string>} */
const WORDS = { solved: "solved at the first try", failed: "not solved at the first try" };

/**
 * By id: "solved" or "failed" at the first try.
 *
 * @type {Map<string, string>}
 */
const tried = (() => {
  // A browser may forbid storage, as for files; then it is known until the page is closed.
  try {
    return new Map(Object.entries(JSON.parse(localStorage.getItem(STORED) ?? "null") ?? {}));
  } catch {
    return new Map();
  }
})();

function store() {
  try {
    localStorage.setItem(STORED, JSON.stringify(Object.fromEntries(tried)));
  } catch {
    /* see above */
  }
}

/**
 * @param {Puzzle} puzzle
 * @param {boolean} isRight
 */
function noteFirst(puzzle, isRight) {
  if (tried.has(puzzle.id)) return;
  tried.set(puzzle.id, isRight ? "solved" : "failed");
  store();
}

function forgetAll() {
  for (const { id } of puzzles) tried.delete(id);
  store();
}

/** @param {number} number */
const puzzleHash = (number) => `#puzzle=${number}`;

/**
 * The next puzzle of the chosen kind that was not tried; after the last one the first.
 *
 * @param {number} after
 */
function nextOpen(after) {
  const open = puzzles.filter((puzzle) => isChosen(puzzle) && !tried.has(puzzle.id) && puzzle.number !== after);
  return open.find((puzzle) => puzzle.number > after) ?? open[0];
}

// --- all puzzles --------------------------------------------------------------------------------

let chosenKind = "";
/** @param {Puzzle} puzzle */
const isChosen = (puzzle) => chosenKind === "" || puzzle.kind === chosenKind;

/** @param {number} now */
function overviewCard(now) {
  const chosen = puzzles.filter(isChosen);
  /** @param {string} state */
  const of = (state) => chosen.filter((puzzle) => tried.get(puzzle.id) === state).length;
  const present = Object.entries(KINDS)
    .filter(([kind]) => puzzles.some((puzzle) => puzzle.kind === kind))
    .map(([kind, [title]]) => /** @type {[value: string, title: string]} */ ([kind, title]));
  /** @param {string} kind */
  const choose = (kind) => {
    chosenKind = kind;
    draw();
    focusFirst(main, '[data-keep="kind"]');
  };
  const choice = el(
    "label.choice",
    "Kind ",
    choices([["", "all"], ...present], chosenKind, choose, {
      "data-keep": "kind",
    }),
  );
  /** @param {Puzzle} puzzle */
  const item = (puzzle) => {
    const state = tried.get(puzzle.id);
    return el(
      "li",
      el(
        "a",
        {
          href: puzzleHash(puzzle.number),
          class: state ?? "open",
          "aria-label": `Puzzle ${puzzle.number}${state ? `, ${WORDS[state]}` : ""}`,
          "aria-current": puzzle.number === now && "page",
        },
        own(MARKS, state),
        puzzle.number,
      ),
    );
  };
  const again = button("Start again", () => {
    forgetAll();
    draw();
    focusFirst(main, ".asked button");
    announce("All puzzles are open again");
  });
  const [solved, failed] = [of("solved"), of("failed")];
  return card(
    "All puzzles",
    `${solved} solved at the first try, ${failed} not, ${chosen.length - solved - failed} to do.`,
    choice,
    el("ol.numbers", chosen.map(item)),
    tried.size > 0 ? again : null,
  );
}

// --- one puzzle ---------------------------------------------------------------------------------

/**
 * The turn that is being chosen, and what follows a wrong one: states, the one that is shown, and whether all right
 * turns are.
 *
 * @param {number} number
 * @returns {Attempt}
 */
const none = (number) => ({ number, cell: null, answer: null, isShown: false, line: null, at: 0 });
let attempt = none(0);

/** @type {Record<string, (rules: string) => string>} */
const RULES = {
  quarto: (rules) =>
    "You place the piece that you were given, and choose the piece that your opponent has to place. " +
    `Who completes a row, column${rules === "squares" ? ", diagonal or 2×2 square" : " or diagonal"} ` +
    "of four pieces that share a property wins.",
  "four-in-a-row": () =>
    "A disc falls to the lowest free cell of its column. Who has four in a row, column or diagonal wins.",
};

/** @param {Puzzle} puzzle */
const startOf = (puzzle) => statesOf(puzzle.game)[0];

/**
 * The state with a piece on this cell. Which piece is given does not change the board.
 *
 * @param {State} state
 * @param {string} cell
 */
const placedAt = (state, cell) => stateAfter(state, `${cell} ${state.left?.[0] ?? "-"}`);

/**
 * @param {PlayedGame} game
 * @param {string} symbol
 * @param {() => unknown} act
 */
function pieceButton(game, symbol, act) {
  const words = inWords(game, symbol);
  return button(
    [piecePicture(game, symbol, { "aria-hidden": "true" }), el("span.symbol", { "aria-hidden": "true" }, symbol)],
    act,
    { class: "piece-button slot", title: words, "aria-label": words },
  );
}

/**
 * @param {Puzzle} puzzle
 * @param {string} answer
 */
function submit(puzzle, answer) {
  attempt.answer = answer;
  const isRight = puzzle.answers.includes(answer);
  noteFirst(puzzle, isRight);
  if (!isRight) refute(puzzle, attempt, answer);
  draw();
  announce(isRight ? "Right" : "Wrong");
  focusFirst(main, isRight ? '[data-keep="next"]' : '[data-keep="again"]');
}

/**
 * Finds what best play makes of a wrong answer.
 *
 * @param {Puzzle} puzzle
 * @param {Attempt} wrong
 * @param {string} answer
 */
function refute(puzzle, wrong, answer) {
  const first = stateAfter(startOf(puzzle), answer);
  if (!first) return;
  askLine(puzzle.game, first.request, ({ line = [] }) => {
    wrong.line = [first, ...statesAfter(first, line)];
    if (wrong === attempt) draw();
  });
}

function takeBack() {
  attempt = none(attempt.number);
  draw();
  focusFirst(main, ".asked button");
}

/**
 * A player chose a cell or a column; in Quarto a piece to give comes next, unless the game is over.
 *
 * @param {Puzzle} puzzle
 * @param {string} first
 */
function choose(puzzle, first) {
  if (attempt.answer !== null) return;
  const state = startOf(puzzle);
  if (!state.left) {
    submit(puzzle, first);
    return;
  }
  attempt.cell = first;
  if (placedAt(state, first)?.over) {
    submit(puzzle, `${first} -`);
    return;
  }
  draw();
  focusFirst(main, ".asked button");
}

/** @param {Puzzle} puzzle */
function shownState(puzzle) {
  const state = startOf(puzzle);
  if (attempt.line) return attempt.line[attempt.at];
  if (attempt.answer !== null) return stateAfter(state, attempt.answer) ?? state;
  return attempt.cell === null ? state : (placedAt(state, attempt.cell) ?? state);
}

/**
 * @param {Puzzle} puzzle
 * @param {SVGElement[]} fields
 */
function question(puzzle, fields) {
  const { game } = puzzle;
  const state = startOf(puzzle);
  const buttons = el(
    "div.row",
    fields.map(({ dataset: { cell = "" } }) =>
      el("button", { type: "button", onclick: () => choose(puzzle, cell) }, cell),
    ),
  );
  if (!state.left)
    return el(
      "div.asked",
      el("p", el("strong", ["Yellow (@)", "Red (O)"][state.side]), " is to move. Choose a column:"),
      buttons,
    );
  if (attempt.cell === null && state.hand !== null) {
    return el(
      "div.asked",
      el(
        "div.gift",
        el("span.slot.big", piecePicture(game, state.hand)),
        el("p", "You have to place ", el("strong", state.hand), el("small", features(game, state.hand))),
      ),
      el("p", "Choose a cell:"),
      buttons,
    );
  }
  const place = attempt.cell ?? "-";
  return el(
    "div.asked",
    el("p", attempt.cell === null ? "Give a piece:" : `Placed on ${attempt.cell}. Give a piece:`),
    el(
      "div.pool",
      state.left.map((symbol) => pieceButton(game, symbol, () => submit(puzzle, `${place} ${symbol}`))),
    ),
    attempt.cell === null ? null : el("p", el("button", { type: "button", onclick: takeBack }, "Another cell")),
  );
}

// What follows a wrong answer, a button for each position.
function refutation() {
  const { line } = attempt;
  if (!line) return el("p.hint", "Looking for what follows…");
  if (line.length === 1) return null;
  /** @param {number} at */
  const go = (at) => {
    attempt.at = at;
    draw();
    focusFirst(main, `[data-keep="step-${at}"]`);
  };
  /**
   * @param {State} state
   * @param {number} at
   */
  const title = (state, at) =>
    at === 0
      ? "Your turn"
      : `${at % 2 ? "Your opponent" : "You"}: ${advice(line[at - 1], state.turns[state.turns.length - 1])}`;
  /**
   * @param {State} state
   * @param {number} at
   */
  const step = (state, at) =>
    el(
      "li",
      button(title(state, at), () => go(at), {
        class: "quiet",
        "data-keep": `step-${at}`,
        "aria-pressed": String(at === attempt.at),
      }),
    );
  return el("div", el("h3", "What follows"), el("ol.refutation", line.map(step)));
}

/**
 * @param {Puzzle} puzzle
 * @param {string} made
 */
function verdict(puzzle, made) {
  const isRight = puzzle.answers.includes(made);
  /** @param {string} answer */
  const inWordsOf = (answer) => advice(startOf(puzzle), answer);
  const others = puzzle.answers.filter((answer) => answer !== made).map(inWordsOf);
  const next = nextOpen(puzzle.number);
  const many = 12;
  const rights =
    others.length === 0
      ? null
      : el(
          "p",
          isRight ? "Also right: " : "Right: ",
          others.slice(0, many).join("; "),
          others.length > many ? ` and ${others.length - many} more` : "",
          ".",
        );
  const difficulty = [
    `Level ${puzzle.level}`,
    `${counted(puzzle.answers.length, "right turn")} of ${puzzle.turns}`,
    puzzle.asked > 1 ? `${puzzle.failed} of ${counted(puzzle.asked, "bot")} failed` : "",
  ]
    .filter(Boolean)
    .join(" · ");
  return el(
    "div",
    el(
      "p",
      { class: `final ${isRight ? "win" : "blame"}` },
      isRight ? "Right: " : "Wrong: ",
      inWordsOf(made),
      isRight ? "." : `; this lets the ${puzzle.value} slip.`,
    ),
    isRight || attempt.isShown ? rights : null,
    isRight ? null : refutation(),
    el(
      "div.row",
      isRight ? null : el("button", { type: "button", "data-keep": "again", onclick: takeBack }, "Try again"),
      isRight || attempt.isShown
        ? null
        : el(
            "button",
            {
              type: "button",
              onclick: () => {
                attempt.isShown = true;
                draw();
                focusFirst(main, '[data-keep="again"]');
              },
            },
            puzzle.answers.length === 1 ? "Show the right turn" : "Show the right turns",
          ),
      next
        ? el("a.button", { href: puzzleHash(next.number), "data-keep": "next" }, "Next puzzle")
        : el("p", { "data-keep": "next", tabindex: -1 }, "That was the last one."),
    ),
    isRight || attempt.isShown ? el("p.hint", difficulty) : null,
  );
}

/** @param {Puzzle} puzzle */
function puzzleView(puzzle) {
  const { game } = puzzle;
  const [title, task] = KINDS[puzzle.kind] ?? [puzzle.kind, ""];
  const { answer } = attempt;
  const isOpen = answer === null;
  const picture = drawBoard(shownState(puzzle));
  const fields = isOpen ? choicesOf(startOf(puzzle)) : [];
  if (attempt.cell === null)
    picture.append(
      ...fields.map((field) =>
        fill(
          field,
          { class: "choose", "aria-hidden": "true", onclick: () => choose(puzzle, field.dataset.cell ?? "") },
          [],
        ),
      ),
    );
  return el(
    "div",
    { class: `replay replay-${game.game}` },
    el("p.above", `Puzzle ${puzzle.number} of ${puzzles.length}`),
    el("h1", title),
    el(
      "div.desk",
      el("div", el("div.play.card", el("div.stage", picture))),
      el(
        "div",
        el("div.card.task", el("p", task), isOpen ? question(puzzle, fields) : verdict(puzzle, answer)),
        el(
          "div.card",
          game.game === "quarto" ? legend(game) : null,
          el("details", el("summary", "Rules of the game"), el("p", RULES[game.game](game.rules))),
          el("details", el("summary", "Position as text"), el("p", el("code", puzzle.position))),
        ),
      ),
    ),
  );
}

// --- the page -----------------------------------------------------------------------------------

function draw() {
  // Without a number it is the first open one, until the reader leaves it.
  const named = /^#puzzle=(\d{1,9})$/.exec(location.hash)?.[1];
  const wanted = Number(named ?? (attempt.number || (nextOpen(0) ?? puzzles[0]).number));
  const puzzle = puzzles[wanted - 1];
  if (attempt.number !== wanted) attempt = none(wanted);
  document.title = puzzle ? `Puzzle ${wanted} · ${data.head.title}` : data.head.title;
  const view =
    puzzle && startOf(puzzle)
      ? puzzleView(puzzle)
      : el(
          "div",
          el("h1", `No puzzle ${wanted || ""}`),
          el(
            "p.card",
            `This page has ${counted(puzzles.length, "puzzle")}. `,
            link("#", "Go on with the first open one"),
          ),
        );
  main.replaceChildren(view, overviewCard(wanted));
}

document.querySelector(".brand")?.setAttribute("href", "#");
applyTheme(storedTheme());
if (await loadRules()) {
  draw();
  window.addEventListener("hashchange", () => {
    attempt.number = 0;
    draw();
    window.scrollTo(0, 0);
    main.focus({ preventScroll: true });
  });
} else {
  main.replaceChildren(el("h1", data.head.title), el("p.card", noBoard(puzzles[0].game)));
}
document.documentElement.classList.add("ready");
