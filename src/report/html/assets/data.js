// The page's data. Entries and figures have the format of `src/report/html/pack.rs`; they are
// complete in a file and arrive in pieces from a server.

import { capitalised, half, inflated, link, named, own, percent, signed } from "./dom.js";

const NO_FIGURES = {
  games: 0, advantage: null, advantage_error: null, columns: [], places: [], separate: null, met: [], times: [], endings: {}, lengths: [], history: [], absent: [], order: "points", course: null, move_times: [],
};

export const known = {
  head: {}, bots: [], editions: [], texts: [], games: [], figures: NO_FIGURES,
  // The list of games that was shown last: its address, and a function that gives its numbers in their order.
  list: null,
  // Why the games are not there, as a sentence; empty when they are.
  unread: "",
};

export const clear = () => Object.assign(known, { bots: [], editions: [], texts: [], games: [], figures: NO_FIGURES, list: null });

export function addEntries(entries) {
  for (const entry of entries) {
    switch (entry[0]) {
      case "b": known.bots.push({ name: entry[1] || "(no name)", command: entry[2] }); break;
      case "e": known.editions.push({ game: entry[1], rules: entry[2], pieces: entry[3] }); break;
      case "t": known.texts.push(entry[1]); break;
      case "g": known.games.push(summarise(known.games.length + 1, (place) => entry[place])); break;
    }
  }
}

const turnsOf = (packed) => (packed === "" ? [] : packed.split("\t"));

// Adds games of a large page, which are compressed columns (`src/report/html/mod.rs`). An error is a sentence.
export async function unpackGames(packed) {
  if (typeof DecompressionStream === "undefined") {
    throw new Error("The games of this page are compressed, and this browser cannot unpack them: Chrome and Edge from version 80, Firefox from 113 and Safari from 16.4 can. The figures are those of all games.");
  }
  try {
    const columns = JSON.parse(await inflated(packed).text());
    columns[0].forEach((_, row) => known.games.push(summarise(known.games.length + 1, (place) => columns[place]?.[row])));
  } catch {
    known.games = [];
    throw new Error("The games of this page cannot be unpacked, because its file is damaged. Copy it again, or make it again with \u201creferee report\u201d. The figures are those of all games.");
  }
}

// The fields that lists need; `field(place)` is that of the entry. The rest stays packed until the game is opened.
function summarise(number, field) {
  const winner = field(5);
  const bots = [field(2), field(3)];
  return {
    number, field, bots,
    edition: field(1),
    // Numbers of the bots in the order of their turns.
    sides: field(4) ? [bots[1], bots[0]] : bots,
    // Numbers of bots; -1 for a draw.
    winner: winner < 0 ? -1 : bots[winner],
    loser: winner < 0 ? -1 : bots[1 - winner],
    reason: field(6),
    started: field(7),
    id: field(8),
    length: turnsOf(field(9)).length,
    forfeit: Boolean(field(12)),
  };
}

const TITLES_OF_GAMES = { quarto: "Quarto", "four-in-a-row": "Four In A Row" };

export const gameTitle = (game) => own(TITLES_OF_GAMES, game) ?? game;

const text = (index) => known.texts[index] ?? "";

export function unpacked(game) {
  const [turns, times, lines, fault, start, analysis, remark, movers, drawings, info] = [9, 10, 11, 12, 13, 14, 15, 16, 17, 18].map(game.field);
  const marks = new Map();
  const [values, bests, distances, more] = analysis ?? ["", "", "", []];
  const letter = (value = "-") => (value === "-" ? "" : value);
  const note = (turn, mark = "", better = "", remark = "", playedLine = "", betterLine = "") => marks.set(turn, {
    value: letter(values[turn - 1]), best: letter(bests[turn - 1]), ahead: parseInt(distances[turn - 1], 36),
    mark, better, remark: capitalised(remark), playedLine: turnsOf(playedLine), betterLine: turnsOf(betterLine),
  });
  [...values].forEach((value, index) => { if (value !== "-" || bests[index] !== "-") note(index + 1); });
  for (const fields of more) note(...fields);
  return {
    ...game,
    turns: turnsOf(turns),
    times: (times.match(/\d+[a-z]/g) ?? []).map((digits) => (parseInt(digits, 10) * 10 ** (digits.charCodeAt(digits.length - 1) - 97)) / 1000),
    lines,
    start: start ?? null,
    remark: remark ?? "",
    fault: fault ? { by: game.bots[fault[0]], answer: text(fault[1]), detail: text(fault[2]), stderr: text(fault[3]), again: text(fault[4]) } : null,
    analysis: marks,
    // The side that made a turn, counted from 0.
    sideOf: (turn) => (movers ? Number(movers[turn]) : turn % 2),
    drawings: drawings ?? null,
    // What the bots said of their thinking, by turn.
    info: new Map(info ?? []),
    ...known.editions[game.edition],
  };
}

export const bot = (index) => known.bots[index] ?? { name: "?", command: "" };

const EXTENSION = /(.)\.(?:awk|c|cpp|exe|go|hs|jar|java|jl|js|lua|mjs|ml|out|php|pl|py|r|rb|rs|scm|sh|tcl|ts)$/i;

const plain = (full) => full.replace(EXTENSION, "$1");

// Names without their extension, where that tells them apart.
let titles = { of: null, count: 0, short: new Map() };

export function title(full) {
  if (titles.of !== known.figures || titles.count !== known.bots.length) {
    const all = new Set([...known.bots.map((bot) => bot.name), ...(known.figures.course?.bots ?? []).map(([bot]) => bot), ...absent().map((one) => one.name)]);
    const full = new Map();
    for (const one of all) full.set(plain(one), full.has(plain(one)) ? null : one);
    titles = { of: known.figures, count: known.bots.length, short: new Map([...full].map(([short, one]) => [one, short])) };
  }
  return titles.short.get(full) ?? full;
}

export const name = (index) => title(bot(index).name);

// A bot's name, which leads to its page.
export const botLink = (index) => link(botHash(index), named(name(index)));

// The detail of a person who quits.
const LEFT = "left the game";

export const hasLeft = (game) => text(game.field(12)[2]) === LEFT;

export const forfeitText = (game) => `${name(game.loser)} ${hasLeft(game) ? LEFT : `forfeits (${game.reason})`}`;

// How a game ended, in words: `greedy wins: H4 big`.
export function outcome(game, lines) {
  if (game.winner < 0) return "Draw";
  if (game.forfeit) return `${name(game.winner)} wins: ${forfeitText(game)}`;
  return `${name(game.winner)} wins${lines ? ": " + lines : ""}`;
}

// The same with both players: `greedy beats random`.
export function story(game, lines) {
  const [first, second] = game.bots;
  if (game.winner < 0) return `${name(first)} and ${name(second)} draw`;
  if (game.forfeit) return outcome(game);
  return `${name(game.winner)} beats ${name(game.loser)}${lines ? ": " + lines : ""}`;
}

// The number of the pair to which a game of a tournament belongs.
export const pairOf = (id) => Number(/^p(\d+)[ab]$/.exec(id)?.[1] ?? NaN);

export const points = (game, bot) => (game.winner < 0 ? 0.5 : game.winner === bot ? 1 : 0);

export const gamesOf = (bot) => known.games.filter((game) => game.bots.includes(bot));

export const other = (game, bot) => game.bots[game.bots[0] === bot ? 1 : 0];

export function place(bot) {
  const found = known.figures.places.find((place) => place.bot === bot);
  // A page of one bot has the games of that bot only, and its place among all.
  return found && known.bots[bot].name === known.head.own ? { ...found, ...known.head.standing } : found;
}

// Bots that no games connect are in tables of their own.
export function tables() {
  const found = [];
  for (const place of known.figures.places) (found[place.table - 1] ??= []).push(place);
  return found;
}

export const rankText = ({ rank, shared }) => `${rank}${shared ? "=" : ""}`;

// Points made in games, and those for byes.
export const pointsText = ({ points, bye_points: byes }) => (byes ? `${half(points - byes)} + ${half(byes)} (bye)` : half(points));

// The few games of a bracket say little about ratings.
export const isRated = () => !known.head.standing?.reached && known.figures.columns.some(([key]) => key === "elo");

// The first criterion of the tables: its column's title, and how it is written.
export function criterion() {
  switch (known.figures.order) {
    case "score": return ["score", ({ score }) => percent(score, 1)];
    case "rating": return ["Elo", ({ elo }) => signed(elo)];
    default: return ["points", pointsText];
  }
}

// The interval of a rating in words; null where the games set no bound.
export function interval({ elo_low: low, elo_high: high }) {
  if (low === null) return high === null ? null : `at most ${signed(high)}`;
  return high === null ? `at least ${signed(low)}` : `${signed(low)} to ${signed(high)}`;
}

export const gameHash = (number, turn) => `#game=${number}${turn === undefined ? "" : `&turn=${turn}`}`;

export const forfeitsHash = (bot, reason) => `#games&of=${bot + 1}&ending=forfeited${reason ? `&reason=${encodeURIComponent(reason)}` : ""}`;

// Bots that did not enter have a page, too.
export const absent = () => known.figures.absent;

export const absentHash = (index) => `#absent=${index + 1}`;

export const botHash = (index) => `#bot=${index + 1}`;
