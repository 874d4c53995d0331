// Light and dark, as the system has it or as the reader chooses.

import { byId } from "./dom.js";

/** @type {Record<string, string>} */
const themes = { auto: "◐ Auto", light: "☀ Light", dark: "☾ Dark" };

export function storedTheme() {
  // A browser may forbid storage, as for files; then the choice lasts until the page is closed.
  try {
    return localStorage.getItem("referee-theme") ?? "auto";
  } catch {
    return "auto";
  }
}

/** @param {string} theme */
export function applyTheme(theme) {
  const button = byId("theme");
  if (theme === "auto") delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = theme;
  button.textContent = themes[theme] ?? themes.auto;
  button.setAttribute("aria-label", `Colours: ${theme}. Change`);
  button.hidden = false;
  button.onclick = () => {
    const next = { auto: "light", light: "dark", dark: "auto" }[theme] ?? "auto";
    try {
      localStorage.setItem("referee-theme", next);
    } catch {
      /* see above */
    }
    applyTheme(next);
  };
}
