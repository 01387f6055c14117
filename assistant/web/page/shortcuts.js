// Keys that work everywhere on the page. Letters go with Alt, so that none is taken from writing.

import { byId } from "./dom.js";

/** Wire the keys; `acts` are functions by the code of their key. */
export function startShortcuts(acts) {
  document.addEventListener("keydown", (event) => {
    if (document.querySelector("dialog[open]")) return;
    const name = event.altKey && !event.ctrlKey && !event.metaKey ? `Alt+${event.code}` : event.key;
    if (!acts[name]) return;
    event.preventDefault();
    acts[name]();
  });
  byId("open-shortcuts").onclick = () => byId("shortcuts").showModal();
}
