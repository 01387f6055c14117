// Forgetting: one round, a conversation, everything; each counted first. Others hear of it by
// `memory-changed`.

import { confirmed } from "../page/confirm.js";
import { day } from "../page/dates.js";
import { counted } from "../page/dom.js";
import { notice } from "../page/notice.js";
import { settings } from "../page/settings.js";
import { ask, path } from "../server/api.js";

const CANNOT_BE_UNDONE = "This cannot be undone.";

/** Tells the other parts of the page that memory is not what it was; `gone` is a session. */
export const memoryChanged = (gone) =>
  document.dispatchEvent(new CustomEvent("memory-changed", { detail: { gone } }));

/** Whether one round was forgotten. */
export function forgetRound(value) {
  const what = (counts) => `${counts} of ${day(value.session_date)}. ${CANNOT_BE_UNDONE}`;
  return forget(path`/v1/memories/${value.id}`, "Forget this memory?", what);
}

/** Whether a conversation was forgotten. */
export function forgetSession(session) {
  const days = `from ${day(session.started_at)} to ${day(session.ended_at)}`;
  const what = (counts) => `${counts} ${days}. ${CANNOT_BE_UNDONE}`;
  return forget(path`/v1/sessions/${session.id}`, "Forget this conversation?", what, session.id);
}

/** Forgets everything of the user. */
export function forgetEverything() {
  const what = (counts) =>
    `All that is remembered of the user “${settings.user}”: ${counts}. ${CANNOT_BE_UNDONE} An export keeps a copy.`;
  return forget(path`/v1/users/${settings.user}/memories`, "Forget everything?", what);
}

async function forget(where, title, what, gone) {
  const query = { user_id: settings.user };
  const would = await ask("DELETE", where, { query: { ...query, dry_run: true } });
  if (!would.rounds) return notice("There is nothing to forget.");
  const rounds = counted(would.rounds, "round");
  if (!(await confirmed(title, what(counts(would)), `Forget ${rounds}`))) return false;
  const forgotten = await ask("DELETE", where, { query });
  memoryChanged(gone);
  notice(`Forgotten: ${counts(forgotten)}.`);
  return true;
}

function counts({ rounds, facts, sessions, answers }) {
  const parts = [["round", rounds], ["fact", facts], ["conversation", sessions], ["withdrawn answer", answers]];
  return parts.filter(([, count]) => count).map(([noun, count]) => counted(count, noun)).join(", ");
}
