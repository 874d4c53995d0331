// How a tournament goes: the bracket of a knockout, the tables of groups, the rounds of a Swiss tournament.

import { card, count, counted, el, folded, half, keepingFocus, link, named, scrolled } from "./dom.js";
import { botHash, known, title } from "./data.js";
import { shade } from "./charts.js";

// Rounds of a bracket with more places are shown on request, when all of it is decided; of a table of rounds with more bots
// the first ones.
const TALL = 16;
const FIRST_BOTS = 60;
const wholeBracket = { all: false };
const wholeRounds = {};

export const course = () => known.figures.course ?? null;

export const entrantName = (index) => title(course().bots[index]?.[0] ?? "?");

// A bot of the tournament; before its first game it has no page.
function entrant(index, shown = named(entrantName(index))) {
  const page = course().bots[index]?.[1] ?? null;
  return page === null ? shown : link(botHash(page), shown);
}

// A meeting as an object; `total` is the number of its games.
export function meetingOf({ bots, half_points, games, pairs: [first, last], winner }) {
  const [side, why] = winner ?? [-1, ""];
  return { bots, points: half_points.map((points) => points / 2), games, total: 2 * (last + 1 - first), first, last, side, why };
}

function gamesOfMeeting(meeting) {
  if (meeting.games === 0) return "not played yet";
  const [a, b] = meeting.bots.map((bot) => course().bots[bot]?.[1] ?? null);
  const text = meeting.games < meeting.total ? `${count(meeting.games)} of ${counted(meeting.total, "game")}` : counted(meeting.games, "game");
  if (a === null || b === null) return text;
  const titles = meeting.bots.map(entrantName).join(" against ");
  return el("a", { href: `#games&of=${a + 1}&against=${b + 1}&pairs=${meeting.first}-${meeting.last}`, "aria-label": `${text} of ${titles}` }, text);
}

// What a round is called, by the number of its places.
export function roundName(places) {
  return { 1: "Final", 2: "Semi-finals", 4: "Quarter-finals" }[places] ?? `Round of ${2 * places}`;
}

function bracketSide(place, side) {
  const bot = place.bots[side];
  if (bot === null) return place.bye ? null : el("div", { class: "entrant open" }, el("span", {}, "not known yet"));
  const meeting = place.meeting && meetingOf(place.meeting);
  const has = meeting?.side === meeting?.bots.indexOf(bot) && meeting?.side >= 0;
  const points = meeting && meeting.games > 0 ? half(meeting.points[meeting.bots.indexOf(bot)]) : "";
  const seed = course().seeds.indexOf(bot) + 1;
  return el("div", { class: has ? "entrant through" : "entrant" },
    el("small", { title: `seed ${seed}` }, el("span", { class: "unseen" }, "seed "), String(seed)), entrant(bot),
    el("span", { class: "points" }, points, has ? el("span", { class: "unseen" }, ", advances") : null));
}

function bracketPlace(place) {
  const meeting = place.meeting && meetingOf(place.meeting);
  return el("li", { class: place.bye ? "place bye" : "place" },
    el("div", { class: "meeting" }, bracketSide(place, 0), bracketSide(place, 1),
      place.bye ? el("small", { class: "note" }, "has a bye") : null,
      meeting ? el("small", { class: "note" }, gamesOfMeeting(meeting), meeting.why ? `, decided ${meeting.why}` : null) : null));
}

export function bracketCard() {
  const rounds = course()?.bracket ?? [];
  if (rounds.length === 0) return null;
  const champion = course().champion;
  const isDecided = (place) => place.bye || (place.meeting && meetingOf(place.meeting).side >= 0);
  const early = rounds.findIndex((places) => places.length <= TALL || !places.every(isDecided));
  const bracketOf = (rounds) => el("div", { class: "bracket" },
    ...rounds.map((places) => el("section", { "aria-label": roundName(places.length) },
      el("h3", {}, roundName(places.length)), el("ol", {}, ...places.map(bracketPlace)))),
    el("section", { class: "last", "aria-label": "Champion" }, el("h3", {}, "Champion"),
      el("div", { class: "winner" }, champion === null ? "not decided yet" : entrant(champion, el("span", { class: "name" }, entrantName(champion))))));
  const hint = course().pairs > 0 ? `In each match the two play ${counted(2 * course().pairs, "game")}; the winner, in bold, advances. The small number before a name is its seed.` : null;
  const box = el("div", {});
  const draw = () => box.replaceChildren(...(wholeBracket.all || early <= 0 ? [scrolled(bracketOf(rounds), "Bracket")] : [
    scrolled(bracketOf(rounds.slice(early)), "Bracket"),
    el("button", { type: "button", class: "all", "data-keep": "bracket-all", onclick: () => { wholeBracket.all = true; keepingFocus(box, draw); } }, `Show all ${rounds.length} rounds`),
  ]));
  draw();
  return card("Bracket", hint, box);
}

export const groupName = (index) => `Group ${index < 26 ? String.fromCharCode(65 + index) : index + 1}`;

export function groupsCard() {
  const groups = course()?.groups ?? [];
  if (groups.length === 0) return null;
  return card("Groups", "Round robin in each group; the top 2 advance to the bracket.",
    el("div", { class: "groups" }, ...groups.map((table, index) => el("div", {}, el("h3", {}, groupName(index)),
      scrolled(el("table", {}, el("caption", { class: "unseen" }, groupName(index)),
        el("thead", {}, el("tr", {}, ...["#", "bot", "games", "points", ""].map((head, column) =>
          (head ? el("th", { scope: "col", class: column === 1 ? "text" : "number" }, head) : el("td", {}))))),
        el("tbody", {}, ...table.map(({ bot, half_points, games, advances }, place) => el("tr", { class: advances ? "through" : null },
          el("td", { class: "rank" }, String(place + 1)), el("th", { scope: "row", class: "text" }, entrant(bot)),
          el("td", { class: "number" }, count(games)), el("td", { class: "number" }, half(half_points / 2)),
          el("td", { class: "text" }, advances ? "advances" : ""))))), groupName(index))))));
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
  const cell = (found) => {
    if (!found) return el("td", { class: "never" }, "·");
    const below = (text, hint) => el("small", { title: hint }, `${text} · `, el("span", { class: "unseen" }, "running score "), half(found.sum));
    if (found.against === undefined) return el("td", {}, el("strong", {}, half(found.points)), below("bye"));
    const [a, b] = [found.bots.find((bot) => bot !== found.against), found.against].map((bot) => course().bots[bot]?.[1] ?? null);
    const text = `${half(found.points)} of ${counted(found.games, "point")} against ${entrantName(found.against)}`;
    const points = found.games === 0 ? "–" : half(found.points);
    return el("td", { class: found.games ? `heat ${shade(found.points / found.games)}` : null },
      a === null || b === null || !found.games ? el("strong", {}, points) : el("a", { href: `#games&of=${a + 1}&against=${b + 1}&pairs=${found.first}-${found.last}`, title: text, "aria-label": text }, el("strong", {}, points)),
      below(`v ${numberOf.get(found.against)}`, entrantName(found.against)));
  };
  const row = (bot) => {
    let sum = 0;
    return el("tr", {}, el("th", { scope: "row", class: "text" }, el("span", { class: "rank" }, `${numberOf.get(bot)} `), entrant(bot)),
      ...rounds.map((round) => { const found = resultIn(round, bot, sum); sum = found?.sum ?? sum; return cell(found); }));
  };
  return card("Rounds", "In every round bots with similar scores meet. Each cell: points, opponent (v and its number), running score. A bye counts as a win of all its games.",
    folded(order, FIRST_BOTS, wholeRounds, (shown) => scrolled(el("table", { class: "cross swiss" }, el("caption", { class: "unseen" }, `Rounds, ${rounds.length} of ${course().rounds_planned}`),
      el("thead", {}, el("tr", {}, el("th", { scope: "col", class: "text" }, "bot"), ...rounds.map((_, index) => el("th", { scope: "col" }, `Round ${index + 1}`)))),
      el("tbody", {}, ...shown.map(row))), "Rounds")));
}
