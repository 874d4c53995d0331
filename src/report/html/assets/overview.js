// The overview: standings, charts and highlights.

import { capitalised, card, count, counted, el, folded, half, link, own, percent, scrolled, signed, time } from "./dom.js";
import { absent, absentHash, botHash, criterion, gameHash, interval, isRated, known, name, pointsText, rankText, story, tables, unpacked } from "./data.js";
import { bracketCard, groupsCard, roundsCard } from "./course.js";
import { accuracyCard } from "./mistakes.js";
import { analysisCard } from "./analysis.js";
import { facts, likelihood, resultCard } from "./head.js";
import { drawBoard, statesOf } from "./rules.js";
import { sortable } from "./tables.js";
import { answerTimes, bars, crosstable, curveKey, heatKey, lengths, ratingAxis, ratingScale, record, recordKey, ratingHistory, whisker } from "./charts.js";

// A crosstable of more bots needs the whole width.
const NARROW_BOTS = 9;

// The user's choices, kept when the page is redrawn while games are played.
const chosen = { order: ["rank", 1], page: { page: 0 }, curves: null, times: {}, seats: {}, cross: {}, forfeits: {} };

// Standings of more bots have narrow rows; those of many more are shown page by page.
const LONG = 30;
const PAGED = 120;
const PAGE_ROWS = 60;

// What not all tournaments have of a bot; each is a column more.
const MORE = ["blunders", "moved", "reached"];

// A crosstable of more bots shows these, and the rest on request: 300 have 90,000 fields.
const CROSSED = 60;

// Lists of more bots show these, and the rest on request.
const FOLDED = 12;

// Curves that are highlighted at first.
const CURVES = 5;

function tile(title, value, hint) {
  return el("div", { class: "tile" }, el("dt", {}, title), el("dd", {}, value, hint ? el("small", {}, hint) : null));
}

function tiles(figures) {
  const draws = own(figures.endings, "draw") ?? 0;
  const forfeits = figures.places.reduce((sum, p) => sum + Object.values(p.forfeits).reduce((a, b) => a + b, 0), 0);
  const share = (n) => percent(n / Math.max(1, figures.games), 1);
  const turns = figures.lengths.reduce((sum, n, length) => sum + n * length, 0);
  return el("dl", { class: "tiles" },
    tile("bots", count(figures.places.length)),
    tile("games", count(figures.games)),
    tile("draws", share(draws), counted(draws, "game")),
    tile("forfeits", share(forfeits), counted(forfeits, "game")),
    tile("turns per game", (turns / Math.max(1, figures.games)).toFixed(1)),
    figures.advantage === null || figures.advantage_error === null ? null : tile("moving first", `${signed(figures.advantage)} Elo`, `± ${Math.round(figures.advantage_error)}`));
}

// Places up or down since the last time; the arrow is read aloud as a word.
function moved(by) {
  if (by === "new") return by;
  if (by === 0) return "=";
  const places = Math.abs(by);
  return el("span", { "aria-label": `${by > 0 ? "up" : "down"} ${places}`, role: "img" }, `${by > 0 ? "↑" : "↓"}${places}`);
}

// Sonneborn-Berger scores have quarters.
const FORMATS = { text: (value) => value, number: (value) => (Number.isInteger(2 * value) ? half(value) : String(value)), share: (value) => percent(value, 1), elo: signed, milliseconds: time, moved };

const lost = (p) => Object.values(p.forfeits).reduce((a, b) => a + b, 0);

// Columns that the page draws in its own way, by key: in place of one, several or none.
const special = (scale) => ({
  rank: [{ hint: "Sort by place", show: rankText, kind: "rank", rising: true }],
  name: [{ value: (p) => name(p.bot), show: (p) => link(botHash(p.bot), el("span", { class: "name", title: name(p.bot) }, name(p.bot))), head: true }],
  moved: [{ hint: "Places up or down since the last time", value: (p) => (p.moved === "new" ? 0 : p.moved) }],
  reached: [{ kind: "text reached", value: (p) => String(p.rank).padStart(6, "0") }],
  points: [{ show: pointsText }],
  games: [{ show: (p) => count(p.games), kind: "number rare" }],
  score: [{ hint: "Points per game", kind: "number rare" }],
  wins: [{ key: "record", title: "won · drawn · lost", value: (p) => p.wins / Math.max(1, p.games), kind: "wide rare", show: (p) => [record(p.wins, p.draws, p.losses), el("small", {}, `${p.wins} · ${p.draws} · ${p.losses}`)] }],
  elo: [
    { show: (p) => el("span", { title: interval(p) }, signed(p.elo)) },
    { key: "rating", title: "rating and its 95% interval", hint: "Sort by rating", kind: "widest", show: (p) => whisker(p, scale) },
  ],
  los: [{ title: "better than\u00a0next", hint: "Likelihood of being better than the next in the table (LOS)", kind: "number lines", show: (p) => (p.los === null ? "" : likelihood(p.los)) }],
  accuracy: [{ hint: "Share of the turns that kept the best result still possible, of those whose exact value is known" }],
  blunders: [{ hint: "Turns that gave away a win or a draw", show: (p) => (p.blunders === null ? "" : link(botHash(p.bot), count(p.blunders))) }],
  median_ms: [{ title: "median time", hint: "Median time of an answer", kind: "number lines" }],
  forfeits: [{ value: lost, show: (p) => (lost(p) ? link(`#games&of=${p.bot + 1}&ending=forfeited`, count(lost(p))) : "0") }],
  draws: [], losses: [], proven: [], missed_wins: [], "": [],
});

function columnsOf(scale) {
  const looks = special(scale);
  const [first] = criterion();
  const marked = (column) => (column.title === first ? { ...column, kind: "number", show: (p) => el("strong", {}, column.show(p)) } : column);
  return known.figures.columns.flatMap(([key, title, format]) => (own(looks, key) ?? [{}]).map((column) => marked({
    key, title, text: format === "text", value: (p) => p[key],
    show: (p) => (p[key] === null ? "" : FORMATS[format](p[key])), ...column,
  })));
}

function standings(places) {
  const scale = ratingScale(places);
  const has = known.figures.columns.some(([key]) => MORE.includes(key));
  return tables().map((rows, number) => {
    const table = sortable({
      caption: number ? `Standings ${number + 1}` : "Standings", kind: `standings${rows.length > LONG ? " long" : ""}${has ? " full" : ""}`,
      sorted: chosen.order, rows: () => rows, size: rows.length > PAGED ? PAGE_ROWS : undefined, at: number ? undefined : chosen.page,
      columns: columnsOf(scale),
    });
    table.node.querySelector("thead .widest")?.append(ratingAxis(scale));
    return table.node;
  });
}

function forfeits(places) {
  const reasons = [...new Set(places.flatMap((place) => Object.keys(place.forfeits)))].sort();
  if (reasons.length === 0) return card("Forfeits", null, el("p", {}, "No game was forfeited."));
  const total = (place) => Object.values(place.forfeits).reduce((sum, n) => sum + n, 0);
  const faulty = places.filter((place) => total(place) > 0).sort((a, b) => total(b) - total(a));
  const most = Math.max(...faulty.flatMap((place) => Object.values(place.forfeits)));
  const cell = (place, reason) => {
    const found = own(place.forfeits, reason);
    if (!found) return el("td", { class: "never" }, "·");
    const strength = Math.max(1, Math.round((5 * found) / most));
    return el("td", { class: `heat blame-${strength}` }, link(`#games&of=${place.bot + 1}&ending=forfeited&reason=${encodeURIComponent(reason)}`, count(found)));
  };
  return card("Forfeits", "Games lost by a fault of the bot and not on the board, by reason. Those with the most come first.",
    folded(faulty, FOLDED, chosen.forfeits, (shown) => scrolled(el("table", { class: "cross" }, el("caption", { class: "unseen" }, "Forfeits by reason"),
      el("thead", {}, el("tr", {}, el("th", { scope: "col", class: "text" }, "bot"), ...reasons.map((reason) => el("th", { scope: "col", class: "reason" }, reason)))),
      el("tbody", {}, ...shown.map((place) => el("tr", {}, el("th", { scope: "row", class: "text" }, link(botHash(place.bot), el("span", { class: "name" }, name(place.bot)))), ...reasons.map((reason) => cell(place, reason)))))), "Forfeits by reason")));
}

// Wins, draws and losses by who moved first: of one bot, or of all together.
export function seats(bot) {
  const first = [0, 0, 0];
  const second = [0, 0, 0];
  for (const [a, b, wins, draws, losses] of known.figures.met) {
    if (bot === undefined || a === bot) [wins, draws, losses].forEach((n, i) => { first[i] += n; });
    if (bot === undefined || b === bot) [losses, draws, wins].forEach((n, i) => { second[i] += n; });
  }
  return { first, second };
}

function seatRow(title, [wins, draws, losses], href) {
  const games = wins + draws + losses;
  return el("div", { class: "bar-row" }, el("span", { class: "bar-name" }, href ? link(href, title) : title),
    record(wins, draws, losses),
    el("span", { class: "bar-count" }, games ? percent((wins + draws / 2) / games, 1) : "–", el("small", {}, ` of ${count(games)}`)));
}

export function seatBars(bot) {
  const { first, second } = seats(bot);
  return el("div", { class: "bars" }, seatRow("moving first", first), seatRow("moving second", second));
}

function seatCard(places) {
  const scores = (place) => {
    const { first, second } = seats(place.bot);
    const share = ([w, d, l]) => (w + d + l ? (w + d / 2) / (w + d + l) : null);
    return { place, first: share(first), second: share(second) };
  };
  const rows = places.map(scores);
  const shown = (share) => (share === null ? "" : percent(share, 1));
  return card("Moving first or second", "The share of points that each bot made in either seat." + (known.editions.some(({ game }) => game === "quarto") ? " In Quarto who moves first gives a piece and places none." : ""),
    el("div", { class: "bars" }, seatRow("moving first", seats().first)), recordKey(),
    folded(rows.map(({ place, first, second }) => el("tr", {}, el("th", { scope: "row", class: "text" }, link(botHash(place.bot), el("span", { class: "name" }, name(place.bot)))),
      el("td", { class: "number" }, shown(first)), el("td", { class: "number" }, shown(second)),
      el("td", { class: "number" }, first === null || second === null ? "" : signed(100 * (first - second))))), FOLDED, chosen.seats, (rows) =>
      scrolled(el("table", {}, el("caption", { class: "unseen" }, "Share of points by seat"),
        el("thead", {}, el("tr", {}, ...["bot", "first", "second", "difference"].map((title, i) => el("th", { scope: "col", class: i ? "number" : "text" }, title)))),
        el("tbody", {}, ...rows)), "Share of points by seat")));
}

function settlingCard(places) {
  const bots = places.map((place) => place.bot);
  chosen.curves ??= new Set(bots.length > CURVES ? bots.slice(0, CURVES) : []);
  const box = el("div");
  const draw = () => {
    const focus = document.activeElement?.dataset?.keep;
    box.replaceChildren(ratingHistory(bots, chosen.curves), curveKey(bots, chosen.curves, draw));
    if (focus) box.querySelector(`[data-keep="${focus}"]`)?.focus();
  };
  draw();
  return card("Ratings over the games", "How the ratings (Elo) settled as games were played. Choose bots to highlight them; one alone is shown with its 95% interval.", box);
}

function halfOf({ games, lengths }) {
  let [turns, seen] = [0, 0];
  while (turns < lengths.length && seen + (lengths[turns] ?? 0) < games / 2) { seen += lengths[turns] ?? 0; turns += 1; }
  return `Half of the games took ${counted(turns, "turn")} or fewer.`;
}

function endings(figures) {
  const rows = Object.entries(figures.endings).sort((a, b) => b[1] - a[1]).map(([reason, n]) => ({
    name: reason, count: n, href: `#games&reason=${encodeURIComponent(reason)}`,
    kind: reason === "draw" ? "draw" : known.editions.some((edition) => edition.game === reason) ? "win" : "blame",
  }));
  const [most] = rows;
  return card("How games ended", most ? `Most often by ${most.name}: ${count(most.count)} of ${counted(figures.games, "game")}.` : null, bars(rows),
    el("h3", {}, "After how many turns"), el("p", { class: "hint" }, halfOf(figures)), lengths(figures.lengths));
}

// Notable games: the quickest win, the biggest upset, the longest game.
function highlights() {
  const won = known.games.filter((game) => game.winner >= 0 && !game.forfeit);
  const found = [];
  const note = (title, game, why) => {
    if (game) found.push(el("li", {}, link(gameHash(game.number), el("strong", {}, title), el("span", {}, `Game ${game.number}: ${story(game)}`), el("small", {}, why))));
  };
  const best = (games, merit) => games.reduce((top, game) => (top === null || merit(game) > merit(top) ? game : top), null);
  // Of several that took the same number of turns, none stands out.
  const only = (game) => (game && won.filter((other) => other.length === game.length).length === 1 ? game : null);
  const quickest = best(won, (game) => -game.length);
  note("The quickest win", only(quickest), quickest ? counted(quickest.length, "turn") : "");
  const elo = new Map(known.figures.places.map((p) => [p.bot, p.elo]));
  const gap = (game) => (elo.get(game.loser) ?? 0) - (elo.get(game.winner) ?? 0);
  const upset = best(won, gap);
  if (isRated() && upset && gap(upset) > 30) note("The biggest upset", upset, `${Math.round(gap(upset))} Elo apart`);
  const longest = best(won, (game) => game.length);
  if (longest !== quickest) note("The longest win", only(longest), longest ? counted(longest.length, "turn") : "");
  return found.length ? card("Highlights", null, el("ul", { class: "highlights" }, ...found)) : null;
}

const LIMITED = { "--memory": "memory", "--processes": "processes", "--scratch": "files that it writes", "--open-files": "open files", "--freeze": "thinking in the other's time" };

// The board of the game that ended last, on a page that is served live.
function latest() {
  // Games may be known before their figures.
  const games = known.games.slice(0, known.figures.games);
  const game = games.at(-1);
  if (!game) return null;
  const whole = unpacked(game);
  const state = statesOf(whole).at(-1);
  const list = games.slice(-4).reverse().map((game) =>
    el("li", {}, link(gameHash(game.number), el("span", {}, `Game ${game.number}`), el("strong", {}, story(game, unpacked(game).lines)))));
  return card("Just played", null, el("div", { class: "latest" },
    state ? el("a", { href: gameHash(game.number), class: "board-link" }, el("span", { class: "unseen" }, `Game ${game.number}. `), drawBoard(state)) : null,
    el("ul", { class: "highlights" }, ...list)));
}

function limits() {
  const lines = (known.head.limits ?? []).map((line) => line.replace(/^(--[a-z-]+|[a-z ]+): (strict|checked): /, (_, what, how) => `${capitalised(own(LIMITED, what) ?? what)} (${how}): `));
  if (lines.length === 0) return null;
  return card("Limits of the bots", "Strict limits are held by the kernel and never exceeded; checked ones can be exceeded for some milliseconds.", el("ul", {}, ...lines.map((line) => el("li", {}, line))));
}

function verdict(places) {
  // How surely the first is the first is said by the card of the result.
  const parts = places.at(-1).table > 1 ? [known.figures.separate] : [];
  return [...parts, known.figures.rule].map((part) => `${capitalised(part)}.`).join(" ");
}

function absentCard() {
  const all = absent();
  if (all.length === 0) return null;
  return card("Did not enter", "They were there and play in no game.", el("ul", { class: "highlights" }, ...all.map(({ name, reason }, index) =>
    el("li", {}, link(absentHash(index), el("strong", {}, name), reason ? el("small", {}, reason.split("\n")[0]) : null)))));
}

export function overview() {
  const figures = known.figures;
  if (figures.games === 0) {
    return el("div", {}, el("h1", {}, known.head.title), el("p", { class: "card" }, known.head.live ? "No game has ended yet. This page shows them as they end." : "There are no games in this report."), absentCard());
  }
  const places = figures.places;
  const each = card("Each against each", "Points of the bot on the left. Choose a field to see its games; the arrow keys go from field to field.", folded(places, CROSSED, chosen.cross, crosstable), heatKey());
  return el("div", { class: "overview" },
    el("h1", {}, known.head.title), facts(figures), known.unread ? el("p", { class: "hint", role: "status" }, known.unread) : null, resultCard(figures), tiles(figures),
    known.head.live ? latest() : null,
    groupsCard(), bracketCard(),
    card("Standings", verdict(places), ...standings(places), el("div", { class: "rare" }, recordKey())),
    absentCard(),
    roundsCard(),
    places.length > NARROW_BOTS ? each : null,
    el("div", { class: "cards" },
      places.length > NARROW_BOTS ? null : each,
      highlights(),
      accuracyCard(places) ?? analysisCard(),
      forfeits(places),
      endings(figures),
      isRated() ? settlingCard(places) : null,
      card("Time to answer", "How long each bot took for its answers: half of them less than the first time in its row, where the line is, and 95 of 100 less than the second.", folded(places.map((p) => p.bot), FOLDED, chosen.times, answerTimes)),
      seatCard(places),
      limits()),
    known.unread ? null : figures.games > known.games.length ? el("p", { class: "hint" }, `All ${count(figures.games)} games count; the first ${count(known.games.length)} are listed.`) : null);
}

