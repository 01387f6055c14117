// Why this answer: what the question said about time, what was found and why, what was left out.

import { card } from "../memory/card.js";
import { day, range, time } from "../page/dates.js";
import { byId, counted, el } from "../page/dom.js";
import { bar, reasons } from "./reasons.js";
import { whole } from "./traces.js";
import { LOCALE, t, tn } from "../page/words.js";

const LEFT_OUT = {
  replaced: t("left_replaced"), in_conflict: t("left_in_conflict"), at_odds: t("left_at_odds"),
  expired: t("left_expired"), others: t("left_others"), answers: t("left_answers"),
};
let opener = null;

/** Shows how the server came to an answer, from the `memory` it sent along, and marks the answer. */
export async function showWhy(trace, question, message) {
  const memory = await whole(trace);
  hideWhy();
  opener = document.activeElement;
  message.classList.add("explained");
  const panel = byId("why");
  const close = el("button", { type: "button", class: "quiet", onclick: hideWhy, ariaLabel: t("close") }, "✕");
  panel.replaceChildren(
    el("header", {}, el("h2", {}, t("why_this_answer")), close),
    el("blockquote", { class: "question" }, question),
    el("p", { class: "story" }, story(memory)),
    asked(memory),
    ...notes(memory),
    ...groups(memory),
    timings(memory.timings));
  panel.hidden = false;
  panel.scrollTop = 0;
  close.focus();
}

export function hideWhy() {
  const panel = byId("why");
  if (panel.hidden) return;
  panel.hidden = true;
  document.querySelector(".explained")?.classList.remove("explained");
  opener?.focus();
}

/** The whole of it in two sentences. */
function story({ data, read, dropped, notes: made, gone }) {
  if (!data.length && !gone) return t("story_none");
  const since = gone ? tn("story_gone", gone) : "";
  const found = t("story_found", { memories: counted(data.length + gone, "memory"), gone: since });
  if (!read.length) return t("story_none_near", { found });
  const from = read.length === data.length + gone ? t("story_all") : t("story_nearest", { count: read.length });
  const left = dropped.length ? t("story_dropped", { count: dropped.length }) : "";
  return `${found} ${from}${left}.${made ? t("story_notes") : ""}`;
}

function asked(memory) {
  const { time_range, understanding, trimmed = [] } = memory;
  const lines = [
    [t("asked"), `${day(memory.now)}, ${time(memory.now)}`],
    [t("time_meant"), time_range ? `${range(time_range)} (“${time_range.text}”)` : t("names_no_time")],
    memory.as_of && [t("as_known_on"), t("known_then", { day: day(memory.as_of) })],
    understanding && understanding.by !== "rule" && [t("read_by"), understanding.by],
    understanding?.queries?.length && [t("looked_for"), understanding.queries.join(" · ")],
    understanding?.failure && [t("read_by_rules"), t("model_could_not", { why: understanding.failure })],
    ...(memory.looks ?? []).map((look) =>
      [t("looked_again"), t("looked_found", { what: look.tool.replaceAll("_", " "), asked: look.asked, memories: counted(look.found.length, "memory") })]),
    memory.held_back && [t("held_back"), t("held_back_note", { memories: counted(memory.held_back, "memory") })],
    Object.keys(memory.left_out ?? {}).length && [t("left_out_facts"), leftOut(memory.left_out)],
    memory.context_tokens && [t("read"), readOf(memory.context_tokens, trimmed.length)],
  ];
  return el("dl", {}, lines.filter(Boolean).map(([name, text]) => [el("dt", {}, name), el("dd", {}, text)]).flat());
}

/** What strict recall left out: how many, and why. */
const leftOut = (counts) =>
  Object.entries(counts).map(([why, many]) => `${many.toLocaleString(LOCALE)} ${LEFT_OUT[why] ?? why}`).join(", ");

function readOf(tokens, trimmed) {
  const read = counted(tokens, "token");
  return trimmed ? t("read_shortened", { tokens: read, memories: counted(trimmed, "memory") }) : read;
}

function groups(memory) {
  const [read, dropped, trimmed] = [memory.read, memory.dropped, memory.trimmed].map((ids) => new Set(ids));
  const found = memory.data.map((value) => ({ ...value, trimmed: trimmed.has(value.id) }));
  return [
    group(t("answered_from"), found.filter(({ id }) => read.has(id)), { open: true }),
    group(t("found_again"), memory.looked, { show: card }),
    group(t("left_out_group"), found.filter(({ id }) => dropped.has(id)),
      { note: t("left_out_note") }),
    group(t("unused"), found.filter(({ id }) => !read.has(id) && !dropped.has(id)),
      { note: t("unused_note") }),
  ].filter(Boolean);
}

function group(title, values, { open = false, note, show = hit } = {}) {
  if (!values.length) return null;
  return el("details", { open, class: "group" },
    el("summary", {}, el("h3", {}, title), el("span", { class: "faint" }, counted(values.length, "memory"))),
    note ? el("p", {}, note) : null,
    values.map((value) => show(value)));
}

function hit(value) {
  return el("div", { class: "hit" },
    card(value),
    value.trimmed ? el("p", { class: "faint" }, t("reply_shortened")) : null,
    bar(value), reasons(value));
}

function notes(memory) {
  if (!memory.notes?.trim()) return [];
  return [el("details", { open: true, class: "group" },
    el("summary", {}, el("h3", {}, t("model_notes"))), el("pre", { tabIndex: 0 }, memory.notes.trim()))];
}

function timings(all) {
  const names = { recall_ms: t("remembering"), read_ms: t("answering_time"), store_ms: t("keeping"), looking_ms: t("looking_again") };
  const parts = Object.entries(all).map(([name, ms]) => `${names[name] ?? name} ${Math.round(ms)} ms`);
  return el("p", { class: "faint" }, t("it_took", { parts: parts.join(", ") }));
}
