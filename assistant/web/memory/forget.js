// Forgetting: one memory, a conversation, everything; each counted first. Others hear of it by
// `memory-changed`, in the other tabs too.

import { confirmed } from "../page/confirm.js";
import { day, days } from "../page/dates.js";
import { counted } from "../page/dom.js";
import { notice } from "../page/notice.js";
import { save } from "../page/save.js";
import { settings } from "../page/settings.js";
import { tellTabs } from "../page/tabs.js";
import { ask, path } from "../server/api.js";
import { letGo } from "../why/traces.js";

const CANNOT_BE_UNDONE = "This cannot be undone.";

/**
 * Tells the other parts of the page, and other tabs, that memory is not what it was; `erased` is
 * what was forgotten or put right: `{id}`, `{session}` or `{everything}`.
 */
export function memoryChanged(erased) {
  tellTabs({ erased });
  heard({ erased });
}

/** What another tab told. */
export const changedElsewhere = ({ erased }) => heard({ erased, elsewhere: true });

function heard({ erased, elsewhere = false }) {
  if (erased) letGo(erased);
  const detail = { gone: erased?.session, elsewhere };
  document.dispatchEvent(new CustomEvent("memory-changed", { detail }));
}

/** Whether one memory was forgotten. */
export function forgetRound(value) {
  const what = (counts) => `${counts} of ${day(value.session_date)}. ${CANNOT_BE_UNDONE}`;
  return forget(path`/v1/memories/${value.id}`, "Forget this memory?", what, { id: value.id });
}

/** Whether a conversation was forgotten. */
export function forgetSession(session) {
  const what = (counts) => `${counts} of ${days(session.started_at, session.ended_at)}. ${CANNOT_BE_UNDONE}`;
  const erased = { session: session.id };
  return forget(path`/v1/sessions/${session.id}`, "Forget this conversation?", what, erased);
}

/** Forgets everything of the user. */
export function forgetEverything() {
  const what = (counts) =>
    `All that is remembered of the user “${settings.user}”: ${counts}. ${CANNOT_BE_UNDONE} An export keeps a copy.`;
  return forget(path`/v1/users/${settings.user}/memories`, "Forget everything?", what, { everything: true });
}

async function forget(where, title, what, erased) {
  const query = { user_id: settings.user };
  const would = await ask("DELETE", where, { query: { ...query, dry_run: true } });
  if (!would.rounds) return notice("There is nothing to forget.");
  const memories = counted(would.rounds, "memory");
  if (!(await confirmed(title, what(counts(would)), `Forget ${memories}`))) return false;
  const forgotten = await ask("DELETE", where, { query, headers: { "X-Memory-Receipt": "1" } });
  memoryChanged(erased);
  const { receipt } = forgotten;
  notice(`Forgotten: ${counts(forgotten)}.`, receipt && { label: "Save the receipt", act: () => saveReceipt(receipt) });
  return true;
}

/** Saves what proves to the server itself what it forgot; nobody else keeps it. */
function saveReceipt(receipt) {
  save(new Blob([JSON.stringify(receipt, null, 2)], { type: "application/json" }), `${receipt.id}.json`);
}

function counts({ rounds, facts, sessions, answers }) {
  const parts = [["memory", rounds], ["fact", facts], ["conversation", sessions], ["withdrawn answer", answers]];
  return parts.filter(([, count]) => count).map(([noun, count]) => counted(count, noun)).join(", ");
}
