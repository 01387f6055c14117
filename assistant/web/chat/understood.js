// What was understood of a message, in one line: whether it is kept, the days it is about, what it
// replaces.

import { shortDay, shortDays } from "../page/dates.js";
import { el } from "../page/dom.js";
import { t } from "../page/words.js";

const MOST = 2;
const LONGEST = 60;

/** The line; null for a message that told nothing. `onUndo` is to forget what it told. */
export function understood(memory, onUndo) {
  if (memory?.outcome === "refused") return line(t("not_kept"));
  if (!memory?.round_id || (memory.outcome !== "kept" && !memory.kept.length)) return null;
  const days = memory.kept.flatMap((one) => one.days).toSorted((a, b) => (begin(a) < begin(b) ? -1 : 1));
  const made = line(t("kept"), about(days), replaces(memory.kept.flatMap((one) => one.replaces), memory.now));
  const label = t("undo_note");
  made.append(" · ", el("button", { type: "button", class: "quiet", ariaLabel: label, title: label, onclick: onUndo }, t("undo")));
  return made;
}

/** The line of a message that was kept, and is forgotten. */
export const removed = () => line(t("removed"));

/** What a line says, without its button; nothing of no line. */
export const wordsOf = (made) => made?.querySelector(".words").textContent ?? "";

/** The ids of what is said, in a message or the log, to have been replaced. */
export const replacedIn = (place) =>
  [...place.querySelectorAll(".understood [data-older]")].flatMap(({ dataset }) => dataset.older.split(" "));

/** Takes from the line of a message what it replaced. */
export const letGoOfReplaced = (message) => message.querySelector(".understood [data-older]").remove();

const line = (...words) => el("p", { class: "understood faint" }, el("span", { class: "words" }, words));
const begin = ({ first, last }) => first ?? last ?? "";

function about(days) {
  const texts = [...new Set(days.map(shortDays))];
  return texts.length ? t("about", { what: listed(texts) }) : null;
}

function replaces(older, now) {
  const texts = [...new Set(older.map(({ text, said_at }) => `“${shortened(text)}” (${shortDay(said_at, now)})`))];
  if (!texts.length) return null;
  return el("span", { data: { older: older.map(({ id }) => id).join(" ") } }, t("replaces", { what: listed(texts) }));
}

/** "a", "a and b", "a, b and 2 more". */
function listed(texts) {
  const more = texts.length - MOST;
  if (more > 0) return t("and_more", { few: texts.slice(0, MOST).join(", "), count: more });
  return texts.length > 1 ? t("both", { first: texts[0], second: texts[1] }) : texts.join();
}

function shortened(text) {
  const whole = text.trim().replace(/\.$/, "");
  return whole.length > LONGEST ? `${whole.slice(0, LONGEST + 1).replace(/\s+\S*$/, "")} …` : whole;
}
