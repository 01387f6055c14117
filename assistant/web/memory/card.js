// One remembered round: when, what was said by whom, and the facts found in it.

import { day, time } from "../page/dates.js";
import { el } from "../page/dom.js";
import { facts } from "./facts.js";

const LONG = 600;

/** A round as an article; `actions` are buttons or links below it. */
export function card(value, { actions = [], dated = true, factsOnly = false, asOf } = {}) {
  const when = dated ? `${day(value.session_date)}, ${time(value.session_date)}` : time(value.session_date);
  const texts = factsOnly ? [] : [said("You", value.user_text), said("Assistant", value.assistant_text)];
  return el("article", { class: "card", data: { id: value.id } },
    el("p", { class: "when" },
      el("time", { dateTime: value.session_date }, when),
      value.corrected_at ? el("span", { class: "tag" }, `corrected ${day(value.corrected_at)}`) : null),
    texts,
    facts(value, { open: factsOnly, asOf }),
    actions.length ? el("p", { class: "actions" }, actions) : null);
}

function said(who, text) {
  if (!text) return null;
  const shown = el("span", { class: "words" }, shortened(text));
  const made = el("p", { class: "said" }, el("b", {}, who), shown);
  if (text.length > LONG) {
    const more = el("button", { type: "button", class: "quiet" }, "Show all");
    more.onclick = () => (shown.textContent = text, more.remove());
    made.append(more);
  }
  return made;
}

// Cut between words, where it has any.
const shortened = (text) => (text.length > LONG ? `${text.slice(0, LONG + 1).replace(/\s+\S*$/, "")} …` : text);
