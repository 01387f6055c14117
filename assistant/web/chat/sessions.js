// The conversations of the user, newest first, under the day or month they began.

import { showError } from "../page/banner.js";
import { heading } from "../page/dates.js";
import { byId, el } from "../page/dom.js";
import { settings } from "../page/settings.js";
import { ask } from "../server/api.js";
import { titleOf } from "./title.js";
import { t } from "../page/words.js";

const AT_ONCE = 100;
let all = [];

/** Read the list anew; it is returned too. */
export async function readSessions() {
  const user_id = settings.user;
  try {
    const listed = (await ask("GET", "/v1/sessions", { query: { user_id } })).data.reverse();
    if (user_id !== settings.user) return all;
    all = listed;
    show(Math.max(AT_ONCE, byId("sessions").querySelectorAll("a").length));
  } catch (error) {
    showError(error);
  }
  return all;
}

/** Mark the one in view. */
export function markSession(id) {
  for (const link of byId("sessions").querySelectorAll("a")) {
    link.ariaCurrent = link.dataset.id === id ? "page" : null;
  }
}

function show(count) {
  const current = byId("sessions").querySelector("[aria-current]")?.dataset.id;
  const made = [];
  let under = null;
  for (const session of all.slice(0, count)) {
    const title = heading(session.started_at);
    if (title !== under) made.push(el("h2", {}, (under = title)));
    const href = `#/chat/${encodeURIComponent(session.id)}`;
    made.push(el("a", { class: "row", href, title: session.opening, data: { id: session.id } }, titleOf(session)));
  }
  if (all.length > count) {
    const older = el("button", { type: "button", class: "quiet" }, t("older_conversations"));
    older.onclick = () => show(count + AT_ONCE);
    made.push(older);
  }
  if (!all.length) made.push(el("p", { class: "faint" }, t("no_conversations")));
  byId("sessions").replaceChildren(...made);
  const [, shown] = location.hash.split("/chat/");
  markSession(current ?? (shown && decodeURIComponent(shown)));
}
