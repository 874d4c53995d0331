// How a tournament goes: the bracket of a knockout, the tables of groups, the rounds of a Swiss tournament.

import { button, card, count, counted, el, folded, half, keepingFocus, link, named, refill, scrolled } from "./dom.js";
import { botHash, known, title } from "./data.js";
import { cellOf, columnHead, plainTable, rowHead } from "./tables.js";
import { shade } from "./charts.js";

// Rounds of a bracket with more places are shown on request, when all of it is decided; of a table of rounds with more bots
// the first ones.
const TALL = 16;
const FIRST_BOTS = 60;
const wholeBracket = { all: false };
const wholeRounds = {};

export const course = () => known.figures.course ?? null;

export const entrantName = (index) => title(course().bots[index]?.[0] ?? "?");

// Before its first game a bot of the tournament has no page.
const pageOf = (index) => course().bots[index]?.[1] ?? null;

const entrant = (index, shown = named(entrantName(index))) => (pageOf(index) === null ? shown : link(botHash(pageOf(index)), shown));

// A meeting as an object; `total` is the number of its games.
export function meetingOf({ bots, half_points, games, pairs: [first, last], winner }) {
  const [side, why] = winner ?? [-1, ""];
  return { bots, points: half_points.map((points) => points / 2), games, total: 2 * (last + 1 - first), first, last, side, why };
}

// A link to the games of a meeting; the content alone where a bot has no page.
function meetingLink({ bots, games, first, last }, label, content) {
  const [a, b] = bots.map(pageOf);
  if (a === null || b === null || games === 0) return content;
  return el("a", { href: `#games&of=${a + 1}&against=${b + 1}&pairs=${first}-${last}`, ...label }, content);
}

function gamesOfMeeting(meeting) {
  if (meeting.games === 0) return "not played yet";
  const text = meeting.games < meeting.total ? `${count(meeting.games)} of ${counted(meeting.total, "game")}` : counted(meeting.games, "game");
  return meetingLink(meeting, { "aria-label": `${text} of ${meeting.bots.map(entrantName).join(" against ")}` }, text);
}

// What a round is called, by the number of its places.
export const roundName = (places) => ({ 1: "Final", 2: "Semi-finals", 4: "Quarter-finals" })[places] ?? `Round of ${2 * places}`;

function bracketSide(place, side) {
  const bot = place.bots[side];
  if (bot === null) return place.bye ? null : el("div.entrant.open", el("span", "not known yet"));
  const meeting = place.meeting && meetingOf(place.meeting);
  const at = meeting?.bots.indexOf(bot);
  const has = meeting?.side >= 0 && meeting.side === at;
  const seed = course().seeds.indexOf(bot) + 1;
  return el(has ? "div.entrant.through" : "div.entrant",
    el("small", { title: `seed ${seed}` }, el("span.unseen", "seed "), seed), entrant(bot),
    el("span.points", meeting?.games > 0 && half(meeting.points[at]), has && el("span.unseen", ", advances")));
}

function bracketPlace(place) {
  const meeting = place.meeting && meetingOf(place.meeting);
  return el(place.bye ? "li.place.bye" : "li.place", el("div.meeting", bracketSide(place, 0), bracketSide(place, 1),
    place.bye && el("small.note", "has a bye"),
    meeting && el("small.note", gamesOfMeeting(meeting), meeting.why && `, decided ${meeting.why}`)));
}

export function bracketCard() {
  const rounds = course()?.bracket ?? [];
  if (rounds.length === 0) return null;
  const champion = course().champion;
  const isDecided = (place) => place.bye || (place.meeting && meetingOf(place.meeting).side >= 0);
  const early = rounds.findIndex((places) => places.length <= TALL || !places.every(isDecided));
  const bracketOf = (rounds) => scrolled(el("div.bracket",
    rounds.map((places) => el("section", { "aria-label": roundName(places.length) }, el("h3", roundName(places.length)), el("ol", places.map(bracketPlace)))),
    el("section.last", { "aria-label": "Champion" }, el("h3", "Champion"),
      el("div.winner", champion === null ? "not decided yet" : entrant(champion, el("span.name", entrantName(champion)))))), "Bracket");
  const hint = course().pairs > 0 && `In each match the two play ${counted(2 * course().pairs, "game")}; the winner, in bold, advances. The small number before a name is its seed.`;
  const box = el("div");
  const draw = () => (wholeBracket.all || early <= 0 ? refill(box, bracketOf(rounds)) : refill(box, bracketOf(rounds.slice(early)),
    button(`Show all ${rounds.length} rounds`, () => { wholeBracket.all = true; keepingFocus(box, draw); }, { class: "all", "data-keep": "bracket-all" })));
  draw();
  return card("Bracket", hint, box);
}

export const groupName = (index) => `Group ${index < 26 ? String.fromCharCode(65 + index) : index + 1}`;

export function groupsCard() {
  const groups = course()?.groups ?? [];
  if (groups.length === 0) return null;
  return card("Groups", "Round robin in each group; the top 2 advance to the bracket.",
    el("div.groups", groups.map((table, index) => el("div", el("h3", groupName(index)), scrolled(plainTable(null, groupName(index),
      [columnHead("number", "#"), columnHead("text", "bot"), columnHead("number", "games"), columnHead("number", "points"), el("td")],
      table.map(({ bot, half_points, games, advances }, place) => el("tr", { class: advances && "through" },
        el("td.rank", place + 1), rowHead(entrant(bot)), cellOf(count(games)), cellOf(half(half_points / 2)), el("td.text", advances && "advances")))), groupName(index))))));
}

// What a bot did in a round: against whom, its points, and all of its points after that; null for nothing.
function resultIn({ meetings, byes }, bot, before) {
  const packed = meetings.find(({ bots }) => bots.includes(bot));
  if (!packed) return byes.includes(bot) ? { points: 2 * course().pairs, sum: before + 2 * course().pairs } : null;
  const meeting = meetingOf(packed);
  const side = meeting.bots.indexOf(bot);
  const points = meeting.points[side];
  return { ...meeting, against: meeting.bots[1 - side], points, sum: before + points };
}

// A Swiss tournament: a row for each bot in the order of the standings, a column for each round.
export function roundsCard() {
  const rounds = course()?.rounds ?? [];
  if (rounds.length === 0) return null;
  const placed = known.figures.places.map(({ bot }) => course().bots.findIndex(([, page]) => page === bot)).filter((index) => index >= 0);
  const order = [...placed, ...course().bots.map((_, index) => index).filter((index) => !placed.includes(index))];
  const numberOf = new Map(order.map((index, at) => [index, at + 1]));
  const cell = (bot, found) => {
    if (!found) return el("td.never", "·");
    const below = (text, hint) => el("small", { title: hint }, `${text} · `, el("span.unseen", "running score "), half(found.sum));
    if (found.against === undefined) return el("td", el("strong", half(found.points)), below("bye"));
    const text = `${half(found.points)} of ${counted(found.games, "point")} against ${entrantName(found.against)}`;
    return el("td", { class: found.games > 0 && `heat ${shade(found.points / found.games)}` },
      meetingLink({ ...found, bots: [bot, found.against] }, { title: text, "aria-label": text }, el("strong", found.games === 0 ? "–" : half(found.points))),
      below(`v ${numberOf.get(found.against)}`, entrantName(found.against)));
  };
  const row = (bot) => {
    let sum = 0;
    return el("tr", rowHead(el("span.rank", `${numberOf.get(bot)} `), entrant(bot)), rounds.map((round) => {
      const found = resultIn(round, bot, sum);
      sum = found?.sum ?? sum;
      return cell(bot, found);
    }));
  };
  const heads = [columnHead("text", "bot"), rounds.map((_, index) => columnHead(null, `Round ${index + 1}`))];
  return card("Rounds", "In every round bots with similar scores meet. Each cell: points, opponent (v and its number), running score. A bye counts as a win of all its games.",
    folded(order, FIRST_BOTS, wholeRounds, (shown) => scrolled(plainTable("cross swiss", `Rounds, ${rounds.length} of ${course().rounds_planned}`, heads, shown.map(row)), "Rounds")));
}
