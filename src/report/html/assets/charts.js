// Charts. Every chart has its figures in words, too, or is next to them.

import { count, counted, el, folded, half, link, named, percent, scrolled, shortened, signed, sized, svg, time } from "./dom.js";
import { botLink, gameHash, interval, isRated, known, name } from "./data.js";

// Lines differ in colour, and from the ninth on in their dashes.
const COLOURS = 8;
const DASHES = ["", "7 4", "2 3", "10 3 2 3"];

const LINES = COLOURS * DASHES.length;

// The look of the line at this place among those that are shown.
function lineAt(place) {
  return { colour: `line-${place % COLOURS}`, dashes: DASHES[Math.floor(place / COLOURS) % DASHES.length] };
}

// Round numbers for an axis, about `wanted` of them.
function ticks(low, high, wanted) {
  const rough = (high - low) / Math.max(1, wanted);
  const power = 10 ** Math.floor(Math.log10(Math.max(rough, 1e-9)));
  // Halves are no ratings or games.
  const step = [1, 2, power >= 10 ? 2.5 : 2, 5, 10].map((n) => n * power).find((n) => n >= rough) ?? rough;
  const found = [];
  for (let at = Math.ceil(low / step) * step; at <= high + step / 1e6; at += step) found.push(at);
  return found;
}

export function ratingScale(places) {
  const ends = places.flatMap((p) => [p.elo, p.elo_low ?? p.elo, p.elo_high ?? p.elo]);
  const [low, high] = [Math.min(-50, ...ends), Math.max(50, ...ends)];
  const room = (high - low) * 0.04;
  const [from, to] = [low - room, high + room];
  return { from, to, at: (elo) => `${((100 * (elo - from)) / (to - from)).toFixed(2)}%` };
}

// A rating with its interval, in a row of a table.
export function whisker(place, scale) {
  const { elo, elo_low: low, elo_high: high } = place;
  const label = `Elo ${signed(elo)}` + (interval(place) === null ? "" : `, ${interval(place)} with a probability of 95%`);
  const parts = ticks(scale.from, scale.to, 4).map((tick) =>
    svg("line", { class: tick === 0 ? "zero" : "rule", x1: scale.at(tick), x2: scale.at(tick), y1: 0, y2: 28 }));
  // An open end has no bar across.
  if (interval(place) !== null) {
    parts.push(svg("line", { class: "interval", x1: scale.at(low ?? scale.from), x2: scale.at(high ?? scale.to), y1: 14, y2: 14 }));
    for (const end of [low, high].filter((end) => end !== null)) {
      parts.push(svg("line", { class: "interval", x1: scale.at(end), x2: scale.at(end), y1: 9, y2: 19 }));
    }
  }
  parts.push(svg("circle", { class: "estimate", cx: scale.at(elo), cy: 14, r: 5 }));
  return svg("svg", { class: "whisker", role: "img", "aria-label": label, height: 28 }, svg("title", {}, label), ...parts);
}

export function ratingAxis(scale) {
  return svg("svg", { class: "whisker", "aria-hidden": "true", height: 16 },
    ...ticks(scale.from, scale.to, 4).map((tick) =>
      svg("text", { x: scale.at(tick), y: 12, "text-anchor": "middle" }, signed(tick))));
}

// Won, drawn and lost as one bar.
export function record(wins, draws, losses) {
  const games = wins + draws + losses;
  const label = `${counted(wins, "win")}, ${counted(draws, "draw")}, ${counted(losses, "loss", "losses")}`;
  let at = 0;
  const part = (kind, share) => {
    const x = at;
    at += share;
    return share > 0 ? svg("rect", { class: kind, x: percent(x, 2), width: percent(share, 2), y: 0, height: 14 }) : null;
  };
  const share = (number) => (games ? number / games : 0);
  return svg("svg", { class: "record", role: "img", "aria-label": label, height: 14 }, svg("title", {}, label),
    ...[part("win", share(wins)), part("draw", share(draws)), part("loss", share(losses))].filter(Boolean));
}

export function recordKey() {
  return el("p", { class: "key" }, ...["win", "draw", "loss"].map((kind) =>
    el("span", {}, svg("svg", { class: "swatch", viewBox: "0 0 10 10", "aria-hidden": "true" }, svg("rect", { class: kind, width: 10, height: 10 })), kind)));
}

// Results by (moved first, moved second), cached for the current figures.
let cached = { figures: null, results: new Map() };

function results(first, second) {
  if (cached.figures !== known.figures) {
    cached = { figures: known.figures, results: new Map(known.figures.met.map(([a, b, ...counts]) => [`${a} ${b}`, counts])) };
  }
  return cached.results.get(`${first} ${second}`) ?? [0, 0, 0];
}

// The results between two bots: wins, draws and losses of the first.
export function meeting(a, b) {
  const [won, drawn, lost] = results(a, b);
  const [theirs, drawnToo, ours] = results(b, a);
  const [wins, draws, losses] = [won + ours, drawn + drawnToo, lost + theirs];
  return { wins, draws, losses, games: wins + draws + losses, points: wins + draws / 2 };
}

// Of more opponents, the first ones are shown.
const FOLDED_OPPONENTS = 40;

// The results of a bot against each of the others.
export function opponentBars(bot, kept) {
  const rows = known.figures.places.filter((place) => place.bot !== bot).map((place) => ({ place, met: meeting(bot, place.bot) })).filter(({ met }) => met.games > 0);
  return folded(rows, FOLDED_OPPONENTS, kept, (shown) => el("div", { class: "bars opponents" }, ...shown.map(({ place, met }) =>
    el("div", { class: "bar-row" },
      el("span", { class: "bar-name" }, botLink(place.bot), isRated() && !known.head.own ? el("small", {}, ` ${signed(place.elo)}`) : null),
      record(met.wins, met.draws, met.losses),
      el("span", { class: "bar-count" }, link(`#games&of=${bot + 1}&against=${place.bot + 1}`, `${half(met.points)} of ${count(met.games)}`))))));
}

// The share of points as one of eleven shades, from all lost to all won.
export function shade(score) {
  return `shade-${Math.round(10 * score)}`;
}

export function crosstable(places) {
  const order = places.map((place) => place.bot);
  const head = el("tr", {}, el("th", { scope: "col", class: "text" }, "against"), ...order.map((bot, rank) =>
    el("th", { scope: "col", title: name(bot) }, el("span", { class: "unseen" }, name(bot)), el("span", { "aria-hidden": "true" }, rank + 1))));
  const rows = order.map((bot, rank) => el("tr", {},
    el("th", { scope: "row", class: "text" }, el("span", { class: "rank" }, `${rank + 1} `), botLink(bot)),
    ...order.map((against) => {
      if (bot === against) return el("td", { class: "self" }, el("span", { class: "unseen" }, "itself"));
      const met = meeting(bot, against);
      if (met.games === 0) return el("td", { class: "never" }, "·");
      const score = met.points / met.games;
      const label = `${name(bot)} against ${name(against)}: ${half(met.points)} of ${met.games} points (${met.wins} won, ${met.draws} drawn, ${met.losses} lost)`;
      return el("td", { class: `heat ${shade(score)}` },
        el("a", { href: `#games&of=${bot + 1}&against=${against + 1}`, title: label, "aria-label": label, tabindex: -1 }, half(met.points)));
    })));
  const table = el("table", { class: `cross each${order.length > DENSE ? " dense" : ""}${order.length > CROWDED ? " crowded" : ""}` },
    el("caption", { class: "unseen" }, "Head to head"), el("thead", {}, head), el("tbody", {}, ...rows));
  oneTabStop(table);
  return scrolled(table, "Head to head");
}

// More bots have narrower columns.
const DENSE = 16;

// More bots have small ones on paper.
const CROWDED = 30;

// The fields of a table are one stop of the tab key; arrow keys go from one to the next.
function oneTabStop(table) {
  let current = table.querySelector("td a");
  if (current) current.tabIndex = 0;
  const STEPS = { ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0] };
  table.addEventListener("keydown", (event) => {
    const step = STEPS[event.key];
    let cell = event.target.closest?.("td");
    if (!step || !cell) return;
    event.preventDefault();
    // Fields without games are skipped.
    do {
      const row = table.rows[cell.parentNode.rowIndex + step[0]];
      cell = row?.cells[cell.cellIndex + step[1]];
    } while (cell?.tagName === "TD" && !cell.querySelector("a"));
    if (cell?.tagName === "TD") cell.querySelector("a").focus();
  });
  table.addEventListener("focusin", (event) => {
    if (!event.target.closest("td")) return;
    current.tabIndex = -1;
    current = event.target;
    current.tabIndex = 0;
  });
}

export function heatKey() {
  return el("p", { class: "key" }, "all lost", ...[0, 2, 4, 5, 6, 8, 10].map((n) => el("span", { class: `heat swatch shade-${n}`, "aria-hidden": "true" })), "all won");
}

export function bars(rows) {
  const most = Math.max(1, ...rows.map((row) => row.count));
  const total = rows.reduce((sum, row) => sum + row.count, 0);
  return el("div", { class: "bars" }, ...rows.map((row) => el("div", { class: "bar-row" },
    el("span", { class: "bar-name" }, row.href ? link(row.href, row.name) : row.name),
    svg("svg", { class: "bar", height: 16, "aria-hidden": "true" },
      svg("rect", { class: row.kind ?? "plain", x: 0, y: 0, height: 16, rx: 3, width: percent(row.count / most, 2) })),
    el("span", { class: "bar-count" }, `${count(row.count)}`, el("small", {}, ` ${percent(row.count / Math.max(1, total), row.count / Math.max(1, total) < 0.1 ? 1 : 0)}`)))));
}

export function lengths(counts) {
  const first = counts.findIndex((n) => n > 0);
  if (first < 0) return el("p", {}, "No games yet.");
  const shown = counts.slice(first);
  const most = Math.max(...shown);
  return sized(150, (width) => {
    const step = width / shown.length;
    const every = Math.ceil(24 / step);
    return svg("svg", { class: "columns", role: "img", "aria-label": shown.map((n, i) => (n ? `${counted(n, "game")} of ${counted(first + i, "turn")}` : "")).filter(Boolean).join(", ") },
      ...shown.flatMap((n, i) => {
        const height = (110 * n) / most;
        return [
          svg("rect", { class: "plain", x: i * step + step * 0.1, width: step * 0.8, y: 124 - height, height, rx: 2 }, svg("title", {}, `${counted(n, "game")} of ${counted(first + i, "turn")}`)),
          i % every === 0 ? svg("text", { x: i * step + step / 2, y: 140, "text-anchor": "middle" }, first + i) : null,
        ].filter(Boolean);
      }));
  });
}

// The range of bars over all bots; bars are eighths of a factor of ten.
function timeRange(bots) {
  const used = bots.map((bot) => known.figures.times[bot] ?? [0]).filter((bars) => bars.length > 1);
  if (used.length === 0) return null;
  const low = Math.min(...used.map((bars) => bars[0]));
  const high = Math.max(...used.map((bars) => bars[0] + bars.length - 1));
  return { low: Math.floor(low / 8) * 8, high: Math.max(Math.ceil(high / 8) * 8, Math.floor(low / 8) * 8 + 8) };
}

// Times to answer: a row for each bot, on one logarithmic axis.
export function answerTimes(bots) {
  const range = timeRange(bots);
  if (!range) return el("p", {}, "No answers yet.");
  const at = (bar) => (bar - range.low) / (range.high - range.low);
  const decades = [];
  for (let bar = range.low; bar <= range.high; bar += 8) decades.push(bar);
  const ms = (bar) => 10 ** (bar / 8 - 3);
  const every = Math.ceil(decades.length / 4);
  const few = (bar, i) => i % every === 0;
  const rows = bots.map((bot) => {
    const [first, ...counts] = known.figures.times[bot] ?? [0];
    const most = Math.max(1, ...counts);
    const place = known.figures.places.find((place) => place.bot === bot);
    const label = !place ? "" : place.median_ms ? `median ${time(place.median_ms)}, 95% within ${time(place.p95_ms)}, slowest ${time(place.worst_ms)}` : "No answer";
    return el("div", { class: "bar-row" },
      el("span", { class: "bar-name" }, botLink(bot)),
      svg("svg", { class: "strip", height: 36, role: "img", "aria-label": label }, svg("title", {}, label),
        ...decades.map((bar) => svg("line", { class: "rule", x1: percent(at(bar), 2), x2: percent(at(bar), 2), y1: 0, y2: 36 })),
        ...counts.map((n, i) => (n === 0 ? null : svg("rect", {
          class: "plain", x: percent(at(first + i), 2), width: percent(0.94 / (range.high - range.low), 2),
          y: 36 - Math.max(1.5, (34 * n) / most), height: Math.max(1.5, (34 * n) / most),
        }))).filter(Boolean),
        place?.median_ms ? svg("line", { class: "median", x1: percent(at(8 * (Math.log10(Math.max(place.median_ms, 1e-3)) + 3)), 2), x2: percent(at(8 * (Math.log10(Math.max(place.median_ms, 1e-3)) + 3)), 2), y1: 0, y2: 36 }) : null),
      el("span", { class: "bar-count" }, place && !place.median_ms ? el("small", {}, "no answer") : [time(place?.median_ms), el("small", {}, ` to ${time(place?.p95_ms)}`)]));
  });
  return el("div", { class: "bars times" }, ...rows, el("div", { class: "bar-row axis", "aria-hidden": "true" },
    el("span", { class: "bar-name" }),
    svg("svg", { class: "strip", height: 16 }, ...decades.filter(few).map((bar) =>
      svg("text", { x: percent(at(bar), 2), y: 12, "text-anchor": bar === range.low ? "start" : bar === range.high ? "end" : "middle" }, time(ms(bar)).replace(/\.0+ /, " ")))),
    el("span", { class: "bar-count" })));
}

// Where labels of this height go that should be at these places, so that none covers another.
function apart(places, height, low, high) {
  const order = places.map((at, index) => ({ at, index })).sort((a, b) => a.at - b.at);
  let edge = low;
  for (const label of order) { label.at = Math.max(label.at, edge); edge = label.at + height; }
  edge = high;
  for (const label of order.reverse()) { label.at = Math.min(label.at, edge); edge = label.at - height; }
  const found = [];
  for (const { at, index } of order) found[index] = at;
  return found;
}

// Before so many games of a bot its rating says nothing.
const FIRST_RATED = 4;

// Ratings over the games. `chosen` bots are highlighted and named at their ends, the others grey; a single
// one has its interval. `own`: over the games of the bot itself.
export function ratingHistory(bots, chosen, own = false) {
  const curves = bots.map((bot) => {
    const points = known.figures.history.flatMap(([games, rated]) => rated.filter(([of, played]) => of === bot && played >= FIRST_RATED)
      .map(([, played, elo, [from, to]]) => ({ games: own ? played : games, elo, from, to })));
    // Of a number of the bot's games, what came last.
    return { bot, points: points.filter(({ games }, at) => games !== points[at + 1]?.games) };
  });
  if (!curves.some(({ points }) => points.length > 1)) return el("p", { class: "hint" }, "Too few games for a chart.");
  const late = Math.max(...curves.map(({ points }) => points.at(-1)?.games ?? 0));
  // The axis fits the ratings after the first tenth of the games, and the interval of a single bot after the first half.
  const steady = curves.flatMap(({ points }) => points.filter((p) => p.games >= late / 10).map((p) => p.elo));
  const ends = chosen.size === 1 ? curves.flatMap(({ bot, points }) => points.filter((p) => chosen.has(bot) && p.games >= late / 2).flatMap(({ from, to }) => [from, to])) : [];
  const all = [...steady, ...ends.filter((end) => end !== null)];
  const low = Math.min(-50, ...all) - 40;
  const high = Math.max(50, ...all) + 40;
  const height = 280;
  return sized(height, (width) => {
    const named = curves.filter(({ bot, points }) => points.length > 0 && (chosen.size ? chosen.has(bot) : curves.length <= COLOURS)).slice(0, LABELS);
    const right = named.length > 0 ? Math.min(130, width / 4) : 14;
    const [left, top, bottom] = [46, 10, 26];
    const x = (games) => left + ((width - left - right) * games) / late;
    const y = (elo) => Math.min(height - bottom, Math.max(top, top + ((height - top - bottom) * (high - elo)) / (high - low)));
    const parts = [];
    for (const tick of ticks(low, high, 5)) {
      parts.push(svg("line", { class: tick === 0 ? "zero" : "rule", x1: left, x2: width - right, y1: y(tick), y2: y(tick) }),
        svg("text", { x: left - 8, y: y(tick) + 4, "text-anchor": "end" }, signed(tick)));
    }
    for (const tick of ticks(0, late, width < 500 ? 3 : 6)) {
      // There "games: 0" is already.
      if (tick > 0 && x(tick) < left + 70) continue;
      parts.push(svg("text", { x: x(tick), y: height - 8, "text-anchor": tick === 0 ? "start" : x(tick) > width - 60 ? "end" : "middle" }, tick === 0 ? "games: 0" : count(tick)));
    }
    for (const { bot, points } of [...curves].sort((a, b) => chosen.has(a.bot) - chosen.has(b.bot))) {
      if (points.length === 0) continue;
      const path = points.map((p, i) => `${i ? "L" : "M"}${x(p.games).toFixed(1)} ${y(p.elo).toFixed(1)}`).join("");
      const strong = chosen.has(bot);
      const faint = chosen.size > 0 && !strong;
      if (strong && chosen.size === 1) {
        const upper = points.map((p) => `${x(p.games).toFixed(1)} ${y(p.to ?? Infinity).toFixed(1)}`);
        const lower = points.map((p) => `${x(p.games).toFixed(1)} ${y(p.from ?? -Infinity).toFixed(1)}`).reverse();
        parts.push(svg("path", { class: `band ${lineAt(lineOf(bot, bots, chosen)).colour}`, d: `M${[...upper, ...lower].join("L")}Z` }));
      }
      const { colour, dashes } = lineAt(lineOf(bot, bots, chosen));
      parts.push(svg("path", { class: `curve ${faint ? "faint" : colour}${strong ? " strong" : ""}`, d: path, "stroke-dasharray": faint ? "" : dashes }, svg("title", {}, `${name(bot)}: ${signed(points.at(-1).elo)}`)));
    }
    const places = apart(named.map(({ points }) => y(points.at(-1).elo)), 14, top + 4, height - bottom);
    named.forEach(({ bot }, i) => parts.push(svg("text", { class: `end ${lineAt(lineOf(bot, bots, chosen)).colour}`, x: width - right + 6, y: places[i] + 4 }, shortened(name(bot), Math.floor((right - 8) / 7)))));
    const label = curves.map(({ bot, points }) => (points.length ? `${name(bot)} ${signed(points.at(-1).elo)}` : "")).filter(Boolean).join(", ");
    return svg("svg", { class: "settling", role: "img", "aria-label": `Ratings after ${counted(late, "game")}: ${label}` }, ...parts);
  });
}

// Names at the ends of curves; more would cover each other.
const LABELS = 16;

// The place of a bot's line among those that are coloured: the chosen ones, or all.
function lineOf(bot, bots, chosen) {
  const order = chosen.size ? bots.filter((other) => chosen.has(other)) : bots;
  return Math.max(0, order.indexOf(bot));
}

// Buttons that highlight a bot's curve, and a choice for the bots that have none.
export function curveKey(bots, chosen, changed) {
  const buttons = bots.filter((bot, rank) => rank < BUTTONS || chosen.has(bot));
  const rest = bots.filter((bot) => !buttons.includes(bot));
  const swatch = (bot) => {
    const { colour, dashes } = lineAt(lineOf(bot, bots, chosen));
    const kind = chosen.size && !chosen.has(bot) ? "faint" : colour;
    return svg("svg", { class: "swatch", viewBox: "0 0 20 10", "aria-hidden": "true" }, svg("line", { class: `curve ${kind}`, x1: 0, x2: 20, y1: 5, y2: 5, "stroke-dasharray": dashes }));
  };
  return el("div", { class: "key curves", role: "group", "aria-label": "Highlighted bots" }, ...buttons.map((bot) =>
    el("button", {
      type: "button", "aria-pressed": String(chosen.has(bot)), "data-keep": `curve-${bot}`,
      onclick: () => { if (!chosen.delete(bot) && chosen.size < LINES) chosen.add(bot); changed(); },
    }, swatch(bot), el("span", { class: "name" }, name(bot)))),
  rest.length ? el("select", {
    "aria-label": "Highlight another bot", "data-keep": "curve-more",
    onchange: (event) => { if (chosen.size < LINES) chosen.add(Number(event.target.value)); changed(); },
  }, el("option", { value: "", selected: true }, "another bot …"), ...rest.map((bot) => el("option", { value: bot }, name(bot)))) : null);
}

// Bots beyond these are in a list instead of having a button each.
const BUTTONS = 10;

// The time of every turn of a game as columns, each a link to the turn.
export function turnTimes(game, shown) {
  const most = Math.max(...game.times, 1e-3);
  const least = Math.min(...game.times.filter((ms) => ms > 0), most);
  // A logarithmic scale, so that short answers are visible beside long ones.
  const floor = Math.max(least / 2, most / 1e4);
  return sized(74, (width) => {
    const step = Math.min(40, width / Math.max(1, game.times.length + (game.fault ? 1 : 0)));
    return svg("svg", { class: "turn-times", role: "group", "aria-label": "Time of every turn" }, ...[...game.times, ...(game.fault ? [null] : [])].map((ms, i) => {
      if (ms === null) {
        const label = `Turn ${i + 1}, ${name(game.fault.by)}: ${game.reason}`;
        return svg("a", { href: gameHash(game.number, i + 1), class: i + 1 === shown ? "now" : "" }, svg("title", {}, label),
          svg("rect", { class: "target", x: i * step, y: 0, width: step, height: 74 }), svg("text", { class: "fault-mark", x: i * step + step / 2, y: 54, "text-anchor": "middle" }, "✗"));
      }
      const height = Math.max(3, (54 * Math.log(Math.max(ms, floor) / floor)) / Math.log(Math.max(most / floor, 1.01)));
      const label = `Turn ${i + 1}, ${name(game.sides[game.sideOf(i)])}: ${time(ms)}`;
      return svg("a", { href: gameHash(game.number, i + 1), class: i + 1 === shown ? "now" : "" },
        svg("title", {}, label),
        svg("rect", { class: "target", x: i * step, y: 0, width: step, height: 74 }),
        svg("rect", { class: `side-${game.sideOf(i)}`, x: i * step + step * 0.14, width: step * 0.72, y: 58 - height, height, rx: 2 }),
        step > (i < 99 ? 17 : 24) || (i + 1) % 10 === 0 ? svg("text", { x: i * step + step / 2, y: 71, "text-anchor": "middle", "aria-hidden": "true" }, i + 1) : null);
    }));
  });
}

// Who wins with best play after every turn, from the analysis: a strip of fields, each a link to its
// turn, and what its colours mean. Null when there is nothing to show.
export function winners(game, shown) {
  if (![...game.analysis.values()].some(({ value }) => value)) return null;
  const fields = game.turns.map((_, i) => {
    const { value, mark } = game.analysis.get(i + 1) ?? {};
    const holder = value === "w" ? i % 2 : value === "l" ? 1 - (i % 2) : null;
    const label = holder !== null ? `${name(game.sides[holder])} wins` : value === "d" ? "a draw" : "unsolved";
    return el("a", {
      href: gameHash(game.number, i + 1), class: `${holder === null ? (value === "d" ? "even" : "") : `side-${holder}`}${i + 1 === shown ? " now" : ""}`,
      title: `Turn ${i + 1}: ${label}`, "aria-label": `Turn ${i + 1}: ${label}${mark ? `, ${mark}` : ""}`,
    }, mark === "blunder" || mark === "missed-win" ? "!" : mark === "only" ? "✓" : "");
  });
  const sides = [0, 1].map((side) => el("span", {}, el("i", { class: `swatch side-${side}` }), el("span", {}, el("span", { class: "name" }, name(game.sides[side])), " wins")));
  const key = el("p", { class: "key strip-key" }, ...sides,
    el("span", {}, el("i", { class: "swatch even" }), "draw"), el("span", {}, el("i", { class: "swatch unknown" }), "unsolved"),
    el("span", {}, "! a mistake"), el("span", {}, "✓ only move, found"));
  const strip = el("div", { class: "winners", role: "group", "aria-label": "Evaluation" }, ...fields);
  // As wide as the columns of times above it.
  strip.style.maxWidth = `${40 * fields.length}px`;
  return [strip, key];
}
