// The stage: the games that are being played, move by move, for a room that looks at a projector.

import { announce, capitalised, count, counted, el, half, keepingFocus, svg, time } from "./dom.js";
import { criterion, known, name, outcome, rankText, unpacked } from "./data.js";
import { drawBoard, inWords, isLoading, piecePicture, statesOf } from "./rules.js";
import { course } from "./course.js";
import { earlyEnd, leaders, nameList } from "./head.js";

// How long the end of a game stays before the next game at its table is shown, and how long its record is waited for.
const HOLD = 4000;
const MISSED = 1500;

// The most other tables and rows of standings that there is room for.
const OTHERS = 5;
const ROWS = 10;
const UPCOMING = 3;

// A game that has just ended is among the last ones.
const RECENT = 2000;

const HANDS = { waiting: "has to place", first: "gives the first piece" };

// What the server has said of the games being played: by number of the table, what it is now and what is shown.
const seen = { isKnown: false, edition: null, seats: new Map(), expected: null, left: null, offset: 0, state: "playing" };

let redrawStage = null;

export function forgetStage() {
  seen.seats.clear();
  Object.assign(seen, { isKnown: false, expected: null, left: null, state: "playing" });
}

// As many as the standings beside the number count.
export const playedGames = () => known.figures.games;

export const stageFigures = () => redrawStage?.();

export function stageState(state) {
  seen.state = state;
}

export function stageEdition([game, rules, pieces]) {
  seen.edition = { game, rules, pieces };
}

export function stageTables([now, { expected, left, tables }]) {
  Object.assign(seen, { isKnown: true, expected, left, offset: performance.now() - now });
  const present = new Set(tables.map((table) => table.t));
  for (const [number, seat] of seen.seats) seat.gone = !present.has(number);
  for (const table of tables) {
    const seat = seen.seats.get(table.t);
    if (seat) Object.assign(seat, { now: table, gone: false });
    else seen.seats.set(table.t, { now: table, shown: table, game: null, until: 0, missed: null, gone: false });
  }
  redrawStage?.();
}

function recorded(id) {
  for (let at = known.games.length - 1; at >= Math.max(0, known.games.length - RECENT); at -= 1) {
    if (known.games[at].id === id) return known.games[at];
  }
  return null;
}

// Goes on to what is to be shown of a table: the game as it is, its end for a while, then the next game.
function advanceSeat(seat, at) {
  const isSame = seat.now.id === seat.shown.id;
  if (seat.game) {
    if (isSame || at < seat.until) return;
    Object.assign(seat, { shown: seat.now, game: null, missed: null });
    return;
  }
  if (isSame) seat.shown = seat.now;
  if (isSame && seat.now.to !== null && !seat.gone) return;
  const game = recorded(seat.shown.id);
  if (game) {
    Object.assign(seat, { game, until: at + HOLD });
  } else if (!isSame) {
    seat.missed ??= at;
    if (at - seat.missed > MISSED) Object.assign(seat, { shown: seat.now, missed: null });
  }
}

// What is drawn of a seat: the players, the board and its state, who is to move and who has won.
function scene(seat) {
  const { shown, game } = seat;
  if (game) {
    const whole = unpacked(game);
    const states = statesOf(whole);
    const winner = game.winner < 0 ? null : whole.sides.indexOf(game.winner);
    const found = { key: `${shown.t} ${game.id} over ${isLoading(whole)}`, names: whole.sides.map(name), turn: whole.turns.length, over: true, winner, text: outcome(game, whole.lines) };
    if (states.length > 0) return { ...found, game: whole, state: states.at(-1), last: null };
    return { ...playing(shown), ...found };
  }
  return playing(shown);
}

function playing(table) {
  const edition = seen.edition ?? { game: "", rules: "", pieces: null };
  const game = { ...edition, start: table.s, turns: table.d ? [] : table.m, drawings: table.d ? [table.d] : null };
  const states = statesOf(game);
  const state = states.at(-1);
  const made = table.m.at(-1);
  const words = table.d || states.length !== table.n + 1 ? made : state.words;
  const by = table.by === null ? "" : table.b[table.by];
  return {
    key: `${table.t} ${table.id} ${table.n} ${table.to} ${isLoading(game)}`, names: table.b, turn: table.n, over: false, winner: null, game, state,
    last: table.n > 0 && words ? { by, words } : null, text: "", to: table.to, table,
  };
}

// --- the parts ---------------------------------------------------------------------------------

const minutes = (ms) => `${Math.floor(ms / 60000)}:${String(Math.floor(ms / 1000) % 60).padStart(2, "0")}`;

function clockText(at, side) {
  const { table } = at;
  if (!table || at.over) return ["", ""];
  const thinking = at.to === side ? Math.max(0, performance.now() - seen.offset - table.since) : 0;
  if (table.left[side] !== null) return [minutes(Math.max(0, table.left[side] - thinking)), "left"];
  const limit = table.limit[side];
  if (at.to === side) return [`${Math.floor(thinking / 1000)} s`, limit === null ? "" : `of ${limit >= 1000 ? `${limit / 1000} s` : time(limit)}`];
  return table.last[side] === null ? ["", ""] : [time(table.last[side]), "for the last turn"];
}

function plate(at, side) {
  const isDisc = at.game?.game === "four-in-a-row";
  const disc = isDisc ? svg("svg", { viewBox: "0 0 10 10", class: `plate-disc disc ${side === 0 ? "yellow" : "red"}`, role: "img", "aria-label": side === 0 ? "yellow" : "red" }, svg("circle", { class: "face", cx: 5, cy: 5, r: 4.4 })) : null;
  const kind = at.over ? (at.winner === side ? "plate won" : "plate") : at.to === side ? "plate thinks" : "plate";
  const word = at.over ? (at.winner === side ? "has won" : "") : at.to === side ? "to move" : "";
  return el("div", { class: kind }, disc, el("span", { class: "name" }, at.names[side]),
    word ? el("span", { class: "plate-word" }, word) : null,
    el("span", { class: "plate-clock", "data-side": side }));
}

function handPart(at) {
  if (at.over) return el("p", { class: "stage-end" }, at.text);
  if (!at.state?.left) return null;
  const { hand } = at.state;
  if (at.to === null || at.to === undefined) return null;
  const who = el("strong", { class: "name" }, at.names[at.to]);
  if (hand === null) return el("p", { class: "stage-hand" }, el("span", {}, who, ` ${HANDS.first}`));
  return el("p", { class: "stage-hand" }, el("span", {}, who, ` ${HANDS.waiting}`), piecePicture(at.game, hand, { class: "stage-gift" }), el("small", {}, inWords(at.game, hand).split(": ")[1]));
}

function boardPart(at) {
  if (at.state) return drawBoard(at.state);
  if (!at.table) return null;
  return el("ol", { class: "stage-turns", start: Math.max(1, at.turn - at.table.m.length + 1) }, ...at.table.m.slice(-12).map((turn) => el("li", {}, el("code", {}, turn))));
}

function progressText() {
  const { expected, left } = seen;
  const played = playedGames();
  const parts = [expected === null ? counted(played, "game") : `${count(played)} of ${counted(expected, "game")}`];
  if (seen.state.startsWith("checking")) return `${capitalised(seen.state)} bots`;
  if (seen.state === "interrupted") return `${parts[0]} · paused; resumes by itself`;
  if (seen.state === "stopping") return `${parts[0]} · stopping after the current games`;
  if (seen.state === "finished") return `${parts[0]} · finished`;
  if (left !== null && expected !== null && played < expected) {
    const about = Math.round(left / 60);
    parts.push(left < 45 ? "less than a minute left" : left < 5400 ? `about ${counted(about, "minute")} left` : `about ${counted(Math.round(left / 3600), "hour")} left`);
  }
  return parts.join(" · ");
}

function standingsPart(marked) {
  const places = known.figures.places;
  if (places.length === 0) return el("p", { class: "hint" }, "No game has ended yet.");
  const rows = places.slice(0, ROWS);
  const followed = places.findIndex((place) => name(place.bot) === marked);
  if (followed >= ROWS) rows.push(places[followed]);
  const [title, show] = criterion();
  const isApart = (place, at) => at > 0 && place.table !== rows[at - 1].table;
  return el("div", {}, el("table", { class: "stage-table" }, el("caption", { class: "unseen" }, "Standings"),
    el("thead", {}, el("tr", {}, el("th", { scope: "col" }, "#"), el("th", { scope: "col", class: "text" }, "bot"), el("th", { scope: "col" }, "games"), el("th", { scope: "col" }, title))),
    el("tbody", {}, ...rows.flatMap((place, at) => [
      isApart(place, at) ? el("tr", { class: "apart" }, el("td", { colspan: 4, class: "text" }, "have not met those above:")) : null,
      el("tr", { class: name(place.bot) === marked ? "followed" : null },
        el("td", {}, rankText(place)), el("th", { scope: "row", class: "text" }, el("span", { class: "name" }, name(place.bot))), el("td", {}, count(place.games)), el("td", {}, el("strong", {}, show(place)))),
    ]).filter(Boolean))),
  places.length > rows.length ? el("p", { class: "hint" }, `and ${count(places.length - rows.length)} more`) : null,
  title === "points" ? null : el("p", { class: "hint" }, `By ${known.figures.order}, as not all have played the same number of games.`));
}

// Who plays next: meetings of which no game is being played.
function nextPart() {
  if (seen.state !== "playing") return null;
  const pairs = [...seen.seats.values()].filter((seat) => !seat.gone).map((seat) => Number(/^p(\d+)[ab]$/.exec(seat.now.id)?.[1] ?? 0));
  const free = (course()?.next ?? []).filter(({ pairs: [first, last] }) => !pairs.some((pair) => pair >= first && pair <= last)).slice(0, UPCOMING);
  if (free.length === 0) return null;
  const title = (index) => el("span", { class: "name" }, course().bots[index]?.[0] ?? "?");
  return el("section", { "aria-labelledby": "stage-next" }, el("h2", { id: "stage-next" }, "Next"), el("ol", { class: "stage-next" }, ...free.map(({ bots: [a, b] }) => el("li", {}, title(a), " – ", title(b)))));
}

function otherPart(number, seat) {
  const at = scene(seat);
  return el("a", { class: "stage-other", href: `#stage&table=${number}`, "data-keep": `stage-table-${number}` },
    at.state ? drawBoard(at.state) : null,
    el("span", {}, el("strong", {}, `Table ${number}`), el("span", { class: "name" }, at.names[0]), el("span", { class: "name" }, at.names[1]),
      el("small", {}, at.over ? "finished" : counted(at.turn, "turn"))));
}

// Who won, when all games have been played; what stands in the way of saying so, when they have not.
function endPart() {
  const [first, second] = known.figures.places;
  if (!first) return null;
  const reason = earlyEnd(known.figures);
  const isDuel = known.figures.places.length === 2 && second.table === 1;
  if (isDuel) {
    return el("section", { class: "stage-champion", "aria-labelledby": "stage-champion" }, el("h2", { id: "stage-champion" }, reason ? "The score" : "Final score"),
      el("p", { class: "stage-score" }, el("span", { class: "name" }, name(first.bot)), el("strong", {}, `${half(first.points)} : ${half(second.points)}`), el("span", { class: "name" }, name(second.bot))),
      reason ? el("p", {}, reason) : null);
  }
  const won = leaders(known.figures);
  return el("section", { class: "stage-champion", "aria-labelledby": "stage-champion" },
    ...(won ? [el("h2", { id: "stage-champion" }, won.title), el("p", { class: "stage-winner" }, nameList(won.firsts)),
      won.text ? el("p", {}, won.text) : null, won.next ? el("p", {}, `${won.next.title}: `, nameList([won.next.place])) : null] : [el("h2", { id: "stage-champion" }, "No winner"), el("p", {}, capitalised(known.figures.separate ?? ""))]),
    reason ? el("p", {}, reason) : null);
}

// --- what is followed --------------------------------------------------------------------------

function followedOf(fields) {
  const table = /^\d{1,4}$/.test(fields.get("table") ?? "") ? Number(fields.get("table")) : null;
  return { bot: fields.get("bot"), table };
}

function seatOf(followed) {
  const seats = [...seen.seats.entries()].sort((a, b) => a[0] - b[0]);
  if (followed.table !== null) return seats.find(([number]) => number === followed.table) ?? null;
  if (followed.bot !== null) return seats.find(([, seat]) => seat.shown.b.includes(followed.bot)) ?? null;
  return seats.find(([, seat]) => !seat.gone) ?? seats[0] ?? null;
}

function stageBots() {
  const all = course()?.bots.map(([title]) => title) ?? known.bots.map((bot) => bot.name);
  return [...new Set([...all, ...[...seen.seats.values()].flatMap((seat) => seat.now.b)])].sort((a, b) => a.localeCompare(b, "en"));
}

function addressOf(followed) {
  if (followed.table !== null) return `#stage&table=${followed.table}`;
  return followed.bot === null ? "#stage" : `#stage&bot=${encodeURIComponent(followed.bot)}`;
}

function chooser(followed) {
  const bots = stageBots();
  const tables = [...seen.seats.keys()].sort((a, b) => a - b);
  // What a bookmark names is there, even before it plays.
  if (followed.table !== null && !tables.includes(followed.table)) tables.push(followed.table);
  if (followed.bot !== null && !bots.includes(followed.bot)) bots.push(followed.bot);
  const now = addressOf(followed);
  const option = (value, title) => el("option", { value, selected: value === now }, title);
  return [option("#stage", "the first table"),
    el("optgroup", { label: "Tables" }, ...tables.map((table) => option(addressOf({ table, bot: null }), `Table ${table}`))),
    el("optgroup", { label: "Bots" }, ...bots.map((bot) => option(addressOf({ table: null, bot }), bot)))];
}

// --- the view ----------------------------------------------------------------------------------

export function stageView(fields) {
  const followed = followedOf(fields);
  const parts = Object.fromEntries(["progress", "board", "players", "rows", "next", "others"].map((part) => [part, el("div", { class: `stage-${part}` })]));
  const select = el("select", { "data-keep": "stage-follow", onchange: (event) => { location.hash = event.target.value; } });
  const full = document.fullscreenEnabled ? el("button", { type: "button", class: "quiet", "data-keep": "stage-full", onclick: () => { if (document.fullscreenElement) document.exitFullscreen(); else document.getElementById("main").requestFullscreen(); } }) : null;
  const nameFull = () => { if (full) full.textContent = document.fullscreenElement ? "Leave full screen" : "Full screen"; };
  nameFull();
  document.addEventListener("fullscreenchange", nameFull);
  const node = el("div", { class: "screen" },
    el("header", { class: "stage-head" }, el("h1", {}, known.head.title), parts.progress,
      el("label", {}, el("span", {}, "Follow "), select), full),
    el("section", { class: "stage-game", "aria-label": "The game" }, parts.board, parts.players),
    el("aside", { class: "stage-side", "aria-label": "The tournament" }, el("section", { "aria-labelledby": "stage-standings" }, el("h2", { id: "stage-standings" }, "Standings"), parts.rows), parts.next),
    parts.others);
  const drawnKeys = new Map();
  let announced = 0;

  // Draws a part again when what it shows has changed.
  function redraw(part, key, make) {
    if (drawnKeys.get(part) === key) return;
    drawnKeys.set(part, key);
    (parts[part] ?? select).replaceChildren(...[make()].flat().filter(Boolean));
  }

  function say(at) {
    const now = performance.now();
    // A screen reader cannot follow moves that are made quicker than they can be read.
    if (now - announced < 5000 && !at.over) return;
    announced = now;
    announce(at.over ? at.text : at.last ? `${at.last.by}: ${at.last.words}` : "");
  }

  function waiting() {
    if (seen.state.startsWith("checking")) return el("p", { class: "stage-waiting" }, progressText());
    if (known.head.live && !seen.isKnown) return el("p", { class: "stage-waiting" }, "Connecting…");
    const missing = followed.table !== null ? `No game is being played at table ${followed.table}.` : followed.bot !== null ? `${followed.bot} is not playing at this moment.` : known.head.live ? "No game is being played at this moment." : "";
    return missing ? el("p", { class: "stage-waiting" }, missing) : null;
  }

  function drawEnd() {
    node.classList.add("ended");
    redraw("board", `end ${isLoading(known.editions[0] ?? {})} ${seen.state} ${JSON.stringify(known.figures.places.slice(0, 2))} ${known.games.length}`, () => {
      const last = known.games.at(-1);
      const whole = last ? unpacked(last) : null;
      const state = whole ? statesOf(whole).at(-1) : null;
      return state ? drawBoard(state) : null;
    });
    redraw("players", `end ${JSON.stringify(known.figures.places.slice(0, 2))} ${JSON.stringify(course()?.champion ?? null)}`, () => endPart());
  }

  function draw() {
    const at = performance.now();
    for (const seat of seen.seats.values()) advanceSeat(seat, at);
    redraw("progress", progressText(), () => el("p", {}, progressText()));
    redraw("follow", JSON.stringify([stageBots(), [...seen.seats.keys()], addressOf(followed)]), () => chooser(followed));
    const holding = [...seen.seats.values()].some((seat) => at < seat.until);
    const found = seatOf(followed);
    if (seen.state === "finished" && !holding) {
      drawEnd();
    } else {
      node.classList.remove("ended");
      if (found) {
        const shown = scene(found[1]);
        if (drawnKeys.get("board") !== shown.key) say(shown);
        redraw("board", shown.key, () => boardPart(shown));
        redraw("players", `${shown.key} ${found[0]}`, () => [
          el("p", { class: "stage-where" }, `Table ${found[0]} · ${shown.over ? counted(shown.turn, "turn") : `turn ${shown.turn + 1}`}`),
          plate(shown, 0), handPart(shown), plate(shown, 1),
          shown.last ? el("p", { class: "stage-last" }, el("strong", { class: "name" }, shown.last.by), ` ${shown.last.words}`) : null,
        ]);
        for (const clock of parts.players.querySelectorAll(".plate-clock")) {
          const [text, hint] = clockText(shown, Number(clock.dataset.side));
          if (clock.textContent !== text + (hint && ` ${hint}`)) clock.replaceChildren(text, ...(hint ? [" ", el("small", {}, hint)] : []));
        }
      } else {
        redraw("board", `none ${known.head.live} ${seen.isKnown} ${seen.state}`, () => waiting());
        redraw("players", "none", () => null);
      }
    }
    const marked = followed.bot ?? null;
    redraw("rows", JSON.stringify([known.figures.order, known.figures.places.map((place) => [place.bot, place.points, place.games, rankText(place), place.elo, place.table]), marked]), () => standingsPart(marked));
    redraw("next", JSON.stringify([seen.state, course()?.next ?? [], [...seen.seats.values()].map((seat) => [seat.gone, seat.now.id])]), () => nextPart());
    const others = [...seen.seats.entries()].filter(([number, seat]) => number !== found?.[0] && !seat.gone).sort((a, b) => a[0] - b[0]);
    const shownOthers = known.head.live ? others.slice(0, OTHERS) : [];
    redraw("others", JSON.stringify(shownOthers.map(([, seat]) => scene(seat).key)), () => [
      ...shownOthers.map(([number, seat]) => otherPart(number, seat)),
      others.length > shownOthers.length && shownOthers.length > 0 ? el("p", { class: "hint" }, `and ${counted(others.length - shownOthers.length, "table")} more`) : null,
    ]);
  }

  // What has the focus may be drawn again, or be there no longer.
  const redrawn = () => keepingFocus(node, draw);
  redrawStage = redrawn;
  const timer = setInterval(redrawn, 250);
  draw();
  return { node, leave: () => { clearInterval(timer); document.removeEventListener("fullscreenchange", nameFull); redrawStage = null; }, update: () => { redrawn(); return true; } };
}
