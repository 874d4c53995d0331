// The head of the overview: what was played, who won and how surely.

import { opponentBars, record, recordText } from "./charts.js";
import { course, extraScore, hasPair, meetingOf } from "./course.js";
import { botHash, criterion, gameHash, gameTitle, interval, isRated, name, pairOf, pointsText, story } from "./data.js";
import { capitalised, card, count, counted, el, half, link, oneTabStop, own, percent, signed, time } from "./dom.js";
import { known } from "./state.js";

// Games in the strip of two bots; of more, the last ones are shown.
const STRIP = 400;

// Equal bots that are named; of more, their number is given.
const NAMED = 5;

/**
 * A likelihood is never certain.
 *
 * @param {number} share
 */
export function likelihood(share) {
  return share > 0.999 ? "> 99.9%" : percent(share, 1);
}

// The days on which games began: `23 November 2026`.
function days() {
  let [first, last] = [Infinity, -Infinity];
  for (const { started } of known.games) {
    if (started === null || started === undefined) continue;
    first = Math.min(first, started);
    last = Math.max(last, started);
  }
  if (first > last) return null;
  /** @param {number} seconds */
  const written = (seconds) =>
    new Date(seconds * 1000).toLocaleDateString("en-GB", {
      day: "numeric",
      month: "long",
      year: "numeric",
      timeZone: "UTC",
    });
  const both = [written(first), written(last)];
  return both[0] === both[1] ? both[0] : both.join(" to ");
}

/** @param {number} number */
const seconds = (number) => (number < 1 ? time(1000 * number) : `${number} s`);

function timeLimit() {
  const limits = course()?.limits;
  const [limit] = known.figures.move_times ?? [];
  const parts = [];
  if (limits) {
    if (limits.move_time !== null) parts.push(`${seconds(limits.move_time)} a move`);
    if (limits.game_time !== null) parts.push(`${seconds(limits.game_time)} a game`);
    if (limits.game_time !== null && limits.increment > 0)
      parts.push(`${seconds(limits.increment)} more after each move`);
    return parts.length ? parts.join(", ") : "no time limit";
  }
  if (known.figures.move_times?.length !== 1) return null;
  return limit === null ? null : `${seconds(limit)} a move`;
}

// The game, and its rules where they are not the usual ones; nothing where several games were played.
function played() {
  const kinds = [
    ...new Set(
      known.editions.map(({ game, rules }) =>
        rules && rules !== "standard" ? `${gameTitle(game)} (${rules})` : gameTitle(game),
      ),
    ),
  ];
  return kinds.length === 1 ? kinds[0] : null;
}

/** @param {Figures} figures */
export function facts(figures) {
  const format = course()?.format;
  const parts = [
    played(),
    format ? capitalised(format) : null,
    days(),
    timeLimit(),
    counted(course()?.bots.length ?? figures.places.length, "bot"),
    counted(figures.games, "game"),
  ];
  return el("p.facts", parts.filter(Boolean).join(" · "));
}

/**
 * Whether all games of the tournament have been played, as far as is known.
 *
 * @param {Figures} figures
 */
function isFinished(figures) {
  const { early, bracket = [], champion, games_planned: games } = course() ?? {};
  if (known.head.live || early) return false;
  if (bracket.length) return champion !== null;
  return Boolean(games) && figures.games >= (games ?? 0);
}

/**
 * Why not all games have been played, or that they have not; nothing while they are being played.
 *
 * @param {Figures} figures
 */
export function earlyEnd(figures) {
  if (known.head.live) return null;
  const { early, games_planned: games } = course() ?? {};
  if (early) return early;
  return games && figures.games < games
    ? `Not finished: ${count(figures.games)} of ${counted(games, "game")} have been played.`
    : null;
}

/** @param {Figures} figures */
function earlyHint(figures) {
  const reason = earlyEnd(figures);
  return reason ? el("p.early", reason) : null;
}

// The game that decided the final of a bracket.
export function decisiveGame() {
  const final = course()?.bracket.at(-1)?.[0]?.meeting;
  if (!final?.winner || course()?.champion === null) return null;
  const inFinal = known.games.filter(({ id }) => hasPair(final, pairOf(id)));
  // The order of the schedule, in which games need not have ended.
  const last = inFinal.reduce(
    (top, game) => (top === null || game.id.localeCompare(top.id, "en", { numeric: true }) > 0 ? game : top),
    /** @type {GameSummary | null} */ (null),
  );
  return last && last.winner >= 0 ? last : null;
}

/**
 * By how much the first is ahead of the second.
 *
 * @param {Place} first
 * @param {Place} [second]
 */
function lead(first, second) {
  const { order } = known.figures;
  const final = course()?.bracket.at(-1)?.[0]?.meeting;
  if (order === "place" && final?.winner && course()?.champion !== null) {
    const [side, why] = final.winner;
    const points = [side, 1 - side].map((of) => half(final.half_points[of] / 2));
    const { extra } = meetingOf(final);
    const [score, games] = extra?.games ? extraScore(extra, side) : [];
    const isByGames = games && extra && extra.points[0] !== extra.points[1];
    const isDecided = why && !isByGames;
    const parts = [
      `won the final ${points.join("–")}`,
      games ? `then ${score} in ${games}` : "",
      isDecided ? `decided ${why}` : "",
    ];
    return parts.filter(Boolean).join(", ");
  }
  if (order === "place") return "";
  const points = first.bye_points
    ? `${pointsText(first)} points`
    : `${half(first.points)} / ${counted(first.games, "point")}`;
  if (order !== "points" || !second) return points;
  const ahead = first.points - second.points;
  return `${points}, ${ahead > 0 ? `${half(ahead)} ahead` : "ahead on the tie-break"}`;
}

/**
 * The bot that meets all others in a gauntlet.
 *
 * @param {Figures} figures
 */
function challenger(figures) {
  const { format, bots = [] } = course() ?? {};
  const bot = format === "gauntlet" ? bots[0]?.[1] : null;
  return figures.places.find((place) => place.bot === bot) ?? null;
}

/**
 * Whether a bot made no turn in any game: it has won nothing.
 *
 * @param {Pick<Place, "bot">} place
 */
function isSilent({ bot }) {
  const { silent = [], bots = [] } = course() ?? {};
  return silent.some((index) => bots[index]?.[1] === bot);
}

/**
 * Who is first, with a title and by how much, and who is next: none where the bots cannot be compared, or where several
 * are equal.
 *
 * @param {Figures} figures
 */
export function leaders(figures) {
  const { places } = figures;
  if (places.length < 2 || places[places.length - 1].table > 1) return null;
  const met = challenger(figures);
  if (met) return { title: "Challenger", firsts: [met], text: lead(met), next: null };
  const ranked = places.filter(({ rank }) => rank === 1);
  const isOver = isFinished(figures) && !earlyEnd(figures);
  const firsts = isOver ? ranked.filter((place) => !isSilent(place)) : ranked;
  const [first] = firsts;
  if (!first) {
    // Who has a bye and no game is none of the places.
    const { silent = [], bots = [] } = course() ?? {};
    const unplayed = silent.map((index) => bots[index]).filter(([, bot]) => bot === null);
    const names = ranked.length ? ranked.map(({ bot }) => name(bot)) : unplayed.map(([title]) => title);
    const who = places.every(isSilent) ? "no bot made a turn" : `${names.join(", ")}, first in the table, made no turn`;
    return { title: "No winner", firsts, text: `${who} in any game`, next: null };
  }
  const [one, many, second] = isOver
    ? ["Champion", "Joint champions", "Runner-up"]
    : known.head.live
      ? ["Leader", "Joint leaders", "Second"]
      : ["First", "Joint first", "Second"];
  if (firsts.length > 1) {
    const isOpen = figures.order === "place";
    return {
      title: isOpen ? "Still in the bracket" : many,
      firsts,
      text: isOpen ? "" : `${criterion()[1](first)}${figures.order === "points" ? " points" : ""} each`,
      next: null,
    };
  }
  const next = places[1].shared ? null : { title: second, place: places[1] };
  return { title: one, firsts, text: lead(first, places[1]), next };
}

/**
 * The first of some names, as links or not.
 *
 * @param {Place[]} places
 * @param {boolean} [linked]
 * @returns {Child[]}
 */
export function nameList(places, linked) {
  const shown = places.slice(0, NAMED).map((place) => el("span.name", name(place.bot)));
  const rest = places.length - shown.length;
  return [
    shown.map((one, at) => [at ? ", " : null, linked ? link(botHash(places[at].bot), one) : one]),
    rest ? ` and ${count(rest)} more` : null,
  ];
}

// A likelihood of superiority below this tells no two bots apart.
const TELLING = 0.6;

/**
 * How likely it is that the first of two is the stronger one.
 *
 * @param {Place} first
 * @param {Place} second
 */
function certainty(first, second) {
  if (first.los === null) return "Too few games to tell them apart";
  const sure = `${likelihood(first.los)} likely to be stronger than ${name(second.bot)} (LOS)`;
  return first.los < TELLING ? `Too close to tell: ${sure}` : sure;
}

/**
 * The games of two bots in their order, a cell each. One cell is reached with Tab, the others with the arrow keys.
 *
 * @param {number} first
 */
function strip(first) {
  const games = known.games.slice(-STRIP);
  const cells = games.map((game) => {
    const shown = game.winner < 0 ? ["½", "shade-5"] : game.winner === first ? ["1", "shade-10"] : ["0", "shade-0"];
    const label = `game ${game.number}: ${story(game)}`;
    return el(
      "a",
      {
        href: gameHash(game.number),
        class: shown[1],
        tabindex: -1,
        title: capitalised(label),
        "aria-label": `${shown[0]}, ${label}`,
      },
      shown[0],
    );
  });
  const steps = { ArrowRight: 1, ArrowLeft: -1, Home: -cells.length, End: cells.length };
  oneTabStop(cells, (cell, key) => {
    const step = own(steps, key);
    return step && cells[Math.min(cells.length - 1, Math.max(0, cells.indexOf(cell) + step))];
  });
  const what = games.length < known.figures.games ? `The last ${count(games.length)} games` : "One square per game";
  return el(
    "div",
    el("p.hint", `${what}, in order: 1 = ${name(first)} won (arrow keys move).`),
    el("div.game-strip", { role: "group", "aria-label": "The games in their order" }, cells),
  );
}

/**
 * Two bots that only played each other: one score says it all.
 *
 * @param {Pick<Figures, "places" | "columns">} figures
 */
export const isDuel = ({ places, columns }) =>
  places.length === 2 && places[1].table === 1 && !columns.some(([key]) => ["moved", "reached", "byes"].includes(key));

/** @param {Place[]} places */
function duel(places) {
  const [first, second] = places;
  /**
   * The two ratings are opposite numbers: their difference is twice each.
   *
   * @param {number | null} end
   */
  const twice = (end) => (end === null ? null : 2 * end);
  const range = interval({ elo_low: twice(first.elo_low), elo_high: twice(first.elo_high) });
  const apart =
    range === null || first.los === null ? "" : ` · ${signed(first.elo - second.elo)} Elo (95% CI ${range})`;
  /** @param {Place} place */
  const side = (place) => el("span", link(botHash(place.bot), el("span.name", name(place.bot))));
  return card(
    known.head.live ? "So far" : "Result",
    null,
    el("p.big-score", side(first), el("strong", `${half(first.points)} : ${half(second.points)}`), side(second)),
    record(first.wins, first.draws, first.losses),
    el("p.middle", `${recordText(first.wins, first.draws, first.losses).join(" · ")} of ${name(first.bot)}`),
    el("p", first.los === null ? certainty(first, second) : `${name(first.bot)}: ${certainty(first, second)}${apart}`),
    earlyHint(known.figures),
    known.unread ? null : strip(first.bot),
  );
}

/**
 * Who won, and how surely; nothing for a single game.
 *
 * @param {Figures} figures
 */
export function resultCard(figures) {
  const places = figures.places;
  // The games of one bot do not say who is the first of all.
  if (figures.games < 2 || places.length < 2 || known.head.own) return null;
  if (isDuel(figures)) return duel(places);
  const found = leaders(figures);
  // The bots cannot be compared.
  if (found === null) return earlyHint(figures);
  const { title, firsts, text, next } = found;
  /**
   * @param {string} title
   * @param {Child} names
   * @param {string} [text]
   */
  const row = (title, names, text) =>
    el("div", el("dt", title), el("dd", names, text ? [" ", el("small", text)] : null));
  const sure = next && isRated() ? certainty(places[0], places[1]) : "";
  return el(
    "section.card",
    { "aria-labelledby": "card-result" },
    el("h2.unseen", { id: "card-result" }, known.head.live ? "So far" : "Result"),
    el(
      "dl.winners-list",
      row(title, nameList(firsts, true), [text, sure].filter(Boolean).join(" · ")),
      next ? row(next.title, nameList([next.place], true)) : null,
    ),
    title === "Challenger" ? opponentBars(firsts[0].bot, { all: false }) : null,
    earlyHint(figures),
  );
}
