// The page's data. Entries and figures have the format of `crates/report/src/html/pack.rs`; they are
// complete in a file and arrive in pieces from a server.

import { capitalised, half, inflated, link, named, own, percent, signed } from "./dom.js";
import { known } from "./state.js";

/** @param {Entry[]} entries */
export function addEntries(entries) {
  for (const entry of entries) {
    switch (entry[0]) {
      case "b":
        known.bots.push({ name: entry[1] || "(no name)", command: entry[2] });
        break;
      case "e":
        known.editions.push({ game: entry[1], rules: entry[2], pieces: entry[3] });
        break;
      case "t":
        known.texts.push(entry[1]);
        break;
      case "g":
        known.games.push(gameOf(known.games.length + 1, entry));
        break;
    }
  }
}

/** @param {string} packed */
const turnsOf = (packed) => (packed === "" ? [] : packed.split("\t"));

/**
 * Adds games of a large page, which are compressed columns (`crates/report/src/html/mod.rs`). An error is a sentence.
 *
 * @param {string} packed
 */
export async function unpackGames(packed) {
  if (typeof DecompressionStream === "undefined") {
    throw new Error(
      "The games of this page are compressed, and this browser cannot unpack them: Chrome and Edge from version 80, " +
        "Firefox from 113 and Safari from 16.4 can. The figures are those of all games.",
    );
  }
  try {
    /** @type {unknown[][]} */
    const columns = JSON.parse(await inflated(packed).text());
    columns[0].forEach((_, row) => {
      const entry = /** @type {GameEntry} */ (columns.map((column) => column[row]));
      known.games.push(gameOf(known.games.length + 1, entry));
    });
  } catch {
    known.games = [];
    throw new Error(
      "The games of this page cannot be unpacked, because its file is damaged. Copy it again, or make it again with " +
        "\u201creferee report\u201d. The figures are those of all games.",
    );
  }
}

/**
 * A game of the list: what an entry `["g", …]` of `pack.rs` says, by name. Turns, times and the like stay packed until
 * the game is opened; fields at the end may be missing.
 *
 * @param {number} number
 * @param {GameEntry} entry
 * @returns {GameSummary}
 */
function gameOf(number, [, edition, a, b, first, winner, reason, started, id, turns, times, ...rest]) {
  const [lines, phases, fault, start, notes, remark, movers, drawings, info] = rest;
  /** @type {[number, number]} */
  const bots = [a, b];
  return {
    number,
    bots,
    edition,
    // Numbers of the bots in the order of their turns.
    sides: first ? [b, a] : bots,
    // Numbers of bots; -1 for a draw.
    winner: winner < 0 ? -1 : bots[winner],
    loser: winner < 0 ? -1 : bots[1 - winner],
    reason,
    started,
    id,
    length: turnsOf(turns).length,
    forfeit: Boolean(fault),
    // The board from which it began; empty for that of the rules.
    start: start ?? "",
    // The first turns of the middlegame and of the endgame, from 1.
    phases,
    lines,
    remark: remark ?? "",
    // The analysis, if there is one: it is packed, too.
    notes: notes ?? null,
    movers: movers ?? null,
    drawings: drawings ?? null,
    packed: { turns, times, fault: fault ?? null, info: info ?? [] },
  };
}

const TITLES_OF_GAMES = { quarto: "Quarto", "four-in-a-row": "Four In A Row" };

/** @param {string} game */
export const gameTitle = (game) => own(TITLES_OF_GAMES, game) ?? game;

/** @param {number} index */
const text = (index) => known.texts[index] ?? "";

/**
 * The side that made a turn, both counted from 0; `movers` are the sides of all turns, if they do not alternate.
 *
 * @param {Pick<GameSummary, "movers">} game
 * @param {number} turn
 */
export const sideOfTurn = ({ movers }, turn) => (movers ? Number(movers[turn]) : turn % 2);

/**
 * Milliseconds: `7a` is 7 µs, `123b` 1.23 ms.
 *
 * @param {string} packed
 */
const timesOf = (packed) =>
  (packed.match(/\d+[a-z]/g) ?? []).map(
    (digits) => (parseInt(digits, 10) * 10 ** (digits.charCodeAt(digits.length - 1) - 97)) / 1000,
  );

/**
 * @param {GameSummary} game
 * @returns {Fault | null}
 */
function faultOf({ bots, packed: { fault } }) {
  if (!fault) return null;
  const [by, answer, detail, stderr, again] = fault;
  return { by: bots[by], answer: text(answer), detail: text(detail), stderr: text(stderr), again: text(again) };
}

/** @type {PackedNotes} */
const NO_NOTES = ["", "", "", []];

/**
 * What the analysis of a game says of its turns, by turn from 1.
 *
 * @param {GameSummary} game
 * @returns {Map<number, Note>}
 */
export function notesOf({ notes }) {
  const found = new Map();
  const [values, bests, distances, more] = notes ?? NO_NOTES;
  const letter = (value = "-") => /** @type {Value} */ (value === "-" ? "" : value);
  /** @param {number} turn */
  const note = (turn, mark = "", better = "", remark = "", betterLine = "", missed = "") =>
    found.set(turn, {
      value: letter(values[turn - 1]),
      best: letter(bests[turn - 1]),
      ahead: parseInt(distances[turn - 1], 36),
      mark,
      better,
      remark: capitalised(remark),
      betterLine: turnsOf(betterLine),
      missed: mark === "missed-win" || missed !== "",
    });
  [...values].forEach((value, index) => {
    if (value !== "-" || bests[index] !== "-") note(index + 1);
  });
  for (const fields of more) note(...fields);
  return found;
}

/**
 * A game of the list with all that is known of it.
 *
 * @param {GameSummary} game
 * @returns {Game}
 */
export function unpacked(game) {
  return {
    ...game,
    ...known.editions[game.edition],
    turns: turnsOf(game.packed.turns),
    times: timesOf(game.packed.times),
    fault: faultOf(game),
    analysis: notesOf(game),
    sideOf: (turn) => sideOfTurn(game, turn),
    // What the bots said of their thinking, by turn.
    info: new Map(game.packed.info),
  };
}

/**
 * @param {number} index
 * @returns {Bot}
 */
export const bot = (index) => known.bots[index] ?? { name: "?", command: "" };

/** @param {number} index */
export const name = (index) => bot(index).name;

/**
 * A bot's name, which leads to its page.
 *
 * @param {number} index
 */
export const botLink = (index) => link(botHash(index), named(name(index)));

/**
 * Whether a person ended the game by quitting.
 *
 * @param {GameSummary} game
 */
export const hasLeft = (game) => game.reason === "exited" && bot(game.loser).command === "human";

/**
 * Whether it was scored as a forfeit without being played, since a bot was benched.
 *
 * @param {GameSummary} game
 */
export const isUnplayed = (game) => game.reason === "benched";

/** @param {GameSummary} game */
export function forfeitText(game) {
  const loser = name(game.loser);
  if (isUnplayed(game)) return `${loser} was benched, and it was not played`;
  return `${loser} ${hasLeft(game) ? "left the game" : `forfeits (${game.reason})`}`;
}

/**
 * How a game ended, in words: `greedy wins: H4 big`.
 *
 * @param {GameSummary} game
 * @param {string} [lines]
 */
export function outcome(game, lines) {
  if (game.winner < 0) return "Draw";
  if (game.forfeit) return `${name(game.winner)} wins: ${forfeitText(game)}`;
  return `${name(game.winner)} wins${lines ? `: ${lines}` : ""}`;
}

/**
 * The same with both players: `greedy beats random`.
 *
 * @param {GameSummary} game
 * @param {string} [lines]
 */
export function story(game, lines) {
  const [first, second] = game.bots;
  if (game.winner < 0) return `${name(first)} and ${name(second)} draw`;
  if (game.forfeit) return outcome(game);
  return `${name(game.winner)} beats ${name(game.loser)}${lines ? `: ${lines}` : ""}`;
}

/**
 * The number of the pair to which a game of a tournament belongs.
 *
 * @param {string} id
 */
export const pairOf = (id) => Number(/^p(\d+)[ab]$/.exec(id)?.[1] ?? NaN);

/**
 * @param {GameSummary} game
 * @param {number} bot
 */
export const points = (game, bot) => (game.winner < 0 ? 0.5 : game.winner === bot ? 1 : 0);

/** @param {number} bot */
export const gamesOf = (bot) => known.games.filter((game) => game.bots.includes(bot));

/**
 * @param {GameSummary} game
 * @param {number} bot
 */
export const other = (game, bot) => game.bots[game.bots[0] === bot ? 1 : 0];

/**
 * @param {number} bot
 * @returns {Place | undefined}
 */
export function place(bot) {
  const found = known.figures.places.find((place) => place.bot === bot);
  // A page of one bot has the games of that bot only, and its place among all.
  return found && known.bots[bot].name === known.head.own ? { ...found, ...known.head.standing } : found;
}

// Bots that no games connect are in tables of their own.
export function tables() {
  /** @type {Place[][]} */
  const found = [];
  for (const place of known.figures.places) {
    found[place.table - 1] ??= [];
    found[place.table - 1].push(place);
  }
  return found;
}

/** @param {Pick<Place, "rank" | "shared">} place */
export const rankText = ({ rank, shared }) => `${rank}${shared ? "=" : ""}`;

/**
 * Points made in games, and those for byes.
 *
 * @param {Pick<Place, "points" | "bye_points">} place
 */
export const pointsText = ({ points, bye_points: byes }) =>
  byes ? `${half(points - byes)} + ${half(byes)} (bye)` : half(points);

// The few games of a bracket say little about ratings.
export const isRated = () => !known.head.standing?.reached && known.figures.columns.some(([key]) => key === "elo");

/**
 * The first criterion of the tables: its column's title, and how it is written.
 *
 * @returns {[title: string, show: (place: Place) => string]}
 */
export function criterion() {
  switch (known.figures.order) {
    case "score":
      return ["score", ({ score }) => percent(score, 1)];
    case "rating":
      return ["Elo", ({ elo }) => signed(elo)];
    default:
      return ["points", pointsText];
  }
}

/**
 * The interval of a rating in words; null where the games set no bound.
 *
 * @param {Pick<Place, "elo_low" | "elo_high">} place
 */
export function interval({ elo_low: low, elo_high: high }) {
  if (low === null) return high === null ? null : `at most ${signed(high)}`;
  return high === null ? `at least ${signed(low)}` : `${signed(low)} to ${signed(high)}`;
}

/**
 * @param {number} number
 * @param {number} [turn]
 */
export const gameHash = (number, turn) => `#game=${number}${turn === undefined ? "" : `&turn=${turn}`}`;

/**
 * @param {number} bot
 * @param {string} [reason]
 */
export const forfeitsHash = (bot, reason) =>
  `#games&of=${bot + 1}&ending=forfeited${reason ? `&reason=${encodeURIComponent(reason)}` : ""}`;

// Bots that did not enter have a page, too.
export const absent = () => known.figures.absent;

/** @param {number} index */
export const absentHash = (index) => `#absent=${index + 1}`;

/** @param {number} index */
export const botHash = (index) => `#bot=${index + 1}`;
