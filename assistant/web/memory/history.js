// The history of a fact: all that was said of the matter, oldest first, and the step back.

import { showError } from "../page/banner.js";
import { dated, day } from "../page/dates.js";
import { el } from "../page/dom.js";
import { notice } from "../page/notice.js";
import { settings } from "../page/settings.js";
import { ask, path } from "../server/api.js";
import { memoryChanged } from "./forget.js";
import { t } from "../page/words.js";

/** Puts the history of a fact of a value into a place, as it was known on a day. */
export async function showHistory(place, value, fact, asOf) {
  const query = { user_id: settings.user, as_of: asOf };
  const told = await ask("GET", path`/v1/memories/${value.id}`, { query });
  const steps = told.facts.find(({ text }) => text === fact.text)?.history ?? [];
  place.append(el("div", { class: "history" },
    el("ol", { ariaLabel: t("history") }, steps.map((step) => shown(step, value.id))),
    fact.supersedes.length && !asOf ? undo(value) : null));
}

function shown({ id, text, said_at, until }, here) {
  return el("li", { class: until ? "past" : "holds", ariaCurrent: id === here ? "true" : null },
    dated(said_at), text,
    el("span", { class: "faint" }, until ? t("until", { day: day(until.said_at) }) : t("holds")));
}

/** Not every newer statement is about the same matter: the person knows better than the rules. */
function undo(value) {
  const button = el("button", { type: "button" }, t("both_true"));
  button.onclick = () => update("DELETE", value).then(
    () => notice(t("holds_again"), { label: t("undo"), act: () => update("PUT", value).catch(showError) }),
    showError);
  return button;
}

async function update(method, value) {
  await ask(method, path`/v1/memories/${value.id}/updates`, { query: { user_id: settings.user } });
  memoryChanged();
}
