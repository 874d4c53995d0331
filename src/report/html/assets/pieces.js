// Pieces of Quarto as drawings: size, colour, form and fill, each recognisable without the others.

import { el, svg } from "./dom.js";

// The values of a piece as drawn: 0 or 1 for size, colour, form and fill.
function styleOf(set, bits) {
  return set.style.map(([feature, swapped]) => ((bits >> feature) & 1) ^ (swapped ? 1 : 0));
}

// Colours are listed by value, so swapping does not affect them.
function colourOf(set, bits) {
  return set.colours[(bits >> set.style[1][0]) & 1];
}

// `K: big blue square solid`
export function inWords(set, bits) {
  const words = set.features.map((feature, index) => feature[1 + ((bits >> index) & 1)]);
  return `${set.symbols[bits]}: ${words.join(" ")}`;
}

function outline(round, size, y, attributes) {
  if (round) return svg("circle", { cx: 50, cy: 50 + y, r: size, ...attributes });
  return svg("rect", { x: 50 - size, y: 50 - size + y, width: 2 * size, height: 2 * size, rx: 0.22 * size, ...attributes });
}

// A token as seen from above and a little from the front, in a square of 100 by 100.
export function token(small, colour, round, solid) {
  const size = small ? 22 : 36;
  const height = small ? 7 : 11;
  const top = -height / 2;
  const wall = round
    ? svg("path", { class: "wall", d: `M${50 - size} ${50 + top} v${height} a${size} ${size} 0 0 0 ${2 * size} 0 v${-height} z` })
    : svg("rect", { class: "wall", x: 50 - size, y: 50 - size + top, width: 2 * size, height: 2 * size + height, rx: 0.22 * size });
  const shadow = svg("ellipse", { class: "shade", cx: 52, cy: 50 + size + height / 2 - 2, rx: size * 0.98, ry: size * 0.2 });
  const hole = size * 0.52;
  const inside = solid
    ? [outline(round, size * 0.78, top, { class: "gloss" })]
    : [
      outline(round, hole, top, { class: "hole" }),
      round
        ? svg("path", { class: "depth", d: `M${50 - hole} ${50 + top} a${hole} ${hole} 0 0 1 ${2 * hole} 0 a${hole} ${hole * 0.72} 0 0 0 ${-2 * hole} 0 z` })
        : svg("rect", { class: "depth", x: 50 - hole, y: 50 - hole + top, width: 2 * hole, height: hole * 0.5, rx: 0.2 * hole }),
    ];
  return svg("g", { class: `token ${colour}` },
    shadow, wall, outline(round, size, top, { class: "face" }), ...inside);
}

export function pieceOf(set, bits) {
  const [small, , round, solid] = styleOf(set, bits);
  return token(small, colourOf(set, bits), round, solid);
}

export function piecePicture(set, bits, attributes) {
  return svg("svg", { viewBox: "0 0 100 100", role: "img", "aria-label": inWords(set, bits), ...attributes },
    svg("title", {}, inWords(set, bits)), pieceOf(set, bits));
}

// A piece on a field of its own, with its symbol.
export function pieceSlot(set, bits, kind) {
  return el("span", { class: `slot ${kind ?? ""}`, title: inWords(set, bits) }, piecePicture(set, bits), el("span", { class: "symbol", "aria-hidden": "true" }, set.symbols[bits]));
}

// A legend: which feature is drawn as what. It is open unless the set is the built-in one.
export function legend(set) {
  const samples = [
    ["size", (value) => token(value, set.colours[0], 0, 1)],
    ["colour", (value) => token(0, set.colours[value], 0, 1)],
    ["form", (value) => token(0, "plain", value, 1)],
    ["fill", (value) => token(0, "plain", 0, value)],
  ];
  const rows = samples.map(([part, sample], index) => {
    const [feature, swapped] = set.style[index];
    const [title, ...words] = set.features[feature];
    const shown = words.map((word, value) => {
      const drawn = index === 1 ? value : value ^ (swapped ? 1 : 0);
      return el("span", { class: "sample" },
        svg("svg", { viewBox: "0 0 100 100", "aria-hidden": "true" }, sample(drawn)), word);
    });
    const heading = title === part ? title : `${title} (drawn as ${part})`;
    return el("div", { class: "legend-row" }, el("dt", {}, heading), el("dd", {}, ...shown));
  });
  return el("details", { class: "legend", open: !set.builtin },
    el("summary", {}, "What the pieces show"), el("dl", {}, ...rows));
}
