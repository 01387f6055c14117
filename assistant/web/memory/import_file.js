// A file that is brought in, as requests that the server accepts: an export of ours, or another
// assistant's, which the server finds out by its content.
// What is wrong with it is said in the words of whoever chose it.

import { counted } from "../page/dom.js";

// Well below what the server accepts in one request, in characters of at most three bytes.
const PIECE = 250_000;
const FORMAT = "aide-memoire/records";
// Those of the first version have no end; of anything else the server says what it is.
const FIRST_VERSION = 1;
const NOTHING = "Nothing was brought in.";
const KNOWN = "What can be brought in: an export of this page (a file that ends in .jsonl), or what ChatGPT, Claude, Gemini, Open WebUI, LibreChat, mem0, Zep or Letta exported, Portable AI Memory, Open Memory Protocol, lines of JSON, a Markdown transcript, or a zip file of these.";

/** A file that cannot be brought in, and why. */
export class Unreadable extends Error {}

/** `{format, noun, all, pieces}`: each piece is `{body, count}`, and they make `all` together. */
export async function readImport(file) {
  if (file.name.endsWith(".zip")) {
    return whole(file);
  }
  const text = (await file.text()).replace(/^\uFEFF/, "").trim();
  if (!text) throw new Unreadable(`The file is empty. ${NOTHING}`);
  if (text.startsWith("[")) return listed(text);
  const header = headerOf(text);
  if (header?.format === FORMAT) return records(text, header);
  if (header && text.includes("\n")) return others(text.split("\n").filter((line) => line.trim()), "\n");
  if (/^[{<]|^[^\n]*(user|you|human|me)\b|^#|^\*\*/i.test(text)) return whole(file);
  throw new Unreadable(`This is neither. ${KNOWN} ${NOTHING}`);
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
  if (told === null && version !== FIRST_VERSION) throw new Unreadable(`The file was cut off: its end is missing. Export it again. ${NOTHING}`);
  if (told !== null && told !== lines.length) {
    throw new Unreadable(`The file should hold ${counted(told, "memory")}, but has ${lines.length}: it was cut off or changed. ${NOTHING}`);
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
    throw new Unreadable(`The list of conversations is damaged or was cut off. Unpack the zip file again, or choose the zip file itself. ${NOTHING}`);
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
