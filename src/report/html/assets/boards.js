// The rules and boards of the games, for replays. Any other game is shown as a list of its turns.

import { el, own, svg } from "./dom.js";
import { inWords, pieceOf } from "./pieces.js";

export const CELL = 100;
export const EDGE = 42;
// Space for the frame at the right and below.
const FRAME = 9;

// Rows, columns, diagonals; then the squares, which count under the rules `squares` only.
const QUARTO_LINES = (() => {
  const lines = [];
  for (let i = 0; i < 4; i += 1) lines.push([`H${i + 1}`, [0, 1, 2, 3].map((j) => 4 * i + j)]);
  for (let i = 0; i < 4; i += 1) lines.push([`V${i + 1}`, [0, 1, 2, 3].map((j) => 4 * j + i)]);
  lines.push(["D1", [0, 5, 10, 15]], ["D2", [3, 6, 9, 12]]);
  for (let i = 0; i < 9; i += 1) {
    const corner = Math.floor(i / 3) * 4 + (i % 3);
    lines.push([`S${i + 1}`, [corner, corner + 1, corner + 4, corner + 5]]);
  }
  return lines;
})();

function quartos(cells, rules) {
  const counted = rules === "squares" ? QUARTO_LINES : QUARTO_LINES.slice(0, 10);
  return counted.filter(([, line]) => {
    if (line.some((cell) => cells[cell] === null)) return false;
    const bits = line.map((cell) => cells[cell]);
    return bits.reduce((a, b) => a & b) !== 0 || bits.reduce((a, b) => a | b) !== 15;
  });
}

function grid(columns, rows, attributes, ...children) {
  return svg("svg", {
    viewBox: `0 0 ${columns * CELL + EDGE + FRAME} ${rows * CELL + EDGE + FRAME}`, role: "img", ...attributes,
  }, ...children);
}

function label(x, y, text, kind) {
  return svg("text", { x, y, class: kind ?? "edge", "text-anchor": "middle", "dominant-baseline": "central" }, text);
}

const quarto = {
  columns: 4,
  rows: 4,

  // The board and the piece in hand of a request are as in a record's start.
  startOf: (request) => request,

  // What a player chooses first in this state: a cell. `cells` are those of the drawing that stand for it.
  choices: (state) => (state.hand === null ? [] : state.cells.flatMap((bits, cell) => (bits === null ? [{ answer: String(cell + 1), cells: [cell] }] : []))),

  isOver: (game, state) => state.cells.every((bits) => bits !== null) || quartos(state.cells, game.rules).length > 0,

  start(game) {
    const cells = Array(16).fill(null);
    [...(game.start ?? "")].slice(0, 16).forEach((symbol, cell) => {
      const bits = game.set.symbols.indexOf(symbol);
      if (bits >= 0) cells[cell] = bits;
    });
    const hand = game.set.symbols.indexOf([...(game.start ?? "")][17]);
    return { cells, hand: hand >= 0 ? hand : null, last: null, opening: cells };
  },

  // The state after a turn, or null when the turn is illegal or malformed.
  after(game, before, turn) {
    const symbols = [...turn.replaceAll(" ", "")];
    const gift = symbols.pop();
    const where = symbols.join("");
    const cells = [...before.cells];
    let last = null;
    let placed = null;
    if (where !== "-") {
      const cell = Number(where) - 1;
      if (!(cell >= 0 && cell < 16) || cells[cell] !== null || before.hand === null) return null;
      cells[cell] = before.hand;
      placed = before.hand;
      last = cell;
    }
    const hand = gift === "-" ? null : game.set.symbols.indexOf(gift);
    if (hand === -1 || (hand !== null && cells.includes(hand))) return null;
    return { cells, hand, last, placed, opening: before.opening };
  },

  request(game, state) {
    const symbol = (bits, none) => (bits === null ? none : game.set.symbols[bits]);
    return `${state.cells.map((bits) => symbol(bits, ".")).join("")} ${symbol(state.hand, "-")}`;
  },

  words(game, state) {
    const symbol = (bits) => game.set.symbols[bits];
    const parts = [];
    if (state.last !== null) parts.push(`places ${symbol(state.placed)} on ${state.last + 1}`);
    if (state.hand !== null) parts.push(`gives ${symbol(state.hand)}`);
    return parts.join(", ");
  },

  // An answer in this state, as advice: "place B on 6 and give A".
  advice(game, state, answer) {
    const [cell, gift] = answer.split(" ");
    const placed = cell === "-" || state.hand === null ? "" : `place ${game.set.symbols[state.hand]} on ${cell}`;
    const after = placed ? quarto.after(game, state, `${cell}${gift}`) ?? quarto.after(game, state, `${cell}-`) : null;
    if (after && quartos(after.cells, game.rules).length > 0) return `${placed} and win`;
    return [placed, gift && gift !== "-" ? `give ${gift}` : ""].filter(Boolean).join(" and ") || answer;
  },

  left(game, state) {
    return game.set.order.filter((bits) => bits !== state.hand && !state.cells.includes(bits));
  },

  draw(game, state) {
    const won = quartos(state.cells, game.rules);
    const winning = new Set(won.flatMap(([, line]) => line));
    const centre = (cell) => [EDGE + (cell % 4) * CELL + CELL / 2, EDGE + Math.floor(cell / 4) * CELL + CELL / 2];
    const parts = [svg("rect", { class: "table", x: EDGE - 6, y: EDGE - 6, width: 4 * CELL + 12, height: 4 * CELL + 12, rx: 18 })];
    for (let i = 0; i < 4; i += 1) {
      parts.push(label(EDGE + i * CELL + CELL / 2, EDGE / 2 - 6, `V${i + 1}`), label(EDGE / 2 - 6, EDGE + i * CELL + CELL / 2, `H${i + 1}`));
    }
    for (let cell = 0; cell < 16; cell += 1) {
      const [x, y] = centre(cell);
      const kind = winning.has(cell) ? "cell winning" : cell === state.last ? "cell last" : "cell";
      parts.push(svg("rect", { class: kind, x: x - 46, y: y - 46, width: 92, height: 92, rx: 14 }));
      if (state.opening[cell] !== null) parts.push(svg("rect", { class: "opening", x: x - 42, y: y - 42, width: 84, height: 84, rx: 11 }));
      if (state.cells[cell] === null) parts.push(label(x, y, cell + 1, "number"));
    }
    for (const [id, line] of won) {
      const [ax, ay] = centre(line[0]);
      const [bx, by] = centre(line[3]);
      parts.push(id.startsWith("S")
        ? svg("rect", { class: "stroke", x: ax, y: ay, width: bx - ax, height: by - ay, rx: 10 })
        : svg("line", { class: "stroke", x1: ax, y1: ay, x2: bx, y2: by }));
    }
    for (let cell = 0; cell < 16; cell += 1) {
      const bits = state.cells[cell];
      if (bits === null) continue;
      const [x, y] = centre(cell);
      const fresh = cell !== state.last ? "" : state.isGhost ? " ghost" : " fresh";
      parts.push(svg("g", { class: "piece" + fresh, transform: `translate(${x - 50} ${y - 50})` },
        svg("title", {}, inWords(game.set, bits)), pieceOf(game.set, bits),
        label(84, 84, game.set.symbols[bits], "symbol")));
    }
    const pieces = state.cells.map((bits, cell) => (bits === null ? "" : `${cell + 1} ${inWords(game.set, bits)}`));
    const names = won.map(([line]) => line).join(", ");
    const text = `The board. ${pieces.filter(Boolean).join("; ") || "Empty"}.` + (names ? ` Quarto: ${names}.` : "");
    return grid(4, 4, { class: "board quarto", "aria-label": text }, ...parts);
  },
};

const fourInARow = {
  columns: 7,
  rows: 6,

  startOf: (request) => request.split(" ")[1],

  choices: (state) => [0, 1, 2, 3, 4, 5, 6].filter((column) => state.cells[column] === null)
    .map((column) => ({ answer: String(column + 1), cells: [0, 1, 2, 3, 4, 5].map((row) => 7 * row + column) })),

  start(game) {
    const cells = [...(game.start ?? ".".repeat(42))].map((mark) => (mark === "@" ? 0 : mark === "O" ? 1 : null));
    const known = cells.length === 42 ? cells : Array(42).fill(null);
    return { cells: known, last: null, opening: known };
  },

  after(game, before, turn) {
    const column = Number(turn) - 1;
    if (!(column >= 0 && column < 7)) return null;
    const cells = [...before.cells];
    for (let row = 5; row >= 0; row -= 1) {
      const cell = 7 * row + column;
      if (cells[cell] !== null) continue;
      const stones = cells.filter((mark) => mark !== null).length;
      cells[cell] = stones % 2;
      return { cells, last: cell, opening: before.opening };
    }
    return null;
  },

  isOver: (game, state) => state.cells.every((mark) => mark !== null) || fourInARow.fours(state.cells).length > 0,

  request(game, state) {
    const stones = state.cells.filter((mark) => mark !== null).length;
    return `${"@O"[stones % 2]} ${state.cells.map((mark) => (mark === null ? "." : "@O"[mark])).join("")}`;
  },

  words(game, state) {
    return `drops into column ${(state.last % 7) + 1}`;
  },

  advice(game, state, answer) {
    const after = fourInARow.after(game, state, answer);
    const wins = after !== null && fourInARow.fours(after.cells).length > 0;
    return `drop into column ${answer}${wins ? " and win" : ""}`;
  },

  fours(cells) {
    const found = [];
    const at = (x, y) => (x >= 0 && x < 7 && y >= 0 && y < 6 ? cells[7 * y + x] : null);
    for (const [dx, dy] of [[1, 0], [0, 1], [1, 1], [1, -1]]) {
      for (let cell = 0; cell < 42; cell += 1) {
        const [x, y] = [cell % 7, Math.floor(cell / 7)];
        const mark = at(x, y);
        if (mark === null || at(x - dx, y - dy) === mark) continue;
        let run = 1;
        while (at(x + run * dx, y + run * dy) === mark) run += 1;
        if (run >= 4) found.push(Array.from({ length: run }, (_, i) => 7 * (y + i * dy) + x + i * dx));
      }
    }
    return found;
  },

  draw(game, state) {
    const won = fourInARow.fours(state.cells);
    const winning = new Set(won.flat());
    const centre = (cell) => [EDGE + (cell % 7) * CELL + CELL / 2, EDGE + Math.floor(cell / 7) * CELL + CELL / 2];
    const parts = [svg("rect", { class: "rack", x: EDGE - 6, y: EDGE - 6, width: 7 * CELL + 12, height: 6 * CELL + 12, rx: 26 })];
    for (let i = 0; i < 7; i += 1) parts.push(label(EDGE + i * CELL + CELL / 2, EDGE / 2 - 6, i + 1));
    // Rows are counted from the top, as in the result.
    for (let i = 0; i < 6; i += 1) parts.push(label(EDGE / 2 - 6, EDGE + i * CELL + CELL / 2, i + 1));
    state.cells.forEach((mark, cell) => {
      const [x, y] = centre(cell);
      parts.push(svg("circle", { class: "slot", cx: x, cy: y, r: 42 }));
      if (mark === null) return;
      const fresh = cell !== state.last ? "" : state.isGhost ? " ghost" : " fresh";
      parts.push(svg("g", { class: `piece disc ${mark === 0 ? "yellow" : "red"}${fresh}` },
        svg("title", {}, `${mark === 0 ? "@" : "O"} in column ${(cell % 7) + 1}`),
        svg("circle", { class: "face", cx: x, cy: y, r: 38 }),
        svg("circle", { class: state.opening[cell] === null ? "gloss" : "opening", cx: x, cy: y, r: 27 }),
        label(x, y, mark === 0 ? "@" : "O", "mark"),
        winning.has(cell) ? svg("circle", { class: "ring", cx: x, cy: y, r: 40 }) : null,
        cell === state.last && !winning.has(cell) ? svg("circle", { class: "ring last", cx: x, cy: y, r: 40 }) : null));
    });
    for (const run of won) {
      const [ax, ay] = centre(run[0]);
      const [bx, by] = centre(run.at(-1));
      parts.push(svg("line", { class: "stroke", x1: ax, y1: ay, x2: bx, y2: by }));
    }
    const rows = Array.from({ length: 6 }, (_, row) => state.cells.slice(7 * row, 7 * row + 7).map((m) => (m === null ? "." : m === 0 ? "@" : "O")).join(""));
    return grid(7, 6, { class: "board four", "aria-label": `The board, row by row from the top: ${rows.join(", ")}.` }, ...parts);
  },
};

// A tree of drawing elements, as `src/report/html/drawings.rs` lets it through.
function grown(tree, attributes) {
  if (typeof tree === "string") return tree;
  const [tag, given, children] = tree;
  return svg(tag, { ...given, ...attributes }, ...children.map((child) => grown(child)));
}

// A game that is a program: its positions as it drew them.
const drawn = {
  start: (game) => ({ index: 0, opening: null, ...game.drawings[0] }),

  after(game, before) {
    const drawing = game.drawings[before.index + 1];
    return drawing ? { index: before.index + 1, opening: null, ...drawing } : null;
  },

  request: (game, state) => state.r ?? "",
  words: (game, state) => state.w ?? "",

  cells(state) {
    const size = Math.max(1, ...state.c.flat().map((text) => [...text].length));
    const winning = new Set((state.x ?? []).map(([row, column]) => `${row} ${column}`));
    const parts = [];
    const centre = (index) => EDGE + index * CELL + CELL / 2;
    (state.h ?? []).forEach((text, column) => parts.push(label(centre(column), EDGE / 2 - 6, text)));
    (state.v ?? []).forEach((text, row) => parts.push(label(EDGE / 2 - 6, centre(row), text)));
    state.c.forEach((texts, row) => texts.forEach((text, column) => {
      const isLast = state.l?.[0] === row && state.l[1] === column;
      const kind = winning.has(`${row} ${column}`) ? "cell winning" : isLast ? "cell last" : "cell";
      parts.push(svg("rect", { class: kind, x: centre(column) - 46, y: centre(row) - 46, width: 92, height: 92, rx: 10 }));
      if (text) parts.push(svg("text", { class: `content size-${Math.min(6, size)}`, x: centre(column), y: centre(row), "text-anchor": "middle", "dominant-baseline": "central" }, text));
    }));
    const rows = state.c.map((texts) => texts.map((text) => text || "empty").join(" ")).join("; ");
    return grid(state.c[0].length, state.c.length, { class: "board drawn", "aria-label": `The board, row by row: ${rows}.` }, ...parts);
  },

  draw(game, state) {
    const picture = state.s ? grown(state.s, { class: "board drawn own", role: "img", "aria-label": "The board." }) : state.c?.[0]?.length ? drawn.cells(state) : null;
    const lines = state.t?.length && !state.s ? el("pre", { class: "drawn-text" }, state.t.join("\n")) : null;
    return el("div", {}, picture, lines);
  },
};

const BOARDS = { quarto, "four-in-a-row": fourInARow };

// Lets a player choose on a drawing of this state: `choose(answer)`. Keys and screen readers need buttons besides.
export function clickable(picture, board, state, choose) {
  for (const { answer, cells } of board.choices(state)) {
    for (const cell of cells) {
      picture.append(svg("rect", {
        class: "choose", x: EDGE + (cell % board.columns) * CELL, y: EDGE + Math.floor(cell / board.columns) * CELL, width: CELL, height: CELL, "aria-hidden": "true",
        onclick: () => choose(answer),
      }));
    }
  }
  return picture;
}

// The board of an unpacked game; null when it cannot be drawn.
export function boardOf(game) {
  if (game.drawings) return drawn;
  const board = own(BOARDS, game.game);
  return board && (board !== quarto || game.set) ? board : null;
}

// The states of a game, from the start on. They end before the first turn that is illegal or malformed.
export function statesOf(game) {
  const board = boardOf(game);
  if (!board) return [];
  const states = [board.start(game)];
  for (const turn of game.turns) {
    const state = board.after(game, states.at(-1), turn);
    if (!state) break;
    states.push(state);
  }
  return states;
}
