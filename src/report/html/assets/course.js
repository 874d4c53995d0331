// How a tournament goes: the bracket of a knockout, the tables of groups, the rounds of a Swiss tournament.

import { card, count, counted, el, folded, half, keepingFocus, link, scrolled } from "./dom.js";
import { botHash, known } from "./data.js";

// A Swiss tournament of more rounds shows the last one, and the others on request.
const openRounds = { choices: new Map() };

// Rounds of a bracket with more places are shown on request, when all of it is decided; of a round with more meetings the
// first ones.
const TALL = 16;
const MEETINGS = 30;
const wholeBracket = { all: false };
const wholeRounds = new Map();

export const course = () => known.figures.course ?? null;

// A bot of the tournament; before its first game it has no page.
function entrant(index) {
  const [title, page] = course().bots[index] ?? ["?", null];
  const shown = el("span", { class: "name" }, title);
  return page === null ? shown : link(botHash(page), shown);
}

const entrantName = (index) => course().bots[index]?.[0] ?? "?";

// A meeting as an object; `total` is the number of its games.
function meetingOf({ bots, half_points, games, pairs: [first, last], winner }) {
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
function roundName(places) {
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
      el("div", { class: "winner" }, champion === null ? "not decided yet" : entrant(champion))));
  const hint = course().pairs > 0 ? `In each match the two play ${counted(2 * course().pairs, "game")}; the winner, in bold, advances. The small number before a name is its seed.` : null;
  const box = el("div", {});
  const draw = () => box.replaceChildren(...(wholeBracket.all || early <= 0 ? [scrolled(bracketOf(rounds), "Bracket")] : [
    scrolled(bracketOf(rounds.slice(early)), "Bracket"),
    el("button", { type: "button", class: "all", "data-keep": "bracket-all", onclick: () => { wholeBracket.all = true; keepingFocus(box, draw); } }, `Show all ${rounds.length} rounds`),
  ]));
  draw();
  return card("Bracket", hint, box);
}

export function groupsCard() {
  const groups = course()?.groups ?? [];
  if (groups.length === 0) return null;
  const title = (index) => `Group ${index < 26 ? String.fromCharCode(65 + index) : index + 1}`;
  return card("Groups", "Everybody in a group meets everybody else in it; the first two of each advance to the bracket.",
    el("div", { class: "groups" }, ...groups.map((table, index) => el("div", {}, el("h3", {}, title(index)),
      scrolled(el("table", {}, el("caption", { class: "unseen" }, title(index)),
        el("thead", {}, el("tr", {}, ...["#", "bot", "games", "points", ""].map((head, column) =>
          (head ? el("th", { scope: "col", class: column === 1 ? "text" : "number" }, head) : el("td", {}))))),
        el("tbody", {}, ...table.map(({ bot, half_points, games, advances }, place) => el("tr", { class: advances ? "through" : null },
          el("td", { class: "rank" }, String(place + 1)), el("th", { scope: "row", class: "text" }, entrant(bot)),
          el("td", { class: "number" }, count(games)), el("td", { class: "number" }, half(half_points / 2)),
          el("td", { class: "text" }, advances ? "advances" : ""))))), title(index))))));
}

function swissMeeting(packed) {
  const meeting = meetingOf(packed);
  const ahead = meeting.games === meeting.total ? Math.sign(meeting.points[0] - meeting.points[1]) : 0;
  const named = (side, sign) => (ahead === sign ? el("strong", {}, entrant(meeting.bots[side])) : entrant(meeting.bots[side]));
  return el("tr", {}, el("td", { class: "text" }, named(0, 1)),
    el("td", { class: "score" }, meeting.games === 0 ? "–" : `${half(meeting.points[0])} : ${half(meeting.points[1])}`),
    el("td", { class: "text" }, named(1, -1)),
    el("td", { class: "number" }, gamesOfMeeting(meeting)));
}

export function roundsCard() {
  const rounds = course()?.rounds ?? [];
  if (rounds.length === 0) return null;
  const planned = course().rounds_planned;
  return card("Rounds", "In every round bots with about equal points meet. Whoever has no opponent has a bye, which counts as a win of all its games.",
    ...rounds.map(({ meetings, byes }, index) => {
      const isOpen = openRounds.choices.get(index) ?? (rounds.length <= 3 || index === rounds.length - 1);
      const title = `Round ${index + 1} of ${planned}`;
      if (!wholeRounds.has(index)) wholeRounds.set(index, {});
      const kept = wholeRounds.get(index);
      return el("details", { open: isOpen, class: "round", ontoggle: (event) => openRounds.choices.set(index, event.target.open) },
        el("summary", { "data-keep": `round-${index}` }, title),
        folded(meetings.map(swissMeeting), MEETINGS, kept, (rows) => scrolled(el("table", { class: "pairings" }, el("caption", { class: "unseen" }, title),
          el("thead", { class: "unseen" }, el("tr", {}, ...["bot", "points", "opponent", "games"].map((head) => el("th", { scope: "col" }, head)))),
          el("tbody", {}, ...rows)), title)),
        ...byes.map((bye) => el("p", { class: "byes" }, entrant(bye), " has a bye")));
    }));
}
