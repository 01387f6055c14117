// A file for the user to keep.

import { el } from "./dom.js";

/** Saves what a blob holds under a name. */
export function save(blob, name) {
  const href = URL.createObjectURL(blob);
  el("a", { href, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(href), 60_000);
}
