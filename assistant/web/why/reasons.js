// Why one memory was found: how near it is, and what each signal added to that, in words.

import { el } from "../page/dom.js";
import { t } from "../page/words.js";

// Each signal has a colour of its own: the same in every bar and in the words below it.
const SIGNALS = {
  dense: t("signal_dense"),
  words: t("signal_words"),
  session_words: t("signal_session_words"),
  speaker: t("signal_speaker"),
  answers: t("signal_answers"),
  neighbours: t("signal_neighbours"),
  opening: t("signal_opening"),
  said_then: t("signal_said_then"),
  happened_then: t("signal_happened_then"),
  replaces: t("signal_replaces"),
};
const PLACES = Object.keys(SIGNALS);
const place = (signal) => Math.max(0, PLACES.indexOf(signal));

/** The similarity as a bar, made of what the signals added. */
export function bar(value) {
  const parts = value.reasons.filter(({ contribution }) => contribution > 0);
  return el("p", { class: "similarity" },
    el("span", {}, t("relevance"), el("b", {}, value.similarity.toFixed(2))),
    el("span", { class: "meter", ariaHidden: "true" }, parts.map(({ signal, contribution }) => {
      const part = el("span", { data: { part: place(signal) } });
      part.style.inlineSize = `${Math.min(100, contribution * 100)}%`;
      return part;
    })));
}

/** What each signal added, the most first, and what of the round it was. */
export function reasons(value) {
  const counting = value.reasons.filter(({ contribution }) => Math.abs(contribution) >= 0.005);
  const sorted = counting.toSorted((a, b) => Math.abs(b.contribution) - Math.abs(a.contribution));
  return el("ul", { class: "reasons" }, sorted.map(({ signal, contribution, because }) =>
    el("li", {},
      el("span", { class: "dot", ariaHidden: "true", data: { part: place(signal) } }),
      el("span", { class: "what" }, SIGNALS[signal] ?? signal.replaceAll("_", " "),
        because.length ? el("q", {}, because.join(" · ")) : null),
      el("span", { class: "number" }, `${contribution < 0 ? "−" : "+"}${Math.abs(contribution).toFixed(2)}`))));
}
