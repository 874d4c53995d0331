// A game, step by step.

import { analysisCard } from "./analysis.js";
import { betterTurns } from "./better.js";
import { faultCard } from "./bot.js";
import { turnTimes, winners } from "./charts.js";
import { botHash, forfeitText, gameHash, gameTitle, name, outcome, unpacked } from "./data.js";
import {
  announce,
  button,
  card,
  choices,
  counted,
  el,
  keepingFocus,
  link,
  own,
  refill,
  svg,
  time,
  when,
} from "./dom.js";
import { scoreOf } from "./games.js";
import { gameAccuracy, told } from "./mistakes.js";
import { advice, drawBoard, features, isLoading, legend, noBoard, pieceSlot, statesOf, symbolsOf } from "./rules.js";
import { known, reader } from "./state.js";
import { thought, thoughtsCard } from "./thoughts.js";
import { turnValues } from "./turn_values.js";

/** @type {[value: string, title: string][]} */
const SPEEDS = [
  ["1600", "slow"],
  ["800", "normal"],
  ["300", "fast"],
];
/** @type {Record<string, string>} */
const VALUES = { w: "a win", d: "a draw", l: "a loss", "": "unknown" };

const ICONS = {
  start: "M5 4v16M19 5l-10 7 10 7z",
  back: "M16 5l-10 7 10 7z",
  play: "M7 4l13 8-13 8z",
  pause: "M7 5v14M17 5v14",
  forward: "M8 5l10 7-10 7z",
  end: "M5 5l10 7-10 7zM19 4v16",
};

/**
 * The element around what an event happened to that is selected.
 *
 * @param {Event} event
 * @param {string} selector
 */
const within = ({ target }, selector) => (target instanceof Element ? target.closest(selector) : null);

/** @param {keyof typeof ICONS} kind */
const icon = (kind) =>
  svg("svg.icon", { viewBox: "0 0 24 24", "aria-hidden": "true" }, svg("path", { d: ICONS[kind] }));

/**
 * The analysis of a turn, in a sentence. `advice` puts an answer in words.
 *
 * @param {Note} note
 * @param {(answer: string) => string} advice
 * @param {boolean} isSecret
 */
function turnAnalysis({ value, best, mark, better, ahead, remark }, advice, isSecret) {
  const parts = [];
  if (isSecret) better = "";
  else if (remark) parts.push(told(remark).replace(/[^.!?]$/, "$&."));
  else if (value && best && value !== best) parts.push(`It left ${VALUES[value]} where ${VALUES[best]} was possible.`);
  else if (value)
    parts.push(
      value === "d"
        ? "Draw with best play."
        : `${value === "w" ? "Won" : "Lost"}${ahead ? ` in ${ahead}` : ""} with best play.`,
    );
  if (better && !remark.includes(better)) parts.push(`Better: ${advice(better)}.`);
  return el(
    "div.judged",
    mark ? el("span", { class: `badge mark-${mark}` }, mark.replace("-", " ")) : null,
    parts.length ? el("p", parts.join(" ")) : null,
  );
}

const SIGNS_OF_MARKS = { blunder: "??", "missed-win": "?", only: "!", forced: "□" };

/**
 * What the chart of the times shows; its scale is logarithmic.
 *
 * @param {Game} game
 */
function slowest(game) {
  const most = Math.max(...game.times);
  const missing = game.fault ? `Turn ${game.times.length + 1} is the fault, ✗. ` : "";
  const which = game.fault ? "of the other answers" : "answer";
  return `${missing}The slowest ${which} was turn ${game.times.indexOf(most) + 1}, with ${time(most)}.`;
}

/** @param {Game} game */
const howItEnded = (game) => (game.winner < 0 ? "draw" : game.forfeit ? forfeitText(game) : game.lines || game.reason);

/**
 * Marks a card that moves to the end on narrow screens.
 *
 * @param {HTMLElement} card
 */
function after(card) {
  card.classList.add("after");
  return card;
}

/**
 * A game without a board: its turns as they were sent.
 *
 * @param {Game} game
 */
function turnList(game) {
  return el(
    "ol.bare",
    game.turns.map((turn, i) =>
      el(
        "li",
        el("span.name", name(game.sides[game.sideOf(i)])),
        " ",
        el("code", turn),
        " ",
        el("small", time(game.times[i])),
      ),
    ),
  );
}

/**
 * @param {number} number
 * @param {number | undefined} wantedTurn
 * @param {boolean} only
 * @param {string | null} [line]
 * @returns {View}
 */
export function gameView(number, wantedTurn, only, line) {
  const summary = known.games[number - 1];
  if (!summary) {
    const why =
      number <= known.figures.games
        ? `The first ${known.games.length} games of this report are listed.`
        : `This report has ${counted(known.figures.games, "game")}.`;
    return { node: el("div", el("h1", `No game ${number}`), el("p.card", why, " ", link("#games", "All games"))) };
  }
  const game = unpacked(summary);
  const states = statesOf(game);
  const [start] = states;
  const made = Math.max(0, states.length - 1);
  // The turn of a fault is a step, too: what was sent, on the board as it was.
  const hasFault = game.fault !== null && made === game.turns.length;
  const last = hasFault ? made + 1 : made;
  /** @param {number} turn */
  const stateAt = (turn) => states[Math.min(turn, made)];
  const hasOpening = start !== undefined && !start.empty;
  let step = Math.min(last, Math.max(0, wantedTurn ?? 0));
  /** @type {ReturnType<typeof setInterval> | null} */
  let timer = null;
  let isDrawn = false;
  let areMarksHidden = false;

  const stage = el("div.stage");
  const story = el("div.story");
  const hand = el("div.hand");
  const left = el("div.left");
  const times = el("div");
  const thoughts = el("div.after");
  // Who wins with best play, by the analysis.
  const evaluation = el("div");
  const moves = el("ol.moves", { start: 0 });
  const slider = el("input", {
    type: "range",
    min: 0,
    max: last,
    value: step,
    "aria-label": "Turn",
    "data-keep": "slider",
    oninput: (event) => stepTo(Number(event.target.value)),
  });
  /**
   * @param {keyof typeof ICONS} kind
   * @param {string} title
   * @param {() => unknown} act
   */
  const control = (kind, title, act) => button(icon(kind), act, { title, "aria-label": title, class: "control" });
  /** @param {number} to */
  const stepTo = (to) => {
    stop();
    go(to);
  };
  const play = control("play", "Play (space)", toggle);
  const buttons = {
    start: control("start", "To the start (Home)", () => stepTo(0)),
    back: control("back", "One turn back (←)", () => stepTo(step - 1)),
    forward: control("forward", "One turn on (→)", () => stepTo(step + 1)),
    end: control("end", "To the end (End)", () => stepTo(last)),
  };

  /**
   * @param {keyof typeof ICONS} kind
   * @param {string} title
   */
  function showPlay(kind, title) {
    refill(play, icon(kind));
    play.setAttribute("aria-label", title);
    play.title = title;
  }

  function stop() {
    if (timer !== null) clearInterval(timer);
    timer = null;
    showPlay("play", "Play (space)");
  }

  function toggle() {
    if (timer !== null) {
      stop();
      return;
    }
    if (step === last) go(0);
    timer = setInterval(() => {
      if (step >= last) stop();
      else go(step + 1);
    }, Number(reader.pace));
    showPlay("pause", "Pause (space)");
  }

  /** @param {number} to */
  function go(to) {
    better.reset();
    step = Math.min(last, Math.max(0, to));
    if (step === last && timer !== null) stop();
    draw();
    announce(description());
  }

  /** @param {number} turn */
  const mover = (turn) => name(game.sides[game.sideOf(turn - 1)]);

  function description() {
    if (step === 0 && last > 0) return "Opening position";
    if (step > made) return `Turn ${step}: ${outcome(game)}.`;
    const end = step === last ? `. ${outcome(game, game.lines)}.` : "";
    return `Turn ${step}: ${mover(step)} ${states[step].words}${end}`;
  }

  /**
   * @param {State} state
   * @param {boolean} isOver
   */
  function drawPieces(state, isOver) {
    if (!state.left) return;
    const next = name(game.sides[state.side]);
    hand.replaceChildren(
      el("h3", "In hand"),
      state.hand === null
        ? el("p.hint", isOver ? "Nothing: the game is over." : "Nothing yet.")
        : el(
            "div.gift",
            pieceSlot(game, state.hand, "big"),
            el(
              "p",
              el("strong.name", next),
              " to place ",
              el("strong", state.hand),
              el("small", features(game, state.hand)),
            ),
          ),
    );
    const free = new Set(state.left);
    left.replaceChildren(
      el("h3", `Pieces left: ${free.size}`),
      el(
        "div.pool",
        symbolsOf(game).map((symbol) =>
          free.has(symbol) ? pieceSlot(game, symbol) : el("span.slot.gone", { "aria-hidden": "true" }),
        ),
      ),
    );
  }

  function draw() {
    /** @type {{ state: State, kind?: string } | null} */
    const instead = worth?.instead(step) ?? better.instead(step);
    const shownState = instead?.state ?? stateAt(step);
    const picture = drawBoard(shownState, instead?.kind);
    stage.replaceChildren(picture);
    // Steps change the address, by which one came, but add no entries to the browser's history.
    if (isDrawn)
      history.replaceState(
        history.state,
        "",
        gameHash(number, step) + (worth?.line ? `&line=${encodeURIComponent(worth.line)}` : ""),
      );
    isDrawn = true;
    worth?.show(picture, shownState, name(game.sides[shownState.side]), better.isSecret(step));
    drawPieces(shownState, instead ? shownState.over : step === last);
    slider.value = String(step);
    play.disabled = last === 0;
    slider.setAttribute("aria-valuetext", description());
    const focused = /** @type {Focusable | null} */ (document.activeElement);
    buttons.start.disabled = buttons.back.disabled = step === 0;
    buttons.forward.disabled = buttons.end.disabled = step === last;
    // A button that cannot be pressed again leaves the focus to its opposite.
    if (focused?.disabled) (step === 0 ? buttons.forward : buttons.back).focus({ preventScroll: true });
    const over = step === last;
    /** @type {Child[]} */
    const parts = [el("p.turn", step === 0 ? "Opening position" : `Turn ${step} of ${last}`)];
    if (step > made && game.fault)
      parts.push(el("p.did", el("strong.name", name(game.fault.by)), " ", el("span.badge.blame", game.reason)));
    else if (step > 0)
      parts.push(
        el("p.did", el("strong.name", mover(step)), ` ${states[step].words}`, el("small", time(game.times[step - 1]))),
      );
    if (step > 0) parts.push(thought(game, step, better.isSecret(step)));
    const analysis = game.analysis.get(step);
    const isEnd = over && made === game.turns.length;
    // What the result says already is not said as a value, too.
    if (analysis && !(isEnd && !game.forfeit && !analysis.remark && !analysis.mark))
      parts.push(turnAnalysis(analysis, (answer) => advice(states[step - 1], answer), better.isSecret(step)));
    if (analysis) parts.push(...better.story(step));
    if (isEnd) {
      parts.push(
        el(`p.final.${game.winner < 0 ? "draw" : game.forfeit ? "blame" : "win"}`, outcome(game, game.lines)),
        game.remark && el("p.hint", game.remark),
        game.fault && faultCard(game, ""),
      );
    } else if (over) {
      parts.push(el("p.final.blame", `Turn ${made + 1} of the record is illegal or malformed: ${game.turns[made]}`));
    }
    keepingFocus(story, () => refill(story, parts));
    const strip = winners(game, step);
    keepingFocus(times, () => refill(times, turnTimes(game, step)));
    keepingFocus(thoughts, () => refill(thoughts, thoughtsCard(game, step)));
    if (areMarksHidden !== better.hidesMarks) listMoves();
    if (strip) keepingFocus(evaluation, () => refill(evaluation, !better.hidesMarks && strip));
    for (const item of /** @type {Iterable<HTMLElement>} */ (moves.children))
      item.classList.toggle("now", Number(item.dataset.turn) === step);
    // After layout, when the list has a height.
    requestAnimationFrame(() => {
      const now = /** @type {HTMLElement | null} */ (moves.querySelector(".now"));
      if (now) moves.scrollTop = now.offsetTop - moves.clientHeight / 2;
    });
  }

  const better = betterTurns(game, states, draw);
  const worth = start && !start.drawing ? turnValues(game, draw) : null;

  /**
   * A turn as on a score sheet: the piece, its cell, and the piece that is given.
   *
   * @param {number} turn
   */
  function short(turn) {
    const text = game.turns[turn - 1];
    if (!states[turn].left) return text;
    const [cell, gift = "-"] = text.split(" ");
    return `${cell === "-" ? "" : states[turn - 1].hand + cell}${gift === "-" ? "" : `→${gift}`}`;
  }

  function listMoves() {
    areMarksHidden = better.hidesMarks;
    /**
     * @param {number} turn
     * @param {number | null} side
     * @param {string} label
     * @param {...Child} content
     */
    const item = (turn, side, label, ...content) =>
      el(
        "li",
        { "data-turn": turn, class: side === null ? "whole" : `side-${side}` },
        el(
          "a",
          { href: gameHash(number, turn), "aria-label": label, title: label },
          el("span.no", turn === 0 ? "" : `${turn}.`),
          ...content,
        ),
      );
    /** @param {number} turn */
    const moved = (turn) => {
      const mark = better.hidesMarks ? null : game.analysis.get(turn)?.mark;
      const judgement = mark ? `, ${mark.replace("-", " ")}` : "";
      return item(
        turn,
        game.sideOf(turn - 1),
        `Turn ${turn}: ${mover(turn)} ${states[turn].words}${judgement}, ${time(game.times[turn - 1])}`,
        el("span.what", short(turn)),
        mark ? el("span", { class: `badge mark-${mark}` }, own(SIGNS_OF_MARKS, mark) ?? mark) : null,
        el("small", time(game.times[turn - 1])),
      );
    };
    moves.replaceChildren(
      item(0, null, "Opening position", el("span.what", "Opening position")),
      ...states.slice(1).map((_, index) => moved(index + 1)),
      ...(hasFault && game.fault
        ? [
            item(
              last,
              game.sides.indexOf(game.fault.by),
              `Turn ${last}: ${outcome(game)}`,
              el("span.badge.blame", game.reason),
            ),
          ]
        : []),
    );
  }

  /** @param {MouseEvent & { target: HTMLElement }} event */
  async function copy(event) {
    const address = location.href;
    /** @param {string} text */
    const showStatus = (text) => {
      event.target.textContent = text;
      announce(text);
      setTimeout(() => {
        event.target.textContent = "Copy link";
      }, 1600);
    };
    try {
      await navigator.clipboard.writeText(address);
      showStatus("Copied");
    } catch {
      // Some browsers allow this only to pages from certain addresses.
      address_.value = address;
      address_.hidden = false;
      address_.select();
      showStatus("Press Ctrl+C");
    }
  }

  const address_ = el("input", {
    type: "text",
    readonly: true,
    hidden: true,
    "aria-label": "The address of this turn",
  });
  const [first, second] = game.sides;
  /**
   * @param {number} bot
   * @param {number} index
   */
  const side = (bot, index) =>
    el(
      "span",
      { class: `side side-${index}${game.winner === bot ? " winner" : ""}` },
      svg("svg.dot", { viewBox: "0 0 10 10", "aria-hidden": "true" }, svg("circle", { cx: 5, cy: 5, r: 4.4 })),
      only ? el("span.name", name(bot)) : link(botHash(bot), el("span.name", name(bot))),
    );
  const rules = game.rules && game.rules !== "standard" ? `, rules ${game.rules}` : "";
  const began = when(game.started);
  const head = el(
    "header.versus",
    only
      ? null
      : el(
          "p.above",
          link(known.list?.address ?? "#games", "Games"),
          ` · ${gameTitle(game.game)}${rules} · ${game.id} ${began ? `· ${began}` : ""}`,
        ),
    el(
      "h1",
      only ? "" : `Game ${number}: `,
      side(first, 0),
      el("strong.score", ` ${scoreOf(summary)} `),
      side(second, 1),
    ),
    el("p.ended", `${howItEnded(game)} · ${counted(game.turns.length, "turn")}`),
  );
  // The games before and after it in the list that was shown last, with its filter and order.
  const numbers = known.list?.numbers() ?? [];
  const place = numbers.indexOf(number);
  const [previous, next] =
    place >= 0
      ? [numbers[place - 1], numbers[place + 1]]
      : [known.games[number - 2]?.number, known.games[number]?.number];
  const around = only
    ? null
    : el(
        "nav.around",
        { "aria-label": "Other games" },
        previous ? link(gameHash(previous), "← Game ", String(previous)) : el("span"),
        place >= 0 && numbers.length < known.games.length
          ? el("span.hint", `${place + 1} of the ${counted(numbers.length, "game")} in the list`)
          : null,
        next ? link(gameHash(next), "Game ", String(next), " →") : el("span"),
      );
  if (!start) {
    return {
      again: true,
      node: el(
        "div",
        { class: `replay${isLoading(game) ? " loading" : ""}` },
        head,
        card(
          "Turns",
          isLoading(game) ? null : `${outcome(game, game.lines)}. ${noBoard(game)}`,
          turnList(game),
          game.fault ? faultCard(game, "") : null,
        ),
        around,
      ),
    };
  }

  const controls = el(
    "div.controls",
    { role: "group", "aria-label": "Steps" },
    buttons.start,
    buttons.back,
    play,
    buttons.forward,
    buttons.end,
    slider,
    el(
      "label",
      el("span.unseen", "Pace"),
      choices(SPEEDS, reader.pace, (value) => {
        reader.pace = value;
        if (timer !== null) {
          stop();
          toggle();
        }
      }),
    ),
    el("button.copy", { type: "button", onclick: copy }, "Copy link"),
    address_,
  );
  listMoves();
  if (line) worth?.follow(step, stateAt(step), line);
  const accuracy = gameAccuracy(summary, () => step);
  const offer = analysisCard(summary);
  const node = el(
    "div",
    { class: `replay replay-${game.game}` },
    head,
    el(
      "div.desk",
      el(
        "div",
        el(
          "div.play.card",
          stage,
          hasOpening &&
            el(
              "p.hint",
              "Dashed: opening pieces. ",
              only || !game.start
                ? null
                : link(`#games&opening=${encodeURIComponent(game.start)}`, "Games from this opening"),
            ),
          controls,
          evaluation,
          worth?.control ?? null,
          worth?.panel ?? null,
        ),
        game.times.length > 0 ? after(card("Time per turn (log scale)", slowest(game), times)) : null,
        thoughts,
      ),
      el(
        "div",
        el("div.card", el("h2.unseen", "The turn"), story),
        start.left && el("div.card.hands", el("h2.unseen", "Pieces"), hand, left, legend(game)),
        after(card("Turns", null, moves)),
        accuracy ? after(accuracy) : null,
        offer ? after(offer) : null,
      ),
    ),
    around,
  );
  draw();
  // A turn that is chosen in a list or chart is shown, and adds no step to the browser's history.
  node.addEventListener("click", (event) => {
    const chosen = within(event, `a[href^="#game=${number}&turn="]`);
    if (!chosen || event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    stepTo(Number(chosen.getAttribute("href")?.split("turn=")[1]));
  });

  /** @type {Record<string, () => void>} */
  const keys = {
    ArrowLeft: () => stepTo(step - 1),
    ArrowRight: () => stepTo(step + 1),
    Home: () => stepTo(0),
    End: () => stepTo(last),
    " ": toggle,
    n: () => {
      if (!only && next) location.hash = gameHash(next);
    },
    p: () => {
      if (!only && previous) location.hash = gameHash(previous);
    },
  };
  return {
    node,
    leave: () => {
      stop();
      worth?.leave();
    },
    turn: (/** @type {number | undefined} */ turn) => stepTo(turn ?? 0),
    number,
    /** @param {KeyboardEvent} event */
    key(event) {
      const busy = within(event, "input, select, textarea, summary, pre");
      // A focused button handles the space bar itself.
      if (busy || (event.key === " " && within(event, "button, a")) || event.ctrlKey || event.metaKey || event.altKey)
        return;
      const act = better.key(event) ? () => {} : keys[event.key];
      if (!act) return;
      event.preventDefault();
      act();
    },
  };
}
