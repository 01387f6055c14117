// What the conversation in view is called, when it was, and how to call it otherwise.

import { memoryChanged } from "../memory/forget.js";
import { days } from "../page/dates.js";
import { byId, counted } from "../page/dom.js";
import { settings } from "../page/settings.js";
import { ask, path } from "../server/api.js";
import { mayForget } from "../server/space.js";
import { t } from "../page/words.js";

let shown = null;

/** Its title, or how it begins. */
export const titleOf = (session) => session.title ?? (session.opening || t("no_words"));

/** Show it above the conversation. */
export function showTitle(session) {
  shown = session;
  byId("chat-head").hidden = false;
  byId("chat-head").querySelector(".actions").hidden = !mayForget(session.data?.[0] ?? {});
  byId("chat-title").textContent = titleOf(session);
  byId("chat-when").textContent = `${days(session.started_at, session.ended_at)} · ${counted(session.rounds, "message")}`;
}

export function hideTitle() {
  shown = null;
  byId("chat-head").hidden = true;
}

/** Wire the button and its dialog. */
export function startTitle() {
  const dialog = byId("rename");
  byId("rename-session").onclick = () => {
    byId("rename-title").value = shown.title ?? "";
    byId("rename-title").placeholder = titleOf(shown);
    byId("rename-error").textContent = "";
    dialog.showModal();
  };
  byId("rename-cancel").onclick = () => dialog.close();
  byId("rename-form").onsubmit = (event) => {
    event.preventDefault();
    rename(dialog);
  };
}

async function rename(dialog) {
  const send = { user_id: settings.user, title: byId("rename-title").value.trim() };
  try {
    showTitle(await ask("PATCH", path`/v1/sessions/${shown.id}`, { send }));
    dialog.close();
    memoryChanged();
  } catch (error) {
    byId("rename-error").textContent = error.message;
  }
}
