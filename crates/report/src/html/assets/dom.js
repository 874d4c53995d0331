// Creates elements and formats figures. Strings become text nodes only, never HTML.

/**
 * @template {Element} T
 * @param {T} node
 * @param {Attributes} attributes
 * @param {Child[]} children
 */
export function fill(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === undefined || value === null || value === false) continue;
    if (typeof value === "function") node.addEventListener(name.slice(2), /** @type {EventListener} */ (value));
    else if (name === "value" || name === "checked" || name === "hidden") Object.assign(node, { [name]: value });
    else node.setAttribute(name, value === true ? "" : String(value));
  }
  append(node, children);
  return node;
}

/**
 * @param {Element} node
 * @param {Child[]} children
 */
function append(node, children) {
  for (const child of children) {
    if (Array.isArray(child)) append(node, child);
    else if (child || child === 0) node.append(typeof child === "object" ? child : String(child));
  }
}

/**
 * @param {Child | Attributes} child
 * @returns {child is Attributes}
 */
const isAttributes = (child) => child?.constructor === Object;

/**
 * @param {string | null} space
 * @returns {(kind: string, ...content: (Child | Attributes)[]) => Element}
 */
const creator =
  (space) =>
  (kind, ...content) => {
    const [tag, ...classes] = kind.split(".");
    const attributes = isAttributes(content[0]) ? content[0] : {};
    const children = /** @type {Child[]} */ (isAttributes(content[0]) ? content.slice(1) : content);
    return fill(
      document.createElementNS(space, tag),
      { class: classes.length > 0 && classes.join(" "), ...attributes },
      children,
    );
  };

/**
 * An element, `tag.class.class`, with attributes, if any (`onclick` and the like are listeners), and children.
 *
 * @type {Creator<HTMLElementTagNameMap, HTMLElement>}
 */
export const el = /** @type {Creator<HTMLElementTagNameMap, HTMLElement>} */ (
  creator(document.documentElement.namespaceURI)
);

export const svg = /** @type {Creator<SVGElementTagNameMap, SVGElement>} */ (creator("http://www.w3.org/2000/svg"));

/**
 * An element that `page.html` has.
 *
 * @param {string} id
 */
export const byId = (id) => /** @type {HTMLElement} */ (document.getElementById(id));

/**
 * What an error says.
 *
 * @param {unknown} error
 */
export const messageOf = (error) => (error instanceof Error ? error.message : String(error));

/**
 * Focuses the first element of a box that is selected, if there is one.
 *
 * @param {Element} box
 * @param {string} selector
 */
export const focusFirst = (box, selector) => /** @type {HTMLElement | null} */ (box.querySelector(selector))?.focus();

/**
 * Gives a node these children in place of the ones that it has.
 *
 * @template {Element} T
 * @param {T} node
 * @param {...Child} children
 */
export function refill(node, ...children) {
  node.replaceChildren();
  return fill(node, {}, children);
}

/**
 * @param {Child} title
 * @param {() => unknown} act
 * @param {Attributes} [more]
 */
export const button = (title, act, more) => el("button", { type: "button", onclick: act, ...more }, title);

/**
 * A choice among [value, title]; `act` gets the value.
 *
 * @param {[value: string, title: string][]} options
 * @param {string} chosen
 * @param {(value: string) => unknown} act
 * @param {Attributes} [more]
 */
export const choices = (options, chosen, act, more) =>
  el(
    "select",
    { onchange: (event) => act(event.target.value), ...more },
    options.map(([value, title]) => el("option", { value, selected: value === chosen }, title)),
  );

/**
 * @param {string} title
 * @param {boolean} checked
 * @param {(checked: boolean) => unknown} act
 * @param {Attributes} [more]
 */
export const checkbox = (title, checked, act, more) =>
  el(
    "label.choice",
    el("input", { type: "checkbox", checked, onchange: (event) => act(event.target.checked), ...more }),
    ` ${title}`,
  );

/**
 * A text that is copied as it is, and that keys scroll.
 *
 * @param {string} text
 */
export const pre = (text) => el("pre", { tabindex: 0 }, text);

/**
 * @param {string} hash
 * @param {...Child} children
 */
export const link = (hash, ...children) => el("a", { href: hash }, children);

/**
 * What leads to a game or a bot, in a list.
 *
 * @param {string} hash
 * @param {string | null} place
 * @param {Child} text
 * @param {Child} [more]
 */
export const highlight = (hash, place, text, more) =>
  el("li", link(hash, place && el("span", place), el("strong", text), more && el("small", more)));

/**
 * With their marks; emoji of several parts are one.
 *
 * @param {string} text
 */
const lettersOf = (text) => text.match(/.(?:\p{M}|\p{EMod}|\u200d.)*/gsu) ?? [];

/**
 * A text with the most letters, cut in the middle: names often differ only in their ends.
 *
 * @param {string} text
 * @param {number} most
 */
export function shortened(text, most) {
  const letters = lettersOf(text);
  if (letters.length <= most) return text;
  const tail = Math.floor((most - 1) / 2);
  return [...letters.slice(0, Math.max(1, most - 1 - tail)), "…", ...letters.slice(letters.length - tail)].join("");
}

// Names of so many letters have room everywhere.
const ROOM = 14;

/**
 * A name that is cut in the middle where there is no room for it.
 *
 * @param {string} text
 */
export function named(text) {
  const letters = lettersOf(text);
  if (letters.length <= ROOM) return el("span.name", text);
  const tail = Math.min(7, Math.floor(letters.length / 2));
  return el(
    "span.name.cut",
    { title: text, dir: "auto" },
    el("span", letters.slice(0, -tail).join("")),
    el("span", letters.slice(-tail).join("")),
  );
}

/**
 * A card with a heading, a sentence of explanation, and its content.
 *
 * @param {string} title
 * @param {Child} hint
 * @param {...Child} children
 */
export function card(title, hint, ...children) {
  const id = `card-${title.toLowerCase().replace(/[^a-z]+/g, "-")}`;
  return el("section.card", { "aria-labelledby": id }, el("h2", { id }, title), hint && el("p.hint", hint), children);
}

// What each box that may scroll does when its size is known.
const looks = new WeakMap();

/**
 * A box that scrolls sideways what is too wide for it, and fades where there is more.
 *
 * @param {HTMLElement} content
 * @param {string} title
 */
export function scrolled(content, title) {
  const box = el("div.scroll", { "data-title": title }, content);
  const look = () => {
    const isWide = box.scrollWidth > box.clientWidth + 4;
    box.classList.toggle("more", isWide && box.scrollLeft + box.clientWidth < box.scrollWidth - 4);
    // Keys scroll only what can be focused.
    if (isWide || box.scrollHeight > box.clientHeight + 4) {
      box.tabIndex = 0;
      box.setAttribute("role", "region");
      box.setAttribute("aria-label", `${title}, scrolls`);
    } else {
      for (const name of ["tabindex", "role", "aria-label"]) box.removeAttribute(name);
    }
  };
  looks.set(box, look);
  box.addEventListener("scroll", look, { passive: true });
  const observer = new ResizeObserver(look);
  observer.observe(box);
  observer.observe(content);
  return box;
}

/**
 * Draws the inside of a box anew with `change()`. The focus, if it was in the box, goes to what has taken the place
 * of the element that had it: the same one by its `data-keep`, where it leads, its text, or its place in the box.
 *
 * @template T
 * @param {Element} box
 * @param {() => T} change
 */
export function keepingFocus(box, change) {
  const before = /** @type {Focusable | null} */ (document.activeElement);
  if (before === null || !box.contains(before) || before === box) return change();
  const stops = "a[href], button, input, select, summary, [tabindex]";
  const all = () => /** @type {Focusable[]} */ ([...box.querySelectorAll(stops)]);
  /** @param {Focusable} one */
  const isStop = (one) => !one.disabled && (one === before || one.tabIndex >= 0) && !one.closest("[hidden]");
  // The fields of a table that are reached by arrow keys are found by where they lead, too.
  const { keep, title } = before.dataset;
  /** @type {[attribute: string, value: string | null]} */
  const key = keep ? ["data-keep", keep] : title ? ["data-title", title] : ["href", before.getAttribute("href")];
  const sameKey = () => all().filter((one) => key[1] && one.getAttribute(key[0]) === key[1]);
  const [place, among] = [all().filter(isStop).indexOf(before), sameKey().indexOf(before)];
  const text = before.textContent;
  const result = change();
  if (before.isConnected && !before.disabled && !before.hidden) return result;
  const now = all().filter(isStop);
  const found = sameKey().filter((one) => !one.disabled && !one.closest("[hidden]"));
  /** @param {Element | undefined} one */
  const alike = (one) => one !== undefined && one.tagName === before.tagName && one.textContent === text;
  const next =
    found[Math.min(among, found.length - 1)] ??
    [now[place], ...now].find(alike) ??
    now[Math.min(place, now.length - 1)];
  next?.focus({ preventScroll: true });
  return result;
}

/**
 * The view of what happens now: `draw` draws the inside of its node, with every change and four times a second until
 * the reader leaves. What has the focus may be drawn again, or be there no longer.
 *
 * @param {Element} node
 * @param {() => void} draw
 * @param {() => void} left
 */
export function drawnAgain(node, draw, left) {
  const redraw = () => keepingFocus(node, draw);
  const timer = setInterval(redraw, 250);
  const leave = () => {
    clearInterval(timer);
    left();
  };
  const update = () => {
    redraw();
    return true;
  };
  return { redraw, view: { node, leave, update } };
}

/**
 * Draws the inside of a box anew with `change()`. Boxes within that scroll stay where the reader has scrolled them.
 *
 * @param {Element} box
 * @param {() => void} change
 */
export function keepingScroll(box, change) {
  const all = () => /** @type {HTMLElement[]} */ ([...box.querySelectorAll(".scroll")]);
  const places = new Map(all().map((one) => [one.dataset.title, [one.scrollLeft, one.scrollTop]]));
  change();
  for (const one of all()) {
    // So that it can have the focus again immediately.
    looks.get(one)?.();
    const [left, top] = places.get(one.dataset.title) ?? [0, 0];
    if (left || top) Object.assign(one, { scrollLeft: left, scrollTop: top });
  }
}

/** @param {string} base64 */
export function bytesOf(base64) {
  const text = atob(base64);
  const bytes = new Uint8Array(text.length);
  for (let at = 0; at < text.length; at += 1) bytes[at] = text.charCodeAt(at);
  return bytes;
}

/** @param {string} base64 */
export const inflated = (base64) =>
  new Response(new Blob([bytesOf(base64)]).stream().pipeThrough(new DecompressionStream("deflate")));

/**
 * The first of many nodes, and a button that shows the rest. `kept` remembers that it was pressed.
 *
 * @template T
 * @param {T[]} nodes
 * @param {number} first
 * @param {Unfolded} kept
 * @param {(nodes: T[]) => Child} show
 */
export function folded(nodes, first, kept, show) {
  if (nodes.length <= first + 3 || kept.all) return show(nodes);
  const box = el(
    "div",
    show(nodes.slice(0, first)),
    button(
      `Show all ${count(nodes.length)}`,
      () => {
        kept.all = true;
        keepingFocus(box, () => refill(box, show(nodes)));
      },
      { class: "all" },
    ),
  );
  return box;
}

// The widths of the drawings of each height that were made last.
const lastWidths = new Map();

/**
 * A box that is redrawn when its width changes: `draw(width)` returns the drawing.
 *
 * @param {number} height
 * @param {(width: number) => SVGElement} draw
 */
export function sized(height, draw) {
  const box = el("div.sized");
  let drawn = 0;
  /** @param {number} width */
  function drawAt(width) {
    if (width < 20 || width === drawn) return;
    drawn = width;
    lastWidths.set(height, width);
    const picture = draw(width);
    picture.setAttribute("viewBox", `0 0 ${width} ${height}`);
    keepingFocus(box, () => box.replaceChildren(picture));
  }
  // Most likely it is as wide as the one before it.
  drawAt(lastWidths.get(height) ?? 0);
  new ResizeObserver(([entry]) => drawAt(Math.round(entry.contentRect.width))).observe(box);
  return box;
}

/**
 * A word of a shell's command line.
 *
 * @param {string} text
 */
export const shellWord = (text) => (/^[\w./:=@%+,-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`);

/** @param {string} text */
export const capitalised = (text) => text.slice(0, 1).toUpperCase() + text.slice(1);

/**
 * Prose with answers between backticks; where these are not in pairs, the text as it is.
 *
 * @param {string} text
 * @returns {Child[]}
 */
export function prose(text) {
  const parts = text.split("`");
  return parts.length % 2 ? parts.map((part, i) => (i % 2 ? el("code", part) : part)) : [text];
}

/**
 * An object's own property, for keys from records: `constructor` is inherited, and so undefined.
 *
 * @template T
 * @param {Record<string, T>} object
 * @param {string | null | undefined} key
 * @returns {T | undefined}
 */
export const own = (object, key) =>
  key !== null && key !== undefined && Object.hasOwn(object, key) ? object[key] : undefined;

/**
 * Announces a text to screen readers.
 *
 * @param {string} text
 */
export const announce = (text) => {
  byId("announcements").textContent = text;
};

/**
 * Halves are rounded up, as in the terminal.
 *
 * @param {number} share
 */
export const percent = (share, digits = 0) =>
  `${(Math.round(share * 10 ** (digits + 2)) / 10 ** digits).toFixed(digits)}%`;

/** @param {number} number */
export const count = (number) => number.toLocaleString("en").replaceAll(",", "\u202f");

/**
 * @param {number} number
 * @param {string} one
 */
export const counted = (number, one, many = `${one}s`) => `${count(number)} ${number === 1 ? one : many}`;

/** @param {number} points */
export function half(points) {
  const whole = Math.floor(points);
  return points === whole ? count(whole) : `${whole ? count(whole) : ""}½`;
}

/** @param {number} number */
export function signed(number) {
  // As the other tables round: halves away from zero.
  const rounded = Math.sign(number) * Math.round(Math.abs(number));
  return rounded > 0 ? `+${rounded}` : rounded < 0 ? `−${-rounded}` : "0";
}

/**
 * A time, given in milliseconds.
 *
 * @param {number | null} [ms]
 */
export function time(ms) {
  if (ms === null || ms === undefined) return "";
  if (ms >= 1000) return `${trim(ms / 1000)} s`;
  if (ms >= 1) return `${trim(ms)} ms`;
  return `${Math.round(ms * 1000)} µs`;
}

/** @param {number} number */
function trim(number) {
  return number >= 100 ? number.toFixed(0) : number >= 10 ? number.toFixed(1) : number.toFixed(2);
}

/**
 * When something happened, given in seconds since 1970.
 *
 * @param {number | null} [seconds]
 */
export function when(seconds) {
  if (seconds === null || seconds === undefined) return "";
  return `${new Date(seconds * 1000).toISOString().slice(0, 16).replace("T", " ")} UTC`;
}

/**
 * These links are one stop of the tab key: `next(link, key)` gives the one to which a key leads, if to any.
 *
 * @template {HTMLElement | SVGElement} T
 * @param {T[]} links
 * @param {(link: T, key: string) => T | null | undefined | false | 0} next
 */
export function oneTabStop(links, next) {
  let [current] = links;
  if (current) current.tabIndex = 0;
  for (const link of links) {
    link.addEventListener("keydown", (event) => {
      const to = next(link, /** @type {KeyboardEvent} */ (event).key);
      if (!to) return;
      event.preventDefault();
      to.focus();
    });
    link.addEventListener("focus", () => {
      current.tabIndex = -1;
      current = link;
      current.tabIndex = 0;
    });
  }
}
