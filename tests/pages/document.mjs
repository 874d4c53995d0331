// As much of a browser's document as the modules need that compute, and the module of rules that a page embeds.

import { readFileSync } from "node:fs";

const rules = new URL("../../crates/report/src/html/assets/games.wasm.z", import.meta.url);
const texts = { games: readFileSync(rules).toString("base64") };

class FakeElement {
  constructor(tag) {
    Object.assign(this, { tagName: tag, attributes: {}, children: [], dataset: {}, listeners: {} });
    this.classList = { toggle: () => {}, add: () => {} };
  }

  setAttribute(name, value) {
    this.attributes[name] = value;
    if (name.startsWith("data-")) this.dataset[name.slice(5)] = value;
  }

  getAttribute(name) {
    return this.attributes[name] ?? null;
  }

  removeAttribute(name) {
    delete this.attributes[name];
  }

  addEventListener(kind, listener) {
    this.listeners[kind] = listener;
  }

  append(...children) {
    this.children.push(...children);
  }

  replaceChildren(...children) {
    this.children = children;
  }

  scrollIntoView() {}

  get tBodies() {
    return this.children.filter((child) => child.tagName === "tbody");
  }

  get textContent() {
    return this.children.map((child) => (typeof child === "string" ? child : child.textContent)).join("");
  }

  set textContent(text) {
    this.children = [text];
  }
}

// All elements in one, and itself, with this tag.
export function all(element, tag) {
  if (typeof element === "string") return [];
  const below = element.children.flatMap((child) => all(child, tag));
  return element.tagName === tag ? [element, ...below] : below;
}

const announcements = new FakeElement("p");

globalThis.document = {
  documentElement: { namespaceURI: "http://www.w3.org/1999/xhtml" },
  activeElement: null,
  createElementNS: (_, tag) => new FakeElement(tag),
  getElementById: (id) => (id === "announcements" ? announcements : id in texts ? { textContent: texts[id] } : null),
};
globalThis.ResizeObserver = class {
  observe() {}
};
