// Tables that can be sorted and are shown page by page.

import { announce, button, count, el, keepingFocus, refill, scrolled } from "./dom.js";

/**
 * @param {string | null} kind
 * @param {...Child} content
 */
export const columnHead = (kind, ...content) => el("th", { scope: "col", class: kind }, content);

/** @param {...Child} content */
export const rowHead = (...content) => el("th.text", { scope: "row" }, content);

/** @param {...Child} content */
export const cellOf = (...content) => el("td.number", content);

/**
 * A table with a caption that is read aloud.
 *
 * @param {string | null} kind
 * @param {string} caption
 * @param {Child[]} heads
 * @param {Child[]} rows
 */
export const plainTable = (kind, caption, heads, rows) =>
  el("table", { class: kind }, el("caption.unseen", caption), el("thead", el("tr", heads)), el("tbody", rows));

/**
 * For each of these texts its place among them in alphabetical order.
 *
 * @param {string[]} texts
 * @returns {number[]}
 */
function ranked(texts) {
  const { compare } = new Intl.Collator("en");
  const places = new Map([...new Set(texts)].sort(compare).map((text, place) => [text, place]));
  return texts.map((text) => places.get(text) ?? 0);
}

/**
 * `columns`: {key, title, value(row), show(row), text, hint}. `value` is the sort key, `show` the content of the
 * cell. `at` is an object that keeps the page for the next time. `text` columns are left-aligned; they and `rising`
 * ones sort upwards first. `head` marks row headers. `sorted`: [key, -1 | 1], updated when the user sorts. `redraw`
 * calls `rows()` again, `ordered` gives the rows in the order in which they were drawn last.
 *
 * @template Row
 * @param {SortableOptions<Row>} options
 */
export function sortable({ caption, columns, rows, sorted, size, kind, at = { page: 0 } }) {
  const pager = el("div.pager");
  /** @param {Column<Row>} column */
  const kindOf = (column) => column.kind ?? (column.text ? "text" : "number");

  /** @param {Column<Row>} column */
  function sortBy(column) {
    sorted[1] = sorted[0] === column.key ? -sorted[1] : column.text || column.rising ? 1 : -1;
    sorted[0] = column.key;
    at.page = 0;
    redraw();
    announce(`Sorted by ${column.title}, ${sorted[1] > 0 ? "ascending" : "descending"}`);
  }

  const heads = columns.map((column) =>
    columnHead(
      kindOf(column),
      button([column.title, el("span.arrow", { "aria-hidden": "true" })], () => sortBy(column), {
        title: column.hint ?? `Sort by ${column.title}`,
        "data-keep": `sort-${caption}-${column.key}`,
      }),
    ),
  );

  const table = plainTable(kind, caption, heads, []);

  // The rows as they were drawn last.
  /** @type {Row[]} */
  let last = [];

  function ordered() {
    const column = columns.find((column) => column.key === sorted[0]);
    const all = [...rows()];
    if (!column) return all;
    // Each value is asked for once, and each text compared once: there may be 100,000 rows of few bots.
    const keys = column.text
      ? ranked(all.map((row) => String(column.value(row))))
      : all.map((row) => Number(column.value(row) ?? -Infinity));
    return all
      .map((_, at) => at)
      .sort((a, b) => sorted[1] * (keys[a] - keys[b]) || a - b)
      .map((at) => all[at]);
  }

  /** @param {number} next */
  function turnTo(next) {
    at.page = next;
    redraw();
    table.scrollIntoView({ block: "nearest" });
  }

  function redraw() {
    const all = ordered();
    last = all;
    heads.forEach((cell, place) => {
      if (columns[place].key === sorted[0]) cell.setAttribute("aria-sort", sorted[1] > 0 ? "ascending" : "descending");
      else cell.removeAttribute("aria-sort");
    });
    const pages = size ? Math.max(1, Math.ceil(all.length / size)) : 1;
    at.page = Math.min(at.page, pages - 1);
    const { page } = at;
    const shown = size ? all.slice(page * size, (page + 1) * size) : all;
    refill(
      table.tBodies[0],
      shown.map((row) =>
        el(
          "tr",
          columns.map((column) =>
            el(
              column.head ? "th" : "td",
              { scope: column.head && "row", class: kindOf(column) },
              column.show ? column.show(row) : String(column.value(row) ?? ""),
            ),
          ),
        ),
      ),
      all.length === 0 && el("tr", el("td.text.none", { colspan: columns.length }, "No games match.")),
    );
    pager.hidden = pages < 2;
    if (!size) return;
    /**
     * @param {string} title
     * @param {number} to
     * @param {boolean} disabled
     */
    const step = (title, to, disabled) =>
      button(title, () => turnTo(to), { disabled, "data-keep": `page-${caption}-${title}` });
    keepingFocus(pager, () =>
      refill(
        pager,
        step("First", 0, page === 0),
        step("Previous", page - 1, page === 0),
        el(
          "span",
          `${count(page * size + 1)}–${count(Math.min(all.length, (page + 1) * size))} of ${count(all.length)}`,
        ),
        step("Next", page + 1, page >= pages - 1),
        step("Last", pages - 1, page >= pages - 1),
      ),
    );
  }

  redraw();
  return { node: el("div.tabled", scrolled(table, caption), pager), redraw, ordered: () => last };
}
