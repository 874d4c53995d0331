// The view of a bot: its results, worst losses, and faults with their causes.

import { answerTimes, opponentBars, ratingHistory, recordKey } from "./charts.js";
import {
  absent,
  bot,
  forfeitsHash,
  gameHash,
  gamesOf,
  interval,
  isRated,
  name,
  other,
  place,
  points,
  pointsText,
  story,
  unpacked,
} from "./data.js";
import {
  capitalised,
  card,
  count,
  counted,
  el,
  highlight,
  link,
  own,
  percent,
  pre,
  prose,
  refill,
  shellWord,
  signed,
  time,
} from "./dom.js";
import { gameList } from "./games.js";
import { gaveAway, judgedTurns, phaseTable, told, worstMistake } from "./mistakes.js";
import { seatBars } from "./overview.js";
import { gameOptions, isBuiltin, statesOf } from "./rules.js";
import { known, reader } from "./state.js";
import { calibrationCard } from "./thoughts.js";

const MISTAKES = ["blunder", "missed-win"];
const SHOWN_FAULTS = 5;

// An answer is near its limit from this part of it on.
const NEAR = 10;

const SHOWN_LOSSES = 5;

/**
 * Losses on the board: against the weakest opponents first, then the quickest.
 *
 * @param {number} index
 * @param {GameSummary[]} games
 */
function worstLosses(index, games) {
  const elo = new Map(known.figures.places.map((p) => [p.bot, p.elo]));
  const lost = games
    .filter((game) => game.loser === index && !game.forfeit)
    .sort((a, b) => (elo.get(a.winner) ?? 0) - (elo.get(b.winner) ?? 0) || a.length - b.length);
  if (lost.length === 0) return null;
  const mine = elo.get(index) ?? 0;
  return card(
    "Worst losses",
    "Against the weakest opponents first, then the quickest.",
    el(
      "ul.highlights",
      lost.slice(0, SHOWN_LOSSES).map((game) => {
        const gap = Math.round((elo.get(game.winner) ?? 0) - mine);
        return highlight(
          gameHash(game.number, game.length),
          `Game ${game.number}`,
          story(game, game.lines),
          counted(game.length, "turn") +
            (gap && isRated() && !known.head.own ? `, ${Math.abs(gap)} Elo ${gap < 0 ? "weaker" : "stronger"}` : ""),
        );
      }),
    ),
  );
}

/**
 * What a bot sent, unchanged; "nothing" when it sent nothing.
 *
 * @param {string} text
 */
const answer = (text) => (text ? el("code.answer", text) : el("em", "nothing"));

/**
 * The last request to a bot, as the protocol writes it.
 *
 * @param {Game} game
 */
function lastRequest(game) {
  const states = statesOf(game);
  if (states.length !== game.turns.length + 1) return null;
  return el("p", el("span.label", "Request "), el("code", states[states.length - 1].request));
}

/**
 * @param {Game} game
 * @param {Child} where
 */
export function faultCard(game, where) {
  const fault = game.fault;
  if (fault === null) return null;
  return el(
    "article.fault",
    el("header", el("span.badge.blame", game.reason), where),
    lastRequest(game),
    el("p", el("span.label", "Sent "), answer(fault.answer)),
    fault.detail && el("p.sentence", prose(capitalised(fault.detail))),
    fault.again && el("div", el("span.label", "Reproduce"), pre(fault.again)),
    fault.stderr && el("details", el("summary", "The end of its stderr"), pre(fault.stderr)),
  );
}

/**
 * @param {number} index
 * @param {GameSummary[]} games
 */
function faults(index, games) {
  const forfeited = games.filter((game) => game.forfeit && game.loser === index);
  if (forfeited.length === 0) return null;
  /** @type {Map<string, GameSummary[]>} */
  const reasons = new Map();
  for (const game of forfeited) reasons.set(game.reason, [...(reasons.get(game.reason) ?? []), game]);
  const list = el("div.faults");
  let shown = SHOWN_FAULTS;
  // One fault of each reason comes first, so that many timeouts do not hide a crash.
  const firsts = [...reasons.values()].map((games) => games[0]);
  const order = [...firsts, ...forfeited.filter((game) => !firsts.includes(game))];
  const more = el("button", {
    type: "button",
    onclick: () => {
      const next = shown;
      shown += 20;
      draw();
      if (more.hidden) list.children[next]?.querySelector("a")?.focus();
    },
  });
  function draw() {
    refill(
      list,
      order.slice(0, shown).map((game) => {
        const whole = unpacked(game);
        const moment = game.length ? `after turn ${game.length}` : "at its first turn";
        return faultCard(
          whole,
          link(
            gameHash(game.number, game.length + 1),
            `game ${game.number}, ${moment}, against ${name(other(game, index))}`,
          ),
        );
      }),
    );
    more.hidden = shown >= order.length;
    more.textContent = `Show more of ${count(order.length)}`;
  }
  draw();
  const summary = [...reasons].map(([reason, games]) =>
    link(forfeitsHash(index, reason), `${reason} ${count(games.length)}`),
  );
  return card(
    "Forfeits",
    known.head.private ? "What the bots wrote to stderr is left out of this report." : null,
    el("p.chips", summary),
    list,
    more,
  );
}

/**
 * @param {number} index
 * @param {GameSummary[]} games
 */
function analysis(index, games) {
  const tally = { forced: 0, only: 0 };
  /** @type {{ game: GameSummary, turn: number, mark: string, remark: string, lost: JudgedTurn | undefined }[]} */
  const blunders = [];
  let turns = 0;
  for (const game of games) {
    if (!game.notes) continue;
    const whole = unpacked(game);
    for (const [turn, { mark, remark }] of whole.analysis) {
      if (whole.sides[whole.sideOf(turn - 1)] !== index) continue;
      turns += 1;
      if (mark === "forced" || mark === "only") tally[mark] += 1;
      if (MISTAKES.includes(mark))
        blunders.push({
          game,
          turn,
          mark,
          remark,
          lost: judgedTurns(game).find((one) => one.turn === turn && one.lost > 0),
        });
    }
  }
  if (turns === 0) return null;
  const phases = place(index)?.phases;
  return card(
    "Analysis",
    `${counted(turns, "turn")} of this bot were analysed. Phases are thirds of the board. ` +
      "A missed win could have been won in one move. A count leads to the games, one after the other.",
    phases ? phaseTable(index, phases, games) : null,
    tally.forced + tally.only > 0 &&
      el("p", `No choice in ${counted(tally.forced, "turn")}; only moves found: ${count(tally.only)}.`),
    el(
      "ul.highlights",
      blunders
        .slice(0, SHOWN_LOSSES)
        .map(({ game, turn, mark, remark, lost }) =>
          highlight(
            gameHash(game.number, turn),
            `Game ${game.number}, turn ${turn}`,
            lost ? gaveAway(lost) : mark.replace("-", " "),
            told(remark),
          ),
        ),
    ),
  );
}

/**
 * What to do first: the most frequent fault, the worst blunder, and the answer that came nearest to the limit.
 *
 * @param {number} index
 * @param {Place | undefined} at
 * @param {GameSummary[]} games
 */
function fixFirst(index, at, games) {
  /** @type {HTMLElement[]} */
  const found = [];
  /**
   * @param {string} title
   * @param {...Child} content
   */
  const point = (title, ...content) => found.push(el("li", el("strong", title), ...content));
  const [most] = Object.entries(at?.forfeits ?? {}).sort((a, b) => b[1] - a[1]);
  if (most) {
    const [reason, n] = most;
    const [number, command] = own(at?.fixes?.again ?? {}, reason) ?? [];
    point(
      "Most frequent forfeit",
      el(
        "p",
        link(forfeitsHash(index, reason), `${reason}, in ${counted(n, "game")}`),
        number !== undefined && command ? [". Reproduce (", link(gameHash(number), `game ${number}`), "):"] : ".",
      ),
      command && pre(command),
    );
  }
  const worst = worstMistake(games, index);
  if (worst) {
    point(
      `Worst blunder: ${gaveAway(worst)}`,
      el(
        "p",
        link(gameHash(worst.game.number, worst.turn), `Game ${worst.game.number}, turn ${worst.turn}`),
        ".",
        worst.remark && el("small", ` ${told(worst.remark)}`),
      ),
    );
  }
  const longest = at?.fixes?.longest;
  // An answer that took a small share of its limit needs no fix.
  if (longest && longest[0] >= longest[1] / NEAR) {
    const [ms, limit, number, turn] = longest;
    point(
      "Slowest move",
      el(
        "p",
        `${time(ms)} of ${time(limit)} (${percent(ms / limit)}): `,
        link(gameHash(number, turn), `game ${number}, turn ${turn}`),
        ".",
      ),
    );
  }
  return found.length ? card("Fix first", null, el("ul.fixes", found)) : null;
}

/** @type {Record<string, string>} */
const ORDINALS = { one: "st", two: "nd", few: "rd", other: "th" };

/**
 * `10th`, or `3rd=` where others are as good.
 *
 * @param {Place} place
 */
function ordinal({ rank, shared }) {
  const kind = new Intl.PluralRules("en", { type: "ordinal" }).select(rank);
  return `${rank}${own(ORDINALS, kind)}${shared ? "=" : ""}`;
}

/**
 * Commands that find where it breaks, and that say whether a change has fixed its losses.
 *
 * @param {number} index
 * @param {GameSummary[]} games
 */
function commands(index, games) {
  const { command } = bot(index);
  if (!command || command === "human" || games.length === 0) return null;
  const edition = known.editions[games[0].edition];
  const options = gameOptions(edition);
  // Records tell all but where the program of a game is.
  const again = isBuiltin(edition.game) ? "" : "--game GAME ";
  return card(
    "Where does it break?",
    null,
    el("p", "To look for the shortest games in which it gives something away or commits a fault:"),
    pre(`referee hunt ${options}${shellWord(command)}`),
    again && el("p", "GAME stands for the program of the game."),
    el("p", "To ask a changed version what it was asked in the games that it lost, from their records:"),
    pre(`referee rerun games.jsonl --number lost --as ${shellWord(bot(index).name)} ${again}${shellWord(command)}`),
  );
}

/** @param {number} index */
export function botView(index) {
  if (!known.bots[index])
    return el("div", el("h1", "No such bot"), el("p.card", link("#overview", "Back to the overview")));
  const at = place(index);
  const games = gamesOf(index);
  const chosen = new Set([index]);
  const forfeited = Object.values(at?.forfeits ?? {}).reduce((a, b) => a + b, 0);
  /**
   * @param {string} title
   * @param {Child} value
   * @param {Child} [hint]
   */
  const tile = (title, value, hint) => el("div.tile", el("dt", title), el("dd", value, hint && el("small", hint)));
  return el(
    "div.bot",
    el(
      "p.above",
      at
        ? `${ordinal(at)} of ${at.of ?? known.figures.places.filter(({ table }) => table === at.table).length}`
        : "Not ranked yet",
    ),
    el("h1", name(index)),
    bot(index).command && el("p.command", el("code", bot(index).command)),
    known.head.play_at &&
      el("p", el("a.button", { href: known.head.play_at + encodeURIComponent(bot(index).name) }, "Play against it")),
    at
      ? el(
          "dl.tiles",
          tile("points", pointsText(at), `of ${counted(at.games, "game")}`),
          !isRated() ? null : tile("Elo", signed(at.elo), interval(at)),
          tile("won · drawn · lost", `${at.wins} · ${at.draws} · ${at.losses}`),
          at.phases === undefined
            ? null
            : tile(
                "accuracy",
                at.accuracy === null ? "–" : percent(at.accuracy, 1),
                `${counted(at.blunders ?? 0, "blunder")}, ${counted(at.missed_wins ?? 0, "missed win")}`,
              ),
          tile(
            "median move",
            time(at.median_ms) || "–",
            at.median_ms ? `slowest ${time(at.worst_ms)}` : "none was made",
          ),
          forfeited
            ? tile("forfeits", count(forfeited), `${percent(forfeited / Math.max(1, at.games), 1)} of its games`)
            : null,
        )
      : null,
    fixFirst(index, at, games),
    el(
      "div.cards",
      card(
        "Results by opponent",
        isRated() && !known.head.own
          ? "Points against each; the number beside the name is its Elo."
          : "Points against each.",
        opponentBars(index, reader.opponents),
        recordKey(),
      ),
      card("By seat", "The share of points that it made in either seat.", seatBars(index), recordKey()),
      card(
        "Move time",
        at?.median_ms ? `Median ${time(at.median_ms)} · 95% within ${time(at.p95_ms)}` : null,
        answerTimes([index]),
      ),
      !isRated() || known.head.own
        ? null
        : card(
            "Rating over the games",
            "Elo over its games, with the 95% interval.",
            ratingHistory([index], chosen, true),
          ),
      worstLosses(index, games),
      analysis(index, games),
      calibrationCard(index, games),
      faults(index, games),
      commands(index, games),
    ),
    card(
      "Games",
      null,
      gameList(`Games of ${name(index)}`, () => games.filter((game) => points(game, index) >= 0), index, 20).node,
    ),
  );
}

/** @param {Absence} absence */
function absenceParts({ problem, asked, stderr, fix, again }) {
  const [sentence, ...lines] = problem.split("\n");
  /**
   * @param {string} title
   * @param {string} [text]
   */
  const part = (title, text) => text && el("p", el("span.label", `${title} `), ...prose(text));
  return [
    el("p.sentence", prose(capitalised(sentence))),
    lines.length > 0 && pre(lines.join("\n")),
    part("Asked", asked && `\`${asked}\``),
    part("Stderr ended with", stderr),
    part("Fix", fix),
    again && el("div", el("p.label", "See it again"), pre(again)),
  ];
}

/**
 * The page of a bot that did not enter: why, and what to do.
 *
 * @param {number} index
 */
export function absentView(index) {
  const one = absent()[index];
  if (!one) return el("div", el("h1", "No such bot"), el("p.card", link("#overview", "Back to the overview")));
  return el(
    "div.bot",
    el("p.above", "Failed the entry check"),
    el("h1", one.name),
    card(
      "Why",
      null,
      ...(one.absence ? absenceParts(one.absence) : [el("p", "The reason is left out of this report.")]),
    ),
  );
}
