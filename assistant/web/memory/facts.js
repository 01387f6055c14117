// The facts of a memory: what they say, of which days, and what became of them.

import { showError } from "../page/banner.js";
import { day, range } from "../page/dates.js";
import { counted, el } from "../page/dom.js";
import { showHistory } from "./history.js";

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
    one.supersedes.map((older) => el("p", { class: "faint" }, `Before (${day(older.said_at)}): ${older.text}`)),
    one.contradicts.map((other) => el("p", { class: "faint" }, `Contradicts (${day(other.said_at)}): ${other.text}`)));
  if (changed(one)) made.append(history(made, value, one, asOf));
  return made;
}

/** Up to when a fact holds or held, when that was confirmed, and when it is asked about. */
export function holding({ superseded_by: newer, condition, confirmed_at, ask_on }) {
  const over = newer?.by === "condition";
  return [
    over ? `Held until ${day(newer.said_at)}` : newer ? `Since ${day(newer.said_at)}: ${newer.text}` : null,
    condition && !over ? `Holds ${condition.text}` : null,
    confirmed_at ? `Confirmed ${day(confirmed_at)}` : null,
    ask_on ? `Asked again on ${day(ask_on)}` : null,
  ].filter(Boolean).map((text) => el("p", { class: "faint" }, text));
}

const QUOTED = "It stands in a message that quotes, pastes or makes up a text, so it may be another's. It replaces nothing.";

/** A label for what is not surely the person's own, with its meaning for eyes and ears; else null. */
export function whose({ speaker }) {
  if (speaker !== "quoted") return null;
  return el("span", { class: "tag", title: QUOTED }, "quoted", el("span", { class: "unseen" }, `: ${QUOTED}`));
}

function by(source) {
  if (source === "rule") return null;
  return el("span", { class: "tag" }, source === "user" ? "as you put it" : `found by ${source}`);
}

function history(place, value, one, asOf) {
  const button = el("button", { type: "button", class: "quiet", ariaExpanded: "false" }, "History");
  button.onclick = () => {
    const shown = place.querySelector(".history");
    button.ariaExpanded = String(!shown);
    if (shown) return shown.remove();
    showHistory(place, value, one, asOf).catch(showError);
  };
  return button;
}
