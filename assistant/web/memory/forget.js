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
import { t } from "../page/words.js";

const CANNOT_BE_UNDONE = t("no_undo");

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
  const what = (counts) => t("counts_of", { counts, days: day(value.session_date), warning: CANNOT_BE_UNDONE });
  return forget(path`/v1/memories/${value.id}`, t("forget_memory_title"), what, { id: value.id });
}

/** Whether a conversation was forgotten. */
export function forgetSession(session) {
  const what = (counts) => t("counts_of", { counts, days: days(session.started_at, session.ended_at), warning: CANNOT_BE_UNDONE });
  const erased = { session: session.id };
  return forget(path`/v1/sessions/${session.id}`, t("forget_conversation_title"), what, erased);
}

/** Forgets everything of the user. */
export function forgetEverything() {
  const what = (counts) =>
    t("forget_all_note", { user: settings.user, counts, warning: CANNOT_BE_UNDONE });
  return forget(path`/v1/users/${settings.user}/memories`, t("forget_all_title"), what, { everything: true });
}

async function forget(where, title, what, erased) {
  const query = { user_id: settings.user };
  const would = await ask("DELETE", where, { query: { ...query, dry_run: true } });
  if (!would.rounds) return notice(t("nothing_to_forget"));
  const memories = counted(would.rounds, "memory");
  if (!(await confirmed(title, what(counts(would)), t("forget_memories", { memories })))) return false;
  const forgotten = await ask("DELETE", where, { query, headers: { "X-Memory-Receipt": "1" } });
  memoryChanged(erased);
  const { receipt } = forgotten;
  notice(t("forgotten", { counts: counts(forgotten) }), receipt && { label: t("save_receipt"), act: () => saveReceipt(receipt) });
  return true;
}

/** Saves what proves to the server itself what it forgot; nobody else keeps it. */
function saveReceipt(receipt) {
  save(new Blob([JSON.stringify(receipt, null, 2)], { type: "application/json" }), `${receipt.id}.json`);
}

function counts({ rounds, facts, sessions, answers }) {
  const parts = [["memory", rounds], ["fact", facts], ["conversation", sessions], ["withdrawn", answers]];
  return parts.filter(([, count]) => count).map(([noun, count]) => counted(count, noun)).join(", ");
}
