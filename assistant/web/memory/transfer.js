// A user's memory as a file: saved, and brought in piece by piece.

import { showLeftOut, showNotBroughtIn } from "../page/banner.js";
import { confirmed } from "../page/confirm.js";
import { dayKey } from "../page/dates.js";
import { byId, counted } from "../page/dom.js";
import { notice } from "../page/notice.js";
import { save } from "../page/save.js";
import { settings } from "../page/settings.js";
import { Refused, path, request } from "../server/api.js";
import { memoryChanged } from "./forget.js";
import { Unreadable, readImport } from "./import_file.js";
import { LOCALE, t } from "../page/words.js";

/** Saves everything that is kept of the user. */
export async function saveExport() {
  const response = await request("GET", path`/v1/users/${settings.user}/export`);
  save(await response.blob(), `memories-${settings.user}-${dayKey(Date.now())}.jsonl`);
}

/** Saves it in the form that other products read. */
export async function savePortable() {
  const response = await request("GET", path`/v1/users/${settings.user}/export`, { query: { format: "pam" } });
  save(await response.blob(), `memories-${settings.user}-${dayKey(Date.now())}.pam.zip`);
}

/** Brings in what a file holds, and shows how far it is; what is there already stays. */
export async function bringIn(file) {
  try {
    await bringInPieces(await readImport(file));
  } catch (error) {
    const isOfFile = error instanceof Unreadable || (error instanceof Refused && error.status === 400);
    if (!isOfFile) throw error;
    showNotBroughtIn(file.name, inWords(error.message));
  }
}

async function bringInPieces({ format, noun, all, pieces }) {
  if (!(await agreedToCosts(format, pieces))) return;
  const sum = { imported: 0, known: 0, unreadable: [] };
  const leftOut = new Map();
  let done = 0;
  try {
    for (const { body, count } of pieces) {
      showProgress(done, all, noun);
      const stored = await send(body, format, pieces.length > 1);
      sum.imported += stored.imported;
      sum.known += stored.known;
      sum.unreadable.push(...stored.unreadable);
      for (const [reason, many] of Object.entries(stored.left_out)) leftOut.set(reason, (leftOut.get(reason) ?? 0) + many);
      done += count;
    }
    notice(t("brought_in", { memories: counted(sum.imported, "memory"), known: sum.known.toLocaleString(LOCALE) }) + inCounts(leftOut));
    if (sum.unreadable.length) showLeftOut(sum.unreadable);
  } catch (error) {
    if (sum.imported && error instanceof Refused) error.message += t("brought_before", { memories: counted(sum.imported, "memory") });
    throw error;
  } finally {
    byId("import-progress").hidden = true;
    memoryChanged();
  }
}

/** Whether the user agrees to what language models will take; where there are none, nobody is asked. */
async function agreedToCosts(format, pieces) {
  const sum = { tokens: 0, dollars: 0, minutes: 0 };
  for (const { body } of pieces) {
    const { costs } = await send(body, format, true, { dry_run: true });
    if (costs && !costs.calls && !costs.tokens && !sum.tokens) return true;
    sum.tokens += costs?.tokens ?? 0;
    sum.dollars = costs?.dollars === null || sum.dollars === null ? null : sum.dollars + (costs?.dollars ?? 0);
    sum.minutes += costs?.minutes ?? 0;
  }
  if (!sum.tokens) return true;
  const money = sum.dollars === null ? t("price_unknown") : t("price_about", { dollars: `$${sum.dollars.toFixed(2)}` });
  const time = counted(Math.max(1, Math.round(sum.minutes)), "minute");
  const what = t("costs_note", { tokens: counted(sum.tokens, "token"), money, time });
  return confirmed(t("bring_in_title"), what, t("bring_in"));
}

/** What became of a piece. Of several, one of another assistant's that cannot be read does not end the import. */
async function send(body, format, isOneOfMany, more = {}) {
  const to = path`/v1/users/${settings.user}/import`;
  try {
    return await (await request("POST", to, { body, query: { format, ...more } })).json();
  } catch (error) {
    const isUnreadable = error instanceof Refused && error.status === 400 && format === "auto";
    if (!(isUnreadable && isOneOfMany)) throw error;
    return { imported: 0, known: 0, unreadable: [error.message], left_out: {} };
  }
}

/** What was left out, by reason. */
function inCounts(leftOut) {
  if (!leftOut.size) return "";
  return t("left_out_why", { reasons: [...leftOut].map(([reason, many]) => `${many.toLocaleString(LOCALE)} × ${reason}`).join(", ") });
}

/** What the server says of a line, without the names of its fields. */
function inWords(message) {
  if (message.includes("newer version")) return t("newer_export");
  if (/^line \d+ cannot be read: checksum/.test(message)) return t("altered");
  if (/^line \d+ cannot be read/.test(message)) return t("damaged");
  return `${message[0].toUpperCase()}${message.slice(1)}${/[.!?]$/.test(message) ? "" : "."}`;
}

function showProgress(done, all, noun) {
  const shown = byId("import-progress");
  shown.hidden = false;
  shown.querySelector("progress").max = all;
  shown.querySelector("progress").value = done;
  shown.querySelector("span").textContent = t("progress", { done: done.toLocaleString(LOCALE), all: counted(all, noun) });
}
