// Failures, said where they are seen. While the server is gone its return is waited for.

import { Refused, ServerGone } from "../server/api.js";
import { titleOf } from "../server/refusals.js";
import { byId, el } from "./dom.js";
import { t, tn } from "./words.js";

const EVERY_MS = 2000;
let waiting = null;

/** Shows what went wrong, and what can be done about it. */
export function showError(error) {
  if (error instanceof ServerGone) return showGone();
  if (error instanceof Refused) return showRefused(error);
  show(t("went_wrong"), error.message, t("close"), hideError);
}

/** Names what an import could not read; the rest was brought in. */
export function showLeftOut(reasons) {
  show(tn("left_out", reasons.length), reasons.join(" · "), t("close"), hideError);
}

/** Says why a file was not brought in. */
export function showNotBroughtIn(name, reason) {
  show(t("not_brought_in", { name }), reason, t("close"), hideError);
}

export function hideError() {
  byId("banner").hidden = true;
}

function showRefused(error) {
  if (error.status !== 401) return show(titleOf(error), error.message, t("close"), hideError);
  const ask = () => document.dispatchEvent(new CustomEvent("key-refused", { detail: {} }));
  show(titleOf(error), "", t("sign_in"), ask);
}

function showGone() {
  show(t("gone", { host: location.host }), t("gone_note"), t("try_again"), lookForServer);
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
