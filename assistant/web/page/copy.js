// Text to the clipboard.

import { announce } from "./announce.js";
import { el } from "./dom.js";
import { t } from "./words.js";

const SAID_MS = 2000;

/** A button that copies what `text` gives. */
export function copyButton(text) {
  const button = el("button", { type: "button", class: "quiet copy" }, t("copy"));
  button.onclick = async () => {
    const done = await copied(text());
    button.textContent = t(done ? "copied" : "not_copied");
    announce(t(done ? "copied_aloud" : "cannot_copy"));
    setTimeout(() => (button.textContent = t("copy")), SAID_MS);
  };
  return button;
}

async function copied(text) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    return copiedBySelection(text); // a page over plain HTTP has no clipboard
  }
}

function copiedBySelection(text) {
  const place = el("textarea", { value: text, class: "unseen" });
  const before = document.activeElement;
  document.body.append(place);
  place.select();
  const done = document.execCommand("copy");
  place.remove();
  before?.focus();
  return done;
}
