// The health of memory: facts that may be wrong, or are used much or never; each can be put right here.

import { showError } from "../page/banner.js";
import { dated, day } from "../page/dates.js";
import { counted, el } from "../page/dom.js";
import { notice } from "../page/notice.js";
import { settings } from "../page/settings.js";
import { ask, path } from "../server/api.js";
import { conflictCard, noConflict } from "./conflicts.js";
import { openCorrection } from "./correct.js";
import { holding } from "./facts.js";
import { forgetRound, memoryChanged } from "./forget.js";
import { t } from "../page/words.js";

const SAYS = {
  stale: t("says_stale"),
  replaced: t("says_replaced"),
  duplicate: t("says_duplicate"),
  expiring: t("says_expiring"),
  unused: t("says_unused"),
  used: t("says_used"),
};

/** A page of findings of one kind. */
export const readHealth = (finding, after, limit) =>
  ask("GET", "/v1/memories/health", { query: { user_id: settings.user, finding, after, limit } });

/** A finding about a fact as an article, with what can be done. */
export function healthCard(row) {
  if (row.finding === "contradictory") return conflictCard(row);
  const { fact } = row;
  const href = `#/chat/${encodeURIComponent(row.session_id)}`;
  const button = (label, act) => el("button", { type: "button", class: "quiet", onclick: () => act(row).catch(showError) }, label);
  return el("article", { class: "card", data: { id: row.id } },
    el("p", { class: "when" }, dated(row.session_date, day(row.session_date)), row.used ? tag(t("in_answers", { answers: counted(row.used, "answer") })) : null),
    el("p", { class: "said" }, el("b", {}, SAYS[row.finding]), el("span", { class: "words" }, fact.text)),
    row.finding === "replaced" ? null : row.others.map(({ said_at, text }) => el("p", { class: "faint" }, `${day(said_at)}: ${text}`)),
    holding(fact),
    el("p", { class: "actions" },
      el("a", { class: "quiet", href }, t("conversation_link")),
      button(t("still_true"), confirm),
      button(t("correct"), correct),
      button(t("forget"), forgetRow)),
    conditionForm(row));
}

const tag = (text) => el("span", { class: "tag" }, text);

const confirm = (row) => settle(row, { confirmed: [row.fact.text] }, t("confirmed"));
const correct = async (row) =>
  openCorrection(await ask("GET", path`/v1/memories/${row.id}`, { query: { user_id: settings.user } }));
const forgetRow = (row) => forgetRound(row);

async function settle(row, send, said) {
  await ask("PATCH", path`/v1/memories/${row.id}`, { send, query: { user_id: settings.user } });
  memoryChanged();
  notice(said);
}

/** Up to when it holds, and from which day on to ask about it. */
function conditionForm(row) {
  const { condition, ask_on, text } = row.fact;
  const until = el("input", { type: "date", value: condition?.until ?? "" });
  const state = el("input", { type: "text", value: condition?.slot ? condition.text.replace(/^(while|(as|so) long as) /i, "") : "", placeholder: t("while_example") });
  const asked = el("input", { type: "date", value: ask_on ?? "" });
  const save = async () => {
    const given = until.value ? { until: until.value } : state.value.trim() ? { while: state.value.trim() } : null;
    await settle(row, { conditions: { [text]: given }, ask_on: { [text]: asked.value || null } }, t("condition_kept"));
  };
  const onsubmit = (event) => (event.preventDefault(), save().catch(showError));
  return el("details", { class: "condition" },
    el("summary", {}, t("until_when")),
    el("form", { onsubmit },
      el("label", {}, t("until_day"), until),
      el("label", {}, t("or_while"), state),
      el("label", {}, t("ask_again_on"), asked),
      el("button", { type: "submit" }, t("set"))));
}

/** What the list says without any. */
export const noFinding = (finding) => finding === "contradictory" ? noConflict() : el("div", { class: "welcome" },
  el("h2", {}, t("no_finding")),
  el("p", {}, t("no_finding_note")));
