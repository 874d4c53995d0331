// The positions of games and their drawings, by the rules in the module of `crates/web`. Games that are programs
// bring their own.

import { el, inflated, messageOf, shellWord, svg } from "./dom.js";

/**
 * What the page has beside its script, in base 64; empty for nothing.
 *
 * @param {string} id
 */
export const embedded = (id) => document.getElementById(id)?.textContent ?? "";

const hasModule = () =>
  typeof WebAssembly === "object" && typeof DecompressionStream === "function" && embedded("games") !== "";

/**
 * Asks a module. The worker has this function's text, so it uses nothing outside of it.
 *
 * @param {RulesModule} wasm
 */
export function asking(wasm) {
  /**
   * The memory may grow while room is made, and is another buffer then.
   *
   * @param {Uint8Array} bytes
   */
  const give = (bytes) => {
    const at = wasm.buffer(bytes.length);
    new Uint8Array(wasm.memory.buffer, at, bytes.length).set(bytes);
  };
  /**
   * @template T
   * @param {...string} fields
   * @returns {T}
   */
  const ask = (...fields) => {
    give(new TextEncoder().encode(fields.join("\u001f")));
    const length = wasm.answer();
    const answer = JSON.parse(new TextDecoder().decode(new Uint8Array(wasm.memory.buffer, wasm.output(), length)));
    if (answer?.error) throw new Error(answer.error);
    return answer;
  };
  return { give, ask };
}

// Asks the module of this thread; null until it is loaded.
/** @type {Ask | null} */
let askRules = null;
let failure = "";
/** @type {(() => void)[]} */
const waiting = [];
/** @type {Promise<WebAssembly.Module> | null} */
let compiling = null;
/** @type {Promise<boolean> | null} */
let loading = null;

export const compiled = () =>
  (compiling ??= inflated(embedded("games"))
    .arrayBuffer()
    .then((bytes) => WebAssembly.compile(bytes)));

// Whether there are rules, when it is resolved.
export function loadRules() {
  loading ??= (async () => {
    try {
      if (hasModule()) {
        const { exports } = await WebAssembly.instantiate(await compiled());
        askRules = asking(/** @type {RulesModule} */ (exports)).ask;
      }
    } catch (error) {
      failure = messageOf(error);
    }
    for (const act of waiting) act();
    return askRules !== null;
  })();
  return loading;
}

/**
 * Calls this when rules that a view asked for are there.
 *
 * @param {() => void} act
 */
export const whenLoaded = (act) => waiting.push(act);

/** @param {string | undefined} game */
export const isBuiltin = (game) => game === "quarto" || game === "four-in-a-row";

/**
 * The options of a command that choose a game, each with a space after it. GAME stands for a game's program: records do
 * not tell where it is.
 *
 * @param {Edition} edition
 */
export function gameOptions({ game, rules }) {
  const words = isBuiltin(game) ? (game === "quarto" ? [] : ["--game", game]) : ["--game", "GAME"];
  const option = isBuiltin(game) ? "--rules" : "--game-option";
  for (const value of rules.split(" ")) if (!["", "standard"].includes(value)) words.push(option, value);
  return words.map((word) => `${shellWord(word)} `).join("");
}

/** @param {Edition} game */
export const canSolve = (game) => hasModule() && isBuiltin(game.game);

/** @param {{ game?: string, drawings?: Drawing[] | null }} game */
export const isLoading = (game) =>
  askRules === null && !failure && hasModule() && isBuiltin(game.game) && !game.drawings;

/**
 * Why there is no board, as a sentence.
 *
 * @param {{ game: string }} game
 */
export function noBoard(game) {
  if (!isBuiltin(game.game))
    return (
      "This page has no drawings of this game. \u201creferee report\u201d with --game makes them, " +
      "for as many games as there is room for."
    );
  if (askRules !== null) return "No board is shown, because the start of the game is against the rules.";
  const why = failure
    ? `WebAssembly cannot run: ${failure}`
    : "this browser has no WebAssembly, by which positions are drawn and solved";
  return `No board is shown, because ${why}.`;
}

/** @param {Edition} game */
export const edition = (game) => [game.game, game.rules, game.pieces ?? ""];

/**
 * Answers a question on a game; `fallback` when it is wrong, as with a forged record.
 *
 * @template T
 * @param {T} fallback
 * @param {string} verb
 * @param {Edition} game
 * @param {...string} fields
 * @returns {T}
 */
function answerOf(fallback, verb, game, ...fields) {
  if (askRules === null) return fallback;
  try {
    return askRules(verb, ...edition(game), ...fields);
  } catch {
    return fallback;
  }
}

/**
 * The states of a game after each of these turns, from the start on. They end before the first turn that is illegal or
 * malformed; there is none while the rules are not there.
 *
 * @param {PlayedGame} game
 * @param {string[]} [turns]
 * @returns {State[]}
 */
export function statesOf(game, turns = game.turns) {
  /** @type {RulesState[] | undefined} */
  let states = game.drawings?.slice(0, turns.length + 1).map((drawing) => ({
    drawing,
    words: drawing.w ?? "",
    advice: drawing.w ?? "",
    request: drawing.r ?? "",
    side: -1,
    over: false,
    won: false,
    empty: true,
    hand: null,
    left: null,
  }));
  if (!states && isBuiltin(game.game)) {
    if (askRules === null) loadRules();
    states = answerOf([], "play", game, game.start ?? "", ...turns);
  }
  return (states ?? []).map((state, index) => ({ ...state, game, turns: turns.slice(0, index) }));
}

/**
 * The states after each of these turns from a state on; they end before one that is illegal or malformed.
 *
 * @param {State} state
 * @param {string[]} turns
 */
export const statesAfter = (state, turns) =>
  statesOf(state.game, [...state.turns, ...turns]).slice(state.turns.length + 1);

/**
 * @param {State} state
 * @param {string} turn
 * @returns {State | null}
 */
export const stateAfter = (state, turn) => statesAfter(state, [turn])[0] ?? null;

/**
 * A tree of drawing elements, of the module or as `crates/report/src/html/drawings.rs` lets it through.
 *
 * @param {Tree} tree
 * @param {Attributes} [attributes]
 * @returns {SVGElement}
 */
function grown([tag, given, children], attributes) {
  return svg(
    tag,
    { ...given, ...attributes },
    children.map((child) => (typeof child === "string" ? child : grown(child))),
  );
}

/**
 * The board of a state; of a position that is not the start of a game the pieces have no marks. `kind` is a class
 * for the piece of the last turn.
 *
 * @param {State} state
 * @param {string} [kind]
 * @returns {Element}
 */
export function drawBoard(state, kind = "fresh") {
  if (state.drawing) return drawingOf(state.drawing);
  const ask = /** @type {Ask} */ (askRules);
  return grown(
    ask(
      "draw",
      ...edition(state.game),
      state.game.start ?? "",
      kind + (state.game.isPosition ? " plain" : ""),
      ...state.turns,
    ),
  );
}

/**
 * Where a turn can be made in a state, as fields to lay on its board.
 *
 * @param {State} state
 * @returns {SVGElement[]}
 */
export const choicesOf = (state) =>
  answerOf(/** @type {Tree[]} */ ([]), "choices", state.game, state.request).map((tree) => grown(tree));

/**
 * All answers in a state.
 *
 * @param {State} state
 * @returns {string[]}
 */
export const legalAnswers = (state) => answerOf([], "turns", state.game, state.request);

/**
 * An answer in this state, as advice: "place B on 6 and give A".
 *
 * @param {State} state
 * @param {string} answer
 */
export function advice(state, answer) {
  const after = stateAfter(state, answer);
  if (!after) return answer;
  return after.advice + (after.won ? " and win" : "");
}

// --- pieces -----------------------------------------------------------------------------------

/** @type {Map<string, PieceSet>} */
const sets = new Map();

/**
 * The pieces of a game that has any, by their symbols, with their legend.
 *
 * @param {Edition} game
 * @returns {PieceSet}
 */
function setOf(game) {
  const key = edition(game).join("\n");
  const known = sets.get(key);
  if (known) return known;
  const found = answerOf(/** @type {Omit<PieceSet, "bySymbol"> | null} */ (null), "pieces", game, "");
  if (found === null) throw new Error(`${game.game} has no pieces`);
  const set = { ...found, bySymbol: new Map(found.all.map(([symbol, words, tree]) => [symbol, { words, tree }])) };
  sets.set(key, set);
  return set;
}

/** @param {Edition} game */
export const symbolsOf = (game) => setOf(game).all.map(([symbol]) => symbol);

/**
 * `K: big blue square solid`
 *
 * @param {Edition} game
 * @param {string} symbol
 */
export const inWords = (game, symbol) => setOf(game).bySymbol.get(symbol)?.words ?? symbol;

/**
 * @param {Edition} game
 * @param {string} symbol
 * @param {Attributes} [attributes]
 */
export function piecePicture(game, symbol, attributes) {
  const piece = setOf(game).bySymbol.get(symbol);
  if (!piece) throw new Error(`${symbol} is not a piece`);
  const { words, tree } = piece;
  return svg(
    "svg",
    { viewBox: "0 0 100 100", role: "img", "aria-label": words, ...attributes },
    svg("title", words),
    grown(tree),
  );
}

/**
 * A piece on a field of its own, with its symbol.
 *
 * @param {Edition} game
 * @param {string} symbol
 * @param {string} [kind]
 */
export function pieceSlot(game, symbol, kind) {
  return el(
    "span",
    { class: `slot ${kind ?? ""}`, title: inWords(game, symbol) },
    piecePicture(game, symbol),
    el("span.symbol", { "aria-hidden": "true" }, symbol),
  );
}

/**
 * The piece in hand and those that can be given, with a legend; nothing where there are none.
 *
 * @param {State} state
 * @returns {Element[]}
 */
export function handParts({ game, hand, left }) {
  /** @param {string[]} symbols */
  const pool = (symbols) =>
    el(
      "div.pool",
      symbols.map((symbol) => pieceSlot(game, symbol)),
    );
  return left
    ? [
        el("h2", "In hand"),
        hand === null ? el("p.hint", "Nothing.") : pool([hand]),
        el("h2", "Left to give"),
        pool(left),
        legend(game),
      ]
    : [];
}

/**
 * What a piece is like: `big blue square solid`.
 *
 * @param {Edition} game
 * @param {string} symbol
 */
export const features = (game, symbol) => inWords(game, symbol).split(": ")[1];

/**
 * A legend: which feature is drawn as what. It is open unless the set is the built-in one.
 *
 * @param {Edition} game
 */
export function legend(game) {
  const { builtin, legend: rows } = setOf(game);
  return el(
    "details.legend",
    { open: !builtin },
    el("summary", "Piece key"),
    el(
      "dl",
      rows.map(([title, part, samples]) =>
        el(
          "div.legend-row",
          el("dt", title === part ? title : `${title} (drawn as ${part})`),
          el(
            "dd",
            samples.map(([word, tree]) =>
              el("span.sample", svg("svg", { viewBox: "0 0 100 100", "aria-hidden": "true" }, grown(tree)), word),
            ),
          ),
        ),
      ),
    ),
  );
}

// --- games that are programs ------------------------------------------------------------------

/**
 * @param {Drawing} drawing
 * @param {string[][]} all texts of its cells, row by row
 */
function cellsOf(drawing, all) {
  const [side, edge] = [100, 42];
  const size = Math.min(6, Math.max(1, ...all.flat().map((text) => [...text].length)));
  /**
   * @param {[row: number, column: number][] | undefined} cells
   * @param {number} row
   * @param {number} column
   */
  const isAmong = (cells, row, column) => cells?.some(([r, c]) => r === row && c === column);
  /** @param {number} index */
  const centre = (index) => edge + index * side + side / 2;
  /**
   * @param {number} x
   * @param {number} y
   * @param {string} kind
   * @param {string} text
   */
  const label = (x, y, kind, text) => svg("text", { class: kind, x, y }, text);
  const cells = all.map((texts, row) =>
    texts.map((text, column) => {
      const [x, y] = [centre(column), centre(row)];
      const kind = isAmong(drawing.x, row, column)
        ? "cell winning"
        : isAmong(drawing.l && [drawing.l], row, column)
          ? "cell last"
          : "cell";
      return [
        svg("rect", { class: kind, x: x - 46, y: y - 46, width: 92, height: 92, rx: 10 }),
        text && label(x, y, `content size-${size}`, text),
      ];
    }),
  );
  const rows = all.map((texts) => texts.map((text) => text || "empty").join(" ")).join("; ");
  return svg(
    "svg.board.drawn.cells",
    {
      viewBox: `0 0 ${all[0].length * side + edge + 9} ${all.length * side + edge + 9}`,
      role: "img",
      "aria-label": `The board, row by row: ${rows}.`,
    },
    drawing.h?.map((text, column) => label(centre(column), 15, "edge", text)),
    drawing.v?.map((text, row) => label(15, centre(row), "edge", text)),
    cells,
  );
}

/** @param {Drawing} drawing */
function drawingOf(drawing) {
  const picture = drawing.s
    ? grown(drawing.s, { class: "board drawn own", role: "img", "aria-label": "The board." })
    : drawing.c?.[0]?.length
      ? cellsOf(drawing, drawing.c)
      : null;
  return el("div", picture, drawing.t && !drawing.s && el("pre.drawn-text", drawing.t.join("\n")));
}
