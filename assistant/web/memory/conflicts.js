// Statements that contradict what the person said of themselves and may be another's: whose are they?

import { showError } from "../page/banner.js";
import { dated } from "../page/dates.js";
import { el } from "../page/dom.js";
import { notice } from "../page/notice.js";
import { settings } from "../page/settings.js";
import { ask, path } from "../server/api.js";
import { whose } from "./facts.js";
import { memoryChanged } from "./forget.js";

/** A conflict, a finding about a fact, as an article: both statements with their days, and the two ways out. */
export function conflictCard(one) {
  const button = (label, said, speaker) =>
    el("button", { type: "button", class: "quiet", onclick: () => decide(one, speaker, said).catch(showError) }, label);
  const href = `#/chat/${encodeURIComponent(one.session_id)}`;
  return el("article", { class: "card", data: { id: one.id } },
    statement("In a message of", one.session_date, one.fact.text, whose(one.fact)),
    one.others.map((held) => statement("You said on", held.said_at, held.text)),
    el("p", { class: "actions" },
      el("a", { class: "quiet", href }, "Conversation"),
      button("Leave as it is", "Left as it is.", "quoted"),
      button("This is mine: let it replace", "It replaces what you said before.", "user")));
}

function statement(when, at, text, ...more) {
  return el("p", { class: "said" }, el("b", {}, `${when} `, dated(at)), el("span", { class: "words" }, text), ...more);
}

async function decide(one, speaker, said) {
  const send = { speakers: { [one.fact.text]: speaker } };
  await ask("PATCH", path`/v1/memories/${one.id}`, { send, query: { user_id: settings.user } });
  memoryChanged();
  notice(said);
}

/** What the list says without any. */
export const noConflict = () => el("div", { class: "welcome" },
  el("h2", {}, "Nothing contradicts you"),
  el("p", {}, "What you quote or paste is found, and replaces nothing. Where it contradicts you, it appears here."));
