// Statements that contradict what the person said of themselves and may be another's: whose are they?

import { showError } from "../page/banner.js";
import { dated } from "../page/dates.js";
import { el } from "../page/dom.js";
import { notice } from "../page/notice.js";
import { settings } from "../page/settings.js";
import { ask, path } from "../server/api.js";
import { whose } from "./facts.js";
import { memoryChanged } from "./forget.js";
import { t } from "../page/words.js";

/** A conflict, a finding about a fact, as an article: both statements with their days, and the two ways out. */
export function conflictCard(one) {
  const button = (label, said, speaker) =>
    el("button", { type: "button", class: "quiet", onclick: () => decide(one, speaker, said).catch(showError) }, label);
  const href = `#/chat/${encodeURIComponent(one.session_id)}`;
  return el("article", { class: "card", data: { id: one.id } },
    statement(t("in_message_of"), one.session_date, one.fact.text, whose(one.fact)),
    one.others.map((held) => statement(t("you_said_on"), held.said_at, held.text)),
    el("p", { class: "actions" },
      el("a", { class: "quiet", href }, t("conversation_link")),
      button(t("leave"), t("left"), "quoted"),
      button(t("mine"), t("replaced"), "user")));
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
  el("h2", {}, t("no_conflict")),
  el("p", {}, t("no_conflict_note")));
