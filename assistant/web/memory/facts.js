// The facts of a memory: what they say, of which days, and what became of them.

import { showError } from "../page/banner.js";
import { day, range } from "../page/dates.js";
import { counted, el } from "../page/dom.js";
import { showHistory } from "./history.js";
import { t } from "../page/words.js";

/** The facts of a value, open where one of them replaced another or was replaced; null without any. */
export function facts(value, { open = false, asOf } = {}) {
  const found = value.facts;
  if (!found.length) return null;
  return el("details", { class: "facts", open: open || found.some(changed) },
    el("summary", {}, counted(found.length, "fact")),
    el("ul", {}, found.map((one) => fact(value, one, asOf))));
}

const changed = (one) => one.superseded_by || one.supersedes.length > 0;

function fact(value, one, asOf) {
  const newer = one.superseded_by;
  const made = el("li", {},
    el(newer ? "s" : "span", {}, one.text),
    one.event_dates.map((days) => el("span", { class: "tag" }, range(days))),
    whose(one),
    by(one.source),
    holding(one),
    one.supersedes.map((older) => el("p", { class: "faint" }, t("before", { day: day(older.said_at), text: older.text }))),
    one.contradicts.map((other) => el("p", { class: "faint" }, t("contradicts", { day: day(other.said_at), text: other.text }))));
  if (changed(one)) made.append(history(made, value, one, asOf));
  return made;
}

/** Up to when a fact holds or held, when that was confirmed, and when it is asked about. */
export function holding({ superseded_by: newer, condition, confirmed_at, ask_on }) {
  const over = newer?.by === "condition";
  return [
    newer ? (over ? t("held_until", { day: day(newer.said_at) }) : t("since", { day: day(newer.said_at), text: newer.text })) : null,
    condition && !over ? t("holds_so", { condition: condition.text }) : null,
    confirmed_at ? t("confirmed_on", { day: day(confirmed_at) }) : null,
    ask_on ? t("asks_on", { day: day(ask_on) }) : null,
  ].filter(Boolean).map((text) => el("p", { class: "faint" }, text));
}

const QUOTED = t("quoted_note");

/** A label for what is not surely the person's own, with its meaning for eyes and ears; else null. */
export function whose({ speaker }) {
  if (speaker !== "quoted") return null;
  return el("span", { class: "tag", title: QUOTED }, t("quoted"), el("span", { class: "unseen" }, `: ${QUOTED}`));
}

function by(source) {
  if (source === "rule") return null;
  return el("span", { class: "tag" }, source === "user" ? t("by_you") : t("by_model", { source }));
}

function history(place, value, one, asOf) {
  const button = el("button", { type: "button", class: "quiet", ariaExpanded: "false" }, t("history"));
  button.onclick = () => {
    const shown = place.querySelector(".history");
    button.ariaExpanded = String(!shown);
    if (shown) return shown.remove();
    showHistory(place, value, one, asOf).catch(showError);
  };
  return button;
}
