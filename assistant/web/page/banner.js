// Failures, said where they are seen. While the server is gone its return is waited for.

import { Refused, ServerGone } from "../server/api.js";
import { titleOf } from "../server/refusals.js";
import { byId, counted, el } from "./dom.js";

const EVERY_MS = 2000;
let waiting = null;

/** Shows what went wrong, and what can be done about it. */
export function showError(error) {
  if (error instanceof ServerGone) return showGone();
  if (error instanceof Refused) return showRefused(error);
  show("Something went wrong.", error.message, "Close", hideError);
}

/** Names what an import could not read; the rest was brought in. */
export function showLeftOut(reasons) {
  const title = `${counted(reasons.length, "conversation")} could not be read and ${reasons.length === 1 ? "was" : "were"} left out.`;
  show(title, reasons.join(" · "), "Close", hideError);
}

/** Says why a file was not brought in. */
export function showNotBroughtIn(name, reason) {
  show(`“${name}” was not brought in.`, reason, "Close", hideError);
}

export function hideError() {
  byId("banner").hidden = true;
}

function showRefused(error) {
  if (error.status !== 401) return show(titleOf(error), error.message, "Close", hideError);
  const ask = () => document.dispatchEvent(new CustomEvent("key-refused", { detail: {} }));
  show(titleOf(error), "", "Sign in", ask);
}

function showGone() {
  const text = "It may have been stopped: start it with “assistant serve”. What you wrote is kept.";
  show(`The assistant at ${location.host} does not answer.`, text, "Try again", lookForServer);
  waiting ??= setInterval(lookForServer, EVERY_MS);
}

async function lookForServer() {
  const answer = await fetch("/health").catch(() => null);
  if (!answer?.ok || waiting === null) return;
  clearInterval(waiting);
  waiting = null;
  hideError();
  document.dispatchEvent(new Event("server-back"));
}

function show(title, text, label, onclick) {
  const button = el("button", { type: "button", onclick }, label);
  byId("banner").replaceChildren(el("p", {}, el("strong", {}, title), " ", text), button);
  byId("banner").hidden = false;
}
