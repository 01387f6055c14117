// What was done, said in passing: it goes by itself, and may offer to take the step back.

import { announce } from "./announce.js";
import { byId, el } from "./dom.js";

const SHOWN_MS = 8000;
let leaving = null;

/** Says what happened; `undo` is `{label, act}`. */
export function notice(text, undo) {
  const shown = byId("notice");
  const button = undo && el("button", { type: "button", class: "quiet", onclick: () => (hide(), undo.act()) }, undo.label);
  shown.replaceChildren(el("span", {}, text), ...(undo ? [button] : []));
  shown.hidden = false;
  announce(text);
  clearTimeout(leaving);
  leaving = setTimeout(hide, SHOWN_MS);
}

function hide() {
  byId("notice").hidden = true;
}
