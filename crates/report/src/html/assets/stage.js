// The stage: the games that are being played, move by move, for a room that looks at a projector.

import { meeting } from "./charts.js";
import { course, entrantName, groupName, hasPair, meetingOf, roundName } from "./course.js";
import { criterion, name, outcome, pairOf, points, rankText, story, unpacked } from "./data.js";
import {
  announce,
  button,
  byId,
  capitalised,
  count,
  counted,
  drawnAgain,
  el,
  half,
  named,
  refill,
  time,
} from "./dom.js";
import { askValues, stopSolving } from "./exact.js";
import { earlyEnd, leaders, nameList } from "./head.js";
import { canSolve, drawBoard, features, isLoading, piecePicture, statesOf } from "./rules.js";
import { known } from "./state.js";
import { columnHead, plainTable, rowHead } from "./tables.js";
import { bestOf } from "./turn_values.js";

// How long the end of a game stays before the next game at its table is shown, or before the champion after the
// last one; and how long a record is waited for.
const HOLD = 4000;
const LAST_HOLD = 2000;
const MISSED = 1500;

// Between two turns that are shown, so that a room can follow; where a game that goes on, or the end of all games,
// is caught up with; how long a position is searched.
const PACE = 700;
const CATCH_UP = 200;
const SEARCH = 1000;

// The most other tables and rows of standings that there is room for.
const OTHERS = 5;
const ROWS = 8;
const UPCOMING = 3;
const LATEST = 3;

// A game that has just ended is among the last ones.
const RECENT = 2000;

// What the server has said of the games being played: by number of the table, what it is now and what is shown.
const seen = {
  isKnown: false,
  edition: /** @type {Edition | null} */ (null),
  seats: /** @type {Map<number, Seat>} */ (new Map()),
  expected: /** @type {number | null} */ (null),
  left: /** @type {number | null} */ (null),
  offset: 0,
  state: "playing",
  checked: /** @type {[number, number] | undefined} */ (undefined),
  why: /** @type {string | undefined} */ (undefined),
};

/** @type {(() => void) | null} */
let redrawStage = null;

export function forgetStage() {
  seen.seats.clear();
  Object.assign(seen, { isKnown: false, expected: null, left: null, state: "playing" });
}

// As many as the standings beside the number count.
export const playedGames = () => known.figures.games;

// Whether the stage is shown; then it is drawn with new figures immediately.
export function stageFigures() {
  redrawStage?.();
  return redrawStage !== null;
}

/**
 * What is done; of a check, also the number of the bot and of how many.
 *
 * @param {ServerState} now
 */
export const stageState = ({ state, checked, why }) => {
  Object.assign(seen, { state, checked, why });
};

/** @param {PackedEdition} edition */
export const stageEdition = ([game, rules, pieces]) => {
  seen.edition = { game, rules, pieces };
};

/** @param {TablesEvent} event */
export function stageTables([now, { expected, left, tables }]) {
  Object.assign(seen, { isKnown: true, expected, left, offset: performance.now() - now });
  const present = new Set(tables.map((table) => table.t));
  for (const [number, seat] of seen.seats) seat.gone = !present.has(number);
  for (const table of tables) {
    const seat = seen.seats.get(table.t);
    if (seat) Object.assign(seat, { now: table, gone: false });
    else seen.seats.set(table.t, { now: table, gone: false, ...newGame(table, performance.now(), table.n) });
  }
  redrawStage?.();
}

/** @param {string} id */
const recorded = (id) => known.games.slice(-RECENT).findLast((game) => game.id === id) ?? null;

/** @param {Seat} seat */
const isOver = (seat) => seat.game !== null && seat.turn >= seat.game.length;

/**
 * Goes on to what is to be shown of a table: turn by turn at a pace that can be followed, the end for a while, then
 * the next game.
 *
 * @param {Seat} seat
 * @param {number} at
 */
function advanceSeat(seat, at) {
  const isSame = seat.now.id === seat.shown.id;
  if (isSame && !seat.game) seat.shown = seat.now;
  if (!seat.game && (!isSame || seat.now.to === null || seat.gone)) {
    seat.game = recorded(seat.shown.id);
    seat.ended = at;
    if (!seat.game && !isSame) {
      seat.missed ??= at;
      if (at - seat.missed > MISSED) Object.assign(seat, newGame(seat.now, at, 0));
    }
  }
  const made = seat.game ? seat.game.length : seat.shown.n;
  seat.turn = Math.min(seat.turn, made);
  if (seat.turn < made) {
    const isLate = seen.state === "finished" || (!seat.game && made - seat.turn >= 2);
    if (at - seat.stepped < (isLate ? CATCH_UP : PACE)) return;
    // What is far behind is no story any more: a screen that slept, or a game without positions.
    seat.turn = at - seat.stepped > 20 * PACE || seat.shown.d ? made : seat.turn + 1;
    seat.stepped = at;
  }
  if (!isOver(seat)) return;
  seat.over ||= at;
  // When all games have ended, only the last one is shown to its end.
  if (!isSame && (seen.state === "finished" || at >= heldUntil(seat))) Object.assign(seat, newGame(seat.now, at, 0));
}

/** @param {Seat} seat */
const heldUntil = (seat) => seat.over + (seen.state === "finished" ? LAST_HOLD : HOLD);

/**
 * @param {Table} table
 * @param {number} at
 * @param {number} turn
 */
const newGame = (table, at, turn) => ({ shown: table, game: null, over: 0, missed: null, turn, stepped: at, ended: 0 });

/**
 * What is drawn of a seat: the players, the board and its state, who is to move and who has won.
 *
 * @param {Seat} seat
 * @returns {Scene}
 */
function scene(seat) {
  const { shown, game } = seat;
  const record = game && unpacked(game);
  /** @type {Scene["game"]} */
  const whole = record ?? {
    ...(seen.edition ?? { game: "", rules: "", pieces: null }),
    start: shown.s,
    turns: shown.d ? [] : shown.m,
    drawings: shown.d ? [shown.d] : null,
  };
  const states = statesOf(whole);
  const made = game ? game.length : shown.n;
  const isWhole = states.length === made + 1;
  const turn = isWhole || game ? Math.min(seat.turn, made) : made;
  const over = isOver(seat);
  const state = isWhole ? states[turn] : states.at(-1);
  const isNow = !game && turn === shown.n;
  const names = record ? record.sides.map(name) : shown.b;
  const by = turn === 0 ? null : record ? record.sideOf(turn - 1) : isNow ? shown.by : states[turn - 1]?.side;
  const words = isWhole ? state?.words : shown.m.at(-1);
  return {
    key: `${shown.t} ${shown.id} ${turn} ${over} ${isNow && shown.to} ${isLoading(whole)}`,
    names,
    turn,
    over,
    game: whole,
    state,
    made,
    winner: over && record && record.winner >= 0 ? record.sides.indexOf(record.winner) : null,
    text: over && record ? outcome(record, record.lines) : "",
    last: turn > 0 && !over && words && by !== null && by !== undefined ? { by: names[by], side: by, words } : null,
    to: over ? null : isNow ? shown.to : (state?.side ?? null),
    table: isNow ? shown : null,
    moves: record ? record.turns : shown.m,
  };
}

/**
 * By how much what is shown is late, in words.
 *
 * @param {Seat} seat
 * @param {Scene} at
 */
function delay(seat, at) {
  if (seat.game && !isOver(seat)) return `replay, ended ${Math.round((performance.now() - seat.ended) / 1000)} s ago`;
  return at.table || at.over ? "" : `delayed by ${counted(at.made - at.turn, "turn")}`;
}

/**
 * The match to which a game belongs: its part of the tournament, the points of both sides, and what a win would bring.
 *
 * @param {Seat} seat
 * @param {Scene} at
 */
function matchOf({ shown, game }, at) {
  const pair = pairOf(shown.id);
  const { bracket = [], rounds = [], rounds_planned: planned, format } = course() ?? {};
  const parts = [
    ...bracket.map((places) => ({ title: roundName(places.length), all: places.map((place) => place.meeting) })),
    ...rounds.map(({ meetings }, index) => ({ title: `Round ${index + 1} of ${planned}`, all: meetings })),
  ];
  const meetings = parts.flatMap(({ title, all }) => all.flatMap((one) => (one ? [{ title, one }] : [])));
  const { title: part, one: packed } = meetings.find(({ one }) => hasPair(one, pair)) ?? {};
  const bots = shown.b.map((full) => known.bots.findIndex((bot) => bot.name === full));
  /** @param {string} full */
  const index = (full) => course()?.bots.findIndex(([bot]) => bot === full) ?? -1;
  const inGroup = (course()?.groups ?? []).findIndex((table) =>
    shown.b.every((full) => table.some(({ bot }) => bot === index(full))),
  );
  const whole = packed ? meetingOf(packed) : null;
  const extra = whole?.extra?.pairs.indexOf(pair) ?? -1;
  // How many tie-break games there will be is not known.
  const one = whole?.extra && extra >= 0 ? { ...whole, points: whole.extra.points, first: pair - extra } : whole;
  const met = !one && bots.every((bot) => bot >= 0) ? meeting(bots[0], bots[1]) : null;
  // A game that is still being shown is not counted yet.
  const early = game && !at.over && known.figures.games >= game.number ? bots.map((bot) => points(game, bot)) : [0, 0];
  const all = one
    ? shown.b.map((full) => one.points[one.bots.indexOf(index(full))])
    : met
      ? [met.points, met.games - met.points]
      : [0, 0];
  const score = all.map((points, side) => points - early[side]);
  return {
    part: part
      ? extra >= 0
        ? `${part}, tie-break games`
        : part
      : inGroup >= 0
        ? groupName(inGroup)
        : capitalised(format ?? ""),
    score,
    number: one ? 2 * (pair - one.first) + (shown.id.endsWith("b") ? 2 : 1) : null,
    total: extra >= 0 ? null : one?.total,
    stake: game || extra >= 0 ? null : stakes(bracket.length > 0 ? part : undefined, one, score, bots),
  };
}

/**
 * What a win in this game would bring to a side: the next round, or the lead.
 *
 * @param {string | undefined} round
 * @param {Meeting | null} one
 * @param {number[]} score
 * @param {number[]} bots
 */
function stakes(round, one, score, bots) {
  const { places, order } = known.figures;
  /**
   * @param {Place} place
   * @param {number} [side]
   */
  const after = (place, side) => {
    const [points, games] = side === undefined ? [place.points, place.games] : [place.points + side, place.games + 1];
    return order === "score" ? points / games : points;
  };
  const brings = [0, 1].map((side) => {
    if (round && one)
      return score[side] + 1 > one.total / 2 ? (round === "Final" ? "wins the tournament" : "goes through") : null;
    const mine = places.find(({ bot }) => bot === bots[side]);
    if (!mine || order === "place" || order === "rating" || (mine.rank === 1 && !mine.shared)) return null;
    const others = places
      .filter((place) => place !== mine && place.table === mine.table)
      .map((place) => after(place, place.bot === bots[1 - side] ? 0 : undefined));
    return others.every((value) => value < after(mine, 1)) ? "takes the lead" : null;
  });
  const said = [0, 1].filter((side) => brings[side]).map((side) => `${name(bots[side])} ${brings[side]}`);
  return said.length ? `With a win, ${said.join("; ")}.` : null;
}

// Who wins with best play from what is shown, found here, in a second at most.
let evaluated = { key: "", winner: /** @type {number | undefined} */ (undefined) };

/**
 * @param {Scene} at
 * @returns {number | undefined}
 */
function evaluate(at) {
  if (evaluated.key === at.key) return evaluated.winner;
  const mine = { key: at.key, winner: at.over ? (at.winner ?? -1) : undefined };
  evaluated = mine;
  if (at.over || !at.state || !canSolve(at.game) || isLoading(at.game)) return mine.winner;
  const give = setTimeout(stopSolving, SEARCH);
  const { side, request } = at.state;
  askValues(at.game, request, ({ values = {} }) => {
    const turns = Object.values(values);
    const best = turns.length ? bestOf(turns).value : null;
    if (best === null || mine !== evaluated) return;
    clearTimeout(give);
    mine.winner = { win: side, loss: 1 - side, draw: -1 }[best];
    stopSolving();
    redrawStage?.();
  });
  return undefined;
}

// --- the parts ---------------------------------------------------------------------------------

/** @param {number} ms */
const minutes = (ms) => `${Math.floor(ms / 60000)}:${String(Math.floor(ms / 1000) % 60).padStart(2, "0")}`;

/**
 * @param {Scene} at
 * @param {number} side
 */
function clockText(at, side) {
  const { table } = at;
  if (!table && at.last?.side === side && at.game.times) return [time(at.game.times[at.turn - 1]), "last move"];
  if (!table || at.over) return ["", ""];
  const thinking = at.to === side ? Math.max(0, performance.now() - seen.offset - table.since) : 0;
  if (table.left[side] !== null) return [minutes(Math.max(0, table.left[side] - thinking)), "left"];
  const limit = table.limit[side];
  if (at.to === side)
    return [
      `${Math.floor(thinking / 1000)} s`,
      limit === null ? "" : `of ${limit >= 1000 ? `${limit / 1000} s` : time(limit)}`,
    ];
  return table.last[side] === null ? ["", ""] : [time(table.last[side]), "last move"];
}

/**
 * @param {Scene} at
 * @param {number} side
 * @param {number[]} score
 */
function plate(at, side, score) {
  const kind = at.over ? (at.winner === side ? "won" : "") : at.to === side ? "thinks" : "";
  const word = at.over ? (at.winner === side ? "wins" : "") : at.to === side && at.table ? "thinking" : "";
  return el(
    "div",
    { class: `plate side-${side} ${kind}` },
    el("span.name", at.names[side]),
    el("span.plate-score", el("span.unseen", "match points "), half(score[side])),
    el("span.plate-clock", { "data-side": side }),
    word ? el("span.plate-word", word) : null,
  );
}

/** @param {Scene} at */
function evaluationPart(at) {
  const winner = evaluate(at);
  if (at.over || (winner === undefined && !canSolve(at.game))) return null;
  const text =
    winner === undefined ? "unsolved" : winner < 0 ? "draw with best play" : `${at.names[winner]} wins with best play`;
  /** @param {number} side */
  const bar = (side) => el("i", { class: winner === undefined ? "" : `side-${winner < 0 ? side : winner}` });
  return el(
    "p.stage-evaluation",
    el("span", { "aria-hidden": "true" }, bar(0), bar(1)),
    el("small", el("span.unseen", "Evaluation: "), text),
  );
}

/** @param {Scene} at */
function handPart(at) {
  if (at.over) return el("p.stage-end", at.text);
  if (!at.state?.left) return null;
  const { hand } = at.state;
  if (at.to === null || at.to === undefined) return null;
  return el(
    "p.stage-hand",
    hand !== null && piecePicture(at.game, hand, { class: "stage-gift" }),
    el(
      "span",
      el("strong.name", at.names[at.to]),
      hand === null ? " gives the first piece" : [" to place", el("small", features(at.game, hand))],
    ),
  );
}

/** @param {Scene} at */
function boardPart(at) {
  if (at.state) return drawBoard(at.state);
  return el(
    "ol.stage-turns",
    { start: Math.max(1, at.turn - 11) },
    ...at.moves
      .slice(0, at.turn)
      .slice(-12)
      .map((turn) => el("li", el("code", turn))),
  );
}

function progressText() {
  const { expected, left } = seen;
  const played = playedGames();
  const parts = [expected === null ? counted(played, "game") : `${count(played)} of ${counted(expected, "game")}`];
  if (seen.state === "checking") return `Checking ${seen.checked?.join(" of ")} bots`;
  if (seen.state === "interrupted") return `${parts[0]} · paused; resumes by itself`;
  if (seen.state === "ended") return `${parts[0]} · ${seen.why}`;
  if (seen.state === "stopping") return `${parts[0]} · stopping after the current games`;
  if (seen.state === "finished") return `${parts[0]} · finished`;
  if (left !== null && expected !== null && played < expected) {
    const about = Math.round(left / 60);
    parts.push(
      left < 45
        ? "less than a minute left"
        : left < 5400
          ? `about ${counted(about, "minute")} left`
          : `about ${counted(Math.round(left / 3600), "hour")} left`,
    );
  }
  return parts.join(" · ");
}

/** @param {string | null} marked */
function standingsPart(marked) {
  const places = known.figures.places;
  if (places.length === 0) return el("p.hint", "No game has ended yet.");
  const rows = places.slice(0, ROWS);
  const followed = places.findIndex((place) => known.bots[place.bot].name === marked);
  if (followed >= ROWS) rows.push(places[followed]);
  const [heading, show] = criterion();
  /**
   * Where all have played as many games, their number says nothing.
   *
   * @param {Child} cell
   */
  const games = (cell) => (known.figures.order === "points" ? null : cell);
  /**
   * @param {Place} place
   * @param {number} at
   */
  const isApart = (place, at) => at > 0 && place.table !== rows[at - 1].table;
  const heads = [
    columnHead(null, "#"),
    columnHead("text", "bot"),
    games(columnHead(null, "games")),
    columnHead(null, heading),
  ];
  return [
    plainTable(
      "stage-table",
      "Standings",
      heads,
      rows.map((place, at) => [
        isApart(place, at) && el("tr.apart", el("td.text", { colspan: 4 }, "have not met those above:")),
        el(
          "tr",
          { class: known.bots[place.bot].name === marked && "followed" },
          el("td", rankText(place)),
          rowHead(named(name(place.bot))),
          games(el("td", count(place.games))),
          el("td", el("strong", show(place))),
        ),
      ]),
    ),
    places.length > rows.length && el("p.hint", `and ${count(places.length - rows.length)} more`),
    heading !== "points" && el("p.hint", `By ${known.figures.order}, as not all have played the same number of games.`),
  ];
}

// Who plays next: meetings of which no game is being played.
function nextPart() {
  if (seen.state !== "playing") return null;
  const pairs = [...seen.seats.values()].filter((seat) => !seat.gone).map((seat) => pairOf(seat.now.id));
  const free = (course()?.next ?? [])
    .filter(({ pairs: [first, last] }) => !pairs.some((pair) => pair >= first && pair <= last))
    .slice(0, UPCOMING);
  if (free.length === 0) return null;
  return el(
    "section",
    { "aria-labelledby": "stage-next" },
    el("h2", { id: "stage-next" }, "Next"),
    el(
      "ol.stage-list",
      ...free.map(({ bots: [a, b] }) => el("li", named(entrantName(a)), " – ", named(entrantName(b)))),
    ),
  );
}

// The games that ended last, but for those that are still being shown.
function latestPart() {
  const shown = new Set(
    [...seen.seats.values()].filter((seat) => seat.game && !isOver(seat)).map((seat) => seat.shown.id),
  );
  const games = known.games
    .slice(-LATEST - shown.size)
    .filter((game) => !shown.has(game.id))
    .slice(-LATEST)
    .reverse();
  if (games.length === 0 || seen.state === "finished") return null;
  return el(
    "section",
    { "aria-labelledby": "stage-latest" },
    el("h2", { id: "stage-latest" }, "Latest results"),
    el(
      "ol.stage-list",
      ...games.map((game) => {
        const [a, b] = unpacked(game).sides;
        return el("li", named(name(a)), ` ${half(points(game, a))}–${half(points(game, b))} `, named(name(b)));
      }),
    ),
  );
}

/**
 * @param {number} number
 * @param {Seat} seat
 */
function otherPart(number, seat) {
  const at = scene(seat);
  return el(
    "a",
    { class: "stage-other", href: `#stage&table=${number}`, "data-keep": `stage-table-${number}` },
    at.state ? drawBoard(at.state) : null,
    el(
      "span",
      el("strong", `Board ${number}`),
      named(at.names[0]),
      named(at.names[1]),
      el("small", at.over ? "finished" : counted(at.turn, "turn")),
    ),
  );
}

// The first three places; nothing where more share them.
function podium() {
  const best = known.figures.places.filter(({ rank }) => rank <= 3);
  if (best.length < 3 || best.length > 4) return null;
  const [, show] = criterion();
  return el(
    "ol.podium",
    best.map((place) =>
      el(
        "li",
        { class: `step-${place.rank}` },
        named(name(place.bot)),
        el("small", show(place)),
        el("strong", rankText(place)),
      ),
    ),
  );
}

// Who won, when all games have been played; what stands in the way of saying so, when they have not.
function endPart() {
  const [first, second] = known.figures.places;
  if (!first) return null;
  const reason = earlyEnd(known.figures);
  const isDuel = known.figures.places.length === 2 && second.table === 1;
  if (isDuel) {
    return el(
      "section.stage-champion",
      { "aria-labelledby": "stage-champion" },
      el("h2", { id: "stage-champion" }, reason ? "The score" : "Final score"),
      el(
        "p.stage-score",
        el("span.name", name(first.bot)),
        el("strong", `${half(first.points)} : ${half(second.points)}`),
        el("span.name", name(second.bot)),
      ),
      reason && el("p", reason),
    );
  }
  const won = leaders(known.figures);
  return el(
    "section.stage-champion",
    { "aria-labelledby": "stage-champion" },
    ...(won
      ? [
          el("h2", { id: "stage-champion" }, won.title),
          won.firsts.length ? el("p.stage-winner", nameList(won.firsts)) : null,
          won.text ? el("p", won.text) : null,
          won.next ? podium() : null,
        ]
      : [el("h2", { id: "stage-champion" }, "No winner"), el("p", capitalised(known.figures.separate ?? ""))]),
    reason && el("p", reason),
  );
}

// --- what is followed --------------------------------------------------------------------------

/**
 * @param {URLSearchParams} fields
 * @returns {Followed}
 */
function followedOf(fields) {
  const table = /^\d{1,4}$/.test(fields.get("table") ?? "") ? Number(fields.get("table")) : null;
  return { bot: fields.get("bot"), table };
}

/**
 * @param {Followed} followed
 * @returns {[number, Seat] | null}
 */
function seatOf(followed) {
  const seats = [...seen.seats.entries()].sort((a, b) => a[0] - b[0]);
  if (followed.table !== null) return seats.find(([number]) => number === followed.table) ?? null;
  const { bot } = followed;
  if (bot !== null) return seats.find(([, seat]) => seat.shown.b.includes(bot)) ?? null;
  return seats.find(([, seat]) => !seat.gone) ?? seats[0] ?? null;
}

function stageBots() {
  const all = course()?.bots.map(([title]) => title) ?? known.bots.map((bot) => bot.name);
  return [...new Set([...all, ...[...seen.seats.values()].flatMap((seat) => seat.now.b)])].sort((a, b) =>
    a.localeCompare(b, "en"),
  );
}

/** @param {Followed} followed */
function addressOf(followed) {
  if (followed.table !== null) return `#stage&table=${followed.table}`;
  return followed.bot === null ? "#stage" : `#stage&bot=${encodeURIComponent(followed.bot)}`;
}

/** @param {Followed} followed */
function chooser(followed) {
  const bots = stageBots();
  const tables = [...seen.seats.keys()].sort((a, b) => a - b);
  // What a bookmark names is there, even before it plays.
  if (followed.table !== null && !tables.includes(followed.table)) tables.push(followed.table);
  if (followed.bot !== null && !bots.includes(followed.bot)) bots.push(followed.bot);
  const now = addressOf(followed);
  /**
   * @param {string} value
   * @param {string} text
   */
  const option = (value, text) => el("option", { value, selected: value === now }, text);
  return [
    option("#stage", "first board"),
    el(
      "optgroup",
      { label: "Boards" },
      tables.map((table) => option(addressOf({ table, bot: null }), `Board ${table}`)),
    ),
    el(
      "optgroup",
      { label: "Bots" },
      bots.map((bot) => option(addressOf({ table: null, bot }), bot)),
    ),
  ];
}

// --- the view ----------------------------------------------------------------------------------

/**
 * @param {URLSearchParams} fields
 * @returns {View}
 */
export function stageView(fields) {
  const followed = followedOf(fields);
  const parts = Object.fromEntries(
    ["progress", "board", "players", "rows", "latest", "next", "others"].map((part) => [
      part,
      el("div", { class: `stage-${part}` }),
    ]),
  );
  const select = el("select", {
    "data-keep": "stage-follow",
    onchange: (event) => {
      location.hash = event.target.value;
    },
  });
  const full =
    document.fullscreenEnabled &&
    button("", () => (document.fullscreenElement ? document.exitFullscreen() : byId("main").requestFullscreen()), {
      class: "quiet",
      "data-keep": "stage-full",
    });
  const nameFull = () => {
    if (full) full.textContent = document.fullscreenElement ? "Leave full screen" : "Full screen";
  };
  nameFull();
  document.addEventListener("fullscreenchange", nameFull);
  const node = el(
    "div.screen",
    el(
      "header.stage-head",
      el("h1", known.head.title),
      parts.progress,
      el("label", el("span", "Show: "), select),
      full,
    ),
    el("section.stage-game", { "aria-label": "The game" }, parts.board, parts.players),
    el(
      "aside.stage-side",
      { "aria-label": "The tournament" },
      el(
        "section",
        { "aria-labelledby": "stage-standings" },
        el("h2", { id: "stage-standings" }, "Standings"),
        parts.rows,
      ),
      parts.latest,
      parts.next,
    ),
    parts.others,
  );
  const drawnKeys = new Map();
  let announced = 0;

  /**
   * Draws a part again when what it shows has changed.
   *
   * @param {string} part
   * @param {string} key
   * @param {() => Child} make
   */
  function redraw(part, key, make) {
    if (drawnKeys.get(part) === key) return;
    drawnKeys.set(part, key);
    refill(parts[part] ?? select, make());
  }

  /** @param {Scene} at */
  function say(at) {
    const now = performance.now();
    // A screen reader cannot follow moves that are made quicker than they can be read.
    if (now - announced < 5000 && !at.over) return;
    announced = now;
    announce(at.over ? at.text : at.last ? `${at.last.by}: ${at.last.words}` : "");
  }

  function waiting() {
    if (seen.state === "checking") return el("p.stage-waiting", progressText());
    if (known.head.live && !seen.isKnown) return el("p.stage-waiting", "Connecting…");
    const missing =
      followed.table !== null
        ? `No game is being played on board ${followed.table}.`
        : followed.bot !== null
          ? `${followed.bot} is not playing at this moment.`
          : known.head.live
            ? "No game is being played at this moment."
            : "";
    return missing ? el("p.stage-waiting", missing) : null;
  }

  function drawEnd() {
    node.classList.add("ended");
    const firsts = JSON.stringify(known.figures.places.slice(0, 2));
    redraw("board", `end ${isLoading(known.editions[0] ?? {})} ${seen.state} ${firsts} ${known.games.length}`, () => {
      const last = known.games.at(-1);
      const whole = last ? unpacked(last) : null;
      const state = whole ? statesOf(whole).at(-1) : null;
      return last && state
        ? el("figure", drawBoard(state), el("figcaption", `Last game: ${story(last, last.lines)}`))
        : null;
    });
    redraw(
      "players",
      `end ${JSON.stringify(known.figures.places.slice(0, 2))} ${JSON.stringify(course()?.champion ?? null)}`,
      () => endPart(),
    );
  }

  function draw() {
    const at = performance.now();
    for (const seat of seen.seats.values()) advanceSeat(seat, at);
    redraw("progress", progressText(), () => el("p", progressText()));
    redraw("follow", JSON.stringify([stageBots(), [...seen.seats.keys()], addressOf(followed)]), () =>
      chooser(followed),
    );
    const found = seatOf(followed);
    if (seen.state === "finished" && !(found?.[1].game && (!isOver(found[1]) || at < heldUntil(found[1])))) {
      drawEnd();
    } else {
      node.classList.remove("ended");
      if (found) {
        const [number, seat] = found;
        const shown = scene(seat);
        if (drawnKeys.get("board") !== shown.key) say(shown);
        redraw("board", shown.key, () => boardPart(shown));
        const late = delay(seat, shown);
        redraw("players", `${shown.key} ${number} ${late} ${evaluate(shown)} ${known.figures.games}`, () => {
          const match = matchOf(seat, shown);
          const where = [
            `Board ${number}`,
            match.part,
            match.number ? `game ${match.number}${match.total ? ` of ${match.total}` : ""}` : "",
            shown.over ? counted(shown.turn, "turn") : `turn ${shown.turn + 1}`,
            late,
          ];
          return [
            el("p.stage-where", where.filter(Boolean).join(" · ")),
            el(
              "div",
              { class: `replay-${shown.game.game}` },
              plate(shown, 0, match.score),
              handPart(shown),
              plate(shown, 1, match.score),
              evaluationPart(shown),
            ),
            shown.last && el("p.stage-last", el("strong.name", shown.last.by), ` ${shown.last.words}`),
            match.stake ? el("p.stage-stake", match.stake) : null,
          ];
        });
        const clocks = /** @type {NodeListOf<HTMLElement>} */ (parts.players.querySelectorAll(".plate-clock"));
        for (const clock of clocks) {
          const [text, hint] = clockText(shown, Number(clock.dataset.side));
          if (clock.textContent !== text + (hint && ` ${hint}`))
            clock.replaceChildren(text, ...(hint ? [" ", el("small", hint)] : []));
        }
      } else {
        redraw("board", `none ${known.head.live} ${seen.isKnown} ${seen.state}`, () => waiting());
        redraw("players", "none", () => null);
      }
    }
    const marked = followed.bot ?? null;
    redraw(
      "rows",
      JSON.stringify([
        known.figures.order,
        known.figures.places.map((place) => [
          place.bot,
          place.points,
          place.games,
          rankText(place),
          place.elo,
          place.table,
        ]),
        marked,
      ]),
      () => standingsPart(marked),
    );
    redraw(
      "next",
      JSON.stringify([
        seen.state,
        course()?.next ?? [],
        [...seen.seats.values()].map((seat) => [seat.gone, seat.now.id]),
      ]),
      () => nextPart(),
    );
    redraw(
      "latest",
      JSON.stringify([
        seen.state,
        known.games.length,
        [...seen.seats.values()].map((seat) => [seat.shown.id, isOver(seat)]),
      ]),
      () => latestPart(),
    );
    const others = [...seen.seats.entries()]
      .filter(([number, seat]) => number !== found?.[0] && !seat.gone)
      .sort((a, b) => a[0] - b[0]);
    const shownOthers = known.head.live ? others.slice(0, OTHERS) : [];
    redraw("others", JSON.stringify(shownOthers.map(([, seat]) => scene(seat).key)), () => [
      ...shownOthers.map(([number, seat]) => otherPart(number, seat)),
      others.length > shownOthers.length && shownOthers.length > 0
        ? el("p.hint", `and ${counted(others.length - shownOthers.length, "board")} more`)
        : null,
    ]);
  }

  const { redraw: redrawAll, view } = drawnAgain(node, draw, () => {
    stopSolving();
    document.removeEventListener("fullscreenchange", nameFull);
    redrawStage = null;
  });
  redrawStage = redrawAll;
  draw();
  return view;
}
