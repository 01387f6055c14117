// How much is remembered of each month, or of each day of one; a bar chosen is what is listed.

import { day, daysOf, month } from "../page/dates.js";
import { byId, counted, el } from "../page/dom.js";
import { t } from "../page/words.js";

const MOST_MONTHS = 60;

/**
 * Show the months of these sessions, or the days of the month that is listed.
 * `onChosen` gets the first and the last day of what is chosen, both empty for all.
 */
export function showTimeline(sessions, { from, to }, onChosen) {
  const chosen = from && from.slice(0, 7) === to.slice(0, 7) ? from.slice(0, 7) : null;
  const counts = countsBy(sessions, chosen ? (key) => key : (key) => key.slice(0, 7));
  const keys = chosen ? daysOf(chosen) : monthsOf([...counts.keys()]);
  const bars = keys.map((key) => bar(key, counts.get(key) ?? 0, Math.max(1, ...keys.map((one) => counts.get(one) ?? 0))));
  bars.forEach((one, place) => {
    const [first, last] = chosen ? [keys[place], keys[place]] : [`${keys[place]}-01`, daysOf(keys[place]).at(-1)];
    one.onclick = () => onChosen(first, last);
    one.ariaPressed = String(first === from && last === to);
  });
  const timeline = byId("timeline");
  timeline.hidden = !sessions.length;
  timeline.replaceChildren(
    head(chosen, keys, () => onChosen("", "")),
    el("div", { class: "bars", role: "group", ariaLabel: chosen ? t("by_day", { month: month(chosen) }) : t("by_month"), onkeydown: walk }, bars));
  bars.forEach((one, place) => (one.tabIndex = place === bars.length - 1 ? 0 : -1));
}

function countsBy(sessions, keyOf) {
  const counts = new Map();
  for (const { days } of sessions) {
    for (const { day: said, rounds: count } of days) counts.set(keyOf(said), (counts.get(keyOf(said)) ?? 0) + count);
  }
  return counts;
}

/** Every month from the first to the last one, those without any too: a gap is seen as one. */
function monthsOf(found) {
  const [first, last] = [found.toSorted().at(0), found.toSorted().at(-1)];
  const months = [];
  for (let key = last; key && key >= first && months.length < MOST_MONTHS; key = before(key)) months.unshift(key);
  return months;
}

function before(key) {
  const [year, number] = key.split("-").map(Number);
  return new Date(Date.UTC(year, number - 2, 1)).toISOString().slice(0, 7);
}

function head(chosen, keys, onAll) {
  const ends = chosen ? [month(chosen)] : [...new Set([keys.at(0), keys.at(-1)])].filter(Boolean).map(month);
  return el("p", { class: "ends" },
    chosen ? el("button", { type: "button", class: "quiet", onclick: onAll }, t("all_months")) : null,
    ends.map((text) => el("span", {}, text)));
}

function bar(key, count, highest) {
  const label = `${key.length > 7 ? day(key) : month(key)}: ${counted(count, "message")}`;
  const shown = el("span");
  shown.style.blockSize = count ? `${Math.max(6, (count / highest) * 100)}%` : "0";
  return el("button", { type: "button", title: label, ariaLabel: label, disabled: !count }, shown);
}

/** One bar is in the order of Tab; the arrows go on from it. */
function walk(event) {
  const step = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
  if (!step) return;
  event.preventDefault();
  let next = document.activeElement;
  do next = step < 0 ? next.previousElementSibling : next.nextElementSibling;
  while (next?.disabled);
  next?.focus();
}
