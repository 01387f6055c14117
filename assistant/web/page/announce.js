// What a screen reader says aloud when something happens that is seen elsewhere.

import { byId } from "./dom.js";

/** Says a text once the reader is free; the same text is said again too. */
export function announce(text) {
  const region = byId("announcer");
  region.textContent = "";
  setTimeout(() => (region.textContent = text), 50);
}
