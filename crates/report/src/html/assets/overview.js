// The overview: standings, charts and highlights.

import { analysisCard } from "./analysis.js";
import {
  answerTimes,
  barRow,
  bars,
  crosstable,
  curveKey,
  heatKey,
  lengths,
  ratingAxis,
  ratingHistory,
  ratingScale,
  record,
  recordKey,
  whisker,
} from "./charts.js";
import { bracketCard, groupsCard, roundsCard } from "./course.js";
import {
  absent,
  absentHash,
  botHash,
  botLink,
  criterion,
  forfeitsHash,
  gameHash,
  interval,
  isRated,
  name,
  pointsText,
  rankText,
  story,
  tables,
  unpacked,
} from "./data.js";
import {
  capitalised,
  card,
  count,
  counted,
  el,
  folded,
  half,
  highlight,
  keepingFocus,
  link,
  own,
  percent,
  prose,
  refill,
  scrolled,
  signed,
  time,
} from "./dom.js";
import { decisiveGame, facts, isDuel, likelihood, resultCard } from "./head.js";
import { accuracyCard, gaveAway, isAnalysed, told, worstMistake } from "./mistakes.js";
import { drawBoard, statesOf } from "./rules.js";
import { known, reader } from "./state.js";
import { columnHead, plainTable, rowHead, sortable } from "./tables.js";

// A crosstable of more bots needs the whole width.
const NARROW_BOTS = 9;

// Standings of more bots have narrow rows; those of many more are shown page by page.
const LONG = 30;
const PAGED = 120;
const PAGE_ROWS = 60;

// More columns are narrow.
const FULL = 11;

// A crosstable of more bots shows these, and the rest on request: 300 have 90,000 fields.
const CROSSED = 60;

// Lists of more bots show these, and the rest on request.
const FOLDED = 12;

// Curves that are highlighted at first.
const CURVES = 5;

/**
 * Places up or down since the last time; the arrow is read aloud as a word.
 *
 * @param {number | "new"} by
 */
function moved(by) {
  if (by === "new") return by;
  if (by === 0) return "=";
  const places = Math.abs(by);
  return el(
    "span",
    { "aria-label": `${by > 0 ? "up" : "down"} ${places}`, role: "img" },
    `${by > 0 ? "↑" : "↓"}${places}`,
  );
}

// Sonneborn-Berger scores have quarters.
/** @type {Record<string, (value: number) => Child>} */
const FORMATS = {
  number: (value) => (Number.isInteger(2 * value) ? half(value) : String(value)),
  share: (value) => percent(value, 1),
  elo: signed,
  milliseconds: time,
};

/**
 * The figure in a column.
 *
 * @param {Place} place
 * @param {string} key
 */
function figureOf(place, key) {
  const { [key]: figure } = place;
  return typeof figure === "number" || typeof figure === "string" ? figure : null;
}

/**
 * @param {string | number | null} figure
 * @param {string} format
 */
function written(figure, format) {
  if (figure === null) return "";
  if (format === "moved") return moved(figure === "new" ? figure : Number(figure));
  return typeof figure === "number" ? (own(FORMATS, format)?.(figure) ?? figure) : figure;
}

/** @param {Place} p */
const lost = (p) => Object.values(p.forfeits).reduce((a, b) => a + b, 0);

/**
 * Columns that the page draws in its own way, by key: in place of one, several or none.
 *
 * @param {Place[]} places
 * @param {RatingScale} scale
 * @returns {Record<string, Partial<Column<Place>>[]>}
 */
const special = (places, scale) => ({
  rank: [{ hint: "Sort by place", show: rankText, kind: "rank", rising: true }],
  name: [{ value: (p) => name(p.bot), show: (p) => botLink(p.bot), head: true }],
  moved: [{ hint: "Places up or down since the last time", value: (p) => (p.moved === "new" ? 0 : p.moved) }],
  reached: [{ kind: "text reached", value: (p) => String(p.rank).padStart(6, "0") }],
  points: [{ show: pointsText }],
  byes: places.some((p) => p.byes) ? [{ kind: "number rare" }] : [],
  games: [{ show: (p) => count(p.games), kind: "number rare" }],
  score: [{ hint: "Points per game", kind: "number rare" }],
  wins: [
    {
      key: "record",
      title: "won · drawn · lost",
      value: (p) => p.wins / Math.max(1, p.games),
      kind: "wide rare",
      show: (p) => [record(p.wins, p.draws, p.losses), el("small", `${p.wins} · ${p.draws} · ${p.losses}`)],
    },
  ],
  elo: [
    { show: (p) => el("span", { title: interval(p) }, signed(p.elo)) },
    {
      key: "rating",
      title: "Elo (95% CI)",
      hint: "Sort by rating",
      kind: "widest rare",
      show: (p) => whisker(p, scale),
    },
  ],
  los: places.every((p) => p.los === null)
    ? []
    : [
        {
          title: "LOS vs\u00a0next",
          hint: "Likelihood of superiority: of being stronger than the next in the table",
          kind: "number lines rare",
          show: (p) => (p.los === null ? "" : likelihood(p.los)),
        },
      ],
  accuracy: [
    {
      kind: "number rare",
      hint: "Share of the turns that kept the best result still possible, of those whose exact value is known",
    },
  ],
  blunders: [
    {
      kind: "number rare",
      hint: "Turns that gave away a win or a draw",
      show: (p) => (p.blunders === null ? "" : link(botHash(p.bot), count(p.blunders))),
    },
  ],
  median_ms: [{ title: "median move", hint: "Median time of a move", kind: "number lines rare" }],
  forfeits: places.some(lost)
    ? [{ kind: "number rare", value: lost, show: (p) => (lost(p) ? link(forfeitsHash(p.bot), count(lost(p))) : "0") }]
    : [],
  ...Object.fromEntries(
    ["buchholz", "buchholz_cut_1", "sonneborn_berger", "wins_as_second"].map((key) => [key, [{ kind: "number rare" }]]),
  ),
  draws: [],
  losses: [],
  proven: [],
  missed_wins: [],
  "": [],
});

/**
 * @param {Place[]} places
 * @param {RatingScale} scale
 * @returns {Column<Place>[]}
 */
function columnsOf(places, scale) {
  const looks = special(places, scale);
  const [first] = criterion();
  /** @param {Column<Place>} column */
  const marked = (column) =>
    column.title === first
      ? { ...column, kind: "number", show: (/** @type {Place} */ p) => el("strong", column.show?.(p)) }
      : column;
  return known.figures.columns.flatMap(([key, title, format]) =>
    (own(looks, key) ?? [{}]).map((column) =>
      marked({
        key,
        title,
        text: format === "text",
        value: (p) => figureOf(p, key),
        show: (p) => written(figureOf(p, key), format),
        ...column,
      }),
    ),
  );
}

/** @param {Place[]} places */
function standings(places) {
  const scale = ratingScale(places);
  const columns = columnsOf(places, scale);
  return tables().map((rows, number) => {
    const table = sortable({
      caption: number ? `Standings ${number + 1}` : "Standings",
      kind: `standings${rows.length > LONG ? " long" : ""}${columns.length > FULL ? " full" : ""}`,
      sorted: reader.standingsOrder,
      rows: () => rows,
      size: rows.length > PAGED ? PAGE_ROWS : undefined,
      at: number ? undefined : reader.standingsPage,
      columns,
    });
    table.node.querySelector("thead .widest")?.append(ratingAxis(scale));
    return table.node;
  });
}

/** @param {Place[]} places */
function forfeits(places) {
  const reasons = [...new Set(places.flatMap((place) => Object.keys(place.forfeits)))].sort();
  if (reasons.length === 0) return null;
  const faulty = places.filter((place) => lost(place) > 0).sort((a, b) => lost(b) - lost(a));
  const most = Math.max(...faulty.flatMap((place) => Object.values(place.forfeits)));
  /**
   * @param {Place} place
   * @param {string} reason
   */
  const cell = (place, reason) => {
    const found = own(place.forfeits, reason);
    if (!found) return el("td.never", "·");
    return el(
      `td.heat.blame-${Math.max(1, Math.round((5 * found) / most))}`,
      link(forfeitsHash(place.bot, reason), count(found)),
    );
  };
  /** @param {Place[]} shown */
  const table = (shown) =>
    plainTable(
      "cross",
      "Forfeits by reason",
      [columnHead("text", "bot"), reasons.map((reason) => columnHead("reason", reason))],
      shown.map((place) =>
        el(
          "tr",
          rowHead(botLink(place.bot)),
          reasons.map((reason) => cell(place, reason)),
        ),
      ),
    );
  return card(
    "Forfeits",
    "Games lost by a fault of the bot, not on the board.",
    folded(faulty, FOLDED, reader.forfeits, (shown) => scrolled(table(shown), "Forfeits by reason")),
  );
}

/**
 * Wins, draws and losses by who moved first: of one bot, or of all together.
 *
 * @param {number} [bot]
 */
function seats(bot) {
  const first = [0, 0, 0];
  const second = [0, 0, 0];
  for (const [a, b, wins, draws, losses] of known.figures.met) {
    if (bot === undefined || a === bot)
      [wins, draws, losses].forEach((n, i) => {
        first[i] += n;
      });
    if (bot === undefined || b === bot)
      [losses, draws, wins].forEach((n, i) => {
        second[i] += n;
      });
  }
  /** @type {[title: string, counts: number[]][]} */
  const rows = [
    ["moving first", first],
    ["moving second", second],
  ];
  return rows.map(([title, [wins, draws, losses]]) => {
    const games = wins + draws + losses;
    return barRow(
      title,
      record(wins, draws, losses),
      games ? percent((wins + draws / 2) / games, 1) : "–",
      el("small", ` of ${count(games)}`),
    );
  });
}

/** @param {number} bot */
export const seatBars = (bot) => el("div.bars", seats(bot));

/**
 * Where the games tell that it matters who moves first.
 *
 * @param {Figures} figures
 */
function seatCard({ advantage, advantage_error: error }) {
  if (advantage === null || error === null || Math.abs(advantage) <= error) return null;
  const isQuarto = known.editions.some(({ game }) => game === "quarto");
  const remark = isQuarto ? " In Quarto who moves first gives a piece and places none." : "";
  return card(
    "First-mover advantage",
    `${signed(advantage)} ± ${Math.round(error)} Elo.${remark}`,
    el("div.bars", seats()[0]),
    recordKey(),
  );
}

/** @param {Place[]} places */
function settlingCard(places) {
  const bots = places.map((place) => place.bot);
  const curves = reader.curves ?? new Set(bots.length > CURVES ? bots.slice(0, CURVES) : []);
  reader.curves = curves;
  const box = el("div");
  const draw = () => {
    keepingFocus(box, () => refill(box, ratingHistory(bots, curves), curveKey(bots, curves, draw)));
  };
  draw();
  return card(
    "Ratings over the games",
    "Elo as games were played. Choose bots to highlight them; one alone is shown with its 95% interval.",
    box,
  );
}

/** @param {Figures} figures */
function median({ games, lengths }) {
  let [turns, seen] = [0, 0];
  while (turns < lengths.length && seen + (lengths[turns] ?? 0) < games / 2) {
    seen += lengths[turns] ?? 0;
    turns += 1;
  }
  return counted(turns, "turn");
}

/** @param {Figures} figures */
function endings(figures) {
  const rows = Object.entries(figures.endings)
    .sort((a, b) => b[1] - a[1])
    .map(([reason, n]) => ({
      name: reason,
      count: n,
      href: `#games&reason=${encodeURIComponent(reason)}`,
      kind: reason === "draw" ? "draw" : known.editions.some((edition) => edition.game === reason) ? "win" : "blame",
    }));
  return card(
    "Endings",
    rows.length > 1 ? "How many games ended in each way." : `All games ended by ${rows[0]?.name}.`,
    rows.length > 1 ? bars(rows) : null,
    el("h3", "Game length"),
    el("p.hint", `Median: ${median(figures)}`),
    lengths(figures.lengths),
  );
}

// Notable games, the first with its board: that which decided, the worst blunder, the quickest win, the biggest
// upset, the longest win.
function highlights() {
  const won = known.games.filter((game) => game.winner >= 0 && !game.forfeit);
  /** @type {[game: GameSummary, turn: number, item: Child][]} */
  const found = [];
  /**
   * @param {string} title
   * @param {GameSummary} game
   * @param {Child} small
   * @param {number} [turn]
   * @param {string} [said]
   */
  const note = (title, game, small, turn = game.length, said = story(game)) => {
    found.push([
      game,
      turn,
      el(
        "li",
        link(
          gameHash(game.number, turn),
          el("strong", title),
          el("span", `Game ${game.number}: ${said}`),
          small ? el("small", small) : null,
        ),
      ),
    ]);
  };
  /**
   * @param {GameSummary[]} games
   * @param {(game: GameSummary) => number} merit
   */
  const best = (games, merit) =>
    games.reduce(
      (top, game) => (top === null || merit(game) > merit(top) ? game : top),
      /** @type {GameSummary | null} */ (null),
    );
  /**
   * Of several that took the same number of turns, none stands out.
   *
   * @param {GameSummary | null} game
   */
  const only = (game) => (game && won.filter((other) => other.length === game.length).length === 1 ? game : null);
  const decisive = decisiveGame();
  if (decisive) note("Last game of the final", decisive, decisive.lines);
  const worst = isAnalysed() ? worstMistake(known.games) : null;
  if (worst)
    note(
      `Biggest blunder: ${gaveAway(worst)}`,
      worst.game,
      worst.remark && told(worst.remark),
      worst.turn,
      `${name(worst.bot)}, turn ${worst.turn}`,
    );
  const quickest = only(best(won, (game) => -game.length));
  if (quickest) note("Quickest win", quickest, counted(quickest.length, "turn"));
  const elo = new Map(known.figures.places.map((p) => [p.bot, p.elo]));
  /** @param {GameSummary} game */
  const gap = (game) => (elo.get(game.loser) ?? 0) - (elo.get(game.winner) ?? 0);
  const upset = best(won, gap);
  if (isRated() && upset && gap(upset) > 30 && !isDuel(known.figures))
    note("Biggest upset", upset, `${Math.round(gap(upset))} Elo apart`);
  const longest = only(best(won, (game) => game.length));
  if (longest && longest !== quickest) note("Longest win", longest, counted(longest.length, "turn"));
  return found.length
    ? card(
        "Highlights",
        null,
        withBoard(
          found[0][0],
          found[0][1],
          found.map(([, , item]) => item),
        ),
      )
    : null;
}

/**
 * A list of games beside the board of one of them.
 *
 * @param {GameSummary} game
 * @param {number} turn
 * @param {Child[]} items
 */
function withBoard(game, turn, items) {
  const state = statesOf(unpacked(game))[turn];
  return el(
    "div.latest",
    state &&
      el(
        "a.board-link",
        { href: gameHash(game.number, turn) },
        el("span.unseen", `Game ${game.number}. `),
        drawBoard(state),
      ),
    el("ul.highlights", items),
  );
}

/** @type {Record<string, string>} */
const LIMITED = {
  "--memory": "memory",
  "--processes": "processes",
  "--scratch": "files that it writes",
  "--open-files": "open files",
  "--freeze": "thinking in the other's time",
};

// The board of the game that ended last, on a page that is served live.
function latest() {
  // Games may be known before their figures.
  const games = known.games.slice(0, known.figures.games);
  const game = games.at(-1);
  if (!game) return null;
  return card(
    "Just played",
    null,
    withBoard(
      game,
      game.length,
      games
        .slice(-4)
        .reverse()
        .map((game) => highlight(gameHash(game.number), `Game ${game.number}`, story(game, game.lines))),
    ),
  );
}

function limits() {
  const lines = (known.head.limits ?? []).map(
    ({ limit, strict, by }) => `${capitalised(own(LIMITED, limit) ?? limit)} (${strict ? "strict" : "checked"}): ${by}`,
  );
  if (lines.length === 0) return null;
  return el(
    "details",
    el("summary", "Sandbox and limits"),
    el(
      "p.hint",
      "Strict limits are held by the kernel and never exceeded; checked ones can be exceeded for some milliseconds.",
    ),
    el(
      "ul",
      lines.map((line) => el("li", line)),
    ),
  );
}

/** @param {Place[]} places */
function verdict(places) {
  // How surely the first is the first is said by the card of the result.
  const parts = places[places.length - 1].table > 1 ? [known.figures.separate] : [];
  return [...parts, known.figures.rule].map((part) => `${capitalised(part ?? "")}.`).join(" ");
}

function absentCard() {
  const all = absent();
  if (all.length === 0) return null;
  return card(
    "Failed the entry check",
    null,
    el(
      "ul.highlights",
      all.map(({ name, absence }, index) =>
        highlight(absentHash(index), null, name, absence && prose(absence.problem.split("\n")[0])),
      ),
    ),
  );
}

export function overview() {
  const figures = known.figures;
  if (figures.games === 0) {
    return el(
      "div",
      el("h1", known.head.title),
      el(
        "p.card",
        known.head.live
          ? "No game has ended yet. This page shows them as they end."
          : "There are no games in this report.",
      ),
      absentCard(),
    );
  }
  const places = figures.places;
  const isOne = isDuel(figures);
  const each =
    isOne || figures.course?.format === "gauntlet"
      ? null
      : card(
          "Head to head",
          "Points of the bot on the left. Click a cell for its games (arrow keys move).",
          folded(places, CROSSED, reader.cross, crosstable),
          heatKey(),
        );
  return el(
    "div.overview",
    el("h1", known.head.title),
    facts(figures),
    known.unread ? el("p.hint", { role: "status" }, known.unread) : null,
    resultCard(figures),
    groupsCard(),
    bracketCard(),
    isOne ? null : card("Standings", verdict(places), ...standings(places), el("div.rare", recordKey())),
    known.head.live ? latest() : null,
    (figures.changed ?? []).map((text) => el("p.hint", { role: "note" }, `${capitalised(text)}.`)),
    absentCard(),
    roundsCard(),
    places.length > NARROW_BOTS ? each : null,
    el(
      "div.cards",
      places.length > NARROW_BOTS ? null : each,
      highlights(),
      card(
        "Move time",
        "The median of each bot, where the line is, and the time within which 95% of its moves were made.",
        folded(
          places.map((p) => p.bot),
          FOLDED,
          reader.times,
          answerTimes,
        ),
      ),
      isRated() && !isOne ? settlingCard(places) : null,
      accuracyCard(places) ?? analysisCard(),
      forfeits(places),
      endings(figures),
      seatCard(figures),
    ),
    limits(),
    known.unread
      ? null
      : figures.games > known.games.length
        ? el("p.hint", `All ${count(figures.games)} games count; the first ${count(known.games.length)} are listed.`)
        : null,
  );
}
