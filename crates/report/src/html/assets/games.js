// The list of games, with filters that are part of the page's address.

import { botLink, gameHash, hasLeft, isUnplayed, name, outcome, pairOf, points } from "./data.js";
import { announce, button, choices, count, counted, el, link, named, own, when } from "./dom.js";
import { isAnalysed, judgedTurns } from "./mistakes.js";
import { known, reader } from "./state.js";
import { sortable } from "./tables.js";

/** @type {[value: string, title: string][]} */
const ENDINGS = [
  ["", "any"],
  ["won", "won by the bot"],
  ["lost", "lost by the bot"],
  ["drawn", "drawn"],
  ["forfeited", "forfeited by the bot"],
  ["any-forfeit", "forfeited by anyone"],
];

/** @type {[value: string, title: string][]} */
const BLUNDERS = [
  ["", "any"],
  ["any", "by anyone"],
  ["own", "by the bot"],
  ["missed", "missed wins, by anyone"],
];

// As many openings are suggested.
const SUGGESTED = 50;

const SCORES = ["0–1", "½–½", "1–0"];

/**
 * The result in short: the score, the side that moved first before the other, and whose fault it was.
 *
 * @param {GameSummary} game
 */
export const scoreOf = (game) => SCORES[2 * points(game, game.sides[0])];

/** @param {GameSummary} game */
function badgeText(game) {
  if (isUnplayed(game)) return "benched, not played";
  return hasLeft(game) ? "left the game" : `forfeits: ${game.reason}`;
}

/** @param {GameSummary} game */
const result = (game) =>
  el(
    "span",
    scoreOf(game),
    game.forfeit && [" ", el("span.rare", named(name(game.loser)), " "), el("span.badge.blame", badgeText(game))],
  );

/**
 * A list of games; `of` is the bot whose points are shown, if any.
 *
 * @param {string} caption
 * @param {() => GameSummary[]} rows
 * @param {number} [of]
 * @param {number} [size]
 * @param {{ page: number }} [at]
 */
export function gameList(caption, rows, of, size = 50, at = undefined) {
  /**
   * @param {number} side
   * @returns {Pick<Column<GameSummary>, "text" | "value" | "show">}
   */
  const player = (side) => ({
    text: true,
    value: (g) => name(g.sides[side]),
    show: (g) => (g.winner === g.sides[side] ? el("strong", botLink(g.winner)) : botLink(g.sides[side])),
  });
  /**
   * @param {number} bot
   * @returns {Column<GameSummary>}
   */
  const scoreOfBot = (bot) => ({
    key: "score",
    title: "points",
    value: (g) => points(g, bot),
    show: (g) => {
      const halves = 2 * points(g, bot);
      return el("span", { class: `badge ${["loss", "draw", "win"][halves]}` }, ["0", "½", "1"][halves]);
    },
  });
  return sortable({
    caption,
    rows,
    size,
    sorted: reader.gamesOrder,
    kind: "games",
    at,
    columns: [
      {
        key: "number",
        title: "game",
        value: (g) => g.number,
        show: (g) => link(gameHash(g.number), String(g.number)),
        head: true,
      },
      { key: "first", title: "moved first", ...player(0) },
      { key: "second", title: "moved second", ...player(1) },
      ...(of === undefined ? [] : [scoreOfBot(of)]),
      { key: "result", title: "result", text: true, value: (g) => outcome(g), show: result },
      { key: "length", title: "turns", value: (g) => g.length, kind: "number rare" },
      {
        key: "started",
        title: "started",
        value: (g) => g.started,
        show: (g) => el("time", { title: when(g.started) }, when(g.started).replace(" UTC", "")),
        kind: "number faint rare",
        hint: "When it began, in UTC",
      },
    ],
  });
}

/**
 * Whether a game of a tournament is of the pairs with these numbers: `12-21`.
 *
 * @param {GameSummary} game
 * @param {string} pairs
 */
function isOfPairs(game, pairs) {
  const wanted = /^(\d+)-(\d+)$/.exec(pairs ?? "");
  const pair = pairOf(game.id);
  return !wanted || (pair >= Number(wanted[1]) && pair <= Number(wanted[2]));
}

/** @param {string} text */
const closely = (text) => text.replaceAll(/\s/g, "").toLowerCase();

/**
 * Whether a game began from this board, or with these turns.
 *
 * @param {GameSummary} game
 * @param {string} wanted
 */
function hasOpening(game, wanted) {
  return (
    closely(game.start).startsWith(wanted) || closely(game.packed.turns.slice(0, 4 * wanted.length)).startsWith(wanted)
  );
}

// Boards from which several games began, the most frequent ones first.
function openings() {
  const found = new Map();
  for (const { start } of known.games) {
    if (start) found.set(start, (found.get(start) ?? 0) + 1);
  }
  return [...found]
    .filter(([, games]) => games > 1)
    .sort((a, b) => b[1] - a[1])
    .slice(0, SUGGESTED);
}

/** @type {Record<string, (turn: JudgedTurn, of: number | undefined) => boolean>} */
const BLUNDER_TESTS = {
  any: ({ lost }) => lost > 0,
  own: ({ lost, bot }, of) => lost > 0 && (of === undefined || bot === of),
  missed: ({ missed }) => missed,
};

/**
 * Whether each of the words is in a name, the number, the id or the reason of a game.
 *
 * @param {string} text
 * @returns {(game: GameSummary) => boolean}
 */
function wordsIn(text) {
  const tests = text
    .toLowerCase()
    .split(/\s+/)
    .filter(Boolean)
    .map((word) => {
      const named = new Set(known.bots.flatMap((bot, index) => (bot.name.toLowerCase().includes(word) ? [index] : [])));
      return (/** @type {GameSummary} */ g) =>
        g.bots.some((bot) => named.has(bot)) ||
        String(g.number).includes(word) ||
        g.id.toLowerCase().includes(word) ||
        g.reason.toLowerCase().includes(word);
    });
  return (game) => tests.every((test) => test(game));
}

/**
 * @param {Record<string, string>} filters
 * @returns {(game: GameSummary) => boolean}
 */
function matches(filters) {
  const of = filters.of ? Number(filters.of) - 1 : undefined;
  const against = filters.against ? Number(filters.against) - 1 : undefined;
  /** @type {Record<string, (game: GameSummary) => boolean>} */
  const tests = {
    won: (g) => g.winner >= 0 && (of === undefined || g.winner === of),
    lost: (g) => g.winner >= 0 && (of === undefined || g.loser === of),
    drawn: (g) => g.winner < 0,
    forfeited: (g) => g.forfeit && (of === undefined || g.loser === of),
    "any-forfeit": (g) => g.forfeit,
  };
  const wanted = own(tests, filters.ending) ?? (() => true);
  const hasWords = wordsIn(filters.text ?? "");
  const opening = closely(filters.opening ?? "");
  const isBlunder = own(BLUNDER_TESTS, filters.blunder);
  const [least, most] = [filters.least, filters.most].map((turns) =>
    /^\d{1,4}$/.test(turns ?? "") ? Number(turns) : null,
  );
  return (g) =>
    (of === undefined || g.bots.includes(of)) &&
    (against === undefined || g.bots.includes(against)) &&
    (!filters.seat || of === undefined || (g.sides[0] === of) === (filters.seat === "first")) &&
    isOfPairs(g, filters.pairs) &&
    (!filters.reason || g.reason === filters.reason) &&
    wanted(g) &&
    (least === null || g.length >= least) &&
    (most === null || g.length <= most) &&
    hasWords(g) &&
    (opening === "" || hasOpening(g, opening)) &&
    (!isBlunder || judgedTurns(g).some((turn) => isBlunder(turn, of)));
}

/**
 * @param {string} text
 * @returns {[value: string, title: string]}
 */
const asChoice = (text) => [text, text];

// The filters in the address: `#games&of=2&ending=lost`.
const FIELDS = ["of", "against", "ending", "reason", "seat", "least", "most", "opening", "blunder", "text", "pairs"];

/** @param {URLSearchParams} address */
export function games(address) {
  const filters = Object.fromEntries(FIELDS.map((field) => [field, address.get(field) ?? ""]));
  const found = el("p.hint", { role: "status" });
  /** @type {ReturnType<typeof gameList>} */
  let list;
  let isEmpty = false;

  function rows() {
    const test = matches(filters);
    const all = known.games.filter(test);
    isEmpty = all.length === 0;
    found.textContent =
      all.length === known.games.length
        ? counted(all.length, "game")
        : `${count(all.length)} of ${counted(known.games.length, "game")}`;
    return all;
  }

  /** @param {string} keep */
  const clear = (keep) =>
    button(
      "Clear filters",
      () => {
        location.hash = "#games";
      },
      { "data-keep": keep },
    );

  // A filter that no game passes is the reader's to change.
  function showList() {
    const isNone = isEmpty && addressOf() !== "#games";
    if (isNone || holder.firstChild !== list.node)
      holder.replaceChildren(isNone ? el("p", "No games match. ", clear("filter-none")) : list.node);
  }

  const addressOf = () =>
    "#games" +
    FIELDS.filter((field) => filters[field])
      .map((field) => `&${field}=${encodeURIComponent(filters[field])}`)
      .join("");

  function changed() {
    history.replaceState(history.state, "", addressOf());
    rebuild();
    announce(found.textContent ?? "");
  }

  // Creates the list again: the column of points depends on the filter for a bot.
  function rebuild() {
    if (reader.gamesPage.filters !== addressOf()) Object.assign(reader.gamesPage, { page: 0, filters: addressOf() });
    list = gameList("Games", rows, filters.of ? Number(filters.of) - 1 : undefined, 50, reader.gamesPage);
    showList();
    const { ordered } = list;
    known.list = { address: reader.gamesPage.filters, numbers: () => ordered().map((game) => game.number) };
  }

  /**
   * @param {string} field
   * @param {string} label
   * @param {[value: string, title: string][]} options
   */
  const choice = (field, label, options) =>
    el(
      "label",
      el("span", label),
      choices(
        options,
        filters[field],
        (value) => {
          filters[field] = value;
          changed();
        },
        { "data-keep": `filter-${field}` },
      ),
    );

  const bots = known.bots
    .map((bot, index) => /** @type {[value: string, title: string]} */ ([String(index + 1), bot.name]))
    .sort((a, b) => a[1].localeCompare(b[1], "en"));
  const reasons = Object.keys(known.figures.endings).sort();
  const holder = el("div.card");
  /**
   * @param {string} field
   * @param {string} label
   * @param {Attributes} more
   */
  const input = (field, label, more) =>
    el(
      "label",
      { class: `filter-${field}` },
      el("span", label),
      el("input", {
        value: filters[field],
        "data-keep": `filter-${field}`,
        ...more,
        oninput: (event) => {
          filters[field] = event.target.value;
          changed();
        },
      }),
    );
  /**
   * @param {string} field
   * @param {string} label
   */
  const turns = (field, label) => input(field, label, { type: "number", min: 0, max: 9999 });
  const suggested = openings();
  const node = el(
    "div",
    el("h1", "Games"),
    el(
      "details",
      {
        class: "card",
        open: reader.hasFilters,
        ontoggle: (event) => {
          reader.hasFilters = event.target.open;
        },
      },
      el("summary", { "data-keep": "filters" }, "Filters"),
      el(
        "form.filters",
        { onsubmit: (event) => event.preventDefault() },
        choice("of", "bot", [["", "any bot"], ...bots]),
        choice("against", "against", [["", "any bot"], ...bots]),
        choice("ending", "result", ENDINGS),
        choice("reason", "how it ended", [["", "any"], ...reasons.map(asChoice)]),
        choice("seat", "seat", [
          ["", "either"],
          ["first", "moves first"],
          ["second", "moves second"],
        ]),
        turns("least", "turns from"),
        turns("most", "turns to"),
        input("opening", "opening", {
          type: "search",
          placeholder: "board or first turns",
          list: suggested.length ? "openings" : null,
          spellcheck: "false",
          autocomplete: "off",
        }),
        suggested.length
          ? el(
              "datalist",
              { id: "openings" },
              suggested.map(([board, games]) => el("option", { value: board, label: counted(games, "game") })),
            )
          : null,
        isAnalysed() ? choice("blunder", "blunders", BLUNDERS) : null,
        input("text", "search", { type: "search", placeholder: "name, number or id" }),
        clear("filter-clear"),
      ),
    ),
    found,
    holder,
  );
  rebuild();
  // The view must be created again when there are new bots or reasons.
  const offered = () => `${known.bots.length} ${Object.keys(known.figures.endings).length}`;
  const before = offered();
  return {
    node,
    update: () => {
      list.redraw();
      showList();
      return offered() === before;
    },
  };
}
