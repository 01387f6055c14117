// Text to the clipboard.

import { announce } from "./announce.js";
import { el } from "./dom.js";

const SAID_MS = 2000;

/** A button that copies what `text` gives. */
export function copyButton(text) {
  const button = el("button", { type: "button", class: "quiet copy" }, "Copy");
  button.onclick = async () => {
    const done = await copied(text());
    button.textContent = done ? "Copied" : "Not copied";
    announce(done ? "Copied." : "The browser does not let this page copy.");
    setTimeout(() => (button.textContent = "Copy"), SAID_MS);
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
