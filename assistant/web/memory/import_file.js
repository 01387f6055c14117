// A file that is brought in, as requests that the server accepts: an export of ours, or another
// assistant's, which the server finds out by its content.
// What is wrong with it is said in the words of whoever chose it.

import { counted } from "../page/dom.js";
import { t } from "../page/words.js";

// Well below what the server accepts in one request, in characters of at most three bytes.
const PIECE = 250_000;
const FORMAT = "aide-memoire/records";
// Those of the first version have no end; of anything else the server says what it is.
const FIRST_VERSION = 1;
const NOTHING = t("nothing_in");
const KNOWN = t("importable");

/** A file that cannot be brought in, and why. */
export class Unreadable extends Error {}

/** `{format, noun, all, pieces}`: each piece is `{body, count}`, and they make `all` together. */
export async function readImport(file) {
  if (file.name.endsWith(".zip")) {
    return whole(file);
  }
  const text = (await file.text()).replace(/^\uFEFF/, "").trim();
  if (!text) throw new Unreadable(t("empty_file", { nothing: NOTHING }));
  if (text.startsWith("[")) return listed(text);
  const header = headerOf(text);
  if (header?.format === FORMAT) return records(text, header);
  if (header && text.includes("\n")) return others(text.split("\n").filter((line) => line.trim()), "\n");
  if (/^[{<]|^[^\n]*(user|you|human|me|date)\b|^#|^\*\*/i.test(text)) return whole(file);
  throw new Unreadable(t("neither", { known: KNOWN, nothing: NOTHING }));
}

function whole(file) {
  return { format: "auto", noun: "file", all: 1, pieces: [{ body: file, count: 1 }] };
}

function headerOf(text) {
  try {
    return JSON.parse(text.split("\n", 1)[0]);
  } catch {
    return null;
  }
}

function records(text, { version }) {
  const [header, ...lines] = text.split("\n").filter((line) => line.trim());
  const end = /^{"records": ?(\d+)}$/.exec(lines.at(-1)?.trim());
  if (end) lines.pop();
  const told = end ? Number(end[1]) : null;
  if (told === null && version !== FIRST_VERSION) throw new Unreadable(t("cut_off", { nothing: NOTHING }));
  if (told !== null && told !== lines.length) {
    throw new Unreadable(t("other_count", { memories: counted(told, "memory"), count: lines.length, nothing: NOTHING }));
  }
  const ended = (some) => (end ? [...some, JSON.stringify({ records: some.length })] : some);
  const pieces = packed(lines).map((some) => ({ body: [header, ...ended(some)].join("\n"), count: some.length }));
  return { format: "records", noun: "memory", all: lines.length, pieces };
}

function listed(text) {
  let all;
  try {
    all = JSON.parse(text);
  } catch {
    throw new Unreadable(t("damaged_list", { nothing: NOTHING }));
  }
  // Gemini's activities come newest first; those of a day make one conversation.
  if (all.every((one) => typeof one?.time === "string")) all.reverse();
  return others(all.map((one) => JSON.stringify(one)), ",");
}

function others(texts, between) {
  const [opening, closing] = between === "," ? "[]" : ["", ""];
  const pieces = packed(texts).map((some) => ({ body: `${opening}${some.join(between)}${closing}`, count: some.length }));
  return { format: "auto", noun: "conversation", all: texts.length, pieces };
}

/** The texts in their order, as many together as fit into a request. */
function packed(texts) {
  const made = [[]];
  let size = 0;
  for (const text of texts) {
    if (size && size + text.length > PIECE) {
      made.push([]);
      size = 0;
    }
    made.at(-1).push(text);
    size += text.length;
  }
  return made;
}
