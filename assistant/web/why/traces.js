// How answers came about, kept in this tab until it is closed: so that they can be explained after
// the page was loaded again. Of what was found only ids and reasons are kept; its text is read from
// memory when it is shown, so that nothing is shown that was forgotten.

import { settings } from "../page/settings.js";
import { ask } from "../server/api.js";

const KEPT = 40;
const NAME = "aide-memoire.why";
const AT_ONCE = 100;

let known = null;
const all = () => (known ??= JSON.parse(sessionStorage.getItem(NAME) ?? "[]"));

/** Keeps `{memory, question, key}` of an answer, by the id of what it became in memory. */
export function keepTrace(id, { memory, question, key }) {
  const data = (memory.data ?? []).map(({ id, session_id, similarity, reasons }) => ({ id, session_id, similarity, reasons }));
  keep([[id, { memory: { ...memory, kept: [], data }, question, key }], ...all().filter(([other]) => other !== id)].slice(0, KEPT));
}

/** What is kept of an answer, if anything. */
export const traceOf = (id) => all().find(([other]) => other === id)?.[1];

/** Lets go of the words of what was forgotten or put right: a memory, a session, or everything. */
export function letGo({ id, session, everything }) {
  if (everything) return keep([]);
  const isGone = (value) => value.id === id || value.session_id === session;
  const without = (value) => ({ ...value, reasons: value.reasons.map((reason) => ({ ...reason, because: [] })) });
  const trimmed = ({ memory, ...trace }) =>
    memory.data.some(isGone)
      ? { ...trace, memory: { ...memory, notes: "", looks: [], data: memory.data.map((value) => (isGone(value) ? without(value) : value)) } }
      : { memory, ...trace };
  keep(all().filter(([kept]) => kept !== id).map(([kept, trace]) => [kept, trimmed(trace)]));
}

/** A trace with what was found as memory has it now; what is gone is left out. */
export async function whole(memory) {
  const known = new Set(memory.data.map(({ id }) => id));
  const looked = (memory.looks ?? []).flatMap(({ found }) => found).filter((id) => !known.has(id));
  const read = await remembered([...memory.data.filter(({ facts }) => !facts).map(({ id }) => id), ...looked]);
  const data = memory.data.map((value) => (value.facts ? value : read.has(value.id) && { ...read.get(value.id), ...value }));
  return {
    ...memory,
    data: data.filter(Boolean),
    looked: looked.map((id) => read.get(id)).filter(Boolean),
    gone: data.filter((value) => !value).length,
  };
}

/** Those of these memories that are there, by their ids. */
export async function remembered(ids) {
  const found = new Map();
  for (let start = 0; start < ids.length; start += AT_ONCE) {
    const some = ids.slice(start, start + AT_ONCE).map((id) => ["id", id]);
    const query = [["user_id", settings.user], ["limit", AT_ONCE], ...some];
    for (const value of (await ask("GET", "/v1/memories", { query })).data) found.set(value.id, value);
  }
  return found;
}

/** Where the browser has no more room, the oldest go first. */
function keep(traces) {
  for (let some = traces; ; some = some.slice(0, Math.floor(some.length / 2))) {
    try {
      sessionStorage.setItem(NAME, JSON.stringify((known = some)));
      return;
    } catch (error) {
      if (!some.length) throw error;
    }
  }
}
