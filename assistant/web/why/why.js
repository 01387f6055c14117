// Why this answer: what the question said about time, what was found and why, what was left out.

import { card } from "../memory/card.js";
import { day, range, time } from "../page/dates.js";
import { byId, counted, el } from "../page/dom.js";
import { bar, reasons } from "./reasons.js";
import { whole } from "./traces.js";

const LEFT_OUT = {
  replaced: "replaced since", in_conflict: "in conflict", at_odds: "at odds", expired: "expired",
  others: "not surely in your own words", answers: "in answers",
};
let opener = null;

/** Shows how the server came to an answer, from the `memory` it sent along, and marks the answer. */
export async function showWhy(trace, question, message) {
  const memory = await whole(trace);
  hideWhy();
  opener = document.activeElement;
  message.classList.add("explained");
  const panel = byId("why");
  const close = el("button", { type: "button", class: "quiet", onclick: hideWhy, ariaLabel: "Close" }, "✕");
  panel.replaceChildren(
    el("header", {}, el("h2", {}, "Why this answer"), close),
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
  if (!data.length && !gone) return "Nothing that is remembered has to do with the question, so the answer is not from memory.";
  const since = gone ? ` ${counted(gone, "memory")} of them ${gone === 1 ? "is" : "are"} gone since.` : "";
  const found = `${counted(data.length + gone, "memory")} came to mind.${since}`;
  if (!read.length) return `${found} None was near enough to answer from.`;
  const from = read.length === data.length + gone ? "The answer was made from all of them" : `The answer was made from the ${read.length} nearest`;
  const left = dropped.length ? `; ${dropped.length} more did not fit into what is read at once` : "";
  return `${found} ${from}${left}.${made ? " Notes were taken first." : ""}`;
}

function asked(memory) {
  const { time_range, understanding, trimmed = [] } = memory;
  const lines = [
    ["Asked", `${day(memory.now)}, ${time(memory.now)}`],
    ["Time meant", time_range ? `${range(time_range)} (“${time_range.text}”)` : "the question names no time"],
    memory.as_of && ["As known on", `${day(memory.as_of)}: nothing said later counts`],
    understanding && understanding.by !== "rule" && ["Question read by", understanding.by],
    understanding?.queries?.length && ["Also looked for", understanding.queries.join(" · ")],
    understanding?.failure && ["Read by rules", `the model could not: ${understanding.failure}`],
    ...(memory.looks ?? []).map((look) =>
      ["Looked again", `${look.tool.replaceAll("_", " ")} “${look.asked}”: ${counted(look.found.length, "memory")} more`]),
    memory.held_back && ["Held back", `${counted(memory.held_back, "memory")} that may not be read for this answer`],
    Object.keys(memory.left_out ?? {}).length && ["Left out", Object.entries(memory.left_out).map(([why, many]) => `${many} ${LEFT_OUT[why] ?? why}`).join(", ")],
    memory.context_tokens && ["Read", `${counted(memory.context_tokens, "token")}${trimmed.length ? `, ${counted(trimmed.length, "memory")} shortened` : ""}`],
  ];
  return el("dl", {}, lines.filter(Boolean).map(([name, text]) => [el("dt", {}, name), el("dd", {}, text)]).flat());
}

function groups(memory) {
  const [read, dropped, trimmed] = [memory.read, memory.dropped, memory.trimmed].map((ids) => new Set(ids));
  const found = memory.data.map((value) => ({ ...value, trimmed: trimmed.has(value.id) }));
  return [
    group("Answered from", found.filter(({ id }) => read.has(id)), { open: true }),
    group("Found when the model looked again", memory.looked, { show: card }),
    group("Left out: did not fit", found.filter(({ id }) => dropped.has(id)),
      { note: "Near enough, but there is a limit to what is read at once, and others were nearer." }),
    group("Found, and not used", found.filter(({ id }) => !read.has(id) && !dropped.has(id)),
      { note: "Found, and not used: others answered the question better." }),
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
    value.trimmed ? el("p", { class: "faint" }, "The long reply was shortened before it was read.") : null,
    bar(value), reasons(value));
}

function notes(memory) {
  if (!memory.notes?.trim()) return [];
  return [el("details", { open: true, class: "group" },
    el("summary", {}, el("h3", {}, "Notes of the model")), el("pre", { tabIndex: 0 }, memory.notes.trim()))];
}

function timings(all) {
  const names = { recall_ms: "remembering", read_ms: "answering", store_ms: "keeping", looking_ms: "looking again" };
  const parts = Object.entries(all).map(([name, ms]) => `${names[name] ?? name} ${Math.round(ms)} ms`);
  return el("p", { class: "faint" }, `It took: ${parts.join(", ")}.`);
}
