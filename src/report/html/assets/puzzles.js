// A page of puzzles to solve by hand.

import { announce, card, counted, el, link } from "./dom.js";
import { inWords, legend, piecePicture } from "./pieces.js";
import { boardOf, clickable } from "./boards.js";
import { applyTheme, storedTheme } from "./theme.js";

const data = JSON.parse(document.getElementById("data").textContent);
const main = document.getElementById("main");

const KINDS = {
  "take-the-win": ["Take the win", "You can win, at once or by force. Find a turn that keeps the win."],
  "give-no-win": ["Give no win", "One wrong turn, and your opponent wins at once. Find a turn that prevents it."],
  "hold-the-draw": ["Hold the draw", "You cannot force a win. Find a turn that keeps the draw."],
  "only-turn": ["Find the only turn", "Only one turn is right. Find it."],
};

const puzzles = data.puzzles.map(([edition, id, position, kind, value, answers, turns, level, failed, asked], index) => {
  const game = { ...data.editions[edition] };
  const board = boardOf(game);
  game.start = board ? board.startOf(position) : null;
  return { number: index + 1, id, position, kind, value, answers, turns, level, failed, asked, game, board };
});

// --- what was solved ----------------------------------------------------------------------------

const STORED = "referee-puzzles";
const WORDS = { solved: "solved at the first try", failed: "not solved at the first try" };

// By id: "solved" or "failed" at the first try.
const tried = (() => {
  // A browser may forbid storage, as for files; then it is known until the page is closed.
  try { return new Map(Object.entries(JSON.parse(localStorage.getItem(STORED)) ?? {})); } catch { return new Map(); }
})();

function noteFirst(puzzle, isRight) {
  if (tried.has(puzzle.id)) return;
  tried.set(puzzle.id, isRight ? "solved" : "failed");
  try { localStorage.setItem(STORED, JSON.stringify(Object.fromEntries(tried))); } catch { /* see above */ }
}

function forgetAll() {
  for (const { id } of puzzles) tried.delete(id);
  try { localStorage.setItem(STORED, JSON.stringify(Object.fromEntries(tried))); } catch { /* see above */ }
}

const puzzleHash = (number) => `#puzzle=${number}`;

// The next puzzle of the chosen kind that was not tried; after the last one the first.
function nextOpen(after) {
  const open = puzzles.filter((puzzle) => isChosen(puzzle) && !tried.has(puzzle.id) && puzzle.number !== after);
  return open.find((puzzle) => puzzle.number > after) ?? open[0];
}

// --- all puzzles --------------------------------------------------------------------------------

let chosenKind = "";
const isChosen = (puzzle) => chosenKind === "" || puzzle.kind === chosenKind;

function overviewCard(now) {
  const chosen = puzzles.filter(isChosen);
  const of = (state) => chosen.filter((puzzle) => tried.get(puzzle.id) === state).length;
  const levels = [...new Set(chosen.map((puzzle) => puzzle.level))].sort((a, b) => a - b);
  const present = Object.keys(KINDS).filter((kind) => puzzles.some((puzzle) => puzzle.kind === kind));
  const choice = el("label", { class: "choice" }, "Kind ", el("select", {
    "data-keep": "kind", onchange: (event) => { chosenKind = event.target.value; draw(); main.querySelector('[data-keep="kind"]')?.focus(); },
  }, el("option", { value: "" }, "all"), ...present.map((kind) => el("option", { value: kind, selected: kind === chosenKind }, KINDS[kind][0]))));
  const item = (puzzle) => {
    const state = tried.get(puzzle.id);
    const of = el("a", { href: puzzleHash(puzzle.number), class: state ?? "open", "aria-label": `Puzzle ${puzzle.number}${state ? `, ${WORDS[state]}` : ""}` },
      state === "solved" ? "✓ " : state === "failed" ? "✗ " : "", String(puzzle.number));
    if (puzzle.number === now) of.setAttribute("aria-current", "page");
    return el("li", {}, of);
  };
  const rows = levels.map((level) => el("div", {}, el("h3", {}, `Level ${level}`),
    el("ol", { class: "numbers" }, ...chosen.filter((puzzle) => puzzle.level === level).map(item))));
  const again = el("button", { type: "button", onclick: () => { forgetAll(); draw(); main.querySelector(".asked button")?.focus(); announce("All puzzles are open again"); } }, "Start again");
  return card("All puzzles", `${of("solved")} solved at the first try, ${of("failed")} not, ${chosen.length - of("solved") - of("failed")} open. The higher the level, the further one has to look.`,
    choice, ...rows, tried.size > 0 ? again : null);
}

// --- one puzzle ---------------------------------------------------------------------------------

// The turn that is being chosen, and what was said of it.
let attempt = { number: 0, cell: null, answer: null, isShown: false };

function inWordsOf(puzzle, answer) {
  const { board, game } = puzzle;
  return board.advice?.(game, begin(puzzle), answer) ?? `drop into column ${answer}`;
}

function pieceButton(puzzle, bits, act) {
  const { set } = puzzle.game;
  return el("button", { type: "button", class: "piece-button slot", title: inWords(set, bits), "aria-label": inWords(set, bits), onclick: act },
    piecePicture(set, bits, { "aria-hidden": "true" }), el("span", { class: "symbol", "aria-hidden": "true" }, set.symbols[bits]));
}

function submit(puzzle, answer) {
  attempt.answer = answer;
  const isRight = puzzle.answers.includes(answer);
  noteFirst(puzzle, isRight);
  draw();
  announce(isRight ? "Right" : "Wrong");
  main.querySelector(isRight ? '[data-keep="next"]' : '[data-keep="again"]')?.focus();
}

function takeBack() {
  attempt = { number: attempt.number, cell: null, answer: null, isShown: false };
  draw();
  main.querySelector(".asked button")?.focus();
}

// A player chose a cell or a column; in Quarto a piece to give comes next, unless the game is over.
function choose(puzzle, first) {
  if (attempt.answer !== null) return;
  const { board, game } = puzzle;
  if (!board.left) { submit(puzzle, first); return; }
  attempt.cell = first;
  if (board.isOver(game, board.after(game, begin(puzzle), `${first}-`))) { submit(puzzle, `${first} -`); return; }
  draw();
  main.querySelector(".asked button")?.focus();
}

// The position. Its pieces are no opening of a game, and not marked as one.
function begin({ board, game }) {
  const state = board.start(game);
  return { ...state, opening: state.cells.map(() => null) };
}

function shownState(puzzle) {
  const { board, game } = puzzle;
  const start = begin(puzzle);
  if (attempt.answer !== null) return board.after(game, start, attempt.answer.replace(" ", "")) ?? start;
  return attempt.cell === null ? start : board.after(game, start, `${attempt.cell}-`) ?? start;
}

function question(puzzle) {
  const { board, game } = puzzle;
  const state = begin(puzzle);
  const buttons = () => board.choices(state).map(({ answer }) => el("button", { type: "button", onclick: () => choose(puzzle, answer) }, answer));
  if (!board.left) {
    return el("div", { class: "asked" }, el("p", {}, el("strong", {}, game.start && puzzle.position[0] === "@" ? "Yellow (@)" : "Red (O)"), " is to move. Choose a column:"), el("div", { class: "row" }, ...buttons()));
  }
  if (attempt.cell === null && state.hand !== null) {
    return el("div", { class: "asked" },
      el("div", { class: "gift" }, el("span", { class: "slot big" }, piecePicture(game.set, state.hand)),
        el("p", {}, "You have to place ", el("strong", {}, game.set.symbols[state.hand]), el("small", {}, inWords(game.set, state.hand).split(": ")[1]))),
      el("p", {}, "Choose a cell:"), el("div", { class: "row" }, ...buttons()));
  }
  const placed = attempt.cell === null ? state : board.after(game, state, `${attempt.cell}-`);
  const place = attempt.cell ?? "-";
  return el("div", { class: "asked" }, el("p", {}, attempt.cell === null ? "Choose the piece that you give:" : `On ${attempt.cell}. Now choose the piece that you give:`),
    el("div", { class: "pool" }, ...board.left(game, placed).filter((bits) => bits !== state.hand)
      .map((bits) => pieceButton(puzzle, bits, () => submit(puzzle, `${place} ${game.set.symbols[bits]}`)))),
    attempt.cell === null ? null : el("p", {}, el("button", { type: "button", onclick: takeBack }, "Another cell")));
}

function verdict(puzzle) {
  const isRight = puzzle.answers.includes(attempt.answer);
  const others = puzzle.answers.filter((answer) => answer !== attempt.answer).map((answer) => inWordsOf(puzzle, answer));
  const next = nextOpen(puzzle.number);
  const many = 12;
  const rights = others.length === 0 ? null : el("p", {}, isRight ? "Also right: " : "Right: ", others.slice(0, many).join("; "), others.length > many ? ` and ${others.length - many} more` : "", ".");
  return el("div", {},
    el("p", { class: `final ${isRight ? "win" : "blame"}` }, isRight ? "Right: " : "Wrong: ", inWordsOf(puzzle, attempt.answer), isRight ? "." : ` gives the ${puzzle.value} away.`),
    isRight || attempt.isShown ? rights : null,
    el("div", { class: "row" },
      isRight ? null : el("button", { type: "button", "data-keep": "again", onclick: takeBack }, "Try again"),
      isRight || attempt.isShown ? null : el("button", { type: "button", onclick: () => { attempt.isShown = true; draw(); main.querySelector('[data-keep="again"]')?.focus(); } }, puzzle.answers.length === 1 ? "Show the right turn" : "Show the right turns"),
      next ? el("a", { class: "button", href: puzzleHash(next.number), "data-keep": "next" }, "Next puzzle") : el("p", { "data-keep": "next", tabindex: -1 }, "That was the last one.")));
}

function puzzleView(puzzle) {
  const { board, game } = puzzle;
  const [title, task] = KINDS[puzzle.kind] ?? [puzzle.kind, ""];
  const difficulty = [`Level ${puzzle.level}`, `${counted(puzzle.answers.length, "right turn")} of ${puzzle.turns}`,
    puzzle.asked > 1 ? `${puzzle.failed} of ${counted(puzzle.asked, "bot")} failed` : ""].filter(Boolean).join(" · ");
  const isOpen = attempt.answer === null;
  const picture = board.draw(game, shownState(puzzle));
  const drawing = isOpen && (attempt.cell === null || !board.left) ? clickable(picture, board, begin(puzzle), (answer) => choose(puzzle, answer)) : picture;
  return el("div", { class: `replay replay-${game.game}` },
    el("p", { class: "above" }, `Puzzle ${puzzle.number} of ${puzzles.length} · ${game.game}${game.rules !== "standard" ? `, rules ${game.rules}` : ""} · ${difficulty}`),
    el("h1", {}, title),
    el("div", { class: "desk" },
      el("div", {}, el("div", { class: "play card" }, el("div", { class: "stage" }, drawing),
        el("p", { class: "hint" }, "The position: ", el("code", {}, puzzle.position), ". ", el("code", {}, puzzle.id)))),
      el("div", {},
        el("div", { class: "card task" }, el("p", {}, task), isOpen ? question(puzzle) : verdict(puzzle)),
        game.set ? el("div", { class: "card" }, legend(game.set)) : null)));
}

// --- the page -----------------------------------------------------------------------------------

function draw() {
  // Without a number it is the first open one, until the reader leaves it.
  const named = /^#puzzle=(\d{1,9})$/.exec(location.hash)?.[1];
  const wanted = Number(named ?? (attempt.number || (nextOpen(0) ?? puzzles[0]).number));
  const puzzle = puzzles[wanted - 1];
  if (attempt.number !== wanted) attempt = { number: wanted, cell: null, answer: null, isShown: false };
  document.title = puzzle ? `Puzzle ${wanted} · ${data.head.title}` : data.head.title;
  const view = puzzle?.board ? puzzleView(puzzle) : el("div", {}, el("h1", {}, `No puzzle ${wanted || ""}`), el("p", { class: "card" }, `This page has ${counted(puzzles.length, "puzzle")}. `, link("#", "Go on with the first open one")));
  main.replaceChildren(view, overviewCard(wanted));
}

document.querySelector(".brand").setAttribute("href", "#");
document.documentElement.classList.add("ready");
applyTheme(storedTheme());
draw();
window.addEventListener("hashchange", () => { attempt.number = 0; draw(); window.scrollTo(0, 0); main.focus({ preventScroll: true }); });
