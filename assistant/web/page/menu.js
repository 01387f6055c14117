// The conversations on a narrow screen: they slide in over the view, and out again.

import { byId } from "./dom.js";

/** Wire the button; whatever is chosen or touched beside it closes the menu. */
export function startMenu() {
  byId("menu").onclick = () => showMenu(!isMenuShown());
  byId("main").onclick = () => showMenu(false);
}

export const isMenuShown = () => document.body.classList.contains("menu");

export function showMenu(shown) {
  document.body.classList.toggle("menu", shown);
  byId("menu").ariaExpanded = String(shown);
}
