// Charts. Every chart has its figures in words, too, or is next to them.

import { botLink, gameHash, interval, isRated, name, place } from "./data.js";
import {
  button,
  count,
  counted,
  el,
  folded,
  half,
  link,
  oneTabStop,
  own,
  percent,
  scrolled,
  shortened,
  signed,
  sized,
  svg,
  time,
} from "./dom.js";
import { known } from "./state.js";
import { columnHead, plainTable, rowHead } from "./tables.js";

// Lines differ in colour, and from the ninth on in their dashes.
const COLOURS = 8;
const DASHES = ["", "7 4", "2 3", "10 3 2 3"];

const LINES = COLOURS * DASHES.length;

/**
 * The look of a bot's line among those that are coloured: the chosen ones, or all.
 *
 * @param {number} bot
 * @param {number[]} bots
 * @param {Set<number>} chosen
 */
function lookOf(bot, bots, chosen) {
  if (chosen.size && !chosen.has(bot)) return { colour: "faint", dashes: "" };
  const place = (chosen.size ? bots.filter((other) => chosen.has(other)) : bots).indexOf(bot);
  return { colour: `line-${place % COLOURS}`, dashes: DASHES[Math.floor(place / COLOURS) % DASHES.length] };
}

/**
 * Round numbers for an axis, about `wanted` of them.
 *
 * @param {number} low
 * @param {number} high
 * @param {number} wanted
 */
export function ticks(low, high, wanted) {
  const rough = (high - low) / Math.max(1, wanted);
  const power = 10 ** Math.floor(Math.log10(Math.max(rough, 1e-9)));
  // Halves are no ratings or games.
  const step = [1, 2, power >= 10 ? 2.5 : 2, 5, 10].map((n) => n * power).find((n) => n >= rough) ?? rough;
  const found = [];
  for (let at = Math.ceil(low / step) * step; at <= high + step / 1e6; at += step) found.push(at);
  return found;
}

/**
 * A drawing with a text alternative, which a mouse shows, too.
 *
 * @param {string} kind
 * @param {string} label
 * @param {number} height
 * @param {...Child} parts
 */
const labelled = (kind, label, height, ...parts) =>
  svg(`svg.${kind}`, { role: "img", "aria-label": label, height }, svg("title", label), parts);

/**
 * @param {string} kind
 * @param {string | number} x
 * @param {number} y1
 * @param {number} y2
 */
const upright = (kind, x, y1, y2) => svg("line", { class: kind, x1: x, x2: x, y1, y2 });

/**
 * @param {Place[]} places
 * @returns {RatingScale}
 */
export function ratingScale(places) {
  const ends = places.flatMap((p) => [p.elo, p.elo_low ?? p.elo, p.elo_high ?? p.elo]);
  const [low, high] = [Math.min(-50, ...ends), Math.max(50, ...ends)];
  const room = (high - low) * 0.04;
  const [from, to] = [low - room, high + room];
  return { from, to, at: (elo) => percent((elo - from) / (to - from), 2) };
}

/**
 * A rating with its interval, in a row of a table.
 *
 * @param {Place} place
 * @param {RatingScale} scale
 */
export function whisker(place, scale) {
  const { elo, elo_low: low, elo_high: high } = place;
  const range = interval(place);
  return labelled(
    "whisker",
    `Elo ${signed(elo)}${range ? `, ${range} with a probability of 95%` : ""}`,
    28,
    ticks(scale.from, scale.to, 4).map((tick) => upright(tick === 0 ? "zero" : "rule", scale.at(tick), 0, 28)),
    range && svg("line.interval", { x1: scale.at(low ?? scale.from), x2: scale.at(high ?? scale.to), y1: 14, y2: 14 }),
    // An open end has no bar across.
    [low, high].filter((end) => end !== null).map((end) => upright("interval", scale.at(end), 9, 19)),
    svg("circle.estimate", { cx: scale.at(elo), cy: 14, r: 5 }),
  );
}

/** @param {RatingScale} scale */
export const ratingAxis = (scale) =>
  svg(
    "svg.whisker",
    { "aria-hidden": "true", height: 16 },
    ticks(scale.from, scale.to, 4).map((tick) => svg("text", { x: scale.at(tick), y: 12 }, signed(tick))),
  );

/**
 * Won, drawn and lost as one bar.
 *
 * @param {number} wins
 * @param {number} draws
 * @param {number} losses
 */
export function record(wins, draws, losses) {
  const counts = [wins, draws, losses];
  const games = Math.max(1, wins + draws + losses);
  let at = 0;
  return labelled(
    "record",
    recordText(wins, draws, losses).join(", "),
    14,
    ["win", "draw", "loss"].map((kind, i) => {
      const x = at / games;
      at += counts[i];
      return (
        counts[i] > 0 &&
        svg("rect", { class: kind, x: percent(x, 2), width: percent(counts[i] / games, 2), height: 14 })
      );
    }),
  );
}

/**
 * @param {number} wins
 * @param {number} draws
 * @param {number} losses
 */
export const recordText = (wins, draws, losses) => [
  counted(wins, "win"),
  counted(draws, "draw"),
  counted(losses, "loss", "losses"),
];

export const recordKey = () =>
  el(
    "p.key",
    ["win", "draw", "loss"].map((kind) =>
      el(
        "span",
        svg(
          "svg.swatch",
          { viewBox: "0 0 10 10", "aria-hidden": "true" },
          svg("rect", { class: kind, width: 10, height: 10 }),
        ),
        kind,
      ),
    ),
  );

/**
 * @param {Child} name
 * @param {Child} bar
 * @param {...Child} figures
 */
export const barRow = (name, bar, ...figures) =>
  el("div.bar-row", el("span.bar-name", name), bar, el("span.bar-count", figures));

// Results by (moved first, moved second), cached for the current figures.
let cached = {
  figures: /** @type {Figures | null} */ (null),
  results: /** @type {Map<string, number[]>} */ (new Map()),
};

/**
 * The results between two bots: wins, draws and losses of the first.
 *
 * @param {number} a
 * @param {number} b
 */
export function meeting(a, b) {
  if (cached.figures !== known.figures) {
    cached = {
      figures: known.figures,
      results: new Map(known.figures.met.map(([a, b, ...counts]) => [`${a} ${b}`, counts])),
    };
  }
  const [won, drawn, lost] = cached.results.get(`${a} ${b}`) ?? [0, 0, 0];
  const [theirs, drawnToo, ours] = cached.results.get(`${b} ${a}`) ?? [0, 0, 0];
  const [wins, draws, losses] = [won + ours, drawn + drawnToo, lost + theirs];
  return { wins, draws, losses, games: wins + draws + losses, points: wins + draws / 2 };
}

// Of more opponents, the first ones are shown.
const FOLDED_OPPONENTS = 40;

/**
 * @param {number} bot
 * @param {number} against
 */
const meetingHash = (bot, against) => `#games&of=${bot + 1}&against=${against + 1}`;

/**
 * The results of a bot against each of the others.
 *
 * @param {number} bot
 * @param {Unfolded} kept
 */
export function opponentBars(bot, kept) {
  const rows = known.figures.places
    .map((place) => ({ place, met: meeting(bot, place.bot) }))
    .filter(({ place, met }) => place.bot !== bot && met.games > 0);
  return folded(rows, FOLDED_OPPONENTS, kept, (shown) =>
    el(
      "div.bars.opponents",
      shown.map(({ place, met }) =>
        barRow(
          [botLink(place.bot), isRated() && !known.head.own && el("small", ` ${signed(place.elo)}`)],
          record(met.wins, met.draws, met.losses),
          link(meetingHash(bot, place.bot), `${half(met.points)} of ${count(met.games)}`),
        ),
      ),
    ),
  );
}

/**
 * The share of points as one of eleven shades, from all lost to all won.
 *
 * @param {number} score
 */
export const shade = (score) => `shade-${Math.round(10 * score)}`;

/** @param {Place[]} places */
export function crosstable(places) {
  const order = places.map((place) => place.bot);
  /**
   * @param {number} bot
   * @param {number} against
   */
  const cell = (bot, against) => {
    if (bot === against) return el("td.self", el("span.unseen", "itself"));
    const met = meeting(bot, against);
    if (met.games === 0) return el("td.never", "·");
    const score = `${half(met.points)} of ${met.games} points`;
    const results = `${met.wins} won, ${met.draws} drawn, ${met.losses} lost`;
    const label = `${name(bot)} against ${name(against)}: ${score} (${results})`;
    return el(
      `td.heat.${shade(met.points / met.games)}`,
      el("a", { href: meetingHash(bot, against), title: label, "aria-label": label, tabindex: -1 }, half(met.points)),
    );
  };
  const heads = order.map((bot, rank) =>
    el(
      "th",
      { scope: "col", title: name(bot) },
      el("span.unseen", name(bot)),
      el("span", { "aria-hidden": "true" }, rank + 1),
    ),
  );
  const rows = order.map((bot, rank) =>
    el(
      "tr",
      rowHead(el("span.rank", `${rank + 1} `), botLink(bot)),
      order.map((against) => cell(bot, against)),
    ),
  );
  const table = plainTable(
    `cross each${order.length > DENSE ? " dense" : ""}${order.length > CROWDED ? " crowded" : ""}`,
    "Head to head",
    [columnHead("text", "against"), heads],
    rows,
  );
  oneTabStop(/** @type {HTMLAnchorElement[]} */ ([...table.querySelectorAll("td a")]), (link, key) => {
    const step = CELL_STEPS.get(key);
    if (!step) return null;
    const [down, right] = step;
    let cell = link.closest("td");
    // Fields without games are skipped.
    do {
      const row = /** @type {HTMLTableRowElement | undefined} */ (cell?.closest("tr"));
      const next = row && table.rows[row.rowIndex + down]?.cells[(cell?.cellIndex ?? 0) + right];
      cell = next?.tagName === "TD" ? next : null;
    } while (cell && !cell.querySelector("a"));
    return cell?.querySelector("a") ?? link;
  });
  return scrolled(table, "Head to head");
}

// By key: rows down and columns to the right.
const CELL_STEPS = new Map([
  ["ArrowLeft", [0, -1]],
  ["ArrowRight", [0, 1]],
  ["ArrowUp", [-1, 0]],
  ["ArrowDown", [1, 0]],
]);

// More bots have narrower columns.
const DENSE = 16;

// More bots have small ones on paper.
const CROWDED = 30;

export const heatKey = () =>
  el(
    "p.key",
    "all lost",
    [0, 2, 4, 5, 6, 8, 10].map((n) => el(`span.heat.swatch.shade-${n}`, { "aria-hidden": "true" })),
    "all won",
  );

/** @param {{ name: string, href: string, count: number, kind: string }[]} rows */
export function bars(rows) {
  const most = Math.max(1, ...rows.map((row) => row.count));
  const total = Math.max(
    1,
    rows.reduce((sum, row) => sum + row.count, 0),
  );
  return el(
    "div.bars",
    rows.map((row) =>
      barRow(
        link(row.href, row.name),
        svg(
          "svg.bar",
          { height: 16, "aria-hidden": "true" },
          svg("rect", { class: row.kind, height: 16, rx: 3, width: percent(row.count / most, 2) }),
        ),
        count(row.count),
        el("small", ` ${percent(row.count / total, 1)}`),
      ),
    ),
  );
}

/** @param {number[]} counts */
export function lengths(counts) {
  const first = counts.findIndex((n) => n > 0);
  const shown = counts.slice(first);
  const most = Math.max(...shown);
  /**
   * @param {number} n
   * @param {number} i
   */
  const label = (n, i) => `${counted(n, "game")} of ${counted(first + i, "turn")}`;
  return sized(150, (width) => {
    const step = width / shown.length;
    const every = Math.ceil(24 / step);
    return svg(
      "svg.columns",
      {
        role: "img",
        "aria-label": shown
          .map((n, i) => n && label(n, i))
          .filter(Boolean)
          .join(", "),
      },
      shown.map((n, i) => {
        const height = (110 * n) / most;
        return [
          svg(
            "rect.plain",
            { x: i * step + step * 0.1, width: step * 0.8, y: 124 - height, height, rx: 2 },
            svg("title", label(n, i)),
          ),
          i % every === 0 && svg("text", { x: i * step + step / 2, y: 140 }, first + i),
        ];
      }),
    );
  });
}

/**
 * Times to answer: a row for each bot, on one logarithmic axis, whose bars are eighths of a factor of ten.
 *
 * @param {number[]} bots
 */
export function answerTimes(bots) {
  /** @param {number} bot */
  const timesOf = (bot) => known.figures.times[bot] ?? [0];
  const used = bots.map(timesOf).filter((bars) => bars.length > 1);
  if (used.length === 0) return el("p", "No answers yet.");
  const low = 8 * Math.floor(Math.min(...used.map(([first]) => first)) / 8);
  const high = Math.max(8 * Math.ceil(Math.max(...used.map((bars) => bars[0] + bars.length - 1)) / 8), low + 8);
  /** @param {number} bar */
  const at = (bar) => percent((bar - low) / (high - low), 2);
  const decades = Array.from({ length: (high - low) / 8 + 1 }, (_, i) => low + 8 * i);
  const every = Math.ceil(decades.length / 4);
  const rows = bots.map((bot) => {
    const [first, ...counts] = timesOf(bot);
    const most = Math.max(1, ...counts);
    const { median_ms: median, p95_ms: late, worst_ms: worst } = place(bot) ?? {};
    const label = median ? `median ${time(median)}, 95% within ${time(late)}, slowest ${time(worst)}` : "No answer";
    /**
     * @param {number} n
     * @param {number} i
     */
    const column = (n, i) => {
      const height = Math.max(1.5, (34 * n) / most);
      return (
        n > 0 && svg("rect.plain", { x: at(first + i), width: percent(0.94 / (high - low), 2), y: 36 - height, height })
      );
    };
    return barRow(
      botLink(bot),
      labelled(
        "strip",
        label,
        36,
        decades.map((bar) => upright("rule", at(bar), 0, 36)),
        counts.map(column),
        median && upright("median", at(8 * (Math.log10(Math.max(median, 1e-3)) + 3)), 0, 36),
      ),
      median ? [time(median), el("small", ` to ${time(late)}`)] : el("small", "no answer"),
    );
  });
  return el(
    "div.bars.times",
    rows,
    el(
      "div.bar-row.axis",
      { "aria-hidden": "true" },
      el("span.bar-name"),
      svg(
        "svg.strip",
        { height: 16 },
        decades
          .filter((_, i) => i % every === 0)
          .map((bar) =>
            svg(
              "text",
              { x: at(bar), y: 12, "text-anchor": bar === low ? "start" : bar === high ? "end" : "middle" },
              time(10 ** (bar / 8 - 3)).replace(/\.0+ /, " "),
            ),
          ),
      ),
      el("span.bar-count"),
    ),
  );
}

/**
 * Where labels of this height go that should be at these places, so that none covers another.
 *
 * @param {number[]} places
 * @param {number} height
 * @param {number} low
 * @param {number} high
 */
export function apart(places, height, low, high) {
  const order = places.map((at, index) => ({ at, index })).sort((a, b) => a.at - b.at);
  let edge = low;
  for (const label of order) {
    label.at = Math.max(label.at, edge);
    edge = label.at + height;
  }
  edge = high;
  for (const label of order.reverse()) {
    label.at = Math.min(label.at, edge);
    edge = label.at - height;
  }
  return order.sort((a, b) => a.index - b.index).map(({ at }) => at);
}

/**
 * @param {RatingPoint[]} points
 * @returns {RatingPoint}
 */
const endOf = (points) => points[points.length - 1];

// Before so many games of a bot its rating says nothing.
const FIRST_RATED = 4;

/**
 * Ratings over the games. `chosen` bots are highlighted and named at their ends, the others grey; a single
 * one has its interval. `isOwn`: over the games of the bot itself.
 *
 * @param {number[]} bots
 * @param {Set<number>} chosen
 */
export function ratingHistory(bots, chosen, isOwn = false) {
  const curves = bots
    .map((bot) => {
      const points = known.figures.history.flatMap(([games, rated]) =>
        rated
          .filter(([of, played]) => of === bot && played >= FIRST_RATED)
          .map(([, played, elo, [from, to]]) => ({ games: isOwn ? played : games, elo, from, to })),
      );
      // Of a number of the bot's games, what came last.
      return {
        bot,
        points: points.filter(({ games }, at) => games !== points[at + 1]?.games),
        isStrong: chosen.has(bot),
        ...lookOf(bot, bots, chosen),
      };
    })
    .filter(({ points }) => points.length > 0);
  if (!curves.some(({ points }) => points.length > 1)) return el("p.hint", "Too few games for a chart.");
  const late = Math.max(...curves.map(({ points }) => endOf(points).games));
  // The axis fits the ratings after the first tenth of the games, and the interval of a single bot after the first
  // half.
  const all = curves
    .flatMap(({ points, isStrong }) =>
      points.flatMap((p) => [
        p.games >= late / 10 ? p.elo : null,
        ...(isStrong && chosen.size === 1 && p.games >= late / 2 ? [p.from, p.to] : []),
      ]),
    )
    .filter((end) => end !== null);
  const low = Math.min(-50, ...all) - 40;
  const high = Math.max(50, ...all) + 40;
  const height = 280;
  return sized(height, (width) => {
    const named = curves.filter(({ isStrong }) => (chosen.size ? isStrong : bots.length <= COLOURS)).slice(0, LABELS);
    const right = named.length > 0 ? Math.min(130, width / 4) : 14;
    const [left, top, bottom] = [46, 10, 26];
    /** @param {number} games */
    const x = (games) => left + ((width - left - right) * games) / late;
    /** @param {number} elo */
    const y = (elo) =>
      Math.min(height - bottom, Math.max(top, top + ((height - top - bottom) * (high - elo)) / (high - low)));
    /**
     * @param {RatingPoint[]} points
     * @param {(point: RatingPoint) => number} rating
     */
    const path = (points, rating) => points.map((p) => `${x(p.games).toFixed(1)} ${y(rating(p)).toFixed(1)}`);
    /** @param {RatingPoint[]} points */
    const upper = (points) => path(points, (p) => p.to ?? Infinity);
    /** @param {RatingPoint[]} points */
    const lower = (points) => path(points, (p) => p.from ?? -Infinity);
    const ratings = ticks(low, high, 5).map((tick) => [
      svg("line", { class: tick === 0 ? "zero" : "rule", x1: left, x2: width - right, y1: y(tick), y2: y(tick) }),
      svg("text", { x: left - 8, y: y(tick) + 4, "text-anchor": "end" }, signed(tick)),
    ]);
    // Beside "games: 0" there is no room.
    const games = ticks(0, late, width < 500 ? 3 : 6)
      .filter((tick) => tick === 0 || x(tick) >= left + 70)
      .map((tick) =>
        svg(
          "text",
          { x: x(tick), y: height - 8, "text-anchor": tick === 0 ? "start" : x(tick) > width - 60 ? "end" : "middle" },
          tick === 0 ? "games: 0" : count(tick),
        ),
      );
    const lines = [...curves]
      .sort((a, b) => Number(a.isStrong) - Number(b.isStrong))
      .map(({ bot, points, isStrong, colour, dashes }) => [
        isStrong &&
          chosen.size === 1 &&
          svg(`path.band.${colour}`, {
            d: `M${[...upper(points), ...lower(points).reverse()].join("L")}Z`,
          }),
        svg(
          `path.curve.${colour}${isStrong ? ".strong" : ""}`,
          { d: `M${path(points, (p) => p.elo).join("L")}`, "stroke-dasharray": dashes },
          svg("title", `${name(bot)}: ${signed(endOf(points).elo)}`),
        ),
      ]);
    const places = apart(
      named.map(({ points }) => y(endOf(points).elo)),
      14,
      top + 4,
      height - bottom,
    );
    const names = named.map(({ bot, colour }, i) =>
      svg(
        `text.end.${colour}`,
        { x: width - right + 6, y: places[i] + 4 },
        shortened(name(bot), Math.floor((right - 8) / 7)),
      ),
    );
    const label = curves.map(({ bot, points }) => `${name(bot)} ${signed(endOf(points).elo)}`).join(", ");
    return svg(
      "svg.settling",
      { role: "img", "aria-label": `Ratings after ${counted(late, "game")}: ${label}` },
      ratings,
      games,
      lines,
      names,
    );
  });
}

// Names at the ends of curves; more would cover each other.
const LABELS = 16;

/**
 * Buttons that highlight a bot's curve, and a choice for the bots that have none.
 *
 * @param {number[]} bots
 * @param {Set<number>} chosen
 * @param {() => void} changed
 */
export function curveKey(bots, chosen, changed) {
  const buttons = bots.filter((bot, rank) => rank < BUTTONS || chosen.has(bot));
  const rest = bots.filter((bot) => !buttons.includes(bot));
  /** @param {number} bot */
  const toggle = (bot) => {
    if (!chosen.delete(bot) && chosen.size < LINES) chosen.add(bot);
    changed();
  };
  /** @param {number} bot */
  const swatch = (bot) => {
    const { colour, dashes } = lookOf(bot, bots, chosen);
    return svg(
      "svg.swatch",
      { viewBox: "0 0 20 10", "aria-hidden": "true" },
      svg(`line.curve.${colour}`, { x2: 20, y1: 5, y2: 5, "stroke-dasharray": dashes }),
    );
  };
  return el(
    "div.key.curves",
    { role: "group", "aria-label": "Highlighted bots" },
    buttons.map((bot) =>
      button([swatch(bot), el("span.name", name(bot))], () => toggle(bot), {
        "aria-pressed": String(chosen.has(bot)),
        "data-keep": `curve-${bot}`,
      }),
    ),
    rest.length > 0 &&
      el(
        "select",
        {
          "aria-label": "Highlight another bot",
          "data-keep": "curve-more",
          onchange: (event) => toggle(Number(event.target.value)),
        },
        el("option", { value: "", selected: true }, "another bot …"),
        rest.map((bot) => el("option", { value: bot }, name(bot))),
      ),
  );
}

// Bots beyond these are in a list instead of having a button each.
const BUTTONS = 10;

/**
 * The width of a column for each turn of a game, that of a fault included.
 *
 * @param {Game} game
 * @param {number} width
 */
export const columnWidth = (game, width) => Math.min(40, width / Math.max(1, game.turns.length + (game.fault ? 1 : 0)));

/**
 * A part of a chart that leads to a turn.
 *
 * @param {Game} game
 * @param {number} turn
 * @param {number} shown
 * @param {string} label
 * @param {...Child} parts
 */
export const turnLink = (game, turn, shown, label, ...parts) =>
  svg(
    "a",
    { href: gameHash(game.number, turn), class: turn === shown ? "now" : "" },
    svg("title", `Turn ${turn}, ${label}`),
    parts,
  );

/**
 * The time of every turn of a game as columns, each a link to the turn.
 *
 * @param {Game} game
 * @param {number} shown
 */
export function turnTimes(game, shown) {
  const most = Math.max(...game.times, 1e-3);
  const least = Math.min(...game.times.filter((ms) => ms > 0), most);
  // A logarithmic scale, so that short answers are visible beside long ones.
  const floor = Math.max(least / 2, most / 1e4);
  return sized(74, (width) => {
    const step = columnWidth(game, width);
    /** @param {number} i */
    const middle = (i) => i * step + step / 2;
    /** @param {number} i */
    const target = (i) => svg("rect.target", { x: i * step, width: step, height: 74 });
    const columns = game.times.map((ms, i) => {
      const height = Math.max(3, (54 * Math.log(Math.max(ms, floor) / floor)) / Math.log(Math.max(most / floor, 1.01)));
      return turnLink(
        game,
        i + 1,
        shown,
        `${name(game.sides[game.sideOf(i)])}: ${time(ms)}`,
        target(i),
        svg(`rect.side-${game.sideOf(i)}`, {
          x: i * step + step * 0.14,
          width: step * 0.72,
          y: 58 - height,
          height,
          rx: 2,
        }),
        (step > (i < 99 ? 17 : 24) || (i + 1) % 10 === 0) &&
          svg("text", { x: middle(i), y: 71, "aria-hidden": "true" }, i + 1),
      );
    });
    const end = game.times.length;
    return svg(
      "svg.turn-times",
      { role: "group", "aria-label": "Time of every turn" },
      columns,
      game.fault &&
        turnLink(
          game,
          end + 1,
          shown,
          `${name(game.fault.by)}: ${game.reason}`,
          target(end),
          svg("text.fault-mark", { x: middle(end), y: 54 }, "✗"),
        ),
    );
  });
}

/** @type {Record<string, string>} */
const SIGNS_IN_STRIP = { blunder: "!", "missed-win": "!", only: "✓" };

/**
 * Who wins with best play after every turn, from the analysis: a strip of fields, each a link to its
 * turn, and what its colours mean. Null when there is nothing to show.
 *
 * @param {Game} game
 * @param {number} shown
 */
export function winners(game, shown) {
  if (![...game.analysis.values()].some(({ value }) => value)) return null;
  const fields = game.turns.map((_, i) => {
    const { value, mark } = game.analysis.get(i + 1) ?? {};
    const holder = value === "w" ? i % 2 : value === "l" ? 1 - (i % 2) : null;
    const winner = holder !== null ? `${name(game.sides[holder])} wins` : value === "d" ? "a draw" : "unsolved";
    const label = `Turn ${i + 1}: ${winner}`;
    const kind = holder !== null ? `side-${holder}` : value === "d" ? "even" : "";
    return el(
      "a",
      {
        href: gameHash(game.number, i + 1),
        class: `${kind}${i + 1 === shown ? " now" : ""}`,
        title: label,
        "aria-label": `${label}${mark ? `, ${mark}` : ""}`,
      },
      own(SIGNS_IN_STRIP, mark),
    );
  });
  /**
   * @param {string} kind
   * @param {...Child} content
   */
  const item = (kind, ...content) => el("span", el(`i.swatch.${kind}`), content);
  const key = el(
    "p.key.strip-key",
    [0, 1].map((side) => item(`side-${side}`, el("span", el("span.name", name(game.sides[side])), " wins"))),
    item("even", "draw"),
    item("unknown", "unsolved"),
    el("span", "! a mistake"),
    el("span", "✓ only move, found"),
  );
  const strip = el("div.winners", { role: "group", "aria-label": "Evaluation" }, fields);
  // As wide as the columns of times above it.
  strip.style.maxWidth = `${40 * fields.length}px`;
  return [strip, key];
}
