// The memory browser: memories by date, page by page, or those near to a query. What only asks is
// left out unless it is wanted.

import { hideError, showError } from "../page/banner.js";
import { dated, day } from "../page/dates.js";
import { byId, counted, el } from "../page/dom.js";
import { settings } from "../page/settings.js";
import { readSessions } from "../chat/sessions.js";
import { notice } from "../page/notice.js";
import { ask, path } from "../server/api.js";
import { here, isReader, mayForget, other } from "../server/space.js";
import { card } from "./card.js";
import { healthCard, noFinding, readHealth } from "./health.js";
import { openCorrection } from "./correct.js";
import { forgetEverything, forgetRound } from "./forget.js";
import { Pages } from "./pages.js";
import { reachChoice } from "./reach.js";
import { showTimeline } from "./timeline.js";
import { bringIn, saveExport, savePortable } from "./transfer.js";
import { t, tn } from "../page/words.js";

const AT_ONCE = 50;
let pages = null;

/** Wire the controls. */
export function startMemories() {
  byId("filter").onsubmit = (event) => {
    event.preventDefault();
    showMemories();
  };
  byId("filter").onreset = () => setTimeout(showMemories);
  for (const id of ["questions-too", "facts-only", "health", "from", "to", "as-of"]) byId(id).onchange = showMemories;
  byId("export").onclick = () => saveExport().catch(showError);
  byId("export-pam").onclick = () => savePortable().catch(showError);
  byId("import").onclick = () => byId("import-file").click();
  byId("import-file").onchange = importFile;
  byId("forget-all").onclick = () => forgetEverything().catch(showError);
}

/** List anew from the top. */
export function showMemories() {
  if (pages) hideError(); // before the first list, it is about something else
  return listAnew();
}

async function listAnew() {
  const list = byId("list");
  pages?.close();
  const mine = (pages = new Pages(list, { root: byId("memories"), read, show, onError: showError }));
  showWeak([]);
  byId("as-of-note").hidden = !byId("as-of").value;
  try {
    const sessions = readSessions();
    const first = await mine.start();
    if (mine !== pages) return;
    byId("memories").scrollTop = 0;
    if (!first.data.length) list.replaceChildren(nothing());
    showTimeline(await sessions, { from: byId("from").value, to: byId("to").value }, listDays);
  } catch (error) {
    if (mine === pages) showError(error);
  }
}

/** Read again what is listed, where it is. */
export async function refreshMemories() {
  const sessions = await readSessions();
  showTimeline(sessions, { from: byId("from").value, to: byId("to").value }, listDays);
  await pages?.refresh();
  if (!byId("list").querySelector(".card")) await listAnew();
}

const value = (id) => byId(id).value.trim() || undefined;
const finding = () => byId("health").value;
const byMeaning = () => byId("by").value === "meaning" && value("text") !== undefined;

async function read(after) {
  const mine = pages;
  const found = await (finding() ? readHealth(finding(), after, AT_ONCE) : byMeaning() ? search() : page(after));
  // What was asked for before may come after what is asked for now.
  if (mine === pages) byId("total").textContent = counted(found.total, finding() === "contradictory" ? "conflict" : finding() ? "fact" : "memory");
  return found;
}

function page(after) {
  const days = { from: value("from"), to: value("to"), as_of: value("as-of") };
  const questions = byId("questions-too").checked;
  const query = { user_id: settings.user, text: value("text"), questions, limit: AT_ONCE, after, ...days };
  return ask("GET", "/v1/memories", { query });
}

/** What is near to the query; what is further off is shown on demand. */
async function search() {
  const days = { from: value("from"), to: value("to"), as_of: value("as-of") };
  const questions = byId("questions-too").checked;
  const send = { user_id: settings.user, query: value("text"), questions, top_k: AT_ONCE, ...days };
  const found = await ask("POST", "/v1/memories/search", { send });
  const data = found.data.filter(({ near }) => near);
  showWeak(found.data.filter(({ near }) => !near));
  return { data, total: data.length, next: null };
}

/** Offers what is not near to the query. */
function showWeak(values) {
  const button = el("button", { type: "button", class: "quiet" }, t("show_them"));
  button.onclick = () => {
    byId("weak").hidden = true;
    byId("list").querySelector(".welcome")?.remove();
    byId("list").append(...show(values));
  };
  byId("weak").hidden = !values.length;
  byId("weak").replaceChildren(tn("weaker", values.length), button);
}

/** The cards of a page, under the days they are of; `before` is the one listed before them. */
function show(values, before) {
  if (finding()) return values.map(healthCard);
  const byDate = !byMeaning();
  const factsOnly = byId("facts-only").checked;
  const made = [];
  let under = before && day(before.session_date);
  for (const one of values) {
    if (factsOnly && !one.facts.length) continue;
    const title = day(one.session_date);
    if (byDate && title !== under) made.push(el("h2", {}, dated(one.session_date, (under = title))));
    made.push(remembered(one, { factsOnly, withDay: !byDate, asOf: value("as-of") }));
  }
  return made;
}

function remembered(one, how) {
  const href = `#/chat/${encodeURIComponent(one.session_id)}`;
  const button = (label, act) => el("button", { type: "button", class: "quiet", onclick: act }, label);
  const mayAct = !isReader() && mayForget(one);
  const actions = [
    el("a", { class: "quiet", href }, t("conversation_link")),
    other(one) || isReader() ? null : button(t("correct"), () => openCorrection(one)),
    mayAct ? button(t(one.pinned ? "unpin" : "pin"), () => pin(one).catch(showError)) : null,
    mayAct ? button(t("forget"), () => forgetRound(one).catch(showError)) : null,
    !here() || here().role === "owner" ? reachChoice(one) : null,
  ].filter(Boolean);
  // What is known as of an earlier day is for reading.
  return card(one, { ...how, actions: how.asOf ? actions.slice(0, 1) : actions });
}

async function pin({ id, pinned }) {
  await ask(pinned ? "DELETE" : "PUT", path`/v1/memories/${id}/pin`, { query: { user_id: settings.user } });
  notice(t(pinned ? "unpinned" : "pinned_note"));
  await refreshMemories();
}

function listDays(first, last) {
  byId("from").value = first;
  byId("to").value = last;
  showMemories();
}

async function importFile() {
  const [file] = byId("import-file").files;
  byId("import-file").value = "";
  if (file) await bringIn(file).catch(showError);
}

function nothing() {
  if (finding()) return noFinding(finding());
  const tell = (title, text) => el("div", { class: "welcome" }, el("h2", {}, title), el("p", {}, text));
  const left = byId("questions-too").checked ? "" : t("questions_left");
  if (byMeaning()) return tell(t("nothing_near"), t("nothing_near_note") + left);
  if (value("text")) return tell(t("nothing_matches"), t("nothing_matches_note") + left);
  if (value("from") || value("to") || value("as-of")) {
    return tell(t("nothing_then"), left && t("nothing_then_note"));
  }
  return el("div", { class: "welcome" },
    el("h2", {}, t("nothing_yet")),
    el("p", {}, t("nothing_yet_note")),
    el("p", {}, el("a", { href: "#/chat" }, t("tell_something")), t("or_import")));
}
