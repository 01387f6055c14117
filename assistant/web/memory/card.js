// One memory: when, what was said by whom, and the facts found in it.

import { dated, day, time } from "../page/dates.js";
import { el } from "../page/dom.js";
import { other } from "../server/space.js";
import { facts } from "./facts.js";
import { REACHES } from "./reach.js";
import { t } from "../page/words.js";

/** What is said of an answer that repeated something that is forgotten. */
export const WITHDRAWN = t("withdrawn");

const LONG = 600;

/** A memory as an article; `actions` are buttons or links below it. */
export function card(value, { actions = [], withDay = true, factsOnly = false, asOf } = {}) {
  const when = withDay ? `${day(value.session_date)}, ${time(value.session_date)}` : time(value.session_date);
  const answer = value.answer_withdrawn ? el("p", { class: "said faint" }, WITHDRAWN) : said(t("assistant"), value.assistant_text);
  const texts = factsOnly ? [] : [said(other(value) ?? t("you"), value.user_text), answer];
  return el("article", { class: "card", data: { id: value.id } },
    el("p", { class: "when" },
      dated(value.session_date, when),
      value.pinned ? el("span", { class: "tag" }, t("pinned")) : null,
      !actions.length && value.reach !== "anywhere" ? el("span", { class: "tag" }, REACHES[value.reach]) : null,
      value.corrected_at ? el("span", { class: "tag" }, t("corrected_on", { day: day(value.corrected_at) })) : null),
    texts,
    facts(value, { open: factsOnly, asOf }),
    actions.length ? el("p", { class: "actions" }, actions) : null);
}

function said(who, text) {
  if (!text) return null;
  const shown = el("span", { class: "words" }, shortened(text));
  const made = el("p", { class: "said" }, el("b", {}, who), shown);
  if (text.length > LONG) {
    const more = el("button", { type: "button", class: "quiet" }, t("show_all"));
    more.onclick = () => (shown.textContent = text, more.remove());
    made.append(more);
  }
  return made;
}

// Cut between words, where it has any.
const shortened = (text) => (text.length > LONG ? `${text.slice(0, LONG + 1).replace(/\s+\S*$/, "")} …` : text);
