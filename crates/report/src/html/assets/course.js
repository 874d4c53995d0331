// How a tournament goes: the bracket of a knockout, the tables of groups, the rounds of a Swiss tournament.

import { shade } from "./charts.js";
import { botHash } from "./data.js";
import { button, card, count, counted, el, folded, half, keepingFocus, link, named, refill, scrolled } from "./dom.js";
import { known, reader } from "./state.js";
import { cellOf, columnHead, plainTable, rowHead } from "./tables.js";

// Rounds of a bracket with more places are shown on request, when all of it is decided; of a table of rounds with
// more bots the first ones.
const TALL = 16;
const FIRST_BOTS = 60;

export const course = () => known.figures.course ?? null;

// The same, for parts that only a tournament has.
const tournament = () => /** @type {Course} */ (course());

/** @param {number} index */
export const entrantName = (index) => tournament().bots[index]?.[0] ?? "?";

/**
 * Before its first game a bot of the tournament has no page.
 *
 * @param {number} index
 */
const pageOf = (index) => tournament().bots[index]?.[1] ?? null;

/**
 * @param {number} index
 * @param {Child} [shown]
 */
function entrant(index, shown = named(entrantName(index))) {
  const page = pageOf(index);
  return page === null ? shown : link(botHash(page), shown);
}

/**
 * A meeting as an object; `total` is the number of its games, `extra` what followed a tied match: points, games and the
 * numbers of the pairs, between which are those of other matches.
 *
 * @param {PackedMeeting} meeting
 * @returns {Meeting}
 */
export function meetingOf({ bots, half_points, games, pairs: [first, last], tie_break: more, winner }) {
  const [side, why] = winner ?? [-1, ""];
  const extra = more
    ? { points: more.half_points.map((points) => points / 2), games: more.games, pairs: more.pairs }
    : null;
  return {
    bots,
    points: half_points.map((points) => points / 2),
    games,
    total: 2 * (last + 1 - first),
    first,
    last,
    extra,
    side,
    why,
  };
}

/**
 * Whether a pair of games belongs to a meeting, as it is in the data.
 *
 * @param {Pick<PackedMeeting, "pairs" | "tie_break">} meeting
 * @param {number} pair
 */
export const hasPair = ({ pairs: [first, last], tie_break: more }, pair) =>
  (pair >= first && pair <= last) || Boolean(more?.pairs.includes(pair));

/**
 * A link to the games of a meeting; the content alone where a bot has no page.
 *
 * @param {Pick<Meeting, "bots" | "games" | "first" | "last" | "extra">} meeting
 * @param {Attributes} label
 * @param {Child} content
 */
function meetingLink({ bots, games, first, last, extra }, label, content) {
  const [a, b] = bots.map(pageOf);
  if (a === null || b === null || games === 0) return content;
  return el(
    "a",
    { href: `#games&of=${a + 1}&against=${b + 1}&pairs=${first}-${extra?.pairs.at(-1) ?? last}`, ...label },
    content,
  );
}

/** @param {Meeting} meeting */
function gamesOfMeeting(meeting) {
  if (meeting.games === 0) return "not played yet";
  const text =
    meeting.games < meeting.total
      ? `${count(meeting.games)} of ${counted(meeting.total, "game")}`
      : counted(meeting.games, "game");
  return meetingLink(meeting, { "aria-label": `${text} of ${meeting.bots.map(entrantName).join(" against ")}` }, text);
}

/**
 * What a round is called, by the number of its places.
 *
 * @param {number} places
 */
export const roundName = (places) => ROUNDS.get(places) ?? `Round of ${2 * places}`;

const ROUNDS = new Map([
  [1, "Final"],
  [2, "Semi-finals"],
  [4, "Quarter-finals"],
]);

/**
 * @param {BracketPlace} place
 * @param {number} side
 */
function bracketSide(place, side) {
  const bot = place.bots[side];
  if (bot === null) return place.bye ? null : el("div.entrant.open", el("span", "not known yet"));
  const meeting = place.meeting && meetingOf(place.meeting);
  const at = meeting ? meeting.bots.indexOf(bot) : -1;
  const has = meeting !== null && meeting.side >= 0 && meeting.side === at;
  const seed = tournament().seeds.indexOf(bot) + 1;
  return el(
    has ? "div.entrant.through" : "div.entrant",
    el("small", { title: `seed ${seed}` }, el("span.unseen", "seed "), seed),
    entrant(bot),
    el(
      "span.points",
      meeting !== null && meeting.games > 0 && half(meeting.points[at]),
      has && el("span.unseen", ", advances"),
    ),
  );
}

/**
 * The score of the games that followed a tied match, that of the winner first.
 *
 * @param {NonNullable<Meeting["extra"]>} extra
 * @param {number} side
 */
export function extraScore(extra, side) {
  const [own, other] = side === 1 ? [1, 0] : [0, 1];
  return [`${half(extra.points[own])}–${half(extra.points[other])}`, counted(extra.games, "tie-break game")];
}

/**
 * What followed a tied match, and how it was decided.
 *
 * @param {Meeting} meeting
 */
function decided(meeting) {
  const { extra, points, side, why } = meeting;
  if (!extra?.games) return why && `, decided ${why}`;
  const [score, games] = extraScore(extra, side);
  const tied = `, ${half(points[0])}–${half(points[1])}`;
  if (side < 0) return `${tied}, ${score} in ${games} so far`;
  return extra.points[0] === extra.points[1]
    ? `${tied} and ${score} in ${games}, decided ${why}`
    : `${tied}, won ${score} in ${games}`;
}

/** @param {BracketPlace} place */
function bracketPlace(place) {
  const meeting = place.meeting && meetingOf(place.meeting);
  return el(
    place.bye ? "li.place.bye" : "li.place",
    el(
      "div.meeting",
      bracketSide(place, 0),
      bracketSide(place, 1),
      place.bye && el("small.note", "has a bye"),
      meeting && el("small.note", gamesOfMeeting(meeting), decided(meeting)),
    ),
  );
}

export function bracketCard() {
  const rounds = course()?.bracket ?? [];
  if (rounds.length === 0) return null;
  const { champion, silent, pairs } = tournament();
  /** @param {BracketPlace} place */
  const isDecided = (place) => place.bye || (place.meeting && meetingOf(place.meeting).side >= 0);
  const early = rounds.findIndex((places) => places.length <= TALL || !places.every(isDecided));
  /** @param {BracketPlace[][]} rounds */
  const bracketOf = (rounds) =>
    scrolled(
      el(
        "div.bracket",
        rounds.map((places) =>
          el(
            "section",
            { "aria-label": roundName(places.length) },
            el("h3", roundName(places.length)),
            el("ol", places.map(bracketPlace)),
          ),
        ),
        el(
          "section.last",
          { "aria-label": "Champion" },
          el("h3", "Champion"),
          el(
            "div.winner",
            champion === null
              ? "not decided yet"
              : silent.includes(champion)
                ? "no winner"
                : entrant(champion, el("span.name", entrantName(champion))),
          ),
        ),
      ),
      "Bracket",
    );
  const hint =
    pairs > 0 &&
    `In each match the two play ${counted(2 * pairs, "game")}; the winner, in bold, advances. ` +
      "The small number before a name is its seed.";
  const box = el("div");
  const draw = () =>
    reader.bracket.all || early <= 0
      ? refill(box, bracketOf(rounds))
      : refill(
          box,
          bracketOf(rounds.slice(early)),
          button(
            `Show all ${rounds.length} rounds`,
            () => {
              reader.bracket.all = true;
              keepingFocus(box, draw);
            },
            { class: "all", "data-keep": "bracket-all" },
          ),
        );
  draw();
  return card("Bracket", hint, box);
}

/** @param {number} index */
export const groupName = (index) => `Group ${index < 26 ? String.fromCharCode(65 + index) : index + 1}`;

export function groupsCard() {
  const groups = course()?.groups ?? [];
  if (groups.length === 0) return null;
  return card(
    "Groups",
    "Round robin in each group; the top 2 advance to the bracket.",
    el(
      "div.groups",
      groups.map((table, index) =>
        el(
          "div",
          el("h3", groupName(index)),
          scrolled(
            plainTable(
              null,
              groupName(index),
              [
                columnHead("number", "#"),
                columnHead("text", "bot"),
                columnHead("number", "games"),
                columnHead("number", "points"),
                el("td"),
              ],
              table.map(({ bot, half_points, games, advances }, place) =>
                el(
                  "tr",
                  { class: advances && "through" },
                  el("td.rank", place + 1),
                  rowHead(entrant(bot)),
                  cellOf(count(games)),
                  cellOf(half(half_points / 2)),
                  el("td.text", advances && "advances"),
                ),
              ),
            ),
            groupName(index),
          ),
        ),
      ),
    ),
  );
}

/**
 * What a bot did in a round: against whom, its points, and all of its points after that; null for nothing.
 *
 * @param {Course["rounds"][number]} round
 * @param {number} bot
 * @param {number} before
 */
function resultIn({ meetings, byes }, bot, before) {
  const packed = meetings.find(({ bots }) => bots.includes(bot));
  if (!packed) {
    const [, halves] = byes.find(([of]) => of === bot) ?? [];
    return halves === undefined ? null : { points: halves / 2, sum: before + halves / 2, met: null };
  }
  const meeting = meetingOf(packed);
  const side = meeting.bots.indexOf(bot);
  const points = meeting.points[side];
  return { points, sum: before + points, met: { ...meeting, against: meeting.bots[1 - side] } };
}

// A Swiss tournament: a row for each bot in the order of the standings, a column for each round.
export function roundsCard() {
  const rounds = course()?.rounds ?? [];
  if (rounds.length === 0) return null;
  const placed = known.figures.places
    .map(({ bot }) => tournament().bots.findIndex(([, page]) => page === bot))
    .filter((index) => index >= 0);
  const order = [
    ...placed,
    ...tournament()
      .bots.map((_, index) => index)
      .filter((index) => !placed.includes(index)),
  ];
  const numberOf = new Map(order.map((index, at) => [index, at + 1]));
  /**
   * @param {number} bot
   * @param {ReturnType<typeof resultIn>} found
   */
  const cell = (bot, found) => {
    if (!found) return el("td.never", "·");
    /**
     * @param {string} text
     * @param {string} [hint]
     */
    const below = (text, hint) =>
      el("small", { title: hint }, `${text} · `, el("span.unseen", "running score "), half(found.sum));
    const { points, met } = found;
    if (met === null) return el("td", el("strong", half(points)), below(points ? "bye" : "benched"));
    const text = `${half(points)} of ${counted(met.games, "point")} against ${entrantName(met.against)}`;
    return el(
      "td",
      { class: met.games > 0 && `heat ${shade(points / met.games)}` },
      meetingLink(
        { ...met, bots: [bot, met.against] },
        { title: text, "aria-label": text },
        el("strong", met.games === 0 ? "–" : half(points)),
      ),
      below(`v ${numberOf.get(met.against)}`, entrantName(met.against)),
    );
  };
  /** @param {number} bot */
  const row = (bot) => {
    let sum = 0;
    return el(
      "tr",
      rowHead(el("span.rank", `${numberOf.get(bot)} `), entrant(bot)),
      rounds.map((round) => {
        const found = resultIn(round, bot, sum);
        sum = found?.sum ?? sum;
        return cell(bot, found);
      }),
    );
  };
  const heads = [columnHead("text", "bot"), rounds.map((_, index) => columnHead(null, `Round ${index + 1}`))];
  return card(
    "Rounds",
    "In every round bots with similar scores meet. Each cell: points, opponent (v and its number), running score. " +
      "A bye counts as a win of all its games.",
    folded(order, FIRST_BOTS, reader.rounds, (shown) =>
      scrolled(
        plainTable("cross swiss", `Rounds, ${rounds.length} of ${tournament().rounds_planned}`, heads, shown.map(row)),
        "Rounds",
      ),
    ),
  );
}
